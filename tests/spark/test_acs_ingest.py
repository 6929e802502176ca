"""ACS files in the warehouse: all or nothing, nobody twice, the same on one or many partitions."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from acs_files import REPLICATES, newer, person, zipped
from fairscreen.errors import InputError
from fairscreen.sources import ledger
from fairscreen.sources.acs_pums import ingest_acs
from fairscreen.sources.acs_reader import batches, inspect
from fairscreen.tables import Warehouse


def table(warehouse: Warehouse) -> list[dict[str, object]]:
    rows = warehouse.read("acs_person").orderBy("vintage", "serialno", "sporder").collect()
    return [r.asDict() for r in rows]


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Three files of two vintages and both layouts."""
    folder = tmp_path_factory.mktemp("acs")
    return {
        "wy": zipped(
            folder / "wy.zip",
            *(person(SERIALNO=f"2018HU{i:07d}", PWGTP9=str(-i)) for i in range(40)),
        ),
        "vt": zipped(
            folder / "vt.zip",
            *(person(SERIALNO=f"2018GQ{i:07d}", ST="50", ESR="", OCCP="") for i in range(25)),
        ),
        "al": zipped(folder / "al.zip", newer(), newer(SPORDER="02")),
    }


def test_ingest_is_whole_once_and_keeps_vintages_apart(
    warehouse: Warehouse, files: dict[str, Path]
) -> None:
    done = ingest_acs(warehouse, [files["wy"], files["vt"], files["al"]])
    assert (done.kind, done.rows, done.skipped) == ("acs", 67, ())
    assert done.files == (
        "wy.zip/psam_p56.csv", "vt.zip/psam_p56.csv", "al.zip/psam_p56.csv",
    )  # fmt: skip
    assert done.notes == (
        "The files are of 2018 and 2024; they are kept apart by column vintage.",
        "al.zip/psam_p56.csv has no replicate weights: design-based errors cannot be computed "
        "from it.",
    )
    expected = [
        row
        for name in ("wy", "vt", "al")
        for member in inspect(files[name])
        for batch in batches(member)
        for row in batch.to_pylist()
    ]
    key = ("vintage", "serialno", "sporder")
    assert table(warehouse) == sorted(expected, key=lambda r: tuple(r[k] for k in key))
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
    assert (again.rows, again.files) == (0, ())
    assert again.skipped == ("wy.zip/psam_p56.csv", "wy.zip/psam_p56.csv")
    assert again.notes == (
        "wy.zip/psam_p56.csv is in the warehouse already (same content): nothing to do.",
        "wy.zip/psam_p56.csv was given twice (same content): nothing to do.",
    )
    assert warehouse.version("acs_person") == version


def test_one_bad_file_and_nothing_is_written(
    warehouse: Warehouse, files: dict[str, Path], tmp_path: Path
) -> None:
    """The fault is in a weight, which only the workers read: their error arrives whole."""
    bad = zipped(tmp_path / "bad.zip", person(ST="44", PWGTP80="many"))
    with pytest.raises(InputError) as caught:
        ingest_acs(warehouse, [files["wy"], bad])
    assert str(caught.value) == (
        f"{bad}, psam_p56.csv, line 2, column PWGTP80: 'many' is not a whole number. "
        "Give the person zip as the Census Bureau ships it (such as csv_pwy.zip)."
    )
    assert table(warehouse) == []
    assert ledger.known(warehouse, "acs") == set()


def test_one_partition_or_several_same_rows(
    spark: SparkSession, warehouse: Warehouse, files: dict[str, Path], tmp_path: Path
) -> None:
    before = spark.conf.get("spark.sql.shuffle.partitions")
    other = Warehouse(spark, str(tmp_path / "one"))
    try:
        spark.conf.set("spark.sql.shuffle.partitions", "1")
        ingest_acs(other, [files["vt"], files["wy"]])
        spark.conf.set("spark.sql.shuffle.partitions", "7")
        ingest_acs(warehouse, [files["wy"], files["vt"]])
    finally:
        spark.conf.set("spark.sql.shuffle.partitions", before)
    assert table(warehouse) == table(other)
    assert {len(r["replicate_weights"]) for r in table(other)} == {len(REPLICATES)}


def test_a_person_already_there_is_refused(
    warehouse: Warehouse, files: dict[str, Path], tmp_path: Path
) -> None:
    ingest_acs(warehouse, [files["wy"]])
    nation = zipped(
        tmp_path / "nation.zip", person(SERIALNO="2018HU0000039"), person(SERIALNO="2018HU0000777")
    )
    with pytest.raises(InputError) as caught:
        ingest_acs(warehouse, [nation])
    assert str(caught.value) == (
        f"{nation}, psam_p56.csv: 1 of its people are in the warehouse through another file "
        "already, for vintage 2018 (first: SERIALNO 2018HU0000039, SPORDER 01). Nothing was "
        "written. Give the national file or the files of states, not both."
    )
    assert len(table(warehouse)) == 40
    # The same state's other people are welcome, and so is what a run left without its entry.
    warehouse.spark.sql(f"DELETE FROM {warehouse.identifier('source_file')}")
    rest = zipped(tmp_path / "rest.zip", person(SERIALNO="2018HU0000888"))
    done = ingest_acs(warehouse, [files["wy"], rest])
    assert (done.rows, done.skipped) == (1, ("wy.zip/psam_p56.csv",))
    assert len(table(warehouse)) == 41
    assert len(ledger.known(warehouse, "acs")) == 2


def test_deleted_content_can_come_back(warehouse: Warehouse, files: dict[str, Path]) -> None:
    """Delta drops a transaction it has seen; ours are named so that this is a new one."""
    ingest_acs(warehouse, [files["al"]])
    for name in ("acs_person", "source_file"):
        warehouse.spark.sql(f"DELETE FROM {warehouse.identifier(name)}")
    assert ingest_acs(warehouse, [files["al"]]).rows == 2
    assert len(table(warehouse)) == 2
    assert len(ledger.known(warehouse, "acs")) == 1
