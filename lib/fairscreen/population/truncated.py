"""The normal distribution cut to [0, upper], stable however far the mean lies outside.

All on the log scale, in whichever tail keeps digits: a mean 40 sigma above the upper limit still
gives a proper distribution just below it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_ndtr, ndtri_exp

Array = NDArray[np.float64]


def ppf(u: Array, mean: Array, sigma: Array, upper: Array) -> Array:
    """Inverse distribution function at u (n,) in (0, 1); 0 where `upper` is 0."""
    low, high, flip = _limits(mean, sigma, upper)
    v = np.where(flip, 1 - u, u)
    log_p = np.logaddexp(np.log1p(-v) + log_ndtr(low), np.log(v) + log_ndtr(high))
    z = np.clip(ndtri_exp(log_p), low, high)
    x = mean + sigma * np.where(flip, -z, z)
    return np.asarray(np.clip(x, 0, upper))


def cdf(x: Array, mean: Array, sigma: Array, upper: Array) -> Array:
    """Distribution function at x; arrays broadcast. 1 from `upper` on, also where upper is 0."""
    x, mean, sigma, upper = np.broadcast_arrays(x, mean, sigma, upper)
    low, high, flip = _limits(mean, sigma, upper)
    z = np.clip(np.where(flip, -(x - mean) / sigma, (x - mean) / sigma), low, high)
    log_low, log_high = log_ndtr(low), log_ndtr(high)
    with np.errstate(divide="ignore", invalid="ignore"):
        # log(Phi(z) - Phi(low)) - log(Phi(high) - Phi(low)), each about the larger term
        log_z = log_ndtr(z)
        part = log_z + np.log1p(-np.exp(log_low - log_z))
        whole = log_high + np.log1p(-np.exp(log_low - log_high))
        share = np.exp(part - whole)
    share = np.where(flip, 1 - share, share)
    return np.where(x >= upper, 1.0, np.where(x < 0, 0.0, np.clip(share, 0, 1)))


def _limits(mean: Array, sigma: Array, upper: Array) -> tuple[Array, Array, NDArray[np.bool_]]:
    """Standardised limits, mirrored where most of the interval lies above the mean."""
    low, high = -mean / sigma, (upper - mean) / sigma
    flip = low + high > 0
    return np.where(flip, -high, low), np.where(flip, -low, high), flip
