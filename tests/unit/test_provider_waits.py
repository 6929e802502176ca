"""How long to wait, in every form in which it is said; and probabilities of answers."""

from __future__ import annotations

import math
from email.utils import format_datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairscreen.scoring.providers.probabilities import expected_score, p_yes, positions
from fairscreen.scoring.providers.waiting import duration, retry_after

DATE = "Sun, 22 Mar 2026 10:00:00 GMT"


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "12"}, 12), ({"retry-after": "0.5"}, 0.5), ({"retry-after": " 3 "}, 3),
        ({"retry-after": "Sun, 22 Mar 2026 10:00:30 GMT", "date": DATE}, 30),
        ({"retry-after": "Sun, 22 Mar 2026 09:59:00 GMT", "date": DATE}, 0),
        ({"retry-after": "Sun, 22 Mar 2026 10:01:00 +0000", "date": DATE}, 60),
        ({"retry-after-ms": "250", "retry-after": "1"}, 0.25),
        ({"x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "6m0s",
          "x-ratelimit-remaining-tokens": "0", "x-ratelimit-reset-tokens": "12ms"}, 360),
        ({"x-ratelimit-remaining-requests": "5", "x-ratelimit-reset-requests": "6m0s"}, None),
        ({"anthropic-ratelimit-input-tokens-remaining": "0", "date": DATE,
          "anthropic-ratelimit-input-tokens-reset": "2026-03-22T10:00:45Z"}, 45),
        ({"anthropic-ratelimit-requests-remaining": "49", "date": DATE,
          "anthropic-ratelimit-requests-reset": "2026-03-22T10:00:45Z"}, None),
        ({"x-ratelimit-reset": "1774173650000", "date": DATE}, 50),
        ({"retry-after": "soon"}, None), ({"retry-after": "-5"}, None),
        ({"retry-after": "nan"}, None), ({"retry-after": "9" * 400}, None), ({}, None),
    ],
)  # fmt: skip
def test_retry_after(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after(headers, {}) == (None if seconds is None else pytest.approx(seconds))


def test_a_delay_inside_the_error() -> None:
    error = {"details": [None, {"violations": []}, {"retryDelay": "34.07s"}]}
    assert retry_after({}, error) == pytest.approx(34.07)
    assert retry_after({"retry-after": "2"}, error) == 2
    for broken in ({"details": "x"}, {"details": [{"retryDelay": 3}]}):
        assert retry_after({}, broken) is None


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("6m0s", 360), ("1h2m3.5s", 3723.5), ("12ms", 0.012), ("1d", 86400), ("", None),
     ("5", None), ("s", None), ("1m ", None), ("-1s", None)],
)  # fmt: skip
def test_duration(text: str, seconds: float | None) -> None:
    assert duration(text) == (None if seconds is None else pytest.approx(seconds))


@given(st.datetimes(), st.integers(-(10**6), 10**6))
def test_a_date_is_as_far_away_as_it_says(now, seconds) -> None:
    from datetime import UTC, timedelta

    start = now.replace(tzinfo=UTC, microsecond=0, year=2000 + now.year % 100)
    headers = {
        "date": format_datetime(start, usegmt=True),
        "retry-after": format_datetime(start + timedelta(seconds=seconds), usegmt=True),
    }
    assert retry_after(headers, {}) == max(0, seconds)


def at(*tokens: tuple[str, float]) -> tuple[str, list[tuple[str, float]]]:
    return tokens[0][0], [(t, math.log(p)) for t, p in tokens]


def test_p_yes_is_normalised_over_yes_and_no() -> None:
    first = at(("Yes", 0.5), (" yes", 0.1), ("No", 0.2), ("Maybe", 0.2))
    assert p_yes([first]) == pytest.approx(0.75)
    assert p_yes([at((" ", 1.0)), first, at(("No", 1.0))]) == pytest.approx(0.75)
    assert p_yes([at(("7", 0.9), ("8", 0.1))]) is None
    assert p_yes([]) is None


def test_the_expected_score_needs_one_number_in_one_token() -> None:
    number = at(("70", 0.5), ("80", 0.25), ("The", 0.25))
    assert expected_score([number]) == pytest.approx((35 + 20) / 0.75)
    assert expected_score([at(("Score", 1.0)), number, at((".", 1.0))]) is not None
    # Digit by digit, a decimal, two numbers, out of range: no guess.
    assert expected_score([at(("7", 1.0)), at(("2", 1.0))]) is None
    assert expected_score([number, at((".", 1.0)), at(("5", 1.0))]) is None
    assert expected_score([at(("700", 1.0))]) is None
    assert expected_score([number, at(("/", 1.0)), at(("100", 1.0))]) is None
    assert expected_score([]) is None


def test_malformed_positions_are_left_out() -> None:
    item = {"token": "a", "logprob": -1.0, "top": [{"token": "b", "logprob": "x"}, None]}
    odd = [None, {"token": 3}, {"logprob": -1}, item]
    assert positions(odd, "token", "top", "logprob") == [("a", [("a", -1.0)])]
    assert positions("none", "token", "top", "logprob") == []
