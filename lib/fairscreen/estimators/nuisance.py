"""Nuisances of the path-specific effects, cross-fitted: P(X|.) and the sequential regressions.

A learner sees sums over the distinct values ("levels") of its features, never rows: fits cost what
the number of levels costs.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from fairscreen.estimators.data import Floats, PathData, totals
from fairscreen.estimators.features import Features, Sums

Mask = NDArray[np.bool_]


class Learner(Protocol):
    """Predicts every level (U,) from training sums. `name` tells one nuisance from another."""

    def mean(self, name: str, features: Features, sums: Sums) -> Floats: ...

    def probability(self, name: str, features: Features, sums: Sums) -> Floats: ...


@dataclass(frozen=True, eq=False)
class Nuisances:
    """Out-of-fold predictions for every cell (C,), symbols of the paper (table 1).

    q: P(X in {x1, x0} | Z). e_z, e_rz, e_brz: P(x1 | ., X in {x1, x0}).
    m1, m0: E[Y | x, Z]. mu3: E[Y | B, R, x1, Z].
    mu1_w: E[mu3 | x0, Z]. mu2_b: E[mu3 | R, x0, Z]; mu1_b: E[mu2_b | x1, Z].
    mu2_r: E[Y | R, x1, Z]; mu1_r: E[mu2_r | x0, Z].
    Only the ratio P(x0|.) / P(x1|.) is needed given R and B, and it is the same within the two
    groups of the contrast; given Z, P(x1|Z) = q e_z, so other groups stay in P(Z).
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

    def clipped(self, clip: float) -> Nuisances:
        """The same with propensities kept in [clip, 1 - clip] (q in [clip, 1])."""
        bounds = {f: np.clip(getattr(self, f), clip, 1 - clip) for f in ("e_z", "e_rz", "e_brz")}
        return replace(self, q=np.maximum(self.q, clip), **bounds)


@dataclass(frozen=True, eq=False)
class Problem:
    """What all folds and repeats share: features of the three stages, weighted sums per cell."""

    data: PathData
    z: Features
    rz: Features
    brz: Features

    @classmethod
    def of(cls, data: PathData) -> Problem:
        z, r, b = (data.z, data.z_values), (data.r, data.r_values), (data.b, data.b_values)
        return cls(data, Features.of(z), Features.of(z, r), Features.of(z, r, b))

    def sums(self, features: Features, rows: Mask, y: Floats, yy: Floats) -> Sums:
        """Sums over the people of the cells `rows`; y, yy (C,): sums of the target per cell."""
        data, at, levels = self.data, features.at[rows], len(features.levels)

        def total(values: Floats) -> Floats:
            return totals(at, values[rows], levels)

        w = data.w
        return Sums(total(w * data.n), total(w**2 * data.n), total(w * y), total(w * yy))


def cross_fit(problem: Problem, learner: Learner, repeat: int, *, known: bool) -> Nuisances:
    """Nuisances of one repeat: each cell is predicted by fits on the other folds.

    known: take the propensities that `data` brings; InputError is the caller's duty.
    """
    data = problem.data
    fold = data.fold[:, repeat]
    out = {f.name: np.zeros(len(data)) for f in fields(Nuisances)}
    for k in np.unique(fold):
        here = fold == k
        fitted = fit_all(problem, learner, ~here, known=known)
        for name, values in fitted.items():
            out[name][here] = values[here]
    return Nuisances(**out)


def fit_all(
    problem: Problem, learner: Learner, train: Mask, *, known: bool, held: Mask | None = None
) -> dict[str, Floats]:
    """Every nuisance fitted on the cells `train`, predicted for all cells (C,).

    held: cells whose sums go to the learner for tuning, beside those of `train`.
    """
    data, z, rz, brz = problem.data, problem.z, problem.rz, problem.brz
    x1, x0 = data.x == 1, data.x == 0
    pair = x1 | x0
    n = data.n.astype(np.float64)
    out: dict[str, Floats] = {}

    def fit(name: str, features: Features, rows: Mask, y: Floats, yy: Floats, means: bool) -> None:
        sums = problem.sums(features, rows & train, y, yy)
        if held is not None:
            sums = replace(sums, held=problem.sums(features, rows & held, y, yy))
        predict = learner.mean if means else learner.probability
        out[name] = predict(name, features, sums)[features.at]

    def classify(name: str, features: Features, rows: Mask, positive: Mask) -> None:
        hits = n * positive
        fit(name, features, rows, hits, hits, means=False)

    def score(name: str, features: Features, rows: Mask) -> None:
        fit(name, features, rows, data.sum_y, data.sum_yy, means=True)

    def average(name: str, features: Features, rows: Mask, of: str) -> None:
        value = out[of]
        fit(name, features, rows, n * value, n * value**2, means=True)

    if data.p_contrast is not None:
        out["q"] = data.p_contrast
    elif pair.all():
        out["q"] = np.ones(len(data))
    else:
        classify("q", z, np.ones(len(data), dtype=bool), pair)
    steps: tuple[tuple[str, Features, Floats | None], ...] = (
        ("e_z", z, data.p_z), ("e_rz", rz, data.p_rz), ("e_brz", brz, data.p_brz),
    )  # fmt: skip
    for name, features, given in steps:
        if known and given is not None:
            out[name] = given
        else:
            classify(name, features, pair, x1)
    score("m1", z, x1)
    score("m0", z, x0)
    score("mu3", brz, x1)
    average("mu1_w", z, x0, "mu3")
    average("mu2_b", rz, x0, "mu3")
    average("mu1_b", z, x1, "mu2_b")
    score("mu2_r", rz, x1)
    average("mu1_r", z, x0, "mu2_r")
    return out
