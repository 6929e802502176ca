"""Resumes from tables and folders: what is read, derived, checked and refused."""

from __future__ import annotations

import sys
import types
from pathlib import Path

import pandas as pd
import pytest

import small_corpus
from fairscreen import cli
from fairscreen.errors import InputError, MissingPartError
from fairscreen.sources import corpus, corpus_files
from fairscreen.sources.corpus_files import Given, Resume


def read(path: Path, **given: str) -> list[Resume]:
    return list(corpus_files.read(path, Given(**given)))


def texts(folder: Path, files: dict[str, str | bytes]) -> Path:
    for name, text in files.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text if isinstance(text, bytes) else text.encode())
    return folder


def test_quotes_and_line_breaks_inside_a_cell(tmp_path: Path) -> None:
    found = read(small_corpus.file(tmp_path))
    assert [(r.row, r.occupation, r.role) for r in found[:2]] == [
        (0, "HEALTHCARE", "NIGHT NURSE"), (1, "HEALTHCARE", "AIDE"),
    ]  # fmt: skip
    assert found[0].cleaned == small_corpus.NURSE
    assert found[0].text == small_corpus.NURSE
    assert (found[3].text, found[3].repairs) == ("Counts money  twice – daily", 2)
    assert found[3].cleaned == "Counts money Â twice â€“ daily"  # as it came


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "cp1252"])
def test_encodings_give_the_same_rows(tmp_path: Path, encoding: str) -> None:
    text = "Occupation,Role,Resume\nLAW,CLERK,CLERK Café – naïve\n"
    (row,) = read(small_corpus.file(tmp_path, text, encoding))
    assert (row.text, row.repairs) == ("Café – naïve", 0)


def test_parquet_gives_the_same_rows(tmp_path: Path) -> None:
    frame = pd.DataFrame(small_corpus.ROWS, columns=list(small_corpus.HEADER))
    frame["Resume_len"] = frame["Resume_len"].astype(int)
    frame.to_parquet(tmp_path / "a.parquet")
    assert read(tmp_path / "a.parquet") == read(small_corpus.file(tmp_path))


def test_checks_name_the_rows(tmp_path: Path) -> None:
    found = read(small_corpus.file(tmp_path))
    assert corpus.checks([*found, found[4]]) == [
        "1 of 6 rows have a Resume_len that is not the number of words of Resume: rows "
        "1 (9, counted 4).",
        "1 rows have a Cleaned_Resume that is not the Resume without its role words: rows 2.",
        "1 rows were read in a wrong encoding somewhere (2 places): `text` is right, the source's "
        "columns stay as they came: rows 3.",
        "1 rows say what an earlier row says and were left out.",
    ]
    assert corpus.table([*found, found[4]]).num_rows == 5
    assert corpus.checks([found[0]]) == []


def test_a_text_without_a_cleaned_column_loses_its_role_words_only(tmp_path: Path) -> None:
    text = "industry,job_title,resume\nLAW,LEGAL CLERK,LEGAL  CLERK\tA clerk\nLAW,CLERK,A CLERK\n"
    found = read(small_corpus.file(tmp_path, text))
    assert [r.text for r in found] == ["A clerk", "A CLERK"]
    assert corpus.checks(found) == [
        "1 rows do not begin with their role: nothing was taken away from their text: rows 1."
    ]


@pytest.mark.parametrize(("resume", "role"), [
    ("HR MANAGER Summary", "HR MANAGER"),
    ("SALES REPRESENTATIVE, WOMEN'S HEALTHCARE SPECIALIST Professional Summary",
     "SALES REPRESENTATIVE, WOMEN'S HEALTHCARE SPECIALIST"),
    ("CASHIER & COOK/SERVER Work", "CASHIER & COOK/SERVER"),
    ("A nurse with", ""), ("Nurse", ""),
])  # fmt: skip
def test_leading_capitals(resume: str, role: str) -> None:
    assert corpus_files.leading_capitals(resume) == role


def test_a_folder_of_industries_and_roles(tmp_path: Path) -> None:
    folder = texts(tmp_path, {
        "FINANCE/Teller/b.txt": "Teller\r\nCounts", "FINANCE/Teller/a.txt": "\ufeffAdds café",
        "LAW/Clerk/c.txt": "Files".encode("utf-16"), "LAW/readme.doc": "x", ".git/x/y.txt": "no",
    })  # fmt: skip
    found = read(folder)
    assert [(r.row, r.member, r.occupation, r.role, r.text) for r in found] == [
        (0, "FINANCE/Teller/a.txt", "FINANCE", "Teller", "Adds café"),
        (1, "FINANCE/Teller/b.txt", "FINANCE", "Teller", "Counts"),
        (2, "LAW/Clerk/c.txt", "LAW", "Clerk", "Files"),
    ]
    assert corpus_files.others(folder) == 1
    (one,) = read(folder / "LAW/Clerk/c.txt", industry="LAW", role="Clerk")
    assert one.resume_id == found[2].resume_id


def test_options_say_what_a_source_does_not(tmp_path: Path) -> None:
    folder = texts(tmp_path, {"a.txt": "Bank Teller\nCounts money"})
    (row,) = read(folder, industry="FINANCE", role_from="first-line")
    assert (row.occupation, row.role, row.text) == ("FINANCE", "Bank Teller", "Counts money")
    one, other = Given(industry="A"), Given(industry="B")
    sha = corpus_files.content_sha256
    assert len({sha(folder, one), sha(folder, other), sha(folder, Given())}) == 3
    before = sha(folder, one)
    assert before == sha(folder, one)
    texts(folder, {"b.txt": "More"})
    assert sha(folder, one) != before


CSV = "Occupation,Role,Resume\n"


@pytest.mark.parametrize(("text", "given", "message"), [
    ("Role,Resume\nA,B\n", {}, ": column Occupation (or --industry) missing; it has Role, Resume. "
     "Name the columns so in the file's first line."),
    ("x\n1\n", {}, ": columns Resume, Occupation (or --industry), Role (or --role, --role-from) "
     "missing; it has x. Name the columns so in the file's first line."),
    (CSV + "A,B,\n", {}, ", line 2, Resume: is empty. Give the resume's text, or remove the row."),
    (CSV + "A,,text\n", {}, ", line 2, Role: is empty. Fill it in, or give --role."),
    (CSV + "A,,text\n", {"role_from": "capitals"}, ", line 2, Role: is empty, and nothing like it "
     "begins the text. Fill it in, or give --role."),
    (CSV + ",B,text\n", {}, ", line 2, Occupation: is empty. Fill it in, or give --industry."),
    (CSV + "A,B,B\n", {}, ", line 2, Resume: holds nothing but the role 'B'. Remove the row."),
    ("Occupation,Role,Resume,Resume_len\nA,B,text,1.5\n", {}, ", line 2, Resume_len: '1.5' is no "
     "whole number. Correct it, or leave it empty."),
    (CSV + 'A,B,"text\n', {}, ", line 2: opens a quote that nothing closes. Correct the quotes of "
     "this line."),
])  # fmt: skip
def test_bad_tables(tmp_path: Path, text: str, given: dict[str, str], message: str) -> None:
    path = small_corpus.file(tmp_path, text)
    with pytest.raises(InputError) as error:
        read(path, **given)
    assert str(error.value) == f"{path}{message}"


@pytest.mark.parametrize(("files", "message"), [
    ({}, ": holds no .txt and no .pdf. Give a table with"),
    ({"a.txt": "x"}, "/a.txt: has no industry: it lies in no folder of that name. Use "
     "INDUSTRY/ROLE/NAME, or give --industry."),
    ({"A/a.txt": "x"}, "/A/a.txt: has no role: it lies in no folder of that name. Use "
     "INDUSTRY/ROLE/NAME, or give --role or --role-from."),
    ({"A/B/C/a.txt": "x"}, "/A/B/C/a.txt: lies deeper than INDUSTRY/ROLE/NAME. Give the folder of"),
    ({"A/B/a.txt": " \n"}, "/A/B/a.txt: is empty. Give a file with text, or remove it."),
    ({"A/B/a.txt": "x\0"}, "/A/B/a.txt: holds a NUL character. Save it anew as text in UTF-8."),
    ({"A/B/a.txt": b"\x81\xff"}, "/A/B/a.txt: is no text of a known encoding. Save it anew in"),
])  # fmt: skip
def test_bad_folders(tmp_path: Path, files: dict[str, str | bytes], message: str) -> None:
    with pytest.raises(InputError) as error:
        read(texts(tmp_path, files))
    assert str(error.value).startswith(f"{tmp_path}{message}")


def test_a_source_of_no_known_kind(tmp_path: Path) -> None:
    file = tmp_path / "a.docx"
    with pytest.raises(InputError, match=r"a\.docx: no such file"):
        read(file)
    file.touch()
    with pytest.raises(InputError, match=r"a\.docx: is no source of resumes"):
        read(file)
    with pytest.raises(InputError, match="are both given"):
        read(tmp_path, role="x", role_from="first-line")


def test_a_pdf_without_pypdf_names_the_extra(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "pypdf", None)
    file = texts(tmp_path, {"A/B/a.pdf": b"%PDF-1.7"}) / "A/B/a.pdf"
    with pytest.raises(MissingPartError) as error:
        read(tmp_path)
    assert str(error.value) == (
        f"{file}: is a PDF, and pypdf is not installed. Run `pip install fairscreen[pdf]`, or give "
        "the text."
    )


def test_pages_of_a_pdf(tmp_path: Path, monkeypatch) -> None:
    """pypdf's own reading is its maintainers' to test; here, what is done with it."""

    def reader(file: Path) -> types.SimpleNamespace:
        if file.name == "bad.pdf":
            raise ValueError("EOF marker\nnot found")
        said = [] if file.name == "scan.pdf" else ["Teller", "Counts money"]
        pages = [types.SimpleNamespace(extract_text=lambda t=t: t) for t in said]
        return types.SimpleNamespace(pages=pages)

    monkeypatch.setitem(sys.modules, "pypdf", types.SimpleNamespace(PdfReader=reader))
    (row,) = read(texts(tmp_path / "1", {"F/T/a.pdf": ""}))
    assert row.text == "Teller\nCounts money"
    with pytest.raises(InputError, match=r"scan\.pdf: holds no text \(a scan\?\)\. Give a file"):
        read(texts(tmp_path / "2", {"F/T/scan.pdf": ""}))
    with pytest.raises(InputError, match=r"is no PDF that can be read \(EOF marker not found\)"):
        read(texts(tmp_path / "3", {"F/T/bad.pdf": ""}))


@pytest.mark.parametrize("option", ["--industry", "--role", "--role-from"])
def test_options_of_a_corpus_apply_to_nothing_else(option: str, capsys) -> None:
    value = "capitals" if option == "--role-from" else "x"
    assert cli.main(["ingest", "acs", "a.zip", option, value]) == 2
    assert capsys.readouterr().err == f"error: {option}: does not apply to acs. Leave it out.\n"
