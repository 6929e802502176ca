"""Fixed-width numeric text as a set-up file describes it: columns by name, checked as read."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import IO

import numpy as np
from numpy.typing import NDArray

from fairscreen.errors import InputError
from fairscreen.sources.archive import CARRIAGE_RETURN
from fairscreen.sources.setup_files import REMEDY, Field, Setup

CHUNK = 20_000

_NUMBER = re.compile(rb"[ ]*[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)[ ]*")
_MARK = b"\xef\xbb\xbf"


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
        _check_lengths(lines, records, done, setup, where)
        table = np.frombuffer(b"".join(records), dtype=np.uint8)
        table = table.reshape(len(records), setup.record_length)
        yield {name: _numbers(table, setup.fields[name], done, where) for name in names}
        done += len(records)
    if setup.observations is not None and done != setup.observations:
        problem = f"{done:,} records, but N_OF_OBSERVATIONS in {setup.where} is"
        raise InputError(where, f"{problem} {setup.observations:,}", REMEDY)
    if not done:
        raise InputError(where, "holds no records", REMEDY)


def _check_lengths(
    lines: list[bytes], records: list[bytes], done: int, setup: Setup, where: str
) -> None:
    for at, record in enumerate(records):
        if len(record) != setup.record_length:
            problem = _odd_length(lines[at], record, done + at == 0, setup)
            raise InputError(f"{where}, line {done + at + 1}", problem, REMEDY)


def _odd_length(line: bytes, record: bytes, first: bool, setup: Setup) -> str:
    """What is wrong with a record of the wrong length, and how it may have come about."""
    if b"\r" in record:
        return CARRIAGE_RETURN
    if not record:
        return "an empty line"
    kind = "short" if len(record) < setup.record_length else "long"
    problem = (
        f"a {kind} record: {len(record)} characters, but MAX_REC_LENGTH in {setup.where} is "
        f"{setup.record_length}"
    )
    if first and record.startswith(_MARK):
        return f"{problem} (an editor put a byte order mark before it)"
    if kind == "short" and not line.endswith(b"\n"):
        return f"{problem} (the text may be cut off here)"
    if kind == "short" and not record.endswith(b" "):
        return f"{problem} (an editor may have removed the blanks at its end)"
    return problem


def _numbers(table: NDArray[np.uint8], field: Field, done: int, where: str) -> NDArray[np.float64]:
    width = field.end - field.start + 1
    block = table[:, field.start - 1 : field.end].copy()
    plain = _whole_numbers(block)
    if plain is not None:
        return plain
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


def _whole_numbers(block: NDArray[np.uint8]) -> NDArray[np.float64] | None:
    """The usual cell, all at once: blanks, then digits. Null where one is anything else."""
    blank, digit = block == ord(" "), (block >= ord("0")) & (block <= ord("9"))
    usual = bool((blank | digit).all()) and not (blank[:, 1:] & digit[:, :-1]).any()
    if not usual or block.shape[1] > 15:
        return None
    powers = 10.0 ** np.arange(block.shape[1] - 1, -1, -1)
    values = np.where(digit, block - ord("0"), 0).astype(np.float64) @ powers
    return np.where(blank.all(axis=1), np.nan, values)
