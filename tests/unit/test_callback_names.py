"""Relabelled names beside a plain loop, size under the null, shrinkage with a planted spread."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from callback_designs import audit
from fairscreen.estimators.callback_names import (
    BOTH_ARMS,
    FEW_NAMES,
    NameRate,
    name_rates,
    permutation,
    shrunken,
)
from fairscreen.estimators.callback_pairs import CallbackPairs


def plain_t(pairs: CallbackPairs, favored: set[int], postings: bool = False) -> float:
    """|gap| over its error by names, pair by pair; pairs of like labels say nothing. postings: and
    what clustering by posting too would add."""
    rows = []
    for one, two, d, n, g in zip(
        pairs.favored, pairs.other, pairs.d, pairs.n, pairs.posting, strict=True
    ):
        if (one in favored) != (two in favored):
            sign = 1 if one in favored else -1
            rows.append((one if sign > 0 else two, two if sign > 0 else one, g, sign * d, n))
    gap = sum(r[3] for r in rows) / sum(r[4] for r in rows)

    def squares(*at: int) -> float:
        sums: dict = {}
        for r in rows:
            key = tuple(r[k] for k in at)
            sums[key] = sums.get(key, 0.0) + r[3] - gap * r[4]
        return sum(v * v for v in sums.values())

    variance = max(squares(0) + squares(1) - squares(0, 1), squares(0, 1))
    if postings:
        variance += max(0, squares(2) - squares(0, 2) - squares(1, 2) + squares(0, 1, 2))
    return abs(gap) * sum(r[4] for r in rows) / math.sqrt(variance)


def test_every_labelling_beside_a_plain_loop() -> None:
    pairs = audit(11, postings=40, names=2, gap=0.1, name_sd=0.1)
    found = permutation(pairs, draws=99)
    genders = [[0, 1, 4, 5], [2, 3, 6, 7]]  # two names of an arm and gender, others 4 further on
    assert {n for g in genders for n in g} == set(pairs.favored) | set(pairs.other)
    choices = [itertools.combinations(g, 2) for g in genders]
    sizes = [plain_t(pairs, {*a, *b}) for a, b in itertools.product(*choices)]
    observed = plain_t(pairs, {0, 1, 2, 3}, postings=True)
    assert observed < plain_t(pairs, {0, 1, 2, 3})
    assert found.exact
    assert found.labellings == len(sizes) == 36
    assert found.p_value == pytest.approx(np.mean(np.array(sizes) >= observed * (1 - 1e-9)))


def test_drawn_labellings_agree_with_all_of_them() -> None:
    pairs = audit(12, postings=60, names=4, gap=0.06, name_sd=0.05)
    every = permutation(pairs, draws=10_000)
    drawn = permutation(pairs, draws=4_000, seed=3)
    assert (every.exact, every.labellings) == (True, math.comb(8, 4) ** 2)
    assert not drawn.exact
    assert drawn.p_value == pytest.approx(every.p_value, abs=4 * math.sqrt(0.25 / 4_000))


def test_strata_that_are_given_are_those_that_pairs_show() -> None:
    pairs = audit(13, postings=60, names=3, gap=0.05)
    gender = (pairs.favored >= 3).astype(np.int64)
    given = CallbackPairs(pairs.table, pairs.posting, pairs.favored, pairs.other, gender)
    assert permutation(given, draws=999) == permutation(pairs, draws=999)


@pytest.mark.parametrize("name_sd", [0.0, 0.1])
def test_size_where_labels_mean_nothing(name_sd: float) -> None:
    p = np.array([
        permutation(audit(1000 + s, postings=60, name_sd=name_sd, names=6), draws=99).p_value
        for s in range(120)
    ])  # fmt: skip
    # 5% of 120, four standard errors up; and it does reject sometimes.
    assert (p <= 0.05).mean() <= 0.05 + 4 * math.sqrt(0.05 * 0.95 / 120)
    assert (p <= 0.3).mean() >= 0.15


def test_size_where_postings_lean_each_its_own_way() -> None:
    """Every posting favors one group or the other in all its pairs, none on average: labels that
    are dealt by name do not show that, and a statistic blind to it rejects too often."""
    p = []
    for seed in range(150):
        rng = np.random.default_rng(seed)
        posting = np.repeat(np.arange(60), 4)
        lean = rng.integers(0, 2, 60)[posting]
        active = rng.random(240) < 0.5
        pairs = CallbackPairs.of_answers(
            favored=active * lean, other=active * (1 - lean), posting=posting,
            favored_name=rng.integers(0, 8, 240), other_name=rng.integers(8, 16, 240),
        )  # fmt: skip
        p.append(permutation(pairs, draws=99, seed=seed).p_value)
    assert np.mean(np.array(p) <= 0.05) <= 0.05 + 4 * math.sqrt(0.05 * 0.95 / 150)


def test_a_large_gap_is_found() -> None:
    assert permutation(audit(14, gap=0.2, name_sd=0.02), draws=999).p_value == 0.001


def test_where_labels_cannot_be_permuted() -> None:
    one = CallbackPairs.of_answers(
        favored=[1, 0], other=[0, 0], posting=[0, 1], favored_name=[0, 0], other_name=[1, 1]
    )
    assert permutation(one).labellings == 2
    both = CallbackPairs.of_answers(
        favored=[1, 0], other=[0, 0], posting=[0, 1], favored_name=[0, 1], other_name=[1, 2]
    )
    assert permutation(both) == BOTH_ARMS
    assert permutation(one.take(np.zeros(0, dtype=int))) == FEW_NAMES


def test_rates_are_means_of_names_with_errors_by_posting() -> None:
    pairs = audit(15, postings=200, name_sd=0.05)
    rates, _ = name_rates(pairs)
    assert len(rates) == 76
    r = rates[7]
    at = pairs.favored == r.name
    y = pairs.table[at][:, 1, :].sum(axis=1)
    assert r.rate == pytest.approx(y.mean())
    assert r.n == at.sum()
    groups = {g: (y[pairs.posting[at] == g] - y.mean()).sum() for g in set(pairs.posting[at])}
    variance = sum(v * v for v in groups.values()) * len(groups) / (len(groups) - 1)
    assert r.std_error == pytest.approx(math.sqrt(variance) / len(y))


def test_shrinkage_lessens_the_error_by_what_theory_says() -> None:
    rng = np.random.default_rng(16)
    truth, error = rng.normal(0.3, 0.03, 40_000), 0.04
    seen = truth + rng.normal(0, error, 40_000)
    rates = [NameRate(k, "favored", float(y), error, None, None, 500) for k, y in enumerate(seen)]
    found, spread = shrunken(rates)
    assert spread.sd == pytest.approx(0.03, rel=0.04)
    mse = np.mean((np.array([r.shrunk for r in found]) - truth) ** 2)
    # Posterior variance: 1 / (1 / 0.03^2 + 1 / 0.04^2).
    assert mse == pytest.approx(1 / (1 / 0.03**2 + 1 / error**2), rel=0.04)
    assert found[0].shrunk_error ** 2 == pytest.approx(mse, rel=0.06)


def test_rates_that_differ_less_than_chance_shrink_to_their_mean() -> None:
    rates = [NameRate(k, "other", y, 0.1, None, None, 20) for k, y in enumerate((0.29, 0.3, 0.31))]
    found, spread = shrunken(rates)
    assert [r.shrunk for r in found] == pytest.approx([0.3] * 3)
    assert (spread.sd, spread.reason.split(":")[0]) == (None, "variance_below_0")
    assert spread.variance < 0
    few, none = shrunken(rates[:2])
    assert few[0].shrunk is None
    assert none.reason.startswith("few_names")
