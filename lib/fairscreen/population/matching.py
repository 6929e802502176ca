"""Density-ratio matching: weights that give PSID the survey's covariates.

A classifier learns survey against PSID; its odds are the ratio of their densities. Three guards
keep it from chasing noise. It is cross-fitted: a person's odds come from people of other families.
Its log odds are calibrated by a logistic line, which is flat where they foretell nothing. And of
two classifiers (logistic regression with interactions, boosted trees) the one is taken whose
weights bring the moments closer. Then, unless that is switched off, the weights are tilted until
the moments meet (entropy balancing), and a table says which do.

The job stays out of the ratio. All of PSID's workers train the mean, since few have one of the
audit's jobs; matching on the job would leave no more than those few. What differs between jobs
beyond the other covariates is left to the model, which has the job as a feature.
Sources: PopResume, section 4.1 (density-ratio matching of PSID to ACS); Sugiyama, Suzuki &
Kanamori (2012), chapter 4 (probabilistic classification); Hainmueller (2012), entropy balancing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import xgboost as xgb
from numpy.typing import NDArray
from scipy import optimize

from fairscreen.population.domain import GENDERS, REGIONS, Domain
from fairscreen.population.harmonise import Covariates
from fairscreen.population.sigma import effective_n
from fairscreen.settings.population import MomentTolerance

Array = NDArray[np.float64]
Index = NDArray[np.int64]
Mask = NDArray[np.bool_]

_PARAMS = {
    "objective": "binary:logistic", "max_depth": 2, "eta": 0.1, "min_child_weight": 5.0,
    "tree_method": "hist", "nthread": 1, "seed": 0, "base_score": 0.5,
}  # fmt: skip
_ROUNDS = 60
_RIDGE = 1.0  # of the logistic regression: prior SD 1 of each standardised coefficient
_SLACK = 1e-5  # ridge of the tilt, so that moments out of reach leave it finite


@dataclass(frozen=True)
class Sample:
    """Covariates (n,) with survey weights (n,)."""

    of: Covariates
    weight: Array


@dataclass(frozen=True)
class Matched:
    """ratio (n,): survey density over PSID density, weighted mean 1; 0 where nobody is surveyed.

    classifier: logistic or trees.
    """

    ratio: Array
    classifier: str


@dataclass(frozen=True)
class Moment:
    """One moment of PSID under its own weights, after weighting, and of the survey."""

    name: str
    unit: str  # share or years
    psid: float
    matched: float
    survey: float
    tolerance: float

    @property
    def within(self) -> bool:
        return abs(self.matched - self.survey) <= self.tolerance


@dataclass(frozen=True)
class Axes:
    """The categories whose shares are moments: label and number of values, by covariate."""

    domain: Domain
    schooling: tuple[str, ...]

    def band_labels(self) -> tuple[str, ...]:
        """Names of the age bands, for instance 18-24."""
        d = self.domain
        lower = [d.age_min + int(np.argmax(d.band_of_age == k)) for k in range(d.n_bands)]
        ends = [*(low - 1 for low in lower[1:]), d.age_max]
        return tuple(f"{a}-{b}" for a, b in zip(lower, ends, strict=True))

    def categories(self, c: Covariates) -> list[tuple[str, tuple[str, ...], Index]]:
        """(covariate, labels, codes (n,)); a code of -1 has none of the labels."""
        return [
            ("gender", GENDERS, c.gender),
            ("race", self.domain.races, c.race),
            ("region", REGIONS, c.region),
            ("schooling", self.schooling, c.schooling_band),
            ("age", self.band_labels(), self.domain.band_of_age[c.age - self.domain.age_min]),
        ]


def match(
    psid: Sample, survey: Sample, axes: Axes, *, fold: Index, tolerance: MomentTolerance,
    calibrate: bool, largest: float,
) -> Matched:  # fmt: skip
    """The density ratio at each PSID row.

    fold (n,): rows of one family share one. calibrate: tilt the weights until moments meet.
    largest: no ratio is above this, so that nobody carries the fit alone.
    Rows must come sorted by key: the trees depend on their order.
    """
    inside = supported(psid.of, survey, axes)
    ours, fold = Sample(psid.of.take(inside), psid.weight[inside]), fold[inside]
    if not inside.any():
        return Matched(np.zeros(len(psid.weight)), "none")
    found: dict[str, tuple[float, Array]] = {}
    for name, features, learn in (
        ("logistic", _main_effects, _logistic), ("trees", _plain, _trees),
    ):  # fmt: skip
        margin = _odds(features(ours.of, axes), features(survey.of, axes), ours.weight,
                       survey.weight, fold, learn)  # fmt: skip
        ratio = _bounded(np.exp(margin), ours.weight, largest)
        gaps = [
            abs(m.matched - m.survey) / m.tolerance
            for m in moments(ours, ratio, survey, axes, tolerance)
        ]
        found[name] = float(max(gaps)), ratio
    classifier = min(found, key=lambda name: found[name][0])
    ratio = found[classifier][1]
    if calibrate:
        z, t = _constraints(ours.of, axes), _constraints(survey.of, axes)
        target = np.average(t, axis=0, weights=survey.weight)
        for _ in range(5):  # bounding moves the moments a little, so tilt and bound in turn
            ratio = _bounded(ratio * _tilt(z, ours.weight * ratio, target), ours.weight, largest)
    out = np.zeros(len(psid.weight))
    # Six digits: sums of floats differ in the last ones between machines, trees pass that on.
    out[inside] = np.round(ratio, 6)
    return Matched(out, classifier)


def supported(psid: Covariates, survey: Sample, axes: Axes) -> Mask:
    """(n,) whether somebody surveyed has the row's value, for each covariate alone."""
    inside = np.ones(len(psid.age), dtype=bool)
    theirs = axes.categories(survey.of)
    for (_, labels, ours), (_, _, codes) in zip(axes.categories(psid), theirs, strict=True):
        there = np.isin(np.arange(len(labels)), codes[survey.weight > 0])
        inside &= (ours >= 0) & there[np.maximum(ours, 0)]
    return inside


def moments(
    psid: Sample, ratio: Array, survey: Sample, axes: Axes, tolerance: MomentTolerance
) -> list[Moment]:
    """Every share of a covariate's value, and mean and SD of age; ratio (n,) of PSID's rows."""
    found = []
    theirs = axes.categories(survey.of)
    for (name, labels, codes), (_, _, target) in zip(axes.categories(psid.of), theirs, strict=True):
        for i, label in enumerate(labels):
            found.append(
                Moment(
                    f"{name} {label}", "share",
                    _mean(codes == i, psid.weight),
                    _mean(codes == i, psid.weight * ratio),
                    _mean(target == i, survey.weight),
                    tolerance.share,
                )
            )  # fmt: skip
    for name, of in (("age mean", _mean), ("age SD", _sd)):
        found.append(
            Moment(
                name, "years", of(psid.of.age, psid.weight),
                of(psid.of.age, psid.weight * ratio), of(survey.of.age, survey.weight),
                tolerance.years,
            )
        )  # fmt: skip
    return found


def _mean(values: NDArray[np.generic], weight: Array) -> float:
    return float(np.average(values.astype(np.float64), weights=weight))


def _sd(values: NDArray[np.generic], weight: Array) -> float:
    center = values.astype(np.float64) - _mean(values, weight)
    return float(np.sqrt(np.average(center**2, weights=weight)))


def _indicators(c: Covariates, axes: Axes) -> list[Array]:
    """(n, values) per covariate."""
    return [
        (codes[:, None] == np.arange(len(labels))).astype(np.float64)
        for _, labels, codes in axes.categories(c)
    ]


def _constraints(c: Covariates, axes: Axes) -> Array:
    """What the tilt makes meet: all shares, age and its square (in units near 1)."""
    age = (c.age[:, None] - axes.domain.age_min) / max(axes.domain.n_ages, 1)
    return np.hstack([*_indicators(c, axes), age, age**2])


def _main_effects(c: Covariates, axes: Axes) -> Array:
    """Main effects; gender by schooling and by age, race by schooling."""
    gender, race, region, schooling, band = _indicators(c, axes)
    age = (c.age[:, None] - axes.domain.age_min) / max(axes.domain.n_ages, 1)
    male = gender[:, 1:]
    by_race = [race[:, [i]] * schooling for i in range(race.shape[1])]
    main = [male, race, region, schooling, band, age, age**2]
    return np.hstack([*main, male * schooling, male * age, *by_race])


def _plain(c: Covariates, axes: Axes) -> Array:
    gender, race, region, schooling, _ = _indicators(c, axes)
    return np.hstack([gender[:, 1:], race, region, schooling, c.age[:, None]])


Learner = Callable[[Array, Array, Array], Callable[[Array], Array]]


def _odds(
    source: Array, target: Array, source_weight: Array, target_weight: Array, fold: Index,
    learn: Learner,
) -> Array:  # fmt: skip
    """Calibrated log odds of target against source (n,), each row's from the other folds."""
    # Equal totals, so that odds of 1 mean equal densities; in effective people of the source, so
    # that regularisation weighs against what there is to learn from.
    size = effective_n(source_weight)
    w = source_weight * size / source_weight.sum()
    v = target_weight * size / target_weight.sum()
    ours, theirs, folds = np.zeros(len(w)), np.zeros(len(v)), np.unique(fold)
    for k in folds:
        out = (fold == k) if len(folds) > 1 else np.zeros(len(w), dtype=bool)
        rest = w[~out] * size / w[~out].sum()
        X = np.vstack([source[~out], target])
        label = np.repeat([0.0, 1.0], [len(rest), len(v)])
        margin = learn(X, label, np.concatenate([rest, v]))
        ours[fold == k] = margin(source[fold == k])
        theirs += margin(target) / len(folds)
    line = _newton(
        np.column_stack([np.ones(len(w) + len(v)), np.concatenate([ours, theirs])]),
        np.repeat([0.0, 1.0], [len(w), len(v)]), np.concatenate([w, v]), np.array([0.0, 1e-6]),
    )  # fmt: skip
    return np.asarray(line[0] + line[1] * ours)


def _logistic(X: Array, label: Array, weight: Array) -> Callable[[Array], Array]:
    center = np.average(X, axis=0, weights=weight)
    scale = np.sqrt(np.average((X - center) ** 2, axis=0, weights=weight))
    scale = np.where(scale > 1e-9, scale, 1.0)

    def design(values: Array) -> Array:
        return np.column_stack([np.ones(len(values)), (values - center) / scale])

    ridge = np.full(X.shape[1] + 1, _RIDGE)
    ridge[0] = 0.0
    coefficient = _newton(design(X), label, weight, ridge)
    return lambda values: np.asarray(design(values) @ coefficient)


def _newton(X: Array, label: Array, weight: Array, ridge: Array) -> Array:
    """Ridge logistic regression: coefficients (k,) of X (n, k)."""

    def loss(b: Array) -> tuple[float, Array]:
        margin = X @ b
        p = 1 / (1 + np.exp(-margin))
        value = float((weight * (np.logaddexp(0, margin) - label * margin)).sum())
        return value + float(ridge @ b**2) / 2, X.T @ (weight * (p - label)) + ridge * b

    def curvature(b: Array) -> Array:
        p = 1 / (1 + np.exp(-X @ b))
        return np.asarray((X * (weight * p * (1 - p))[:, None]).T @ X + np.diag(ridge))

    found = optimize.minimize(
        loss, np.zeros(X.shape[1]), jac=True, hess=curvature, method="trust-exact",
        options={"gtol": 1e-7},
    )  # fmt: skip
    return np.asarray(found.x)


def _trees(X: Array, label: Array, weight: Array) -> Callable[[Array], Array]:
    booster = xgb.train(_PARAMS, xgb.DMatrix(X, label, weight=weight, nthread=1), _ROUNDS)

    def margin(values: Array) -> Array:
        found = booster.predict(xgb.DMatrix(values, nthread=1), output_margin=True)
        return np.asarray(found, dtype=np.float64)

    return margin


def _tilt(z: Array, weight: Array, target: Array) -> Array:
    """exp(z b) (n,) that brings the weighted means of z (n, k) to `target` (k,), or near it."""
    share = weight / weight.sum()
    gap = z - target

    def loss(b: Array) -> tuple[float, Array]:
        u = gap @ b
        top = u.max()
        e = share * np.exp(u - top)
        return top + float(np.log(e.sum())) + _SLACK * float(b @ b) / 2, (
            gap.T @ (e / e.sum()) + _SLACK * b
        )

    def curvature(b: Array) -> Array:
        u = gap @ b
        e = share * np.exp(u - u.max())
        p = e / e.sum()
        mean = gap.T @ p
        return np.asarray(
            (gap * p[:, None]).T @ gap - np.outer(mean, mean) + _SLACK * np.eye(len(b))
        )

    found = optimize.minimize(
        loss, np.zeros(z.shape[1]), jac=True, hess=curvature, method="trust-exact",
        options={"gtol": 1e-7},
    )  # fmt: skip
    u = gap @ found.x
    return np.asarray(np.exp(u - u.max()))


def _bounded(ratio: Array, weight: Array, largest: float) -> Array:
    """Weighted mean 1, none above `largest`: what is cut off is spread over the others."""
    for _ in range(50):
        ratio = np.minimum(ratio / np.average(ratio, weights=weight), largest)
        if abs(np.average(ratio, weights=weight) - 1) < 1e-9:
            break
    return np.asarray(ratio)
