"""The spread of P2 by age band, gender and job, thin strata shrunk toward coarser ones.

Strata in order: everybody, age band, band x gender, band x gender x job. People of other jobs
inform the first three. Two estimates: `by_likelihood` of the truncated normal (default), and
`by_residuals`, plain standard deviations (published).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import CubicSpline

from fairscreen.population import truncated

Array = NDArray[np.float64]
Index = NDArray[np.int64]
Mask = NDArray[np.bool_]

_STEP = 0.15  # of the grid of log sigma; the spline between is good to 0.1% of sigma


@dataclass(frozen=True)
class Strata:
    """Where n rows belong. person (n,): the same number = the same person, of two waves."""

    band: Index  # (n,)
    gender: Index  # (n,)
    informs: Mask  # (n, J)
    weight: Array  # (n,)
    person: Index  # (n,)
    n_bands: int
    n_genders: int

    @property
    def shape(self) -> tuple[int, int, int]:
        """(J + 1, K, G): the last job stands for all others."""
        return self.informs.shape[1] + 1, self.n_bands, self.n_genders

    def people(self, rows: Mask) -> float:
        """Effective number of people behind some rows."""
        return effective_n(self.weight[rows], self.person[rows])


def effective_n(weight: Array, cluster: Index | None = None) -> float:
    """Kish's effective sample size of weights (n,); with clusters (n,), of their totals."""
    if cluster is not None:
        weight = np.asarray(np.bincount(cluster, weights=weight), dtype=np.float64)
    square = float((weight**2).sum())
    return float(weight.sum()) ** 2 / square if square > 0 else 0.0


def within_half_a_year(years: Array, upper: Array) -> tuple[Array, Array]:
    """What an answer in whole years stands for: [y - 1/2, y + 1/2] within [0, upper]."""
    return np.maximum(years - 0.5, 0), np.minimum(years + 0.5, upper)


def by_likelihood(
    years: Array, upper: Array, mean: Array, strata: Strata, *, prior_n: float, floor: float,
    keep_mean: bool,
) -> Array:  # fmt: skip
    """sigma (J + 1, K, G) that maximises the truncated normal likelihood, stratum by stratum.

    years, upper, mean (n,): years worked, the most there can be, and the predicted mean. Years are
    whole: y stands for [y - 1/2, y + 1/2] within [0, upper] (where `upper` is a few years only,
    taking y as exact would see a heap on the bound). The location is the one whose truncated mean
    is `mean` (keep_mean), else `mean` itself. Weights count as effective people. The coarser
    stratum's sigma' enters as a normal prior of log sigma worth prior_n people (a person's
    information on log sigma is 2): -prior_n (log sigma - log sigma')^2. Kept between `floor` and
    the largest `upper`: a wider normal is flat there. Rows whose upper is 0 say nothing.
    """
    most = max(float(upper.max(initial=0.0)), 2 * floor)
    grid = np.linspace(np.log(floor), np.log(most), int(np.ceil(np.log(most / floor) / _STEP)) + 4)
    some = upper > 0
    y, m, u = years[some, None], mean[some, None], upper[some, None]
    location = truncated.location_of(m, np.exp(grid), u) if keep_mean else m
    each = np.zeros((len(years), len(grid)))
    low, high = within_half_a_year(y, u)
    each[some] = truncated.log_chance(low, high, location, np.exp(grid), u)
    each *= strata.weight[:, None]

    def estimate(rows: Mask, coarser: float | None) -> float:
        rows = rows & some
        total = np.zeros(len(grid))
        if (whole := float(strata.weight[rows].sum())) > 0:
            total = each[rows].sum(axis=0) * strata.people(rows) / whole
        if coarser is not None:
            total = total - prior_n * (grid - np.log(coarser)) ** 2
        return float(np.exp(_peak(grid, total)))

    return _by_stratum(strata, estimate)


def by_residuals(residual: Array, strata: Strata, *, prior_n: float, floor: float) -> Array:
    """Residual SD (J + 1, K, G), variances shrunk: (n v + prior_n v') / (n + prior_n).

    n rows of variance v in the stratum, v' the coarser stratum's.
    """
    square = residual**2

    def estimate(rows: Mask, coarser: float | None) -> float:
        n = int(rows.sum())
        if n == 0:
            return floor if coarser is None else coarser
        own = float(np.average(square[rows], weights=strata.weight[rows]))
        shrunk = own if coarser is None else (n * own + prior_n * coarser**2) / (n + prior_n)
        return float(np.sqrt(shrunk))

    return np.maximum(_by_stratum(strata, estimate), floor)


def _by_stratum(strata: Strata, estimate: Callable[[Mask, float | None], float]) -> Array:
    jobs, bands, genders = strata.shape
    sigma = np.empty(strata.shape)
    whole = estimate(np.ones(len(strata.band), dtype=bool), None)
    for k in range(bands):
        by_band = estimate(strata.band == k, whole)
        for g in range(genders):
            here = (strata.band == k) & (strata.gender == g)
            sigma[-1, k, g] = by_gender = estimate(here, by_band)
            for j in range(jobs - 1):
                sigma[j, k, g] = estimate(here & strata.informs[:, j], by_gender)
    return sigma


def _peak(grid: Array, values: Array) -> float:
    """Where a smooth function given on a grid is largest."""
    curve = CubicSpline(grid, values)
    turns = curve.derivative().roots(extrapolate=False)
    places = np.concatenate([grid, turns[np.isfinite(turns)]])
    return float(places[int(np.argmax(curve(places)))])
