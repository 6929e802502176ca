"""Census surnames with 100 or more bearers: `Names_2010Census.csv` inside its zip, or 2000's.

The Census 2000 file (`app_c.csv`) has the same columns. Percentages the Bureau suppressed, `(S)`,
are null: cells of 1 to 4 people, and where a row has only one such cell a second one beside it,
which may be larger, so that the first cannot be worked out from the rest (no row of 2010 has just
one; in rows with three or more no cell can hold more than 4 people). NULL, TRUE and NAN are
surnames of real people, never missing values. The last row, ALL OTHER NAMES, sums the rarer names
and is no name: it is left out and counted. Shares are of all bearers: percentages of white, Black
and so on are of people who are not Hispanic. Source: U.S. Census Bureau, public domain.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import pyarrow as pa

from fairscreen import spelling
from fairscreen.errors import InputError
from fairscreen.sources import archive

REMEDY = "Download names.zip of the 2010 surnames from the Census Bureau again."
ALL_OTHER = "ALL OTHER NAMES"
SUPPRESSED = "(S)"

#: Column of the table -> column of the file.
PERCENTAGES = {
    "pct_white": "pctwhite",
    "pct_black": "pctblack",
    "pct_asian_pacific": "pctapi",
    "pct_native": "pctaian",
    "pct_two_or_more": "pct2prace",
    "pct_hispanic": "pcthispanic",
}
SCHEMA = pa.schema(
    [
        pa.field("name", pa.string(), nullable=False),
        pa.field("bearers", pa.int32(), nullable=False),
        *(pa.field(column, pa.float64()) for column in PERCENTAGES),
    ]
)
_WHOLE = re.compile(r"[0-9]{1,9}")
_PERCENT = re.compile(r"[0-9]{1,3}(\.[0-9]+)?")


@dataclass(frozen=True)
class Surnames:
    """`rows` (`SCHEMA`), one per surname, and what is not in them.

    left_out: summary rows; suppressed_cells: null percentages; rarer_bearers: people of the
    summary rows, who bear surnames that are not listed; shares: the file gave shares of 1, which
    the rows have as percent.
    """

    rows: pa.Table
    left_out: int
    suppressed_cells: int
    rarer_bearers: int
    shares: bool = False


def read(path: Path) -> Surnames:
    """The surnames of the one CSV in the zip.

    Raises InputError naming file, member and line or column: not a zip, damaged, no CSV or several,
    a column missing, no rows, non-UTF-8 bytes, a ragged line, text in a number, a percentage above
    100, a name twice.
    """
    with _table(path) as (stream, where):
        return parse(stream, where)


def inspect(path: Path) -> None:
    """Whether the one CSV is there and has the columns; InputError as `read`. Reads line 1."""
    with _table(path) as (stream, where):
        _header(_numbered(stream, where), where)


@contextmanager
def _table(path: Path) -> Iterator[tuple[IO[bytes], str]]:
    """The one CSV of the zip, and its name for messages."""
    with archive.opened(path, REMEDY) as names:
        tables = [m for m in archive.members(names) if m.lower().endswith(".csv")]
        if len(tables) != 1:
            found = f"{len(tables)} CSV files ({', '.join(tables)})" if tables else "no CSV file"
            raise InputError(str(path), f"holds {found}; one is expected", REMEDY)
        with archive.streamed(names, path, tables[0], REMEDY) as stream:
            yield stream, f"{path}, member {tables[0]}"


def parse(data: Iterable[bytes], where: str) -> Surnames:
    """Parse the lines of the CSV; see `read`."""
    numbered = _numbered(data, where)
    width, places = _header(numbered, where)
    return _rows(numbered, width, places, where)


def _header(numbered: Iterator[tuple[int, list[str]]], where: str) -> tuple[int, dict[str, int]]:
    _, first = next(numbered, (0, []))
    header = [name.strip().lower() for name in first]
    return len(header), _places(header, where)


def _numbered(data: Iterable[bytes], where: str) -> Iterator[tuple[int, list[str]]]:
    """Fields of each line with the line's number."""

    def decoded() -> Iterator[str]:
        for number, line in enumerate(data, start=1):
            at = f"{where}, line {number}"
            try:
                text = line.decode("utf-8")
            except UnicodeDecodeError:
                raise InputError(at, "is not UTF-8 text", REMEDY) from None
            if "\r" in text.rstrip("\r\n"):
                raise InputError(at, archive.CARRIAGE_RETURN, REMEDY)
            yield text

    lines = csv.reader(decoded())
    try:
        for row in lines:
            yield lines.line_num, row
    except csv.Error as error:
        at = f"{where}, line {lines.line_num}"
        raise InputError(at, f"cannot be split into fields: {error}", REMEDY) from None


def _places(header: list[str], where: str) -> dict[str, int]:
    if header:
        header[0] = header[0].removeprefix("\ufeff")
    needed = {"name": "name", "bearers": "count", **PERCENTAGES}
    missing = [column for column in needed.values() if column not in header]
    if missing:
        noun = "column" if len(missing) == 1 else "columns"
        raise InputError(f"{where}, line 1", f"{noun} {', '.join(missing)} missing", REMEDY)
    return {ours: header.index(theirs) for ours, theirs in needed.items()}


def _rows(
    lines: Iterator[tuple[int, list[str]]], width: int, place: dict[str, int], where: str
) -> Surnames:
    columns: dict[str, list[object]] = {name: [] for name in SCHEMA.names}
    seen: set[str] = set()
    left_out = suppressed = rarer = 0
    for number, row in lines:
        at = f"{where}, line {number}"
        if len(row) != width:
            raise InputError(at, f"{len(row)} fields where the header has {width}", REMEDY)
        name = spelling.clean(row[place["name"]])
        if name == ALL_OTHER:
            left_out += 1
            rarer += _number(row[place["bearers"]], "count", at)
            continue
        if not name or name in seen:
            problem = f"surname {name} stands there twice" if name else "a row without a surname"
            raise InputError(at, problem, REMEDY)
        seen.add(name)
        columns["name"].append(name)
        columns["bearers"].append(_number(row[place["bearers"]], "count", at))
        for ours, theirs in PERCENTAGES.items():
            value = _percent(row[place[ours]], theirs, at)
            suppressed += value is None
            columns[ours].append(value)
    if not seen:
        raise InputError(where, "a header and no surnames", REMEDY)
    return Surnames(pa.table(columns, schema=SCHEMA), left_out, suppressed, rarer)


def _number(text: str, column: str, at: str) -> int:
    if not _WHOLE.fullmatch(text):
        raise InputError(f"{at}, column {column}", f"{text!r} is not a whole number", REMEDY)
    return int(text)


def _percent(text: str, column: str, at: str) -> float | None:
    if text == SUPPRESSED:
        return None
    if not _PERCENT.fullmatch(text):
        problem = f"{text!r} is neither a percentage nor {SUPPRESSED}"
        raise InputError(f"{at}, column {column}", problem, REMEDY)
    value = float(text)
    if value > 100:
        raise InputError(f"{at}, column {column}", f"{text} is more than 100 percent", REMEDY)
    return value
