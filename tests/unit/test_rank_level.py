"""Level: exact against enumeration and SciPy, whole resumes flipped; the published test against
its own loop and against every shuffle; effect sizes and replicates against plain formulas."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chi2, permutation_test

from fairscreen.errors import InputError
from fairscreen.estimators.pooled_permutation import pooled_permutation
from fairscreen.estimators.rank_level import (
    better_minus_worse,
    level_test,
    replicates,
    standardised,
)
from fairscreen.estimators.ranks import ranks

D = st.lists(
    st.tuples(st.integers(-4, 4), st.integers(0, 5)), min_size=1, max_size=16
)  # halves of ranks, and their resumes


@given(D)
@settings(max_examples=60, deadline=None)
def test_whole_resumes_are_flipped_as_enumeration_does(rows: list[tuple[int, int]]) -> None:
    d, item = np.array([r[0] / 2 for r in rows]), np.array([r[1] for r in rows])
    names = sorted(set(item.tolist()))
    sums = [
        abs(sum(sign * d[item == name].sum() for sign, name in zip(signs, names, strict=True)))
        for signs in product((-1, 1), repeat=len(names))
    ]
    p = np.mean([s >= abs(d.sum()) for s in sums])
    got = level_test(d=d, item=item)
    assert got.method == "exact"
    assert got.p_value == pytest.approx(p, rel=1e-12)
    assert got.mean.value == pytest.approx(d.mean())


@pytest.mark.parametrize("seed", range(4))
def test_ranks_of_resumes_give_scipys_exact_permutation_p(seed: int) -> None:
    rng = np.random.default_rng(seed)
    place = ranks(rng.integers(4, 9, (14, 3)))
    other = permutation_test(
        (place[:, 0], place[:, 1]), lambda x, y, axis: (x - y).mean(axis=axis),
        permutation_type="samples", vectorized=True, n_resamples=np.inf,
    )  # fmt: skip
    got = level_test(d=place[:, 0] - place[:, 1], item=np.arange(14))
    assert got.p_value == pytest.approx(other.pvalue, rel=1e-12)


def test_far_in_the_tail() -> None:
    # 200 resumes, favored ranked 3 and other 1 (or 1.5): 2 / 2^200 = 1.2e-60.
    d = np.r_[np.full(150, 2.0), np.full(50, 1.5)]
    assert level_test(d=d, item=np.arange(200)).p_value == pytest.approx(2.0**-199, rel=1e-12)


def test_four_levels_of_a_resume_are_one_unit() -> None:
    d, item = np.tile([1.0, 1.0, 1.0, 1.0], 3), np.repeat([1, 2, 3], 4)
    assert level_test(d=d, item=item).p_value == 2 / 2**3  # not 2 / 2^12


def every_shuffle(x: np.ndarray, y: np.ndarray) -> tuple[float, float]:
    """p of the published statistics over all ways to choose the first list."""
    pooled, n = np.concatenate([x, y]), len(x)
    level, spread = [], []
    for chosen in combinations(range(len(pooled)), n):
        mine = np.zeros(len(pooled), dtype=bool)
        mine[list(chosen)] = True
        a, b = pooled[mine], pooled[~mine]
        level.append(a.mean() - b.mean())
        with np.errstate(divide="ignore", invalid="ignore"):
            spread.append(np.var(a, ddof=1) / np.var(b, ddof=1))
    here = x.mean() - y.mean(), np.var(x, ddof=1) / np.var(y, ddof=1)
    return (
        float(np.mean(np.abs(level) >= abs(here[0]) - 1e-12)),
        float(np.mean(np.array(spread) >= here[1] - 1e-12)),
    )


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("few", [True, False])
def test_the_published_test_is_that_of_every_shuffle(seed: int, few: bool) -> None:
    rng = np.random.default_rng(seed)
    x, y = ranks(rng.integers(3, 9, (6, 3)) if few else rng.normal(size=(6, 3))).T[:2]
    if not few:  # as many values as answers: shuffled one by one
        x, y = x + rng.normal(0, 0.01, 6), y + rng.normal(0, 0.01, 6)
    level, spread = every_shuffle(x, y)
    got = pooled_permutation(x=x, y=y, draws=40_000, seed=seed)
    for p, exact in ((got.p_level, level), (got.p_spread, spread)):
        assert p == pytest.approx(exact, abs=4.5 * np.sqrt(exact * (1 - exact) / 40_000) + 3e-5)
    assert got.difference == pytest.approx(x.mean() - y.mean())
    assert got.ratio == pytest.approx(np.var(x, ddof=1) / np.var(y, ddof=1))
    assert got == pooled_permutation(x=x, y=y, draws=40_000, seed=seed)


def test_many_values_are_shuffled_one_by_one() -> None:
    rng = np.random.default_rng(9)
    x, y = rng.normal(0.2, 1, 80), rng.normal(0, 1.2, 80)
    got = pooled_permutation(x=x, y=y, draws=20_000, seed=1)
    pooled, beyond, above = np.concatenate([x, y]), 0, 0
    for _ in range(20_000):  # the published loop
        rng.shuffle(pooled)
        a, b = pooled[:80], pooled[80:]
        beyond += abs(a.mean() - b.mean()) >= abs(x.mean() - y.mean())
        above += np.var(a, ddof=1) / np.var(b, ddof=1) >= np.var(x, ddof=1) / np.var(y, ddof=1)
    for p, count in ((got.p_level, beyond), (got.p_spread, above)):
        other = (1 + count) / 20_001
        assert p == pytest.approx(other, abs=4.5 * np.sqrt(2 * other * (1 - other) / 20_000))


def test_published_spread_is_one_sided_and_needs_two_values() -> None:
    x, y = np.tile([1.9, 2.0, 2.1], 20), np.tile([1.0, 2.0, 3.0], 20)
    assert pooled_permutation(x=x, y=y, draws=999).p_spread == 1.0  # far below 1, and never told
    assert pooled_permutation(x=y, y=x, draws=999).p_spread == 1 / 1000
    flat = pooled_permutation(x=np.ones(5), y=y, draws=99)
    assert (flat.ratio, flat.p_spread) == (None, None)
    with pytest.raises(InputError, match="array x"):
        pooled_permutation(x=[], y=y)


def test_effect_sizes_and_their_intervals() -> None:
    rng = np.random.default_rng(11)
    d, item = rng.choice([-2, -1, 0, 0.5, 1, 2], 200), np.arange(200)
    size = standardised(d=d, item=item)
    assert size.value == pytest.approx(d.mean() / d.std(ddof=1))
    jackknife = np.array([np.delete(d, i).mean() / np.delete(d, i).std(ddof=1) for i in range(200)])
    error = np.sqrt(199 / 200 * ((jackknife - jackknife.mean()) ** 2).sum())
    assert size.std_error == pytest.approx(error, rel=0.02)
    assert standardised(d=np.ones(5), item=np.arange(5)) is None
    share = better_minus_worse(d=d, item=item)
    assert share.value == pytest.approx((d < 0).mean() - (d > 0).mean())


def test_the_standardised_gap_covers_its_truth() -> None:
    rng = np.random.default_rng(12)
    values, p = np.array([-2, -1, 0, 0.5, 1, 2]), np.array([0.1, 0.2, 0.3, 0.2, 0.1, 0.1])
    mean = values @ p
    truth = mean / np.sqrt(values**2 @ p - mean**2)
    covered = []
    for _ in range(600):
        got = standardised(d=rng.choice(values, 120, p=p), item=np.arange(120))
        covered.append(got.low <= truth <= got.high)
    assert 0.92 <= np.mean(covered) <= 0.98


def test_replicates_are_the_pooled_variance_within() -> None:
    rng = np.random.default_rng(13)
    answers = rng.normal(0, 2, (40, 2, 3))
    squares = answers.var(axis=2) * 3
    gap = answers[:, 0].mean(axis=1) - answers[:, 1].mean(axis=1)
    got = replicates(squares=squares, answers=np.full((40, 2), 3), gap=gap)
    assert got.variance == pytest.approx(np.mean(answers.var(axis=2, ddof=1)))
    assert got.degrees == 160
    assert got.low == pytest.approx(160 * got.variance / chi2.ppf(0.975, 160))
    assert got.low < 4 < got.high
    # Nothing but noise: it makes all of the gap's variance.
    assert got.share == pytest.approx(2 * got.variance / 3 / gap.var(ddof=1))
    assert 0.6 < got.share < 1.6
    assert replicates(squares=squares, answers=np.ones((40, 2), dtype=int), gap=gap) is None
