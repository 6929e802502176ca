"""PSID packages: set-up file, fixed-width reader, extraction by role and wave, every bad input."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fairscreen import resources
from fairscreen.errors import ConfigError, InputError
from fairscreen.sources import psid, sas_setup, synthetic_psid
from fairscreen.sources.sas_setup import Field
from psid_files import FIELDS, couple, package, person

REMEDY = "Take the packaged zip from the PSID Data Center again and leave its files as they are."

SETUP = r"""/* PSID DATA CENTER *****************************************************
   JOBID            : 1
   DATA_DOMAIN      : IND
   USER_WHERE       : ER30001 = 4 AND (ER30002 = 6 OR ER
   N_OF_VARIABLES   : 3
   N_OF_OBSERVATIONS: 2
   MAX_REC_LENGTH   : 9
   DATE & TIME      : May 20, 2023 @ 13:44:35
************************************************************************/

FILENAME myfile "[path]\J1.txt" ;

DATA J1 ;
   ATTRIB
      ER30001         LABEL="1968 INTERVIEW NUMBER"                    FORMAT=F4.
      ER30002  FORMAT=F3.   LABEL="PERSON NUMBER; 1968                68"
      V1              LABEL="WEIGHT"                                   FORMAT=F3.1
   ;
   INFILE myfile LRECL = 9 ;
   INPUT
      ER30001              1 - 4           ER30002              5-6
      V1 7 - 9
;
run ;
"""


def columns(data: bytes, setup: sas_setup.Setup, **kwargs: int) -> dict[str, list[float]]:
    parts = list(
        sas_setup.read_columns(io.BytesIO(data), setup, list(setup.fields), "J1.txt", **kwargs)
    )
    return {n: np.concatenate([p[n] for p in parts]).tolist() for n in setup.fields}


# --- set-up file


def test_a_setup_file_gives_labels_columns_and_counts():
    setup = sas_setup.parse(SETUP, "J1.sas")
    assert setup.fields == {
        "ER30001": Field("ER30001", 1, 4, "1968 INTERVIEW NUMBER"),
        "ER30002": Field("ER30002", 5, 6, "PERSON NUMBER; 1968 68"),
        "V1": Field("V1", 7, 9, "WEIGHT"),
    }
    assert (setup.record_length, setup.observations, setup.synthetic) == (9, 2, False)
    assert setup.header["DATA_DOMAIN"] == "IND"


def test_the_other_dialect_of_infile_and_a_synthetic_domain():
    text = SETUP.replace("myfile LRECL", r"'[path]\J1.txt' LRECL")
    text = text.replace(": IND", ": SYNTHETIC - NOT PSID DATA")
    setup = sas_setup.parse(text, "J1.sas")
    assert (setup.record_length, setup.synthetic) == (9, True)


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("   INPUT\n", "   OUTPUT\n", "has no INPUT statement"),
        ("5-6", "5-6 $", "INPUT has '$ V1 7 - 9' where NAME first - last is due"),
        ("ER30002              5-6", "ER30001 5-6", "INPUT has ER30001 twice"),
        ("5-6", "6-5", "ER30002 has columns 6 - 5"),
        ("1 - 4", "0 - 4", "ER30001 has columns 0 - 4"),
        ("LRECL = 9", "LRECL = 8", "V1 ends in column 9, but LRECL is 8"),
        ("LENGTH   : 9", "LENGTH   : 10",
         "MAX_REC_LENGTH is 10, but there are 9 columns by LRECL"),
        ("VARIABLES   : 3", "VARIABLES   : 4",
         "N_OF_VARIABLES is 4, but there are 3 variables in INPUT"),
        ("OBSERVATIONS: 2", "OBSERVATIONS: two", "N_OF_OBSERVATIONS is 'two', not a count"),
    ],
)  # fmt: skip
def test_a_bad_setup_file_is_explained(old: str, new: str, problem: str):
    assert old in SETUP
    with pytest.raises(InputError) as caught:
        sas_setup.parse(SETUP.replace(old, new, 1), "J1.sas")
    assert str(caught.value) == f"J1.sas: {problem}. {REMEDY}"


# --- fixed-width text


def test_touching_columns_blanks_decimals_and_a_last_line_without_its_end():
    got = columns(b"1234561.5\r\n   7 8   ", sas_setup.parse(SETUP, "J1.sas"))
    assert got["ER30001"] == [1234, 7]
    assert got["ER30002"] == [56, 8]
    assert got["V1"][0] == 1.5
    assert np.isnan(got["V1"][1])


@settings(deadline=None)
@given(data=st.data())
def test_any_numbers_come_back_as_they_were_written(data: st.DataObject):
    widths = data.draw(st.lists(st.integers(1, 7), min_size=1, max_size=6))
    cell = [st.none() | st.integers(-(10 ** (w - 1)) + 1, 10**w - 1) for w in widths]
    rows = data.draw(st.lists(st.tuples(*cell), min_size=1, max_size=20))
    chunk = data.draw(st.integers(1, 7))
    fields = [(f"V{i}", width, f"LABEL {i}") for i, width in enumerate(widths)]
    written = {f"V{i}": [row[i] for row in rows] for i in range(len(widths))}
    setup = sas_setup.parse(synthetic_psid.setup_text(fields, len(rows)), "J1.sas")
    read = columns(synthetic_psid.data_text(fields, written).encode(), setup, chunk=chunk)
    got = {n: [None if np.isnan(v) else int(v) for v in vs] for n, vs in read.items()}
    assert got == written


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"123456789\n12345678\n",
         "J1.txt, line 2: a short record: 8 characters, but MAX_REC_LENGTH in J1.sas is 9."),
        (b"123456789\n1234567890\n",
         "J1.txt, line 2: a long record: 10 characters, but MAX_REC_LENGTH in J1.sas is 9."),
        (b"123456789\n",
         "J1.txt: 1 records, but N_OF_OBSERVATIONS in J1.sas is 2."),
        (b"123456789\n" * 3,
         "J1.txt: 3 records, but N_OF_OBSERVATIONS in J1.sas is 2."),
        (b"", "J1.txt: 0 records, but N_OF_OBSERVATIONS in J1.sas is 2."),
        (b"123456789\n12 456789\n",
         "J1.txt, line 2, columns 1 - 4 (ER30001): '12 4' is not a number."),
        (b"123456789\n12345x789\n",
         "J1.txt, line 2, columns 5 - 6 (ER30002): '5x' is not a number."),
        (b"123456789\n1234 \x00789\n",
         "J1.txt, line 2, columns 5 - 6 (ER30002): ' ?' is not a number."),
        (b"123456NaN\n123456789\n",
         "J1.txt, line 1, columns 7 - 9 (V1): 'NaN' is not a number."),
        (b"1234567\xe99\n123456789\n",
         "J1.txt, line 1, columns 7 - 9 (V1): '7\\xe99' is not a number."),
    ],
)  # fmt: skip
@pytest.mark.parametrize("chunk", [1, 100])
def test_bad_text_is_named_by_line_and_columns(text: bytes, message: str, chunk: int):
    setup = sas_setup.parse(SETUP, "J1.sas")
    with pytest.raises(InputError) as caught:
        columns(text, setup, chunk=chunk)
    assert str(caught.value) == f"{message} {REMEDY}"


# --- crosswalk


def test_the_shipped_crosswalk_has_both_waves_and_no_variable_twice():
    walk = psid.load_crosswalk()
    names = [v for wave in walk.waves.values() for v in wave.variables()]
    assert sorted(walk.waves) == [2019, 2021]
    assert len(names) == len(set(names)) == 48
    assert set(walk.missing) == {*psid.Items.model_fields, "state"}


def test_a_bad_crosswalk_names_the_field(tmp_path: Path):
    text = resources.path("conf", "psid_crosswalk.yml").read_text(encoding="utf-8")
    file = tmp_path / "walk.yml"
    file.write_text(text.replace("weight: ER35065", "weigth: ER35065"), encoding="utf-8")
    with pytest.raises(ConfigError) as caught:
        psid.load_crosswalk(file)
    message = "waves.2021.weight: Field required. Correct this field."
    assert str(caught.value) == f"{file}, {message}"


# --- people


def test_each_person_gets_the_own_answers_of_each_wave(tmp_path: Path):
    found = psid.read(package(tmp_path / "J1.zip", couple()))
    he, she, later = found.rows.to_pylist()
    assert he == {
        "wave": 2019, "person_1968": 4, "person_number": 1, "role": "reference", "age": 40,
        "gender": "male", "race_code": 1, "hispanic": False, "education_years": 16,
        "occp_2010": "1020", "state": "06", "years_worked": 18, "years_full_time": 17,
        "tenure_years": 5.0, "weight": 21000.0,
    }  # fmt: skip
    assert she == {
        "wave": 2019, "person_1968": 4, "person_number": 2, "role": "spouse", "age": 38,
        "gender": "female", "race_code": 4, "hispanic": True, "education_years": 14,
        "occp_2010": "3255", "state": "06", "years_worked": 15, "years_full_time": 9,
        "tenure_years": 2.0, "weight": 21000.0,
    }  # fmt: skip
    assert later == {
        **he, "wave": 2021, "age": 42, "occp_2010": "0800", "state": "53", "years_worked": 20,
        "years_full_time": 19, "tenure_years": 0.0, "weight": 19000.0,
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
        ("ER76961", None, "years_worked", None),
        ("ER76962", 98, "years_full_time", None),
        ("ER72231", 99, "tenure_years", None),
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
    sas = "In the Data Center, choose SAS statements for the set-up files."
    for drop, problem in (
        ("1.sas", f"holds no SAS set-up file (.sas). {sas}"),
        (".txt", f"holds no data (.txt). {REMEDY}"),
    ):
        path = package(tmp_path / "J1.zip", couple(), drop=drop)
        with pytest.raises(InputError) as caught:
            psid.read(path)
        assert str(caught.value) == f"{path}: {problem}"


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


# --- the synthetic extract


def test_the_script_makes_the_shipped_file_to_the_byte(tmp_path: Path):
    out = tmp_path / "again.zip"
    assert synthetic_psid.main([str(out)]) == 0
    assert out.read_bytes() == resources.resolve("bundled:psid_synthetic.zip").read_bytes()


def test_the_synthetic_extract_is_plausible_and_says_what_it_is():
    found = psid.read(resources.resolve("bundled:psid_synthetic.zip"))
    people = found.rows.to_pandas()
    assert found.synthetic
    assert 5_500 <= found.records <= 6_500
    assert set(people["wave"]) == {2019, 2021}
    assert people["age"].dropna().between(18, 70).all()
    known = people.dropna(subset=["age", "years_worked"])
    assert (known["years_worked"] <= known["age"] - 18).all()
    both = people.dropna(subset=["years_worked", "years_full_time"])
    assert (both["years_full_time"] <= both["years_worked"]).all()
    for column in ("age", "race_code", "education_years", "occp_2010", "years_worked"):
        assert 0 < people[column].isna().mean() < 0.05
    five = people[people["occp_2010"].isin(["3255", "2310", "1020", "0800", "6260"])]
    assert 0.3 < len(five) / len(people) < 0.5
    men = five.groupby("occp_2010")["gender"].agg(lambda g: (g == "male").mean())
    assert men["3255"] < 0.2 < men["0800"] < 0.6 < men["1020"] < men["6260"]
    # Who is shown by age: experience grows, and so does its spread.
    young, old = (known[known["age"].between(a, a + 3)]["years_worked"] for a in (22, 40))
    assert young.mean() + 8 < old.mean()
    assert young.std() < old.std()


def test_usage_is_said_without_an_argument(capsys: pytest.CaptureFixture[str]):
    assert synthetic_psid.main([]) == 2
    usage = "usage: python -m fairscreen.sources.synthetic_psid OUT.zip\n"
    assert capsys.readouterr().err == usage
