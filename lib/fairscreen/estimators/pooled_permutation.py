"""The published permutation test of level and spread: pool two lists of ranks and shuffle.

It ignores that the two ranks of a resume belong together. On ranks of three versions, whose
correlation within the resume is -1/2, it rejects too often (0.11 at a nominal 0.05); where that
correlation is positive it has next to no power. It stands beside the paired tests, named.

Ranks sit on few values, so a shuffle is decided by how many of each value go to the first list: a
multivariate hypergeometric draw of counts, with the same distribution at a fraction of the cost.
The observed value counts among the draws, as published: p = (1 + exceedances) / (1 + draws).
The published test of spread counts ratios of at least the observed one, and no others: it is
one-sided, and a ratio below 1 cannot be significant.
Source: JobFair, section 3.7 and its evaluation code.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fairscreen import random
from fairscreen.errors import InputError

Array = NDArray[np.float64]
DRAWS = 100_000
# More distinct values than this are shuffled one by one, in fewer draws if there are many.
_FEW_VALUES = 64
_MAX_SHUFFLED = 50_000_000
_BLOCK = 2_000_000


@dataclass(frozen=True)
class PooledPermutation:
    """difference: mean(x) - mean(y), p_level two-sided. ratio: var(x) / var(y), ddof 1, p_spread
    one-sided; both None where a variance is 0 or there are not two values on each side. draws made.
    """

    difference: float
    p_level: float
    ratio: float | None
    p_spread: float | None
    draws: int


def pooled_permutation(
    *, x: ArrayLike, y: ArrayLike, draws: int = DRAWS, seed: int | str = 0
) -> PooledPermutation:
    """Both published tests of x (n,) against y (m,), from one set of draws.

    Raises InputError where a side is empty or not finite.
    """
    one, two = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    for name, side in (("x", one), ("y", two)):
        if side.ndim != 1 or not len(side) or not np.isfinite(side).all():
            raise InputError(f"array {name}", "is no vector of finite numbers", "Give some ranks.")
    pooled = np.concatenate([one, two])
    centre = float(pooled.mean())  # variances of numbers far from 0
    values, counts = np.unique(pooled - centre, return_counts=True)
    observed = _statistics(*_moments(one - centre), *_moments(pooled - centre), len(one), len(two))
    key = int(random.hashes(seed, "pooled_permutation", ["philox"])[0])
    generator = np.random.Generator(np.random.Philox(key=key))
    total = _moments(pooled - centre)
    if len(values) > _FEW_VALUES:
        draws = min(draws, max(999, _MAX_SHUFFLED // len(pooled)))
    beyond = above = 0
    for size in _blocks(draws, max(1, _BLOCK // max(len(values), 1))):
        if len(values) <= _FEW_VALUES:
            taken = generator.multivariate_hypergeometric(counts, len(one), size=size)
            sums = taken @ values, taken @ values**2
        else:
            sums = _shuffled(pooled - centre, len(one), size, generator)
        level, spread = _statistics(*sums, *total, len(one), len(two))
        beyond += int((np.abs(level) >= np.abs(observed[0]) - _slack(values)).sum())
        above += int((spread >= observed[1] * (1 - 1e-12)).sum())  # NaN: no ratio, no exceedance
    ratio = float(observed[1])
    none = not (np.isfinite(ratio) and ratio > 0)
    return PooledPermutation(
        difference=float(observed[0]),
        p_level=(1 + beyond) / (1 + draws),
        ratio=None if none else ratio,
        p_spread=None if none else (1 + above) / (1 + draws),
        draws=draws,
    )


def _blocks(draws: int, most: int) -> list[int]:
    return [min(most, draws - start) for start in range(0, draws, most)]


def _slack(values: Array) -> float:
    """Rounding must not turn a tie into a smaller difference."""
    return 1e-12 * float(np.abs(values).max())


def _moments(values: Array) -> tuple[Array, Array]:
    return np.asarray(values.sum()), np.asarray((values**2).sum())


def _statistics(
    s: Array, ss: Array, total: Array, squares: Array, n: int, m: int
) -> tuple[Array, Array]:
    """Difference of means and ratio of variances, from the sums of the first list."""
    other, other_squares = total - s, squares - ss
    difference = s / n - other / m
    if n < 2 or m < 2:
        return difference, np.full_like(difference, np.nan)
    first = np.maximum(ss - s**2 / n, 0.0) / (n - 1)
    second = np.maximum(other_squares - other**2 / m, 0.0) / (m - 1)
    nothing = 1e-12 * squares / (n + m)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where(first > nothing, first, 0.0) / np.where(second > nothing, second, 0.0)
    return difference, ratio


def _shuffled(
    pooled: Array, n: int, size: int, generator: np.random.Generator
) -> tuple[Array, Array]:
    sums, squares = np.empty(size), np.empty(size)
    step = max(1, _BLOCK // len(pooled))
    for start in range(0, size, step):
        rows = min(step, size - start)
        order = generator.random((rows, len(pooled))).argpartition(n - 1, axis=1)[:, :n]
        mine = pooled[order]
        sums[start : start + rows] = mine.sum(axis=1)
        squares[start : start + rows] = (mine**2).sum(axis=1)
    return sums, squares
