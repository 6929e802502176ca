"""Known propensities: by brute-force enumeration, and against simulated applicants."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import population_inputs as inputs
from fairscreen.config import Config
from fairscreen.population import generator as gen
from fairscreen.population import grouping, propensity

JOB = "construction_laborers"


def _codes(rows: pd.DataFrame, d: propensity.Densities) -> dict[str, np.ndarray]:
    codes = {c: gen.codes_of(rows[c], labels) for c, labels in d.labels.items()}
    codes["age"] = rows["age"].to_numpy() - d.age_min
    codes["exp_year"] = np.searchsorted(d.cuts, rows["exp_year"], side="right")
    return codes


def _known(cfg: Config, g: gen.Generator, rows: pd.DataFrame, name: str) -> list[np.ndarray]:
    d = propensity.densities(g, cfg.estimation)
    roles = (cfg.estimation.roles.redlining, cfg.estimation.roles.business)
    contrast = cfg.estimation.contrasts[name]
    return list(propensity.known(d, JOB, contrast, roles, _codes(rows, d)))


def _enumerated(cfg: Config, g: gen.Generator, row: pd.Series, gender: int, race: int) -> list:
    """q(x, z) times p(nothing), p(R), p(B, R) of one applicant, summed value by value."""
    model, axes, names = g.jobs[JOB], g.domain, g.first_names
    age = row["age"] - axes.age_min
    band = axes.band_of_age[age]
    births = np.diff(names.cumulative, prepend=0)
    low, high = names.bounds[gender, row["birth_year"] - names.first_year]
    name = 0.0
    for m in np.flatnonzero((names.cumulative > low) & (names.cumulative <= high)):
        code = names.code[m]
        if (
            grouping.GENDER_GROUPS[names.gender_group[code]] == row["first_name_gender"]
            and names.cohort_labels[names.cohort_group[code]] == row["first_name_cohort"]
        ):
            name += births[m] / (high - low)
    bearers = np.diff(g.surnames.cumulative[race], prepend=0)
    of_group = g.surnames.group == grouping.SURNAME_GROUPS.index(row["surname_race"])
    surname = bearers[of_group].sum() / bearers.sum()

    cuts = [0, *(12 * c for c in cfg.estimation.roles.bins["exp_year"]), 10_000]
    at = np.searchsorted(cuts, 12 * row["exp_year"] + 1e-6, side="right")
    months = np.arange(cuts[at - 1], min(cuts[at], 12 * (row["age"] - 18) + 1))
    region = business = 0.0
    upper = row["age"] - 18
    for s, p_state in enumerate(model.state[gender, race, band]):
        c = axes.region_of_state[s]
        if ("northeast", "midwest", "south", "west")[c] != row["region"]:
            continue
        region += p_state
        for e, level in enumerate(axes.levels):
            if level not in cfg.population.education_groups[row["edu_group"]]:
                continue
            mean, sigma = model.exp_location[gender, race, age, c, e], model.exp_sigma[band, gender]
            law = stats.truncnorm(-mean / sigma, (upper - mean) / sigma, loc=mean, scale=sigma)
            p_bin = (law.cdf((months + 0.5) / 12) - law.cdf((months - 0.5) / 12)).sum()
            business += p_state * model.education[gender, race, band, c, e] * p_bin
    q = model.design[gender, race, age]
    return [q, q * name * surname * region, q * name * surname * business]


@pytest.mark.parametrize("name", ["male_vs_female", "white_vs_rest"])
def test_equals_enumeration(name: str) -> None:
    cfg, g = inputs.generator()
    rows = inputs.simulate(cfg, g, JOB, 3)
    found = _known(cfg, g, rows, name)
    races = list(g.domain.races)
    for i, row in rows.iterrows():
        sums = {"x1": np.zeros(3), "x0": np.zeros(3)}
        contrast = cfg.estimation.contrasts[name]
        for side, values in (("x1", contrast.x1), ("x0", contrast.x0)):
            for value in values:
                own = (int(row["gender"] == "male"), races.index(row["race"]))
                at = (
                    (int(value == "male"), own[1])
                    if contrast.attribute == "gender"
                    else (own[0], races.index(value))
                )
                sums[side] += _enumerated(cfg, g, row, *at)
        expected = sums["x1"] / (sums["x1"] + sums["x0"])
        np.testing.assert_allclose([p[i] for p in found], expected, rtol=1e-6)


@pytest.mark.parametrize("name", ["male_vs_female", "white_vs_rest"])
def test_simulated_applicants_are_calibrated(name: str) -> None:
    cfg, g = inputs.generator()
    rows = inputs.simulate(cfg, g, JOB, 60_000)
    contrast = cfg.estimation.contrasts[name]
    is_x1 = rows[contrast.attribute].isin(contrast.x1).to_numpy()
    for p in _known(cfg, g, rows, name):
        tenth = np.searchsorted(np.quantile(p, np.arange(0.1, 1, 0.1)), p)
        for k in np.unique(tenth):
            mine = tenth == k
            error = np.sqrt((p[mine] * (1 - p[mine])).sum())
            assert abs(is_x1[mine].sum() - p[mine].sum()) < 4 * error


def test_the_design_is_known_exactly() -> None:
    cfg, g = inputs.generator()
    rows = inputs.simulate(cfg, g, JOB, 50)
    assert _known(cfg, g, rows, "male_vs_female")[0].tolist() == [0.5] * 50


def test_values_outside_the_contrast_have_no_propensity() -> None:
    cfg, g = inputs.generator(
        "estimation.contrasts={white_vs_black: {attribute: race, x1: [white], x0: [black], "
        "x1_label: a, x0_label: b}}"
    )
    rows = inputs.simulate(cfg, g, JOB, 400)
    outside = (rows["race"] == "asian_pacific").to_numpy()
    assert outside.any()
    for p in _known(cfg, g, rows, "white_vs_black"):
        np.testing.assert_array_equal(np.isnan(p), outside)


def test_roles_whose_density_is_not_kept_give_the_reason() -> None:
    cfg = inputs.demo(
        "estimation.roles.redlining=[first_name_p_female, region]",
        "estimation.roles.bins={age: [25], exp_year: [5], first_name_p_female: [0.5]}",
    )
    assert propensity.unknown_reason(cfg.estimation) == (
        "the generator's density of first_name_p_female is not kept at that resolution"
    )
    # A config without these bins is refused; the function is also called on its own.
    roles = inputs.demo().estimation.roles.model_copy(update={"bins": {"age": (25,)}})
    unbinned = inputs.demo().estimation.model_copy(update={"roles": roles})
    assert propensity.unknown_reason(unbinned) == (
        "exp_year is not binned (estimation.roles.bins.exp_year)"
    )
    assert propensity.unknown_reason(inputs.demo().estimation) is None
