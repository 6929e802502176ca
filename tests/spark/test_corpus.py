"""A corpus in the warehouse, and which of its resumes an audit takes."""

from __future__ import annotations

from pathlib import Path

import pytest

import small_corpus
from fairscreen import random
from fairscreen.documents.selection import select_resumes
from fairscreen.errors import InputError
from fairscreen.sources import ledger
from fairscreen.sources.corpus import TABLE, ingest_corpus
from fairscreen.sources.corpus_files import Given
from fairscreen.tables import Warehouse


def test_a_corpus_goes_in_once_and_whole(warehouse: Warehouse, tmp_path: Path) -> None:
    path = small_corpus.file(tmp_path)
    first = ingest_corpus(warehouse, path, Given())
    again = ingest_corpus(warehouse, path, Given())
    assert (first.kind, first.rows, first.files) == ("corpus", 5, ("resumes.csv",))
    assert len(first.notes) == 3
    assert (again.rows, again.skipped, again.sha256) == (0, ("resumes.csv",), first.sha256)
    assert ledger.known(warehouse, "corpus") == set(first.sha256)
    rows = warehouse.read(TABLE).orderBy("row_number").collect()
    expected = small_corpus.table_rows(tmp_path)
    assert [{**r.asDict(), "source_sha256": small_corpus.SOURCE} for r in rows] == expected
    other = ingest_corpus(warehouse, path, Given(industry="ELSE"))
    assert (other.rows, warehouse.read(TABLE).count()) == (5, 10)
    path.write_text("Occupation,Role,Resume\nA,B,\n")
    with pytest.raises(InputError, match="line 2, Resume: is empty"):
        ingest_corpus(warehouse, path, Given())
    assert warehouse.read(TABLE).count() == 10


LENGTHS = {"A": [5, 3, 9, 3, 7, 1, 3], "B": [2, 2, 2, 2]}


def corpus(spark):
    rows = [
        (industry, f"{industry}{i}", length)
        for industry, lengths in LENGTHS.items()
        for i, length in enumerate(lengths)
    ]
    return spark.createDataFrame(rows, "occupation string, resume_id string, text_words int")


def taken(spark, **how) -> set[str]:
    found = select_resumes(corpus(spark), **how)
    assert found.columns == ["occupation", "resume_id", "text_words"]
    return {r["resume_id"] for r in found.collect()}


@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_the_middle_by_length(spark, n: int) -> None:
    expected = set()
    for industry, lengths in LENGTHS.items():
        order = sorted((length, f"{industry}{i}") for i, length in enumerate(lengths))
        first = -(-(len(order) - n) // 2)
        expected |= {name for _, name in order[first : first + n]}
    assert taken(spark, n=n, how="middle", seed=1) == expected
    if n == 3:
        assert {f"A{i}" for i in (3, 6, 0)} <= expected  # of 1 3 3 3 5 7 9 the middle


def test_a_sample_is_the_smallest_hashes(spark) -> None:
    expected = set()
    for industry, lengths in LENGTHS.items():
        names = [f"{industry}{i}" for i in range(len(lengths))]
        # Spark orders hashes as signed numbers.
        keys = random.hashes(7, "ranking/corpus", names).view("int64")
        expected |= {name for _, name in sorted(zip(keys.tolist(), names, strict=True))[:2]}
    assert taken(spark, n=2, how="sample", seed=7) == expected
    assert len({frozenset(taken(spark, n=2, how="sample", seed=s)) for s in range(4)}) > 1


def test_an_industry_with_too_few(spark) -> None:
    with pytest.raises(InputError) as error:
        taken(spark, n=5, how="middle", seed=1)
    assert str(error.value) == (
        "industry B: has 4 resumes, and 5 are asked for. Ask for fewer, or ingest more."
    )
