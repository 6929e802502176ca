"""Silence: bounds that hold every filling-in, the interval's equation, a planted difference."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy.stats import t as student

from callback_designs import audit
from fairscreen.estimators.callback_missing import bounds, silence_is_no
from fairscreen.estimators.callback_pairs import CallbackPairs
from fairscreen.estimators.callbacks import CallbackOptions, callbacks

FAST = CallbackOptions(draws=100, permutations=99)


def test_bounds_are_the_ends_of_every_way_to_fill_in() -> None:
    one = np.array([1, np.nan, 0, np.nan, 1])
    two = np.array([0, 0, np.nan, np.nan, 1])
    pairs = CallbackPairs.of_answers(favored=one, other=two, posting=np.arange(5))
    found = bounds(pairs)
    gaps = []
    for fill in itertools.product((0, 1), repeat=4):
        y, z = one.copy(), two.copy()
        y[np.isnan(y)], z[np.isnan(z)] = fill[:2], fill[2:]
        gaps.append((y - z).mean())
    assert (found.lower.value, found.upper.value) == pytest.approx((min(gaps), max(gaps)))
    assert found.upper.value - found.lower.value == pytest.approx(4 / 5)  # missing sides / pairs
    assert silence_is_no(pairs).sum() == 1


def test_interval_solves_its_equation() -> None:
    found = bounds(audit(21, silent=(0.01, 0.01)))
    df = found.lower.df
    c = (found.lower.value - found.low) / found.lower.std_error
    assert (found.high - found.upper.value) / found.upper.std_error == pytest.approx(c)
    width = found.upper.value - found.lower.value
    shift = width / max(found.lower.std_error, found.upper.std_error)
    assert student.cdf(c + shift, df) - student.cdf(-c, df) == pytest.approx(0.95)
    assert student.ppf(0.95, df) < c < student.ppf(0.975, df)


def test_without_silence_the_interval_is_the_headline() -> None:
    pairs = audit(22)
    found = bounds(pairs)
    head = next(r for r in callbacks(pairs, FAST).rows if r.method == "cluster_posting_names")
    assert (100 * found.low, 100 * found.high) == pytest.approx((head.ci_low, head.ci_high))
    assert not [r for r in callbacks(pairs, FAST).rows if r.estimand == "missing_gap_pp"]


def test_rows_of_silence_that_differs() -> None:
    pairs = audit(23, gap=0.05, silent=(0.02, 0.10))
    result = callbacks(pairs, FAST)
    rows = {(r.estimand, r.method): r for r in result.rows if r.part is None}
    share = [k / result.pairs for k in result.lacking]
    row = rows["missing_gap_pp", "sign_flip_posting"]
    assert row.estimate == pytest.approx(100 * (share[0] - share[1]))
    assert row.p_value < 1e-6
    low, high = rows["gap_lower_bound_pp", "manski"], rows["gap_upper_bound_pp", "manski"]
    assert high.estimate - low.estimate == pytest.approx(100 * sum(share))
    assert low.ci_low < low.estimate < high.estimate < low.ci_high
    second = rows["callback_gap_silence_is_no_pp", "cluster_posting_names"]
    # Other's silence counts as no, so favored gains.
    assert second.estimate > rows["callback_gap_pp", "cluster_posting_names"].estimate
    assert second.n == result.pairs > result.complete


def test_even_silence_is_not_found() -> None:
    p = [
        next(r.p_value for r in callbacks(audit(s, postings=40, silent=(0.1, 0.1)), FAST).rows
             if (r.estimand, r.method) == ("missing_gap_pp", "sign_flip_posting"))
        for s in range(100, 160)
    ]  # fmt: skip
    assert np.mean(np.array(p) <= 0.05) <= 0.05 + 4 * np.sqrt(0.05 * 0.95 / 60)
