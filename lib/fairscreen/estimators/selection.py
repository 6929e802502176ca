"""What an outcome audit shows: raw mean gap, scoring rates and their ratio, four-fifths rule.

None of it is causal: gaps of this kind mix every path, and whatever comes before the attribute.

Scoring rate (New York City, Local Law 144): the share of a group whose score is strictly above the
median of all assessed, whatever their group. Scores that heap at the median make that rate jump,
so the share tied there and the rate at or above it stand beside.

Weights: with design weights every mean, rate and the median are those of the population; equal
weights give the plain sample. Errors are those of weighted means (linearised); with equal weights
the gap is Welch's test exactly. With clusters, influence is summed within them and the gap's t has
G - 1 degrees of freedom. Rates have Wilson intervals at their effective sample size. The median is
taken as known.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm
from scipy.stats import t as student

Array = NDArray[np.float64]
Clusters = NDArray[np.int64] | None
FOUR_FIFTHS = 0.8
RATIO = "selection_rate_ratio"
_SMALL = re.compile(r"\bfewer_than_[\d.]+_in_a_group\b")
_OF_GROUPS = ("raw_gap", "selection_rate", RATIO)
_ONE = "one_applicant: a group of one applicant (or one cluster) has no standard error"


@dataclass(frozen=True)
class Outcomes:
    """Scores of one case, counted: `n` applicants share group, score and weight.

    x (C,) int: 1, 0, -1 = another group, which is assessed but never compared nor a denominator.
    y (C,) score; w (C,) weight above 0; n (C,) count; cluster (C,) int or None: people of one
    cluster are not independent.
    """

    x: NDArray[np.int8]
    y: Array
    w: Array
    n: NDArray[np.int64]
    cluster: NDArray[np.int64] | None = None

    def __post_init__(self) -> None:
        if not len(self.x) == len(self.y) == len(self.w) == len(self.n):
            raise ValueError("x, y, w and n must have one length")
        if len(self.w) and not (np.isfinite(self.y).all() and (self.w > 0).all()):
            raise ValueError("scores must be finite and weights above 0")

    def __add__(self, other: Outcomes) -> Outcomes:
        if (self.cluster is None) != (other.cluster is None):
            raise ValueError("clusters are given on one side only")
        return Outcomes(
            np.concatenate([self.x, other.x]),
            np.concatenate([self.y, other.y]),
            np.concatenate([self.w, other.w]),
            np.concatenate([self.n, other.n]),
            None
            if self.cluster is None or other.cluster is None
            else np.concatenate([self.cluster, other.cluster]),
        )


@dataclass(frozen=True)
class OutcomeRow:
    """One number. `group` is 1 or 0 for rows of one group, None for comparisons."""

    estimand: str
    method: str
    group: int | None
    estimate: float | None
    std_error: float | None
    ci_low: float | None
    ci_high: float | None
    p_value: float | None
    n: int
    status: str = "ok"
    reason: str | None = None


@dataclass(frozen=True)
class _Mean:
    value: float
    variance: float | None  # None where one applicant (or cluster) leaves no spread to measure
    df: float
    n: int
    kish_n: float  # (sum w)^2 / sum w^2
    influence: Array  # (C,) terms whose sum is about estimate - truth
    member: NDArray[np.bool_]  # (C,) cells of the group


def median(y: Array, weight: Array) -> float:
    """Weighted median: half of the weight below; midway where it falls between two scores."""
    order = np.argsort(y, kind="stable")
    y, total = y[order], np.cumsum(weight[order])
    half = total[-1] / 2
    at = int(np.searchsorted(total, half * (1 - 1e-12)))
    if at + 1 < len(y) and abs(total[at] - half) <= 1e-12 * total[-1]:
        return float((y[at] + y[at + 1]) / 2)
    return float(y[at])


def small_group(reason: object) -> bool:
    """True where a row's reason says that one of its two groups has too few people."""
    return isinstance(reason, str) and _SMALL.search(reason) is not None


def outcome_rows(data: Outcomes, *, level: float = 0.95, min_group: float = 0) -> list[OutcomeRow]:
    """Raw gap (x1 minus x0), rates of both groups, ratio x0 / x1 and impact ratio low / high.

    Estimands and methods:
      raw_gap              difference           mean of x1 minus mean of x0
      selection_rate       local_law_144        per group: share strictly above the median
                           at_or_above_median   per group: share at or above it
      share_tied           local_law_144        share of all assessed exactly at the median
      selection_rate_ratio four_fifths          lower rate / higher rate; reason
                                                "below_four_fifths" where it is under 0.8
                           log_ratio            rate of x0 / rate of x1
    Not computable: "empty_group"; ratio "no_one_selected". Where one rate is 0 the ratio is 0
    and has no interval; one applicant in a group leaves the gap without an interval.
    Flagged: "fewer_than_{min_group}_in_a_group" on every row that tells or compares groups where
    one of the two has fewer applicants than that, after the row's other reasons; rows that are
    not computable stay so and get the reason too.
    """
    rows = _all_rows(data, level)
    if min(int(data.n[data.x == g].sum()) for g in (1, 0)) >= min_group:
        return rows
    few = f"fewer_than_{min_group:g}_in_a_group"
    return [
        replace(
            row,
            status="flagged" if row.status == "ok" else row.status,
            reason=f"{row.reason}; {few}" if row.reason else few,
        )
        if row.estimand in _OF_GROUPS
        else row
        for row in rows
    ]


def _all_rows(data: Outcomes, level: float) -> list[OutcomeRow]:
    order = np.lexsort((data.w, data.y, data.x))
    x, y = data.x[order], data.y[order]
    w, n = data.w[order], data.n[order].astype(np.float64)
    cluster = (
        None if data.cluster is None else np.unique(data.cluster[order], return_inverse=True)[1]
    )
    sizes = {g: int(n[x == g].sum()) for g in (1, 0)}
    both = sizes[1] + sizes[0]
    if not sizes[1] or not sizes[0]:
        gone = "x1" if not sizes[1] else "x0"
        return [
            _not_computable(e, m, both, f"empty_group: no answered applicant in {gone}")
            for e, m in (
                ("raw_gap", "difference"),
                (RATIO, "log_ratio"),
                (RATIO, "four_fifths"),
            )
        ]
    middle = median(y, w * n)
    above, at = (y > middle).astype(np.float64), (y == middle).astype(np.float64)
    means = [_mean(y, w, n, x == g, cluster) for g in (1, 0)]
    rows = [_gap(means[0], means[1], level, cluster)]
    z = float(norm.ppf(0.5 + level / 2))
    rates = {}
    for group in (1, 0):
        mine = x == group
        rates[group] = _mean(above, w, n, mine, cluster)
        rows.append(_rate("local_law_144", group, rates[group], z))
        at_least = _mean(above + at, w, n, mine, cluster)
        rows.append(_rate("at_or_above_median", group, at_least, z))
    tied = float((w * n * at).sum() / (w * n).sum())
    everyone = int(n.sum())
    rows.append(
        OutcomeRow("share_tied", "local_law_144", None, tied, None, None, None, None, everyone)
    )
    return rows + _ratios(rates[1], rates[0], z, cluster)


def _mean(y: Array, w: Array, n: Array, mine: NDArray[np.bool_], cluster: Clusters) -> _Mean:
    weight = np.where(mine, w, 0.0)
    count, total = float(n[mine].sum()), float((weight * n).sum())
    value = float((weight * n * y).sum() / total)
    kish = total**2 / float((n * weight**2).sum())
    influence = n * weight * (y - value) / total
    if cluster is not None:
        units = len(np.unique(cluster[mine]))
        variance = _clustered(influence, cluster, units)
        return _Mean(value, variance, units - 1, int(count), kish, influence, mine)
    if count < 2:
        return _Mean(value, None, 0.0, int(count), kish, influence, mine)
    square = float((n * (weight * (y - value)) ** 2).sum()) / total**2
    return _Mean(value, square * count / (count - 1), count - 1, int(count), kish, influence, mine)


def _clustered(influence: Array, cluster: NDArray[np.int64], units: int) -> float | None:
    """Variance from sums within clusters, `units` of which take part."""
    if units < 2:
        return None
    sums = np.bincount(cluster, weights=influence)
    return float((sums**2).sum()) * units / (units - 1)


def _gap(one: _Mean, zero: _Mean, level: float, cluster: Clusters) -> OutcomeRow:
    gap, n = one.value - zero.value, one.n + zero.n
    if one.variance is None or zero.variance is None:
        return OutcomeRow(
            "raw_gap", "difference", None, gap, None, None, None, None, n, "flagged", _ONE
        )
    if cluster is None:
        variance = one.variance + zero.variance
        parts = one.variance**2 / one.df + zero.variance**2 / zero.df
        df = variance**2 / parts if parts > 0 else 0.0
    else:
        taking = _taking_part(one, zero, cluster)
        variance = _clustered(one.influence - zero.influence, cluster, taking) or 0.0
        df = taking - 1
    if variance == 0:
        why = "no_spread: every score within a group is the same"
        return OutcomeRow(
            "raw_gap", "difference", None, gap, 0.0, gap, gap, None, n, "flagged", why
        )
    error = float(np.sqrt(variance))
    reach = float(student.ppf(0.5 + level / 2, df)) * error
    p = float(2 * student.sf(abs(gap) / error, df))
    return OutcomeRow("raw_gap", "difference", None, gap, error, gap - reach, gap + reach, p, n)


def _taking_part(one: _Mean, zero: _Mean, cluster: NDArray[np.int64]) -> int:
    """Clusters with people of either group."""
    return len(np.unique(cluster[one.member | zero.member]))


def _rate(method: str, group: int, rate: _Mean, z: float) -> OutcomeRow:
    if rate.variance is None:
        return OutcomeRow(
            "selection_rate", method, group, rate.value, None, None, None, None, rate.n,
            "flagged", _ONE,
        )  # fmt: skip
    error, p = float(np.sqrt(rate.variance)), rate.value
    # A weight that dwarfs all others leaves a rate of 1 or 0, to the last digit.
    size = p * (1 - p) / rate.variance if rate.variance > 0 else 0.0
    size = size or rate.kish_n
    centre = (p + z**2 / (2 * size)) / (1 + z**2 / size)
    half = z * float(np.sqrt(p * (1 - p) / size + z**2 / (4 * size**2))) / (1 + z**2 / size)
    low, high = max(0.0, centre - half), min(1.0, centre + half)
    return OutcomeRow("selection_rate", method, group, p, error, low, high, None, rate.n)


def _ratios(one: _Mean, zero: _Mean, z: float, cluster: Clusters) -> list[OutcomeRow]:
    n = one.n + zero.n
    if one.value == 0 and zero.value == 0:
        why = "no_one_selected: nobody of either group is above the median"
        return [_not_computable(RATIO, m, n, why) for m in ("log_ratio", "four_fifths")]
    low, high = sorted((one.value, zero.value))
    below = "below_four_fifths" if low / high < FOUR_FIFTHS else None
    if low == 0:
        why = "zero_rate: nobody of one group is above the median, so there is no interval"
        if one.value == 0:
            ratio = _not_computable(RATIO, "log_ratio", n, "zero_rate: the rate of x1 is 0")
        else:
            ratio = OutcomeRow(
                RATIO, "log_ratio", None, 0.0, None, None, None, None, n, "flagged", why
            )
        impact = OutcomeRow(
            RATIO, "four_fifths", None, 0.0, None, None, None, None, n, "flagged", f"{below}; {why}"
        )
        return [ratio, impact]
    if one.variance is None or zero.variance is None:
        return [
            OutcomeRow(RATIO, m, None, v, None, None, None, None, n, "flagged", _ONE)
            for m, v in (("log_ratio", zero.value / one.value), ("four_fifths", low / high))
        ]
    variance = one.variance / one.value**2 + zero.variance / zero.value**2
    if cluster is not None:
        log = zero.influence / zero.value - one.influence / one.value
        variance = _clustered(log, cluster, _taking_part(one, zero, cluster)) or 0.0
    error = float(np.sqrt(variance))
    rows = []
    for method, value, reason in (
        ("log_ratio", zero.value / one.value, None),
        ("four_fifths", low / high, below),
    ):
        p = float(2 * norm.sf(abs(np.log(value)) / error)) if error > 0 else None
        rows.append(
            OutcomeRow(
                RATIO,
                method,
                None,
                value,
                value * error,
                value * float(np.exp(-z * error)),
                value * float(np.exp(z * error)),
                p,
                n,
                "ok",
                reason,
            )
        )
    return rows


def _not_computable(estimand: str, method: str, n: int, reason: str) -> OutcomeRow:
    return OutcomeRow(
        estimand, method, None, None, None, None, None, None, n, "not_computable", reason
    )
