"""P2: years of work experience, learned from PSID and drawn for everybody.

exp_year ~ TruncNormal(location, sigma, [0, age - 18]), rounded to whole months. f is a boosted-tree
mean of PSID's "years worked since age 18" given gender, race, age, region, education and job, PSID
being reweighted to the survey's covariates (`matching`); sigma is by age band, gender and job,
thin strata shrunk to coarser ones (`sigma`). How the surveys' codes meet: `harmonise`. How well it
fits: `experience_fit`.
Source: PopResume, section 4.1 (P2).

Default: sigma maximises the truncated normal's likelihood of out-of-fold predictions (trees fit
their own training rows too well, and near a bound a plain SD understates sigma); the location is
the one whose truncated mean is f (the mean of TruncNormal(f, sigma) is not f: near 0 it is above,
near age - 18 below). Answers are whole years: one at a bound stands for half a year inside it, and
f is trained on the middle of what an answer stands for. The trees learn the share of the years
since 18, with as many rounds as foretell other families best: the spread of years grows with age,
so the squared error of years is that of the oldest and leaves the young biased.

`preset: published` does what the paper says: trees of years, location f, sigma from residuals of
the training samples by age, gender and job. The paper leaves open the ratio's classifier, the
trees' settings, how age is grouped and how the hierarchy works (here: variances shrunk, 30 people's
worth), what becomes of answers above age - 18 (here: cut to it) and the unit of the draws (here:
months).

Everybody of the ages in question trains the mean, because some of the audit's jobs have few people
in PSID; the job is a feature.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import xgboost as xgb
from numpy.typing import NDArray

from fairscreen import random
from fairscreen.errors import InputError
from fairscreen.population import experience_fit, harmonise, matching, truncated
from fairscreen.population import sigma as spread
from fairscreen.population.domain import GENDERS, REGIONS, Domain
from fairscreen.population.harmonise import Covariates
from fairscreen.settings.population import Experience, Population

Array = NDArray[np.float64]
Index = NDArray[np.int64]
FIRST_WORKING_AGE = 18
_FEWEST = 50  # rows of PSID
_ROUND_STEP = 5  # of the search for the number of rounds


@dataclass(frozen=True)
class ExperienceModel:
    """Tables by job, in the config's order, and what they stand on.

    mean, location (J, G, R, A, C, E) years: f, and where the truncated normal is put.
    sigma (J, K, G) years. facts for the run's log; rows of table experience_fit, less audit_id.
    """

    mean: Array
    location: Array
    sigma: Array
    facts: dict[str, Any]
    rows: tuple[dict[str, Any], ...]


def fit(
    psid: pd.DataFrame, population: Population, domain: Domain, cells: pd.DataFrame
) -> ExperienceModel:
    """Fit P2 on rows of table psid_person.

    Rows used: the configured waves and ages, with gender, years worked, education and a positive
    weight. With `match_survey` they are reweighted to the covariates of `cells`, the surveyed
    population counted by gender, race, age, state and edu_level with `weight` (sum of PWGTP), and
    rows with a value that nobody surveyed has drop out.
    Raises InputError where fewer than 50 rows remain.
    """
    settings = population.experience
    classes = harmonise.job_classes(population)
    usable = _usable(psid, population)
    _require(len(usable), population)
    survey = matching.Sample(
        *harmonise.counted(
            harmonise.of_survey(cells, population, domain),
            cells["weight"].to_numpy(dtype=np.float64),
        )
    )
    everybody = matching.Sample(
        harmonise.of_psid(usable, population, domain, classes),
        usable["weight"].to_numpy(dtype=np.float64),
    )
    axes = matching.Axes(domain, harmonise.band_labels(population))
    fold = _folds(usable["person_1968"].to_numpy(dtype=np.int64), settings.folds)
    matched = (
        matching.match(
            everybody, survey, axes, fold=fold, tolerance=settings.moment_tolerance,
            calibrate=settings.calibrate, largest=settings.largest_ratio,
        )
        if settings.match_survey
        else matching.Matched(np.ones(len(usable)), "none")
    )  # fmt: skip
    inside = matched.ratio > 0
    if int(inside.sum()) < _FEWEST:
        raise InputError(
            "psid_person",
            f"has {int(inside.sum())} of {len(usable)} usable rows with a race, region and "
            f"schooling that somebody surveyed has; the fit needs at least {_FEWEST}",
            "Check population.races and education against both surveys, or set "
            "population.experience.match_survey=false.",
        )
    moments = matching.moments(
        everybody, matched.ratio, survey, axes, settings.moment_tolerance
    )  # fmt: skip
    rows, fold = usable[inside].reset_index(drop=True), fold[inside]
    people = everybody.of.take(inside)
    weight = (everybody.weight * matched.ratio)[inside]
    weight = weight / weight.mean()
    upper = most_years(people.age)
    years = np.clip(rows["years_worked"].to_numpy(dtype=np.float64), 0, upper)
    keep_mean = settings.location == "mean"
    target = np.mean(spread.within_half_a_year(years, upper), axis=0) if keep_mean else years
    person = np.asarray(rows.groupby(["person_1968", "person_number"]).ngroup(), dtype=np.int64)

    X = people.matrix(domain, len(classes.members))
    rounds, out_of_fold = _cross_fit(X, target, weight, upper, fold, settings)
    mean_of = _train(X, target, weight, upper, settings, rounds)
    seen = mean_of.at(X, upper) if settings.residuals == "training" else out_of_fold
    strata = spread.Strata(
        band=domain.band_of_age[people.age - domain.age_min], gender=people.gender,
        informs=classes.informs(people.job), weight=weight, person=person,
        n_bands=domain.n_bands, n_genders=len(GENDERS),
    )  # fmt: skip
    prior = {"prior_n": settings.sigma_prior_n, "floor": settings.min_sigma}
    sigma = (
        spread.by_likelihood(years, upper, seen, strata, keep_mean=keep_mean, **prior)
        if settings.sigma == "likelihood"
        else spread.by_residuals(target - seen, strata, **prior)
    )
    mean = _mean_table(mean_of, population, domain, classes, people.job, weight)
    location = mean
    if keep_mean:
        ages = np.arange(domain.age_min, domain.age_max + 1)
        by_age = np.moveaxis(sigma[:-1, domain.band_of_age], 2, 1)  # (J, G, A)
        location = truncated.location_of(
            mean, by_age[:, :, None, :, None, None], most_years(ages)[:, None, None]
        )
    table = _fit_rows(
        rows, years, upper, out_of_fold, weight, person, strata, sigma, keep_mean, population,
        domain,
    )  # fmt: skip
    table[0]["largest_ratio"] = float(matched.ratio.max())
    size = spread.effective_n(weight, person)
    facts: dict[str, Any] = {
        "psid_people": int(person.max()) + 1,
        "psid_rows": len(rows),  # somebody in two waves counts twice
        "psid_rows_outside_survey": int((~inside).sum()),
        "psid_rows_by_job": {
            job: int(strata.informs[:, j].sum()) for j, job in enumerate(population.jobs)
        },
        "psid_effective_n_by_job": {
            job: spread.effective_n(weight[mine], person[mine])
            for job, mine in zip(population.jobs, strata.informs.T, strict=True)
        },
        "psid_synthetic": bool(rows["synthetic"].any()),
        "psid_matched_to_survey": settings.match_survey,
        "psid_effective_n": size,
        "rounds": rounds,
        "ratio_classifier": matched.classifier,
        "ratio_largest": float(matched.ratio.max()),
        # Only where meeting them was asked for.
        "moments_outside": [
            f"{m.name} ({m.matched:.3g} against {m.survey:.3g})"
            for m in moments
            if settings.match_survey and not m.within
        ],
        "target_sd": float(np.sqrt(np.cov(target, aweights=weight, ddof=0))),
        "sigma_min": float(sigma[:-1].min()),
        "sigma_max": float(sigma[:-1].max()),
        **{
            name: table[0].get(name)
            for name in ("residual_sd", "qq_correlation", "ks_distance", "coverage_95")
        },
    }
    table += experience_fit.moment_rows(moments, len(usable), size)
    numbered = tuple(row | {"place": i} for i, row in enumerate(table))
    return ExperienceModel(mean, location, sigma[:-1], facts, numbered)


def draw_months(
    u: Array, location: Array, sigma: Array, age: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Whole months of experience (n,) at uniforms u, within [0, 12 (age - 18)]."""
    return np.rint(12 * truncated.ppf(u, location, sigma, most_years(age))).astype(np.int64)


def bin_shares(
    cuts: tuple[float, ...], location: Array, sigma: Array, age: NDArray[np.int64]
) -> Array:
    """P(exp_year in bin | location, sigma, age), exact for what `draw_months` gives: (..., bins).

    `value < cut` goes below. A value of m months stands for [m - 1/2, m + 1/2) months.
    """
    upper = most_years(age)
    edges = [(np.ceil(12 * cut - 1e-9) - 0.5) / 12 for cut in sorted(cuts)]
    below = [truncated.cdf(np.array(e), location, sigma, upper) for e in edges]
    shape = np.broadcast_shapes(np.shape(location), np.shape(sigma), np.shape(upper))
    ladder = np.stack([np.zeros(shape), *below, np.ones(shape)], axis=-1)
    return np.asarray(np.clip(np.diff(ladder, axis=-1), 0, 1))


def most_years(age: Index) -> Array:
    """age - 18, at least 0."""
    return np.asarray(np.maximum(age - FIRST_WORKING_AGE, 0), dtype=np.float64)


def _usable(psid: pd.DataFrame, population: Population) -> pd.DataFrame:
    needed = ["gender", "age", "education_years", "years_worked", "weight"]
    rows = psid[psid["wave"].isin(population.experience.waves)].dropna(subset=needed)
    rows = rows[rows["age"].between(population.age_min, population.age_max) & (rows["weight"] > 0)]
    keys = ["wave", "person_1968", "person_number"]
    return rows.sort_values(keys, kind="stable").reset_index(drop=True)


def _require(n: int, population: Population) -> None:
    if n < _FEWEST:
        settings = population.experience
        raise InputError(
            "psid_person",
            f"has {n} usable rows of waves {', '.join(map(str, settings.waves))} aged "
            f"{population.age_min} to {population.age_max}; the fit needs at least {_FEWEST}",
            "Ingest a PSID extract with these waves, or change population.experience.waves.",
        )


def _folds(family: Index, folds: int) -> Index:
    """(n,) fold of each row by its 1968 family: relatives and both waves stay together.

    By the rank of a hash, so that folds are of equal size however few families there are.
    """
    known, at = np.unique(family, return_inverse=True)
    rank = np.argsort(np.argsort(random.hashes(0, "experience/fold", known), kind="stable"))
    return np.asarray((rank % folds)[at], dtype=np.int64)


@dataclass(frozen=True)
class _Mean:
    """f by boosted trees: of years, or of their share in the years since 18."""

    booster: xgb.Booster
    of_share: bool

    def at(self, X: Array, upper: Array, rounds: int = 0) -> Array:
        """Mean years (n,) after some rounds (0: all).

        Trees may leave [0, upper] by a little, years worked cannot.
        """
        found = self.booster.predict(xgb.DMatrix(X, nthread=1), iteration_range=(0, rounds))
        years = np.asarray(found, dtype=np.float64) * (upper if self.of_share else 1.0)
        return np.clip(years, 0, upper)


def _cross_fit(
    X: Array, y: Array, weight: Array, upper: Array, fold: Index, settings: Experience
) -> tuple[int, Array]:
    """Rounds of boosting, and out-of-fold means (n,) after as many.

    With `choose_rounds` the number, at most `rounds`, that foretells other families best, by the
    loss that is trained: few people carry few splits.
    """
    fewer = range(_ROUND_STEP, settings.rounds, _ROUND_STEP) if settings.choose_rounds else ()
    steps = [*fewer, settings.rounds]
    found = np.empty((len(steps), len(y)))
    for k in np.unique(fold):
        out = fold == k
        mean = _train(X[~out], y[~out], weight[~out], upper[~out], settings, settings.rounds)
        for i, rounds in enumerate(steps):
            found[i, out] = mean.at(X[out], upper[out], rounds)
    scale = np.maximum(upper, 1) if settings.target == "share" else 1.0
    loss = np.average(((found - y) / scale) ** 2, axis=1, weights=weight)
    best = int(np.argmin(loss))
    return steps[best], found[best]


def _train(
    X: Array, y: Array, weight: Array, upper: Array, settings: Experience, rounds: int
) -> _Mean:
    # One thread and sorted rows: the sum of gradients, and so the trees, depend on the order.
    params = {
        "objective": "reg:squarederror", "max_depth": settings.max_depth,
        "eta": settings.learning_rate, "tree_method": "hist", "nthread": 1, "seed": 0,
    }  # fmt: skip
    of_share = settings.target == "share"
    if of_share:
        X, y, weight = X[upper > 0], (y / np.maximum(upper, 1))[upper > 0], weight[upper > 0]
    return _Mean(xgb.train(params, xgb.DMatrix(X, y, weight=weight, nthread=1), rounds), of_share)


def _mean_table(
    mean_of: _Mean, population: Population, domain: Domain, classes: harmonise.JobClasses,
    job_class: Index, weight: Array,
) -> Array:  # fmt: skip
    """f (J, G, R, A, C, E): a job's mean over its classes of PSID codes, by their weight.

    A job that nobody in PSID has is predicted as somebody of no class.
    """
    years = harmonise.level_years(population)
    n = len(classes.members)
    shape = (n + 1, *domain.shape_z, len(REGIONS), len(domain.levels))
    kind, gender, race, age, region, level = (a.ravel() for a in np.indices(shape))
    everyone = Covariates(
        gender, race, age + domain.age_min, region, years[level],
        np.zeros_like(level), np.where(kind < n, kind, -1),
    )  # fmt: skip
    by_class = mean_of.at(
        everyone.matrix(domain, n), most_years(everyone.age)
    ).reshape(shape)  # fmt: skip
    known = job_class >= 0
    held = np.bincount(job_class[known], weights=weight[known], minlength=n)
    share = np.zeros((len(population.jobs), n + 1))
    share[:, :n] = np.where(classes.members, held[:, None], 0.0).T
    share[:, n] = share.sum(axis=1) == 0
    share /= share.sum(axis=1, keepdims=True)
    return np.asarray(np.tensordot(share, by_class, axes=1))


def _fit_rows(
    rows: pd.DataFrame, years: Array, upper: Array, mean: Array, weight: Array, person: Index,
    strata: spread.Strata, sigma: Array, keep_mean: bool, population: Population, domain: Domain,
) -> list[dict[str, Any]]:  # fmt: skip
    """Rows of kinds overall, stratum and quantile; the first is everybody.

    Whoever informs a job is judged by that job's sigma (by their mean, where several), others by
    that of other jobs.
    """
    own = np.column_stack([strata.informs, ~strata.informs.any(axis=1)])
    per_job = sigma[:, strata.band, strata.gender].T  # (n, J + 1)
    s = (per_job * own).sum(axis=1) / own.sum(axis=1)
    some = upper > 0
    parts = (rows[c][some] for c in ("wave", "person_1968", "person_number"))
    keys = [f"{wave}/{family}/{number}" for wave, family, number in zip(*parts, strict=True)]
    location = truncated.location_of(mean, s, upper) if keep_mean else mean
    p = experience_fit.Predicted(
        years[some], upper[some], mean[some], location[some], s[some], weight[some],
        person[some], keys,
    )  # fmt: skip
    q = experience_fit.quantiles(p)
    band, gender, informs = strata.band[some], strata.gender[some], strata.informs[some]
    labels = matching.Axes(domain, ()).band_labels()
    masks: list[tuple[str, str, NDArray[np.bool_]]] = [
        ("overall", "everybody", np.ones(len(band), dtype=bool)),
        ("overall", "audit jobs", np.asarray(informs.any(axis=1))),
    ]
    masks += [("stratum", f"age {labels[k]}", band == k) for k in range(len(labels))]
    masks += [("stratum", g, gender == i) for i, g in enumerate(GENDERS)]
    masks += [("stratum", job, informs[:, j]) for j, job in enumerate(population.jobs)]
    masks += [
        ("stratum", f"{job}, {g}, age {labels[k]}", informs[:, j] & (gender == i) & (band == k))
        for j, job in enumerate(population.jobs)
        for i, g in enumerate(GENDERS)
        for k in range(len(labels))
    ]
    found = [experience_fit.stratum_row(kind, name, p, q, mask) for kind, name, mask in masks]
    # The finest strata report the sigma that is drawn with, also where PSID has nobody.
    at = len(masks) - (sigma.shape[0] - 1) * sigma.shape[1] * sigma.shape[2]
    for row, value in zip(found[at:], np.moveaxis(sigma[:-1], 2, 1).ravel(), strict=True):
        row["sigma"] = float(value)
    return [*found, *experience_fit.quantile_rows(p, q)]
