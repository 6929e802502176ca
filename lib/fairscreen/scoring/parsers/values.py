"""What all parsers share: the closed list of reasons, and a number in its range."""

from __future__ import annotations

from decimal import ROUND_HALF_EVEN, Decimal
from enum import StrEnum

_PLACES = Decimal("0.0001")
#: A number with more characters is no score; without a bound "9" * 10**6 costs quadratic time.
MAX_DIGITS = 60


class Reason(StrEnum):
    """Why a request has no score. The whole list; new reasons are added here."""

    REFUSED = "refused"  # the screener declined to answer
    CONTENT_FILTER = "content_filter"  # the provider's filter stopped the answer: also refused
    CALL_FAILED = "call_failed"  # no answer after all attempts
    NO_REPLY = "no_reply"  # not asked yet, or the reply was erased
    EMPTY = "empty"  # answered with nothing
    TRUNCATED = "truncated"  # cut off (token limit) before the score was complete
    NO_NUMBER = "no_number"
    SEVERAL_NUMBERS = "several_numbers"  # that differ: which one is the score is not known
    UNCLEAR_NUMBER = "unclear_number"  # what stands beside it makes it another number, or none
    OUT_OF_RANGE = "out_of_range"
    MALFORMED = "malformed"  # not the JSON, or not the fields, that this kind replies with
    NO_YES_OR_NO = "no_yes_or_no"
    SEVERAL_WORDS = "several_words"  # more than the one word yes or no


def in_range(value: Decimal, top: int) -> Decimal | Reason:
    """`value` at four decimals (half to even) where it is 0 to `top`; never clipped."""
    if not 0 <= value <= top:
        return Reason.OUT_OF_RANGE
    return value.quantize(_PLACES, rounding=ROUND_HALF_EVEN).copy_abs()


def scale(top: int) -> str:
    """Pattern of "/10" or "(out of 10)" after a score of 0 to 10: it names the scale."""
    return rf"[\s(]*(?:/|(?:out\s+)?of)\s*{top}(?:\.0+)?(?![0-9]|\.[0-9])"


def decimal(text: str) -> Decimal | None:
    """A number as matched by a pattern; None where it is too long to be a score."""
    return Decimal(text) if len(text) <= MAX_DIGITS else None


NUMBER = r"[-+]?(?:[0-9]+(?:\.[0-9]+)?|\.[0-9]+)"
