"""Means of units that hang together in several ways at once: postings and names.

A ratio sum(num) / sum(den) has influence (num - ratio den) / sum(den). Its variance is the sum of
squares of influence summed within clusters; with several ways of clustering, sums over one way,
minus those over pairs of ways, plus those over triples, each times G / (G - 1) of its own groups.
Source: Cameron, Gelbach & Miller (2011), equations 2.8 to 2.13.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import stdtr, stdtrit

Array = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Clustered:
    """An estimate with a clustered error, in the units of num / den.

    std_error, low, high, p_value: None where a way has a single group. p is that of the t test
    against 0. groups: of each way. narrow: the several ways gave less variance than the first
    alone, which was taken instead.
    """

    value: float
    std_error: float | None
    low: float | None
    high: float | None
    p_value: float | None
    df: int
    groups: tuple[int, ...]
    narrow: bool = False


def compressed(codes: ArrayLike) -> tuple[Ints, int]:
    """Codes 0..G-1 of groups (C,), and G."""
    values, at = np.unique(np.asarray(codes), return_inverse=True)
    return at.reshape(-1).astype(np.int64), len(values)


def group_sums(values: ArrayLike, codes: ArrayLike) -> Array:
    """(G,) sums of values (C,) within groups, in the order of their codes (C,)."""
    at, groups = compressed(codes)
    weights = np.asarray(values, dtype=np.float64)
    return np.asarray(np.bincount(at, weights=weights, minlength=groups), dtype=np.float64)


def crossed_codes(ways: Sequence[Ints]) -> list[tuple[int, Ints, int]]:
    """For every non-empty set of ways: its sign in the variance, codes (C,), and groups."""
    plain = [compressed(way) for way in ways]
    found = []
    for size in range(1, len(ways) + 1):
        for chosen in combinations(range(len(ways)), size):
            codes, groups = plain[chosen[0]]
            for k in chosen[1:]:
                codes, groups = compressed(codes * plain[k][1] + plain[k][0])
            found.append((1 if size % 2 else -1, codes, groups))
    return found


class Ways(tuple[Ints, ...]):
    """Codes (C,) of each way of clustering, crossed once for all estimates of the same cells."""

    @cached_property
    def crossed(self) -> list[tuple[int, Ints, int]]:
        return crossed_codes(self)

    @cached_property
    def first(self) -> Ways:
        """The first way alone."""
        found = Ways(self[:1])
        found.crossed = self.crossed[:1]  # single ways come first
        return found

    @property
    def groups(self) -> tuple[int, ...]:
        """Of each way."""
        return tuple(groups for _, _, groups in self.crossed[: len(self)])


def multiway_variance(influence: Array, ways: Sequence[Ints]) -> float:
    """Variance of sum(influence) (C,) under these ways of clustering; may be below 0, as
    differences of sums of squares are. Every way has two groups or more."""
    total = 0.0
    for sign, codes, groups in ways.crossed if isinstance(ways, Ways) else crossed_codes(ways):
        sums = np.bincount(codes, weights=influence, minlength=groups)
        total += sign * float(sums @ sums) * groups / (groups - 1)
    return total


def multiway_covariance(influence: Array, ways: Sequence[Ints]) -> Array:
    """(M, M) covariance of the sums of influence (C, M). Symmetric; negative eigenvalues, which
    several ways can give, are set to 0, and no variance is below that of the first way alone."""
    found = _summed(influence, ways)
    if len(ways) == 1:
        return found
    first = np.diag(_summed(influence, ways[:1]))
    values, vectors = np.linalg.eigh(found)
    found = (vectors * np.clip(values, 0.0, None)) @ vectors.T
    return np.asarray(found + np.diag(np.maximum(first - np.diag(found), 0.0)), dtype=np.float64)


def _summed(influence: Array, ways: Sequence[Ints]) -> Array:
    total = np.zeros((influence.shape[1], influence.shape[1]))
    for sign, codes, groups in crossed_codes(ways):
        sums = np.zeros((groups, influence.shape[1]))
        np.add.at(sums, codes, influence)
        total += sign * groups / (groups - 1) * (sums.T @ sums)
    return (total + total.T) / 2


def ratio(
    num: ArrayLike, den: ArrayLike, ways: Sequence[Ints], *, level: float = 0.95
) -> Clustered:
    """sum(num) / sum(den) of cells num, den (C,); sum(den) must not be 0.

    ways: codes (C,) of each way of clustering, the postings first. The variance is never below
    that of the first way. t with degrees of freedom of the way with the fewest groups, minus 1.
    """
    top, below = np.asarray(num, dtype=np.float64), np.asarray(den, dtype=np.float64)
    total = float(below.sum())
    value = float(top.sum()) / total
    return from_influence(value, (top - value * below) / total, ways, level=level)


def from_influence(
    value: float, influence: Array, ways: Sequence[Ints], *, level: float = 0.95,
    df: int | None = None,
) -> Clustered:  # fmt: skip
    """An estimate whose error is the sum of influence (C,) under these ways of clustering. df: of
    t, where it is not the fewest groups of a way, minus 1."""
    ways = ways if isinstance(ways, Ways) else Ways(ways)
    groups = ways.groups
    df = min(groups) - 1 if df is None else df
    if df < 1:
        return Clustered(value, None, None, None, None, df, groups)
    variance = first = multiway_variance(influence, ways.first)
    if len(ways) > 1:
        variance = max(first, multiway_variance(influence, ways))
    return _inferred(value, variance, df, groups, level, len(ways) > 1 and variance == first)


def difference(
    value: float, one: Array, two: Array, codes: tuple[Ints, Ints], *, level: float = 0.95
) -> Clustered:
    """A difference of two estimates from samples of their own, which may share clusters.

    one, two: influence (C1,), (C2,) on `value`, signs included; codes: their clusters, one list
    for both. Each side's variance is times G / (G - 1) of its own clusters, and t has G - 1 degrees
    of freedom of the side with fewer: a sample of five clusters does not become a large one
    because it is compared with a hundred. None where a side has one cluster: its influence adds up
    to 0 there, whatever the truth.
    """
    groups = tuple(len(np.unique(c)) for c in codes)
    df = min(groups) - 1
    if df < 1:
        return Clustered(value, None, None, None, None, df, groups)
    at, total = compressed(np.concatenate(codes))
    split = len(one)
    a = np.bincount(at[:split], weights=one, minlength=total)
    b = np.bincount(at[split:], weights=two, minlength=total)
    scales = [g / (g - 1) for g in groups]
    variance = scales[0] * float(a @ a) + scales[1] * float(b @ b) + 2 * float(a @ b)
    return _inferred(value, variance, df, groups, level)


def _inferred(
    value: float, variance: float, df: int, groups: tuple[int, ...], level: float,
    narrow: bool = False,
) -> Clustered:  # fmt: skip
    error = math.sqrt(max(0.0, variance))
    reach = float(stdtrit(df, (1 + level) / 2)) * error
    p = 0.0 if value else 1.0
    if error > 0:
        p = 2 * float(stdtr(df, -abs(value) / error))
    return Clustered(value, error, value - reach, value + reach, p, df, groups, narrow)
