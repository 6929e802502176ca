"""Tables that other people made: CSV, parquet, Stata and Excel files as one frame of columns.

In a CSV everything is text and stays text; an empty cell is a missing value. Other formats keep
their types. The index says where a row stands, for messages: `line` of a CSV, else `row` (1 = the
first row of data).
"""

from __future__ import annotations

import csv
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from fairscreen.errors import InputError

#: Characters. A job description is far below; a quote that nothing closes soon runs above.
LONGEST_FIELD = 16_000_000
_LIMIT = threading.Lock()
_TEXT = {".csv": None, ".tsv": "\t", ".txt": None}
_KINDS = "CSV (.csv, .tsv, .txt), parquet (.parquet), Stata (.dta), Excel (.xlsx)"


def read_table(
    path: str | Path, *, row: str = "answer", encoding: str = "utf-8-sig"
) -> pd.DataFrame:
    """The table of a file, by its suffix. Raises InputError naming file, line and remedy.

    row: what one row is of, for the message about a file that has none; encoding: of a CSV.
    """
    file = Path(path).expanduser()
    suffix = file.suffix.lower()
    if file.is_dir():
        raise InputError(str(path), "is a folder", f"Give a file in it: {_KINDS}.")
    if not file.is_file():
        raise InputError(str(path), "no such file", f"Give a file: {_KINDS}.")
    if suffix in _TEXT:
        frame = _read_csv(file, str(path), _TEXT[suffix], encoding)
    elif suffix in (".parquet", ".dta", ".xlsx"):
        frame = _read_typed(file, str(path), suffix)
    else:
        raise InputError(
            str(path), f"files ending in {suffix or 'nothing'} are not read", f"Give {_KINDS}."
        )
    names = [str(c) for c in frame.columns]
    frame.columns = pd.Index(names)
    twice = sorted({c for c in names if names.count(c) > 1})
    if twice:
        raise InputError(f"{path}, {twice[0]}", "is the name of two columns", "Rename one.")
    if frame.empty:
        raise InputError(str(path), "holds no rows", f"Give a file with one row per {row}.")
    return frame


def _read_csv(file: Path, where: str, delimiter: str | None, encoding: str) -> pd.DataFrame:
    done = 0  # lines before the record being read: where an open quote began
    try:
        with _long_fields(), file.open(encoding=encoding, newline="") as stream:
            if delimiter is None:
                first = stream.readline()
                delimiter = max(",;\t", key=first.count)
                stream.seek(0)
            reader = csv.reader(stream, delimiter=delimiter, strict=True)
            header = next(reader, [])
            _no_nul(header, where, reader.line_num)
            rows, lines = [], []
            done = reader.line_num
            for record in reader:
                done = reader.line_num
                if record and not header:
                    raise InputError(
                        f"{where}, line 1",
                        "is empty; the names of the columns must stand there, and the first text "
                        f"is in line {reader.line_num}",
                        "Remove the empty lines above it.",
                    )
                if not record:
                    continue
                _no_nul(record, where, reader.line_num)
                if len(record) != len(header):
                    raise InputError(
                        f"{where}, line {reader.line_num}",
                        f"has {len(record)} fields where the header has {len(header)}",
                        "Correct the line, or quote fields that hold the delimiter.",
                    )
                rows.append(record)
                lines.append(reader.line_num)
    except UnicodeDecodeError:
        raise InputError(where, "is not UTF-8 text", "Save it as CSV in UTF-8.") from None
    except csv.Error as error:
        raise _no_csv(where, done + 1, reader.line_num, str(error)) from None
    frame = pd.DataFrame(rows, columns=header, dtype=object)
    frame.index = pd.Index(lines, name="line", dtype="int64")
    return frame


@contextmanager
def _long_fields() -> Iterator[None]:
    """Fields up to LONGEST_FIELD while a file is read. The csv module has one limit for the whole
    process, which other readers keep: one file at a time changes it, and sets it back."""
    with _LIMIT:
        before = csv.field_size_limit(LONGEST_FIELD)
        try:
            yield
        finally:
            csv.field_size_limit(before)


def _no_csv(where: str, first: int, last: int, reason: str) -> InputError:
    """What the csv module refused in a record of the lines `first` to `last`."""
    if "field limit" in reason:
        spans = f" (it has run on to line {last})" if last > first else ""
        return InputError(
            f"{where}, line {first}",
            f"holds a field of more than {LONGEST_FIELD:,} characters{spans}",
            "Close the quote that opens it, or shorten the text.",
        )
    if "unexpected end of data" in reason:
        reason = "opens a quote that nothing closes"
    return InputError(f"{where}, line {first}", reason, "Correct the quotes of this line.")


def _no_nul(record: list[str], where: str, line: int) -> None:
    if "\0" in "".join(record):
        raise InputError(
            f"{where}, line {line}", "holds a NUL character",
            "Correct the line; a file full of them is no UTF-8: save it anew as CSV in UTF-8.",
        )  # fmt: skip


def _read_typed(file: Path, where: str, suffix: str) -> pd.DataFrame:
    try:
        if suffix == ".parquet":
            frame = pd.read_parquet(file)
        elif suffix == ".dta":
            frame = pd.read_stata(file)
        else:
            frame = pd.read_excel(
                file, dtype=object, engine="openpyxl", keep_default_na=False, na_values=[""]
            )
    except Exception as error:  # each reader has a tree of errors of its own
        text = " ".join(str(error).split())[:160] or type(error).__name__
        raise InputError(
            where, f"is no {suffix} file that can be read ({text})", "Save it anew, or as CSV."
        ) from None
    frame.index = pd.RangeIndex(1, len(frame) + 1, name="row")
    return frame


def place(frame: pd.DataFrame, at: int) -> str:
    """Where row number `at` of the frame stands in its file: `line 7` or `row 6`."""
    return f"{frame.index.name or 'row'} {frame.index[at]}"


def label(value: Any) -> str | None:
    """A cell as text; None = missing. Whole numbers have no decimals: 1 and 1.0 are both `1`.
    Bytes are UTF-8."""
    if type(value) is str:  # every cell of a CSV
        return value or None
    if isinstance(value, bytes):
        value = value.decode("utf-8", "backslashreplace")
    if value is None or value is pd.NaT or value is pd.NA or value == "":
        return None
    if isinstance(value, Decimal):
        value = int(value) if value.is_finite() and value == value.to_integral() else float(value)
    if isinstance(value, bool | np.bool_):
        return str(bool(value))
    if isinstance(value, int | np.integer):
        return str(int(value))
    if isinstance(value, float | np.floating):
        if np.isnan(value):
            return None
        return str(int(value)) if float(value).is_integer() else repr(float(value))
    return str(value)


def labels(column: pd.Series[Any]) -> NDArray[np.object_]:
    """Cells as text, None where missing."""
    if isinstance(column.dtype, pd.CategoricalDtype):
        column = column.astype(object)
    return np.array([label(v) for v in column.tolist()] or [None], dtype=object)[: len(column)]


def equals(column: pd.Series[Any], value: str) -> NDArray[np.bool_]:
    """Cells that equal a value given as text: text exactly, numbers as numbers (1 is 1.0), true
    and false in any case."""
    number = _number(value)
    if isinstance(column.dtype, pd.CategoricalDtype):
        column = column.astype(object)
    single = column.dtype in (np.float32, "Float32")  # 0.1 is another number there

    def same(cell: Any) -> bool:
        if isinstance(cell, bool | np.bool_):
            return str(bool(cell)).lower() == value.lower()
        if isinstance(cell, int | float | np.number | Decimal):
            if number is None:
                return False
            return float(cell) == (float(np.float32(number)) if single else number)
        return label(cell) == value

    return np.fromiter((same(v) for v in column.tolist()), dtype=bool, count=len(column))


def numbers(frame: pd.DataFrame, name: str, where: str) -> NDArray[np.float64]:
    """A column as numbers, NaN where missing. InputError names the first cell that is none."""
    column = frame[name]
    out = np.full(len(column), np.nan)
    for i, cell in enumerate(column.tolist()):
        text = label(cell)
        if text is None:
            continue
        number = None if isinstance(cell, bool | np.bool_) else _number(text)
        if number is None:
            raise InputError(
                f"{where}, {place(frame, i)}, {name}",
                f"'{text}' is no number",
                "Correct it; where the value is missing, leave the cell empty.",
            )
        out[i] = number
    return out


def all_numbers(cells: NDArray[np.object_]) -> NDArray[np.float64] | None:
    """The cells (texts, none missing) as numbers, or None where one is none."""
    parsed = [_number(str(v)) for v in cells]
    if any(p is None for p in parsed):
        return None
    return np.array(parsed, dtype=np.float64)


def _number(text: str) -> float | None:
    """A finite number; `1_000` and `nan` are none."""
    try:
        value = float(text) if "_" not in text else np.nan
    except ValueError:
        return None
    return value if np.isfinite(value) else None
