"""The sequential generator: every conditional distribution is an array, so densities are known.

Order of drawing, per job:
    Z and X   gender, race, age: the design (balanced attributes evenly, the rest of the three
              from the job's PWGTP-weighted population, independently of the balanced ones)
    state     | gender, race, age band
    education | gender, race, age band, region
    exp_year  | gender, race, age, region, education (PSID; truncated normal)
    first name | gender, birth year        surname | race
State and education are shrunk to coarser strata: p = (n share + prior_n p') / (n + prior_n), n
surveyed people, share PWGTP-weighted, p' of the next coarser stratum. What shrinking does to the
margins stands in table population_fit (margins.py).

`draw` takes one uniform per variable, so that the same applicant can be drawn again as somebody
of another gender or race (estimators.md, counterfactual rescoring).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from fairscreen import random
from fairscreen.config import Config
from fairscreen.config_checks import DRAWN
from fairscreen.population import experience
from fairscreen.population.domain import GENDERS, REGIONS, Domain
from fairscreen.population.naming import FirstNameTable, SurnameTable

Array = NDArray[np.float64]
Index = NDArray[np.int64]

#: Variables drawn after gender, race and age, in order.
VARIABLES = DRAWN


@dataclass(frozen=True)
class JobModel:
    """One job's tables."""

    population: Array  # (G, R, A) share of the job's people, by PWGTP
    design: Array  # (G, R, A) share of applicants
    state: Array  # (G, R, K, S)
    education: Array  # (G, R, K, C, E)
    exp_location: Array  # (G, R, A, C, E) years
    exp_sigma: Array  # (K, G) years


@dataclass(frozen=True)
class Generator:
    """All jobs' tables and the name tables; what `draw` and the densities need, nothing more."""

    seed: int
    as_of_year: int
    balance: tuple[str, ...]
    domain: Domain
    jobs: Mapping[str, JobModel]
    first_names: FirstNameTable
    surnames: SurnameTable


@dataclass(frozen=True)
class Drawn:
    """Indices (n,) of the drawn values along the axes of Domain and of the name tables."""

    state: Index
    edu_level: Index
    months: Index
    first_name: Index
    surname: Index


def fit(
    cells: pd.DataFrame,
    cfg: Config,
    domain: Domain,
    exp: experience.ExperienceModel,
    first_names: FirstNameTable,
    surnames: SurnameTable,
) -> Generator:
    """The generator of one audit.

    cells: one row per job, gender, race, age, state, edu_level of the surveyed population, with
    people (unweighted count) and weight (sum of PWGTP).
    """
    settings = cfg.population
    models = {}
    for j, job in enumerate(settings.jobs):
        mine = cells[cells["job"] == job]
        n, w = counts(mine, domain)
        population = w.sum(axis=(3, 4))
        population = population / population.sum()
        models[job] = JobModel(
            population=population,
            design=design_density(population, settings.balance),
            state=_state_table(n, w, domain, settings.prior_n),
            education=_education_table(n, w, domain, settings.prior_n),
            exp_location=exp.location[j],
            exp_sigma=exp.sigma[j],
        )
    return Generator(
        seed=cfg.seed,
        as_of_year=int(cfg.documents.as_of[:4]),
        balance=settings.balance,
        domain=domain,
        jobs=models,
        first_names=first_names,
        surnames=surnames,
    )


def counts(cells: pd.DataFrame, domain: Domain) -> tuple[Array, Array]:
    """People and PWGTP of one job as dense tables (G, R, A, S, E)."""
    shape = (*domain.shape_z, len(domain.states), len(domain.levels))
    at = (
        codes_of(cells["gender"], GENDERS),
        codes_of(cells["race"], domain.races),
        cells["age"].to_numpy(dtype=np.int64) - domain.age_min,
        codes_of(cells["state"], domain.states),
        codes_of(cells["edu_level"], domain.levels),
    )
    n, w = np.zeros(shape), np.zeros(shape)
    np.add.at(n, at, cells["people"].to_numpy(dtype=np.float64))
    np.add.at(w, at, cells["weight"].to_numpy(dtype=np.float64))
    return n, w


def shrink(n: Array, w: Array, coarser: Array, prior_n: float) -> Array:
    """Shares along the last axis: (n share + prior_n coarser) / (n + prior_n), n people per row.

    n (...) people, w (..., V) weights, coarser (..., V) shares; all broadcast.
    """
    total = w.sum(axis=-1, keepdims=True)
    share = np.divide(w, total, out=np.zeros_like(w), where=total > 0)
    people = np.where(total[..., 0] > 0, n, 0)[..., None]
    return np.asarray((people * share + prior_n * coarser) / (people + prior_n))


def design_density(population: Array, balance: Sequence[str]) -> Array:
    """(G, R, A) density of the design: balanced attributes even over the values that occur.

    The attributes left come from the population, independently of the balanced ones, so
    P(x | Z) is known exactly: 1/2 for a balanced gender.
    """
    axes = [axis for axis, name in ((0, "gender"), (1, "race")) if name in balance]
    rest = population.sum(axis=tuple(axes), keepdims=True)
    design = np.broadcast_to(rest, population.shape).copy()
    for axis in axes:
        other = tuple(a for a in range(3) if a != axis)
        occurs = population.sum(axis=other, keepdims=True) > 0
        design = design * occurs / occurs.sum()
    return design


def weights(model: JobModel) -> tuple[Array, Array, Array]:
    """design_weight, z_weight_gender, z_weight_race per cell (G, R, A); 0 where nobody is drawn.

    Each is a population density over the design's: of (gender, race, age), of (race, age) and of
    (gender, age).
    """

    def ratio(axis: int | None) -> Array:
        p, q = model.population, model.design
        if axis is not None:
            p, q = p.sum(axis=axis, keepdims=True), q.sum(axis=axis, keepdims=True)
        out = np.divide(p, q, out=np.zeros_like(p), where=q > 0)
        return np.broadcast_to(out, model.design.shape)

    return ratio(None), ratio(0), ratio(1)


def uniforms(seed: int, ids: Sequence[str], *, skip: Sequence[str] = ()) -> dict[str, Array]:
    """One uniform (n,) per variable, hashed from (seed, variable, applicant_id)."""
    return {v: random.uniforms(seed, f"applicant/{v}", ids) for v in VARIABLES if v not in skip}


def draw_z(generator: Generator, job: str, i: Index, u: Array) -> tuple[Index, Index, Index]:
    """gender, race, age index (n,) of applicants number i (n,): balanced ones by i, rest by u.

    Going by i makes the balance exact: 400 applicants are 200 women and 200 men.
    """
    p = generator.jobs[job].population
    gender = race = np.full(len(i), -1, dtype=np.int64)
    turn = i
    axes: list[int] = []
    if "gender" in generator.balance:
        values = np.flatnonzero(p.sum(axis=(1, 2)) > 0)
        gender, turn = values[turn % len(values)], turn // len(values)
        axes.append(0)
    if "race" in generator.balance:
        values = np.flatnonzero(p.sum(axis=(0, 2)) > 0)
        race = values[turn % len(values)]
        axes.append(1)
    rest = p.sum(axis=tuple(axes), keepdims=True)
    cumulative = np.cumsum(rest.ravel())
    cell = np.searchsorted(cumulative, u * cumulative[-1], side="right")
    g, r, age = np.unravel_index(np.minimum(cell, len(cumulative) - 1), rest.shape)
    gender = gender if 0 in axes else g.astype(np.int64)
    race = race if 1 in axes else r.astype(np.int64)
    return gender, race, age.astype(np.int64)


def draw(
    generator: Generator,
    job: str,
    *,
    gender: Index,
    race: Index,
    age: Index,
    u: Mapping[str, Array],
    given: Mapping[str, Index] | None = None,
) -> Drawn:
    """State, education, months of experience and names (n,) of people of these attributes.

    age is an index (years above the domain's first). u: one uniform (n,) per variable not in
    `given`. `given` fixes variables, by the fields of Drawn: to get the business mediators of
    x' after the redlining mediators of x, pass state, first_name and surname drawn under x.
    """
    model, domain, fixed = generator.jobs[job], generator.domain, dict(given or {})
    band = domain.band_of_age[age]
    if (state := fixed.get("state")) is None:
        state = _choose(model.state[gender, race, band], u["state"])
    region = domain.region_of_state[state]
    if (level := fixed.get("edu_level")) is None:
        level = _choose(model.education[gender, race, band, region], u["edu_level"])
    if (months := fixed.get("months")) is None:
        location = model.exp_location[gender, race, age, region, level]
        sigma = model.exp_sigma[band, gender]
        months = experience.draw_months(u["exp_year"], location, sigma, age + domain.age_min)
    if (first := fixed.get("first_name")) is None:
        year = generator.as_of_year - (age + domain.age_min)
        first = generator.first_names.draw(gender, year, u["first_name"]).astype(np.int64)
    if (surname := fixed.get("surname")) is None:
        surname = generator.surnames.draw(race, u["surname"])
    return Drawn(state, level, months, first, surname)


def _choose(shares: Array, u: Array) -> Index:
    """Index (n,) by inverse distribution function in rows of shares (n, V)."""
    cumulative = np.cumsum(shares, axis=1)
    below = cumulative <= (u * cumulative[:, -1])[:, None]
    return np.asarray(np.minimum(below.sum(axis=1), shares.shape[1] - 1), dtype=np.int64)


def _state_table(n: Array, w: Array, domain: Domain, prior_n: float) -> Array:
    """job -> race -> race, gender -> race, gender, age band: (G, R, K, S)."""
    n_s = _by_band(n.sum(axis=4), domain)  # (G, R, K, S)
    w_s = _by_band(w.sum(axis=4), domain)
    root = w_s.sum(axis=(0, 1, 2))
    shares: Array = (root / root.sum())[None, None, None, :]
    for axes in ((0, 2), (2,), ()):
        people = n_s.sum(axis=axes, keepdims=True).sum(axis=-1)
        shares = shrink(people, w_s.sum(axis=axes, keepdims=True), shares, prior_n)
    return shares


def _education_table(n: Array, w: Array, domain: Domain, prior_n: float) -> Array:
    """job -> age band -> + gender -> + race -> + region: (G, R, K, C, E)."""
    n_e = _by_region(_by_band(n, domain), domain)
    w_e = _by_region(_by_band(w, domain), domain)
    root = w_e.sum(axis=(0, 1, 2, 3))
    shares: Array = (root / root.sum())[None, None, None, None, :]
    for axes in ((0, 1, 3), (1, 3), (3,), ()):
        people = n_e.sum(axis=axes, keepdims=True).sum(axis=-1)
        shares = shrink(people, w_e.sum(axis=axes, keepdims=True), shares, prior_n)
    return shares


def fold(table: Array, axis: int, onto: Index, size: int) -> Array:
    """Sum an axis onto coarser values: entry i goes to onto[i], of `size`."""
    shape = list(table.shape)
    shape[axis] = size
    out = np.zeros(shape)
    np.add.at(np.moveaxis(out, axis, 0), onto, np.moveaxis(table, axis, 0))
    return out


def _by_band(table: Array, domain: Domain) -> Array:
    """Axis 2 from ages to age bands."""
    return fold(table, 2, domain.band_of_age, domain.n_bands)


def _by_region(table: Array, domain: Domain) -> Array:
    """Axis 3 from states to regions."""
    return fold(table, 3, domain.region_of_state, len(REGIONS))


def codes_of(values: pd.Series[str], labels: Sequence[str]) -> Index:
    """Index (n,) of each value among the labels."""
    return np.asarray(values.map({label: i for i, label in enumerate(labels)}), dtype=np.int64)
