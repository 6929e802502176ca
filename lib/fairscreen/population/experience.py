"""P2: years of work experience, learned from PSID and drawn for everybody.

exp_year ~ TruncNormal(f, sigma, [0, age - 18]), rounded to whole months. f is a boosted-tree mean
of PSID's "years worked since age 18" given gender, race, age, region, education and job; sigma
comes from its residuals by age band, gender and job, shrunk to coarser strata.
Source: PopResume, section 4.1 (P2).

Three things PSID imposes. Region stands for state: PSID has too few people per state. Education
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

from fairscreen.config import Experience, Population
from fairscreen.errors import InputError
from fairscreen.population import truncated
from fairscreen.population.domain import GENDERS, REGIONS, Domain
from fairscreen.population.geography import STATES

Array = NDArray[np.float64]
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


@dataclass(frozen=True)
class ExperienceModel:
    """mean (J, G, R, A, C, E) years; sigma (J, K, G) years; jobs in the config's order."""

    mean: Array
    sigma: Array
    facts: dict[str, Any]


def fit(psid: pd.DataFrame, population: Population, domain: Domain) -> ExperienceModel:
    """Fit P2 on rows of table psid_person; `facts` says on how many people and how well.

    Rows used: the configured waves and ages, with gender, years worked, education and a positive
    weight. Raises InputError where fewer than 50 remain.
    """
    settings = population.experience
    rows = _usable(psid, population)
    if len(rows) < 50:
        raise InputError(
            "psid_person",
            f"has {len(rows)} usable people of waves {', '.join(map(str, settings.waves))} aged "
            f"{population.age_min} to {population.age_max}; the fit needs at least 50",
            "Ingest a PSID extract with these waves, or change population.experience.waves.",
        )
    jobs = tuple(population.jobs)
    job = _job_index(rows, population)
    gender = _coded(rows["gender"].map({g: i for i, g in enumerate(GENDERS)}))
    age = _coded(rows["age"])
    race_of = {code: i for i, r in enumerate(domain.races) for code in population.races[r]}
    race = _coded(rows["race_code"].map(_PSID_RACE).map(race_of))
    region = _coded(rows["state"].map(lambda s: _region_index(s)))
    years = rows["education_years"].to_numpy(dtype=np.float64)
    target = np.clip(
        rows["years_worked"].to_numpy(dtype=np.float64), 0, np.maximum(age - FIRST_WORKING_AGE, 0)
    )
    weight = rows["weight"].to_numpy(dtype=np.float64)
    weight = weight / weight.mean()

    booster = _train(
        _features(gender, race, age, region, years, job, domain, len(jobs)),
        target,
        weight,
        settings,
    )
    fitted = _predict(booster, _features(gender, race, age, region, years, job, domain, len(jobs)))
    residual = target - fitted
    band = domain.band_of_age[age - domain.age_min]
    sigma = shrunk_sigma(
        residual, weight, band, gender, job, shape=(len(jobs), domain.n_bands, len(GENDERS)),
        prior_n=settings.sigma_prior_n, floor=settings.min_sigma,
    )  # fmt: skip
    mean = _mean_table(booster, population, domain)
    spread = float(np.sqrt(np.average(residual**2, weights=weight)))
    total = float(np.average((target - np.average(target, weights=weight)) ** 2, weights=weight))
    facts: dict[str, Any] = {
        "psid_people": len(rows),
        "psid_people_by_job": {j: int((job == i).sum()) for i, j in enumerate(jobs)},
        "psid_synthetic": bool(rows["synthetic"].any()),
        "residual_sd": spread,
        "r_squared": 1 - spread**2 / total if total > 0 else None,
        "qq_correlation": float(stats.probplot(residual / spread)[1][2]) if spread > 0 else None,
        "sigma_min": float(sigma.min()),
        "sigma_max": float(sigma.max()),
    }
    return ExperienceModel(mean=mean, sigma=sigma, facts=facts)


def draw_months(u: Array, mean: Array, sigma: Array, age: NDArray[np.int64]) -> NDArray[np.int64]:
    """Whole months of experience (n,) at uniforms u, within [0, 12 (age - 18)]."""
    upper = np.maximum(age - FIRST_WORKING_AGE, 0).astype(np.float64)
    return np.rint(12 * truncated.ppf(u, mean, sigma, upper)).astype(np.int64)


def bin_shares(cuts: tuple[float, ...], mean: Array, sigma: Array, age: NDArray[np.int64]) -> Array:
    """P(exp_year in bin | mean, sigma, age), exact for what `draw_months` gives: (..., bins).

    `value < cut` goes below. A value of m months stands for [m - 1/2, m + 1/2) months.
    """
    upper = np.maximum(age - FIRST_WORKING_AGE, 0).astype(np.float64)
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


def _usable(psid: pd.DataFrame, population: Population) -> pd.DataFrame:
    needed = ["gender", "age", "education_years", "years_worked", "weight"]
    rows = psid[psid["wave"].isin(population.experience.waves)].dropna(subset=needed)
    rows = rows[rows["age"].between(population.age_min, population.age_max) & (rows["weight"] > 0)]
    keys = ["wave", "person_1968", "person_number"]
    return rows.sort_values(keys, kind="stable").reset_index(drop=True)


def _job_index(rows: pd.DataFrame, population: Population) -> NDArray[np.int64]:
    of_code = {c: i for i, job in enumerate(population.jobs.values()) for c in job.psid_occp}
    return _coded(rows["occp_2010"].map(of_code))


def _region_index(state: object) -> int | None:
    found = STATES.get(state) if isinstance(state, str) else None
    return REGIONS.index(found.region) if found else None


def _coded(values: pd.Series[Any]) -> NDArray[np.int64]:
    """Missing becomes -1: no indicator set."""
    return np.asarray(values.astype("float64").fillna(-1), dtype=np.int64)


def _features(
    gender: NDArray[Any],
    race: NDArray[Any],
    age: NDArray[Any],
    region: NDArray[Any],
    years: NDArray[Any],
    job: NDArray[Any],
    domain: Domain,
    n_jobs: int,
) -> Array:
    columns: list[NDArray[Any]] = [gender, age, years]
    for values, size in ((race, len(domain.races)), (region, len(REGIONS)), (job, n_jobs)):
        columns += [values == i for i in range(size)]
    return np.column_stack([c.astype(np.float64) for c in columns])


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
    for codes in population.education.values():
        for code in codes:
            if code not in _SCHL_YEARS:
                raise InputError("population.education", f"{code} is no SCHL code", "Use 01 to 24.")
    years = np.array(
        [np.mean([_SCHL_YEARS[c] for c in codes]) for codes in population.education.values()]
    )
    n_jobs = len(population.jobs)
    shape = (n_jobs, *domain.shape_z, len(REGIONS), len(domain.levels))
    job, gender, race, age, region, level = (a.ravel() for a in np.indices(shape))
    X = _features(gender, race, age + domain.age_min, region, years[level], job, domain, n_jobs)
    return _predict(booster, X).reshape(shape)
