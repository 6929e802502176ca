"""The gap under two readings: against its plain recomputation, and by adding up."""

from __future__ import annotations

import numpy as np
import pytest

from fairscreen.estimators.paired_gap import Readings, moved


def readings(s: np.ndarray, t: np.ndarray) -> Readings:
    """Sums of scores (n,), NaN = not read."""
    has_s, has_t = ~np.isnan(s), ~np.isnan(t)
    both = has_s & has_t
    return Readings(
        int(has_s.sum()), int(has_t.sum()), int(both.sum()), s[has_s].sum(), (s[has_s] ** 2).sum(),
        t[has_t].sum(), (t[has_t] ** 2).sum(), s[both].sum(), t[both].sum(),
        (s[both] * t[both]).sum(),
    )  # fmt: skip


def drawn(seed: int, n: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    s = rng.integers(0, 101, n).astype(float)
    t = np.where(rng.random(n) < 0.8, s, rng.integers(0, 101, n))
    s[rng.random(n) < 0.2], t[rng.random(n) < 0.1] = np.nan, np.nan
    return s, t


@pytest.mark.parametrize("seed", range(5))
def test_it_is_what_each_request_adds(seed: int) -> None:
    variance, gaps = 0.0, []
    groups = [drawn(seed, 60), drawn(seed + 100, 90)]
    for s, t in groups:
        d = np.nan_to_num((t - np.nanmean(t)) / np.sum(~np.isnan(t)))
        d -= np.nan_to_num((s - np.nanmean(s)) / np.sum(~np.isnan(s)))
        n = np.sum(~(np.isnan(s) & np.isnan(t)))
        variance += (d**2).sum() * n / (n - 1)
        gaps.append((np.nanmean(s), np.nanmean(t)))
    found = moved(*(readings(s, t) for s, t in groups))
    assert found.first == pytest.approx(gaps[0][0] - gaps[1][0])
    assert found.second == pytest.approx(gaps[0][1] - gaps[1][1])
    assert found.difference == pytest.approx(found.second - found.first)
    assert found.std_error == pytest.approx(np.sqrt(variance))


def test_where_both_read_all_it_is_the_error_of_paired_differences() -> None:
    rng = np.random.default_rng(1)
    pairs = [(rng.normal(50, 10, n), rng.normal(40, 20, n)) for n in (30, 50)]
    found = moved(*(readings(s, t) for s, t in pairs))
    variance = sum(np.var(t - s, ddof=1) / len(s) for s, t in pairs)
    assert found.std_error == pytest.approx(np.sqrt(variance))


def test_its_error_is_the_spread_of_what_is_found_again() -> None:
    """Truth: 1,000 samples of one population, readings missing at random."""
    found = [moved(readings(*drawn(k, 80)), readings(*drawn(k + 5000, 80))) for k in range(1000)]
    spread = np.std([m.difference for m in found])
    error = np.sqrt(np.mean([m.std_error**2 for m in found]))
    # The spread of 1,000 draws is known within 2.2%; within 4 of these.
    assert abs(spread / error - 1) < 0.09


def test_sums_add_up() -> None:
    s, t = drawn(7, 50)
    both = readings(s[:20], t[:20]) + readings(s[20:], t[20:])
    other = readings(*drawn(8, 30))
    assert moved(both, other).std_error == pytest.approx(moved(readings(s, t), other).std_error)


def test_what_is_not_computable_has_a_reason() -> None:
    some = readings(*drawn(1, 20))
    assert moved(some, Readings()).reason == "no_score"
    one = readings(np.array([1.0]), np.array([0.0]))
    found = moved(one, some)
    assert (found.reason, found.std_error) == ("one_request", None)
    assert found.first is not None
    same = readings(np.arange(9.0), np.arange(9.0))
    assert (moved(same, same).difference, moved(same, same).std_error) == (0.0, 0.0)
