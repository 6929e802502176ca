"""Lists of names by race and gender: what is read of them, and what is refused."""

from __future__ import annotations

import string
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fairscreen import resources, spelling
from fairscreen.errors import InputError
from fairscreen.sources import correspondence
from fairscreen.sources.correspondence import Kind

BM, KRW = "Bertrand & Mullainathan 2004", "Kline, Rose & Walters 2022"


def rows(path: Path, kind: Kind = "first") -> list[dict[str, object]]:
    return correspondence.read(path, kind).to_pylist()


def csv(folder: Path, text: str) -> Path:
    out = folder / "names.csv"
    out.write_text(text, encoding="utf-8")
    return out


def test_columns_in_any_order_and_case(tmp_path: Path) -> None:
    path = csv(
        tmp_path,
        "Cohort,GENDER,Study,note,First_Name,Race,mother_education\n"
        "1979.5,Woman,x,,A,b,\n,m,,z,O’Neil, African  American ,12.5\n",
    )
    assert rows(path) == [
        {"row_number": 0, "kind": "first", "source": "x", "name": "A", "race": "b",
         "gender": "female", "mother_education": None, "cohort": 1979.5},
        {"row_number": 1, "kind": "first", "source": None, "name": "O'Neil",
         "race": "african american", "gender": "male", "mother_education": 12.5, "cohort": None},
    ]  # fmt: skip


@pytest.mark.parametrize("suffix", ["parquet", "dta", "xlsx"])
def test_typed_files_say_the_same(tmp_path: Path, suffix: str) -> None:
    frame = pd.DataFrame(
        {"surname": ["Lee", "McCoy"], "race": ["White", "Black"], "source": ["a", "b"]}
    )
    path = tmp_path / f"names.{suffix}"
    if suffix == "parquet":
        frame.to_parquet(path)
    elif suffix == "dta":
        frame.to_stata(path, write_index=False)
    else:
        frame.to_excel(path, index=False)
    found = [(r["name"], r["race"], r["gender"], r["source"]) for r in rows(path, "surname")]
    assert found == [("Lee", "white", None, "a"), ("McCoy", "black", None, "b")]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("name,race\nAnn,white\n", ": column gender or sex missing; it has name, race. Name the "
         "columns so in the file's first line."),
        ("name,race,gender\nAnn,,F\n", ", line 2, race: is empty. Give the race so."),
        ("name,race,gender\nAnn,a/b,F\n", ", line 2, race: 'a/b' is no race: letters a to z, "
         "digits, space, _ and -, at most 41. Give the race so."),
        ("name,race,SEX\nAnn,white,x\n", ", line 2, SEX: 'x' is not female or male (F or M). "
         "Correct the cell."),
        ("name,race,sex\nAnn,white,F\n,white,F\n", ", line 3, name: is empty. Give a name."),
        ("name,race,sex,cohort\nAnn,white,F,80\n", ", line 2, cohort: 80 is not a year between "
         "1880 and 2100. Give the mean birth year of the name's bearers."),
        ("name,race,sex,mother_education\nAnn,white,F,high\n", ", line 2, mother_education: 'high' "
         "is no number. Correct it; where the value is missing, leave the cell empty."),
        ("name,race,sex\nANN,white,F\nAnn,White,woman\n", ", line 3, name: Ann, white, female "
         "stands already in line 2. Remove one, or tell in a column source which studies they are "
         "of."),
        ("name,race,sex,source\nAnn,white,F,s\nAnn,white,F,s\n", ", line 3, name: Ann, white, "
         "female, s stands already in line 2. Remove one, or tell in a column source which studies "
         "they are of."),
        ("name,race,sex\n", ": holds no rows. Give a file with one row per name."),
    ],
)  # fmt: skip
def test_a_bad_list_is_named(tmp_path: Path, text: str, message: str) -> None:
    path = csv(tmp_path, text)
    with pytest.raises(InputError) as caught:
        correspondence.read(path, "first")
    assert str(caught.value) == f"{path}{message}"


def test_the_same_name_in_two_studies_or_of_two_groups_is_read(tmp_path: Path) -> None:
    text = "name,race,sex,source\nAnn,white,F,s\nAnn,white,F,t\nAnn,black,F,s\nAnn,white,M,s\n"
    assert len(rows(csv(tmp_path, text))) == 4


_NAME = st.text(string.ascii_letters + "éÑ'- .", min_size=1, max_size=12).filter(
    lambda text: spelling.fault(spelling.clean(text)) is None
)
_RACE = st.text(string.ascii_letters, min_size=1, max_size=8)
_SEX = st.sampled_from(["F", "f", "Female", "WOMAN", "M", "male", "man"])
_YEAR = st.one_of(st.none(), st.integers(1880, 2100))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    given_rows=st.lists(st.tuples(_NAME, _RACE, _SEX, _YEAR), min_size=1, max_size=8),
    order=st.permutations(range(4)),
    upper=st.booleans(),
)
def test_what_was_written_is_read(
    tmp_path: Path, given_rows: list[tuple[str, str, str, int | None]], order: list[int],
    upper: bool,
) -> None:  # fmt: skip
    """Any order and case of columns; each row with a source of its own, so that none is twice."""
    titles = [t.upper() if upper else t for t in ("name", "race", "gender", "cohort")]
    frame = pd.DataFrame(given_rows, columns=titles, dtype=object).iloc[:, order]
    frame["source"] = [f"s{i}" for i in range(len(frame))]
    frame.to_csv(tmp_path / "any.csv", index=False)
    found = correspondence.read(tmp_path / "any.csv", "first").to_pylist()
    assert [(r["name"], r["race"], r["gender"], r["cohort"]) for r in found] == [
        (spelling.clean(name), race.lower(), "female" if sex[0] in "FfW" else "male", year)
        for name, race, sex, year in given_rows
    ]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text(st.characters(codec="utf-8"), max_size=60), st.sampled_from(["first", "surname"]))
def test_any_text_is_read_or_refused_with_a_remedy(tmp_path: Path, text: str, kind: Kind) -> None:
    path = tmp_path / "any.csv"
    path.write_bytes(("name,race,gender\n" + text).encode())
    refused, found = None, []
    try:
        found = correspondence.read(path, kind).to_pylist()
    except InputError as error:
        refused = error
    assert bool(found) != (refused is not None)
    assert refused is None or (refused.where.startswith(str(path)) and refused.remedy)
    assert all(r["race"] == r["race"].lower() for r in found)
    assert {r["gender"] for r in found} <= ({"female", "male"} if kind == "first" else {None})


def test_the_shipped_lists_are_as_published() -> None:
    """9 names of each race and gender in Boston and Chicago, 19 in the study of 108 firms; the 36
    are among the 76. Surnames: 9 of white applicants, 5 of Black ones."""
    first = correspondence.read(
        resources.resolve("bundled:correspondence_first_names.csv"), "first"
    ).to_pandas()
    sizes = first.groupby(["source", "race", "gender"]).size().to_dict()
    groups = [(r, g) for r in ("black", "white") for g in ("female", "male")]
    assert sizes == {(BM, *g): 9 for g in groups} | {(KRW, *g): 19 for g in groups}
    names = {s: set(rows["name"]) for s, rows in first.groupby("source")}
    assert (len(names[BM]), len(names[KRW])) == (36, 76)
    assert names[BM] < names[KRW]
    last = correspondence.read(
        resources.resolve("bundled:correspondence_surnames.csv"), "surname"
    ).to_pandas()
    assert last.groupby("race").size().to_dict() == {"black": 5, "white": 9}
    assert set(last["source"]) == {BM}
