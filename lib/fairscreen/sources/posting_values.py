"""Cells of job postings as one form: texts, states as USPS codes, dates as YYYY-MM-DD.

None of these raises: what cannot be read is None, and the reader counts it. One bad cell must not
cost a file of thousands.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable
from datetime import UTC, date, datetime, timedelta
from html.entities import html5
from typing import Literal, NamedTuple

from fairscreen.population.geography import STATES
from fairscreen.sources.mojibake import tidied

# --- texts

_ENTITY = re.compile("&(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});")
_SURROGATE = re.compile("[\ud800-\udfff]")
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")


def text(cell: str | None, *, lines: bool = False) -> str | None:
    """A text as people posted it; None where nothing is left.

    HTML entities that end in a semicolon and that HTML knows are decoded, once (`R&amp;D` is R&D,
    `R&D;` stays); text in a wrong encoding is put right and look-alikes get one form (`tidied`);
    halves of characters become U+FFFD; control characters become blanks. lines: whether line ends
    stay; without them white space is one blank.
    """
    if cell is None:
        return None
    plain, _ = tidied(_SURROGATE.sub("\ufffd", _ENTITY.sub(_decoded, cell)))
    plain = _CONTROL.sub(" ", plain)
    if not lines:
        return " ".join(plain.split()) or None
    return plain.strip() or None


def _decoded(found: re.Match[str]) -> str:
    entity = found.group()
    named = entity[1] != "#"
    return entity if named and entity[1:] not in html5 else html.unescape(entity)


# --- states

# No Census region, so no school or employer is near; postings there are read all the same.
_TERRITORIES = {
    "60": ("AS", "American Samoa"), "66": ("GU", "Guam"), "69": ("MP", "Northern Mariana Islands"),
    "72": ("PR", "Puerto Rico"), "78": ("VI", "U.S. Virgin Islands"),
}  # fmt: skip


def _spellings() -> dict[str, str]:
    named = {fips: (state.usps, state.name) for fips, state in STATES.items()} | _TERRITORIES
    found = {"washington dc": "DC", "washington, dc": "DC", "virgin islands": "VI"}
    for fips, (usps, name) in named.items():
        for spelling in (usps, name, fips, fips.lstrip("0"), f"us-{usps}"):
            found[spelling.replace(".", "").lower()] = usps
    return found


_STATE = _spellings()


def usps(cell: str | None) -> str | None:
    """USPS code of a state, DC or territory told as a code (NY, N.Y., US-NY), a name or a FIPS
    code (36, also 36.0), in any case; None for everything else."""
    plain = " ".join((cell or "").lower().split())
    plain = plain.removesuffix(".0") if re.fullmatch(r"[0-9]+\.0", plain) else plain
    return _STATE.get(plain.replace(".", ""))


# --- dates

_TIME = (
    r"(?:(?:T|,? )[0-9]{1,2}:[0-9]{2}(?::[0-9]{2}(?:[.,][0-9]{1,9})?)?(?: ?[AP]\.?M\.?)?"
    r"(?: ?(?:Z|[A-Z]{2,5}|(?:UTC|GMT)?[+-][0-9]{2}(?::?[0-9]{2})?))?)?"
)
_YEAR_FIRST = re.compile(rf"([0-9]{{4}})([-/.]?)([0-9]{{1,2}})\2([0-9]{{1,2}}){_TIME}", re.I)
_YEAR_LAST = re.compile(rf"([0-9]{{1,2}})([-/.])([0-9]{{1,2}})\2([0-9]{{4}}){_TIME}", re.I)
_WEEKDAY = r"(?:(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*\.?,? )?"
_DAY_NAME = re.compile(
    rf"{_WEEKDAY}([0-9]{{1,2}})(?:st|nd|rd|th)?[- ](?:of )?([a-z]{{3,9}})\.?,?[- ]([0-9]{{4}})"
    rf"{_TIME}",
    re.I,
)
_NAME_DAY = re.compile(
    rf"{_WEEKDAY}([a-z]{{3,9}})\.? ([0-9]{{1,2}})(?:st|nd|rd|th)?,? ([0-9]{{4}}){_TIME}", re.I
)
_EPOCH = {10: 1, 13: 10**3, 16: 10**6, 19: 10**9}  # digits -> ticks in a second
_MONTHS = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september",
    "october", "november", "december",
)  # fmt: skip
_YEARS = (1990, 2100)  # of a posting; anything else was no date


class Slashed(NamedTuple):
    """Two numbers of a day and a month, in an order that only other dates can tell, and a year."""

    one: int
    two: int
    year: int

    def read(self, month_first: bool) -> str | None:
        month, day = (self.one, self.two) if month_first else (self.two, self.one)
        return _iso(self.year, month, day)


#: month, day: comes first, as some dates show; both: some show the one, some the other;
#: silent: every date can be either.
Order = Literal["month", "day", "both", "silent"]


def posted(cell: str | None) -> str | Slashed | None:
    """The day of a date as written, YYYY-MM-DD; Slashed where day and month may be swapped.

    Read: 2024-01-05 and 20240105 (with or without a time and an offset, which change nothing),
    2024/1/5, 5.1.2024 (the day first), January 5, 2024, 5 Jan 2024, 05-JAN-2024, with a weekday or
    not; seconds since 1970 in 10 digits (in UTC; with 13, 16, 19 digits its thousandths and so on).
    Slashed: 1/5/2024 and 1-5-2024. Everything else is None: two digits of a year, a month without
    a day.
    """
    plain = " ".join((cell or "").split())
    if match := re.fullmatch("[0-9]{10}(?:[0-9]{3}){0,3}", plain):
        seconds = int(plain) // _EPOCH[len(match.group())]
        day = datetime.fromtimestamp(0, UTC) + timedelta(seconds=seconds)
        return _iso(day.year, day.month, day.day)
    if match := _YEAR_FIRST.fullmatch(plain):
        year, mark, month, last = match.group(1, 2, 3, 4)
        whole = mark or len(month) + len(last) == 4
        return _iso(int(year), int(month), int(last)) if whole else None
    if match := _YEAR_LAST.fullmatch(plain):
        one, two, year = (int(part) for part in match.group(1, 3, 4))
        both = Slashed(one, two, year)
        if match.group(2) == ".":
            return both.read(month_first=False)
        readings = {both.read(True), both.read(False)}
        if readings == {None}:
            return None
        return both if len(readings) == 2 else both.read(True)
    for pattern, name, number in ((_DAY_NAME, 2, 1), (_NAME_DAY, 1, 2)):
        if match := pattern.fullmatch(plain):
            return _iso(int(match.group(3)), _month(match.group(name)), int(match.group(number)))
    return None


def order(dates: Iterable[Slashed]) -> Order:
    """What comes first in the slashed dates of one file, as those tell that fit only one way."""
    found = {(d.read(True) is not None, d.read(False) is not None) for d in dates}
    month, day = (True, False) in found, (False, True) in found
    if month and day:
        return "both"
    return "month" if month else "day" if day else "silent"


def _month(name: str) -> int:
    """1 to 12; 0 = no month's name. Names and their abbreviations of three letters or more."""
    low = name.lower()
    return next((i for i, full in enumerate(_MONTHS, start=1) if full.startswith(low)), 0)


def _iso(year: int, month: int, day: int) -> str | None:
    if not _YEARS[0] <= year <= _YEARS[1]:
        return None
    try:
        return date(year, month, day).isoformat()
    except ValueError:
        return None
