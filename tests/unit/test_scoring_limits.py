"""Limits, waiting and giving up, under a clock that only these tests move."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairscreen.scoring.limits import (
    Breaker,
    Budget,
    Concurrency,
    Pace,
    backoff,
    reserve,
    worst_tokens,
)
from fairscreen.scoring.providers.base import Answer

steps = st.lists(
    st.tuples(st.floats(0, 90), st.floats(0.1, 120)), min_size=1, max_size=80
)  # seconds later, tokens


def most_in_a_minute(sent: list[tuple[float, float]]) -> float:
    """The largest sum of weights in any 60 seconds that start with a request."""
    return max(sum(w for t, w in sent[i:] if t < sent[i][0] + 60 - 1e-6) for i in range(len(sent)))


@given(st.floats(1, 500), steps)
def test_no_minute_has_more_than_the_share(limit: float, asked: list[tuple[float, float]]) -> None:
    pace, now, sent = Pace(limit), 0.0, []
    for later, weight in asked:
        now += later
        at = reserve([(pace, weight)], now)
        assert at >= now
        now = at  # it is sent then, and the next one is asked for after that
        sent.append((at, min(weight, limit)))
    assert most_in_a_minute(sent) <= limit * (1 + 1e-9)


@given(st.floats(1, 50), st.floats(100, 1000), steps)
def test_requests_and_tokens_hold_together(
    rpm: float, tpm: float, asked: list[tuple[float, float]]
) -> None:
    requests, tokens, sent = Pace(rpm), Pace(tpm), []
    for _, weight in asked:  # all at once, as a burst of tasks asks
        at = reserve([(requests, 1.0), (tokens, weight)], 0.0)
        sent.append((at, min(weight, tpm)))
    assert [t for t, _ in sent] == sorted(t for t, _ in sent)
    assert most_in_a_minute([(t, 1.0) for t, _ in sent]) <= rpm * (1 + 1e-9)
    assert most_in_a_minute(sent) <= tpm * (1 + 1e-9)


def test_the_share_is_used_evenly_and_whole() -> None:
    pace = Pace(6)
    assert [reserve([(pace, 1.0)], 0.0) for _ in range(8)] == [0, 10, 20, 30, 40, 50, 60, 70]
    # An idle minute is not saved up.
    assert [reserve([(pace, 1.0)], 500.0) for _ in range(2)] == [500, 510]
    # More than a minute's share is charged the share: it waits a minute, not for ever.
    assert reserve([(pace, 100.0)], 1000.0) == 1000
    assert reserve([(pace, 1.0)], 1000.0) == 1060


def test_worst_tokens() -> None:
    assert [worst_tokens(0, 16), worst_tokens(1, 16), worst_tokens(3000, 200)] == [16, 17, 1200]


def test_concurrency_is_halved_once_per_round_and_grows_by_one() -> None:
    c = Concurrency(64)
    for _ in range(64):
        c.overloaded(sent=0.0, now=1.0)  # one round of requests, all turned away
    assert c.allowed == 32
    c.overloaded(sent=1.0, now=2.0)
    assert c.allowed == 16
    for _ in range(17):
        c.answered()
    assert c.allowed == 17
    for _ in range(10_000):
        c.answered()
    assert c.allowed == 64
    for n in range(20):
        c.overloaded(sent=10.0 + n, now=10.0 + n)
    assert c.allowed == 1


@given(st.text(max_size=40), st.integers(1, 200))
def test_backoff_doubles_is_capped_and_repeats(key: str, attempt: int) -> None:
    longest = min(60.0, 2.0 ** (attempt - 1))
    assert longest / 2 <= backoff(key, attempt) <= longest
    assert backoff(key, attempt) == backoff(key, attempt)


def test_calls_that_failed_together_do_not_come_back_together() -> None:
    waits = {backoff(f"k{i}", 5) for i in range(100)}
    assert len(waits) == 100
    assert max(waits) - min(waits) > 4


BUDGET = Budget(max_attempts=3, max_seconds=100)
AGAIN, LIMITED = Answer("retry"), Answer("rate_limited", retry_after=30.0)


def wait(answer: Answer, attempt: int, counted: int, seconds: float = 0.0) -> float | None:
    return BUDGET.wait(answer, "k", attempt=attempt, counted=counted, seconds=seconds)


def test_a_budget_of_attempts_and_seconds() -> None:
    assert wait(AGAIN, 1, 1) == backoff("k", 1)
    assert wait(AGAIN, 3, 3) is None
    assert wait(AGAIN, 1, 1, seconds=99.9) is None
    # A 429 counts towards time only, and what it asks for is a minimum.
    assert wait(LIMITED, 9, 0) == max(30.0, backoff("k", 9))
    assert wait(LIMITED, 1, 0, seconds=71) is None
    assert wait(Answer("rate_limited", retry_after=3600.0), 1, 0) is None
    for kind in ("answered", "refused", "final"):
        assert wait(Answer(kind), 1, 1) is None


def test_three_canaries_stop_a_shard() -> None:
    b = Breaker(25)
    for expected in (False, False, True):
        b.failed(denied=True)
        assert b.tripped() is expected
    b = Breaker(25)
    for expected in (False, False, True):  # a service that is down, too
        b.failed(denied=False)
        assert b.tripped() is expected


def test_two_calls_in_all_are_canaries_enough_if_denied() -> None:
    b = Breaker(25)
    b.failed(denied=True)
    assert not b.tripped()
    assert b.tripped(exhausted=True)
    b.failed(denied=False)
    assert not b.tripped(exhausted=True)
    assert not Breaker(25).tripped(exhausted=True)


def test_once_proven_a_row_is_long_or_denied() -> None:
    b = Breaker(5)
    b.answered()
    for _ in range(4):
        b.failed(denied=False)
    assert not b.tripped()
    b.answered()
    for _ in range(4):
        b.failed(denied=False)
    assert not b.tripped()
    b.failed(denied=False)
    assert b.tripped()
    b.answered()
    for expected in (False, False, True):
        b.failed(denied=True)
        assert b.tripped() is expected


@pytest.mark.parametrize("limit", [1, 2, 3])
def test_a_row_is_at_least_three(limit: int) -> None:
    b = Breaker(limit)
    b.answered()
    b.failed(denied=False)
    b.failed(denied=False)
    assert not b.tripped()
