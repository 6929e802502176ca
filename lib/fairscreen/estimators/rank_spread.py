"""Spread: do the ranks of one version vary more over resumes than those of the other?

Paired swap: both lists of ranks are centred at their own mean, the two centred ranks of a resume
are swapped by a coin (all sets of the resume together), and the ratio of variances is computed
anew, recentred. Two-sided in the log ratio. The test is exact where labels are exchangeable
within the resume, up to the centring (size 0.049 at 5%, 0.00045 at 0.05%, n = 100); no exact test
exists for variances alone. Pitman-Morgan assumes normal pairs: on ranks its size reaches 0.21.

With centred ranks a, b of a set, m = (a + b) / 2, h = (a - b) / 2 and g = (a^2 - b^2) / 2, a swap
changes the signs of h and g: two sums over resumes, H of +-h and G of +-g, decide the ratio. Ranks
of three versions have few distinct (h, g), so most resumes share theirs and are one binomial draw.
Source: the paired permutation test; JobFair, section 3.7, for what it replaces.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import pearsonr

from fairscreen import random
from fairscreen.estimators.ranks import Array, Ints, from_influence, grouped, item_sums

SWAPS = 19_999
_NOTHING = 1e-12
# Resumes that share (h, g) with at least so many are one binomial draw; others are coins.
_MANY = 8
_BLOCK = 4_000_000
_WORD = 16
_BITS = np.array([bin(value).count("1") for value in range(1 << _WORD)], dtype=np.uint8)


@dataclass(frozen=True)
class Spread:
    """ratio: var(a) / var(b), ddof 1; std_error of the ratio, low and high from the log ratio's
    influence, None with one resume. p_value: (1 + exceedances) / (1 + swaps)."""

    ratio: float
    std_error: float | None
    low: float | None
    high: float | None
    p_value: float
    swaps: int


def spread_test(
    *,
    a: ArrayLike,
    b: ArrayLike,
    item: ArrayLike,
    swaps: int = SWAPS,
    level: float = 0.95,
    seed: int | str = 0,
) -> Spread | None:
    """Ratio of the variances of ranks a, b (N,) of resumes item (N,); None where one does not vary.

    Interval: log ratio +- t error, the error from (a - mean)^2 / var(a) - (b - mean)^2 / var(b)
    summed within resumes.
    """
    one, two = (np.asarray(side, dtype=np.float64) for side in (a, b))
    n = len(one)
    if n < 2:
        return None
    one, two = one - one.mean(), two - two.mean()
    first, second = float(one @ one) / (n - 1), float(two @ two) / (n - 1)
    if min(first, second) <= _NOTHING * max(first, second, _NOTHING):
        return None
    at, items = grouped(item)
    ratio = first / second
    influence = (one**2 / first - two**2 / second) / n
    logged = from_influence(float(np.log(ratio)), influence, at, level=level)
    known = logged.std_error is not None
    h, g = (item_sums(v, at, items) for v in ((one - two) / 2, (one**2 - two**2) / 2))
    p = _swapped(h, g, float((one**2 + two**2).sum()) / 2, n, ratio, swaps, seed)
    return Spread(
        ratio=ratio,
        std_error=ratio * logged.std_error if logged.std_error is not None else None,
        low=float(np.exp(logged.low)) if known and logged.low is not None else None,
        high=float(np.exp(logged.high)) if known and logged.high is not None else None,
        p_value=p,
        swaps=swaps,
    )


def pitman_morgan(*, a: ArrayLike, b: ArrayLike) -> float | None:
    """Two-sided p of equal variances of normal pairs a, b (N,): that of the correlation of their
    sum and difference. On ranks its size reaches 0.21: only for comparison, on request. None where
    one side does not vary or there are fewer than three pairs. Sources: Pitman; Morgan (1939)."""
    one, two = (np.asarray(side, dtype=np.float64) for side in (a, b))
    if len(one) < 3 or min(float(np.ptp(one)), float(np.ptp(two))) == 0:
        return None
    plus, minus = one + two, one - two
    if min(float(np.ptp(plus)), float(np.ptp(minus))) == 0:
        return 1.0 if np.ptp(minus) == 0 else None
    return float(pearsonr(plus, minus).pvalue)


def _swapped(
    h: Array, g: Array, q: float, n: int, ratio: float, swaps: int, seed: int | str
) -> float:
    """Monte Carlo p of |log ratio| over swaps of whole resumes; sum of m is 0 by centring."""
    pairs, counts = _distinct(h, g)
    many = counts >= _MANY
    alone = np.repeat(pairs[~many], counts[~many], axis=0)
    shared, counts = pairs[many], counts[many]
    key = int(random.hashes(seed, "paired_swap", ["philox"])[0])
    bits = np.random.Philox(key=key)
    size = max(ratio, 1 / ratio) * (1 - 1e-12)
    total = alone.sum(axis=0) + shared.T @ counts
    beyond = 0
    step = max(1, _BLOCK // max(1, len(alone) + int(counts.sum())))
    for start in range(0, swaps, step):
        draws = min(step, swaps - start)
        heads = _coins(bits, draws, len(alone)) @ alone + _heads(bits, counts, draws) @ shared
        big_h, big_g = (2.0 * heads - total).T
        # One variance is c + G, the other c - G; their ratio is at least `size` where this holds.
        beyond += int((np.abs(big_g) * (size + 1) >= (q - big_h**2 / n) * (size - 1)).sum())
    return (1 + beyond) / (1 + swaps)


def _distinct(h: Array, g: Array) -> tuple[Array, Ints]:
    """Distinct (h, g) (D, 2), and how many resumes have each; nothing to swap is left out.

    (h, g) and (-h, -g) flip alike and are one.
    """
    scale = max(float(np.abs(h).max()), float(np.abs(g).max()), _NOTHING)
    pairs = np.stack([h, g], axis=1)
    turned = (h < -_NOTHING * scale) | ((np.abs(h) <= _NOTHING * scale) & (g < 0))
    pairs[turned] *= -1
    # Sums of the same numbers in another order differ in their last digits.
    _, first, counts = np.unique(
        np.rint(pairs / scale * 1e9), axis=0, return_index=True, return_counts=True
    )
    pairs = pairs[first]
    some = (np.abs(pairs) > _NOTHING * scale).any(axis=1)
    return pairs[some], counts[some].astype(np.int64)


def _coins(bits: np.random.BitGenerator, draws: int, units: int) -> Array:
    """(draws, units) of 0 and 1, 64 of them from one number."""
    words = -(-units // 64)
    raw = np.asarray(bits.random_raw(draws * words)).reshape(draws, words)
    return np.unpackbits(raw.view(np.uint8), axis=1)[:, :units].astype(np.float64)


def _heads(bits: np.random.BitGenerator, counts: Ints, draws: int) -> Array:
    """(draws, D): Binomial(count, 1/2) for each of D counts, as numbers of set bits.

    A bit generator's stream is fixed for good, numpy's binomial draws are not.
    """
    out = np.empty((draws, len(counts)))
    for k, count in enumerate(counts.tolist()):
        words = -(-count // _WORD)
        lanes = 64 // _WORD
        raw = np.asarray(bits.random_raw(draws * -(-words // lanes))).view(np.uint16)
        coins: NDArray[np.uint16] = raw.reshape(draws, -1)[:, :words]
        if count % _WORD:
            coins[:, -1] &= np.uint16((1 << count % _WORD) - 1)
        out[:, k] = _BITS[coins].sum(axis=1, dtype=np.int64)
    return out
