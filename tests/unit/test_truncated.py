"""The truncated normal against scipy, and in tails where scipy's own differences vanish."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from fairscreen.population import truncated

MEANS = [-3.0, 0.5, 4.0, 9.5, 14.0]


@pytest.mark.parametrize("mean", MEANS)
@pytest.mark.parametrize("upper", [1.0, 10.0, 26.0])
def test_equals_scipy(mean: float, upper: float) -> None:
    sigma = 2.5
    reference = stats.truncnorm(-mean / sigma, (upper - mean) / sigma, loc=mean, scale=sigma)
    u = np.linspace(0.001, 0.999, 41)
    x = truncated.ppf(u, np.full(41, mean), np.full(41, sigma), np.full(41, upper))
    np.testing.assert_allclose(x, reference.ppf(u), rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(
        truncated.cdf(x, np.array(mean), np.array(sigma), np.array(upper)), u, atol=1e-9
    )


def test_far_tails_stay_inside_and_keep_their_order() -> None:
    u = np.linspace(0.01, 0.99, 99)
    for mean in (-60.0, 80.0):  # 120 and 154 sigma outside [0, 3]
        x = truncated.ppf(u, np.full(99, mean), np.full(99, 0.5), np.full(99, 3.0))
        assert np.isfinite(x).all()
        assert ((x > 0) & (x < 3)).all()
        assert (np.diff(x) > 0).all()
        back = truncated.cdf(x, np.array(mean), np.array(0.5), np.array(3.0))
        np.testing.assert_allclose(back, u, atol=1e-6)


def test_an_empty_interval_is_the_point_zero() -> None:
    one = np.array([1.0])
    assert truncated.ppf(np.array([0.3]), one, one, np.array([0.0])).tolist() == [0.0]
    assert truncated.cdf(np.array([0.0]), one, one, np.array([0.0])).tolist() == [1.0]
