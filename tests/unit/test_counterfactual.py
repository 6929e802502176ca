"""Counterfactual versions against the generator's densities summed by hand."""

from __future__ import annotations

import dataclasses
from functools import cache

import numpy as np
import pytest

import population_inputs as inputs
from fairscreen.errors import InputError
from fairscreen.population import counterfactual, experience, versions
from fairscreen.population import generator as gen

JOB, N, CUT = "nurses", 60_000, 4.0
SMALL = (
    "population.age_min=27", "population.age_max=28",
    "population.experience.match_survey=false",  # two ages leave few of the made-up PSID people
    "population.jobs={nurses: {title: N, occp: ['3255'], psid_occp: ['3255']}}",
)  # fmt: skip
CONTRASTS = {
    "gender": {"x1": ("male",), "x0": ("female",)},
    "race": {"x1": ("white",), "x0": ("black", "asian_pacific")},
}


@cache
def small() -> gen.Generator:
    return inputs.generator(*SMALL)[1]


def qualification(region, level, experienced):
    """Not additive: what a degree is worth depends on the region and on experience."""
    return 10 + 3 * level * (1 + (region == 2)) + 8 * experienced * (level > 2) + 5 * (region == 0)


def score(g: gen.Generator, d: gen.Drawn) -> np.ndarray:
    """A deterministic score of the drawn document: names scale what qualifications give."""
    b = qualification(g.domain.region_of_state[d.state], d.edu_level, d.months >= 12 * CUT)
    name = 1 + g.first_names.p_female[d.first_name] + 0.5 * (g.surnames.group[d.surname] == 0)
    return b * name


def name_mean(g: gen.Generator, gender: int, race: int, age: int) -> float:
    """E of the names' factor, over every name of the SSA and Census tables."""
    table, year = g.first_names, g.as_of_year - (age + g.domain.age_min)
    low, high = table.bounds[gender, year - table.first_year]
    births = np.diff(table.cumulative, prepend=0)
    block = (table.cumulative > low) & (table.cumulative <= high)
    female = np.average(table.p_female[table.code[block]], weights=births[block])
    return 1 + female + 0.5 * g.surnames.group_shares()[race, 0]


def expected(g: gen.Generator, r: tuple[int, int], b: tuple[int, int], age: int) -> float:
    """E[score] of (R, B(x', R)) at one age; r, b: gender and race behind R and behind B."""
    model, domain = g.jobs[JOB], g.domain
    band, total = domain.band_of_age[age], 0.0
    for s, p_state in enumerate(model.state[*r, band]):
        region = domain.region_of_state[s]
        mean, sigma = model.exp_location[*b, age, region], model.exp_sigma[band, b[0]]
        years = np.full(len(domain.levels), age + domain.age_min)
        bins = experience.bin_shares((CUT,), mean, np.full(len(years), sigma), years)
        for level, p_level in enumerate(model.education[*b, band, region]):
            for experienced, p_exp in enumerate(bins[level]):
                total += p_state * p_level * p_exp * qualification(region, level, experienced)
    return total * name_mean(g, *r, age)


def by_enumeration(g: gen.Generator, attribute: str) -> dict[str, float]:
    """The functionals over the design's Z; a set of races by its mix in the design, given Z."""
    design = g.jobs[JOB].design
    labels = {"gender": ("female", "male"), "race": g.domain.races}[attribute]
    sets = {k: [labels.index(v) for v in vs] for k, vs in CONTRASTS[attribute].items()}
    found = dict.fromkeys(counterfactual.VERSIONS, 0.0)
    for other in range(design.shape[1 if attribute == "gender" else 0]):
        for age in range(g.domain.n_ages):
            q = design[:, other, age] if attribute == "gender" else design[other, :, age]

            def person(x: int, other: int = other) -> tuple[int, int]:
                return (x, other) if attribute == "gender" else (other, x)

            for name, (of_r, of_b) in counterfactual.VERSIONS.items():
                for xr in sets[of_r]:
                    for xb in sets[of_b] if of_r != of_b else [xr]:
                        share = q[xr] / q[sets[of_r]].sum()
                        share *= q[xb] / q[sets[of_b]].sum() if of_r != of_b else 1
                        found[name] += q.sum() * share * expected(g, person(xr), person(xb), age)
    return found


def people(g: gen.Generator, n: int = N) -> dict:
    ids = [f"a{i}" for i in range(n)]
    u = gen.uniforms(g.seed, ids)
    u["race"] = gen.random.uniforms(g.seed, "applicant/race", ids)
    z = gen.draw_z(g, JOB, np.arange(n), gen.random.uniforms(g.seed, "applicant/z", ids))
    return {"gender": z[0], "race": z[1], "age": z[2], "u": u}


@pytest.mark.parametrize("attribute", ["gender", "race"])
def test_the_functionals_equal_their_enumeration(attribute: str) -> None:
    g = small()
    who = people(g)
    found = counterfactual.versions(g, JOB, attribute=attribute, **CONTRASTS[attribute], **who)
    exact = by_enumeration(g, attribute)
    values = {name: score(g, drawn) for name, drawn in found.items()}
    for name, value in values.items():
        error = value.std() / np.sqrt(N)
        assert abs(value.mean() - exact[name]) < 4 * error, (name, value.mean(), exact[name])
    # Paired differences are what rescoring reports: their errors are far smaller.
    for one, two in (("x1", "b_x0_r_x1"), ("b_x1_r_x0", "x0"), ("x1", "b_x1_r_x0")):
        gap = values[one] - values[two]
        error = gap.std() / np.sqrt(N)
        truth = exact[one] - exact[two]
        assert abs(gap.mean() - truth) < 4 * error, (one, two)
        assert abs(truth) > 4 * error, "this contrast would prove nothing"
    unpaired = np.hypot(values["x1"].std(), values["x0"].std())
    assert (values["x1"] - values["x0"]).std() < unpaired


@pytest.mark.parametrize("attribute", ["gender", "race"])
def test_versions_share_what_they_should(attribute: str) -> None:
    g = small()
    who = people(g, 4000)
    sets = CONTRASTS[attribute]
    found = counterfactual.versions(g, JOB, attribute=attribute, **sets, **who)
    for name in ("state", "first_name", "surname"):
        for crossed, pure in (("b_x0_r_x1", "x1"), ("b_x1_r_x0", "x0")):
            same = getattr(found[crossed], name) == getattr(found[pure], name)
            assert same.all()
    # With the same region, B is that of the version it comes from.
    region = g.domain.region_of_state
    alike = region[found["x0"].state] == region[found["x1"].state]
    for crossed, pure in (("b_x0_r_x1", "x0"), ("b_x1_r_x0", "x1")):
        for name in ("edu_level", "months"):
            assert (getattr(found[crossed], name) == getattr(found[pure], name))[alike].all()
    # One of the pure versions is the applicant as he is.
    own = gen.draw(g, JOB, **who)
    labels = {"gender": ("female", "male"), "race": g.domain.races}[attribute]
    for side, values in sets.items():
        mine = np.isin(who[attribute], [labels.index(v) for v in values])
        for name in ("state", "edu_level", "months", "first_name", "surname"):
            assert (getattr(found[side], name) == getattr(own, name))[mine].all()


def test_where_nobody_of_a_set_has_the_rest_of_z_the_job_as_a_whole_gives_its_mix() -> None:
    g = small()
    model = g.jobs[JOB]
    design = model.design.copy()
    design[1, 1:, 0] = 0  # no Black or Asian man of the first age
    g = dataclasses.replace(g, jobs={JOB: dataclasses.replace(model, design=design)})
    n = 20_000
    u = {"race": (np.arange(n) + 0.5) / n}
    own = {"gender": np.ones(n, int), "race": np.zeros(n, int), "age": np.zeros(n, int)}
    got = counterfactual.valued(g, JOB, "race", ("black", "asian_pacific"), own, u)
    whole = design.sum(axis=(0, 2))[1:]
    assert (got == 1).mean() == pytest.approx(whole[0] / whole.sum(), abs=1e-3)
    assert set(got) == {1, 2}
    nobody = dataclasses.replace(model, design=design * np.array([1, 0, 0])[None, :, None])
    g = dataclasses.replace(g, jobs={JOB: nobody})
    with pytest.raises(ValueError, match="nobody of black, asian_pacific is in nurses"):
        counterfactual.valued(g, JOB, "race", ("black", "asian_pacific"), own, u)
    cfg = inputs.generator(*SMALL)[0]
    with pytest.raises(InputError, match=r"white_vs_rest: nobody of black, .* their mix there"):
        versions.versions(None, g, cfg)  # before any applicant is looked at


def test_roles_decide_what_is_held_and_their_order_is_checked() -> None:
    g = small()
    who = people(g, 2000)
    contrast = {"attribute": "gender", **CONTRASTS["gender"]}
    found = counterfactual.versions(g, JOB, **contrast, **who, redlining=("first_name",))
    crossed = found["b_x0_r_x1"]
    assert (crossed.state == found["x0"].state).all()  # state is a qualification now
    assert (crossed.first_name == found["x1"].first_name).all()
    for redlining, message in (
        (("edu_level", "first_name"), "edu_level is drawn given state"),
        (("state", "exp_year"), "exp_year is drawn given edu_level"),
        (("region",), "region is no drawn variable"),
    ):
        with pytest.raises(ValueError, match=message):
            counterfactual.versions(g, JOB, **contrast, **who, redlining=redlining)
