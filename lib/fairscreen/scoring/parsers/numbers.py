"""Scores written as a number: in free text, or as the JSON of our own embedding screener."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from decimal import Decimal
from typing import Any

from fairscreen.scoring.parsers.values import (
    MAX_DIGITS,
    NUMBER,
    Reason,
    in_range,
    only_number,
    scale,
)

# Digits on either side of a letter are still numbers ("GPT4 says 80" has two).
_NUMBER = re.compile(NUMBER)


def number(reply: str) -> Decimal | Reason:
    """The only number in the text, as an integer or decimal from 0 to 100."""
    return only_number(_NUMBER, reply, 100)


def score(top: int) -> Callable[[str], Decimal | Reason]:
    """The only number in the text, 0 to `top`; the scale right after it ("8/10", "8 out of 10")
    is not counted as a second number."""
    pattern = re.compile(rf"({NUMBER})(?:{scale(top)})?", re.IGNORECASE)

    def read(reply: str) -> Decimal | Reason:
        return only_number(pattern, reply, top)

    return read


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
