"""SSA, surnames and PSID in the warehouse: one edition at a time, all of it or nothing."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from fairscreen.errors import InputError
from fairscreen.sources import ledger
from fairscreen.sources.census_surnames import ingest_surnames
from fairscreen.sources.psid import ingest_psid
from fairscreen.sources.ssa_names import ingest_ssa
from fairscreen.tables import Warehouse
from psid_files import FIELDS, couple, package

HEADER = "name,count,pctwhite,pctblack,pctapi,pctaian,pct2prace,pcthispanic\n"


def zipped(path: Path, member: str, text: str) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(member, text)
    return path


def test_the_whole_ssa_file_goes_in_once(warehouse: Warehouse):
    first = ingest_ssa(warehouse, "bundled:ssa_national_names.zip")
    version = warehouse.version("ssa_name")
    again = ingest_ssa(warehouse, "bundled:ssa_national_names.zip")
    assert (first.kind, first.rows, first.files) == ("ssa", 2_117_219, ("ssa_national_names.zip",))
    assert (again.rows, again.files, again.skipped) == (0, (), ("ssa_national_names.zip",))
    assert again.notes == ("ssa_national_names.zip: already ingested, nothing to do.",)
    assert again.sha256 == first.sha256
    assert warehouse.version("ssa_name") == version
    names = warehouse.read("ssa_name")
    assert names.count() == 2_117_219
    mary = names.where("birth_year = 1880 AND sex = 'F' AND name = 'Mary'").collect()
    assert [(r["births"], r["source_sha256"]) for r in mary] == [(7065, first.sha256[0])]
    crlf = names.where("birth_year = 2023 AND name = 'Olivia' AND sex = 'F'").collect()
    assert [r["births"] for r in crlf] == [15270]


def test_a_new_edition_replaces_and_the_old_one_may_come_back(warehouse: Warehouse, tmp_path: Path):
    old = zipped(tmp_path / "old.zip", "yob1990.txt", "Ann,F,9\nBob,M,8\n")
    new = zipped(tmp_path / "new.zip", "yob1991.txt", "Cleo,F,7\n")
    bad = zipped(tmp_path / "bad.zip", "yob1991.txt", "Cleo,F,7\nDan,M,4\n")

    def names() -> list[str]:
        return sorted(r["name"] for r in warehouse.read("ssa_name").collect())

    assert ingest_ssa(warehouse, old).notes == ()
    result = ingest_ssa(warehouse, new)
    assert (result.rows, names()) == (1, ["Cleo"])
    assert result.notes == ("new.zip replaces the edition that table ssa_name held before.",)
    with pytest.raises(InputError, match="line 2: 4 births"):
        ingest_ssa(warehouse, bad)
    assert names() == ["Cleo"]
    # Its hash is in the ledger, its rows are gone: not "already there".
    assert (ingest_ssa(warehouse, old).rows, names()) == (2, ["Ann", "Bob"])
    assert len(ledger.known(warehouse, "ssa")) == 2


def test_surnames_null_and_suppressed_survive_the_warehouse(warehouse: Warehouse, tmp_path: Path):
    rows = "NULL,500,(S),1,(S),0,1,97\nTRUE,400,1,2,3,4,5,85\nALL OTHER NAMES,9,1,1,1,1,1,95\n"
    path = zipped(tmp_path / "names.zip", "Names_2010Census.csv", HEADER + rows)
    result = ingest_surnames(warehouse, path)
    assert (result.kind, result.rows) == ("surnames", 2)
    assert result.notes == (
        "1 row ALL OTHER NAMES left out: it is a sum, not a surname.",
        "2 suppressed percentages, (S), are null.",
    )
    table = warehouse.read("census_surname").orderBy("name").collect()
    assert [(r["name"], r["bearers"], r["pct_white"]) for r in table] == [
        ("NULL", 500, None),
        ("TRUE", 400, 1.0),
    ]
    assert ingest_surnames(warehouse, path).rows == 0


def test_psid_says_synthetic_in_table_ledger_and_notes(warehouse: Warehouse, tmp_path: Path):
    path = package(tmp_path / "J1.zip", couple(ER76961=98))
    result = ingest_psid(warehouse, path)
    assert (result.kind, result.rows) == ("psid", 3)
    assert result.notes == (
        "J1.zip is SYNTHETIC: made by a script, no real PSID record.",
        "3 answers of reference persons and spouses with a main job, from 2 persons in 2 waves. "
        "Left out: not in the family unit: 1.",
        "Waves of the crosswalk that J1.zip does not hold: 2017.",
        "Years worked: 2 answers, 0 of them brought up to date. 1 were asked in the earliest wave "
        "of the extract or before: what came before that wave is missing from them. Nobody is "
        "there in two waves.",
    )
    people = warehouse.read("psid_person").orderBy("wave", "person_number").collect()
    assert [(p["wave"], p["role"], p["years_worked"]) for p in people] == [
        (2019, "reference", None),
        (2019, "spouse", 15),
        (2021, "reference", 20),
    ]
    assert all(p["synthetic"] for p in people)
    entry = warehouse.read("source_file").collect()[0]
    assert (entry["kind"], entry["file"], entry["synthetic"]) == ("psid", "J1.zip", True)
    assert (entry["row_count"], entry["sha256"]) == (3, people[0]["source_sha256"])
    # Joined packages are one edition, which takes the place of the one before.
    less = [f for f in FIELDS if not f[0].startswith("ER78")]
    less = [f for f in less if f[0] < "ER34901" or f[0] > "ER35065"]
    less = [f for f in less if f[0] < "ER81" or f[0] > "ER82"]
    late = [f for f in FIELDS if f not in less or f[0] in ("ER30001", "ER30002")]
    parts = [
        package(tmp_path / f"J{i}.zip", couple(ER76961=98), fields=fields)
        for i, fields in enumerate((less, late), start=2)
    ]
    joined = ingest_psid(warehouse, parts)
    assert (joined.rows, joined.files) == (3, ("J2.zip + J3.zip",))
    assert joined.notes[-1] == (
        "J2.zip + J3.zip replaces the edition that table psid_person held before."
    )
    again = ingest_psid(warehouse, parts[::-1])
    assert (again.rows, again.skipped) == (0, ("J3.zip + J2.zip",))
    held = warehouse.read("psid_person").orderBy("wave", "person_number").collect()
    assert [r["source_sha256"] for r in held] == list(joined.sha256) * 3
    assert [r["years_worked"] for r in held] == [None, 15, 20]
