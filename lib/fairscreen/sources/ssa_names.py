"""SSA national baby names: `names.zip` with one `yobYYYY.txt` for each birth year.

Lines are `Name,F,7065`, without a header; 2023 ends its lines with CRLF, the years before with
LF. Names with fewer than five births in a year are left out by the SSA itself, for privacy.
Whatever else is in the zip (a readme) is ignored. Source: Social Security Administration, public
domain.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa

from fairscreen.errors import InputError
from fairscreen.sources import archive, ssa_lines
from fairscreen.sources.ssa_lines import YEARS

REMEDY = "Download names.zip (national data) from the SSA's baby names page again."

SCHEMA = pa.schema(
    [
        pa.field("birth_year", pa.int32(), nullable=False),
        pa.field("sex", pa.string(), nullable=False),
        pa.field("name", pa.string(), nullable=False),
        pa.field("births", pa.int32(), nullable=False),
    ]
)
MEMBER = re.compile(r"yob([0-9]{4})\.txt", re.IGNORECASE)
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
        found = MEMBER.fullmatch(archive.basename(member))
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
    rows = ssa_lines.parse(data, _COLUMNS, where, form="Name,F,7065", remedy=REMEDY)
    years = pa.array(np.full(rows.num_rows, year, dtype=np.int32))
    return pa.table([years, rows["sex"], rows["name"], rows["births"]], schema=SCHEMA)
