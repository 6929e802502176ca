"""Exact sign flips against enumeration, SciPy's exact Wilcoxon and permutation tests, and far in
the tail against closed forms; the drawn form against the exact one; size under the null."""

from __future__ import annotations

from itertools import product
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm, permutation_test, wilcoxon

from fairscreen.errors import InputError
from fairscreen.estimators.sign_flip import _by_fourier, distribution, sign_flip

HALVES = st.lists(st.integers(-5, 5), min_size=1, max_size=12)


def enumerated(units: list[int]) -> tuple[float, float]:
    observed = sum(units)
    sums = [
        sum(s * abs(u) for s, u in zip(signs, units, strict=True))
        for signs in product((-1, 1), repeat=len(units))
    ]
    two = sum(abs(s) >= abs(observed) for s in sums) / len(sums)
    return two, sum(s >= observed for s in sums) / len(sums)


@given(HALVES)
def test_equals_enumeration(units: list[int]) -> None:
    got = sign_flip(np.array(units) / 2, unit=0.5)
    two, one = enumerated(units)
    assert got.method == "exact"
    assert got.p_value == pytest.approx(two, rel=1e-12)
    assert got.p_greater == pytest.approx(one, rel=1e-12)
    assert (got.n, got.n_zero) == (len(units), units.count(0))


def test_sixteen_differences_equal_enumeration() -> None:
    units = np.random.default_rng(1).integers(-4, 5, 16).tolist()
    got = sign_flip(np.array(units) / 2, unit=0.5)
    assert (got.p_value, got.p_greater) == pytest.approx(enumerated(units), rel=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_equals_the_exact_wilcoxon_signed_rank_test(seed: int) -> None:
    # Wilcoxon's statistic is the sign flip of the signed ranks: same law, without ties.
    d = np.random.default_rng(seed).normal(0.3, 1.0, 40)
    ranks = (np.argsort(np.argsort(np.abs(d))) + 1) * np.sign(d)
    got = sign_flip(ranks, unit=1.0)
    assert got.p_value == pytest.approx(wilcoxon(d, method="exact").pvalue, rel=1e-12)
    greater = wilcoxon(d, method="exact", alternative="greater").pvalue
    assert got.p_greater == pytest.approx(greater, rel=1e-12)


def test_equals_scipys_permutation_test() -> None:
    d = np.array([0.5, -1.0, 1.5, 2.0, 0.5, -0.5, 1.0, 0.0, 1.5, 0.5])
    other = permutation_test(
        (d,), lambda x, axis: x.sum(axis=axis), permutation_type="samples", vectorized=True,
        n_resamples=np.inf,
    )  # fmt: skip
    got = sign_flip(d, unit=0.5)
    assert got.p_value == pytest.approx(other.pvalue, rel=1e-12)


def test_far_in_the_tail() -> None:
    # 200 equal differences, all positive: p = 2 / 2^200 = 1.2e-60; and with one turned.
    assert sign_flip(np.ones(200), unit=1.0).p_value == pytest.approx(2.0**-199, rel=1e-12)
    turned = np.ones(200)
    turned[0] = -1
    wanted = 2 * (1 + 200) * 2.0**-200
    assert sign_flip(turned, unit=1.0).p_value == pytest.approx(wanted, rel=1e-12)
    # Two sizes: the outermost sums by hand.
    mixed = np.r_[np.ones(150), np.full(60, 2.0)]
    assert sign_flip(mixed, unit=1.0).p_value == pytest.approx(2.0**-209, rel=1e-12)


def test_the_law_sums_to_one_and_is_symmetric() -> None:
    law = distribution(np.array([1, 2, 4]), np.array([2, 1, 3]))
    assert law.sum() == pytest.approx(1, abs=1e-15)
    assert law == pytest.approx(law[::-1], rel=1e-13)
    assert distribution(np.array([1]), np.array([7])) == pytest.approx(
        [comb(7, k) / 128 for k in range(8)]
    )


def test_zeros_change_nothing_and_all_zero_is_one() -> None:
    d = np.array([1.0, 1.0, -0.5, 2.0])
    assert sign_flip(np.r_[d, np.zeros(9)], unit=0.5).p_value == sign_flip(d, unit=0.5).p_value
    nothing = sign_flip(np.zeros(3), unit=0.5)
    assert (nothing.p_value, nothing.p_greater, nothing.method) == (1.0, 1.0, "exact")


def test_the_drawn_form_agrees_with_the_exact_one() -> None:
    d = np.random.default_rng(5).integers(-3, 5, 60).astype(float)
    exact = sign_flip(d, unit=1.0)
    # A unit that no difference is a multiple of: drawn.
    drawn = sign_flip(d, unit=0.7, draws=200_000, seed=3)
    assert (exact.method, drawn.method) == ("exact", "monte_carlo")
    for name in ("p_value", "p_greater"):
        p = getattr(exact, name)
        assert getattr(drawn, name) == pytest.approx(p, abs=4.5 * np.sqrt(p * (1 - p) / 200_000))
    assert sign_flip(d, unit=0.7, seed=3) == sign_flip(d, unit=0.7, seed=3)


def test_the_law_from_its_transform_is_the_law() -> None:
    sizes, counts = np.array([1, 3, 4]), np.array([40, 25, 31])
    direct = distribution(sizes, counts)
    assert _by_fourier(sizes, counts, len(direct) - 1) == pytest.approx(direct, abs=1e-15)


def test_seventeen_thousand_scores_are_exact() -> None:
    d = np.random.default_rng(2).integers(-30, 31, 17_000).astype(float)
    got = sign_flip(d, unit=0.5)
    assert got.method == "exact"
    # The normal approximation is right to its third digit at this size.
    z = abs(d.sum()) / np.sqrt((d**2).sum())
    assert got.p_value == pytest.approx(2 * norm.sf(z), rel=0.01)


def test_counts_stand_for_repeated_differences() -> None:
    d, n = np.array([1.0, -0.5, 2.0, 0.0]), np.array([5, 7, 2, 3])
    assert sign_flip(d, unit=0.5, n=n) == sign_flip(np.repeat(d, n), unit=0.5)
    drawn = sign_flip(d, unit=0.3, n=n, seed=1)
    assert drawn == sign_flip(np.repeat(d, n), unit=0.3, seed=1)


def test_a_tiny_p_of_very_many_differences_is_drawn_by_size() -> None:
    # 60% of 200,000 differences of 1.5 and of 2 favor one side: z = 0.2 sqrt(2e5) = 89.
    d, n = np.array([1.5, -1.5, 2.0, -2.0]), np.array([60_000, 40_000] * 2)
    got = sign_flip(d, unit=0.5, n=n, draws=999)
    assert (got.method, got.n, got.p_value) == ("monte_carlo", 200_000, 1 / 1000)


def test_size_is_at_most_nominal_under_the_null() -> None:
    rng = np.random.default_rng(7)
    draws = rng.choice([-1.0, -0.5, 0.0, 0.5, 1.0], p=[0.1, 0.2, 0.4, 0.2, 0.1], size=(2000, 30))
    rejected = np.mean([sign_flip(d, unit=0.5).p_value <= 0.05 for d in draws])
    assert 0.03 < rejected <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 2000)


@pytest.mark.parametrize(
    ("d", "unit", "where"),
    [([1.0, np.nan], 1.0, "array d"), ([[1.0]], 1.0, "array d"), ([1.0], 0.0, "unit")],
)
def test_bad_input_is_named(d: list, unit: float, where: str) -> None:
    with pytest.raises(InputError, match=where):
        sign_flip(d, unit=unit)
