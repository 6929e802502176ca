"""The saturated estimator on many samples at once, for simulation studies.

The arithmetic is the library's (`Saturated`, `cross_fit`, `influence_coefficients`, the overlap
rows), written as stacked matrix products over samples and folds: a sample of 648 joint values takes
a tenth of the time. `path_study.py` holds the first samples of every block against `path_effects`.
One repeat of cross-fitting, two groups, no weights, no clusters.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from scipy.special import expit, logit

from fairscreen.estimators.glm import _RIDGE
from fairscreen.estimators.overlap import LOW_MEAN, LOW_MEAN_ERRORS
from fairscreen.estimators.path_specific import PathOptions
from fairscreen.estimators.results import CONTRASTS
from fairscreen.estimators.saturated import _PRIOR_DF
from path_designs import A, Counted, Design, one_hot

# The distinct weight sets, and those that each effect stands on (overlap.py lists some twice).
SETS = ("E1:Y", "E0:Y", "E_W:Y", "E_B:mu3", "E_B:Y", "E_R:Y")
USED = {"TE": (0, 1), "NDE": (0, 1, 2), "NIE": (0, 1, 2), "BIE": range(6), "RIE": range(6)}
MEASURES = ("effective_n", "unit_share", "clipped_share", "low_mean")


@dataclass(frozen=True, eq=False)
class Estimated:
    """estimate, error, moved (S, 5): effects, their standard errors, and what clip 0.01 moves
    them by. overlap (S, 6, 4): MEASURES of SETS."""

    estimate: A
    error: A
    moved: A
    overlap: A

    def passing(self, rule: PathOptions) -> A:
        """(S, 5): effects that the overlap rule of these options lets through."""
        n, unit, cut, low = np.moveaxis(self.overlap, 2, 0)
        good = (n >= rule.min_effective_n) & (unit <= rule.max_unit_share)
        good &= (cut <= rule.max_clipped_share) & (low == 0)
        return np.stack([good[:, list(sets)].all(axis=1) for sets in USED.values()], axis=1)


PROPENSITIES = ("e_z", "e_rz", "e_brz")


def true_nuisances(design: Design) -> dict[str, A]:
    """Every nuisance as the design has it, by name: (Z, R or 1, B or 1)."""
    law = design.grouped(design.law)
    mean = design.grouped(design.law * design.mean) / law
    pb = law / law.sum(axis=3, keepdims=True)
    pr = (law.sum(axis=3) / law.sum(axis=(2, 3))[..., None])[..., None]

    def over(values: A, axis: int) -> A:
        return values.sum(axis=axis, keepdims=True)

    out = {"e_brz": law[1] / law.sum(axis=0)}
    for name, axes in (("e_rz", (3,)), ("e_z", (2, 3))):
        part = law.sum(axis=axes, keepdims=True)
        out[name] = part[1] / part.sum(axis=0)
    out["mu3"] = mean[1]
    out["mu2_b"], out["mu2_r"] = over(pb[0] * mean[1], 2), over(pb[1] * mean[1], 2)
    out["m1"], out["mu1_r"] = over(pr[1] * out["mu2_r"], 1), over(pr[0] * out["mu2_r"], 1)
    out["mu1_b"], out["mu1_w"] = over(pr[1] * out["mu2_b"], 1), over(pr[0] * out["mu2_b"], 1)
    out["m0"] = over(pr[0] * over(pb[0] * mean[0], 2), 1)
    return out


class Stage:
    """Design matrix of main effects (U, p), and the products of its columns (U, p (p + 1) / 2)."""

    def __init__(self, *codes: A) -> None:
        columns = np.concatenate(codes, axis=1).T
        self.rows = np.concatenate(
            [np.ones((columns.shape[1], 1)), *(one_hot(c) for c in columns)], axis=1
        )
        self.p = self.rows.shape[1]
        self.upper = np.triu_indices(self.p)
        self.full = np.zeros((self.p, self.p), dtype=np.int64)  # of each entry, its place in upper
        self.full[self.upper] = np.arange(len(self.upper[0]))
        self.full = np.maximum(self.full, self.full.T)
        self.pairs = self.rows[:, self.upper[0]] * self.rows[:, self.upper[1]]
        self.penalty = np.full(self.p, _RIDGE)
        self.penalty[0] = 0.0

    def hessian(self, weight: A) -> A:
        return (weight @ self.pairs)[:, self.full] + np.diag(self.penalty)

    def quadratic(self, inverse: A) -> A:
        """x' A x per problem and level (M, U)."""
        twice = np.where(self.upper[0] == self.upper[1], 1.0, 2.0)
        return (inverse[:, self.upper[0], self.upper[1]] * twice) @ self.pairs.T

    def mean(self, w: A, y: A, yy: A) -> A:
        """Shrunk cell means (M, U) from sums (M, U), as `Saturated.mean`."""
        centre = y.sum(axis=1, keepdims=True) / w.sum(axis=1, keepdims=True)
        y, yy = y - centre * w, yy - 2 * centre * y + centre**2 * w
        inverse = np.linalg.inv(self.hessian(w))
        glm = np.einsum("mpq,mq->mp", inverse, y @ self.rows) @ self.rows.T
        left = y - w * glm
        gap = _divide(left, w, 0.0)
        squares = np.maximum(yy - 2 * glm * y + w * glm**2, 0.0)
        leverage = w * self.quadratic(inverse)
        used = leverage.sum(axis=1)
        within = np.where(w > 0, np.maximum(squares - left * gap, 0.0), 0.0).sum(axis=1)
        free = np.maximum(np.where(w > 0, w - 1, 0.0).sum(axis=1), 0.0)
        residual = squares.sum(axis=1) / np.maximum(w.sum(axis=1) - used, 1.0)
        noise = ((within + _PRIOR_DF * residual) / (free + _PRIOR_DF))[:, None]
        mix = _signal_share(gap, w, leverage, np.broadcast_to(noise, w.shape), np.ones_like(w))
        return centre + glm + mix * gap

    def probability(self, w: A, y: A) -> A:
        """Shrunk probabilities (M, U), as `Saturated.probability`."""
        glm, inverse = self.logistic(w, y)
        spread = glm * (1 - glm)
        gap = _divide(y - w * glm, w, 0.0)
        leverage = w * spread * self.quadratic(inverse)
        move = _signal_share(gap, w, leverage, spread, spread) * gap
        shift = np.where(move < 0, move / glm, move / (1 - glm))
        return np.clip(glm + np.where(shift < 0, glm, 1 - glm) * shift, 0.0, 1.0)

    def logistic(self, w: A, y: A) -> tuple[A, A]:
        """Ridge-logistic fits by Newton's method: predictions (M, U), inverse Hessians (M, p, p).

        The problem is convex, so the plain steps of all samples and folds, once they are small,
        end where the guarded ones of `glm.logistic` do; that they become small is checked."""
        beta = np.zeros((len(w), self.p))
        beta[:, 0] = logit(np.clip(y.sum(axis=1) / w.sum(axis=1), 1e-6, 1 - 1e-6))
        for _ in range(50):
            p = expit(beta @ self.rows.T)
            gradient = (y - w * p) @ self.rows - beta * self.penalty
            hessian = self.hessian(np.maximum(w * p * (1 - p), 1e-12))
            step = np.linalg.solve(hessian, gradient[..., None])[..., 0]
            beta = beta + np.clip(step, -3.0, 3.0)
            if np.abs(step).max() < 1e-7:  # the next step would be its square
                p = expit(beta @ self.rows.T)
                return p, np.linalg.inv(self.hessian(np.maximum(w * p * (1 - p), 1e-12)))
        raise RuntimeError("Newton's steps do not become small")


def _divide(top: A, bottom: A, otherwise: float) -> A:
    return np.divide(top, bottom, out=np.full(top.shape, otherwise), where=bottom > 0)


def _signal_share(gap: A, weight: A, leverage: A, noise: A, signal: A) -> A:
    """tau^2 / (tau^2 + s^2 / n) per problem and level, as saturated._signal_share; 0 in unseen
    cells, where the gap is 0 anyhow."""
    seen = weight > 0
    free = np.where(seen, np.clip(1 - leverage, 0.0, 1.0), 0.0)
    excess = (weight * gap**2).sum(axis=1) - (free * noise).sum(axis=1)
    scale = (free * signal * weight).sum(axis=1)
    rho = np.where((excess > 0) & (scale > 0), excess / np.where(scale > 0, scale, 1.0), 0.0)
    between = rho[:, None] * signal
    return np.where(
        seen & (rho > 0)[:, None],
        between / np.maximum(between + _divide(noise, weight, 1.0), np.finfo(float).tiny),
        0.0,
    )


class Batch:
    """The estimator for samples of one design."""

    def __init__(self, design: Design, clip: float = 0.001, flag_clip: float = 0.01) -> None:
        z, r, b = design.z, design.r, design.b
        self.shape = len(z), len(r), len(b)
        zr = [np.repeat(z, len(r), axis=0), np.tile(r, (len(z), 1))]
        every = [np.repeat(part, len(b), axis=0) for part in zr]
        self.z, self.rz = Stage(z), Stage(*zr)
        self.brz = Stage(*every, np.tile(b, (len(z) * len(r), 1)))
        self.clip, self.flag_clip = clip, flag_clip

    def __call__(self, drawn: Counted, given: Mapping[str, A] | None = None) -> Estimated:
        """Effects of samples with a leading axis; given: nuisances that are not fitted."""
        nu = self.nuisances(drawn, given or {})
        n = drawn.n.sum(axis=(1, 2, 3, 4, 5))
        kept, flagged = _clipped(nu, self.clip), _clipped(nu, self.flag_clip)
        estimate, error = _effects(drawn, kept, n)
        bound = any((kept[k] != flagged[k]).any() for k in PROPENSITIES)
        moved = _effects(drawn, flagged, n)[0] if bound else estimate
        return Estimated(estimate, error, moved - estimate, _overlap(drawn, nu, kept, n))

    def nuisances(self, drawn: Counted, given: Mapping[str, A]) -> dict[str, A]:
        """By name, (S, F, Z, R or 1, B or 1): what the other folds foretell."""
        samples, folds = drawn.n.shape[:2]
        zs, rs, bs = self.shape
        nu = {name: values[None, None] for name, values in given.items()}

        def train(values: A) -> A:
            return values.sum(axis=1, keepdims=True) - values

        def fit(name: str, stage: Stage, *sums: A) -> None:
            if name in nu:
                return
            axes = {self.z: (-2, -1), self.rz: (-1,), self.brz: ()}[stage]
            flat = [s.sum(axis=axes).reshape(samples * folds, -1) for s in sums]
            values = stage.mean(*flat) if len(sums) == 3 else stage.probability(*flat)
            wide = {self.z: (zs, 1, 1), self.rz: (zs, rs, 1), self.brz: (zs, rs, bs)}[stage]
            nu[name] = values.reshape(samples, folds, *wide)

        n0, n1 = train(drawn.n[:, :, 0]), train(drawn.n[:, :, 1])
        y0, y1 = train(drawn.y[:, :, 0]), train(drawn.y[:, :, 1])
        yy0, yy1 = train(drawn.yy[:, :, 0]), train(drawn.yy[:, :, 1])

        def average(name: str, stage: Stage, n: A, of: str) -> None:
            """A regression on the predictions of another nuisance."""
            fit(name, stage, n, n * nu[of], n * nu[of] ** 2)

        for name, stage in zip(PROPENSITIES, (self.z, self.rz, self.brz), strict=True):
            fit(name, stage, n0 + n1, n1)
        fit("m1", self.z, n1, y1, yy1)
        fit("m0", self.z, n0, y0, yy0)
        fit("mu3", self.brz, n1, y1, yy1)
        average("mu1_w", self.z, n0, "mu3")
        average("mu2_b", self.rz, n0, "mu3")
        average("mu1_b", self.z, n1, "mu2_b")
        fit("mu2_r", self.rz, n1, y1, yy1)
        average("mu1_r", self.z, n0, "mu2_r")
        return nu


def _clipped(nu: dict[str, A], clip: float) -> dict[str, A]:
    return nu | {k: np.clip(nu[k], clip, 1 - clip) for k in PROPENSITIES}


def _ratios(nu: dict[str, A]) -> dict[str, A]:
    """What a person of the group would weigh, by weight set."""
    e_z, e_rz, e_brz = nu["e_z"], nu["e_rz"], nu["e_brz"]
    with np.errstate(divide="ignore", invalid="ignore"):
        found = {
            "E1:Y": 1 / e_z,
            "E0:Y": 1 / (1 - e_z),
            "E_W:Y": (1 - e_brz) / (e_brz * (1 - e_z)),
            "E_B:mu3": e_rz / ((1 - e_rz) * e_z),
            "E_B:Y": (1 - e_brz) * e_rz / (e_brz * (1 - e_rz) * e_z),
            "E_R:Y": (1 - e_rz) / (e_rz * (1 - e_z)),
        }
    return {k: np.where(np.isnan(v), np.inf, v) for k, v in found.items()}


def _effects(drawn: Counted, nu: dict[str, A], n: A) -> tuple[A, A]:
    """Estimates and standard errors (S, 5) of the effects."""
    v = _ratios(nu)
    m1, m0, mu3 = nu["m1"], nu["m0"], nu["mu3"]
    mu2_b, mu1_b, mu2_r, mu1_r, mu1_w = (
        nu[k] for k in ("mu2_b", "mu1_b", "mu2_r", "mu1_r", "mu1_w")
    )
    shape = drawn.n[:, :, 0].shape
    parts: list[tuple[list[A], list[A | float]]] = [
        (  # x0: a and c of E1, E0, E_W, E_B, E_R
            [m1, m0 - v["E0:Y"] * m0, mu1_w + v["E0:Y"] * (mu3 - mu1_w),
             mu1_b + v["E_B:mu3"] * (mu3 - mu2_b), mu1_r + v["E0:Y"] * (mu2_r - mu1_r)],
            [0.0, v["E0:Y"], 0.0, 0.0, 0.0],
        ),
        (
            [m1 - v["E1:Y"] * m1, m0, mu1_w - v["E_W:Y"] * mu3,
             mu1_b + v["E1:Y"] * (mu2_b - mu1_b) - v["E_B:Y"] * mu3, mu1_r - v["E_R:Y"] * mu2_r],
            [v["E1:Y"], 0.0, v["E_W:Y"], v["E_B:Y"], v["E_R:Y"]],
        ),
    ]  # fmt: skip
    totals, phis = 0.0, []
    for x, (a, c) in enumerate(parts):
        count, y, yy = (values[:, :, x] for values in (drawn.n, drawn.y, drawn.yy))
        some = count > 0
        at = np.nonzero(some)[0]
        people, score = count[some], y[some]
        inner = np.where(people > 1, np.maximum(yy[some] - score**2 / people, 0.0), 0.0)
        a_some = np.stack([np.broadcast_to(k, shape)[some] for k in a])
        c_some = np.stack([np.broadcast_to(k, shape)[some] for k in c])
        a_some, c_some = CONTRASTS @ a_some, CONTRASTS @ c_some
        phi = a_some + c_some * (score / people)
        totals = totals + _by_sample(at, phi * people, len(n))
        phis.append((at, people, phi, inner * c_some**2))
    theta = totals / n[:, None]
    squares = 0.0
    for at, people, phi, within in phis:
        squares = squares + _by_sample(at, people * (phi - theta.T[:, at]) ** 2 + within, len(n))
    return theta, np.sqrt(squares / n[:, None] ** 2 * (n / (n - 1))[:, None])


def _by_sample(at: A, values: A, samples: int) -> A:
    """Sums (S, J) of values (J, C) by sample."""
    return np.stack([np.bincount(at, weights=v, minlength=samples) for v in values], axis=1)


def _overlap(drawn: Counted, nu: dict[str, A], kept: dict[str, A], n: A) -> A:
    """MEASURES of SETS (S, 6, 4), as `overlap_row` finds them."""
    raw, clipped = _ratios(nu), _ratios(kept)
    group = {"E0:Y": 0, "E_B:mu3": 0}
    everybody = drawn.n[:, :, 0] + drawn.n[:, :, 1]
    found = np.zeros((len(n), len(SETS), len(MEASURES)))
    for j, name in enumerate(SETS):
        count = drawn.n[:, :, group.get(name, 1)]
        lowered = raw[name] > clipped[name] * (1 + 1e-9)
        cut = (everybody * lowered).sum(axis=(1, 2, 3, 4)) / n
        weight = np.broadcast_to(raw[name], count.shape)
        carried = (count > 0) & (weight > 0)
        infinite = carried & np.isinf(weight)
        holders = (count * infinite).sum(axis=(1, 2, 3, 4))
        w = np.where(carried & ~infinite, weight, 0.0)
        total, largest = (count * w).sum(axis=(1, 2, 3, 4)), w.max(axis=(1, 2, 3, 4))
        squares = (count * w**2).sum(axis=(1, 2, 3, 4))
        units = (count * carried).sum(axis=(1, 2, 3, 4))
        effective, mean = total**2 / squares, total / n
        spread = mean * np.sqrt(np.maximum(units / effective - 1, 0.0) / units)
        low = mean < np.minimum(LOW_MEAN, 1 - LOW_MEAN_ERRORS * spread)
        bad = holders > 0
        found[:, j] = np.stack([
            np.where(bad, holders, effective),
            np.where(bad, 1 / np.maximum(holders, 1), largest / total),
            cut, np.where(bad, 1.0, low),
        ], axis=1)  # fmt: skip
    return found
