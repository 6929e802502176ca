"""The cheap pass over a plain person file: hash, people, states and survey years from raw bytes.

An official file has no quotes, and the columns of the keys stand among the first of every line. So
it is enough to find the line ends and to look at the first bytes of each line; parsing all 290
columns costs ten times as much. Whatever does not look so is `UnclearError`: the full parse
decides, and says what is wrong.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import IO

import numpy as np
from numpy.typing import NDArray

from fairscreen.population.geography import STATES

_BLOCK = 4 << 20
_WIDTH = 64  # bytes of a line that hold the key columns; 37 in the official order
_LONGEST = 1 << 20
_KINDS = {b"HU": 1, b"GQ": 2}  # as in acs_layout.person_keys

Bytes = NDArray[np.uint8]


@dataclass(frozen=True, eq=False)
class Scan:
    """What one pass over a member's bytes gives.

    sha256  of the uncompressed bytes. rows  people. states  FIPS codes.
    years   survey years that SERIALNO begins with; empty where it does not.
    keys    (rows,) int64, sorted: (SERIALNO, SPORDER) packed, see `acs_layout.person_keys`.
    """

    sha256: str
    rows: int
    states: frozenset[str]
    years: frozenset[int]
    keys: NDArray[np.int64]


class UnclearError(Exception):
    """The bytes are not those of a plain file."""


def read(stream: IO[bytes], columns: Sequence[int], top: Callable[[bytes], None]) -> Scan:
    """Scan a CSV to its end. Memory: 8 bytes per person and a few blocks.

    columns  positions of SERIALNO, SPORDER and the state in a line.
    top      called once, with the header and the first whole lines.
    Raises UnclearError.
    """
    sha = hashlib.sha256()
    states, years = set[int](), set[int]()
    keys: list[NDArray[np.int64]] = []
    first = True
    for lines in _whole_lines(stream, sha.update):
        if first:
            top(lines)
            lines = lines[lines.index(b"\n") + 1 :]
            first = False
        if b'"' in lines:
            raise UnclearError("quotes")
        if (start := _starts(lines)).size:
            serial, order, state = _fields(lines, start, columns)
            keys.append(_keys(serial, order))
            if state.shape[1] != 2:
                raise UnclearError("states")
            states.update(np.unique(_number(state)).tolist())
            if serial.shape[1] == 13:
                years.update(np.unique(_number(serial[:, :4])).tolist())
    codes = frozenset(f"{code:02d}" for code in states)
    if not keys or not codes <= {*STATES, "72"}:
        raise UnclearError("states")
    together = np.sort(np.concatenate(keys))
    return Scan(sha.hexdigest(), together.size, codes, frozenset(years), together)


def _whole_lines(stream: IO[bytes], seen: Callable[[bytes], None]) -> Iterator[bytes]:
    """Blocks cut after a line's end; the last line gets one where it has none."""
    rest = b""
    while block := stream.read(_BLOCK):
        seen(block)
        cut = block.rfind(b"\n") + 1
        if not cut and len(rest) > _LONGEST:
            raise UnclearError("a long line")
        if cut:
            yield rest + block[:cut]
            rest = b""
        rest += block[cut:]
    if rest:
        yield rest + b"\n"


def _starts(lines: bytes) -> NDArray[np.int64]:
    """Where the lines begin that are not blank."""
    data = np.frombuffer(lines, np.uint8)
    ends = np.flatnonzero(data == ord("\n"))
    begins = np.concatenate([[0], ends + 1])[:-1]
    blank = (ends == begins) | ((ends == begins + 1) & (data[begins] == ord("\r")))
    return np.asarray(begins[~blank], dtype=np.int64)


def _fields(lines: bytes, start: NDArray[np.int64], columns: Sequence[int]) -> Iterator[Bytes]:
    """(lines, width) bytes of each column; UnclearError where a column has several widths."""
    data = np.frombuffer(lines + bytes(_WIDTH), np.uint8)
    view = np.lib.stride_tricks.sliding_window_view(data, _WIDTH)[start]
    commas = np.cumsum(view == ord(","), axis=1, dtype=np.int16)
    if commas[:, -1].min() <= max(columns):
        raise UnclearError("a key column far on")
    for column in columns:
        begin = np.argmax(commas == column, axis=1) + 1 if column else np.zeros(len(view), int)
        widths = np.argmax(commas == column + 1, axis=1) - begin
        width = int(widths[0])
        if not (widths == width).all():
            raise UnclearError("widths")
        yield np.take_along_axis(view, begin[:, None] + np.arange(width), axis=1)


def _number(text: Bytes) -> NDArray[np.int64]:
    """(n,) the numbers that (n, width) digits write."""
    if not text.shape[1] or text.min() < ord("0") or text.max() > ord("9"):
        raise UnclearError("digits")
    powers = 10 ** np.arange(text.shape[1] - 1, -1, -1, dtype=np.int64)
    return np.asarray((text.astype(np.int64) - ord("0")) @ powers, dtype=np.int64)


def _keys(serial: Bytes, order: Bytes) -> NDArray[np.int64]:
    if order.shape[1] != 2 or serial.shape[1] not in (7, 13):
        raise UnclearError("keys")
    kind = np.zeros(len(serial), np.int64)
    if serial.shape[1] == 13:
        for letters, number in _KINDS.items():
            kind[(serial[:, 4:6] == np.frombuffer(letters, np.uint8)).all(axis=1)] = number
    packed = np.empty(len(serial), np.int64)
    lettered = kind > 0
    packed[lettered] = _number(np.delete(serial[lettered], [4, 5], axis=1)) if lettered.any() else 0
    packed[~lettered] = _number(serial[~lettered]) if not lettered.all() else 0
    return np.asarray((kind * 10**13 + packed) * 100 + _number(order))
