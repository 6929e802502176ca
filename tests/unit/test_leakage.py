"""Demographic cues: each kind is found where it should be, and its look-alikes are not."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest

import leakage_labels
from fairscreen import cli
from fairscreen.analyze_leakage import analyze_leakage
from fairscreen.documents.leakage import KINDS, find_hits
from fairscreen.documents.leakage_cues import load_cues
from fairscreen.errors import InputError


def found(text: str) -> list[tuple[str, str]]:
    hits = find_hits(text)
    assert all(text[h.start : h.end] == h.text for h in hits)
    return [(h.kind, h.text) for h in hits]


@pytest.mark.parametrize(("text", "hits"), [
    ("Skills Gender : Female Hobbies", [("gender_field", "Gender : Female")]),
    ("Jenis Kelamin / Gender : Perempuan",
     [("gender_field", "Jenis Kelamin / Gender : Perempuan")]),
    ("Sex: M, Height: 180 cm", [("gender_field", "Sex: M"), ("appearance", "Height: 180 cm")]),
    ("性别：女", [("gender_field", "性别：女")]),
    ("A young man who likes engines", [("self_description", "young man")]),
    ("Mr. Smith is a welder. He leads a crew.", [("title", "Mr. Smith"), ("pronoun", "He")]),
    ("Duties: she manages ten people", [("pronoun", "she")]),
    ("Kim Lee (she/her)", [("name", "Kim Lee"), ("pronoun", "she/her")]),
    ("Member, Society of Women Engineers", [("membership", "Society of Women Engineers")]),
    ("Emily Walsh\n44 Elm Ave", [("name", "Emily Walsh")]),
    ("DOB: 3 May 1990", [("birth_date", "DOB: 3 May 1990")]),
    ("I am 52 years old.", [("age", "52 years old")]),
    ("Experienced nurse. He led a team.", [("pronoun", "He")]),
    ("Skilled teacher. She wrote plans.", [("pronoun", "She")]),
    ("Born in 1980, married, 2 children",
     [("birth_date", "Born in 1980"), ("marital_status", "married, 2 children")]),
    ("Marital status: Married", [("marital_status", "Marital status: Married")]),
    ("Nationality: Sri Lankan Skills", [("nationality", "Nationality: Sri Lankan")]),
    ("Religion: Hindu", [("religion", "Religion: Hindu")]),
    ("Ethnicity: Hispanic", [("race_field", "Ethnicity: Hispanic")]),
    ("Recent photograph attached", [("photo", "Recent photograph attached")]),
    ("2015: Maternity leave", [("parental_leave", "Maternity leave")]),
    ("Treasurer, Black Student Union", [("membership", "Black Student Union")]),
    ("Cocktail waitress, 2001", [("self_description", "Cocktail waitress")]),
    ("As a Black woman I lead",
     [("self_description", "Black"), ("self_description", "Black woman")]),
])  # fmt: skip
def test_each_kind(text: str, hits: list[tuple[str, str]]) -> None:
    assert found(text) == hits


def test_the_cases_above_have_every_kind() -> None:
    (mark,) = (m for m in test_each_kind.pytestmark if m.name == "parametrize")
    assert {kind for _, hits in mark.args[1] for kind, _ in hits} == set(KINDS)


@pytest.mark.parametrize("text", [
    "Oh No, it's Not Him/Her Again... Managing Countertransference",
    "Proficient in Ms. Office, MS Word and Ms Excel", "Ms./MBA degree in finance",
    "Reported to the chief engineer and his team", "Trained John Smith and his deputy",
    "Treats trauma, gender dysphoria and homelessness", "Gender: Male/Female (form field)",
    "Collected gender: male or female", "HIM Team lead; HER2 assays", "Columnist for Her Campus",
    "Each pupil and his or her parents", "Lead Man; Man Lift; man-hours", "women's shoes",
    "Interviewed women about their situation", "Assisted a young man with autism",
    "Recruited at the National Black MBA Conference", "Six Sigma Black Belt, Black Friday events",
    "Alpha Kappa Psi business fraternity, member", "coached girls' basketball",
    "Verified name and date of birth of patients", "Program born in 1998 and grown since",
    "Served as single point of contact; single sign-on; single family homes",
    "native English speakers", "citizen services; Citizens Bank; senior citizens",
    "Adobe Photo Deluxe; photo attached to each file", "a 40 year old company",
    "Filing status: Single; Military status: Separated", "Race: 5K charity run",
    "Works at height 40 feet; weight: 80 tons", "Covered maternity leave of a colleague",
    "Jackson Memorial Hospital, Charlotte, NC 28202", "Contact Mrs. Brown for a reference",
    "Driver to Her Majesty's consulate",
    "Assisted nurse. He led a team.", "Housed single, married, two parent families",
    "NYC DOB: filed 2014 permits",
    "US citizen services desk", "I, Life Cycle Logistics level I & II", "Hostess Brands, packer",
])  # fmt: skip
def test_look_alikes_are_no_hits(text: str) -> None:
    assert found(text) == []


def test_attributes_tell_what_is_given_away() -> None:
    hits = find_hits("As a Black woman I studied at Spelman College, B.A. 2009. DOB: 1/2/1987")
    assert sorted((h.kind, h.attribute) for h in hits) == [
        ("birth_date", "age"), ("membership", "gender"), ("membership", "race"),
        ("self_description", "gender"), ("self_description", "race"),
    ]  # fmt: skip


def test_the_labelled_passages() -> None:
    """Rules were made with `dev` in sight. The held-out bars are below what was measured before
    anybody looked at its errors (tests/bench/leakage.txt: 0.987 and 0.963)."""
    dev, held = (leakage_labels.passages(name) for name in ("dev", "heldout"))
    assert leakage_labels.score(dev).examples == []
    measured = leakage_labels.score(held)
    assert measured.precision >= 0.97, measured.examples
    assert measured.recall >= 0.95, measured.examples
    for rows in (dev, held):
        assert {kind for row in rows for kind, _, _ in row.labels} == set(KINDS)
        assert sum(not row.labels for row in rows) >= 40  # look-alikes
    assert not {r.text for r in dev} & {r.text for r in held}


def test_kinds_can_be_chosen() -> None:
    text = "Gender: Female, Age: 29"
    assert [h.kind for h in find_hits(text, kinds=("age",))] == ["age"]


# --- on a file


def test_rows_of_a_file() -> None:
    frame = pd.DataFrame({"cv": ["Sex: F", None, "Nothing", "She leads. Her team grew."]})
    assert analyze_leakage(frame, text="cv", where="x.csv") == {
        "rows": [
            {"row": 0, "kind": "gender_field", "attribute": "gender", "start": 0, "end": 6,
             "text": "Sex: F"},
            {"row": 3, "kind": "pronoun", "attribute": "gender", "start": 0, "end": 3,
             "text": "She"},
            {"row": 3, "kind": "pronoun", "attribute": "gender", "start": 11, "end": 14,
             "text": "Her"},
        ],
        "excluded": {"missing_text": 1},
        "notes": ["2 of 3 texts hold a cue.", "gender_field: 1 in 1 texts.",
                  "pronoun: 2 in 1 texts."],
    }  # fmt: skip


def test_the_command(tmp_path: Path, capsys) -> None:
    file = tmp_path / "cv.csv"
    file.write_text('id,cv\n1,"Sex: F\nNurse"\n2,Plain\n', encoding="utf-8-sig")
    assert cli.main(["analyze", "leakage", "--input", str(file), "--text", "cv"]) == 0
    assert capsys.readouterr().out == (
        "row\tkind\tattribute\tstart\tend\ttext\n0\tgender_field\tgender\t0\t6\tSex: F\n"
        "note: 1 of 2 texts hold a cue.\nnote: gender_field: 1 in 1 texts.\n"
    )
    assert (
        cli.main(["analyze", "leakage", "--input", str(file), "--text", "cv", "--json", "-"]) == 0
    )
    assert json.loads(capsys.readouterr().out)["rows"][0]["text"] == "Sex: F"


@pytest.mark.parametrize(("options", "message"), [
    (["--text", "resume"], "{file}, 'resume': is no column. Columns: 'id', 'cv'."),
    (["--text", "cv", "--kind", "name", "sex"], "--kind sex: is no kind of cue. Kinds: "
     "gender_field, race_field, title, pronoun, self_description, membership, name, birth_date, "
     "age, marital_status, nationality, religion, photo, appearance, parental_leave."),
    (["--text", "cv", "--cues", "{file}.yml"], "{file}.yml: No such file or directory. Start from "
     "conf/leakage.yml."),
    (["--text", "cv", "--json", "{file}/no/x.json"], "--json {file}/no/x.json: is no file in a "
     "folder that can be written to. Give a file in a folder that is there."),
])  # fmt: skip
def test_bad_input_ends_with_2(options, message, tmp_path: Path, capsys) -> None:
    file = tmp_path / "cv.csv"
    file.write_text("id,cv\n1,x\n")
    argv = ["analyze", "leakage", "--input", str(file), *(o.format(file=file) for o in options)]
    assert cli.main(argv) == 2
    assert capsys.readouterr().err.splitlines()[-1] == f"error: {message.format(file=file)}"


def test_cues_of_ones_own(tmp_path: Path) -> None:
    text = Path(cli.__file__).parents[2].joinpath("conf/leakage.yml").read_text(encoding="utf-8")
    file = tmp_path / "mine.yml"
    file.write_text(text.replace("labels: [gender, sex,", "labels: [gender, salutation,"))
    cues = load_cues(str(file))
    assert [h.text for h in find_hits("Salutation: Male, Sex: Male", cues=cues)] == [
        "Salutation: Male"
    ]
    file.with_name("bad.yml").write_text(text.replace("attribute: gender", "attribute: sex", 1))
    with pytest.raises(
        InputError, match=r"bad\.yml, fields\.gender_field\.attribute: Input should"
    ):
        load_cues(str(file.with_name("bad.yml")))
