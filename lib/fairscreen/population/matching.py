"""Density-ratio matching: weights that give one sample another's distribution of covariates.

A boosted classifier learns target against source; its odds are the ratio of their densities.
Source: PopResume, section 4.1 (P2 reweights PSID to the covariates of ACS).
"""

from __future__ import annotations

import numpy as np
import xgboost as xgb
from numpy.typing import NDArray

Array = NDArray[np.float64]

# Shallow and few: with a thousand PSID people a sharper classifier only chases noise.
_PARAMS = {
    "objective": "binary:logistic", "max_depth": 2, "eta": 0.2, "tree_method": "hist",
    "nthread": 1, "seed": 0, "base_score": 0.5,
}  # fmt: skip
_ROUNDS = 60
_LARGEST = 20.0  # a ratio is kept within a factor of this, so that nobody carries the fit alone


def density_ratio(
    source: Array, target: Array, *, source_weight: Array, target_weight: Array
) -> Array:
    """Ratio target density / source density at each source row (n,), weighted mean 1.

    source (n, k), target (m, k): covariates; weights (n,), (m,): survey weights, positive.
    Rows must come sorted by key: the trees depend on their order.
    """
    X = np.vstack([source, target])
    label = np.repeat([0.0, 1.0], [len(source), len(target)])
    # Equal totals, so that odds of 1 mean equal densities; mean 1, so that regularisation and
    # the least child weight keep their meaning.
    half = len(X) / 2
    weight = np.concatenate(
        [
            source_weight * half / source_weight.sum(),
            target_weight * half / target_weight.sum(),
        ]
    )
    booster = xgb.train(_PARAMS, xgb.DMatrix(X, label, weight=weight, nthread=1), _ROUNDS)
    margin = booster.predict(xgb.DMatrix(source, nthread=1), output_margin=True)
    limit = np.log(_LARGEST)
    ratio = np.exp(np.clip(margin.astype(np.float64), -limit, limit))
    return np.asarray(ratio / np.average(ratio, weights=source_weight))


def effective_n(weight: Array) -> float:
    """Kish's effective sample size of weights (n,)."""
    return float(weight.sum() ** 2 / (weight**2).sum())
