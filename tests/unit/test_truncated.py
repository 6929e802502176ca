"""The truncated normal against scipy, and in tails where scipy's own differences vanish."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from fairscreen.population import truncated

LOCATIONS = [-3.0, 0.5, 4.0, 9.5, 14.0]


@pytest.mark.parametrize("location", LOCATIONS)
@pytest.mark.parametrize("upper", [1.0, 10.0, 26.0])
def test_equals_scipy(location: float, upper: float) -> None:
    sigma = 2.5
    reference = stats.truncnorm(
        -location / sigma, (upper - location) / sigma, loc=location, scale=sigma
    )
    u = np.linspace(0.001, 0.999, 41)
    x = truncated.ppf(u, np.full(41, location), np.full(41, sigma), np.full(41, upper))
    np.testing.assert_allclose(x, reference.ppf(u), rtol=1e-7, atol=1e-9)
    at = np.array(location), np.array(sigma), np.array(upper)
    np.testing.assert_allclose(truncated.cdf(x, *at), u, atol=1e-9)
    chance = np.log(reference.cdf(x[1:]) - reference.cdf(x[:-1]))
    np.testing.assert_allclose(truncated.log_chance(x[:-1], x[1:], *at), chance, atol=1e-7)
    assert float(truncated.mean(*at)) == pytest.approx(reference.mean(), abs=1e-9)


def test_far_tails_stay_inside_and_keep_their_order() -> None:
    u = np.linspace(0.01, 0.99, 99)
    for mean in (-60.0, 80.0):  # 120 and 154 sigma outside [0, 3]
        x = truncated.ppf(u, np.full(99, mean), np.full(99, 0.5), np.full(99, 3.0))
        assert np.isfinite(x).all()
        assert ((x > 0) & (x < 3)).all()
        assert (np.diff(x) > 0).all()
        back = truncated.cdf(x, np.array(mean), np.array(0.5), np.array(3.0))
        np.testing.assert_allclose(back, u, atol=1e-6)


def test_chances_add_up_in_far_tails() -> None:
    edges = np.linspace(0, 3, 31)
    for location in (-60.0, 1.5, 80.0):
        at = np.array(location), np.array(0.5), np.array(3.0)
        logs = truncated.log_chance(edges[:-1], edges[1:], *at)
        assert np.isfinite(logs).all()
        assert np.exp(logs).sum() == pytest.approx(1, abs=1e-9)


def test_an_empty_interval_is_the_point_zero() -> None:
    one = np.array([1.0])
    assert truncated.ppf(np.array([0.3]), one, one, np.array([0.0])).tolist() == [0.0]
    assert truncated.cdf(np.array([0.0]), one, one, np.array([0.0])).tolist() == [1.0]
    assert truncated.location_of(one, one, np.array([0.0])).tolist() == [0.0]


@pytest.mark.parametrize("sigma", [0.5, 2.5, 8.0, 26.0])
@pytest.mark.parametrize("upper", [1.0, 6.0, 26.0])
def test_the_location_has_the_mean_asked_for(sigma: float, upper: float) -> None:
    near = min(sigma / 12, upper / 50)  # nearer to a bound than this is not reached
    mean = np.linspace(near * 1.05, upper - near * 1.05, 57)
    location = truncated.location_of(mean, np.array(sigma), np.array(upper))
    assert (np.diff(location) > 0).all()
    back = truncated.mean(location, np.array(sigma), np.array(upper))
    # far wider than the interval, digits go: the square of the ratio
    np.testing.assert_allclose(back, mean, rtol=0, atol=1e-8 * max(upper, sigma**2 / upper))
    middle = truncated.location_of(np.array(upper / 2), np.array(sigma), np.array(upper))
    assert float(middle) == pytest.approx(upper / 2, abs=1e-6 * sigma)


def test_a_mean_on_a_bound_is_missed_by_little() -> None:
    sigma, upper = np.array(2.0), np.array(10.0)
    for wanted in (0.0, 10.0):
        location = truncated.location_of(np.array(wanted), sigma, upper)
        assert np.isfinite(location)
        assert abs(float(truncated.mean(location, sigma, upper)) - wanted) < 2 / 12
