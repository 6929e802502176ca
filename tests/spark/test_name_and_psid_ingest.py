"""First names, surnames and PSID in the warehouse: editions side by side, whole or not at all."""

from __future__ import annotations

import re
import zipfile
from pathlib import Path

import pytest

from fairscreen.errors import InputError
from fairscreen.sources import ledger
from fairscreen.sources.names import ingest_first_names, ingest_surnames
from fairscreen.sources.psid import ingest_psid
from fairscreen.tables import Warehouse, ddl_statements
from psid_files import FIELDS, couple, package

HEADER = "name,count,pctwhite,pctblack,pctapi,pctaian,pct2prace,pcthispanic\n"


def zipped(path: Path, member: str, text: str) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(member, text)
    return path


def test_the_whole_ssa_file_goes_in_once(warehouse: Warehouse):
    first = ingest_first_names(warehouse, "bundled:ssa_national_names.zip")
    version = warehouse.version("ssa_name")
    again = ingest_first_names(warehouse, "bundled:ssa_national_names.zip")
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


def test_editions_lie_side_by_side_and_bad_ones_stay_out(warehouse: Warehouse, tmp_path: Path):
    old = zipped(tmp_path / "old.zip", "yob1990.txt", "Ann,F,9\nBob,M,8\n")
    own = tmp_path / "own.csv"
    own.write_text("name,gender,count\nAnn,F,3\n")
    bad = zipped(tmp_path / "bad.zip", "yob1991.txt", "Cleo,F,7\nDan,M,4\n")

    def names() -> list[tuple[object, ...]]:
        rows = warehouse.read("ssa_name").orderBy("source_kind", "name").collect()
        return [(r["name"], r["birth_year"], r["births"], r["hidden_if_absent"]) for r in rows]

    first = ingest_first_names(warehouse, old)
    assert first.notes == ()
    result = ingest_first_names(warehouse, own)
    assert (result.rows, result.notes) == (1, ())
    both = [("Ann", None, 3, 0), ("Ann", 1990, 9, 4), ("Bob", 1990, 8, 4)]
    assert names() == both
    mine = warehouse.read("ssa_name").where(f"source_sha256 = '{first.sha256[0]}'")
    assert mine.count() == 2
    with pytest.raises(InputError, match="line 2: 4 births"):
        ingest_first_names(warehouse, bad)
    assert ingest_first_names(warehouse, old).rows == 0
    assert names() == both
    assert len(ledger.known(warehouse, "ssa")) == 2


def test_an_older_warehouse_takes_a_list_that_it_would_have_refused(
    spark, warehouse: Warehouse, tmp_path: Path
):
    """Before: a birth year in every row, at least five births, none of the newer columns."""
    create = ddl_statements("ssa_name")[0].replace("birth_year INT", "birth_year INT NOT NULL")
    older = re.sub(r",\n  (hidden_births|hidden_if_absent|source_kind) [^\n]*?(?=,?\n)", "", create)
    target = warehouse.identifier("ssa_name")
    spark.sql(older.replace("EXISTS ssa_name", f"EXISTS {target}"))
    spark.sql(f"ALTER TABLE {target} ADD CONSTRAINT births_floor CHECK (births >= 5)")
    spark.sql(f"INSERT INTO {target} VALUES (1990, 'F', 'Ann', 9, 'aa')")
    assert len(spark.table(target).columns) == 5
    own = tmp_path / "own.csv"
    own.write_text("name,gender,count\nAnn,F,3\n")
    assert ingest_first_names(warehouse, own).rows == 1
    rows = warehouse.read("ssa_name").orderBy("births").collect()
    assert [(r["birth_year"], r["births"], r["source_kind"]) for r in rows] == [
        (None, 3, "own_list"),
        (1990, 9, None),
    ]


def test_surnames_null_and_suppressed_survive_the_warehouse(warehouse: Warehouse, tmp_path: Path):
    rows = "NULL,500,(S),1,(S),0,1,97\nTRUE,400,1,2,3,4,5,85\nALL OTHER NAMES,9,1,1,1,1,1,95\n"
    path = zipped(tmp_path / "names.zip", "Names_2010Census.csv", HEADER + rows)
    result = ingest_surnames(warehouse, path)
    assert (result.kind, result.rows) == ("surnames", 2)
    assert result.notes == (
        "1 row ALL OTHER NAMES left out: it is a sum, not a surname. The listed surnames are those "
        "of 900 people, 99.0%.",
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
    # Joined packages are one edition, beside the one before.
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
    again = ingest_psid(warehouse, parts[::-1])
    assert (again.rows, again.skipped) == (0, ("J3.zip + J2.zip",))
    both = warehouse.read("psid_person").orderBy("wave", "person_number").collect()
    assert {r["source_sha256"] for r in both} == {*result.sha256, *joined.sha256}
    held = [r for r in both if r["source_sha256"] in joined.sha256]
    assert [r["years_worked"] for r in held] == [None, 15, 20]
