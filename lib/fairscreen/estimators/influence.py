"""Errors from influence coefficients: phi = a + c Y of a person, summed over cells.

The cell sums n, sum Y and sum Y^2 give the exact person-level moments of phi, because phi is
linear in Y within a cell.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr, ndtri, stdtr, stdtrit

from fairscreen import random
from fairscreen.estimators.data import Floats, Ints, PathData, totals


@dataclass(frozen=True, eq=False)
class Influence:
    """Influence on J estimates: columns of independent mean-zero terms, `terms` (T, J), scaled so
    that estimate - truth is about their sum. Their cross product is the covariance.

    units: how many independent people or clusters.
    """

    estimate: Floats
    terms: Floats
    units: int

    @property
    def covariance(self) -> Floats:
        """(J, J), with the factor units / (units - 1)."""
        factor = self.units / max(self.units - 1, 1)
        return factor * (self.terms.T @ self.terms)


def influence(data: PathData, a: Floats, c: Floats) -> Influence:
    """Weighted means of phi = a + c Y, and their influence terms; a, c (C, J).

    Without clusters a cell gives two terms: sqrt(n) m, with m the mean of phi - estimate in the
    cell, and sqrt(SS) c, with SS the sum of squares of Y around the cell's mean (left out where
    it is 0). Over the people
    of the cell sum (phi - estimate)^2 = n m^2 + SS c^2, products alike. With clusters phi is
    summed within each.
    """
    n, w = data.n.astype(np.float64), data.w
    mean_y = data.sum_y / n
    total = float((n * w).sum())
    phi = a + c * mean_y[:, None]
    estimate = ((n * w)[:, None] * phi).sum(axis=0) / total
    centred = phi - estimate
    if data.cluster is None:
        inner = np.sqrt(np.maximum(data.sum_yy - data.sum_y * mean_y, 0.0))
        inner = w * np.where(data.n > 1, inner, 0.0)
        some = inner > 0
        rows = [(w * np.sqrt(n))[:, None] * centred, inner[some, None] * c[some]]
        return Influence(estimate, np.concatenate(rows) / total, int(n.sum()))
    clusters, at = np.unique(data.cluster, return_inverse=True)
    columns = [totals(at.reshape(-1), n * w * column, len(clusters)) for column in centred.T]
    terms = np.stack(columns, axis=1)
    return Influence(estimate, terms / total, len(clusters))


def multiplier_draws(terms: Floats, draws: int, seed: int | str) -> Floats:
    """Draws (draws, J) of estimate - truth: Gaussian multipliers on the terms (T, J).

    Sums of independent standard normals times the terms are jointly normal with the covariance
    terms' terms, whatever T is: so they are drawn as J normals times the symmetric root of that
    matrix, which is the same bootstrap, and neither T nor the order of the terms matters. The
    normals are Philox bits, keyed by the seed, through the inverse normal distribution function.
    """
    key = random.hashes(seed, "paths/multipliers", ["philox"])[0]
    raw = np.random.Philox(key=int(key)).random_raw(draws * terms.shape[1])
    normal = ndtri(((raw >> np.uint64(12)).astype(np.float64) + 0.5) * 2.0**-52)
    size = np.sqrt((terms**2).sum(axis=0))
    unit = terms / np.where(size > 0, size, 1.0)
    values, vectors = np.linalg.eigh(unit.T @ unit)
    # Effects that add up leave eigenvalues of 0: rounding must not come back as its square root.
    values = np.where(values > 1e-12 * values[-1], values, 0.0)
    root = (vectors * np.sqrt(values)) @ vectors.T
    out: Floats = normal.reshape(draws, -1) @ (root * size)
    return out


Numbers = tuple[float, float, float, float, float]


def normal_intervals(inference: Influence, level: float, *, clustered: bool) -> list[Numbers]:
    """(estimate, error, low, high, two-sided p) per estimate: normal, or t with G - 1 degrees of
    freedom where people come in G clusters."""
    upper = (1 + level) / 2
    degrees = inference.units - 1
    reach = float(stdtrit(degrees, upper)) if clustered else float(ndtri(upper))
    rows: list[Numbers] = []
    errors = np.sqrt(np.diag(inference.covariance))
    for value, error in zip(inference.estimate.tolist(), errors.tolist(), strict=True):
        z = -abs(value) / error if error > 0 else 0.0
        tail = float(stdtr(degrees, z)) if clustered else float(ndtr(z))
        rows.append((value, error, value - reach * error, value + reach * error, 2 * tail))
    return rows


def bootstrap_intervals(
    inference: Influence, level: float, draws: int, seed: int | str
) -> list[Numbers]:
    """The same by the multiplier bootstrap: percentiles of estimate + draw; Monte Carlo p with
    the observed value counted among the draws. Empty for draws = 0."""
    if draws == 0:
        return []
    drawn = multiplier_draws(inference.terms, draws, seed)
    tail = (1 - level) / 2
    rows: list[Numbers] = []
    for j, value in enumerate(inference.estimate.tolist()):
        column = drawn[:, j]
        low, high = np.quantile(column, [tail, 1 - tail]).tolist()
        error = float(np.sqrt(np.mean(column**2)))
        beyond = int((np.abs(column) >= abs(value)).sum())
        rows.append((value, error, value + low, value + high, (1 + beyond) / (1 + draws)))
    return rows


def unit_totals(data: PathData, weight: Floats) -> tuple[Floats, Ints]:
    """Totals of a weight per unit and how many units share each: clusters, else people."""
    if data.cluster is None:
        return data.w * weight, data.n
    clusters, at = np.unique(data.cluster, return_inverse=True)
    held = totals(at.reshape(-1), data.n * data.w * weight, len(clusters))
    return held, np.ones(len(clusters), dtype=np.int64)
