"""SSA national baby names: `names.zip` with one `yobYYYY.txt` for each birth year.

Lines are `Name,F,7065`, without a header; 2023 ends its lines with CRLF, the years before with
LF. Names with fewer than five births in a year are left out by the SSA itself. Whatever else is
in the zip (a readme) is ignored. Source: Social Security Administration, public domain.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

from fairscreen import resources
from fairscreen.errors import InputError
from fairscreen.sources import archive, editions
from fairscreen.sources.result import IngestResult
from fairscreen.tables import Warehouse

REMEDY = "Download names.zip (national data) from the SSA's baby names page again."
MIN_BIRTHS = 5
YEARS = (1880, 2100)  # the SSA's first birth year; a year beyond the second is a typing error

SCHEMA = pa.schema(
    [
        pa.field("birth_year", pa.int32(), nullable=False),
        pa.field("sex", pa.string(), nullable=False),
        pa.field("name", pa.string(), nullable=False),
        pa.field("births", pa.int32(), nullable=False),
    ]
)
_DDL = "birth_year INT, sex STRING, name STRING, births INT"
# Control and invisible characters, but for line ends.
_ODD = re.compile("[\x00-\x09\x0b\x0c\x0e-\x1f\x7f-\x9f\xad\u200b-\u200f\u2028-\u202e\ufeff]")
_MEMBER = re.compile(r"yob([0-9]{4})\.txt", re.IGNORECASE)
_COLUMNS = {"name": pa.string(), "sex": pa.string(), "births": pa.int32()}


def read(path: Path) -> Iterator[pa.Table]:
    """One table (`SCHEMA`) for each birth year, earliest first.

    Raises InputError: not a zip, damaged, no `yobYYYY.txt` inside, a year twice or outside
    `YEARS`, a year without names, a name twice or with control characters, a malformed line, an
    unknown sex, fewer than five births; a line's error names file, member and line.
    """
    with archive.opened(path, REMEDY) as names:
        for year, member in sorted(_years(names.namelist(), path).items()):
            with archive.streamed(names, path, member, REMEDY) as stream:
                data = stream.read()  # at most 0.5 MB a year
            yield parse(data, year, f"{path}, member {member}")


def inspect(path: Path) -> None:
    """Whether the zip opens and which years it holds; InputError as `read`. Reads no names."""
    with archive.opened(path, REMEDY) as names:
        _years(names.namelist(), path)


def _years(members: list[str], path: Path) -> dict[int, str]:
    years: dict[int, str] = {}
    for member in members:
        found = _MEMBER.fullmatch(archive.basename(member))
        if not found:
            continue
        year = int(found.group(1))
        if not YEARS[0] <= year <= YEARS[1]:
            problem = f"birth year {year} is not between {YEARS[0]} and {YEARS[1]}"
            raise InputError(f"{path}, member {member}", problem, REMEDY)
        if year in years:
            problem = f"holds birth year {year} twice ({years[year]} and {member})"
            raise InputError(str(path), problem, REMEDY)
        years[year] = member
    if not years:
        raise InputError(str(path), "holds no yobYYYY.txt", REMEDY)
    return years


def parse(data: bytes, year: int, where: str) -> pa.Table:
    """The names of one year's file (`SCHEMA`); see `read`."""
    data = data.removeprefix(codecs.BOM_UTF8)
    try:
        odd = _ODD.search(data.decode("utf-8"))
        rows = pyarrow.csv.read_csv(
            pa.py_buffer(data),
            read_options=pyarrow.csv.ReadOptions(column_names=list(_COLUMNS)),
            parse_options=pyarrow.csv.ParseOptions(quote_char=False),
            convert_options=pyarrow.csv.ConvertOptions(
                column_types=_COLUMNS, strings_can_be_null=False
            ),
        )
    except (pa.ArrowInvalid, UnicodeDecodeError):
        raise _bad_line(data, where) from None
    if odd or not rows.num_rows:
        raise _bad_line(data, where)
    sound = pc.and_(
        pc.and_(pc.is_in(rows["sex"], pa.array(["F", "M"])), pc.not_equal(rows["name"], "")),
        pc.greater_equal(rows["births"], MIN_BIRTHS),
    )
    if not pc.all(pc.fill_null(sound, False), min_count=0).as_py():
        raise _bad_line(data, where)
    if rows.group_by(["sex", "name"], use_threads=False).aggregate([]).num_rows != rows.num_rows:
        raise _bad_line(data, where)
    years = pa.array(np.full(rows.num_rows, year, dtype=np.int32))
    return pa.table([years, rows["sex"], rows["name"], rows["births"]], schema=SCHEMA)


def _bad_line(data: bytes, where: str) -> InputError:
    """The first line that is wrong: looked for only once something is known to be wrong."""
    seen: dict[tuple[str, str], int] = {}
    for number, raw in enumerate(re.split(rb"\r\n|\n|\r", data), start=1):
        at = f"{where}, line {number}"
        try:
            line = raw.decode("utf-8")
        except UnicodeDecodeError:
            return InputError(at, "is not UTF-8 text", REMEDY)
        if not line:
            continue
        fields = line.split(",")
        if len(fields) != 3 or not fields[0]:
            return InputError(at, f"{line[:60]!r} is not of the form Name,F,7065", REMEDY)
        name, sex, births = fields
        if odd := _ODD.search(name):
            problem = f"name {name[:60]!r} holds the character U+{ord(odd.group()):04X}"
            return InputError(at, problem, REMEDY)
        if sex not in ("F", "M"):
            return InputError(at, f"sex is {sex!r}, not F or M", REMEDY)
        if not re.fullmatch(r"[0-9]{1,9}", births):
            return InputError(at, f"{births!r} is not a number of births", REMEDY)
        if int(births) < MIN_BIRTHS:
            return InputError(
                at, f"{births} births; the SSA publishes {MIN_BIRTHS} or more", REMEDY
            )
        if (sex, name) in seen:
            return InputError(at, f"{name},{sex} stands already in line {seen[sex, name]}", REMEDY)
        seen[sex, name] = number
    return InputError(where, "holds no names", REMEDY)


def ingest_ssa(warehouse: Warehouse, path: Path | str) -> IngestResult:
    """Make table `ssa_name` hold this edition of the SSA's names, in one transaction.

    Raises InputError as `read` does, before anything is written.
    """
    file = resources.resolve(str(path))

    def load() -> editions.Loaded:
        parts, count = [], 0
        for year in read(file):
            parts.append(editions.packed(year))
            count += year.num_rows
        return editions.Loaded(editions.frame(warehouse, parts, _DDL), count)

    sha256 = archive.file_sha256(file, REMEDY)
    return editions.ingest(
        warehouse, table="ssa_name", kind="ssa", file=file.name, sha256=sha256, load=load
    )
