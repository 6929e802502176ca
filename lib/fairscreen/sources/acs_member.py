"""The person CSVs of a zip, as their headers and first rows show them. Nothing is parsed yet."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from fairscreen.errors import InputError
from fairscreen.sources import archive
from fairscreen.sources.acs_layout import (
    CODES,
    NUMBERS,
    PUMA_PAIR,
    REPLICATES,
    SPLIT_OCCUPATIONS,
    serial_year,
)
from fairscreen.sources.acs_lines import OFFICIAL, fields, next_line


@dataclass(frozen=True)
class Member:
    """One person CSV inside a zip, as its header and first row show it.

    columns        header in file order, upper case.
    state_column   ST or STATE. relationship_column  RELP, RELSHIPP or None.
    vintage        survey year; of a file that pools several, the last one.
    period         years of data that the file pools: 1, 3 or 5. `survey_files` finds out;
                   until then 1.
    vintage_given  the vintage was given, not read from SERIALNO.
    size           uncompressed bytes.
    """

    path: str
    member: str
    columns: tuple[str, ...]
    state_column: str
    relationship_column: str | None
    has_replicate_weights: bool
    vintage: int
    period: int
    vintage_given: bool
    size: int

    @property
    def label(self) -> str:
        """FILE/MEMBER without folders, for results and notes."""
        return f"{Path(self.path).name}/{self.member}"

    @property
    def survey(self) -> tuple[int, int]:
        """Vintage and period: within one, nobody may stand twice."""
        return self.vintage, self.period

    @property
    def where(self) -> str:
        return f"{self.path}, {self.member}"

    def names(self) -> dict[str, str]:
        """Table field: header column, for the text columns that this file has."""
        found: dict[str, str] = {}
        for code in CODES:
            for name in code.names:
                if name in self.columns or (name == "PUMA" and self.has_puma_pair):
                    found.setdefault(code.field, name)  # PUMA is made of the pair
        return found

    @property
    def has_puma_pair(self) -> bool:
        """Whether PUMA10 and PUMA20 stand in place of PUMA (the 5-year file of 2018 to 2022)."""
        return "PUMA" not in self.columns and set(PUMA_PAIR) <= set(self.columns)


def inspect(path: str | Path, *, vintage: int | None = None) -> list[Member]:
    """The person CSVs of a zip, in name order; reads each one's header and first row only.

    `vintage` overrides the survey year that SERIALNO begins with.
    Raises InputError naming file, member, line or column.
    """
    file = Path(path).expanduser().absolute()
    if file.is_dir():
        raise InputError(str(file), "is a folder", "Give the zip files in it.")
    if not file.exists():
        raise InputError(str(file), "does not exist", "Check the path; give the Bureau's zip.")
    with file.open("rb") as stream:
        magic = stream.read(4)
    if magic[:2] != b"PK":
        raise InputError(str(file), "is not a zip", OFFICIAL)
    damaged = "Download the file again."
    found = []
    with archive.opened(file, damaged) as bundle:
        names = sorted(n for n in archive.members(bundle) if n.lower().endswith(".csv"))
        if not names:
            raise InputError(str(file), "holds no CSV file", OFFICIAL)
        twice = [n for n, count in Counter(names).items() if count > 1]
        if twice:
            raise InputError(f"{file}, {twice[0]}", "is in the zip twice", OFFICIAL)
        for name in names:
            if bundle.getinfo(name).flag_bits & 1:
                raise InputError(f"{file}, {name}", "is encrypted", OFFICIAL)
            with archive.streamed(bundle, file, name, damaged) as stream:
                size = bundle.getinfo(name).file_size
                found.append(_inspect_member(str(file), name, stream, size, vintage))
    return found


def _inspect_member(
    path: str, name: str, stream: IO[bytes], size: int, vintage: int | None
) -> Member:
    where = f"{path}, {name}"
    header = next_line(stream, where, 1).removeprefix("\ufeff")
    if not header.strip():
        raise _no_header(where, stream)
    columns = tuple(c.strip().upper() for c in fields(header, f"{where}, line 1"))
    if len(columns) == 1:
        other = {";": "semicolons", "\t": "tabs", "|": "vertical bars"}
        for mark, words in other.items():
            if mark in header:
                problem = f"the header is separated by {words}, not by commas"
                raise InputError(f"{where}, line 1", problem, OFFICIAL)
    _check_header(where, archive.basename(name), columns)
    line, number = "", 1
    while not line.strip():
        number += 1
        line = next_line(stream, where, number)
        if not line:
            problem = "holds a header and no people"
            raise InputError(where, problem, "Give a complete person file.")
    row = fields(line, f"{where}, line {number}")
    serial = columns.index("SERIALNO")
    serialno = row[serial] if serial < len(row) else ""
    year = vintage or serial_year(serialno)
    if year is None:
        raise InputError(
            f"{where}, line {number}, column SERIALNO",
            f"'{serialno}' does not begin with the survey year",
            "Give the year of the file with --vintage.",
        )
    return Member(
        path=path,
        member=name,
        columns=columns,
        state_column="ST" if "ST" in columns else "STATE",
        relationship_column=next((c for c in ("RELP", "RELSHIPP") if c in columns), None),
        has_replicate_weights=REPLICATES[0] in columns,
        vintage=year,
        period=1,
        vintage_given=vintage is not None,
        size=size,
    )


def _no_header(where: str, stream: IO[bytes]) -> InputError:
    """Line 1 holds nothing: because the file does, or because blank lines stand on top."""
    number, line = 1, "\n"
    while line and not line.strip():
        number += 1
        line = next_line(stream, where, number)
    if not line:
        return InputError(where, "is empty", OFFICIAL)
    problem = f"is blank; the header must stand there, and the first text is in line {number}"
    return InputError(f"{where}, line 1", problem, OFFICIAL)


def _check_header(where: str, name: str, columns: Sequence[str]) -> None:
    housing = name.lower().startswith("psam_h") or ("WGTP" in columns and "PWGTP" not in columns)
    if housing:
        problem = "this is a housing file; people are in the person file"
        raise InputError(where, problem, OFFICIAL)
    twice = [c for c, count in Counter(columns).items() if count > 1]
    if twice:
        problem = "the header names this column twice"
        raise InputError(f"{where}, line 1, column {twice[0] or '(no name)'}", problem, OFFICIAL)
    split = [c for c in SPLIT_OCCUPATIONS if c in columns]
    if split and "OCCP" not in columns:
        problem = (
            f"gives occupations in columns {' and '.join(split)}, in codes of different years, "
            "not in one column OCCP"
        )
        remedy = "Give a 1-year file, or the 5-year file of 2012 to 2016 or a later one."
        raise InputError(where, problem, remedy)
    needed = [c.names for c in CODES if c.required] + [(n,) for n in NUMBERS.values()]
    for names in needed:
        if names == ("PUMA",) and set(PUMA_PAIR) <= set(columns):
            continue
        if not set(names) & set(columns):
            wanted = " or ".join(names)
            raise InputError(where, f"column {wanted} is missing", OFFICIAL)
        if len(set(names) & set(columns)) > 1:
            problem = f"columns {' and '.join(names)} are both there; only one can be the state"
            raise InputError(where, problem, OFFICIAL)
    present = [c for c in REPLICATES if c in columns]
    if present and len(present) < len(REPLICATES):
        missing = next(c for c in REPLICATES if c not in columns)
        problem = f"has {len(present)} of the 80 replicate weights; {missing} is missing"
        raise InputError(where, problem, "Give all 80 or none of them.")
