"""Pairs in which a side gave no valid answer: is silence even, and how far could it move the gap?

Complete pairs alone are the default estimand. Beside it: the gap with silence counted as no
callback, and Manski's bounds, in which every missing side may have been either; their width is the
missing sides over all pairs.
Sources: Manski (1990); Imbens & Manski (2004), equations 6 and 7, for the interval.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq
from scipy.special import stdtr, stdtrit

from fairscreen.estimators.callback_pairs import NONE, YES, CallbackPairs, Ints
from fairscreen.estimators.clustered import Clustered, ratio


@dataclass(frozen=True)
class Bounds:
    """Manski bounds of the gap (shares) and the interval that covers the gap itself; low and high
    of it are None where a bound has no error."""

    lower: Clustered
    upper: Clustered
    low: float | None
    high: float | None


def silent(pairs: CallbackPairs) -> Ints:
    """(C,): pairs in which favored is silent, minus pairs in which other is."""
    t = pairs.table
    return np.asarray(t[:, NONE, :].sum(axis=1) - t[:, :, NONE].sum(axis=1), dtype=np.int64)


def silence_is_no(pairs: CallbackPairs) -> Ints:
    """(C,): sum of favored minus other over all pairs, no valid answer counted as no callback."""
    t = pairs.table
    return np.asarray(t[:, YES, :].sum(axis=1) - t[:, :, YES].sum(axis=1), dtype=np.int64)


def bounds(pairs: CallbackPairs, *, level: float = 0.95) -> Bounds:
    """Bounds over all pairs, errors clustered as the headline's; there must be a pair.

    The interval is lower - c s_l to upper + c s_u with F(c + width / max(s)) - F(-c) = level, F
    of Student's t with the headline's degrees of freedom (the normal in the paper).
    """
    t, known = pairs.table, silence_is_no(pairs)
    lower = ratio(known - t[:, :, NONE].sum(axis=1), pairs.pairs, pairs.ways, level=level)
    upper = ratio(known + t[:, NONE, :].sum(axis=1), pairs.pairs, pairs.ways, level=level)
    if lower.std_error is None or upper.std_error is None:
        return Bounds(lower, upper, None, None)
    largest, df = max(lower.std_error, upper.std_error), lower.df
    if largest == 0:
        return Bounds(lower, upper, lower.value, upper.value)
    width = (upper.value - lower.value) / largest

    def excess(c: float) -> float:
        return float(stdtr(df, c + width) - stdtr(df, -c)) - level

    # One-sided and two-sided quantiles bracket it: width infinite, and 0.
    ends = (float(stdtrit(df, level)) - 1e-9, float(stdtrit(df, (1 + level) / 2)) + 1e-9)
    c = float(brentq(excess, *ends))
    return Bounds(
        lower, upper, lower.value - c * lower.std_error, upper.value + c * upper.std_error
    )
