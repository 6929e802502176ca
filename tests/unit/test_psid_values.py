"""PSID answers that cannot be: named by line and variable, or told where columns may be mixed."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from fairscreen import resources
from fairscreen.errors import ConfigError, InputError
from fairscreen.sources import psid, psid_checks, synthetic_psid
from fairscreen.sources.psid_crosswalk import load_crosswalk
from fairscreen.sources.psid_rows import extract
from fairscreen.sources.setup_files import REMEDY
from psid_files import FIELDS, couple, package

# --- crosswalk


@pytest.mark.parametrize(
    ("people", "message"),
    [
        (couple() + couple(), ": person 4, 1 stands there twice."),
        (couple(ER34701=8),
         ", line 1: ER34701 and ER72002 of wave 2019 differ: the family's answers belong to "
         "another family."),
        (couple(ER30001=None), ", line 1: the person has no key."),
    ],
)  # fmt: skip
def test_people_that_cannot_be_told_apart(
    tmp_path: Path, people: list[dict[str, int | None]], message: str
):
    path = package(tmp_path / "J1.zip", people)
    with pytest.raises(InputError) as caught:
        psid.read(path)
    assert str(caught.value) == f"{path}, member J1.txt{message} {REMEDY}"


def test_a_fraction_where_a_whole_number_belongs(tmp_path: Path):
    columns = {n: [p.get(n) for p in couple()] for n, _, _ in FIELDS}
    columns["ER72017"] = [40, 4.5]  # type: ignore[list-item]
    path = package(tmp_path / "J1.zip", couple(), text=synthetic_psid.data_text(FIELDS, columns))
    with pytest.raises(InputError) as caught:
        psid.read(path)
    where = f"{path}, member J1.txt, line 2"
    assert str(caught.value) == f"{where}: ER72017 is 4.5, not a whole number. {REMEDY}"


# --- columns in each other's place


@pytest.mark.parametrize(
    ("variable", "code", "line", "problem"),
    [
        ("ER72017", 500, 1, "ER72017 of wave 2019, age, is 500; possible is 0 to 120"),
        ("ER72017", -5, 1, "ER72017 of wave 2019, age, is -5; possible is 0 to 120"),
        ("ER72018", 7, 1, "ER72018 of wave 2019, sex, is 7; possible is 1 to 2"),
        ("ER72020", 38, 2, "ER72020 of wave 2019, sex, is 38; possible is 1 to 2"),
        ("ER81144", 11, 1, "ER81144 of wave 2021, race, is 11; possible is 1 to 7"),
        ("ER76751", 10, 2, "ER76751 of wave 2019, hispanic, is 10; possible is 0 to 7"),
        ("ER77599", 18, 1, "ER77599 of wave 2019, education, is 18; possible is 0 to 17"),
        ("ER72195", 9998, 1, "ER72195 of wave 2019, occupation, is 9998; possible is 10 to 9920"),
        ("ER76961", 1998, 1, "ER76961 of wave 2019, years worked, is 1998; possible is 0 to 97"),
        ("ER76962", -1, 1, "ER76962 of wave 2019, years full time, is -1; possible is 0 to 97"),
        ("ER72004", 43, 1, "ER72004 of wave 2019, state, is 43; possible is 1 to 2, 4 to 6, 8 to "
         "13, 15 to 42, 44 to 51, 53 to 56, 60, 66, 69, 72, 78"),
        ("ER32000", 3, 1, "ER32000, sex, is 3; possible is 1 to 2"),
    ],
)  # fmt: skip
def test_an_impossible_answer_is_named_by_line(
    tmp_path: Path, variable: str, code: int, line: int, problem: str
):
    data = {n: np.array([p.get(n, np.nan) for p in couple()], float) for n, _, _ in FIELDS}
    data[variable][:] = code
    waves = {y: w for y, w in load_crosswalk().waves.items() if y > 2017}
    walk = load_crosswalk().model_copy(update={"waves": waves, "earlier": {}})
    with pytest.raises(InputError) as caught:
        extract(data, walk, True, "J1.txt")
    assert str(caught.value) == f"J1.txt, line {line}: {problem}. {psid_checks.REMEDY}"
    assert extract(data, walk.model_copy(update={"valid": {}}), True, "J1.txt").rows.num_rows == 3


def test_a_set_up_file_with_age_and_sex_exchanged(tmp_path: Path):
    def change(name: str, body: str) -> str:
        return re.sub("ER7201[78]", lambda m: "ER7201" + {"7": "8", "8": "7"}[m[0][-1]], body)

    with pytest.raises(InputError, match=r"line 1: ER72018 of wave 2019, sex, is 40"):
        psid.read(package(tmp_path / "J1.zip", couple(), change=change))


def test_exchanged_columns_that_stay_in_range_are_told(tmp_path: Path):
    found = psid.read(package(tmp_path / "J1.zip", couple(ER72017=18, ER72019=16, ER81189=0)))
    look = "Look whether columns are in each other's place."
    assert psid.notes(found, "J1.zip")[-1] == (
        "Wave 2019: 100% of the people with a main job have more years worked than years since "
        f"18. {look}"
    )
    fields = [f for f in FIELDS if f[0] != "ER32000"]
    found = psid.read(package(tmp_path / "J2.zip", couple(ER72020=9), fields=fields))
    assert psid.notes(found, "J2.zip")[-1] == (
        f"Wave 2019: 50% of the people with a main job lack gender. {look}"
    )


def test_the_shipped_extract_raises_no_doubt():
    found = psid.read(resources.path("conf", "data", "psid_synthetic.zip"))
    assert psid_checks.doubts(found.rows) == []


def test_ranges_of_an_unknown_item_are_refused(tmp_path: Path):
    text = resources.path("conf", "psid_crosswalk.yml").read_text(encoding="utf-8")
    file = tmp_path / "walk.yml"
    file.write_text(text.replace("  sex: [[1, 2]]", "  sxe: [[1, 2]]"), encoding="utf-8")
    with pytest.raises(ConfigError, match="valid: Value error, sxe: no such item"):
        load_crosswalk(file)
