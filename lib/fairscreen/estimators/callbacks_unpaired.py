"""Unpaired callbacks: independent applications of two arms, as Bertrand & Mullainathan sent them.

`difference` and `fisher_exact` take applications for independent; `cluster_ols` is the regression
on the arm with errors by posting, `cluster_fixed_effects` the same within postings, and
`cluster_posting_names`, where names are known, the headline: names are a sample too. An arm is no
better known than its postings (names) are many: t has those of the smaller arm, minus 1.
Sources: Bertrand & Mullainathan (2004), table 1; Kline, Rose & Walters (2022), table 2.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, fields, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtr, stdtrit
from scipy.stats import fisher_exact

from fairscreen.errors import InputError
from fairscreen.estimators.callback_names import NameRate, shrunken
from fairscreen.estimators.callback_pairs import FAVORED, OTHER, CallbackRow, not_computable
from fairscreen.estimators.callbacks import (
    GAP,
    HEADLINE,
    ONE_GROUP,
    RATE,
    RATIO,
    CallbackOptions,
    equivalence_row,
    gap_row,
    listed,
    name_rows,
    rate_row,
    ratio_method,
    ratio_row,
)
from fairscreen.estimators.clustered import Clustered, compressed, from_influence
from fairscreen.estimators.ranks import settled

Array = NDArray[np.float64]
Ints = NDArray[np.int64]
DIFFERENCE, FISHER, OLS, FIXED = (
    "difference", "fisher_exact", "cluster_ols", "cluster_fixed_effects",
)  # fmt: skip
TESTS = ((GAP, OLS), (GAP, HEADLINE))


@dataclass(frozen=True, eq=False)
class Applications:
    """Cells of applications that share arm, posting and name; cells add (`+`), and may repeat.

    arm      (C,) int: 1 favored, 0 other
    posting  (C,) int: the cluster
    called, n, silent   (C,) int: callbacks of n answered applications; those without an answer
    name     (C,) int or None
    Raises InputError for other shapes, more callbacks than answers, an arm that is not 0 or 1.
    """

    arm: Ints
    posting: Ints
    called: Ints
    n: Ints
    silent: Ints
    name: Ints | None = None

    def __post_init__(self) -> None:
        for field in fields(self):
            values = getattr(self, field.name)
            if values is not None and values.shape != self.arm.shape:
                raise InputError(f"array {field.name}", "does not fit arm", "Give one per cell.")
        if not np.isin(self.arm, (0, 1)).all():
            raise InputError("array arm", "is not 0 or 1", "Give 1 for favored, 0 for other.")
        wrong = (self.called < 0) | (self.called > self.n) | (self.silent < 0)
        if wrong.any():
            raise InputError(
                f"arrays called, n, cell {int(np.flatnonzero(wrong)[0])}",
                "hold more callbacks than answers, or numbers below 0", "Give counts.",
            )  # fmt: skip

    def __len__(self) -> int:
        return len(self.arm)

    def __add__(self, other: Applications) -> Applications:
        if (self.name is None) != (other.name is None):
            raise InputError("array name", "is on one side only", "Give both or neither.")
        parts = []
        for field in fields(self):
            one, two = getattr(self, field.name), getattr(other, field.name)
            parts.append(None if one is None else np.concatenate([one, two]))
        return Applications(*parts)  # type: ignore[arg-type]

    def take(self, at: NDArray[np.bool_] | Ints) -> Applications:
        """The cells at a mask or at positions."""
        values = (getattr(self, field.name) for field in fields(self))
        return Applications(*(None if v is None else v[at] for v in values))  # type: ignore[arg-type]

    @cached_property
    def totals(self) -> tuple[int, int, int, int]:
        """Callbacks and answers of favored, then of other."""
        one, two = self.arm == 1, self.arm == 0
        return (
            int(self.called[one].sum()), int(self.n[one].sum()),
            int(self.called[two].sum()), int(self.n[two].sum()),
        )  # fmt: skip

    @property
    def lacking(self) -> tuple[int, int]:
        """Applications without an answer: favored, other."""
        return int(self.silent[self.arm == 1].sum()), int(self.silent[self.arm == 0].sum())


@dataclass(frozen=True)
class UnpairedResult:
    """rows; applications given, answered of them; lacking: without an answer, favored and other."""

    rows: tuple[CallbackRow, ...]
    applications: int
    answered: int
    lacking: tuple[int, int]

    def to_rows(self) -> list[dict[str, Any]]:
        """One dict per row, with the columns of `estimates` known here."""
        return [asdict(row) for row in self.rows]

    def summary(self) -> str:
        """A table for people to read."""
        title = f"{self.answered:,} of {self.applications:,} applications answered"
        return listed(title, self.rows)


def unpaired(data: Applications, options: CallbackOptions | None = None) -> UnpairedResult:
    """All rows of one slice of applications; gaps in percentage points, favored minus other.

    Not computable: "no_answer" (an arm has none), "no_contrast" within postings. Flagged
    "one_group" where one posting or name of an arm leaves no error.
    """
    opts = options or CallbackOptions()
    answered = int(data.n.sum())
    counts = (answered + int(data.silent.sum()), answered, data.lacking)
    some = data.take(data.n > 0)
    a, n1, c, n0 = data.totals
    if not (n1 and n0):
        why = f"no_answer: no application of {FAVORED if not n1 else OTHER} has an answer"
        methods = (*((HEADLINE,) if data.name is not None else ()), DIFFERENCE, FISHER, OLS, FIXED)
        rows = [not_computable(RATE, "cluster_posting", n, why, ("arm", side))
                for side, n in ((FAVORED, n1), (OTHER, n0))]  # fmt: skip
        rows += [not_computable(GAP, m, answered, why) for m in methods]
        if opts.margin is not None:
            rows.append(not_computable(GAP, "tost", answered, why))
        rows.append(not_computable(RATIO, ratio_method(data.name is not None), answered, why))
        if any(data.lacking) and len(np.unique(data.arm[data.n + data.silent > 0])) == 2:
            rows.append(_silence(data, opts.level))
        return UnpairedResult(tuple(rows), *counts)
    rows = [
        rate_row(some.called * (some.arm == arm), some.n * (some.arm == arm), some.posting,
                 opts.level, ("arm", side))
        for side, arm in ((FAVORED, 1), (OTHER, 0))
    ]  # fmt: skip
    gap = a / n1 - c / n0
    influence = _influence(some)
    best = ols = _regression(gap, influence, some, opts.level)
    if some.name is not None:
        ways = [some.posting, some.name]
        # Each name stands for one arm: its degrees of freedom are those of the smaller arm.
        best = from_influence(gap, influence, ways, level=opts.level, df=_df(some))
        rows.append(gap_row(GAP, HEADLINE, best, answered))
    rows += [_difference(a, n1, c, n0, opts.level), _fisher(a, n1, c, n0)]
    rows += [gap_row(GAP, OLS, ols, answered), _within(some, opts.level)]
    one, two = (some.arm == k for k in (1, 0))
    ways = [some.posting] if some.name is None else [some.posting, some.name]
    rows.append(
        ratio_row(some.called * two, some.called * one, some.n * two, some.n * one, ways,
                  opts.level, n=answered, df=_df(some))
    )  # fmt: skip
    if opts.margin is not None:
        rows.append(equivalence_row(best, answered, opts.margin))
    if any(data.lacking):
        rows.append(_silence(data, opts.level))
    if opts.names and some.name is not None:
        rows += _name_rows(some)
    return UnpairedResult(tuple(rows), *counts)


def _influence(data: Applications, of: ArrayLike | None = None) -> Array:
    """(C,) of the difference of shares; of: counts of another outcome than callbacks."""
    _, n1, _, n0 = data.totals
    found = np.zeros(len(data))
    y = np.asarray(data.called if of is None else of, dtype=np.float64)
    for arm, n, sign in ((1, n1, 1), (0, n0, -1)):
        at = data.arm == arm
        found[at] = sign * (y[at] - y[at].sum() / n * data.n[at]) / n
    return found


def _regression(gap: float, influence: Array, data: Applications, level: float) -> Clustered:
    """CR1 of the regression on the arm: G / (G - 1) (N - 1) / (N - 2), t(`_df`)."""
    n = int(data.n.sum())
    scale = math.sqrt((n - 1) / (n - 2)) if n > 2 else 1.0
    df = _df(replace(data, name=None))
    return from_influence(gap, influence * scale, [data.posting], level=level, df=df)


def _df(data: Applications) -> int:
    """Postings, or names where they are fewer, of the arm with the fewest, minus 1. The influence
    of an arm of one posting adds up to 0, however many the other arm has: 0 stands for no error."""
    ways = [data.posting] if data.name is None else [data.posting, data.name]
    some = data.n > 0
    return min(len(np.unique(w[some & (data.arm == k)])) for w in ways for k in (0, 1)) - 1


def _difference(a: int, n1: int, c: int, n0: int, level: float) -> CallbackRow:
    """Classical regression error (one residual variance, N - 2); p of the z test of two shares
    with the pooled one."""
    p, q, n = a / n1, c / n0, n1 + n0
    if n < 3:
        return CallbackRow(GAP, DIFFERENCE, 100 * (p - q), None, None, None, None, n, "flagged",
                           ONE_GROUP)  # fmt: skip
    residual = (n1 * p * (1 - p) + n0 * q * (1 - q)) / (n - 2)
    error = math.sqrt(residual * (1 / n1 + 1 / n0))
    reach = float(stdtrit(n - 2, (1 + level) / 2)) * error
    pooled = (a + c) / n
    z_error = math.sqrt(pooled * (1 - pooled) * (1 / n1 + 1 / n0))
    value = 2 * float(ndtr(-abs(p - q) / z_error)) if z_error else None
    gap = p - q
    row = CallbackRow(GAP, DIFFERENCE, 100 * gap, 100 * error, 100 * (gap - reach),
                      100 * (gap + reach), value, n)  # fmt: skip
    return settled(row, exact=True)  # its p has an error of its own, that of the pooled share


def _fisher(a: int, n1: int, c: int, n0: int) -> CallbackRow:
    p = float(fisher_exact([[a, n1 - a], [c, n0 - c]])[1])
    return CallbackRow(GAP, FISHER, 100 * (a / n1 - c / n0), None, None, None, p, n1 + n0)


def _within(data: Applications, level: float) -> CallbackRow:
    """Regression on the arm with a fixed effect of each posting; G / (G - 1), effects nested in
    clusters not counted; t with the postings of both arms, minus 1."""
    at, groups = compressed(data.posting)
    n = np.bincount(at, weights=data.n, minlength=groups)
    share = np.bincount(at, weights=data.arm * data.n, minlength=groups) / n
    mean = np.bincount(at, weights=data.called, minlength=groups) / n
    x = data.arm - share[at]
    bread = float((data.n * x**2).sum())
    total = int(data.n.sum())
    if bread <= 1e-12 * total:
        why = "no_contrast: no posting has applications of both arms"
        return not_computable(GAP, FIXED, total, why)
    slope = float((x * (data.called - mean[at] * data.n)).sum()) / bread
    score = x * (data.called - mean[at] * data.n - slope * x * data.n) / bread
    both = int(((share > 0) & (share < 1)).sum())  # the others say nothing of the slope
    found = from_influence(slope, score, [data.posting], level=level, df=both - 1)
    return gap_row(GAP, FIXED, found, total)


def _silence(data: Applications, level: float) -> CallbackRow:
    """Is an answer missing more often in one arm? Errors by posting."""
    everybody = Applications(
        data.arm, data.posting, data.silent, data.n + data.silent, np.zeros_like(data.n)
    )
    s1, n1, s0, n0 = everybody.totals
    found = from_influence(
        s1 / n1 - s0 / n0, _influence(everybody), [data.posting], level=level, df=_df(everybody)
    )
    return gap_row("missing_gap_pp", OLS, found, n1 + n0)


def _name_rows(data: Applications) -> list[CallbackRow]:
    rows: list[CallbackRow] = []
    if data.name is None:
        return rows
    for side, arm in ((FAVORED, 1), (OTHER, 0)):
        mine = data.take(data.arm == arm)
        found = []
        for name in np.unique(mine.name).tolist():  # type: ignore[arg-type]
            own = mine.take(mine.name == name)
            n = int(own.n.sum())
            rate = int(own.called.sum()) / n
            influence = (own.called - rate * own.n) / n
            error = from_influence(rate, influence, [own.posting]).std_error
            found.append(NameRate(name, side, rate, error, None, None, n))  # type: ignore[arg-type]
        rates, spread = shrunken(found)
        rows += name_rows(side, rates, spread)
    return rows
