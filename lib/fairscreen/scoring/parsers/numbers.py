"""Scores written as a number: in free text, or as the JSON of our own embedding screener.

**A plain number** has the digits 0 to 9, a point, and a sign right before it. Where something
beside it would change what it says, it is unclear and no score. Such are
- right beside it: a digit of another script, a fraction, a power, a combining mark, a letter of an
  alphabet (`80K`, `1st`, `GPT4`), or a dash that is no ASCII hyphen (`−5`, `–5`);
- before it: `minus`, `negative`, a sign of numbering (`#1`, `No. 1`);
- after it: a word that multiplies (`5 million`), another scale (`8 out of five`), or a percent
  sign, unless scores go to 100: there 85% is 85.
Numbers of other scripts elsewhere in the text count as further numbers. A point is always a
decimal point, and words that multiply are known in English, Chinese, Japanese and Korean.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Callable
from decimal import Decimal
from typing import Any

from fairscreen.scoring.parsers.values import (
    MAX_DIGITS,
    NUMBER,
    Reason,
    decimal,
    in_range,
    scale,
)

_NUMBER = re.compile(NUMBER)
_MINUS = "\u2212\u207b\u208b"
# Possessive: spaces are read once.
_BEFORE = re.compile(r"(?:[#\uff03\u2116\u00b1]|\b(?:minus|negative|n[or]s?\.))\Z", re.IGNORECASE)
_TIMES = (
    r"hundreds?|thousands?|(?:m|b|tr)illions?|grand|dozens?|k|mn|mio|bn"
    r"|[\u4e07\u5104\u5146\ub9cc\uc5b5\uc870\ucc9c\ubc31]"  # 10,000 and up, 1,000 and 100
)
_PERCENT = r"[%\u066a\ufe6a\uff05]|per\s?cent\b|pct\b"
_SCALES = {5: "five", 10: "ten", 20: "twenty", 100: "(?:a|one)?\\s*hundred", 1000: "thousand"}


def number(reply: str) -> Decimal | Reason:
    """The only number in the text, as a plain integer or decimal from 0 to 100."""
    return _only(_NUMBER, _after(100), reply, 100)


def score(top: int) -> Callable[[str], Decimal | Reason]:
    """The only number in the text, 0 to `top`; the scale right after it ("8/10", "8 out of 10")
    is not counted as a second number."""
    pattern = re.compile(rf"({NUMBER})(?:{scale(top)})?", re.IGNORECASE)
    after = _after(top)

    def read(reply: str) -> Decimal | Reason:
        return _only(pattern, after, reply, top)

    return read


def _only(
    pattern: re.Pattern[str], after: re.Pattern[str], text: str, top: int
) -> Decimal | Reason:
    """The only match of `pattern` (its first group, or all of it) as a plain number."""
    matches = pattern.finditer(text)
    first = next(matches, None)
    if first is None:
        return Reason.NO_NUMBER
    if next(matches, None) is not None:
        return Reason.SEVERAL_NUMBERS
    if not _is_plain(text, *first.span(), after):
        return Reason.UNCLEAR_NUMBER
    if not text.isascii() and any(_is_foreign(c) for c in text):
        return Reason.SEVERAL_NUMBERS
    value = decimal(first.group(first.lastindex or 0))
    return Reason.OUT_OF_RANGE if value is None else in_range(value, top)


def _is_plain(text: str, start: int, end: int, after: re.Pattern[str]) -> bool:
    left, right = text[start - 1 : start], text[end : end + 1]
    if any(_touches(c) for c in (left, right)) or (left and unicodedata.category(left) == "Pd"):
        return False
    before = text[:start].rstrip()
    return not (before[-1:] in tuple(_MINUS) or _BEFORE.search(before[-20:])) and not after.match(
        text, end
    )


def _touches(c: str) -> bool:
    """Whether a character right beside a number makes another one of it."""
    if not c:
        return False
    is_letter = c.lower() != c.upper() or c in "\u00aa\u00ba"
    return is_letter or c.isnumeric() or c in _MINUS or unicodedata.category(c)[0] == "M"


def _is_foreign(c: str) -> bool:
    """A digit or number of another script; Chinese numerals are words, too, and none."""
    return not c.isascii() and unicodedata.category(c)[0] == "N"


def _after(top: int) -> re.Pattern[str]:
    """What makes a score of 0 to `top` another number where it comes after it."""
    others = "|".join(word for value, word in _SCALES.items() if value != top)
    units = rf"(?:{_TIMES})(?![a-z])" + ("" if top == 100 else f"|{_PERCENT}")
    return re.compile(rf"\s*+(?:{units}|[\s(]*+(?:/|out\s++of)\s*+(?:{others})\b)", re.IGNORECASE)


def cosine(reply: str) -> Decimal | Reason:
    """50 (1 + cosine), from `{"cosine": c, "windows": k}`: 0 to 100 for every c in [-1, 1]."""
    try:
        # Decimal reads the digits as written: no second rounding through a float.
        data = json.loads(reply, parse_float=_finite, parse_int=_finite, parse_constant=_refuse)
    except (ValueError, RecursionError):
        return Reason.MALFORMED
    value = data.get("cosine") if isinstance(data, dict) else None
    if not isinstance(value, Decimal):
        return Reason.MALFORMED
    if not -1 <= value <= 1:
        return Reason.OUT_OF_RANGE
    return in_range(50 * (1 + value), 100)


def _finite(text: str) -> Decimal:
    if len(text) > MAX_DIGITS:
        raise ValueError("more digits than a cosine has")
    return Decimal(text)


def _refuse(text: str) -> Any:
    raise ValueError(f"{text} is not JSON")
