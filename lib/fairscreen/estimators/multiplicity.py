"""Corrections for many tests: Holm, Benjamini-Hochberg, step-down max-t.

A family holds computable members only. A member without a p-value never enters, gets no adjusted
p-value, and is counted, so that nobody takes 3 of 5 tests for 5.
Sources: Holm (1979); Benjamini & Hochberg (1995); Westfall & Young (1993), algorithm 2.8, with the
joint Gaussian limit of the influence functions as null distribution (the multiplier bootstrap).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from fairscreen.random import hashes

Array = NDArray[np.float64]
_BLOCK = 1_000_000  # numbers drawn at a time


@dataclass(frozen=True)
class Adjusted:
    """Adjusted p-values of one member of a family. `maxt` is None without a t statistic."""

    holm: float
    bh: float
    maxt: float | None


@dataclass(frozen=True)
class Family:
    """Adjusted p-values in the order given; None = not computable and left out of the family."""

    members: tuple[Adjusted | None, ...]
    tested: int
    left_out: int


def holm(p: Array) -> Array:
    """Holm's step-down p-values (m,) of p (m,): they hold under any dependence."""
    m = len(p)
    order = np.argsort(p, kind="stable")
    steps = np.maximum.accumulate(p[order] * np.arange(m, 0, -1))
    out = np.empty(m)
    out[order] = np.minimum(steps, 1.0)
    return out


def benjamini_hochberg(p: Array) -> Array:
    """Step-up p-values (m,) that bound the false discovery rate, of p (m,)."""
    m = len(p)
    order = np.argsort(p, kind="stable")
    steps = p[order] * (m / np.arange(1, m + 1))  # factors >= 1: no p is rounded below itself
    out = np.empty(m)
    out[order] = np.minimum(np.minimum.accumulate(steps[::-1])[::-1], 1.0)
    return out


def max_t(t: Array, correlation: Array, *, draws: int = 10_000, seed: int | str) -> Array:
    """Two-sided step-down max-t p-values (m,) of statistics t (m,), correlation (m, m).

    p = (1 + exceedances) / (1 + draws), made monotone along the order of |t|. The draws are
    N(0, correlation) by the symmetric square root, which is the same on every machine whatever
    signs its eigenvectors have; correlations of rank below m (NIE = BIE + RIE) are fine.
    """
    m = len(t)
    if m == 0:
        return np.empty(0)
    if correlation.shape != (m, m):
        raise ValueError(f"correlation is {correlation.shape}, statistics are {m}")
    values, vectors = np.linalg.eigh((correlation + correlation.T) / 2)
    root = (vectors * np.sqrt(np.clip(values, 0.0, None))) @ vectors.T
    size = np.abs(t)
    order = np.argsort(-size, kind="stable")
    exceed = np.zeros(m, dtype=np.int64)
    bits = np.random.PCG64(int(hashes(seed, "multiplicity/max_t", ["draws"])[0]))
    left = draws
    while left:
        rows = min(left, max(1, _BLOCK // m))
        # A bit generator's stream is fixed for good; numpy's normal draws are not.
        top = np.asarray(bits.random_raw(rows * m)) >> np.uint64(12)
        normal = ndtri((top.astype(np.float64) + 0.5) * 2.0**-52).reshape(rows, m)
        null = np.abs(normal @ root)[:, order]
        # Column i: the largest among the members that are still in the race at step i.
        largest = np.maximum.accumulate(null[:, ::-1], axis=1)[:, ::-1]
        exceed += (largest >= size[order] * (1 - 1e-12)).sum(axis=0)
        left -= rows
    steps = np.maximum.accumulate((1.0 + exceed) / (1.0 + draws))
    out = np.empty(m)
    out[order] = steps
    return out


def adjust(
    p: Sequence[float | None],
    t: Sequence[float | None] | None = None,
    correlation: Array | None = None,
    *,
    draws: int = 10_000,
    seed: int | str = 0,
) -> Family:
    """All three corrections of one family; members without a finite p are left out.

    p, t (m,); correlation (m, m) of the t statistics. Without t or correlation, no max-t.
    """
    members = [i for i, value in enumerate(p) if value is not None and np.isfinite(value)]
    out: list[Adjusted | None] = [None] * len(p)
    if members:
        given = np.array([p[i] for i in members], dtype=np.float64)
        by_holm, by_bh = holm(given), benjamini_hochberg(given)
        by_maxt: Array | None = None
        if t is not None and correlation is not None:
            stats = np.array([t[i] for i in members], dtype=np.float64)
            if np.isfinite(stats).all():
                block = correlation[np.ix_(members, members)]
                by_maxt = max_t(stats, block, draws=draws, seed=seed)
        for k, i in enumerate(members):
            maxt = None if by_maxt is None else float(by_maxt[k])
            out[i] = Adjusted(float(by_holm[k]), float(by_bh[k]), maxt)
    return Family(tuple(out), len(members), len(p) - len(members))
