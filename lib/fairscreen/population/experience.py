"""P2: years of work experience, learned from PSID and drawn for everybody.

exp_year ~ TruncNormal(f, sigma, [0, age - 18]), rounded to whole months. f is a boosted-tree mean
of PSID's "years worked since age 18" given gender, race, age, region, education and job; sigma
comes from its residuals by age band, gender and job, shrunk to coarser strata.
Source: PopResume, section 4.1 (P2).

PSID is reweighted to the survey's covariates (`match_survey`, as published). Three things PSID
imposes: region stands for state: PSID has too few people per state. Education
counts years and stops at 17, so degrees above the bachelor's are one value here. And everybody of
the ages in question trains the mean, with the job as a feature, because some of the audit's jobs
have few people in PSID.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import xgboost as xgb
from numpy.typing import NDArray
from scipy import stats

from fairscreen.errors import InputError
from fairscreen.population import matching, truncated
from fairscreen.population.domain import GENDERS, REGIONS, Domain
from fairscreen.population.geography import STATES
from fairscreen.settings.population import HISPANIC, Experience, Population

Array = NDArray[np.float64]
Index = NDArray[np.int64]
FIRST_WORKING_AGE = 18

# PSID's first mention of race as the RAC1P code that the config maps; others fit no code.
_PSID_RACE = {1: "1", 2: "2", 3: "3", 4: "6", 5: "7"}
# Years of schooling of a SCHL code, as PSID counts them (17 = anything beyond the bachelor's).
_SCHL_YEARS = {
    **{f"{code:02d}": 0 for code in range(1, 4)},
    **{f"{code:02d}": code - 3 for code in range(4, 15)},
    "15": 11, "16": 12, "17": 12, "18": 13, "19": 13, "20": 14, "21": 16,
    "22": 17, "23": 17, "24": 17,
}  # fmt: skip
_REGION_OF_STATE = {fips: REGIONS.index(state.region) for fips, state in STATES.items()}


@dataclass(frozen=True)
class ExperienceModel:
    """mean (J, G, R, A, C, E) years; sigma (J, K, G) years; jobs in the config's order."""

    mean: Array
    sigma: Array
    facts: dict[str, Any]


@dataclass(frozen=True)
class Covariates:
    """What P2 regresses on, (n,) each; -1 = not one of the configured values."""

    gender: Index
    race: Index
    age: Index  # years
    region: Index
    schooling: Array  # years, at most 17
    job: Index

    def matrix(self, domain: Domain, n_jobs: int) -> Array:
        """(n, k): gender, age, schooling, and one indicator per race, region and job."""
        columns: list[NDArray[Any]] = [self.gender, self.age, self.schooling]
        for values, size in (
            (self.race, len(domain.races)), (self.region, len(REGIONS)), (self.job, n_jobs),
        ):  # fmt: skip
            columns += [values == i for i in range(size)]
        return np.column_stack([c.astype(np.float64) for c in columns])


def fit(
    psid: pd.DataFrame, population: Population, domain: Domain, cells: pd.DataFrame
) -> ExperienceModel:
    """Fit P2 on rows of table psid_person; `facts` says on how many people and how well.

    Rows used: the configured waves and ages, with gender, years worked, education and a positive
    weight. With `match_survey` they are reweighted to the covariates of `cells`, the surveyed
    population counted by gender, race, age, state and edu_level with `weight` (sum of PWGTP).
    Raises InputError where fewer than 50 rows remain.
    """
    settings = population.experience
    rows = _usable(psid, population)
    if len(rows) < 50:
        raise InputError(
            "psid_person",
            f"has {len(rows)} usable rows of waves {', '.join(map(str, settings.waves))} aged "
            f"{population.age_min} to {population.age_max}; the fit needs at least 50",
            "Ingest a PSID extract with these waves, or change population.experience.waves.",
        )
    n_jobs = len(population.jobs)
    people = _psid_covariates(rows, population, domain)
    age, job = people.age, people.job
    target = np.clip(rows["years_worked"].to_numpy(dtype=np.float64), 0, _most_years(age))
    weight = rows["weight"].to_numpy(dtype=np.float64)
    if settings.match_survey:
        weight = weight * _ratio_to_survey(people, weight, cells, population, domain)
    weight = weight / weight.mean()

    X = people.matrix(domain, n_jobs)
    booster = _train(X, target, weight, settings)
    residual = target - _predict(booster, X)
    band = domain.band_of_age[age - domain.age_min]
    sigma = shrunk_sigma(
        residual, weight, band, people.gender, job, shape=(n_jobs, domain.n_bands, len(GENDERS)),
        prior_n=settings.sigma_prior_n, floor=settings.min_sigma,
    )  # fmt: skip
    known = job >= 0
    scaled = residual[known] / sigma[job[known], band[known], people.gender[known]]
    facts: dict[str, Any] = {
        "psid_people": len(rows[["person_1968", "person_number"]].drop_duplicates()),
        "psid_rows": len(rows),  # somebody in two waves counts twice
        "psid_rows_by_job": {j: int((job == i).sum()) for i, j in enumerate(population.jobs)},
        "psid_synthetic": bool(rows["synthetic"].any()),
        "psid_matched_to_survey": settings.match_survey,
        "psid_effective_n": matching.effective_n(weight),
        "residual_sd": float(np.sqrt(np.average(residual**2, weights=weight))),
        "target_sd": float(np.sqrt(np.cov(target, aweights=weight, ddof=0))),
        # Straightness of the normal Q-Q plot of residual / sigma, people of the audit's jobs.
        "qq_correlation": float(stats.probplot(scaled)[1][2]) if len(scaled) > 2 else None,
        "sigma_min": float(sigma.min()),
        "sigma_max": float(sigma.max()),
    }
    return ExperienceModel(_mean_table(booster, population, domain), sigma, facts)


def draw_months(u: Array, mean: Array, sigma: Array, age: NDArray[np.int64]) -> NDArray[np.int64]:
    """Whole months of experience (n,) at uniforms u, within [0, 12 (age - 18)]."""
    upper = _most_years(age)
    return np.rint(12 * truncated.ppf(u, mean, sigma, upper)).astype(np.int64)


def bin_shares(cuts: tuple[float, ...], mean: Array, sigma: Array, age: NDArray[np.int64]) -> Array:
    """P(exp_year in bin | mean, sigma, age), exact for what `draw_months` gives: (..., bins).

    `value < cut` goes below. A value of m months stands for [m - 1/2, m + 1/2) months.
    """
    upper = _most_years(age)
    edges = [(np.ceil(12 * cut - 1e-9) - 0.5) / 12 for cut in sorted(cuts)]
    below = [truncated.cdf(np.array(e), mean, sigma, upper) for e in edges]
    shape = np.broadcast_shapes(np.shape(mean), np.shape(sigma), np.shape(upper))
    ladder = np.stack([np.zeros(shape), *below, np.ones(shape)], axis=-1)
    return np.asarray(np.clip(np.diff(ladder, axis=-1), 0, 1))


def shrunk_sigma(
    residual: Array,
    weight: Array,
    band: NDArray[np.int64],
    gender: NDArray[np.int64],
    job: NDArray[np.int64],
    *,
    shape: tuple[int, int, int],
    prior_n: float,
    floor: float,
) -> Array:
    """Residual SD (J, K, G), variances shrunk along all -> band -> band x gender -> + job.

    A stratum of n people with variance v becomes (n v + prior_n v') / (n + prior_n), v' being the
    coarser stratum's. job = -1 (another job) informs the coarser strata only.
    """
    n_jobs, n_bands, n_genders = shape
    square = residual**2
    whole = float(np.average(square, weights=weight))

    def shrink(mine: NDArray[np.bool_], coarser: float) -> float:
        n = int(mine.sum())
        if n == 0:
            return coarser
        own = float(np.average(square[mine], weights=weight[mine]))
        return (n * own + prior_n * coarser) / (n + prior_n)

    variance = np.empty(shape)
    for k in range(n_bands):
        by_band = shrink(band == k, whole)
        for g in range(n_genders):
            here = (band == k) & (gender == g)
            by_gender = shrink(here, by_band)
            for j in range(n_jobs):
                variance[j, k, g] = shrink(here & (job == j), by_gender)
    return np.maximum(np.sqrt(variance), floor)


def _most_years(age: Index) -> Array:
    return np.asarray(np.maximum(age - FIRST_WORKING_AGE, 0), dtype=np.float64)


def _usable(psid: pd.DataFrame, population: Population) -> pd.DataFrame:
    needed = ["gender", "age", "education_years", "years_worked", "weight"]
    rows = psid[psid["wave"].isin(population.experience.waves)].dropna(subset=needed)
    rows = rows[rows["age"].between(population.age_min, population.age_max) & (rows["weight"] > 0)]
    keys = ["wave", "person_1968", "person_number"]
    return rows.sort_values(keys, kind="stable").reset_index(drop=True)


def _psid_covariates(rows: pd.DataFrame, population: Population, domain: Domain) -> Covariates:
    index = {r: i for i, r in enumerate(domain.races)}
    race_of = {code: index[r] for r, codes in population.races.items() for code in codes}
    race = rows["race_code"].map(_PSID_RACE).map(race_of)
    if population.hispanic == "own_group":
        race = race.mask(rows["hispanic"].eq(True), index[HISPANIC])
    job_of = {c: i for i, job in enumerate(population.jobs.values()) for c in job.psid_occp or ()}
    return Covariates(
        gender=_coded(rows["gender"].map({g: i for i, g in enumerate(GENDERS)})),
        race=_coded(race),
        age=_coded(rows["age"]),
        region=_coded(rows["state"].map(_REGION_OF_STATE)),
        schooling=np.asarray(rows["education_years"], dtype=np.float64),
        job=_coded(rows["occp_2010"].map(job_of)),
    )


def _ratio_to_survey(
    people: Covariates, weight: Array, cells: pd.DataFrame, population: Population, domain: Domain
) -> Array:
    """Density ratio survey / PSID at PSID's rows. The job stays out: others must keep a say."""
    survey = Covariates(
        gender=_coded(cells["gender"].map({g: i for i, g in enumerate(GENDERS)})),
        race=_coded(cells["race"].map({r: i for i, r in enumerate(domain.races)})),
        age=_coded(cells["age"]),
        region=_coded(cells["state"].map(_REGION_OF_STATE)),
        schooling=np.asarray(cells["edu_level"].map(_schooling(population)), dtype=np.float64),
        job=np.full(len(cells), -1, dtype=np.int64),
    )
    return matching.density_ratio(
        people.matrix(domain, 0),
        survey.matrix(domain, 0),
        source_weight=weight,
        target_weight=cells["weight"].to_numpy(dtype=np.float64),
    )


def _schooling(population: Population) -> dict[str, float]:
    """Years of schooling of each level of education, as PSID counts them."""
    for codes in population.education.values():
        for code in codes:
            if code not in _SCHL_YEARS:
                raise InputError("population.education", f"{code} is no SCHL code", "Use 01 to 24.")
    return {
        level: float(np.mean([_SCHL_YEARS[c] for c in codes]))
        for level, codes in population.education.items()
    }


def _coded(values: pd.Series[Any]) -> Index:
    """Missing becomes -1: no indicator set."""
    return np.asarray(values.astype("float64").fillna(-1), dtype=np.int64)


def _train(X: Array, y: Array, weight: Array, settings: Experience) -> xgb.Booster:
    # One thread and sorted rows: the sum of gradients, and so the trees, depend on the order.
    params = {
        "objective": "reg:squarederror", "max_depth": settings.max_depth,
        "eta": settings.learning_rate, "tree_method": "hist", "nthread": 1, "seed": 0,
    }  # fmt: skip
    return xgb.train(params, xgb.DMatrix(X, y, weight=weight, nthread=1), settings.rounds)


def _predict(booster: xgb.Booster, X: Array) -> Array:
    return np.asarray(booster.predict(xgb.DMatrix(X, nthread=1)), dtype=np.float64)


def _mean_table(booster: xgb.Booster, population: Population, domain: Domain) -> Array:
    schooling = np.asarray(list(_schooling(population).values()), dtype=np.float64)
    n_jobs = len(population.jobs)
    shape = (n_jobs, *domain.shape_z, len(REGIONS), len(domain.levels))
    job, gender, race, age, region, level = (a.ravel() for a in np.indices(shape))
    years = np.asarray(schooling[level], dtype=np.float64)
    everyone = Covariates(gender, race, age + domain.age_min, region, years, job)
    return _predict(booster, everyone.matrix(domain, n_jobs)).reshape(shape)
