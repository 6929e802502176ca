"""How long a provider asks to wait, in every form in which providers say it.

`retry-after-ms`; `retry-after` in seconds or as an HTTP date; Gemini's `retryDelay` inside the
error; the resets of OpenAI (`6m0s`) and Anthropic (RFC 3339 time), each for the limit whose
remainder is 0; OpenRouter's `x-ratelimit-reset` (milliseconds since 1970). Times of day are
compared with the response's own `date`, so that a clock that goes wrong here does not matter.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

_UNITS = {"d": 86400.0, "h": 3600.0, "m": 60.0, "s": 1.0, "ms": 0.001}
_DURATION = re.compile(r"(?:\d+(?:\.\d+)?(?:ms|[dhms]))+")
_STEP = re.compile(r"(\d+(?:\.\d+)?)(ms|[dhms])")
_NUMBER = re.compile(r"\d+(?:\.\d+)?")


def retry_after(headers: Mapping[str, str], error: Mapping[str, Any]) -> float | None:
    """Seconds to wait, 0 or more; None where nothing readable is said. Header names lower-case."""
    now = _http_date(headers.get("date")) or datetime.now(UTC)
    found = _milliseconds(headers.get("retry-after-ms"))
    if found is None:
        found = _seconds_or_date(headers.get("retry-after"), now)
    if found is None:
        found = _gemini(error)
    if found is None:
        resets = [*_openai(headers), *_anthropic(headers, now), *_epoch(headers, now)]
        found = max(resets, default=None)
    return None if found is None or not math.isfinite(found) else max(0.0, found)


def duration(text: str) -> float | None:
    """Seconds in `6m0s`, `1h2m`, `12ms`, `34.07s`; None for anything else."""
    if not _DURATION.fullmatch(text):
        return None
    return sum(float(n) * _UNITS[unit] for n, unit in _STEP.findall(text))


def _number(text: str | None) -> float | None:
    text = (text or "").strip()
    return float(text) if _NUMBER.fullmatch(text) and len(text) < 30 else None


def _milliseconds(text: str | None) -> float | None:
    value = _number(text)
    return None if value is None else value / 1000


def _seconds_or_date(text: str | None, now: datetime) -> float | None:
    value = _number(text)
    if value is not None:
        return value
    when = _http_date(text)
    return None if when is None else (when - now).total_seconds()


def _http_date(text: str | None) -> datetime | None:
    try:
        when = parsedate_to_datetime(text or "")
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
    return when.replace(tzinfo=UTC) if when.tzinfo is None else when


def _gemini(error: Mapping[str, Any]) -> float | None:
    details = error.get("details")
    for detail in details if isinstance(details, list) else []:
        delay = detail.get("retryDelay") if isinstance(detail, dict) else None
        if isinstance(delay, str) and (found := duration(delay)) is not None:
            return found
    return None


def _openai(headers: Mapping[str, str]) -> list[float]:
    found = []
    for what in ("requests", "tokens"):
        if _number(headers.get(f"x-ratelimit-remaining-{what}")) == 0:
            text = headers.get(f"x-ratelimit-reset-{what}", "").strip()
            seconds = duration(text) if _number(text) is None else _number(text)
            found += [] if seconds is None else [seconds]
    return found


def _anthropic(headers: Mapping[str, str], now: datetime) -> list[float]:
    found = []
    for what in ("requests", "tokens", "input-tokens", "output-tokens"):
        name = f"anthropic-ratelimit-{what}"
        if _number(headers.get(f"{name}-remaining")) == 0:
            try:
                when = datetime.fromisoformat(headers.get(f"{name}-reset", ""))
            except ValueError:
                continue
            when = when.replace(tzinfo=UTC) if when.tzinfo is None else when
            found.append((when - now).total_seconds())
    return found


def _epoch(headers: Mapping[str, str], now: datetime) -> list[float]:
    value = _number(headers.get("x-ratelimit-reset"))
    return [value / 1000 - now.timestamp()] if value is not None and value > 1e12 else []
