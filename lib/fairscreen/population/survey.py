"""Errors of survey estimates from replicate weights: numpy only."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fairscreen.estimators.replicates import replicate_error

REPLICATES = 80


def successive_difference_error(estimate: ArrayLike, replicates: ArrayLike) -> NDArray[np.float64]:
    """Standard error by successive difference replication: sqrt(4/80 sum_r (X_r - X)^2).

    estimate    (...) the estimate X under the full weights.
    replicates  (..., 80) the same estimate under each replicate weight.
    Returns (...), in the unit of the estimate. Differences are taken from X, not from the mean
    of the replicates. Totals given as integers stay exact up to the square.
    Raises ValueError where the shapes do not fit.
    Source: Census Bureau, PUMS Accuracy of the Data, "Standard errors with replicate weights".
    """
    full, under = np.asarray(estimate), np.asarray(replicates)
    if under.shape != (*full.shape, REPLICATES):
        raise ValueError(
            f"replicates have shape {under.shape}; an estimate of shape {full.shape} needs "
            f"{(*full.shape, REPLICATES)}"
        )
    return replicate_error(full, under, 4.0 / REPLICATES)
