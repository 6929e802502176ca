"""Two one-sided tests against statsmodels, by hand, and their power by simulation."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import norm, ttest_1samp
from statsmodels.stats.weightstats import ztost

from fairscreen.estimators.equivalence import MARGIN_AT_80_PERCENT_POWER, power, tost


@pytest.mark.parametrize("shift", [-0.4, 0.0, 0.25, 1.5])
def test_p_value_equals_statsmodels(shift: float) -> None:
    sample = np.random.default_rng(3).normal(shift, 1.0, 80)
    error = sample.std(ddof=1) / np.sqrt(len(sample))
    got = tost(estimate=float(sample.mean()), std_error=float(error), margin=0.5)
    assert got.p_value == pytest.approx(ztost(sample, -0.5, 0.5)[0], rel=1e-9)


def test_interval_and_test_agree() -> None:
    for estimate in (-0.9, -0.1, 0.0, 0.3, 0.7):
        got = tost(estimate=estimate, std_error=0.2, margin=0.65)
        inside = got.ci_low > -0.65 and got.ci_high < 0.65
        assert (got.p_value < 0.05) is inside
        assert got.minimal_margin == pytest.approx(max(-got.ci_low, got.ci_high))
        edge = tost(estimate=estimate, std_error=0.2, margin=got.minimal_margin)
        assert edge.p_value == pytest.approx(0.05)


def test_the_opposite_claim() -> None:
    got = tost(estimate=-3.0, std_error=1.0, margin=1.0)
    assert got.p_exceeds == pytest.approx(norm.sf(2.0) + norm.sf(4.0))
    assert tost(estimate=0.0, std_error=1.0, margin=1.0).p_exceeds > 0.3


def test_margin_of_80_percent_power() -> None:
    assert pytest.approx(2.93, abs=0.005) == MARGIN_AT_80_PERCENT_POWER
    assert power(std_error=2.0, margin=2.0 * MARGIN_AT_80_PERCENT_POWER) == pytest.approx(0.8)
    draws = np.random.default_rng(8).normal(0, 2.0, 4_000)
    shown = [
        tost(estimate=float(d), std_error=2.0, margin=2 * MARGIN_AT_80_PERCENT_POWER).p_value < 0.05
        for d in draws
    ]
    assert np.mean(shown) == pytest.approx(0.8, abs=4 * np.sqrt(0.16 / 4_000))
    assert power(std_error=2.0, margin=2.0) == 0.0


@pytest.mark.parametrize(("margin", "error"), [(0.0, 1.0), (1.0, 0.0), (float("nan"), 1.0)])
def test_what_cannot_be_tested_is_refused(margin: float, error: float) -> None:
    with pytest.raises(ValueError, match="must be above 0"):
        tost(estimate=0.0, std_error=error, margin=margin)


def test_with_degrees_of_freedom_both_tests_are_those_of_student() -> None:
    one_sided = [
        ttest_1samp([1.0, 3.0, 2.0, 4.0], bound, alternative=side).pvalue
        for bound, side in ((-5, "greater"), (5, "less"))
    ]
    error = np.std([1, 3, 2, 4], ddof=1) / 2
    found = tost(estimate=2.5, std_error=error, margin=5, df=3)
    assert found.p_value == pytest.approx(max(one_sided))
    wide = tost(estimate=2.5, std_error=error, margin=5)
    assert found.minimal_margin > wide.minimal_margin
