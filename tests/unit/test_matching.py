"""The density ratio: planted shifts are undone, no shift moves nothing, what is unmet is named."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import population_inputs as inputs
from fairscreen.population import domain, harmonise, matching
from fairscreen.population.harmonise import Covariates
from fairscreen.population.sigma import effective_n

CFG = inputs.demo().population
AXES = matching.Axes(domain.from_settings(CFG), harmonise.band_labels(CFG))
TOLERANCE = CFG.experience.moment_tolerance


def _people(n: int, seed: int) -> Covariates:
    """Every covariate uniform over the demo's values, independent of the others."""
    rng = np.random.default_rng(seed)
    return Covariates(
        gender=rng.integers(0, 2, n), race=rng.integers(0, 3, n), age=rng.integers(18, 45, n),
        region=rng.integers(0, 4, n), schooling=np.full(n, 16.0),
        schooling_band=rng.integers(1, 5, n), job=np.full(n, -1),
    )  # fmt: skip


def _survey(c: Covariates, weight: np.ndarray) -> matching.Sample:
    return matching.Sample(*harmonise.counted(c, weight))


def _match(source: matching.Sample, target: matching.Sample, *, calibrate: bool, seed: int = 0):
    fold = np.random.default_rng(seed).integers(0, 5, len(source.weight))
    return matching.match(
        source, target, AXES, fold=fold, tolerance=TOLERANCE, calibrate=calibrate, largest=20
    )  # fmt: skip


def _true_ratio(c: Covariates) -> np.ndarray:
    """A planted shift: men, the schooled and, of women, the older ones are surveyed more often."""
    log = 0.8 * c.gender + 0.7 * (c.schooling_band >= 3) + 0.06 * (c.age - 31) * (c.gender == 0)
    return np.exp(log)


@pytest.mark.parametrize("calibrate", [True, False])
def test_a_planted_shift_is_found_and_undone(calibrate: bool) -> None:
    source, crowd = _people(4000, 1), _people(200_000, 2)
    own = np.random.default_rng(3).uniform(0.5, 2, 4000)
    truth = _true_ratio(source)
    truth = truth / np.average(truth, weights=own)
    psid, survey = matching.Sample(source, own), _survey(crowd, _true_ratio(crowd))
    found = _match(psid, survey, calibrate=calibrate)
    assert np.corrcoef(np.log(found.ratio), np.log(truth))[0, 1] > 0.9
    assert np.average(np.abs(found.ratio - truth), weights=own) < 0.15

    # The consequence: an outcome that depends on the shift's covariates has another mean.
    def outcome(c: Covariates) -> np.ndarray:
        return 0.5 * (c.age - 18) * (1 + c.gender) + 3.0 * (c.schooling_band >= 3)

    wanted = np.average(outcome(crowd), weights=_true_ratio(crowd))
    before = np.average(outcome(source), weights=own)
    after = np.average(outcome(source), weights=own * found.ratio)
    assert wanted - before > 2.0
    assert abs(after - wanted) < (0.15 if calibrate else 0.35)

    worst = {}
    for name, ratio in (("raw", np.ones(4000)), ("matched", found.ratio)):
        listed = matching.moments(psid, ratio, survey, AXES, TOLERANCE)
        worst[name] = max(abs(m.matched - m.survey) / m.tolerance for m in listed)
    assert worst["raw"] > 5
    assert worst["matched"] < (0.02 if calibrate else 1.5)


@pytest.mark.parametrize("calibrate", [True, False])
def test_without_a_shift_the_ratio_is_about_one(calibrate: bool) -> None:
    source, crowd = _people(1000, 4), _people(100_000, 5)
    found = _match(
        matching.Sample(source, np.ones(1000)), _survey(crowd, np.ones(100_000)),
        calibrate=calibrate,
    )  # fmt: skip
    # Exact moments of 1,000 people cost about one person in fifty; the ratio alone almost none.
    assert effective_n(found.ratio) > (970 if calibrate else 995)
    assert np.abs(found.ratio - 1).mean() < (0.15 if calibrate else 0.05)


def test_people_whom_nobody_surveyed_drop_out() -> None:
    source, crowd = _people(600, 6), _people(5000, 7)
    source = replace(source, race=np.where(np.arange(600) < 50, -1, source.race))
    weight = (crowd.region != 2).astype(float)  # nobody surveyed in the South
    found = _match(
        matching.Sample(source, np.ones(600)), _survey(crowd, weight), calibrate=True
    )  # fmt: skip
    gone = (source.race < 0) | (source.region == 2)
    assert (found.ratio[gone] == 0).all()
    assert (found.ratio[~gone] > 0).all()
    assert found.ratio.mean() == pytest.approx((~gone).mean())


def test_a_moment_out_of_reach_is_named_not_hidden() -> None:
    source, crowd = _people(800, 8), _people(5000, 9)
    source = replace(source, region=np.where(source.region == 3, 0, source.region))
    psid = matching.Sample(source, np.ones(800))
    survey = _survey(crowd, np.ones(5000))
    found = _match(psid, survey, calibrate=True)
    outside = [
        m for m in matching.moments(psid, found.ratio, survey, AXES, TOLERANCE) if not m.within
    ]
    assert "region west" in [m.name for m in outside]
    west = next(m for m in outside if m.name == "region west")
    assert west.matched == 0
    assert west.survey == pytest.approx(0.25, abs=0.02)
    assert found.ratio.max() <= 20


def test_moments_by_hand() -> None:
    c = Covariates(
        gender=np.array([0, 1, 1]), race=np.array([0, 0, 2]), age=np.array([20, 30, 44]),
        region=np.array([0, 3, 3]), schooling=np.array([12.0, 16.0, 17.0]),
        schooling_band=np.array([1, 3, 4]), job=np.array([-1, -1, -1]),
    )  # fmt: skip
    sample = matching.Sample(c, np.array([1.0, 1.0, 2.0]))
    found = {
        m.name: m
        for m in matching.moments(sample, np.array([2.0, 1.0, 0.5]), sample, AXES, TOLERANCE)
    }
    assert len(found) == 2 + 3 + 4 + 5 + 5 + 2
    assert found["gender male"].psid == pytest.approx(0.75)
    assert found["gender male"].matched == pytest.approx(0.5)
    assert not found["gender male"].within
    assert found["race black"].within
    assert found["age 40-44"].survey == pytest.approx(0.5)
    assert found["schooling 17+"].matched == pytest.approx(0.25)
    assert found["age mean"].psid == pytest.approx((20 + 30 + 88) / 4)
    assert found["age SD"].psid == pytest.approx(np.sqrt((14.5**2 + 4.5**2 + 2 * 9.5**2) / 4))


def test_a_ratio_is_bounded() -> None:
    source, crowd = _people(2000, 10), _people(20_000, 11)
    weight = np.where((crowd.race == 0) & (crowd.region == 0), 100.0, 1.0)
    fold = np.arange(2000) % 5
    found = matching.match(
        matching.Sample(source, np.ones(2000)), _survey(crowd, weight), AXES, fold=fold,
        tolerance=TOLERANCE, calibrate=True, largest=5,
    )  # fmt: skip
    assert found.ratio.max() <= 5
    assert found.ratio.mean() == pytest.approx(1, abs=1e-5)
