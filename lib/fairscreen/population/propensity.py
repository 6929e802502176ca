"""Propensities that follow from the generator by Bayes, at the resolution of estimation.

P(x1 | Z), P(x1 | R, Z), P(x1 | B, R, Z) with Z exact (age in years) and the mediators grouped:
name groups, region, education group or level, bins of exp_year. For a set of values x1,
    P(x1 | m, z) = sum_{x in x1} q(x, z) p(m | x, z) / sum_{x in x1 or x0} q(x, z) p(m | x, z),
q the design's density and p(m | x, z) the exact sum of the generator's conditionals over what m
does not say. Source: estimators.md of the design notes (balanced design).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fairscreen.population import experience, grouping
from fairscreen.population.domain import GENDERS, REGIONS
from fairscreen.population.generator import Generator, fold
from fairscreen.settings.estimation import Contrast, Estimation

Array = NDArray[np.float64]
Index = NDArray[np.int64]

#: Mediator columns of `applicants` whose densities are known.
KNOWN = (
    "first_name_gender", "first_name_cohort", "surname_race", "region", "edu_group", "edu_level",
    "exp_year",
)  # fmt: skip


@dataclass(frozen=True)
class Densities:
    """Tables from which p(mediators | gender, race, age) is read; labels give the codes."""

    labels: Mapping[str, tuple[str, ...]]
    cuts: tuple[float, ...]  # bins of exp_year
    group_of_level: Index
    design: Mapping[str, Array]  # job: (G, R, A)
    block: Mapping[str, Array]  # job: (G, R, A, C, E, bins) of region, education, experience
    first: Array  # (G, A, 3, cohorts + 1)
    surname: Array  # (R, surname groups)
    age_min: int


def unknown_reason(estimation: Estimation) -> str | None:
    """Why no propensity is known for these roles, or null."""
    used = [*estimation.roles.redlining, *estimation.roles.business]
    other = [c for c in used if c not in KNOWN]
    if other:
        return f"the generator's density of {', '.join(other)} is not kept at that resolution"
    if "exp_year" in used and "exp_year" not in estimation.roles.bins:
        return "exp_year is not binned (estimation.roles.bins.exp_year)"
    return None


def densities(generator: Generator, estimation: Estimation) -> Densities:
    """Tables for the roles of an audit; `unknown_reason` must be null."""
    domain = generator.domain
    cuts = tuple(sorted(estimation.roles.bins.get("exp_year", ())))
    ages = np.arange(domain.n_ages)
    years = generator.as_of_year - (ages + domain.age_min) - generator.first_names.first_year
    return Densities(
        labels={
            "gender": GENDERS,
            "race": domain.races,
            "first_name_gender": grouping.GENDER_GROUPS,
            "first_name_cohort": generator.first_names.cohort_labels,
            "surname_race": generator.surnames.groups,
            "region": REGIONS,
            "edu_group": domain.groups,
            "edu_level": domain.levels,
        },
        cuts=cuts,
        group_of_level=domain.group_of_level,
        design={job: model.design for job, model in generator.jobs.items()},
        block={job: _block(generator, job, cuts) for job in generator.jobs},
        first=generator.first_names.group_shares()[:, years],
        surname=generator.surnames.group_shares(),
        age_min=domain.age_min,
    )


def _block(generator: Generator, job: str, cuts: tuple[float, ...]) -> Array:
    """P(region, level, exp_year bin | gender, race, age): (G, R, A, C, E, bins)."""
    domain, model = generator.domain, generator.jobs[job]
    band = domain.band_of_age
    region = fold(model.state, 3, domain.region_of_state, len(REGIONS))
    ages = np.asarray(np.arange(domain.n_ages) + domain.age_min, dtype=np.int64)
    age = ages[None, None, :, None, None]
    sigma = np.moveaxis(model.exp_sigma[band], 0, 1)[:, None, :, None, None]
    bins = experience.bin_shares(cuts, model.exp_location, sigma, age)
    education = model.education[:, :, band]
    return np.asarray(region[:, :, band, :, None, None] * education[..., None] * bins)


def mediator_density(
    d: Densities,
    job: str,
    columns: Sequence[str],
    codes: Mapping[str, Index],
    *,
    gender: Index,
    race: Index,
    age: Index,
) -> Array:
    """p(columns = codes | gender, race, age) (n,), exact; codes are indices into `labels`."""
    density = np.ones(len(gender))
    names = [c in columns for c in ("first_name_gender", "first_name_cohort")]
    if any(names):
        table = d.first.sum(axis=tuple(2 + k for k in (0, 1) if not names[k]))
        at = [codes[c] for c in ("first_name_gender", "first_name_cohort") if c in columns]
        density = density * table[(gender, age, *at)]
    if "surname_race" in columns:
        density = density * d.surname[race, codes["surname_race"]]
    table, at, gone = d.block[job], [], []
    for axis, options in ((3, ("region",)), (4, ("edu_level", "edu_group")), (5, ("exp_year",))):
        used = next((c for c in options if c in columns), None)
        if used is None:
            gone.append(axis)
            continue
        if used == "edu_group":
            table = fold(table, 4, d.group_of_level, len(d.labels["edu_group"]))
        at.append(codes[used])
    if at:
        density = density * table.sum(axis=tuple(gone))[(gender, race, age, *at)]
    return density


def known(
    d: Densities,
    job: str,
    contrast: Contrast,
    roles: tuple[Sequence[str], Sequence[str]],
    codes: Mapping[str, Index],
) -> tuple[Array, Array, Array]:
    """P(x1|Z), P(x1|R,Z), P(x1|B,R,Z) of applicants (n,), among x1 and x0; roles = (R, B).

    NaN where the applicant's own value is outside both sets.
    """
    attribute = contrast.attribute
    labels = d.labels[attribute]
    index = [[labels.index(v) for v in values] for values in (contrast.x1, contrast.x0)]
    inside = np.isin(codes[attribute], index[0] + index[1])
    redlining, business = roles
    found = []
    for columns in ((), redlining, (*redlining, *business)):
        sums = [np.zeros(len(inside)), np.zeros(len(inside))]
        for side, values in enumerate(index):
            for value in values:
                z = {k: codes[k] for k in ("gender", "race", "age")}
                z[attribute] = np.full(len(inside), value)
                q = d.design[job][z["gender"], z["race"], z["age"]]
                sums[side] += q * mediator_density(d, job, columns, codes, **z)
        total = sums[0] + sums[1]
        p = np.divide(sums[0], total, out=np.full(len(total), np.nan), where=total > 0)
        found.append(np.where(inside, p, np.nan))
    return found[0], found[1], found[2]
