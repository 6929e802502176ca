"""Spread: the paired swap against every swap and a plain loop, its interval against truth."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import t as student

from fairscreen.estimators.rank_spread import pitman_morgan, spread_test
from fairscreen.estimators.ranks import ranks


def swapped(a: np.ndarray, b: np.ndarray, item: np.ndarray, which: dict) -> float:
    """|log ratio| after the swap of centred ranks, written out."""
    a, b = a - a.mean(), b - b.mean()
    turn = np.array([which[name] for name in item.tolist()])
    one, two = np.where(turn, b, a), np.where(turn, a, b)
    first, second = np.var(one, ddof=1), np.var(two, ddof=1)
    if min(first, second) <= 1e-15:
        return np.inf
    return abs(np.log(first / second))


def every_swap(a: np.ndarray, b: np.ndarray, item: np.ndarray) -> float:
    names = sorted(set(item.tolist()))
    sizes = [
        swapped(a, b, item, dict(zip(names, turns, strict=True)))
        for turns in product((False, True), repeat=len(names))
    ]
    return float(np.mean(np.array(sizes) >= sizes[0] - 1e-12))


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("resumes", [10, 4])
def test_p_is_that_of_every_swap(seed: int, resumes: int) -> None:
    rng = np.random.default_rng(seed)
    a, b = ranks(rng.integers(3, 8, (11, 3))).T[:2]
    item = np.arange(11) % resumes  # 4: several sets of a resume are swapped together
    exact = every_swap(a, b, item)
    got = spread_test(a=a, b=b, item=item, swaps=40_000, seed=seed)
    assert got.p_value == pytest.approx(exact, abs=4.5 * np.sqrt(exact * (1 - exact) / 4e4) + 3e-5)
    assert got.ratio == pytest.approx(np.var(a, ddof=1) / np.var(b, ddof=1))


def test_many_equal_resumes_are_binomial_draws_of_the_same_law() -> None:
    rng = np.random.default_rng(2)
    a, b = ranks(rng.integers(5, 9, (150, 3))).T[:2]
    got = spread_test(a=a, b=b, item=np.arange(150), swaps=20_000, seed=1)
    one, two = a - a.mean(), b - b.mean()
    seen = abs(np.log(np.var(one) / np.var(two)))
    beyond = 0
    for _ in range(4_000):
        turn = rng.random(150) < 0.5
        x, y = np.where(turn, two, one), np.where(turn, one, two)
        beyond += abs(np.log(np.var(x) / np.var(y))) >= seen - 1e-12
    p = (1 + beyond) / 4_001
    assert got.p_value == pytest.approx(p, abs=4.5 * np.sqrt(p * (1 - p) / 3_300))


@given(st.lists(st.tuples(st.integers(2, 6), st.integers(2, 6)), min_size=2, max_size=40))
@settings(max_examples=60, deadline=None)
def test_the_sides_may_change_places_and_order_does_not_matter(rows) -> None:
    a, b = np.array(rows, dtype=float).T / 2
    item = np.arange(len(a))
    one = spread_test(a=a, b=b, item=item, swaps=999)
    two = spread_test(a=b, b=a, item=item, swaps=999)
    if one is None:
        assert two is None
        assert min(np.var(a), np.var(b)) < 1e-12
        return
    assert two.ratio == pytest.approx(1 / one.ratio)
    if one.low is not None and one.std_error > 0:
        assert (two.low, two.high) == pytest.approx((1 / one.high, 1 / one.low))
    turned = spread_test(a=a[::-1], b=b[::-1], item=item[::-1], swaps=999)
    assert turned.p_value == one.p_value


def test_a_ratio_below_one_can_be_significant() -> None:
    # The published one-sided p would be 1.
    rng = np.random.default_rng(4)
    a, b = rng.choice([1.5, 2, 2.5], 120), rng.choice([1.0, 2, 3], 120)
    assert spread_test(a=a, b=b, item=np.arange(120)).p_value < 0.001


def test_the_interval_covers_the_ratio() -> None:
    rng = np.random.default_rng(6)
    covered = []
    for _ in range(500):
        resume = rng.normal(0, 1, 150)
        a, b = np.rint(2 * resume + rng.normal(0, 2, 150)), np.rint(resume + rng.normal(0, 1, 150))
        got = spread_test(a=a, b=b, item=np.arange(150), swaps=99)
        covered.append(got.low <= 4 * (2 + 1 / 48) / (2 + 1 / 12) <= got.high)  # rounding: + 1/12
    assert 0.92 <= np.mean(covered) <= 0.98


def test_nothing_to_compare() -> None:
    assert spread_test(a=[1, 2, 1], b=[2, 2, 2], item=[0, 1, 2]) is None
    assert spread_test(a=[1], b=[2], item=[0]) is None
    one = spread_test(a=[1, 2, 3], b=[3, 1, 2], item=[5, 5, 5])
    assert (one.std_error, one.low, one.high, one.p_value) == (None, None, None, 1.0)


def test_pitman_morgan_is_the_t_of_its_formula() -> None:
    rng = np.random.default_rng(9)
    a = rng.normal(0, 1.5, 40)
    b = 0.4 * a + rng.normal(0, 1, 40)
    first, second, r = np.var(a, ddof=1), np.var(b, ddof=1), np.corrcoef(a, b)[0, 1]
    t = (first / second - 1) * np.sqrt(38) / np.sqrt(4 * (1 - r**2) * first / second)
    assert pitman_morgan(a=a, b=b) == pytest.approx(2 * student.sf(abs(t), 38), rel=1e-10)
    assert pitman_morgan(a=np.ones(5), b=np.arange(5.0)) is None
    assert pitman_morgan(a=np.arange(5.0), b=np.arange(5.0)) == 1.0
