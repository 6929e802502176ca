"""How far two readings of the same answers move a raw gap between two groups. Sums only."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields


@dataclass(frozen=True)
class Readings:
    """Sums over the requests of one group, each read twice: score s by one, t by the other.

    n_s, n_t, n_both   requests that have s, t, both
    s, ss, t, tt       sums of s and s^2 over those with s, of t and t^2 over those with t
    s_both, t_both, st   sums of s, t and s * t over those with both
    """

    n_s: int = 0
    n_t: int = 0
    n_both: int = 0
    s: float = 0.0
    ss: float = 0.0
    t: float = 0.0
    tt: float = 0.0
    s_both: float = 0.0
    t_both: float = 0.0
    st: float = 0.0

    def __add__(self, other: Readings) -> Readings:
        return Readings(*(getattr(self, f.name) + getattr(other, f.name) for f in fields(self)))


@dataclass(frozen=True)
class Moved:
    """Gaps in the scores' units, x1 minus x0: `first` of s, `second` of t, `difference` = second
    minus first with its standard error. None where `reason` says why it is not computable."""

    first: float | None
    second: float | None
    difference: float | None
    std_error: float | None
    reason: str | None = None


def moved(x1: Readings, x0: Readings) -> Moved:
    """The raw gap of mean scores under both readings, each over what it can read.

    Requests are independent, and the two readings of one are paired: request i of a group adds
    (t_i - mean t) / n_t - (s_i - mean s) / n_s to the difference, and its square, times n / (n - 1)
    of the n requests with any score, to the variance. Where both read every request, that is the
    error of a mean of paired differences. Not computable: "no_score" (a group has none by one of
    them); the error of "one_request" (a group has fewer than two).
    """
    if not (x1.n_s and x1.n_t and x0.n_s and x0.n_t):
        return Moved(None, None, None, None, "no_score")
    first = x1.s / x1.n_s - x0.s / x0.n_s
    second = x1.t / x1.n_t - x0.t / x0.n_t
    if min(_any(x1), _any(x0)) < 2:
        return Moved(first, second, second - first, None, "one_request")
    error = math.sqrt(_variance(x1) + _variance(x0))
    return Moved(first, second, second - first, error)


def _any(g: Readings) -> int:
    return g.n_s + g.n_t - g.n_both


def _variance(g: Readings) -> float:
    mean_s, mean_t, n = g.s / g.n_s, g.t / g.n_t, _any(g)
    own = g.ss - g.s * mean_s
    other = g.tt - g.t * mean_t
    shared = g.st - mean_t * g.s_both - mean_s * g.t_both + g.n_both * mean_s * mean_t
    total = own / g.n_s**2 + other / g.n_t**2 - 2 * shared / (g.n_s * g.n_t)
    # Rounding may leave a trace below 0 where the readings agree.
    return max(0.0, total) * n / (n - 1)
