"""The SAS set-up file of a PSID packaged extract, and the fixed-width text that it describes.

The set-up file says where each variable stands (`INPUT ER30001 2 - 5`: columns 1-based, both
ends included), what it is (`ATTRIB ... LABEL=`), how long a record is (`LRECL`) and, in a header
comment, how many records and variables there should be. Stata's and SPSS's set-up files say the
same in other words and are not read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import IO

import numpy as np
from numpy.typing import NDArray

from fairscreen.errors import InputError

REMEDY = "Take the packaged zip from the PSID Data Center again and leave its files as they are."
CHUNK = 20_000

_HEADER = re.compile(r"/\*(.*?)\*/", re.DOTALL)
_HEADER_LINE = re.compile(r"^\s*([A-Z][A-Z_ &]*?)\s*:\s*(.*?)\s*$", re.MULTILINE)
_LABEL = re.compile(r"(\w+)\s+(?:FORMAT\s*=\s*[\w.$]+\s+)?LABEL\s*=\s*\"([^\"]*)\"", re.IGNORECASE)
_LRECL = re.compile(r"\bLRECL\s*=\s*(\d+)", re.IGNORECASE)
_INPUT = re.compile(r"^\s*INPUT\b(.*?);", re.DOTALL | re.IGNORECASE | re.MULTILINE)
_FIELD = re.compile(r"\s*([A-Za-z_]\w*)\s+(\d+)(?:\s*-\s*(\d+))?(?=\s|$)")
_NUMBER = re.compile(rb"[ ]*[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)[ ]*")


@dataclass(frozen=True)
class Field:
    """One variable: columns `start` to `end`, 1-based and both included."""

    name: str
    start: int
    end: int
    label: str = ""


@dataclass(frozen=True)
class Setup:
    """What a set-up file says. `observations` is null where its header does not give a count."""

    where: str
    fields: dict[str, Field]
    record_length: int
    observations: int | None
    header: dict[str, str]

    @property
    def synthetic(self) -> bool:
        return "SYNTHETIC" in self.header.get("DATA_DOMAIN", "").upper()


def parse(text: str, where: str) -> Setup:
    """Parse a SAS set-up file.

    Raises InputError naming `where`: no INPUT, a part of INPUT that is no `NAME first - last`, a
    variable twice, columns beyond LRECL, a header count that disagrees with the statements.
    """
    found = _HEADER.search(text)
    header = dict(_HEADER_LINE.findall(found.group(1))) if found else {}
    body = _HEADER.sub(" ", text)
    statement = _INPUT.search(body)
    if not statement:
        raise InputError(where, "has no INPUT statement", REMEDY)
    # Not "up to the next semicolon": labels hold semicolons.
    labels = {n.upper(): " ".join(t.split()) for n, t in _LABEL.findall(body[: statement.start()])}
    fields = _fields(statement[1], labels, where)
    end = max(f.end for f in fields.values())
    lrecl = _LRECL.search(body)
    length = int(lrecl[1]) if lrecl else end
    if end > length:
        last = max(fields.values(), key=lambda f: f.end)
        problem = f"{last.name} ends in column {end}, but LRECL is {length}"
        raise InputError(where, problem, REMEDY)
    for key, there, what in (
        ("N_OF_VARIABLES", len(fields), "variables in INPUT"),
        ("MAX_REC_LENGTH", length, "columns by LRECL"),
    ):
        said = _count(header, key, where)
        if said is not None and said != there:
            raise InputError(where, f"{key} is {said:,}, but there are {there:,} {what}", REMEDY)
    return Setup(where, fields, length, _count(header, "N_OF_OBSERVATIONS", where), header)


def _count(header: dict[str, str], key: str, where: str) -> int | None:
    text = header.get(key)
    if text is None:
        return None
    if not re.fullmatch(r"[0-9]{1,12}", text):
        raise InputError(where, f"{key} is {text!r}, not a count", REMEDY)
    return int(text)


def _fields(statement: str, labels: dict[str, str], where: str) -> dict[str, Field]:
    fields: dict[str, Field] = {}
    at = 0
    text = statement.rstrip()
    while at < len(text):
        found = _FIELD.match(text, at)
        if not found:
            rest = " ".join(text[at:].split())[:30]
            raise InputError(where, f"INPUT has {rest!r} where NAME first - last is due", REMEDY)
        name, start = found[1].upper(), int(found[2])
        end = int(found[3] or start)
        if name in fields:
            raise InputError(where, f"INPUT has {name} twice", REMEDY)
        if not 1 <= start <= end:
            raise InputError(where, f"{name} has columns {start} - {end}", REMEDY)
        fields[name] = Field(name, start, end, labels.get(name, ""))
        at = found.end()
    if not fields:
        raise InputError(where, "INPUT names no variable", REMEDY)
    return fields


def read_columns(
    stream: IO[bytes], setup: Setup, names: Sequence[str], where: str, *, chunk: int = CHUNK
) -> Iterator[dict[str, NDArray[np.float64]]]:
    """The named variables of a fixed-width text, `chunk` records at a time; blank is NaN.

    Every record must be exactly `setup.record_length` bytes (LF or CRLF after it), and their
    number the header's `N_OF_OBSERVATIONS`. Raises InputError naming line and columns.
    """
    done = 0
    while lines := list(islice(stream, chunk)):
        records = [line.rstrip(b"\r\n") for line in lines]
        _check_lengths(records, done, setup, where)
        table = np.frombuffer(b"".join(records), dtype=np.uint8)
        table = table.reshape(len(records), setup.record_length)
        yield {name: _numbers(table, setup.fields[name], done, where) for name in names}
        done += len(records)
    if setup.observations is not None and done != setup.observations:
        problem = f"{done:,} records, but N_OF_OBSERVATIONS in {setup.where} is"
        raise InputError(where, f"{problem} {setup.observations:,}", REMEDY)
    if not done:
        raise InputError(where, "holds no records", REMEDY)


def _check_lengths(records: list[bytes], done: int, setup: Setup, where: str) -> None:
    for number, record in enumerate(records, start=done + 1):
        if len(record) != setup.record_length:
            kind = "short" if len(record) < setup.record_length else "long"
            raise InputError(
                f"{where}, line {number}",
                f"a {kind} record: {len(record)} characters, but MAX_REC_LENGTH in {setup.where} "
                f"is {setup.record_length}",
                REMEDY,
            )


def _numbers(table: NDArray[np.uint8], field: Field, done: int, where: str) -> NDArray[np.float64]:
    width = field.end - field.start + 1
    block = table[:, field.start - 1 : field.end].copy()
    block[block == 0] = ord("?")  # numpy drops trailing NULs without a word
    cells = block.view(f"S{width}").ravel()
    # A variable has few distinct values: parsing those is quicker than parsing every record.
    values, place = np.unique(cells, return_inverse=True)
    parsed = np.empty(len(values))
    for i, cell in enumerate(values.tolist()):
        if not cell.strip(b" "):
            parsed[i] = np.nan
        elif _NUMBER.fullmatch(cell):
            parsed[i] = float(cell)
        else:
            line = done + 1 + int(np.flatnonzero(place == i)[0])
            shown = cell.decode("ascii", "backslashreplace")
            at = f"{where}, line {line}, columns {field.start} - {field.end} ({field.name})"
            raise InputError(at, f"'{shown}' is not a number", REMEDY)
    return parsed[place]
