"""Tables that other people made: what is wrong with a CSV is said with its line."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from fairscreen.errors import InputError
from fairscreen.input_files import read_table

LONG = "x" * 16_000_001


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("\n\na,b\n1,2\n", "FILE, line 1: is empty; the names of the columns must stand there, and "
         "the first text is in line 3. Remove the empty lines above it."),
        ("\n\n\n", "FILE: holds no rows. Give a file with one row per answer."),
        (f"a,b\n1,2\n1,{LONG}\n", "FILE, line 3: holds a field of more than 16,000,000 "
         "characters. Close the quote that opens it, or shorten the text."),
        ('a,b\n1,"2\n' + "3,4\n" * 4_000_000, "FILE, line 2: holds a field of more than "
         "16,000,000 characters (it has run on to line 4000002). Close the quote that opens it, or "
         "shorten the text."),
        ('a,b\n1,"2\n3,4\n', "FILE, line 2: opens a quote that nothing closes. Correct the quotes "
         "of this line."),
        ('a,b\n1,2\n1,"2"3\n', "FILE, line 3: ',' expected after '\"'. Correct the quotes of this "
         "line."),
        ("a,b\n1,2,3\n", "FILE, line 2: has 3 fields where the header has 2. Correct the line, or "
         "quote fields that hold the delimiter."),
    ],
)  # fmt: skip
def test_a_bad_csv_is_named_by_line(tmp_path: Path, text: str, message: str) -> None:
    file = tmp_path / "t.csv"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(InputError) as caught:
        read_table(file)
    assert str(caught.value).replace(str(file), "FILE") == message


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_any_line_end_is_read(tmp_path: Path, end: str) -> None:
    file = tmp_path / "t.csv"
    file.write_bytes(end.join(["\ufeffa,b", "1,2", "", "3,", ""]).encode())
    frame = read_table(file)
    assert frame.to_dict("list") == {"a": ["1", "3"], "b": ["2", ""]}
    assert frame.index.tolist() == [2, 4]


def test_a_long_text_is_read_whole_and_other_readers_keep_their_limit(tmp_path: Path) -> None:
    file, before = tmp_path / "t.csv", csv.field_size_limit()
    text = "x" * (before + 1)
    file.write_text(f"a,b\n1,{text}\n", encoding="utf-8")
    assert read_table(file)["b"].tolist() == [text]
    assert csv.field_size_limit() == before
    file.write_text('a,b\n1,"2\n', encoding="utf-8")
    with pytest.raises(InputError):
        read_table(file)
    assert csv.field_size_limit() == before
