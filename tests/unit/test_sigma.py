"""sigma of the truncated normal: known truth, scipy's own fit, shrinkage, the published way."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import optimize, stats

from fairscreen.population import sigma as spread
from fairscreen.population import truncated

RNG = np.random.default_rng(7)


def _strata(band, gender, informs, weight=None, person=None) -> spread.Strata:
    n = len(band)
    return spread.Strata(
        band=np.asarray(band), gender=np.asarray(gender), informs=np.asarray(informs, dtype=bool),
        weight=np.ones(n) if weight is None else weight,
        person=np.arange(n) if person is None else person,
        n_bands=int(np.max(band)) + 1, n_genders=2,
    )  # fmt: skip


def _simulated(n: int):
    """Two bands, two genders, one job: sigma 1, 2 (band 0), 3, 4.5 (band 1); mean near a bound."""
    band, gender = RNG.integers(0, 2, n), RNG.integers(0, 2, n)
    truth = np.array([[1.0, 2.0], [3.0, 4.5]])
    upper = RNG.integers(4, 13, n).astype(float)
    mean = upper * RNG.uniform(0.55, 0.9, n)
    s = truth[band, gender]
    location = truncated.location_of(mean, s, upper)
    years = np.rint(truncated.ppf(RNG.uniform(size=n), location, s, upper))
    return years, upper, mean, _strata(band, gender, np.ones((n, 1))), truth


def test_the_truth_is_recovered_where_a_plain_sd_is_not() -> None:
    years, upper, mean, strata, truth = _simulated(20_000)
    fitted = spread.by_likelihood(
        years, upper, mean, strata, prior_n=1e-6, floor=0.1, keep_mean=True
    )
    for (k, g), s in np.ndenumerate(truth):
        here = (strata.band == k) & (strata.gender == g)

        def log_likelihood(log_s: float, here=here) -> float:
            s, y, u = np.array(np.exp(log_s)), years[here], upper[here]
            at = truncated.location_of(mean[here], s, u)
            ends = spread.within_half_a_year(y, u)
            return float(truncated.log_chance(*ends, at, s, u).sum())

        h = 0.05
        ends = log_likelihood(np.log(s) + h) + log_likelihood(np.log(s) - h)
        error = h / np.sqrt(2 * log_likelihood(np.log(s)) - ends)  # 1 / sqrt(information)
        assert error < 0.08
        assert abs(np.log(fitted[0, k, g] / s)) < 3.5 * error
    plain = spread.by_residuals(years - mean, strata, prior_n=1e-6, floor=0.1)
    assert (np.abs(plain[0] - truth) > np.abs(fitted[0] - truth)).all()
    assert (plain[0, 1] < 0.6 * truth[1]).all()


@pytest.mark.parametrize("keep_mean", [True, False])
def test_without_a_prior_it_is_scipys_maximum(keep_mean: bool) -> None:
    years, upper, mean, strata, _ = _simulated(800)
    weight = RNG.uniform(0.5, 2, 800)
    strata = _strata(strata.band, strata.gender, strata.informs, weight)
    fitted = spread.by_likelihood(
        years, upper, mean, strata, prior_n=1e-9, floor=0.1, keep_mean=keep_mean
    )
    for k in range(2):
        for g in range(2):
            here = (strata.band == k) & (strata.gender == g)
            y, u, m = years[here], upper[here], mean[here]

            def loss(s: float, y=y, u=u, m=m, w=weight[here]) -> float:
                at = truncated.location_of(m, np.array(s), u) if keep_mean else m
                law = stats.truncnorm(-at / s, (u - at) / s, at, s)
                chance = law.cdf(np.minimum(y + 0.5, u)) - law.cdf(np.maximum(y - 0.5, 0))
                return -float(w @ np.log(chance))

            best = optimize.minimize_scalar(loss, bounds=(0.1, 12), method="bounded").x
            assert fitted[0, k, g] == pytest.approx(best, rel=1e-3)


def test_thin_strata_lean_on_coarser_ones() -> None:
    """Far inside the bounds a person's information on log sigma is 2: the prior counts as people.

    log sigma then solves n (v / s^2 - 1) = 2 prior_n log(s / s'), v the stratum's mean square.
    """
    n = np.array([400, 6])
    band = np.repeat([0, 1], n)
    residual = np.where(band == 0, 20.0, 60.0) * np.tile([1.0, -1.0], 203)
    upper, mean = np.full(406, 10_000.0), np.full(406, 5_000.0)
    strata = _strata(band, np.zeros(406, dtype=int), np.ones((406, 1)))
    fitted = spread.by_likelihood(
        mean + residual, upper, mean, strata, prior_n=30, floor=0.5, keep_mean=True
    )

    def solve(n: float, v: float, coarser: float) -> float:
        return optimize.brentq(
            lambda s: n * (v / s**2 - 1) - 60 * np.log(s / coarser), 5, 200
        )  # fmt: skip

    whole = np.sqrt((400 * 20**2 + 6 * 60**2) / 406)
    by_band = solve(6, 60**2, whole)
    by_gender = solve(6, 60**2, by_band)
    assert fitted[0, 1, 0] == pytest.approx(solve(6, 60**2, by_gender), rel=2e-3)
    assert fitted[-1, 1, 0] == pytest.approx(by_gender, rel=2e-3)  # people of other jobs
    assert fitted[0, 1, 1] == pytest.approx(by_band, rel=2e-3)  # a gender that nobody has
    assert whole < fitted[0, 1, 0] < 60


def test_a_person_of_two_waves_is_one_person() -> None:
    years, upper, mean, strata, _ = _simulated(60)
    once = spread.by_likelihood(years, upper, mean, strata, prior_n=20, floor=0.1, keep_mean=True)
    twice = spread.by_likelihood(
        np.tile(years, 2), np.tile(upper, 2), np.tile(mean, 2),
        _strata(np.tile(strata.band, 2), np.tile(strata.gender, 2), np.ones((120, 1)),
                person=np.tile(np.arange(60), 2)),
        prior_n=20, floor=0.1, keep_mean=True,
    )  # fmt: skip
    np.testing.assert_allclose(once, twice, rtol=1e-9)


def test_rows_without_room_say_nothing_and_bounds_hold() -> None:
    years, upper, mean = np.zeros(40), np.zeros(40), np.zeros(40)
    upper[:20], mean[:20], years[:20] = 10.0, 5.0, 5.0  # no spread at all: the floor
    strata = _strata(np.repeat([0, 1], 20), np.zeros(40, dtype=int), np.ones((40, 1)))
    fitted = spread.by_likelihood(years, upper, mean, strata, prior_n=1, floor=0.5, keep_mean=True)
    assert np.isfinite(fitted).all()
    assert fitted[0, 0, 0] == pytest.approx(0.5)
    heaped = np.where(np.arange(40) % 2, 10.0, 0.0)  # everybody at a bound: as wide as can be
    wide = spread.by_likelihood(
        heaped, np.full(40, 10.0), np.full(40, 5.0), strata, prior_n=1e-6, floor=0.5,
        keep_mean=True,
    )  # fmt: skip
    assert wide[0, 0, 0] == pytest.approx(10.0)


def test_published_way_by_hand() -> None:
    # two bands, one gender, one job: variances 1 (band 0, n = 10) and 9 (band 1, n = 30)
    residual = np.repeat([1.0, 3.0], [10, 30])
    strata = _strata(np.repeat([0, 1], [10, 30]), np.zeros(40, dtype=int),
                     np.column_stack([np.ones(40), np.zeros(40)]))  # fmt: skip
    sigma = spread.by_residuals(residual, strata, prior_n=10, floor=0.1)
    whole = (10 * 1 + 30 * 9) / 40
    by_band = (10 * 1 + 10 * whole) / 20
    by_gender = (10 * 1 + 10 * by_band) / 20
    by_job = (10 * 1 + 10 * by_gender) / 20
    assert sigma[0, 0, 0] == pytest.approx(np.sqrt(by_job))
    assert sigma[1, 0, 0] == pytest.approx(np.sqrt(by_gender))  # a job that nobody has
    assert sigma[2, 0, 0] == pytest.approx(np.sqrt(by_gender))  # people of other jobs
    assert sigma[0, 0, 1] == pytest.approx(np.sqrt(by_band))  # a gender that nobody has


def test_effective_n() -> None:
    assert spread.effective_n(np.ones(7)) == pytest.approx(7)
    assert spread.effective_n(np.array([3.0, 1.0])) == pytest.approx(1.6)
    assert spread.effective_n(np.ones(6), np.array([0, 0, 1, 1, 2, 2])) == pytest.approx(3)
    assert spread.effective_n(np.ones(0)) == 0
