"""Nuisances of the path-specific effects, cross-fitted: P(X|.) and the sequential regressions.

A learner sees sums over the distinct values ("levels") of its features, never rows: fits cost what
the number of levels costs. The saturated learner predicts each level by its own mean, shrunk
toward a main-effects GLM by weight tau^2 / (tau^2 + s^2/n); tau^2, the variance of what the GLM
misses, is estimated by moments. Levels without training data take the GLM.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit

from fairscreen.estimators.data import Floats, Ints, PathData, totals

Mask = NDArray[np.bool_]

# Ridge penalty of a main effect, in people: a level with n people is shrunk by about 1/(1 + n/2).
_RIDGE = 0.5
# The within-cell variance borrows this many degrees of freedom from the GLM's residuals, so that
# it exists (and tau^2 is then about 0) where hardly two people share a cell.
_PRIOR_DF = 2.0


@dataclass(frozen=True, eq=False)
class Features:
    """Distinct rows of some code columns: levels (U, k), and the level of each cell (C,)."""

    levels: Ints
    at: Ints

    @classmethod
    def of(cls, *codes: Ints) -> Features:
        joined = np.concatenate(codes, axis=1)
        if joined.shape[1] == 0:
            return cls(np.zeros((1, 0), dtype=np.int64), np.zeros(len(joined), dtype=np.int64))
        levels, at = np.unique(joined, axis=0, return_inverse=True)
        return cls(levels, at.reshape(-1))

    @cached_property
    def design(self) -> Floats:
        """(U, 1 + p): intercept and one indicator per code. All codes stay: the ridge identifies
        them, and no result depends on a choice of reference."""
        columns = [np.ones((len(self.levels), 1))]
        for column in self.levels.T:
            codes = np.unique(column)
            if len(codes) > 1:
                columns.append((column[:, None] == codes).astype(np.float64))
        return np.concatenate(columns, axis=1)


@dataclass(frozen=True, eq=False)
class Sums:
    """Training sums per level (U,): of w, w^2, w y and w y^2 over people.

    held: the same sums of people held out, where a learner is to be tuned.
    """

    w: Floats
    ww: Floats
    y: Floats
    yy: Floats
    held: Sums | None = None


class Learner(Protocol):
    """Predicts every level (U,) from training sums. `name` tells one nuisance from another."""

    def mean(self, name: str, features: Features, sums: Sums) -> Floats: ...

    def probability(self, name: str, features: Features, sums: Sums) -> Floats: ...


@dataclass(frozen=True)
class Saturated:
    """Cell means shrunk toward a main-effects GLM; `shrink=False` keeps the plain cell means
    (the GLM then only fills empty cells)."""

    shrink: bool = True

    def mean(self, name: str, features: Features, sums: Sums) -> Floats:
        """Gaussian main effects with a small ridge, by level."""
        seen = sums.w > 0
        scale = float(
            sums.w.sum() / sums.ww.sum()
        )  # weights count people: total = effective number
        weight = sums.w * scale
        centre = float(sums.y.sum() / sums.w.sum())
        y = (sums.y - centre * sums.w) * scale
        yy = (sums.yy - 2 * centre * sums.y + centre**2 * sums.w) * scale
        design = features.design
        inverse = _inverse(design, weight)
        glm: Floats = design @ (inverse @ (design.T @ y))
        own: Floats = np.divide(y, weight, out=glm.copy(), where=seen)
        if not self.shrink:
            return centre + own
        leverage = weight * _quadratic(design, inverse)
        repeat = sums.ww[seen] / sums.w[seen] * scale  # 1 where nobody carries a weight
        within = np.maximum(yy[seen] - y[seen] ** 2 / weight[seen], 0.0).sum()
        within_df = (weight[seen] - repeat).sum()
        residual = np.maximum(yy - 2 * glm * y + weight * glm**2, 0.0).sum()
        residual /= max(weight.sum() - leverage.sum(), 1.0)
        noise = (within + _PRIOR_DF * residual) / (within_df + _PRIOR_DF)
        mix = np.zeros(len(weight))
        mix[seen] = _signal_share(
            gap=(own - glm)[seen],
            weight=weight[seen],
            repeat=repeat,
            leverage=leverage[seen],
            noise=np.full(int(seen.sum()), noise),
            signal=np.ones(int(seen.sum())),
        )
        return centre + glm + mix * (own - glm)

    def probability(self, name: str, features: Features, sums: Sums) -> Floats:
        """Logistic main effects with a small ridge; tau^2 is a multiple of p (1 - p), so the
        shrunk mean is that of a beta-binomial model and stays inside (0, 1)."""
        seen = sums.w > 0
        scale = float(sums.w.sum() / sums.ww.sum())
        weight = sums.w * scale
        y = sums.y * scale
        glm, inverse = _logistic(features.design, weight, y)
        own: Floats = np.divide(y, weight, out=glm.copy(), where=seen)
        if not self.shrink:
            return own
        spread = glm * (1 - glm)
        leverage = weight * spread * _quadratic(features.design, inverse)
        repeat = sums.ww[seen] / sums.w[seen] * scale
        mix = np.zeros(len(weight))
        mix[seen] = _signal_share(
            gap=(own - glm)[seen],
            weight=weight[seen],
            repeat=repeat,
            leverage=leverage[seen],
            noise=spread[seen],
            signal=spread[seen],
        )
        return glm + mix * (own - glm)


def _signal_share(
    *, gap: Floats, weight: Floats, repeat: Floats, leverage: Floats, noise: Floats, signal: Floats
) -> Floats:
    """tau^2 / (tau^2 + s^2/n) per seen level, with tau^2 = rho * signal and s^2 = `noise`.

    rho by moments (DerSimonian and Laird 1986, with the leverages of the fitted GLM):
    E[sum w gap^2] = sum (1 - h) (noise * repeat + rho * signal * w), s^2/n = noise repeat / w.
    """
    free = np.clip(1 - leverage, 0.0, 1.0)
    excess = float((weight * gap**2).sum() - (free * noise * repeat).sum())
    scale = float((free * signal * weight).sum())
    if excess <= 0 or scale <= 0:
        return np.zeros(len(gap))
    between = excess / scale * signal
    # Where both are 0 (a score without noise on a cell the GLM fits exactly), own = glm anyway.
    share: Floats = between / np.maximum(between + noise * repeat / weight, np.finfo(float).tiny)
    return share


def _penalty(design: Floats) -> Floats:
    penalty = np.full(design.shape[1], _RIDGE)
    penalty[0] = 0.0  # the intercept is free, so shifting Y shifts every prediction
    return np.diag(penalty)


def _quadratic(design: Floats, inverse: Floats) -> Floats:
    """x' A x per row x of the design (U,)."""
    out: Floats = ((design @ inverse) * design).sum(axis=1)
    return out


def _inverse(design: Floats, weight: Floats) -> Floats:
    hessian = (design * weight[:, None]).T @ design + _penalty(design)
    return np.asarray(np.linalg.inv(hessian), dtype=np.float64)


def _logistic(design: Floats, weight: Floats, y: Floats) -> tuple[Floats, Floats]:
    """Ridge-logistic fit by Newton's method: predictions (U,) and the inverse Hessian (p, p)."""
    beta = np.zeros(design.shape[1])
    mean = float(np.clip(y.sum() / weight.sum(), 1e-6, 1 - 1e-6))
    beta[0] = logit(mean)
    penalty = _penalty(design)

    def loss(at: Floats) -> float:
        eta = design @ at
        fit = weight @ np.logaddexp(0.0, eta) - y @ eta
        return float(fit + at @ penalty @ at / 2)

    current = loss(beta)
    for _ in range(50):
        p = expit(design @ beta)
        spread = np.maximum(weight * p * (1 - p), 1e-12)
        gradient = design.T @ (y - weight * p) - penalty @ beta
        step = np.linalg.solve((design * spread[:, None]).T @ design + penalty, gradient)
        size = 1.0
        while size > 1e-4 and loss(beta + size * step) > current + 1e-12 * abs(current):
            size /= 2
        beta = beta + size * step
        current = loss(beta)
        if np.abs(step).max() < 1e-11:
            break
    p = expit(design @ beta)
    return p, _inverse(design, np.maximum(weight * p * (1 - p), 1e-12))


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
        z, r, b = data.z, data.r, data.b
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
