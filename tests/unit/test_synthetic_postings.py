"""The postings that ship: real texts with made-up employers, places and days, told as such."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from pathlib import Path

import pandas as pd
import pytest

from fairscreen import resources
from fairscreen.errors import InputError
from fairscreen.population.geography import STATES
from fairscreen.settings.postings import FIELDS, word_pattern
from fairscreen.sources import posting_files, postings, synthetic_postings

FILE = resources.path("conf", "data", "postings.parquet")
REAL = ["text_id", "title", "description", "industry"]
ENTRY = re.compile(word_pattern(["analyst", "associate", "assistant", "coordinator"]), re.I)


def texts() -> list[dict[str, str | None]]:
    frame = pd.read_parquet(FILE)[REAL].astype(object)
    return frame.where(frame.notna(), None).to_dict("records")


def entry_level() -> list[dict[str, str | None]]:
    return [text for text in texts() if ENTRY.search(text["title"] or "")]


def test_the_file_is_what_the_script_makes_of_its_texts() -> None:
    made = pd.DataFrame(synthetic_postings.rows(texts()), columns=synthetic_postings.COLUMNS)
    pd.testing.assert_frame_equal(pd.read_parquet(FILE), made)


def test_it_is_read_and_says_what_is_made_up() -> None:
    found = posting_files.read(FILE, {})
    assert found.notes == ("The file has no column for job_type.",)
    assert {row.synthetic for row in found.rows} == {"company,metro,posted,state"}
    assert len({row.posting_id for row in found.rows}) == 328
    assert all(
        None not in (row.company, row.title, row.metro, row.state, row.posted, row.description)
        for row in found.rows
    )
    assert sum(ENTRY.search(row.title or "") is not None for row in found.rows) == 53
    assert postings.checks(found.rows) == [
        "Missing in 328 postings: industry 77, job_type 328.",
        "SYNTHETIC: the source says that a script made up company, metro, posted, state in 328 of "
        "328 postings.",
    ]
    assert not any("&amp;" in (row.description or "") for row in found.rows)
    assert any("&amp;" in (text["description"] or "") for text in texts())  # as it came


def test_hashes_of_the_shipped_files_are_those_that_are_listed() -> None:
    listed = resources.path("conf", "data", "README.md").read_text(encoding="utf-8")
    named = dict(reversed(pair) for pair in re.findall(r"^([0-9a-f]{64})  (\S+)$", listed, re.M))
    assert "postings.parquet" in named
    for name, sha256 in named.items():
        data = resources.path("conf", "data", name).read_bytes()
        assert hashlib.sha256(data).hexdigest() == sha256, name


def test_companies_are_108_of_unequal_size() -> None:
    firms = synthetic_postings.companies()
    names = [name for nine in firms.values() for name in nine]
    assert len(set(names)) == 108
    assert len({name.split()[0] for name in names}) == 108
    drawn = Counter(row["company"] for row in synthetic_postings.rows(texts(), 6_007))
    assert set(drawn) == set(names)
    for nine in firms.values():  # planned 9 to 1
        assert 4 < drawn[nine[0]] / drawn[nine[-1]] < 20
        assert drawn[nine[0]] > drawn[nine[4]] > drawn[nine[-1]]


def test_places_are_of_the_states_and_of_every_region() -> None:
    region = {state.usps: state.region for state in STATES.values()}
    assert {state for _, state, _ in synthetic_postings.METROS} <= set(region)
    assert len({name + state for name, state, _ in synthetic_postings.METROS}) == 69
    place = {(name, state) for name, state, _ in synthetic_postings.METROS}
    rows = synthetic_postings.rows(texts())
    assert {(row["metro"], row["state"]) for row in rows} <= place
    assert {region[row["state"] or ""] for row in rows} == {"northeast", "midwest", "south", "west"}


def test_a_company_is_of_the_industry_that_is_told() -> None:
    firms = synthetic_postings.companies()
    for row in synthetic_postings.rows(texts()):
        if row["industry"] is not None:
            sector = synthetic_postings._sector(row["industry"])
            assert sector is not None, row["industry"]
            assert row["company"] in firms[sector]


def test_the_published_number_with_one_of_them_incomplete() -> None:
    rows = synthetic_postings.rows(entry_level(), 6_007, 1)
    told = [
        posting_files.Posting(i, **{f: row.get(f) for f in (*FIELDS, "synthetic")})
        for i, row in enumerate(rows)
    ]
    assert len({posting.posting_id for posting in told}) == 6_007
    gone = [row for row in rows if None in [row[name] for name in synthetic_postings.MADE_UP]]
    assert len(gone) == 1
    assert len((gone[0]["synthetic"] or "").split(",")) == 3
    assert all("2024-01-01" <= (row["posted"] or "2024-06-01") <= "2024-12-31" for row in rows)
    of_text = Counter(row["text_id"] for row in rows)
    assert set(of_text.values()) == {113, 114}
    days = Counter((row["text_id"], row["posted"]) for row in rows if row["posted"])
    assert set(days.values()) == {1}


def test_rows_do_not_depend_on_the_order_of_the_texts() -> None:
    def ordered(rows: list[synthetic_postings.Row]) -> list[synthetic_postings.Row]:
        return sorted(rows, key=lambda row: (row["text_id"] or "", row["posted"] or ""))

    some = texts()
    for n in (100, 500):
        forward = synthetic_postings.rows(some, n, 7)
        assert ordered(forward) == ordered(synthetic_postings.rows(some[::-1], n, 7))


def test_the_command(tmp_path: Path, capsys) -> None:
    source, target = tmp_path / "in.csv", tmp_path / "out.parquet"
    source.write_text(
        "job_id,title,description,requirements,industry\n"
        "1,Sales Analyst,Sells,Patience,Banking\n2,Cook,Cooks,,\n3,Assistants,Helps,Tact,\n"
    )
    assert synthetic_postings.main([str(source), str(target), "--n", "5", "--entry-level"]) == 0
    assert capsys.readouterr().out == (
        f"{target}: 5 postings of 2 texts, company, metro, posted, state SYNTHETIC\n"
    )
    frame = pd.read_parquet(target)
    assert sorted(set(frame["title"])) == ["Assistants", "Sales Analyst"]
    assert set(frame["description"]) == {"Sells\n\nPatience", "Helps\n\nTact"}
    assert synthetic_postings.main([str(source), str(target), "--n", "1099"]) == 2
    assert capsys.readouterr().err == (
        "error: --n: 1,099 is not between 1 and 1,098. Give a number that is.\n"
    )
    assert synthetic_postings.main([str(source), str(target), "--missing", "4"]) == 2
    assert capsys.readouterr().err == (
        "error: --missing: 4 is not between 0 and 3. Give a number that is.\n"
    )


@pytest.mark.parametrize(("text", "message"), [
    ("id,title,description\n1,a,b\n", ": has no column job_id; it has id, title, description. Name "
     "it so."),
    ("job_id,title,description\n1,a,b\n1,c,d\n", ", job_id: is empty or there twice. Number the "
     "texts."),
])  # fmt: skip
def test_bad_texts(tmp_path: Path, text: str, message: str) -> None:
    source = tmp_path / "in.csv"
    source.write_text(text)
    with pytest.raises(InputError) as error:
        synthetic_postings.texts_of(source)
    assert str(error.value) == f"{source}{message}"
