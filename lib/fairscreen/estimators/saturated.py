"""The saturated learner: cell means shrunk toward a GLM.

The GLM has main effects of the codes and, where numbers stand beside their bins, splines of the
numbers. What it misses is averaged within each cell of the codes and kept with weight
tau^2 / (tau^2 + s^2/n); tau^2, the variance of what the GLM misses, is estimated by moments.
Cells without training data take the GLM. Without numbers a level is a cell, and the prediction is
its own mean shrunk toward the GLM.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fairscreen.estimators.data import Floats
from fairscreen.estimators.features import Features, Sums
from fairscreen.estimators.glm import gaussian, logit_fit, quadratic, trained

# The within-cell variance borrows this many degrees of freedom from the GLM's residuals, so that
# it exists (and tau^2 is then about 0) where hardly two people share a cell.
_PRIOR_DF = 2.0


@dataclass(frozen=True)
class Saturated:
    """Cell means shrunk toward the GLM; `shrink=False` keeps plain cell means (the GLM then fills
    empty cells, and tells levels of one cell apart)."""

    shrink: bool = True

    def mean(self, name: str, features: Features, sums: Sums) -> Floats:
        """Gaussian GLM with a small ridge and shrunk cell residuals, by level."""
        # Weights count people: their total is the effective number.
        scale = float(sums.w.sum() / sums.ww.sum())
        fine = sums.w * scale
        centre = float(sums.y.sum() / sums.w.sum())
        y = (sums.y - centre * sums.w) * scale
        yy = (sums.yy - 2 * centre * sums.y + centre**2 * sums.w) * scale
        glm, inverse = gaussian(features, sums)
        weight = features.per_cell(fine)
        seen = weight > 0
        left = features.per_cell(y - fine * glm)
        gap = np.divide(left, weight, out=np.zeros(len(weight)), where=seen)
        if not self.shrink:
            return centre + glm + features.per_level(gap)
        squares = features.per_cell(np.maximum(yy - 2 * glm * y + fine * glm**2, 0.0))
        leverage = _leverage(features, fine, weight, inverse)[seen]
        used = _used(features, fine, inverse)  # degrees of freedom of the GLM
        repeat = features.per_cell(sums.ww)[seen] / features.per_cell(sums.w)[seen] * scale
        within = np.maximum(squares[seen] - left[seen] * gap[seen], 0.0).sum()
        # Slopes within cells take what the cells' own leverages leave of `used`.
        within_df = max((weight[seen] - repeat).sum() - (used - leverage.sum()), 0.0)
        residual = squares.sum() / max(fine.sum() - used, 1.0)
        noise = (within + _PRIOR_DF * residual) / (within_df + _PRIOR_DF)
        mix = np.zeros(len(weight))
        mix[seen] = _signal_share(
            gap=gap[seen],
            weight=weight[seen],
            repeat=repeat,  # 1 where nobody carries a weight
            leverage=leverage,
            noise=np.full(int(seen.sum()), noise),
            signal=np.ones(int(seen.sum())),
        )
        return centre + glm + features.per_level(mix * gap)

    def probability(self, name: str, features: Features, sums: Sums) -> Floats:
        """Logistic GLM with a small ridge; tau^2 is a multiple of p (1 - p), so the shrunk mean
        is that of a beta-binomial model and stays inside (0, 1), as do all levels of the cell:
        a cell's mean moves by scaling p down or 1 - p down."""
        scale = float(sums.w.sum() / sums.ww.sum())
        fine = sums.w * scale
        y = sums.y * scale
        glm, inverse = logit_fit(features, sums)
        weight = features.per_cell(fine)
        seen = weight > 0

        def average(values: Floats) -> Floats:
            """Cell means (K,) of values (U,); 1 in unseen cells."""
            total = features.per_cell(fine * values)
            return np.divide(total, weight, out=np.ones(len(weight)), where=seen)

        low, high = average(glm), average(1 - glm)
        left = features.per_cell(y - fine * glm)
        gap = np.divide(left, weight, out=np.zeros(len(weight)), where=seen)
        mix = np.ones(len(weight))
        if self.shrink:
            spread = average(glm * (1 - glm))
            leverage = _leverage(features, fine * glm * (1 - glm), weight * spread, inverse)
            repeat = features.per_cell(sums.ww)[seen] / features.per_cell(sums.w)[seen] * scale
            mix[seen] = _signal_share(
                gap=gap[seen],
                weight=weight[seen],
                repeat=repeat,
                leverage=leverage[seen],
                noise=spread[seen],
                signal=spread[seen],
            )
        move = mix * gap
        shift = features.per_level(np.where(move < 0, move / low, move / high))
        return np.clip(glm + np.where(shift < 0, glm, 1 - glm) * shift, 0.0, 1.0)


def _signal_share(
    *, gap: Floats, weight: Floats, repeat: Floats, leverage: Floats, noise: Floats, signal: Floats
) -> Floats:
    """tau^2 / (tau^2 + s^2/n) per seen cell, with tau^2 = rho * signal and s^2 = `noise`.

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


def _used(features: Features, fine: Floats, inverse: Floats) -> float:
    rows, some, _ = trained(features.design, fine, fine)
    return float((some * quadratic(rows, inverse)).sum())


def _leverage(features: Features, fine: Floats, weight: Floats, inverse: Floats) -> Floats:
    """(K,): share of a cell's mean that the GLM takes: s' A s / w, s the cell's weighted sum of
    design rows. `fine` (U,) weighs levels, weight (K,) is its sum by cell."""
    if features.starts is None:
        return fine * quadratic(features.design, inverse)
    sums = features.per_cell(features.design * fine[:, None])
    return quadratic(sums, inverse) / np.maximum(weight, np.finfo(float).tiny)
