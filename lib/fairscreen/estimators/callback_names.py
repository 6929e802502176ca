"""Names as a sample: relabelled, left out one by one, and their rates shrunk to their arm's mean.

Some 38 names stand for an arm. With another 38 the gap would be another: a test against chance of
names, and how far single names carry the gap, stand beside the interval.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from itertools import combinations, product
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from fairscreen import random
from fairscreen.estimators.callback_pairs import FAVORED, OTHER, CallbackPairs, Ints
from fairscreen.estimators.clustered import compressed, crossed_codes, from_influence

Array = NDArray[np.float64]
PERMUTATIONS = 9_999
_BLOCK = 4_000_000  # numbers of a block of labellings
_TIE = 1 - 1e-9
BOTH_ARMS = "name_in_both_arms: a name stands for both arms, so labels cannot be permuted"
FEW_NAMES = "few_names: labels can be put on names in one way only"
NO_NAMES = "no_names: the names are not known"


@dataclass(frozen=True)
class NamePermutation:
    """p: share of labellings whose |t| is at least the observed, itself among them. exact: all
    labellings were made. labellings: how many there are, at most 1e300."""

    p_value: float
    exact: bool
    labellings: float


@dataclass(frozen=True)
class LeftOut:
    """Gap (share) without one name, and the code of that name."""

    gap: float
    name: int


@dataclass(frozen=True)
class NameRate:
    """Callback rate of one name, with its error clustered by posting, and shrunk to the mean of
    its arm; shares. shrunk, shrunk_error: None where its arm has fewer than three names."""

    name: int
    side: Literal["favored", "other"]
    rate: float
    std_error: float | None
    shrunk: float | None
    shrunk_error: float | None
    n: int


@dataclass(frozen=True)
class NameSpread:
    """Standard deviation of true rates between the names of an arm, shares; None with a reason.
    names: of the arm."""

    sd: float | None
    variance: float | None
    names: int
    reason: str | None = None


def permutation(
    pairs: CallbackPairs, *, draws: int = PERMUTATIONS, seed: int | str = 0
) -> NamePermutation | str:
    """Test of labels exchanged over names within stratum; a reason where it is not computable.

    Labels favored and other are dealt anew among the names of a stratum, as many of each as there
    are. A pair whose names then carry different labels counts, with the sign of its labels; the
    others say nothing about them. The statistic is the gap over its error clustered by both names
    (studentised, because relabelled gaps rest on half as many pairs): Chung & Romano (2013).
    Postings may favor a group each in its own way and none on average: labels dealt by name break
    that up, so what it adds to the error of the observed gap is added to that one alone. All
    labellings are made where they are no more than draws, else (1 + exceedances) / (1 + draws).
    """
    if pairs.favored is None or pairs.other is None:
        return NO_NAMES
    some = pairs.some
    if some.favored is None or some.other is None or not len(some):
        return FEW_NAMES
    first, second = np.unique(some.favored), np.unique(some.other)
    if len(np.intersect1d(first, second)):
        return BOTH_ARMS
    codes, names = compressed(np.concatenate([some.favored, some.other]))
    one, two = codes[: len(some)], codes[len(some) :]
    gain, times = np.zeros((names, names)), np.zeros((names, names))
    np.add.at(gain, (one, two), some.d)
    np.add.at(times, (one, two), some.n)
    gain, times = gain - gain.T, times + times.T
    observed = np.zeros(names)
    observed[one] = 1.0
    strata = _strata(one, two, some.stratum, names)
    ways = [math.comb(len(s), int(observed[s].sum())) for s in strata]
    total = math.prod(ways)
    if total < 2:
        return FEW_NAMES
    more = _of_postings(some.d, some.n, some.ways)
    size = float(_t(observed[None, :], gain, times, more)[0]) * _TIE
    if total <= draws:
        every = _all_labellings(strata, observed)
        beyond = int((_t(every, gain, times) >= size).sum())
        return NamePermutation(beyond / total, True, float(total))
    key = int(random.hashes(seed, "name_permutation", ["philox"])[0])
    generator = np.random.Generator(np.random.Philox(key=key))
    beyond, step = 0, max(1, _BLOCK // names)
    for start in range(0, draws, step):
        rows = min(step, draws - start)
        labels = np.zeros((rows, names))
        for s in strata:
            u, favored = generator.random((rows, len(s))), int(observed[s].sum())
            first = np.argpartition(u, min(favored, len(s) - 1), axis=1)[:, :favored]
            labels[np.arange(rows)[:, None], s[first]] = 1.0
        beyond += int((_t(labels, gain, times) >= size).sum())
    return NamePermutation((1 + beyond) / (1 + draws), False, float(min(total, 10**300)))


def _strata(one: Ints, two: Ints, stratum: Ints | None, names: int) -> list[Ints]:
    """Names (positions) by stratum; without strata, by who is paired with whom at all."""
    if stratum is None:
        links = coo_array((np.ones(len(one)), (one, two)), shape=(names, names))
        at = connected_components(links, directed=False)[1]
    else:
        at = np.zeros(names, dtype=np.int64)
        at[one], at[two] = stratum, stratum
    return [np.flatnonzero(at == value) for value in np.unique(at)]


def _all_labellings(strata: list[Ints], observed: Array) -> Array:
    choices = [list(combinations(s.tolist(), int(observed[s].sum()))) for s in strata]
    found = []
    for chosen in product(*choices):
        labels = np.zeros(len(observed))
        labels[[k for part in chosen for k in part]] = 1.0
        found.append(labels)
    return np.array(found)


def _of_postings(d: Ints, n: Ints, ways: tuple[Ints, ...]) -> float:
    """What postings add to the sum of squares by names of the observed labels; at least 0."""
    left = d - d.sum() / n.sum() * n
    inside = crossed_codes(ways), crossed_codes(ways[1:])
    squares = [
        sum(sign * float((np.bincount(codes, weights=left) ** 2).sum()) for sign, codes, _ in kind)
        for kind in inside
    ]
    return max(0.0, squares[0] - squares[1])


def _t(x: Array, gain: Array, times: Array, more: float = 0.0) -> Array:
    """|gap| over its error by names (R,), for labels x (R, names) of 1 favored, 0 other.

    gain, times (names, names): net wins of row over column, and complete pairs of both. more: added
    to the sum of squares. An error
    of 0 gives infinity (0 where the gap is 0 too), labels without a pair 0.
    """
    z = 1.0 - x
    x_gain, x_times = x @ gain, x @ times
    pairs = (x_times * z).sum(axis=1)
    # Two names of one label cancel in x' gain x, so what is left are pairs of unlike labels.
    with np.errstate(invalid="ignore", divide="ignore"):
        gap = np.where(pairs > 0, (x @ gain.sum(axis=1)) / pairs, 0.0)
    # gain is antisymmetric, times symmetric: what z gives follows from what x gives.
    rows = gain.sum(axis=1) + x_gain - gap[:, None] * (times.sum(axis=0) - x_times)
    columns = x_gain - gap[:, None] * x_times
    by_name = ((x * rows) ** 2).sum(axis=1) + ((z * columns) ** 2).sum(axis=1)
    squares = (x @ gain**2 * z).sum(axis=1) - 2 * gap * (x @ (gain * times) * z).sum(axis=1)
    by_pair = squares + gap**2 * (x @ times**2 * z).sum(axis=1)
    # Both ways less their intersection, never below the intersection alone.
    variance = np.maximum(by_name - by_pair, by_pair) + more
    size = np.abs(gap)
    with np.errstate(invalid="ignore", divide="ignore"):
        t = size * pairs / np.sqrt(np.maximum(variance, 0.0))
    return np.where(size < 1e-15, 0.0, t)


def left_out(pairs: CallbackPairs) -> tuple[LeftOut, LeftOut] | str:
    """Smallest and largest gap (share) without one name; a reason where there is none.

    A name is left out with every pair it is part of.
    """
    if pairs.favored is None or pairs.other is None:
        return NO_NAMES
    names = int(max(pairs.favored.max(), pairs.other.max())) + 1
    d, n = np.zeros(names), np.zeros(names)
    itself = pairs.favored == pairs.other
    for side, count in ((pairs.favored, ~itself), (pairs.other, np.ones(len(pairs), dtype=bool))):
        d += np.bincount(side[count], weights=pairs.d[count], minlength=names)
        n += np.bincount(side[count], weights=pairs.n[count], minlength=names)
    left = pairs.n.sum() - n
    possible = (n > 0) & (left > 0)
    if not possible.any():
        return "few_names: without one name no pair is left"
    with np.errstate(invalid="ignore", divide="ignore"):
        gap = np.where(possible, (pairs.d.sum() - d) / left, np.nan)
    ends = (int(np.nanargmin(gap)), int(np.nanargmax(gap)))
    low, high = (LeftOut(float(gap[k]), k) for k in ends)
    return low, high


def name_rates(pairs: CallbackPairs) -> tuple[list[NameRate], dict[str, NameSpread]]:
    """Rates of every name in complete pairs, and the spread between names of each arm.

    Shrunk: w rate + (1 - w) rate of the arm, w = variance / (variance + error^2), with its
    posterior error; the variance between names by moments: that of the rates less the mean squared
    error. Source: Morris (1983).
    """
    rates: list[NameRate] = []
    spreads: dict[str, NameSpread] = {}
    for side, names in ((FAVORED, pairs.favored), (OTHER, pairs.other)):
        if names is None:
            spreads[side] = NameSpread(None, None, 0, NO_NAMES)
            continue
        called = pairs.called(side).astype(np.float64)
        found = []
        for name in np.unique(names[pairs.n > 0]).tolist():
            at = (names == name) & (pairs.n > 0)
            n = int(pairs.n[at].sum())
            rate = float(called[at].sum()) / n
            influence = (called[at] - rate * pairs.n[at]) / n
            error = from_influence(rate, influence, [pairs.posting[at]]).std_error
            found.append(NameRate(name, side, rate, error, None, None, n))  # type: ignore[arg-type]
        mine, spreads[side] = shrunken(found)
        rates += mine
    return rates, spreads


def shrunken(rates: list[NameRate]) -> tuple[list[NameRate], NameSpread]:
    """Rates of the names of one arm with their shrunken ones, and the spread between them.

    Squared errors are smoothed to be as 1 / n: a name that nobody called has an error of 0 by its
    own answers, and would not be shrunk at all.
    """
    usable = [r for r in rates if r.std_error is not None]
    if len(usable) < 3:
        return rates, NameSpread(None, None, len(rates), "few_names: fewer than three in this arm")
    y, n = np.array([r.rate for r in usable]), np.array([r.n for r in usable], dtype=np.float64)
    error2 = np.array([r.std_error for r in usable], dtype=np.float64) ** 2
    variance = float(y.var(ddof=1) - error2.mean())
    between = max(0.0, variance)
    unit = float(error2.sum() / (1 / n).sum())
    mean = float(n @ y / n.sum())
    of_mean = float((n**2 * (between + unit / n)).sum()) / float(n.sum()) ** 2
    kept = []
    for r in rates:
        own = unit / r.n
        w = between / (between + own) if between + own > 0 else 0.0
        error = math.sqrt(w * own + (1 - w) ** 2 * of_mean)
        kept.append(
            replace(r, shrunk=w * r.rate + (1 - w) * mean, shrunk_error=error)
        )  # fmt: skip
    if variance < 0:
        why = "variance_below_0: the rates differ less than their errors say"
        return kept, NameSpread(None, variance, len(rates), why)
    return kept, NameSpread(math.sqrt(variance), variance, len(rates))
