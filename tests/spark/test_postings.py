"""Postings in the warehouse, and which of them an audit takes."""

from __future__ import annotations

import re
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import small_postings
from fairscreen import config, random, resources
from fairscreen.documents import posting_choice
from fairscreen.errors import InputError
from fairscreen.settings.callback_audit import CallbackConfig
from fairscreen.settings.postings import Postings, word_pattern
from fairscreen.sources import ledger, posting_files
from fairscreen.sources.postings import TABLE, ingest_postings
from fairscreen.stations import callback_sources
from fairscreen.tables import Warehouse

WORDS = ("analyst", "associate", "assistant", "coordinator")
REQUIRED = ("company", "title", "metro", "state", "posted")


def settings(**changes: Any) -> Postings:
    told = {
        "paths": ["x"], "entry_level": WORDS, "require": REQUIRED, "sample": {}, **changes,
    }  # fmt: skip
    return Postings.model_validate(told)


def test_a_file_goes_in_once_and_whole(warehouse: Warehouse, tmp_path: Path) -> None:
    path = small_postings.file(tmp_path)
    first = ingest_postings(warehouse, path, small_postings.COLUMNS)
    again = ingest_postings(warehouse, path, small_postings.COLUMNS)
    assert (first.kind, first.rows, first.files) == ("postings", 7, ("jobs.csv",))
    assert first.notes == (
        "Columns: company = Employer, title = Job Title, metro = MSA, posted = Date.",
        "The file has no column for job_type.",
        "Missing in 7 postings: metro 1, description 6, industry 1, job_type 7.",
        "SYNTHETIC: the source says that a script made up company, metro in 1 of 7 postings.",
    )
    assert (again.rows, again.skipped, again.sha256) == (0, ("jobs.csv",), first.sha256)
    assert ledger.known(warehouse, "postings") == set(first.sha256)
    (entry,) = warehouse.read("source_file").collect()
    assert entry["synthetic"]
    rows = warehouse.read(TABLE).orderBy("row_number").collect()
    expected = small_postings.table_rows(tmp_path)
    assert [{**r.asDict(), "source_sha256": small_postings.SOURCE} for r in rows] == expected
    other = ingest_postings(warehouse, path, {})
    assert (other.rows, warehouse.read(TABLE).count()) == (7, 14)
    path.write_text("x\n1\n")
    with pytest.raises(InputError, match="has no column of a posting that is known by name"):
        ingest_postings(warehouse, path, {})
    assert warehouse.read(TABLE).count() == 14


def test_an_audit_reads_every_source(warehouse: Warehouse, tmp_path: Path, capsys) -> None:
    one = small_postings.file(tmp_path)
    two = tmp_path / "more.jsonl"
    two.write_text('{"Employer": "Ombrelmer Air", "MSA": "Reno", "job title": "Clerk"}\n')
    states = tmp_path / "AK.TXT"
    states.write_text("AK,F,1990,Mary,6\n")
    surnames = tmp_path / "surnames.csv"
    surnames.write_text("name,race,count\nBaker,white,5\n")
    cfg = config.load(resources.path("conf", "audits", "callbacks.yml"))
    assert isinstance(cfg, CallbackConfig)
    told = cfg.postings.model_copy(update={
        "paths": (str(one), str(two)), "columns": small_postings.COLUMNS,
    })  # fmt: skip
    names = cfg.names.model_copy(update={
        "source": "population", "ssa": str(states), "census": str(surnames),
    })  # fmt: skip
    cfg = cfg.model_copy(update={"postings": told, "names": names})
    bronze = callback_sources.ingest(warehouse, cfg)
    assert bronze.postings == tuple(
        posting_files.content_sha256(path, small_postings.COLUMNS) for path in (one, two)
    )
    assert (bronze.first, bronze.surnames, len(bronze.ssa), len(bronze.census)) == ((), (), 1, 1)
    assert any(note.startswith("SYNTHETIC: ") for note in bronze.notes)
    said = [line.split("] ")[1] for line in capsys.readouterr().err.splitlines()[:2]]
    assert said == [f"ingest: postings: reading {one}, {two}", "ingest: postings: 8 rows"]


def frame(spark, rows: list[dict[str, Any]]):
    schema = (
        "source_sha256 string, posting_id string, row_number int, company string, title string, "
        "metro string, state string, posted string, description string, industry string, "
        "job_type string, synthetic string"
    )
    names = [part.split(" ")[0] for part in schema.split(", ")]
    return spark.createDataFrame([tuple(row[name] for name in names) for row in rows], schema)


def test_entry_level_and_complete_postings_are_taken_once(spark, tmp_path: Path) -> None:
    rows = small_postings.table_rows(tmp_path)
    other = [{**row, "source_sha256": "1" * 64, "synthetic": None} for row in rows[:2]]
    found = posting_choice.chosen(frame(spark, rows + other), settings(), 1)
    assert tuple(found.columns) == posting_choice.CHOSEN
    taken = {row["title"]: row.asDict() for row in found.collect()}
    assert {title: (row["job_type"], row["region"]) for title, row in taken.items()} == {
        "Data Analyst": ("analyst", "south"),
        "Senior ANALYSTS, R&D": ("analyst", "northeast"),
        "Sales Associate/Analyst": ("associate", "west"),
        "Administrative Assistant": ("assistant", None),
    }
    assert taken["Senior ANALYSTS, R&D"]["synthetic"] == "company,metro"
    assert posting_choice.counts(frame(spark, rows + other), settings()) == {
        "rows": 9, "postings": 7, "not_entry_level": 2, "incomplete": 1, "without_stratum": 0,
        "missing": {"company": 0, "title": 0, "metro": 1, "state": 0, "posted": 0},
        "complete": 4, "synthetic": 1,
    }  # fmt: skip


TITLES = (
    "Analyst", "ANALYSTS", "Data-analyst (f/m)", "Analyst's aide", "Psychoanalyst", "analyst2",
    "Analysten", "Associated", "Sales Associates & Assistants", "Büroassistant", "Assistant\u00e9",
    "(Coordinator)", "Coordinatores", "", "Éanalyst", "Executive  Assistant", "executive assistant",
    "Assistant to the executive assistant",
)  # fmt: skip


def test_words_are_found_in_spark_as_in_python(spark) -> None:
    words = ("Analyst", "assistant", "Executive Assistant", "associate", "coordinator")
    rows = [
        {"source_sha256": "1" * 64, "posting_id": str(i), "row_number": i, "title": title,
         **dict.fromkeys(("company", "metro", "state", "posted", "description", "industry",
                          "job_type", "synthetic"))}
        for i, title in enumerate(TITLES)
    ]  # fmt: skip
    how = settings(entry_level=words, require=[])
    found = {
        row["title"]: row["job_type"]
        for row in posting_choice.judged(frame(spark, rows), how).collect()
    }
    pattern = re.compile(word_pattern(words), re.IGNORECASE)
    python = {title: pattern.search(title) for title in TITLES}
    assert found == {
        title: " ".join(match[1].lower().split()) if match else None
        for title, match in python.items()
    }
    assert {title for title, word in found.items() if word is None} == {
        "Psychoanalyst", "analyst2", "Analysten", "Associated", "Büroassistant", "Assistant\u00e9",
        "", "Éanalyst",
    }  # fmt: skip
    assert found["Executive  Assistant"] == "executive assistant"
    assert found["Assistant to the executive assistant"] == "assistant"


def test_without_words_every_title_counts_and_the_told_type_stays(spark, tmp_path: Path) -> None:
    rows = small_postings.table_rows(tmp_path)
    rows[4]["job_type"] = "Engineering"
    how = settings(entry_level=[], require=[])
    types = {r["title"]: r["job_type"] for r in posting_choice.chosen(frame(spark, rows), how, 1)
             .collect()}  # fmt: skip
    assert len(types) == 7
    assert {title for title, kind in types.items() if kind} == {"Engineer"}
    rows[3]["title"] = None
    untitled = posting_choice.counts(frame(spark, rows), settings())
    assert (untitled["not_entry_level"], untitled["incomplete"]) == (2, 1)
    assert untitled["missing"] == {"company": 0, "title": 1, "metro": 1, "state": 0, "posted": 0}
    untitled = posting_choice.counts(frame(spark, rows), settings(require=["metro"]))
    assert (untitled["not_entry_level"], untitled["incomplete"]) == (3, 0)


def test_nothing_left_says_why(spark, tmp_path: Path) -> None:
    rows = small_postings.table_rows(tmp_path)
    with pytest.raises(InputError) as error:
        posting_choice.chosen(frame(spark, rows[3:5]), settings(), 1)
    assert str(error.value) == (
        "postings: none of 2 is left: 1 hold no word of postings.entry_level in their title; 1 "
        "lack a field of postings.require (metro 1). Change these settings, name columns under "
        "postings.columns, or give other postings."
    )


# --- samples

SIZES = {"Food": 40, "Bank": 25, "Air": 10, None: 5}


def industries(spark, cut: int = 2):
    rows = [
        {
            "source_sha256": "1" * 64, "posting_id": f"{industry}{i}", "row_number": i,
            "company": f"c{i % 3}", "title": "analyst", "metro": "Reno", "state": "NV",
            "posted": "2024-01-01", "description": None, "job_type": None, "synthetic": None,
            "industry": industry if i % 2 or industry is None else industry.upper(),
        }
        for industry, size in SIZES.items()
        for i in range(size)
    ]  # fmt: skip
    return frame(spark, rows).repartition(cut)


def smallest(names: list[str], n: int, seed: int) -> set[str]:
    keys = random.hashes(seed, "callbacks/postings", names).view("int64")
    return {name for _, name in sorted(zip(keys.tolist(), names, strict=True))[:n]}


def ids(found) -> set[str]:
    return {row["posting_id"] for row in found.collect()}


def test_a_plain_sample_is_the_smallest_hashes(spark) -> None:
    names = [f"{industry}{i}" for industry, size in SIZES.items() for i in range(size)]
    how = settings(sample={"n": 12})
    assert ids(posting_choice.chosen(industries(spark), how, 7)) == smallest(names, 12, 7)
    with pytest.raises(InputError) as error:
        posting_choice.chosen(industries(spark), settings(sample={"n": 81}), 7)
    assert str(error.value) == (
        "postings.sample.n: 81 postings are asked for, and 80 are left. Ask for fewer, or ingest "
        "more."
    )


@pytest.mark.parametrize(("target", "expected"), [
    (None, {"Food": 16, "Bank": 10, "Air": 4}),  # 30 in the shares 40, 25, 10
    ({"food": 1, "AIR": 0.25}, {"Food": 24, "Air": 6}),
])  # fmt: skip
def test_strata_by_largest_remainder_and_hash(spark, target, expected) -> None:
    how = settings(sample={"n": 30, "by": "industry", "target": target})
    found = ids(posting_choice.chosen(industries(spark), how, 3))
    assert found == {
        name
        for industry, n in expected.items()
        for name in smallest([f"{industry}{i}" for i in range(SIZES[industry])], n, 3)
    }
    assert posting_choice.counts(industries(spark), how)["without_stratum"] == 5


def test_the_same_rows_on_1_and_200_partitions(spark) -> None:
    how = settings(sample={"n": 31, "by": "industry"})
    before = spark.conf.get("spark.sql.shuffle.partitions")
    found = []
    try:
        for cut in (1, 200):
            spark.conf.set("spark.sql.shuffle.partitions", str(cut))
            rows = posting_choice.chosen(industries(spark, cut), how, 5).collect()
            found.append(sorted(tuple(row) for row in rows))
    finally:
        spark.conf.set("spark.sql.shuffle.partitions", before)
    assert found[0] == found[1]
    assert len(found[0]) == 31
    assert ids(posting_choice.chosen(industries(spark), how, 6)) != {row[0] for row in found[0]}


@pytest.mark.parametrize(("target", "message"), [
    ({"Food": 1, "Air": 1}, "postings.sample: industry AIR has 10 of the 25 postings that its "
     "share of 50 asks for. With these shares n can be 20 at most: lower n, change target, or "
     "ingest more."),
    ({"Food": 1, "Mining": 1, "Oil": 2}, "postings.sample.target: no posting that is left has the "
     "industry Mining, Oil. They have AIR, BANK, FOOD."),
    ({"Food": 1, "food": 2}, "postings.sample.target: names one industry twice, in another case. "
     "Keep it once."),
])  # fmt: skip
def test_a_target_that_cannot_be_met(spark, target, message: str) -> None:
    how = settings(sample={"n": 50, "by": "industry", "target": target})
    with pytest.raises(InputError) as error:
        posting_choice.chosen(industries(spark), how, 1)
    assert str(error.value) == message


def test_companies_as_strata(spark) -> None:
    how = settings(sample={"n": 9, "by": "company"})
    rows = posting_choice.chosen(industries(spark), how, 1).collect()
    companies = [row["company"] for row in rows]
    assert {name: companies.count(name) for name in companies} == {"c0": 3, "c1": 3, "c2": 3}


def test_the_largest_sample_is_the_largest() -> None:
    """Against trying every n."""
    for held in ({"a": 10, "b": 3, "c": 7}, {"a": 1, "b": 50, "c": 2}, {"a": 6, "b": 6, "c": 2}):
        for shares in ((5, 3, 1), (1, 1, 1), (7, 2, 9)):
            weights = dict(zip(held, map(Fraction, shares), strict=True))
            fits = [
                n for n in range(1, 70)
                if all(k <= held[s] for s, k in posting_choice.quotas(n, weights).items())
            ]  # fmt: skip
            assert posting_choice.largest_n(weights, held) == max(fits, default=0)
