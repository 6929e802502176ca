"""Set-up files of a PSID packaged extract: what stands where in its fixed-width text.

The Data Center writes one set-up file, for SAS, Stata or SPSS as the user chose. All say the same
in other words: where each variable stands (columns 1-based, both ends included), what it is, and,
in a comment at the top, how many records and variables there are and how long a record is. One
module per language takes its text apart (`Parts`); what holds for all of them is checked here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from fairscreen.errors import InputError

REMEDY = "Take the packaged zip from the PSID Data Center again and leave its files as they are."

_RULE = re.compile(r"^.*\*{20,}.*$", re.MULTILINE)
_HEADER_LINE = re.compile(r"^\s*([A-Za-z][A-Za-z_ &]*?)\s*:[ \t]*(.*?)\s*$", re.MULTILINE)
# The Data Center's word, and that of files which the PSID packages itself.
_COUNTS = {
    "N_OF_VARIABLES": ("N_OF_VARIABLES", "Columns"),
    "N_OF_OBSERVATIONS": ("N_OF_OBSERVATIONS", "Rows"),
    "MAX_REC_LENGTH": ("MAX_REC_LENGTH",),
}


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
    def domain(self) -> str:
        return self.header.get("DATA_DOMAIN", "").upper()

    @property
    def synthetic(self) -> bool:
        return "SYNTHETIC" in self.domain


@dataclass(frozen=True)
class Parts:
    """A set-up file taken apart.

    statement  what the language calls the list of columns: INPUT, infix, DATA LIST.
    places     (name, start, end, line of the file) in order.
    lrecl      record length of a file statement, and its line; null where there is none.
    """

    statement: str
    places: Sequence[tuple[str, int, int, int]]
    labels: dict[str, str] = field(default_factory=dict)
    lrecl: tuple[int, int] | None = None


def parse(text: str, where: str, take_apart: Callable[[str, str], Parts]) -> Setup:
    """Read and check one set-up file; `take_apart(text, where)` knows its language.

    Raises InputError naming `where` and the line: no list of columns, a part of it that cannot be
    read, a variable twice, columns that overlap or lie beyond the record, a count of the header
    that disagrees with the statements.
    """
    parts = take_apart(text, where)
    fields: dict[str, Field] = {}
    for name, start, end, line in parts.places:
        at = f"{where}, line {line}"
        if name in fields:
            raise InputError(at, f"{parts.statement} has {name} twice", REMEDY)
        if not 1 <= start <= end:
            raise InputError(at, f"{name} has columns {start} - {end}", REMEDY)
        fields[name] = Field(name, start, end, parts.labels.get(name, ""))
    if not fields:
        raise InputError(where, f"{parts.statement} names no variable", REMEDY)
    lines = {name: line for name, _, _, line in parts.places}
    _check_overlap(fields, lines, where)
    header, at_line = _header(text)
    counts = {key: _count(header, at_line, key, where) for key in _COUNTS}
    length = _record_length(parts, counts["MAX_REC_LENGTH"], fields, lines, where)
    said = counts["N_OF_VARIABLES"]
    if said is not None and said[0] != len(fields):
        problem = f"{said[1]} is {said[0]:,}, but there are {len(fields):,} variables in"
        raise InputError(f"{where}, line {said[2]}", f"{problem} {parts.statement}", REMEDY)
    observations = counts["N_OF_OBSERVATIONS"]
    return Setup(where, fields, length, observations[0] if observations else None, header)


def _check_overlap(fields: dict[str, Field], lines: dict[str, int], where: str) -> None:
    order = sorted(fields.values(), key=lambda f: (f.start, f.end))
    for one, other in pairwise(order):
        if other.start <= one.end:
            problem = (
                f"{one.name} (columns {one.start} - {one.end}) and {other.name} (columns "
                f"{other.start} - {other.end}) overlap"
            )
            raise InputError(f"{where}, line {lines[other.name]}", problem, REMEDY)


def _record_length(
    parts: Parts,
    said: tuple[int, str, int] | None,
    fields: dict[str, Field],
    lines: dict[str, int],
    where: str,
) -> int:
    last = max(fields.values(), key=lambda f: f.end)
    given = [(said[0], said[1], said[2])] if said else []
    if parts.lrecl:
        given.append((parts.lrecl[0], "LRECL", parts.lrecl[1]))
    for length, name, _ in given:
        if last.end > length:
            problem = f"{last.name} ends in column {last.end:,}, but {name} is {length:,}"
            raise InputError(f"{where}, line {lines[last.name]}", problem, REMEDY)
    if len(given) == 2 and given[0][0] != given[1][0]:
        problem = f"{given[0][1]} is {given[0][0]:,}, but LRECL is {given[1][0]:,}"
        raise InputError(f"{where}, line {given[0][2]}", problem, REMEDY)
    return given[0][0] if given else last.end


def _header(text: str) -> tuple[dict[str, str], dict[str, int]]:
    """The comment between the first two rules of asterisks: its values, and their lines."""
    rules = list(_RULE.finditer(text))[:2]
    if len(rules) < 2:
        return {}, {}
    values, lines = {}, {}
    for found in _HEADER_LINE.finditer(text, rules[0].end(), rules[1].start()):
        values[found[1]] = found[2]
        lines[found[1]] = line_of(text, found.start(1))
    return values, lines


def _count(
    header: dict[str, str], lines: dict[str, int], key: str, where: str
) -> tuple[int, str, int] | None:
    """A count of the header, its name there and its line."""
    for name in _COUNTS[key]:
        if name in header:
            if not re.fullmatch(r"[0-9]{1,12}", header[name]):
                problem = f"{name} is {header[name]!r}, not a count"
                raise InputError(f"{where}, line {lines[name]}", problem, REMEDY)
            return int(header[name]), name, lines[name]
    return None


def check_agreement(setups: Sequence[Setup]) -> None:
    """Several set-up files of one text say the same. Raises InputError naming both and what."""
    first = setups[0]
    for other in setups[1:]:
        for name in [*first.fields, *(n for n in other.fields if n not in first.fields)]:
            if _columns(first, name) != _columns(other, name):
                problem = f"{name} {_columns(other, name)}, but {_columns(first, name)}"
                raise InputError(other.where, f"{problem} in {first.where}", REMEDY)
        for what, here, there in (
            ("records have {} columns", other.record_length, first.record_length),
            ("there are {} records", other.observations, first.observations),
        ):
            if here is not None and there is not None and here != there:
                problem = f"{what.format(f'{here:,}')}, but {there:,} by {first.where}"
                raise InputError(other.where, problem, REMEDY)


def _columns(setup: Setup, name: str) -> str:
    found = setup.fields.get(name)
    return f"has columns {found.start} - {found.end}" if found else "is missing"


def line_of(text: str, position: int) -> int:
    """Line, from 1, of a position in a text."""
    return text.count("\n", 0, position) + 1


def blanked(text: str, comment: re.Pattern[str]) -> str:
    """The text with every match replaced by blanks, so that positions and lines stay."""
    return comment.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), text)


def places(
    text: str, start: int, end: int, item: re.Pattern[str], statement: str, where: str
) -> list[tuple[str, int, int, int]]:
    """The items NAME first [- last] between two positions. `item`: groups name, first, last."""
    out = []
    at = start
    while text[at:end].strip():
        found = item.match(text, at, end)
        if not found:
            at += len(text[at:end]) - len(text[at:end].lstrip())
            rest = " ".join(text[at:end].split())[:30]
            problem = f"{statement} has {rest!r} where NAME first - last is due"
            raise InputError(f"{where}, line {line_of(text, at)}", problem, REMEDY)
        first = int(found["first"])
        line = line_of(text, found.start("name"))
        out.append((found["name"].upper(), first, int(found["last"] or first), line))
        at = found.end()
    return out
