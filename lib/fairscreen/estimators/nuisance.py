"""Nuisances of the path-specific effects, cross-fitted: P(X|.) and the sequential regressions.

A learner sees sums over the distinct values ("levels") of its features, never rows: fits cost what
the number of levels costs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import nnls

from fairscreen.estimators.data import Floats, PathData, totals
from fairscreen.estimators.features import Features, Sums

Mask = NDArray[np.bool_]


class Learner(Protocol):
    """Predicts every level (U,) from training sums. `name` tells one nuisance from another."""

    def mean(self, name: str, features: Features, sums: Sums) -> Floats: ...

    def probability(self, name: str, features: Features, sums: Sums) -> Floats: ...


@dataclass(frozen=True)
class Quality:
    """How well one nuisance foretells the cells left out, and of what it is mixed.

    loss: mean squared error per person, for a propensity the Brier score. baseline: that of the
    weighted mean, known beforehand. A nuisance that is a regression of another is measured
    against the other's predictions. weights: of the learners, by name; empty for one learner.
    """

    name: str
    loss: float
    baseline: float
    weights: dict[str, float]


@dataclass(frozen=True, eq=False)
class Nuisances:
    """Out-of-fold predictions for every cell (C,), symbols of the paper (table 1).

    q: P(X in {x1, x0} | Z). e_z, e_rz, e_brz: P(x1 | ., X in {x1, x0}).
    m1, m0: E[Y | x, Z]. mu3: E[Y | B, R, x1, Z].
    mu1_w: E[mu3 | x0, Z]. mu2_b: E[mu3 | R, x0, Z]; mu1_b: E[mu2_b | x1, Z].
    mu2_r: E[Y | R, x1, Z]; mu1_r: E[mu2_r | x0, Z].
    Only the ratio P(x0|.) / P(x1|.) is needed given R and B, and it is the same within the two
    groups of the contrast; given Z, P(x1|Z) = q e_z, so other groups stay in P(Z).
    quality: of the nuisances that were fitted or are known; empty where none was measured.
    """

    q: Floats
    e_z: Floats
    e_rz: Floats
    e_brz: Floats
    m1: Floats
    m0: Floats
    mu3: Floats
    mu1_w: Floats
    mu2_b: Floats
    mu1_b: Floats
    mu2_r: Floats
    mu1_r: Floats
    quality: tuple[Quality, ...] = ()

    def clipped(self, clip: float) -> Nuisances:
        """The same with propensities kept in [clip, 1 - clip] (q in [clip, 1])."""
        bounds = {f: np.clip(getattr(self, f), clip, 1 - clip) for f in ("e_z", "e_rz", "e_brz")}
        return replace(self, q=np.maximum(self.q, clip), **bounds)


@dataclass(frozen=True, eq=False)
class Problem:
    """What all folds and repeats share: features of the three stages, weighted sums per cell.

    train (C,) or None: weights of the cells in the fits (training.py); None: all as they are.
    """

    data: PathData
    z: Features
    rz: Features
    brz: Features
    train: Floats | None = None

    @classmethod
    def of(cls, data: PathData, train: Floats | None = None) -> Problem:
        z, r, b = (data.z, data.z_values), (data.r, data.r_values), (data.b, data.b_values)
        return cls(data, Features.of(z), Features.of(z, r), Features.of(z, r, b), train)

    def sums(self, features: Features, rows: Mask, y: Floats, yy: Floats) -> Sums:
        """Sums over the people of the cells `rows`; y, yy (C,): sums of the target per cell."""
        data, w = self.data, self.data.w
        if self.train is not None:
            rows, w = rows & (self.train > 0), w * self.train
        at, levels = features.at[rows], len(features.levels)

        def total(values: Floats) -> Floats:
            return totals(at, values[rows], levels)

        return Sums(total(w * data.n), total(w**2 * data.n), total(w * y), total(w * yy))


@dataclass(frozen=True, eq=False)
class Step:
    """One nuisance: fitted on the cells `rows`, on the sums that `target` makes of the steps
    before it. given (C,): what the data know it to be, None where they do not."""

    name: str
    features: Features
    rows: Mask
    target: Callable[[Mapping[str, Floats]], tuple[Floats, Floats]]
    mean: bool
    given: Floats | None = None

    def fit(self, learner: Learner, sums: Sums) -> Floats:
        """Predictions by level (U,)."""
        predict = learner.mean if self.mean else learner.probability
        return predict(self.name, self.features, sums)


# Nuisances that later ones are regressions of.
_SOURCES = ("mu3", "mu2_b", "mu2_r")


def steps(problem: Problem) -> tuple[Step, ...]:
    """Every nuisance, in an order in which each rests on earlier ones only."""
    data, z, rz, brz = problem.data, problem.z, problem.rz, problem.brz
    x1, x0 = data.x == 1, data.x == 0
    pair, n = x1 | x0, data.n.astype(np.float64)
    everybody = np.ones(len(data), dtype=bool)

    def group(name: str, features: Features, rows: Mask, hits: Mask, given: Floats | None) -> Step:
        count = n * hits
        return Step(name, features, rows, lambda _: (count, count), False, given)

    def score(name: str, features: Features, rows: Mask) -> Step:
        return Step(name, features, rows, lambda _: (data.sum_y, data.sum_yy), True)

    def average(name: str, features: Features, rows: Mask, of: str) -> Step:
        return Step(name, features, rows, lambda out: (n * out[of], n * out[of] ** 2), True)

    return (
        group("q", z, everybody, pair, np.ones(len(data)) if pair.all() else data.p_contrast),
        group("e_z", z, pair, x1, data.p_z),
        group("e_rz", rz, pair, x1, data.p_rz),
        group("e_brz", brz, pair, x1, data.p_brz),
        score("m1", z, x1),
        score("m0", z, x0),
        score("mu3", brz, x1),
        average("mu1_w", z, x0, "mu3"),
        average("mu2_b", rz, x0, "mu3"),
        average("mu1_b", z, x1, "mu2_b"),
        score("mu2_r", rz, x1),
        average("mu1_r", z, x0, "mu2_r"),
    )


def cross_fit(
    problem: Problem, learner: Learner | Sequence[Learner], repeat: int, *, known: bool
) -> Nuisances:
    """Nuisances of one repeat: each cell is predicted by fits on the other folds.

    Of several learners each nuisance is their stack: the mean, with weights above 0 that sum to 1,
    that predicts the cells left out best (Brier score, squared error), all folds together; what
    the data know of a propensity is one more candidate. known: take such propensities as they are;
    that the data bring them is the caller's duty.
    """
    found, quality = out_of_fold(problem, learner, repeat, steps(problem), known=known)
    return Nuisances(**found, quality=quality)


def score_given_all(
    problem: Problem, learner: Learner | Sequence[Learner], repeat: int
) -> dict[str, Floats]:
    """g1, g0 (C,): E[Y | B, R, x, Z] of both groups, out of fold."""
    data = problem.data

    def step(name: str, group: int) -> Step:
        return Step(
            name, problem.brz, data.x == group, lambda _: (data.sum_y, data.sum_yy), mean=True
        )

    return out_of_fold(problem, learner, repeat, (step("g1", 1), step("g0", 0)), known=False)[0]


def out_of_fold(
    problem: Problem, learner: Learner | Sequence[Learner], repeat: int, plan: Sequence[Step], *,
    known: bool,
) -> tuple[dict[str, Floats], tuple[Quality, ...]]:  # fmt: skip
    """Predictions (C,) of each step of the plan for every cell, by fits on the other folds, and
    how good they are on the cells left out."""
    learners = list(learner) if isinstance(learner, Sequence) else [learner]
    data, fold = problem.data, problem.data.fold[:, repeat]
    folds = [fold == k for k in np.unique(fold)]
    sources: list[dict[str, Floats]] = [{} for _ in folds]
    out: dict[str, Floats] = {}
    quality: list[Quality] = []
    for step in plan:
        if step.given is not None and (known or step.name == "q"):
            out[step.name] = step.given
            if step.name != "q":
                parts = _squares(step.given, step.rows, data, *step.target({}))
                quality.append(_quality(step.name, parts, {}))
            continue
        extra = [step.given] if step.given is not None and len(learners) > 1 else []
        count = len(learners) + len(extra)
        found: list[list[Floats]] = []  # by fold, by candidate: predictions by level
        outside = np.zeros((count, len(data)))
        losses = np.zeros((count, count)), np.zeros(count)
        targets: list[tuple[Mask, Floats, Floats]] = []
        for here, source in zip(folds, sources, strict=True):
            y, yy = step.target(source)
            sums = problem.sums(step.features, step.rows & ~here, y, yy)
            found.append([step.fit(one, sums) for one in learners])
            for j, values in enumerate(found[-1]):
                outside[j, here] = values[step.features.at[here]]
            for j, given in enumerate(extra, len(learners)):
                outside[j, here] = given[here]
            if count > 1:
                _add_losses(losses, outside, here & step.rows, data, y)
            targets.append((here & step.rows, y, yy))
        weights = _simplex(*losses) if count > 1 else np.ones(1)
        out[step.name] = weights @ outside
        squares = [_squares(out[step.name], rows, data, y, yy) for rows, y, yy in targets]
        names = [*(_label(one) for one in learners), *["known"] * len(extra)]
        shares = dict(zip(names, weights.tolist(), strict=True)) if count > 1 else {}
        quality.append(_quality(step.name, np.sum(squares, axis=0), shares))
        if step.name in _SOURCES:
            for fitted, source in zip(found, sources, strict=True):
                source[step.name] = (weights @ np.stack(fitted))[step.features.at]
    return out, tuple(quality)


def fit_all(
    problem: Problem, learner: Learner, train: Mask, held: Mask | None = None
) -> dict[str, Floats]:
    """Every nuisance fitted on the cells `train`, predicted for all cells (C,).

    held: cells whose sums go to the learner for tuning, beside those of `train`.
    """
    out: dict[str, Floats] = {}
    for step in steps(problem):
        y, yy = step.target(out)
        if step.name == "q" and step.given is not None:
            out["q"] = step.given
            continue
        sums = problem.sums(step.features, step.rows & train, y, yy)
        if held is not None:
            sums = replace(sums, held=problem.sums(step.features, step.rows & held, y, yy))
        out[step.name] = step.fit(learner, sums)[step.features.at]
    return out


def _add_losses(
    losses: tuple[Floats, Floats], outside: Floats, rows: Mask, data: PathData, y: Floats
) -> None:
    """Add what the cells `rows` say of the candidates: sum w n p p' and sum w y p."""
    p, people = outside[:, rows], (data.w * data.n)[rows]
    losses[0][...] += (p * people) @ p.T
    losses[1][...] += p @ (data.w * y)[rows]


def _squares(p: Floats, rows: Mask, data: PathData, y: Floats, yy: Floats) -> Floats:
    """Sums over the people of the cells `rows`: w, w y, w y^2, w (y - p)^2."""
    w, n, p, y, yy = data.w[rows], data.n[rows], p[rows], y[rows], yy[rows]
    left = np.maximum(yy - 2 * p * y + p**2 * n, 0.0)
    return np.array([(w * n).sum(), (w * y).sum(), (w * yy).sum(), (w * left).sum()])


def _quality(name: str, parts: Floats, weights: dict[str, float]) -> Quality:
    people, y, yy, left = parts.tolist()
    return Quality(name, left / people, max(yy / people - (y / people) ** 2, 0.0), weights)


def _label(learner: Learner) -> str:
    """The learner's name in the options (PathOptions.learner)."""
    return str(getattr(learner, "label", type(learner).__name__.lower()))


def _simplex(square: Floats, cross: Floats) -> Floats:
    """Weights v >= 0, sum v = 1, of the least v' square v - 2 v' cross.

    By Cholesky-free non-negative least squares on the symmetric root; the sum is held by a row of
    large weight (Lawson & Hanson 1974, chapter 23).
    """
    size = max(float(np.trace(square)), np.finfo(float).tiny)
    values, vectors = np.linalg.eigh(square / size)
    values = np.maximum(values, 1e-14)  # candidates that agree: any mix of them will do
    root = np.sqrt(values)[:, None] * vectors.T
    right = (vectors.T @ (cross / size)) / np.sqrt(values)
    firm = 1e4
    top = np.full((1, len(cross)), firm)
    weights, _ = nnls(np.concatenate([root, top]), np.append(right, firm))
    total = float(weights.sum())
    return weights / total if total > 0 else np.full(len(cross), 1 / len(cross))
