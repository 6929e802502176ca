"""Impact ratio of the favored version among ranks, its interval, and what stands beside it.

A version is "selected" in a set where it ranks at least as well as the other; ties select both.
With a sets only favored wins, b only the other, t ties:
    IR = (a + t) / max(a + t, b + t) = min(1, (a + t) / (b + t))
Interval of the uncapped ratio: log((a + t) / (b + t)) +- z sqrt((a + b) / ((a + t) (b + t))),
which covers 92.6 to 95.3%; sums within resumes where they have several sets, t with G - 1. Below
0.8 the four-fifths rule warns; at or above it nothing is proven. The authors' code divides mean
ranks instead, which is another quantity and has a name of its own.
Sources: JobFair, section 3.6, and its evaluation code; 29 CFR 1607.4(D).
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtr, ndtri, stdtr, stdtrit

from fairscreen.estimators.ranks import (
    Array,
    Ints,
    RankRow,
    grouped,
    item_sums,
    not_computable,
    settled,
)

FOUR_FIFTHS = 0.8
METHOD = "ranks_at_least_tied"
UNCAPPED = "impact_ratio_uncapped"


def impact_rows(
    *, favored: ArrayLike, other: ArrayLike, item: ArrayLike, level: float = 0.95
) -> list[RankRow]:
    """Rows of ranks favored, other (N,) of resumes item (N,); N above 0. 1 = best.

    impact_ratio           capped at 1, its interval too; reason "below_four_fifths" under 0.8
    impact_ratio_uncapped  (a + t) / (b + t)
    share_tied             t / N
    untied_win_ratio       a / b; not computable "no_untied_win" where either is 0
    Not computable: "never_selected", where one version never ranks at least as well.
    """
    one, two = np.asarray(favored, dtype=np.float64), np.asarray(other, dtype=np.float64)
    at, items = grouped(item)
    better, worse = (one < two).astype(np.float64), (one > two).astype(np.float64)
    n = len(one)
    tied = n - better.sum() - worse.sum()
    rows = _selected(1 - worse, 1 - better, at, items, level)
    rows.append(RankRow("share_tied", METHOD, float(tied) / n, None, None, None, None, n))
    if not (better.any() and worse.any()):
        why = "no_untied_win: favored or other never ranks better alone"
        return [*rows, not_computable("untied_win_ratio", METHOD, n, why)]
    return [*rows, _ratio("untied_win_ratio", better, worse, at, items, level)]


def _selected(x: Array, y: Array, item: Ints, items: int, level: float) -> list[RankRow]:
    """x, y (N,): 1 where favored, other ranks at least as well."""
    if not (x.any() and y.any()):
        who = "other" if x.any() else "favored"
        why = f"never_selected: {who} never ranks at least as well, so there is no interval"
        if x.any():
            return [not_computable(e, METHOD, len(x), why) for e in ("impact_ratio", UNCAPPED)]
        reason = f"below_four_fifths; {why}"
        return [
            RankRow(e, METHOD, 0.0, None, None, None, None, len(x), "flagged", reason)
            for e in ("impact_ratio", UNCAPPED)
        ]
    open_ended = _ratio(UNCAPPED, x, y, item, items, level)
    ratio, error = min(1.0, float(x.sum() / y.sum())), open_ended.std_error
    capped = RankRow(
        "impact_ratio", METHOD, ratio, error, _cap(open_ended.ci_low), _cap(open_ended.ci_high),
        open_ended.p_value, len(x), open_ended.status,
        _joined("below_four_fifths" if ratio < FOUR_FIFTHS else None, open_ended.reason),
    )  # fmt: skip
    return [capped, open_ended]


def _joined(*reasons: str | None) -> str | None:
    return "; ".join(reason for reason in reasons if reason) or None


def _cap(value: float | None) -> float | None:
    return None if value is None else min(1.0, value)


def _ratio(
    estimand: str, x: Array, y: Array, item: Ints, items: int, level: float
) -> RankRow:  # fmt: skip
    """Ratio of two shares of the same sets, p of a ratio of 1; both have wins."""
    n, ratio = len(x), float(x.sum() / y.sum())
    sums = item_sums(x / x.sum() - y / y.sum(), item, items)
    variance, alone = float((sums**2).sum()), items == n
    if alone:  # the interval of the notes: normal, one set per resume
        reach = float(ndtri((1 + level) / 2))
    elif items < 2:
        why = "one_resume: there is no standard error"
        return RankRow(estimand, METHOD, ratio, None, None, None, None, n, "flagged", why)
    else:
        variance *= items / (items - 1)
        reach = float(stdtrit(items - 1, (1 + level) / 2))
    error = math.sqrt(variance)
    if error == 0:  # every set is tied
        return settled(RankRow(estimand, METHOD, ratio, 0.0, ratio, ratio, None, n))
    size = abs(math.log(ratio)) / error
    p = 2 * float(ndtr(-size) if alone else stdtr(items - 1, -size))
    low, high = ratio * math.exp(-reach * error), ratio * math.exp(reach * error)
    return RankRow(estimand, METHOD, ratio, ratio * error, low, high, p, n)


def mean_rank_row(ranks: Array) -> RankRow:
    """`mean_rank_ratio` of the authors' code: mean rank of favored (column 0 of ranks (N, K)) over
    the largest mean rank of any version. 1 = favored ranks worst on average."""
    means = ranks.mean(axis=0)
    ratio = float(means[0] / means.max())
    return RankRow(
        "mean_rank_ratio", "published_code", ratio, None, None, None, None, len(ranks)
    )  # fmt: skip
