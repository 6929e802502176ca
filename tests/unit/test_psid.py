"""PSID packages: crosswalk, extraction by role and wave, several packages, every bad input."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pyarrow.compute as pc
import pytest

from fairscreen import resources
from fairscreen.errors import ConfigError, InputError
from fairscreen.sources import psid, synthetic_psid
from fairscreen.sources.psid_crosswalk import Items, load_crosswalk
from fairscreen.sources.setup_files import REMEDY
from psid_files import FIELDS, couple, package, person

# --- crosswalk


def test_the_shipped_crosswalk_has_three_waves_and_no_variable_twice():
    walk = load_crosswalk()
    names = [v for wave in walk.waves.values() for v in wave.variables()]
    early = [v for e in walk.earlier.values() for v in e.variables()]
    assert sorted(walk.waves) == [2017, 2019, 2021]
    assert sorted(walk.earlier) == list(range(1999, 2019, 2))
    assert len(names) == len(set(names)) == 3 * 24
    assert len(early) == len(set(early)) == 10 * 3
    assert set(names) & set(early) == {"ER34502", "ER34503"}
    assert set(walk.missing) == {*Items.model_fields, "state", "employment"}


def test_a_bad_crosswalk_names_the_field(tmp_path: Path):
    text = resources.path("conf", "psid_crosswalk.yml").read_text(encoding="utf-8")
    file = tmp_path / "walk.yml"
    file.write_text(text.replace("weight: ER35065", "weigth: ER35065"), encoding="utf-8")
    with pytest.raises(ConfigError) as caught:
        load_crosswalk(file)
    message = "waves.2021.weight: Field required. Correct this field."
    assert str(caught.value) == f"{file}, {message}"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (None, ": no such file or directory. conf/psid_crosswalk.yml shows the form."),
        ("a: [1", ": is not YAML (while parsing a flow sequence). conf/psid_crosswalk.yml shows "
         "the form."),
        ("- 1", ", (top level): Input should be a valid dictionary or instance of Crosswalk. "
         "Correct this field."),
    ],
)  # fmt: skip
def test_a_file_that_is_no_crosswalk(tmp_path: Path, text: str | None, problem: str):
    file = tmp_path / "walk.yml"
    if text is not None:
        file.write_text(text)
    with pytest.raises(ConfigError) as caught:
        load_crosswalk(file)
    assert str(caught.value) == f"{file}{problem}"


def test_a_crosswalk_without_waves_is_refused(tmp_path: Path):
    text = resources.path("conf", "psid_crosswalk.yml").read_text(encoding="utf-8")
    file = tmp_path / "walk.yml"
    file.write_text(text[: text.index("\nwaves:")] + "\nwaves: {}\n", encoding="utf-8")
    with pytest.raises(ConfigError, match="waves: Dictionary should have at least 1 item"):
        load_crosswalk(file)


# --- people


def test_each_person_gets_the_own_answers_of_each_wave(tmp_path: Path):
    found = psid.read(package(tmp_path / "J1.zip", couple()))
    he, she, later = found.rows.to_pylist()
    assert he == {
        "wave": 2019, "person_1968": 4, "person_number": 1, "role": "reference", "age": 40,
        "gender": "male", "race_code": 1, "hispanic": False, "education_years": 16,
        "occp_2010": "1020", "state": "06", "years_worked": 18, "years_full_time": 17,
        "years_worked_asked": None, "years_worked_answered": 18, "tenure_years": 5.0,
        "weight": 21000.0,
    }  # fmt: skip
    assert she == {
        "wave": 2019, "person_1968": 4, "person_number": 2, "role": "spouse", "age": 38,
        "gender": "female", "race_code": 4, "hispanic": True, "education_years": 14,
        "occp_2010": "3255", "state": "06", "years_worked": 15, "years_full_time": 9,
        "years_worked_asked": None, "years_worked_answered": 15, "tenure_years": 2.0,
        "weight": 21000.0,
    }  # fmt: skip
    assert later == {
        **he, "wave": 2021, "age": 42, "occp_2010": "0800", "state": "53", "years_worked": 20,
        "years_full_time": 19, "years_worked_asked": 2021, "years_worked_answered": 20,
        "tenure_years": 0.0, "weight": 19000.0,
    }  # fmt: skip
    assert found.left_out["not in the family unit"] == 1  # she had moved out by 2021
    assert found.synthetic


@pytest.mark.parametrize(
    ("variable", "code", "column", "value"),
    [
        ("ER72017", 999, "age", None),
        ("ER76897", 9, "race_code", None),
        ("ER76897", 7, "race_code", 7),
        ("ER76896", 9, "hispanic", None),
        ("ER77599", 99, "education_years", None),
        ("ER77599", 0, "education_years", 0),
        ("ER72195", 9999, "occp_2010", None),
        ("ER72195", 20, "occp_2010", "0020"),
        ("ER76961", 98, "years_worked", None),
        ("ER76961", 99, "years_worked", None),
        ("ER76961", 0, "years_worked", 0),
        ("ER76961", 95, "years_worked", 0),  # less than one, aged 18 or younger
        ("ER76961", 96, "years_worked", 22),  # all years since 18: he is 40
        ("ER76961", 94, "years_worked", 94),
        ("ER76962", 96, "years_full_time", 22),
        ("ER76962", 95, "years_full_time", 0),
        ("ER76961", None, "years_worked", None),
        ("ER76962", 98, "years_full_time", None),
        ("ER72231", 98, "tenure_years", None),
        ("ER72231", 99, "tenure_years", None),
        ("ER72231", 0, "tenure_years", 0.0),
        ("ER72017", 0, "age", None),
        ("ER76897", 0, "race_code", None),
        ("ER76897", 8, "race_code", None),
        ("ER76896", 8, "hispanic", None),
        ("ER76896", 7, "hispanic", True),
        ("ER77599", 98, "education_years", None),
        ("ER77599", 17, "education_years", 17),
        ("ER72018", 0, "gender", "male"),
        ("ER72004", 0, "state", None),
        ("ER72004", 99, "state", None),
        ("ER72018", 2, "gender", "female"),
        ("ER72018", 9, "gender", "male"),  # the individual file knows
        ("ER34864", 0, "weight", 0.0),
    ],
)
def test_codes_that_are_no_answer_are_null(
    tmp_path: Path, variable: str, code: int | None, column: str, value: object
):
    found = psid.read(package(tmp_path / "J1.zip", couple(**{variable: code})))
    assert found.rows.to_pylist()[0][column] == value


@pytest.mark.parametrize(
    ("variable", "code", "column", "value"),
    [
        ("ER72019", 999, "age", None),
        ("ER76752", 9, "race_code", None),
        ("ER76751", 9, "hispanic", None),
        ("ER77600", 99, "education_years", None),
        ("ER72472", 9999, "occp_2010", None),
        ("ER76816", 98, "years_worked", None),
        ("ER76816", 96, "years_worked", 20),
        ("ER76817", 99, "years_full_time", None),
        ("ER72508", 99, "tenure_years", None),
        ("ER72020", 9, "gender", "female"),
    ],
)
def test_so_are_those_of_the_spouse(
    tmp_path: Path, variable: str, code: int, column: str, value: object
):
    found = psid.read(package(tmp_path / "J1.zip", couple(**{variable: code})))
    he, she, _ = found.rows.to_pylist()
    assert she[column] == value
    assert he[column] is not None


@pytest.mark.parametrize("role", ["reference", "spouse"])
@pytest.mark.parametrize("year", [2017, 2019, 2021])
def test_every_item_comes_from_its_own_variable(tmp_path: Path, year: int, role: str):
    walk = load_crosswalk()
    wave = walk.waves[year]
    names = [*walk.person.model_dump().values(), *wave.variables()]
    own = {
        "age": 41, "sex": 2, "race": 5, "hispanic": 1, "education": 13, "occupation": 630,
        "years_worked": 9, "years_full_time": 7, "tenure": 3,
    }  # fmt: skip
    record: dict[str, int | None] = {
        **dict.fromkeys(names, 77),
        walk.person.person_1968: 4, walk.person.person_number: 1, walk.person.sex: 1,
        wave.sequence: 2, wave.relation: {"reference": 10, "spouse": 20}[role],
        wave.weight: 12345, wave.state: 48,
        **{getattr(getattr(wave, role), item): value for item, value in own.items()},
    }  # fmt: skip
    fields = [(name, 5, name) for name in names]
    rows = psid.read(package(tmp_path / "J1.zip", [record], fields=fields)).rows.to_pylist()
    assert rows == [
        {
            "wave": year, "person_1968": 4, "person_number": 1, "role": role, "age": 41,
            "gender": "female", "race_code": 5, "hispanic": True, "education_years": 13,
            "occp_2010": "0630", "state": "48", "years_worked": 9, "years_full_time": 7,
            "years_worked_asked": None, "years_worked_answered": 9, "tenure_years": 3.0,
            "weight": 12345.0,
        }
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("record", "reason"),
    [
        (person(3, seq=(3, 3), rel=(30, 30)), "another relation, or not in the wave"),
        (person(3, seq=(0, 0), rel=(0, 0)), "another relation, or not in the wave"),
        (person(3, seq=(51, 81), rel=(10, 22)), "not in the family unit"),
        (person(3, seq=(1, 1), rel=(10, 10), ER72195=0, ER78198=0), "no main job"),
        (person(3, seq=(2, 2), rel=(22, 22), ER72472=0), "no main job"),
    ],
)
def test_others_are_left_out_and_counted(
    tmp_path: Path, record: dict[str, int | None], reason: str
):
    found = psid.read(package(tmp_path / "J1.zip", [record]))
    assert found.rows.num_rows == 0
    assert {r: n for r, n in found.left_out.items() if n} == {reason: 2}


def test_a_partner_is_a_spouse_and_the_individual_sex_is_optional(tmp_path: Path):
    fields = [f for f in FIELDS if f[0] != "ER32000"]
    people = [person(2, seq=(20, 0), rel=(22, 0), ER72020=9)]
    row = psid.read(package(tmp_path / "J1.zip", people, fields=fields)).rows.to_pylist()[0]
    assert (row["role"], row["gender"]) == ("spouse", None)


@pytest.mark.parametrize("variable", ["ER30002", "ER72472", "ER81062", "ER35065"])
def test_a_missing_variable_is_named_with_its_wave(tmp_path: Path, variable: str):
    wave = {"ER30002": "", "ER72472": " of wave 2019"}.get(variable, " of wave 2021")
    fields = [f for f in FIELDS if f[0] != variable]
    path = package(tmp_path / "J1.zip", couple(), fields=fields)
    with pytest.raises(InputError) as caught:
        psid.read(path)
    assert str(caught.value) == (
        f"{path}, member J1.sas: variable {variable}{wave} is missing. "
        f"Add {variable} to the Data Center's cart and download again."
    )


def test_a_package_without_its_parts(tmp_path: Path):
    choose = "In the Data Center, choose SAS, Stata or SPSS statements for the set-up file."
    pairs = "holds {} set-up files with a text of the same name; one is expected"
    for drop, problem in (
        ("1.sas", f"holds no set-up file (.sas, .do or .sps). {choose}"),
        (".txt", f"holds no data (.txt). {REMEDY}"),
    ):
        path = package(tmp_path / "J1.zip", couple(), drop=drop)
        with pytest.raises(InputError) as caught:
            psid.read(path)
        assert str(caught.value) == f"{path}: {problem}"
    for extra, count in (("J2.do", 2), ("", 0)):
        path = package(tmp_path / "J1.zip", couple(), drop="" if extra else ".txt")
        with zipfile.ZipFile(path, "a") as archive:
            archive.writestr(extra or "J7.txt", "")
            if extra:
                archive.writestr("J2.txt", "")
        with pytest.raises(InputError) as caught:
            psid.read(path)
        assert str(caught.value) == f"{path}: {pairs.format(count)}. {REMEDY}"


@pytest.mark.parametrize("setups", [(".do",), (".sps",), (".do", ".sps"), (".sas", ".do", ".sps")])
def test_any_set_up_file_will_do(tmp_path: Path, setups: tuple[str, ...]):
    found = psid.read(package(tmp_path / "J1.zip", couple(), setups=setups))
    assert found.rows == psid.read(package(tmp_path / "J2.zip", couple())).rows


def test_set_up_files_of_one_package_must_agree(tmp_path: Path):
    def change(name: str, body: str) -> str:
        return body.replace("OBSERVATIONS: 2", "OBSERVATIONS: 3") if name.endswith("sps") else body

    path = package(tmp_path / "J1.zip", couple(), setups=(".do", ".sps"), change=change)
    with pytest.raises(InputError) as caught:
        psid.read(path)
    assert str(caught.value) == (
        f"{path}, member J1.sps: there are 3 records, but 2 by {path}, member J1.do. {REMEDY}"
    )


def test_rows_that_are_families(tmp_path: Path):
    def change(name: str, body: str) -> str:
        return body.replace(synthetic_psid.DOMAIN, "FAM")

    path = package(tmp_path / "J1.zip", couple(), change=change)
    with pytest.raises(InputError) as caught:
        psid.inspect(path)
    assert str(caught.value) == (
        f"{path}, member J1.sas: DATA_DOMAIN is FAM: its rows are families. In the Data Center, "
        "choose all individuals, not families, as the file's rows."
    )


# --- waves


def wave_fields(*years: int) -> list[tuple[str, int, str]]:
    """The layout with these waves only."""
    walk = load_crosswalk()
    other = {v for year, wave in walk.waves.items() if year not in years for v in wave.variables()}
    early = {v for e in walk.earlier.values() for v in e.variables()}
    return [f for f in FIELDS if f[0] not in other - early]


def test_a_wave_that_the_extract_lacks_is_skipped(tmp_path: Path):
    found = psid.read(package(tmp_path / "J1.zip", couple(), fields=wave_fields(2021)))
    assert found.rows["wave"].to_pylist() == [2021]
    assert found.skipped == (2017, 2019)
    assert psid.notes(found, "J1.zip")[2] == (
        "Waves of the crosswalk that J1.zip does not hold: 2017, 2019."
    )


def test_no_wave_at_all_is_an_error(tmp_path: Path):
    path = package(tmp_path / "J1.zip", couple(), fields=wave_fields())
    with pytest.raises(InputError) as caught:
        psid.inspect(path)
    assert str(caught.value) == (
        f"{path}, member J1.sas: holds nothing of the crosswalk's waves (2017, 2019, 2021). Add "
        "the variables of one wave of the crosswalk to the Data Center's cart."
    )


def test_two_packages_are_joined_by_person(tmp_path: Path):
    early = {v for e in load_crosswalk().earlier.values() for v in e.variables()}
    one = package(tmp_path / "J1.zip", couple()[:1], fields=wave_fields(2019))
    later = [f for f in wave_fields(2021) if f[0] not in early]
    other = package(tmp_path / "J2.zip", couple()[::-1], fields=later, setups=(".do",))
    found = psid.read([other, one])
    whole = psid.read(package(tmp_path / "J3.zip", couple()))
    # The wife is in the second package only, where she has moved out.
    assert found.rows == whole.rows.filter(pc.field("role") == "reference")
    assert found.records == 2
    assert found.rows == psid.read([one, other]).rows
    assert psid.edition([one, other]) == psid.edition([other, one]) != psid.edition([one])


def test_two_packages_with_one_variable(tmp_path: Path):
    one = package(tmp_path / "J1.zip", couple(), fields=wave_fields(2019))
    other = package(tmp_path / "J2.zip", couple())
    with pytest.raises(InputError) as caught:
        psid.inspect([one, other])
    first = next(f[0] for f in FIELDS if f[0] not in ("ER30000", "ER30001", "ER30002", "ER32000"))
    assert str(caught.value) == (
        f"{other}: variable {first} is in {one}, too. Give each variable once."
    )


def test_two_packages_lack_what_one_would(tmp_path: Path):
    one = package(tmp_path / "J1.zip", couple(), fields=wave_fields(2019))
    fields = [f for f in FIELDS if f[0] < "ER31" or "ER78002" <= f[0] < "ER78512"]
    other = package(tmp_path / "J2.zip", couple(), fields=fields)
    with pytest.raises(InputError) as caught:
        psid.inspect([one, other])
    assert str(caught.value) == (
        f"{one} + {other}: variable ER34901 of wave 2021 is missing. Add ER34901 to the Data "
        "Center's cart and download again."
    )


def test_people_of_joined_packages_are_named_by_their_key(tmp_path: Path):
    one = package(tmp_path / "J1.zip", couple(ER34701=8), fields=wave_fields(2019))
    early = {v for e in load_crosswalk().earlier.values() for v in e.variables()}
    fields = [f for f in wave_fields(2021) if f[0] not in early]
    other = package(tmp_path / "J2.zip", couple(), fields=fields)
    with pytest.raises(InputError) as caught:
        psid.read([one, other])
    assert str(caught.value) == (
        f"{one}, member J1.txt + {other}, member J1.txt, person 4, 1: ER34701 and ER72002 of wave "
        f"2019 differ: the family's answers belong to another family. {REMEDY}"
    )
    twice = package(tmp_path / "J3.zip", couple() + couple(), fields=fields)
    with pytest.raises(InputError) as caught:
        psid.read([package(tmp_path / "J1.zip", couple(), fields=wave_fields(2019)), twice])
    assert str(caught.value) == (
        f"{twice}, member J1.txt: a person has no key, or stands there twice. {REMEDY}"
    )


def test_a_users_crosswalk_gives_another_edition(tmp_path: Path):
    path = package(tmp_path / "J1.zip", couple())
    shipped = resources.path("conf", "psid_crosswalk.yml").read_text(encoding="utf-8")
    file = tmp_path / "walk.yml"
    file.write_text(shipped.replace("spouse_codes: [20, 22]", "spouse_codes: [20]"))
    assert psid.edition([path], file) != psid.edition([path])
    assert load_crosswalk(file).spouse_codes == (20,)
