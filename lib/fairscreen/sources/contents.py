"""Whether a downloaded zip holds what was asked for: by its members' names, and the survey year.

A mirror may have one good zip under the name of another. What the members hold in full is for
`ingest` to check.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Literal
from zipfile import ZipFile

from fairscreen.errors import InputError
from fairscreen.sources import archive
from fairscreen.sources.acs_layout import serial_year
from fairscreen.sources.acs_lines import fields, next_line
from fairscreen.sources.ssa_names import MEMBER as FIRST_NAMES

REMEDY = "Check the address; with --from, that of the folder."
_PERSON = re.compile(r"(?:psam_|ss([0-9]{2}))p[0-9a-z]+\.csv", re.IGNORECASE)  # ss05 to ss16
_SURNAMES = re.compile(r"names_[0-9]{4}census\.csv|app_c\.csv", re.IGNORECASE)


def acs(path: Path, year: int, period: int) -> None:
    """Person files of `year`, or of the `period` years to it. InputError else.

    The year is that of the name or of the first person's SERIALNO; some files of before 2017 have
    it in neither, and pass.
    """
    with archive.opened(path, REMEDY) as zipped:
        for name in _matching(zipped, path, _PERSON, "person file (psam_p*.csv)"):
            found = _PERSON.fullmatch(archive.basename(name))
            named = found and found.group(1)
            if named:
                first, last = year, 2000 + int(named)
            else:
                first = year - period + 1
                last = _first_year(zipped, path, name) or year
            if not first <= last <= year:
                asked = f"{year}" if period == 1 else f"{year - period + 1} to {year}"
                problem = f"holds people of {last}, not of {asked} as asked for"
                raise InputError(f"{path}, member {name}", problem, REMEDY)


def single(path: Path, kind: Literal["names", "surnames"]) -> None:
    """First names (`yobYYYY.txt`), or the Census Bureau's table of surnames. InputError else."""
    pattern, words = {
        "names": (FIRST_NAMES, "first names (yobYYYY.txt)"),
        "surnames": (_SURNAMES, "table of surnames (Names_2010Census.csv)"),
    }[kind]
    with archive.opened(path, REMEDY) as zipped:
        _matching(zipped, path, pattern, words)


def _matching(zipped: ZipFile, path: Path, pattern: re.Pattern[str], words: str) -> list[str]:
    members = archive.members(zipped)
    found = [m for m in members if pattern.fullmatch(archive.basename(m))]
    if not found:
        first = f"; its first file is {ascii(members[0])[:100]}" if members else ""
        raise InputError(str(path), f"is a zip, but holds no {words}{first}", REMEDY)
    return found


def _first_year(zipped: ZipFile, path: Path, name: str) -> int | None:
    where = f"{path}, member {name}"
    with archive.streamed(zipped, path, name, REMEDY) as stream:
        header, row = (
            fields(next_line(stream, where, number), f"{where}, line {number}") for number in (1, 2)
        )
    columns = [c.strip().upper().removeprefix("\ufeff") for c in header]
    if "SERIALNO" not in columns:
        raise InputError(f"{where}, line 1", "column SERIALNO is missing", REMEDY)
    place = columns.index("SERIALNO")
    return serial_year(row[place]) if place < len(row) else None
