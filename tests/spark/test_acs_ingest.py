"""ACS files in the warehouse: all or nothing, nobody twice, the same on one or many partitions."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import population_inputs as inputs
from acs_files import five_year_members, newer, person, write, zipped
from fairscreen.errors import InputError
from fairscreen.population import joint
from fairscreen.sources import ledger
from fairscreen.sources.acs_pums import ingest_acs
from fairscreen.sources.acs_reader import batches, inspect
from fairscreen.sources.acs_survey import survey_files
from fairscreen.tables import Warehouse, ddl_statements

PARTITIONS = "spark.sql.shuffle.partitions"


def table(warehouse: Warehouse) -> list[dict[str, object]]:
    return in_order([r.asDict() for r in warehouse.read("acs_person").collect()])


def in_order(rows: list[dict[str, object]]) -> list[dict[str, object]]:
    key = ("vintage", "period", "serialno", "sporder")
    return sorted(rows, key=lambda r: [(r[k] is not None, r[k]) for k in key])


def without_spark(*paths: Path) -> list[dict[str, object]]:
    found = [b for path in paths for member in inspect(path) for b in batches(member)]
    return in_order([row for batch in found for row in batch.to_pylist()])


@pytest.fixture
def files(tmp_path: Path) -> dict[str, Path]:
    """Three files of two vintages and both layouts."""
    wyoming = [person(SERIALNO=f"2018HU{i:07d}", PWGTP9=str(-i)) for i in range(40)]
    vermont = [person(SERIALNO=f"2018GQ{i:07d}", ST="50", ESR="", OCCP="") for i in range(25)]
    return {
        "wy": zipped(tmp_path / "wy.zip", *wyoming),
        "vt": zipped(tmp_path / "vt.zip", *vermont),
        "al": zipped(tmp_path / "al.zip", newer(), newer(SPORDER="02")),
    }


@pytest.fixture
def partitions(spark: SparkSession) -> Iterator[SparkSession]:
    before = spark.conf.get(PARTITIONS)
    yield spark
    spark.conf.set(PARTITIONS, before)


def test_whole_once_and_by_vintage(
    partitions: SparkSession, warehouse: Warehouse, files: dict[str, Path]
) -> None:
    partitions.conf.set(PARTITIONS, "7")
    done = ingest_acs(warehouse, [files["wy"], files["vt"], files["al"]])
    assert (done.kind, done.rows, done.skipped) == ("acs", 67, ())
    assert done.files == tuple(f"{name}.zip/psam_p56.csv" for name in ("wy", "vt", "al"))
    assert done.notes == (
        "The files are of 2018 and 2024; they are kept apart by column vintage.",
        "al.zip/psam_p56.csv has no replicate weights: design-based errors cannot be computed "
        "from it.",
    )
    expected = without_spark(*files.values())
    assert table(warehouse) == expected
    entries = warehouse.read("source_file").orderBy("file").collect()
    assert [
        (e.kind, e.file, e.member, e.vintage, e.row_count, e.has_replicate_weights, e.synthetic)
        for e in entries
    ] == [
        ("acs", "al.zip", "psam_p56.csv", 2024, 2, False, False),
        ("acs", "vt.zip", "psam_p56.csv", 2018, 25, True, False),
        ("acs", "wy.zip", "psam_p56.csv", 2018, 40, True, False),
    ]
    assert set(done.sha256) == {e.sha256 for e in entries}

    version = warehouse.version("acs_person")
    again = ingest_acs(warehouse, [files["wy"], files["wy"]])
    assert (again.rows, again.files, again.sha256) == (0, (), done.sha256[:1])
    assert again.skipped == ("wy.zip/psam_p56.csv", "wy.zip/psam_p56.csv")
    assert again.notes == (
        "wy.zip/psam_p56.csv is in the warehouse already (same content): nothing to do.",
        "wy.zip/psam_p56.csv was given twice (same content): nothing to do.",
    )
    assert warehouse.version("acs_person") == version

    # What was deleted on purpose can come back (Delta would drop a transaction of the same
    # name), and one partition gives what seven gave.
    for name in ("acs_person", "source_file"):
        warehouse.spark.sql(f"DELETE FROM {warehouse.identifier(name)}")
    partitions.conf.set(PARTITIONS, "1")
    assert ingest_acs(warehouse, [files["al"], files["vt"], files["wy"]]).rows == 67
    assert table(warehouse) == expected


def test_what_a_worker_refuses_writes_nothing_and_says_where(
    warehouse: Warehouse, files: dict[str, Path], tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """Below the lines that the driver checks in full."""
    many = [person(ST="44", SERIALNO=f"2018HU{i:07d}") for i in range(2000)]
    last = person(ST="44", SERIALNO="2018HU0009999", PWGTP80="many")
    bad = zipped(tmp_path / "bad.zip", *many, last)
    capfd.readouterr()
    with pytest.raises(InputError) as caught:
        ingest_acs(warehouse, [files["wy"], bad])
    assert str(caught.value) == (
        f"{bad}, psam_p56.csv, line 2002, column PWGTP80: 'many' is not a whole number. "
        "Give the person zip as the Census Bureau ships it (such as csv_pwy.zip)."
    )
    said = capfd.readouterr().err
    assert "Traceback" not in said
    assert "\tat " not in said
    assert table(warehouse) == []
    assert ledger.known(warehouse, "acs") == set()


def test_one_year_and_five_years_side_by_side(warehouse: Warehouse, tmp_path: Path) -> None:
    # As an older fairscreen left it: rows of 2018 without `period`.
    create = re.sub(r"^  period .*\n", "", ddl_statements("acs_person")[0], flags=re.M)
    target = warehouse.identifier("acs_person")
    warehouse.spark.sql(create.replace("EXISTS acs_person", f"EXISTS {target}"))
    names = "vintage, serialno, sporder, state, age, sex, pwgtp, source_sha256"
    warehouse.spark.sql(
        f"INSERT INTO {target} ({names}) "
        "VALUES (2018, '2018HU0000001', '01', '56', 40, '1', 9, 'x')"
    )
    one = zipped(tmp_path / "one.zip", person(SERIALNO="2022HU0000001"))
    five = write(tmp_path / "five.zip", five_year_members(every=100))
    done = ingest_acs(warehouse, [one, five])
    assert done.notes == (
        "The files are of 2022 and 2022 (5-year); they are kept apart by columns vintage and "
        "period.",
    )
    got = table(warehouse)
    assert Counter((r["vintage"], r["period"]) for r in got) == {
        (2018, None): 1, (2022, 1): 1, (2022, 5): done.rows - 1,
    }  # fmt: skip
    expected = [
        row
        for file in survey_files([one, five])[0]
        for batch in batches(file.member)
        for row in batch.to_pylist()
    ]
    assert in_order([r for r in got if r["period"]]) == in_order(expected)
    # A person of the old rows again: known as one of 1 year.
    again = zipped(tmp_path / "again.zip", person(), person(SPORDER="02"))
    assert "1 of its people are in the warehouse" in ingest_acs(warehouse, [again]).notes[0]

    acs = warehouse.read("acs_person")
    chosen = inputs.demo("population.vintage=2022", "population.period=5").population
    assert joint.survey_of(acs, chosen) == (2022, 5)
    assert joint.survey_of(acs, inputs.demo("population.vintage=2018").population) == (2018, 1)
    with pytest.raises(InputError) as caught:
        joint.survey_of(acs, inputs.demo("population.vintage=2022").population)
    assert str(caught.value) == (
        "population.period: is not set and the warehouse holds several ACS files of one year: "
        "2022 (1-year), 2022 (5-year). Set it to 1 or 5."
    )
    with pytest.raises(InputError) as caught:
        joint.survey_of(
            acs, inputs.demo("population.vintage=2018", "population.period=5").population
        )
    assert str(caught.value) == (
        "population.period: 5 is not in the warehouse, which holds 2018. Ingest such a file, or "
        "choose one of those."
    )


def test_refusals_write_nothing(
    warehouse: Warehouse, files: dict[str, Path], tmp_path: Path
) -> None:
    # Found on the driver, before any task could fail with a stack trace.
    bad = zipped(tmp_path / "bad.zip", person(ST="44", PWGTP80="many"))
    with pytest.raises(InputError) as caught:
        ingest_acs(warehouse, [files["wy"], bad])
    assert str(caught.value) == (
        f"{bad}, psam_p56.csv, line 2, column PWGTP80: 'many' is not a whole number. "
        "Give the person zip as the Census Bureau ships it (such as csv_pwy.zip)."
    )
    assert table(warehouse) == []
    assert ledger.known(warehouse, "acs") == set()

    ingest_acs(warehouse, [files["wy"]])
    nation = zipped(
        tmp_path / "nation.zip", person(SERIALNO="2018HU0000039"), person(SERIALNO="2018HU0000777")
    )
    # A person in two of the files given would count twice, unsaid: refused.
    with pytest.raises(InputError) as caught:
        ingest_acs(warehouse, [files["wy"], nation])
    assert str(caught.value) == (
        f"{nation}, psam_p56.csv: 1 of its people {files['wy']}, psam_p56.csv holds already, for "
        "vintage 2018 (first: SERIALNO 2018HU0000039, SPORDER 01). Nothing was written. Give the "
        "national file or the files of states, not both."
    )
    assert len(table(warehouse)) == 40
    # Through an earlier file: kept apart by source, and said.
    assert ingest_acs(warehouse, [nation]).notes == (
        "nation.zip/psam_p56.csv: 1 of its people are in the warehouse through another file too. "
        "Rows are kept apart by source_sha256 and an audit reads only its own files; a query over "
        "all of acs_person counts these people twice.",
    )
    assert len(table(warehouse)) == 42

    # Rows that a run left without its ledger entry
    # (it died between the two) are known by their hash, and the entry is added.
    warehouse.spark.sql(f"DELETE FROM {warehouse.identifier('source_file')}")
    rest = zipped(tmp_path / "rest.zip", person(SERIALNO="2018HU0000888"))
    done = ingest_acs(warehouse, [files["wy"], rest])
    assert (done.rows, done.skipped) == (1, ("wy.zip/psam_p56.csv",))
    assert len(table(warehouse)) == 43
    assert ledger.known(warehouse, "acs") == set(done.sha256)
    assert len(done.sha256) == 2
