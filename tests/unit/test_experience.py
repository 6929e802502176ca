"""P2: the fit, the shrinkage of sigma, and the exact distribution of whole months."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

import population_inputs as inputs
from fairscreen.errors import InputError
from fairscreen.population import domain, experience, matching

CFG = inputs.demo()
AXES = domain.from_settings(CFG.population)
CELLS = inputs.cells(CFG, 20)


def test_the_mean_recovers_the_formula_behind_the_data() -> None:
    fitted = experience.fit(inputs.psid(6000), CFG.population, AXES, CELLS)
    nurses = fitted.mean[0]
    ages = np.arange(AXES.age_min, AXES.age_max + 1)
    bachelor = AXES.levels.index("bachelor")  # 16 years of schooling
    expected = np.clip(0.85 * (ages - 18) - 0.5 * 4, 0, None)
    middle = (ages >= 25) & (ages <= 40)
    men = nurses[1, 0, :, 2, bachelor]
    women = nurses[0, 0, :, 2, bachelor]
    assert np.abs(men - expected)[middle].max() < 1.5
    assert (men - women)[middle].mean() == pytest.approx(1, abs=0.5)
    assert fitted.facts["psid_synthetic"] is True
    assert fitted.facts["residual_sd"] == pytest.approx(2, abs=0.35)


def test_row_order_changes_nothing() -> None:
    rows = inputs.psid()
    one = experience.fit(rows, CFG.population, AXES, CELLS)
    other = experience.fit(rows.sample(frac=1, random_state=3), CFG.population, AXES, CELLS)
    np.testing.assert_array_equal(one.mean, other.mean)
    np.testing.assert_array_equal(one.sigma, other.sigma)


def test_sigma_is_shrunk_stratum_by_stratum() -> None:
    # two bands, one gender, one job: variances 1 (band 0, n = 10) and 9 (band 1, n = 30)
    residual = np.repeat([1.0, 3.0], [10, 30])
    zero = np.zeros(40, dtype=np.int64)
    band = np.repeat([0, 1], [10, 30])
    sigma = experience.shrunk_sigma(
        residual, np.ones(40), band, zero, zero, shape=(2, 2, 2), prior_n=10, floor=0.1
    )
    whole = (10 * 1 + 30 * 9) / 40
    by_band = (10 * 1 + 10 * whole) / 20
    by_gender = (10 * 1 + 10 * by_band) / 20
    by_job = (10 * 1 + 10 * by_gender) / 20
    assert sigma[0, 0, 0] == pytest.approx(np.sqrt(by_job))
    assert sigma[1, 0, 0] == pytest.approx(np.sqrt(by_gender))  # a job that nobody has
    assert sigma[0, 0, 1] == pytest.approx(np.sqrt(by_band))  # a gender that nobody has


def test_bins_are_exact_for_whole_months() -> None:
    mean, sigma, age = 6.3, 2.2, 31
    n = 200_000
    u = (np.arange(n) + 0.5) / n
    months = experience.draw_months(u, np.full(n, mean), np.full(n, sigma), np.full(n, age))
    assert months.min() >= 0
    assert months.max() <= 12 * (age - 18)
    cuts = (2.0, 5.0, 10.0)
    got = np.bincount(np.searchsorted(cuts, months / 12, side="right"), minlength=4) / n
    exact = experience.bin_shares(cuts, np.array(mean), np.array(sigma), np.array(age))
    np.testing.assert_allclose(got, exact, atol=2 / n)
    law = stats.truncnorm(-mean / sigma, (13 - mean) / sigma, loc=mean, scale=sigma)
    assert exact[0] == pytest.approx(law.cdf((24 - 0.5) / 12), abs=1e-9)


def test_nobody_of_18_has_worked() -> None:
    age = np.array([18, 18])
    one = np.array([3.0, 5.0])
    assert experience.draw_months(np.array([0.2, 0.9]), one, one, age).tolist() == [0, 0]
    shares = experience.bin_shares((2.0,), one, one, age)
    assert shares.tolist() == [[1, 0], [1, 0]]


def test_too_few_people_is_an_error() -> None:
    cfg = inputs.demo("population.experience.waves=[1999]")
    with pytest.raises(InputError, match="psid_person: has 0 usable rows of waves 1999 aged"):
        experience.fit(inputs.psid(), cfg.population, AXES, CELLS)


def test_matching_moves_the_covariates_to_the_survey() -> None:
    rng = np.random.default_rng(0)
    source = np.column_stack([rng.integers(0, 2, 4000), rng.integers(18, 45, 4000)]).astype(float)
    keep = rng.uniform(size=4000) < np.where(source[:, 0] == 1, 0.9, 0.2)
    target = source[keep & (source[:, 1] < 40)]
    own = rng.uniform(0.5, 2, 4000)
    ratio = matching.density_ratio(
        source, target, source_weight=own, target_weight=np.ones(len(target))
    )
    weight = own * ratio
    before, after = (np.average(source, axis=0, weights=w) for w in (own, weight))
    wanted = target.mean(axis=0)
    assert (np.abs(before - wanted) > [0.25, 2.0]).all()
    assert (np.abs(after - wanted) < [0.03, 0.3]).all()
    assert matching.effective_n(weight) < matching.effective_n(own)
    assert matching.effective_n(np.ones(7)) == pytest.approx(7)


def test_matching_is_a_choice_and_is_reported() -> None:
    plain = inputs.demo("population.experience.match_survey=false").population
    one = experience.fit(inputs.psid(), plain, AXES, CELLS)
    other = experience.fit(inputs.psid(), CFG.population, AXES, CELLS)
    assert one.facts["psid_matched_to_survey"] is False
    assert other.facts["psid_effective_n"] < one.facts["psid_effective_n"] < 1000
    assert not np.array_equal(one.mean, other.mean)
