"""Correlation of two gaps across models: scipy's numbers, a planted truth, what has none."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import pearsonr, spearmanr

from fairscreen.errors import InputError
from fairscreen.estimators.gap_correlation import _moments, _plain, correlations
from fairscreen.estimators.panel_rows import correlation_rows


def given(one, two, own: float = 0.0, shared: float = 0.0) -> dict:
    full = np.full(len(one), 1.0)
    return {"one": one, "two": two, "variance_one": own * full, "variance_two": own * full,
            "covariance": shared * full}  # fmt: skip


def test_coefficients_and_intervals_are_those_of_scipy() -> None:
    rng = np.random.default_rng(1)
    one = rng.normal(size=13)
    two = 0.6 * one + rng.normal(size=13)
    pearson, spearman, moments = correlations(**given(one, two))
    want = pearsonr(one, two)
    ends = want.confidence_interval()
    assert pearson.value == pytest.approx(want.statistic)
    assert (pearson.low, pearson.high) == pytest.approx((ends.low, ends.high))
    assert pearson.p_value == pytest.approx(want.pvalue, abs=0.02)  # normal z beside exact t
    assert spearman.value == pytest.approx(spearmanr(one, two).statistic)
    r = spearman.value
    error = np.sqrt((1 + r**2 / 2) / 10)  # ranks vary more than Fisher's z of scores
    assert spearman.high == pytest.approx(np.tanh(np.arctanh(r) + 1.959964 * error))
    assert moments.value == pytest.approx(pearson.value)  # no sampling error, nothing to correct
    assert moments.p_value is None
    left = [pearsonr(np.delete(one, k), np.delete(two, k)).statistic for k in range(13)]
    assert (pearson.least, pearson.most) == pytest.approx((min(left), max(left)))


@pytest.mark.parametrize("truth", [0.0, 0.8])
def test_the_correction_takes_out_what_errors_make(truth: float) -> None:
    """True gaps of variance 1, errors of variance 1 that are correlated by 0.9: many models, so
    that chance is small."""
    rng = np.random.default_rng(2)
    size = 20_000
    true = rng.multivariate_normal([0, 0], [[1, truth], [truth, 1]], size)
    error = rng.multivariate_normal([0, 0], [[1, 0.9], [0.9, 1]], size)
    seen = true + error
    data = np.stack([*seen.T, np.ones(size), np.ones(size), np.full(size, 0.9)])
    assert _moments(data) == pytest.approx(truth, abs=0.05)
    plain = np.corrcoef(*seen.T)[0, 1]
    assert plain == pytest.approx((truth + 0.9) / 2, abs=0.02)
    few = _plain("pearson", data[:, :50], 0.95)
    assert few.low < plain < few.high


def test_intervals_cover_the_correlation_of_gaps_as_observed_at_14_models() -> None:
    """No true correlation, errors of half the variance correlated by 0.8: observed gaps correlate
    by 0.4 / 1.5. 400 samples: 95% within 4 Monte Carlo errors, the truth by too few; the correction
    has it at its median."""
    rng, seen, hits, corrected = np.random.default_rng(4), 0.4 / 1.5, [], []
    of_ranks = 6 / np.pi * np.arcsin(seen / 2)  # of normal gaps
    error = [[0.5, 0.4], [0.4, 0.5]]
    full = np.ones(14)
    for _ in range(400):
        gaps = rng.normal(size=(14, 2)) + rng.multivariate_normal([0, 0], error, 14)
        pearson, spearman, moments = correlations(
            one=gaps[:, 0], two=gaps[:, 1], variance_one=0.5 * full, variance_two=0.5 * full,
            covariance=0.4 * full,
        )  # fmt: skip
        hits.append((pearson.low <= seen <= pearson.high,
                     spearman.low <= of_ranks <= spearman.high,
                     pearson.low <= 0 <= pearson.high))  # fmt: skip
        if moments.value is not None:
            corrected.append(moments.value)
    by_scores, by_ranks, truth = np.mean(hits, axis=0)
    assert 0.95 - 4 * 0.0109 <= by_scores <= 0.95 + 4 * 0.0109
    assert 0.95 - 4 * 0.0109 <= by_ranks <= 0.95 + 4 * 0.0109
    assert truth < 0.9
    assert len(corrected) > 320
    near = 4 * 1.2533 * np.std(corrected) / np.sqrt(len(corrected))  # error of a median
    assert near < 0.15
    assert abs(np.median(corrected)) < near


def test_what_has_no_coefficient_has_a_reason() -> None:
    one, two = np.array([1.0, 2, 3, 4]), np.array([1.0, 2, 3, 4.5])
    found = correlations(**given(one, two, own=9.0))
    assert found[2].value is None
    assert found[2].reason.startswith("variance_below_0")
    outside = correlations(**given(one, two, own=0.5))[2]
    assert outside.value is None
    assert outside.reason.startswith("outside_range: the corrected coefficient is 1.")
    flat = correlations(**given(one, np.ones(4)))
    assert [c.value for c in flat] == [None, None, None]
    assert flat[0].reason.startswith("no_spread")
    two_models = correlations(**given(one[:2], two[:2]))
    assert all(c.reason.startswith("few_models") for c in two_models)
    same = correlations(**given(one, 2 * one))[0]
    assert (same.value, same.low) == (pytest.approx(1.0), None)
    with pytest.raises(InputError, match="differ in shape or are not finite"):
        correlations(**{**given(one, two), "two": two[:3]})


def test_rows_have_the_range_of_left_out_models() -> None:
    rng = np.random.default_rng(3)
    one = rng.normal(size=8)
    rows = correlation_rows(**given(one, one + rng.normal(size=8), own=0.01))
    by = {(r.method, r.part): r for r in rows}
    assert by["pearson", None].n == 8
    ends = [by["pearson_leave_one_model_out", ("end", e)].estimate for e in ("least", "most")]
    assert ends[0] <= by["pearson", None].estimate <= ends[1]
    assert by["moments", None].estimate >= by["pearson", None].estimate
