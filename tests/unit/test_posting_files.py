"""Job postings from files: what is read, made one form, counted as missing and refused."""

from __future__ import annotations

import datetime as dt
import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import small_postings
from fairscreen import cli, session
from fairscreen.errors import InputError
from fairscreen.population.geography import STATES
from fairscreen.settings.postings import FIELDS
from fairscreen.sources import posting_files, posting_values, postings
from fairscreen.sources.posting_files import Posting
from fairscreen.sources.posting_values import Slashed


def read(path: Path, **columns: str) -> tuple[Posting, ...]:
    return posting_files.read(path, columns).rows


def written(folder: Path, text: str, name: str = "jobs.csv", encoding: str = "utf-8") -> Path:
    path = folder / name
    path.write_bytes(text.encode(encoding))
    return path


def lines(*records: Any) -> str:
    return "".join(json.dumps(record) + "\n" for record in records)


# --- the same postings in every form


def test_columns_by_name_in_any_case_and_by_map(tmp_path: Path) -> None:
    found = posting_files.read(small_postings.file(tmp_path), small_postings.COLUMNS)
    assert found.rows[0] == Posting(
        row=0, company="Zorovane Foods", title="Data Analyst", metro="Atlanta", state="GA",
        posted="2024-03-01", description="Counts\ncrates", industry="Food",
    )  # fmt: skip
    assert [p.state for p in found.rows] == ["GA", "MA", "CO", "NY", "CO", "PR", "NV"]
    assert found.rows[1].title == "Senior ANALYSTS, R&D"
    assert [p.synthetic for p in found.rows[:3]] == [None, "company,metro", None]
    assert found.rows[3].metro is None


def test_every_form_gives_the_same_postings(tmp_path: Path) -> None:
    path = small_postings.file(tmp_path)
    expected = read(path)
    frame = pd.read_csv(path, dtype=str)
    frame.to_csv(tmp_path / "a.tsv", sep="\t", index=False)
    frame.to_json(tmp_path / "a.jsonl", orient="records", lines=True)
    frame.to_json(tmp_path / "a.ndjson", orient="records", lines=True, force_ascii=False)
    frame.to_json(tmp_path / "a.json", orient="records", indent=2)
    typed = frame.assign(
        Date=pd.to_datetime(frame["Date"]), State=frame["State"].astype("category")
    )
    typed.to_parquet(tmp_path / "a.parquet")
    frame.iloc[:, ::-1].to_parquet(tmp_path / "b.parquet")
    for name in ("a.tsv", "a.jsonl", "a.ndjson", "a.json", "a.parquet", "b.parquet"):
        assert read(tmp_path / name) == expected, name
    typed.assign(State=frame["State"]).to_excel(tmp_path / "a.xlsx", index=False)
    plain = {name: name.replace(" ", "_") for name in frame.columns}
    frame.fillna("").rename(columns=plain).to_stata(tmp_path / "a.dta", write_index=False)
    for name in ("a.xlsx", "a.dta"):
        assert read(tmp_path / name) == expected, name
    # As pandas writes dates unless told otherwise: thousandths of a second since 1970.
    frame.assign(Date=pd.to_datetime(frame["Date"])).to_json(
        tmp_path / "c.jsonl", orient="records", lines=True, date_format="epoch"
    )
    assert read(tmp_path / "c.jsonl") == expected


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "cp1252"])
@pytest.mark.parametrize("name", ["a.csv", "a.jsonl"])
def test_encodings_give_the_same_rows(tmp_path: Path, name: str, encoding: str) -> None:
    text = "title\nCafé – analyst\n" if name == "a.csv" else '{"title": "Café – analyst"}\r\n'
    (row,) = read(written(tmp_path, text, name, encoding))
    assert row.title == "Café – analyst"


def test_a_line_separator_inside_json_ends_no_line(tmp_path: Path) -> None:
    path = written(tmp_path, '{"title": "A\u2028B", "n": NaN}\n\n{"title": "C"}', "a.jsonl")
    assert [row.title for row in read(path)] == ["A B", "C"]


def test_an_id_is_of_all_that_is_told_and_nothing_else(tmp_path: Path) -> None:
    base = {field: field for field in FIELDS if field not in ("state", "posted")}
    (one,) = read(written(tmp_path, lines(base), "a.jsonl"))
    for other in ({**base, "id": 7}, dict(reversed(base.items())), {**base, "synthetic": True}):
        (same,) = read(written(tmp_path, lines(other), "b.jsonl"))
        assert same.posting_id == one.posting_id
    seen = {one.posting_id}
    for field in FIELDS:
        changed = {**base, field: {"state": "NY", "posted": "2024-01-05"}.get(field, "other")}
        (row,) = read(written(tmp_path, lines(changed), "b.jsonl"))
        seen.add(row.posting_id)
    assert len(seen) == 1 + len(FIELDS)


def test_the_map_is_part_of_the_source(tmp_path: Path) -> None:
    path = written(tmp_path, "title,a,b\nx,y,z\n")
    sha = posting_files.content_sha256
    maps = ({}, {"company": "a"}, {"company": "b"}, {"company": "a", "metro": "b"})
    assert len({sha(path, columns) for columns in maps}) == 4
    assert sha(path, {"metro": "b", "company": "a"}) == sha(path, maps[3])


def test_what_was_made_up_is_carried(tmp_path: Path) -> None:
    rows = [
        {"title": "A", "Employer": "B", "synthetic": cell}
        for cell in ("posted, company", "Employer", True, "no", "", None, 0)
    ]
    found = read(written(tmp_path, lines(*rows), "a.jsonl"))
    assert [row.synthetic for row in found] == [
        "company,posted", "company", "company,title", None, None, None, None,
    ]  # fmt: skip
    with pytest.raises(InputError) as error:
        read(written(tmp_path, "title,synthetic\nA,metro\nB,wage\n"))
    assert str(error.value) == (
        f"{tmp_path}/jobs.csv, line 3, synthetic: 'wage' is no column of a posting. List those "
        f"that were made up, with commas: {', '.join(FIELDS)}."
    )


# --- notes: a bad cell costs no file


def test_notes_name_the_rows(tmp_path: Path) -> None:
    text = (
        "title,state,posted\nA,Remote,2024-01-05\nB,,05.01.24\n\nC,XX,\nD,ny,Jan 2024\n ,,\nD,ny,\n"
    )
    found = posting_files.read(written(tmp_path, text), {})
    assert found.notes == (
        "The file has no column for company, metro, description, industry, job_type.",
        "2 rows with a state that is none of the United States, which counts as missing: line "
        "2 ('Remote'), line 5 ('XX'). Give USPS codes, names or FIPS codes.",
        "2 rows with a date that is not read (years have four digits), which counts as missing: "
        "line 3 ('05.01.24'), line 6 ('Jan 2024'). Write it as YYYY-MM-DD.",
        "1 row tells nothing of a posting; left out.",
    )
    assert [(p.row, p.title, p.state) for p in found.rows] == [
        (0, "A", None), (1, "B", None), (2, "C", None), (3, "D", "NY"), (5, "D", "NY"),
    ]  # fmt: skip
    assert postings.checks(found.rows) == [
        "Missing in 4 postings: company 4, metro 4, state 3, posted 3, description 4, industry 4, "
        "job_type 4.",
        "1 row says what an earlier row says and counts as that posting.",
    ]
    table = postings.table(found.rows)
    assert table.column("row_number").to_pylist() == [0, 1, 2, 3]
    many = "title,state\n" + "A,Nowhere\n" * 12
    note = posting_files.read(written(tmp_path, many), {}).notes[1]
    assert note.endswith("line 11 ('Nowhere') and 2 more. Give USPS codes, names or FIPS codes.")


@pytest.mark.parametrize(("dates", "days", "note"), [
    (["4.5.2024", "14.5.2024"], ["2024-05-04", "2024-05-14"], None),
    (["1/5/2024", "1/25/2024"], ["2024-01-05", "2024-01-25"], None),
    (["1/5/2024", "25/1/2024"], ["2024-05-01", "2024-01-25"],
     "Dates were read as day, month, year: some of the file can be nothing else."),
    (["1/5/2024", "1/2/2024 9:30 AM"], ["2024-01-05", "2024-01-02"],
     "Dates such as 1/5/2024 (2 of them) were read as month, day, year, as in the United States; "
     "nothing in the file says otherwise."),
    (["1/5/2024", "25/1/2024", "1/25/2024", "3/3/2024"],
     [None, "2024-01-25", "2024-01-25", "2024-03-03"],
     "Some dates begin with the month and some with the day: where both are possible the date "
     "counts as missing."),
])  # fmt: skip
def test_months_and_days_are_told_by_the_whole_file(
    tmp_path: Path, dates: list[str], days: list[str | None], note: str | None
) -> None:
    path = written(tmp_path, lines(*({"title": "A", "date": d} for d in dates)), "a.jsonl")
    found = posting_files.read(path, {})
    assert [row.posted for row in found.rows] == days
    said = [n for n in found.notes if "ates" in n and "counts as missing: line" not in n]
    assert said == ([] if note is None else [note])


# --- values


@pytest.mark.parametrize(("cell", "day"), [
    ("2024-01-05", "2024-01-05"), (" 2024-1-5 ", "2024-01-05"), ("2024/01/05", "2024-01-05"),
    ("20240105", "2024-01-05"), ("2024.01.05", "2024-01-05"),
    ("2024-01-05T23:30:00-05:00", "2024-01-05"), ("2024-01-05 23:30:00+00:00", "2024-01-05"),
    ("2024-01-05T00:00:00.000Z", "2024-01-05"), ("2024-01-05 11:30 pm EST", "2024-01-05"),
    ("January 5, 2024", "2024-01-05"), ("jan. 5 2024", "2024-01-05"),
    ("Sept 5, 2024", "2024-09-05"),
    ("5 Jan 2024", "2024-01-05"), ("05-JAN-2024", "2024-01-05"),
    ("5th of January 2024", "2024-01-05"),
    ("Fri, 05 Jan 2024 10:00:00 GMT", "2024-01-05"), ("1704412800", "2024-01-05"),
    ("1704412800000", "2024-01-05"), ("5/5/2024", "2024-05-05"), ("1/5/2024", Slashed(1, 5, 2024)),
    ("13/5/2024", Slashed(13, 5, 2024)), ("13/13/2024", None), ("2024-02-30", None),
    ("1/5/24", None), ("2024-01", None), ("2024115", None), ("45296", None), ("ma 5, 2024", None),
    ("March 2024", None), ("0024-01-05", None), ("2024-01/05", None), ("yesterday", None),
    ("٢٠٢٤-٠١-٠٥", None), ("", None), (None, None), ("9" * 19, None),
])  # fmt: skip
def test_dates(cell: str | None, day: str | Slashed | None) -> None:
    assert posting_values.posted(cell) == day


@given(st.dates(dt.date(1990, 1, 1), dt.date(2100, 12, 31)))
def test_a_date_in_any_form_is_that_date(day: dt.date) -> None:
    iso = day.isoformat()
    seconds = int(dt.datetime.combine(day, dt.time(23, 59), dt.UTC).timestamp())
    forms = [
        iso, f"{day:%Y%m%d}", f"{day:%Y/%m/%d} 01:02", f"{day:%B} {day.day}, {day.year}",
        f"{day:%d-%b-%Y}", f"{day:%A}, {day.day} {day:%b} {day.year}", iso + "T23:59:59.999-11:00",
    ]  # fmt: skip
    if seconds >= 10**9:
        forms += [str(seconds), str(seconds * 1000)]
    assert [posting_values.posted(form) for form in forms] == [iso] * len(forms)
    slashed = posting_values.posted(f"{day:%m/%d/%Y}")
    assert (slashed.read(True) if isinstance(slashed, Slashed) else slashed) == iso


@given(st.text())
def test_no_cell_breaks_a_reader(cell: str) -> None:
    day = posting_values.posted(cell)
    assert day is None or isinstance(day, Slashed) or dt.date.fromisoformat(day).isoformat() == day
    assert posting_values.usps(cell) in {None, *posting_values._STATE.values()}
    for kept in (posting_values.text(cell), posting_values.text(cell, lines=True)):
        assert kept is None or (kept.encode() and kept.strip() == kept)


@pytest.mark.parametrize("fips", STATES)
def test_states_by_code_name_and_number(fips: str) -> None:
    usps, name, _ = STATES[fips]
    dotted = ".".join(usps) + "."
    number = str(int(fips))
    for cell in (usps, usps.lower(), f" {dotted} ", name.upper(), f"US-{usps}", fips, number,
                 f"{number}.0"):  # fmt: skip
        assert posting_values.usps(cell) == usps


@pytest.mark.parametrize(("cell", "usps"), [
    ("Washington, D.C.", "DC"), ("Washington", "WA"), ("Puerto Rico", "PR"), ("72", "PR"),
    ("U.S. Virgin Islands", "VI"), ("New  York", "NY"), ("Remote", None), ("00", None), ("3", None),
    ("CA, TX", None), ("N Y", None), (".", None), ("US", None), ("Ontario", None), ("6.5", None),
])  # fmt: skip
def test_other_states(cell: str, usps: str | None) -> None:
    assert posting_values.usps(cell) == usps


@pytest.mark.parametrize(("cell", "kept"), [
    ("R&amp;D &#39;x&#x27; &nbsp;y", "R&D 'x' y"), ("R&D; AT&T &bogus;", "R&D; AT&T &bogus;"),
    ("&amp;amp;", "&amp;"), ("CafÃ© \u00ad", "Café"), ("a\ud800b", "a\ufffdb"),
    ("a\x00b\x1fc", "a b c"), (" \u00a0\t\n", None), ("&nbsp;", None), ("a\r\n b", "a b"),
    ("N/A", "N/A"),
])  # fmt: skip
def test_texts(cell: str, kept: str | None) -> None:
    assert posting_values.text(cell) == kept


def test_a_description_keeps_its_lines() -> None:
    assert posting_values.text(" a\r\n\u2028b &ndash;  c\n", lines=True) == "a\n\nb –  c"


# --- refusals


@pytest.mark.parametrize(("name", "text", "message"), [
    ("a.csv", "Title,job title\nA,B\n", ": columns Title and job title may both be title. Say "
     "which is meant (--column title=Title, or postings.columns)."),
    ("a.csv", "company_name,Company\nA,B\n", ": columns Company and company_name may both be "
     "company. Say which is meant (--column company=Company, or postings.columns)."),
    ("a.csv", "x,y\n1,2\n", ": has no column of a posting that is known by name; it has x, y. Say "
     "which is what (--column title=NAME, or postings.columns of an audit)."),
    ("a.csv", "title\n", ": holds no rows. Give a file with one row per posting."),
    ("a.csv", "title,state\n ,Remote\n", ": no row tells anything of a posting. Fill the columns "
     "in, or name others as such."),
    ("a.csv", 'title\n"A\n', ", line 2: opens a quote that nothing closes. Correct the quotes of "
     "this line."),
    ("a.jsonl", '{"title": "A"}\n{"title": }\n', ", line 2: is no JSON (Expecting value). Correct "
     "it; one object stands on one line, or all of them in one array."),
    ("a.jsonl", '\n{"title": "A", "title": "B"}\n', ", line 2: is no JSON (the field title stands "
     "there twice). Correct it; one object stands on one line, or all of them in one array."),
    ("a.jsonl", '{"title": "A"}\n["B"]\n', ", line 2: is JSON, but no object with the fields of a "
     'posting. Write {"NAME": "VALUE", ...}.'),
    ("a.json", '[{"title": "A"},\n 3]', ", row 2: is JSON, but no object with the fields of a "
     'posting. Write {"NAME": "VALUE", ...}.'),
    ("a.json", '[{"title": "A"},\n {"title" 3}]', ", line 2: is no JSON (Expecting ':' delimiter). "
     "Correct it; one object stands on one line, or all of them in one array."),
    ("a.jsonl", "[" * 100_000, ", line 1: is no JSON (nested too deeply). Correct it; one object "
     "stands on one line, or all of them in one array."),
    ("a.jsonl", "{}\n", ": holds no rows. Give a file with one object per posting."),
    ("a.jsonl", "\n \n", ": holds no rows. Give a file with one object per posting."),
    ("a.jsonl", '{"title": "A"}\n{"title": ["B"]}\n', ", line 2, title: holds a list or an object, "
     "not a text. Write it as one text, or name another column."),
    ("a.doc", "x", ": files ending in .doc are not read. Give a file with one row per posting: CSV "
     "(.csv, .tsv), JSON lines (.jsonl), parquet, Stata (.dta), Excel (.xlsx)."),
])  # fmt: skip
def test_bad_files(tmp_path: Path, name: str, text: str, message: str) -> None:
    path = written(tmp_path, text, name)
    with pytest.raises(InputError) as error:
        read(path)
    assert str(error.value) == f"{path}{message}"


def test_nested_values_elsewhere_are_no_matter(tmp_path: Path) -> None:
    (row,) = read(written(tmp_path, lines({"title": "A", "skills": ["b"]}), "a.jsonl"))
    assert row.title == "A"
    pd.DataFrame({"title": [["A"]], "x": [1]}).to_parquet(tmp_path / "a.parquet")
    with pytest.raises(InputError, match="row 1, title: holds a list or an object"):
        read(tmp_path / "a.parquet")


@pytest.mark.parametrize(("data", "name", "message"), [
    (b"title\n\x81\xff\n", "a.csv", "is no text of a known encoding. Save it anew in UTF-8."),
    (b"\xff\xfea", "a.jsonl", "is no text of a known encoding. Save it anew in UTF-8."),
    (b"PAR1", "a.parquet", "is no .parquet file that can be read"),
])  # fmt: skip
def test_bad_bytes(tmp_path: Path, data: bytes, name: str, message: str) -> None:
    path = tmp_path / name
    path.write_bytes(data)
    with pytest.raises(InputError) as error:
        read(path)
    assert str(error.value).startswith(f"{path}: {message}")


def test_a_map_settles_and_is_checked(tmp_path: Path) -> None:
    path = written(tmp_path, "company,company_name,Job Title\n7,Zorovane,Clerk\n")
    (row,) = read(path, company="company_name", title="JOB-TITLE")
    assert (row.company, row.title) == ("Zorovane", "Clerk")
    (row,) = read(path, company="company_name", metro="company")
    assert (row.company, row.metro) == ("Zorovane", "7")
    (row,) = read(path, metro="company")  # what is said to be the one is not taken for the other
    assert (row.company, row.metro) == ("Zorovane", "7")
    with pytest.raises(InputError) as error:
        read(path, metro="Place")
    assert str(error.value) == (
        f"{path}: has no column 'Place', which is to be metro; it has company, company_name, Job "
        "Title. Name one of them."
    )


# --- the command


@pytest.mark.parametrize(("argv", "message"), [
    (["acs", "a.zip", "--column", "title=x"], "--column: does not apply to acs. Leave it out."),
    (["postings", "a.csv", "--column", "wage=x"], "--column: 'wage=x' is not FIELD=NAME. Fields "
     f"are {', '.join(FIELDS)}; NAME is a column of the file."),
    (["postings", "a.csv", "--column", "title"], "--column: 'title' is not FIELD=NAME. Fields are "
     f"{', '.join(FIELDS)}; NAME is a column of the file."),
    (["postings", "a.csv", "--column", "title=x", "--column", "title=y"], "--column: tells title "
     "twice. Give it once."),
    (["postings", "none.csv"], "none.csv: no such file. Give a file with one row per posting: "
     "CSV (.csv, .tsv), JSON lines (.jsonl), parquet, Stata (.dta), Excel (.xlsx)."),
])  # fmt: skip
def test_a_bad_command_never_reaches_spark(
    argv: list[str], message: str, tmp_path: Path, monkeypatch, capsys
) -> None:
    monkeypatch.setattr(session, "get_session", lambda: pytest.fail("Spark was started"))
    assert cli.main(["ingest", *argv, "--warehouse", str(tmp_path / "w")]) == 2
    assert capsys.readouterr().err == f"error: {message}\n"
    assert not (tmp_path / "w").exists()
