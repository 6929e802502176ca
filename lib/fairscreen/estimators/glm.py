"""The regularised GLM: main effects of the codes, splines of the numbers, a small ridge."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import expit, logit

from fairscreen.estimators.data import Floats
from fairscreen.estimators.features import Features, Sums

# Ridge penalty of a main effect, in people: a level with n people is shrunk by about 1/(1 + n/2).
_RIDGE = 0.5


@dataclass(frozen=True)
class Glm:
    """Gaussian or logistic main effects, by level. What they miss stays missed: alone it is for
    data that are known to add up; in a stack it steadies the others."""

    def mean(self, name: str, features: Features, sums: Sums) -> Floats:
        """Ridge regression."""
        centre = float(sums.y.sum() / sums.w.sum())
        return centre + gaussian(features, sums)[0]

    def probability(self, name: str, features: Features, sums: Sums) -> Floats:
        """Ridge-logistic regression."""
        return logit_fit(features, sums)[0]


def gaussian(features: Features, sums: Sums) -> tuple[Floats, Floats]:
    """Ridge regression of what is off the weighted mean: predictions (U,) and the inverse Hessian
    (p, p). Weights count people: their total is the effective number. Fitted once per sums."""
    if "gaussian" not in sums.fits:
        scale = float(sums.w.sum() / sums.ww.sum())
        centre = float(sums.y.sum() / sums.w.sum())
        design = features.design
        rows, weight, y = trained(design, sums.w * scale, (sums.y - centre * sums.w) * scale)
        inverse = inverse_hessian(rows, weight)
        glm = np.asarray(design @ (inverse @ (rows.T @ y)), dtype=np.float64)
        sums.fits["gaussian"] = glm, inverse
    return sums.fits["gaussian"]


def logit_fit(features: Features, sums: Sums) -> tuple[Floats, Floats]:
    """The same of a ridge-logistic regression."""
    if "logistic" not in sums.fits:
        scale = float(sums.w.sum() / sums.ww.sum())
        sums.fits["logistic"] = logistic(features.design, sums.w * scale, sums.y * scale)
    return sums.fits["logistic"]


def _penalty(design: Floats) -> Floats:
    penalty = np.full(design.shape[1], _RIDGE)
    penalty[0] = 0.0  # the intercept is free, so shifting Y shifts every prediction
    return np.diag(penalty)


def trained(design: Floats, weight: Floats, y: Floats) -> tuple[Floats, Floats, Floats]:
    """The levels with a weight, where they are few: a fit costs what it is trained on."""
    seen = weight > 0
    if 2 * int(seen.sum()) > len(seen):
        return design, weight, y
    return design[seen], weight[seen], y[seen]


def quadratic(design: Floats, inverse: Floats) -> Floats:
    """x' A x per row x of the design (U,)."""
    out: Floats = ((design @ inverse) * design).sum(axis=1)
    return out


def inverse_hessian(design: Floats, weight: Floats) -> Floats:
    hessian = (design * weight[:, None]).T @ design + _penalty(design)
    return np.asarray(np.linalg.inv(hessian), dtype=np.float64)


def logistic(design: Floats, weight: Floats, y: Floats) -> tuple[Floats, Floats]:
    """Ridge-logistic fit by Newton's method: predictions (U,) and the inverse Hessian (p, p)."""
    every = design
    design, weight, y = trained(design, weight, y)
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
        size, most = 1.0, current + 1e-12 * abs(current)
        while (reached := loss(beta + size * step)) > most and size > 1e-4:
            size /= 2
        beta, current = beta + size * step, reached
        if np.abs(step).max() < 1e-11:
            break
    p = expit(design @ beta)
    inverse = inverse_hessian(design, np.maximum(weight * p * (1 - p), 1e-12))
    return expit(every @ beta), inverse
