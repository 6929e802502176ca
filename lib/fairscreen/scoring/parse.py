"""Raw replies to scores. Pure: no session, no I/O, no randomness.

A number outside 0 to 100 is unparseable, never clipped; so is text with no number or with
several. Raw replies are kept, so another parser can read them again without asking again.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from decimal import ROUND_HALF_EVEN, Decimal
from enum import StrEnum
from typing import Any, Literal

_PLACES = Decimal("0.0001")
# Digits on either side of a letter are still numbers ("GPT4 says 80" has two).
_NUMBER = re.compile(r"[-+]?(?:[0-9]+(?:\.[0-9]+)?|\.[0-9]+)")
# A decimal exponent beyond this is no score; without a bound "9" * 10**6 costs quadratic time.
_MAX_DIGITS = 60


class Reason(StrEnum):
    """Why a request has no score. The whole list; new reasons are added here."""

    REFUSED = "refused"  # the screener declined to answer
    CALL_FAILED = "call_failed"  # no answer after all attempts
    NO_REPLY = "no_reply"  # not asked yet, or the reply was erased
    EMPTY = "empty"  # answered with nothing
    NO_NUMBER = "no_number"
    SEVERAL_NUMBERS = "several_numbers"
    OUT_OF_RANGE = "out_of_range"
    MALFORMED = "malformed"  # not the JSON, or not the fields, that this kind replies with


@dataclass(frozen=True)
class Outcome:
    """`score` (0 to 100, four decimals) is there exactly if `outcome` is ok, else `reason` is."""

    outcome: Literal["ok", "refused", "unparseable", "failed"]
    reason: Reason | None = None
    score: Decimal | None = None


def parse(parser: str, reply: str | None, transport: str | None) -> Outcome:
    """The outcome of one reply. `transport` None = no reply exists.

    Raises KeyError for a parser that does not exist.
    """
    read = PARSERS[parser]
    if transport is None:
        return Outcome("failed", Reason.NO_REPLY)
    if transport == "refused":
        return Outcome("refused", Reason.REFUSED)
    if transport != "answered":
        return Outcome("failed", Reason.CALL_FAILED)
    if reply is None or not reply.strip():
        return Outcome("unparseable", Reason.EMPTY)
    found = read(reply)
    if isinstance(found, Reason):
        return Outcome("unparseable", found)
    return Outcome("ok", None, found)


def number(reply: str) -> Decimal | Reason:
    """The only number in the text, as an integer or decimal from 0 to 100."""
    found = _NUMBER.findall(reply)
    if not found:
        return Reason.NO_NUMBER
    if len(found) > 1:
        return Reason.SEVERAL_NUMBERS
    if len(found[0]) > _MAX_DIGITS:
        return Reason.OUT_OF_RANGE
    return _in_range(Decimal(found[0]))


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
    return _in_range(50 * (1 + value))


def _in_range(value: Decimal) -> Decimal | Reason:
    if not 0 <= value <= 100:
        return Reason.OUT_OF_RANGE
    return value.quantize(_PLACES, rounding=ROUND_HALF_EVEN).copy_abs()


def _finite(text: str) -> Decimal:
    if len(text) > _MAX_DIGITS:
        raise ValueError("more digits than a cosine has")
    return Decimal(text)


def _refuse(text: str) -> Any:
    raise ValueError(f"{text} is not JSON")


# Name and version: a parser that changes gets a new version, so a score says how it was read.
PARSERS: dict[str, Callable[[str], Decimal | Reason]] = {
    "number/1": number,
    "cosine/1": cosine,
}
