"""The slow second reading of a person file that Arrow or a check refused: finds the place."""

from __future__ import annotations

from pathlib import Path

from fairscreen.errors import InputError
from fairscreen.sources import archive
from fairscreen.sources.acs_layout import (
    CODES,
    INT32,
    NO_PUMA,
    NUMBERS,
    PUMA_PAIR,
    RANGES,
    REPLICATES,
    Code,
    serial_year,
)
from fairscreen.sources.acs_lines import MAX_LINE, OFFICIAL, fields, too_long
from fairscreen.sources.acs_member import Member
from fairscreen.sources.acs_reader import year_fits

_REWRITTEN = (
    "A spreadsheet has rewritten this file. Give the zip as the Census Bureau ships it, "
    "never opened and saved."
)


def diagnose(member: Member, cause: str) -> InputError:
    """The first thing wrong in the file, with its line and column; `cause` if nothing is found."""
    path = Path(member.path)
    with (
        archive.opened(path, OFFICIAL) as bundle,
        archive.streamed(bundle, path, member.member, "Download the file again.") as stream,
    ):
        stream.readline()
        number, odd = 1, None
        while raw := stream.readline(MAX_LINE):
            number += 1
            found = _line(member, raw, number)
            if isinstance(found, InputError):
                return found
            # Another year is the cause only where nothing else is: of a pooled file not yet known
            # as one, every second line is of another year.
            if odd is None and found and not year_fits(member, found):
                odd = _other_year(member, number, found)
    return odd or InputError(member.where, f"cannot be read as CSV ({cause})", OFFICIAL)


def _other_year(member: Member, number: int, year: int) -> InputError:
    return InputError(
        f"{member.where}, line {number}, column SERIALNO",
        f"is of {year}, but the vintage is {member.vintage}",
        "Give a 1-year file, or a pooled file with all its years.",
    )


def _line(member: Member, raw: bytes, number: int) -> InputError | int | None:
    """What is wrong with the line, else the survey year of its SERIALNO (null: it has none)."""
    where = f"{member.where}, line {number}"
    if len(raw) == MAX_LINE:
        return too_long(raw, where)
    try:
        text = raw.decode("utf-8").rstrip("\r\n")
    except UnicodeDecodeError as error:
        return InputError(where, f"byte {error.start + 1} is not UTF-8", OFFICIAL)
    if not text:
        return None
    try:
        row = fields(text, where) if '"' in text or "\r" in text else text.split(",")
    except InputError as error:
        return error
    if len(row) != len(member.columns):
        problem = f"has {len(row)} fields, the header has {len(member.columns)}"
        return InputError(where, problem, "Repair or remove the line, or download the file again.")
    values = dict(zip(member.columns, row, strict=True))
    names = member.names()
    if member.has_puma_pair:
        old, new = (values[c] for c in PUMA_PAIR)
        if (old in NO_PUMA) == (new in NO_PUMA):
            both = f"'{old[:40]}' and PUMA20 '{new[:40]}'"
            problem = f"holds {both}; exactly one of the two must be {NO_PUMA[0]}"
            return InputError(f"{where}, column PUMA10", problem, OFFICIAL)
        values["PUMA"] = new if old in NO_PUMA else old
    for code in CODES:
        name = names.get(code.field)
        if name in code.names and not code.accepts(values[name]):
            return _bad_code(f"{where}, column {name}", code, values[name])
    for name in (*NUMBERS.values(), *(REPLICATES if member.has_replicate_weights else ())):
        if wrong := _bad_number(name, values[name]):
            return InputError(f"{where}, column {name}", wrong, OFFICIAL)
    return serial_year(values["SERIALNO"])


def _bad_code(where: str, code: Code, value: str) -> InputError:
    if not value:
        return InputError(where, f"is empty; it must be {code.form}", OFFICIAL)
    if code.width and value.isascii() and value.isdigit() and len(value) < code.width:
        return InputError(where, f"'{value}' lost its leading zeros ({code.form})", _REWRITTEN)
    return InputError(where, f"'{value[:40]}' is not {code.form}", OFFICIAL)


def _bad_number(name: str, value: str) -> str | None:
    if not value.strip():
        return "is empty; it must be a whole number"
    if (
        not value.strip().removeprefix("-").isascii()
        or not value.strip().removeprefix("-").isdigit()
    ):
        return f"'{value[:40]}' is not a whole number"
    if not INT32[0] <= int(value) <= INT32[1]:
        return f"{value[:40]} is too large for a weight or an age"
    least, most = RANGES.get(name, INT32)
    if int(value) > most:
        return f"{value} is above {most}"
    if int(value) < least:
        only = "; only replicate weights may be" if name == "PWGTP" else ""
        return f"{value} is below {least}{only}"
    return None
