"""Rank sets: the versions of one resume, ranked against each other after scoring.

Ranks go from 1 = best; equal scores share the average of the places they take. A set in which a
version has no score is incomplete: ranks over fewer versions are no comparable ranks, so it enters
no statistic and is counted. D = R_favored - R_other: above 0, the other version ranks better.
Source: JobFair (Findings of EMNLP 2024), section 3.5.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import stdtr, stdtrit

from fairscreen.errors import InputError

Array = NDArray[np.float64]
Ints = NDArray[np.int64]
Status = Literal["ok", "flagged", "not_computable"]

#: Ranks, and differences of ranks, are multiples of it.
HALF = 0.5
# Means of the same answers in another order differ in their last digits: that is a tie.
_TIE = 1e-9
_MAX_LATTICE = 10_000
NO_SPREAD = "no_spread: nothing varies, so there is no standard error"
#: An error below this share of its estimate is what floats make of 0.
_ROUNDING = 1e-12


def ranks(y: ArrayLike) -> Array:
    """Ranks (N, K) within each row of scores y (N, K), 1 = highest, ties averaged.

    Scores closer than 1e-9 of the row's largest are tied. NaN where a row lacks a score.
    """
    scores = np.asarray(y, dtype=np.float64)
    if scores.ndim != 2:
        raise InputError("array y", f"has {scores.ndim} dimensions", "Give sets by versions.")
    whole = np.isfinite(scores).all(axis=1)
    found = np.full(scores.shape, np.nan)
    some = scores[whole]
    if not len(some):
        return found
    tie = _TIE * np.abs(some).max(axis=1, keepdims=True)
    place = np.full(some.shape, HALF)  # each ties with itself, which the loop adds
    for k in range(some.shape[1]):
        ahead = some[:, [k]] - some
        place += (ahead > tie) + HALF * (np.abs(ahead) <= tie)
    found[whole] = place
    return found


@dataclass(frozen=True, eq=False)
class RankSets:
    """Scores of rank sets; sets add (`+`).

    y        (N, K): mean score of each version, NaN = none. Columns: favored, other, any others.
    item     (N,) int: the resume. Several sets of one resume (information levels, models) are not
             independent: it is flipped, swapped and resampled as a whole.
    words    (N,): words of the text that was sent, above 0; None: not known.
    answers  (N, K) int: answers behind each mean; None: one each.
    squares  (N, K): sum of squared deviations of the answers from their mean; None: 0.
    Raises InputError for other shapes, an infinite score, words that are not above 0.
    """

    y: Array
    item: Ints
    words: Array | None = None
    answers: Ints | None = None
    squares: Array | None = None

    def __post_init__(self) -> None:
        if self.y.ndim != 2 or self.y.shape[1] < 2:
            raise InputError("array y", "has no two columns", "Give one column per version.")
        if np.isinf(self.y).any():
            raise InputError("array y", "holds an infinite score", "Leave it out: NaN.")
        if self.item.shape != (len(self.y),):
            raise InputError("array item", "is not one per set", "Give one code per row of y.")
        if self.words is not None and (
            self.words.shape != (len(self.y),)
            or not (np.isfinite(self.words) & (self.words > 0)).all()
        ):
            raise InputError("array words", "is not one number above 0 per set", "Count words.")
        if (self.answers is None) != (self.squares is None):
            raise InputError("arrays answers, squares", "only one is given", "Give both.")
        for name in ("answers", "squares"):
            values = getattr(self, name)
            if values is not None and (values.shape != self.y.shape or (values < 0).any()):
                raise InputError(f"array {name}", "does not fit y", "Give numbers from 0.")

    def __len__(self) -> int:
        return len(self.y)

    def __add__(self, other: RankSets) -> RankSets:
        if self.y.shape[1] != other.y.shape[1]:
            raise InputError("array y", "has other versions", "Add sets of the same versions.")

        def both(name: str) -> NDArray[np.float64] | NDArray[np.int64] | None:
            one, two = getattr(self, name), getattr(other, name)
            if (one is None) != (two is None):
                raise InputError(f"array {name}", "is on one side only", "Give both or neither.")
            return None if one is None else np.concatenate([one, two])

        return RankSets(
            np.concatenate([self.y, other.y]), np.concatenate([self.item, other.item]),
            both("words"), both("answers"), both("squares"),  # type: ignore[arg-type]
        )  # fmt: skip

    def take(self, at: NDArray[np.bool_] | Ints) -> RankSets:
        """The sets at a mask or at positions."""
        optional = (
            None if values is None else values[at]
            for values in (self.words, self.answers, self.squares)
        )  # fmt: skip
        return RankSets(self.y[at], self.item[at], *optional)  # type: ignore[arg-type]

    def ordered(self) -> RankSets:
        """The sets by resume, words and scores: the order of arrival moves no last digit."""
        keys = [*self.y.T[::-1], *([] if self.words is None else [self.words]), self.item]
        return self.take(np.lexsort(keys))

    def versions(self, columns: Sequence[int]) -> RankSets:
        """The same sets with only these versions, in this order."""
        at = list(columns)
        return RankSets(
            self.y[:, at], self.item, self.words,
            None if self.answers is None else self.answers[:, at],
            None if self.squares is None else self.squares[:, at],
        )  # fmt: skip

    @cached_property
    def complete(self) -> NDArray[np.bool_]:
        """(N,): sets in which every version has a score."""
        return np.asarray(np.isfinite(self.y).all(axis=1), dtype=np.bool_)

    @cached_property
    def ranks(self) -> Array:
        """(N, K): ranks within the set, NaN in incomplete sets."""
        return ranks(self.y)

    @property
    def lacking(self) -> Ints:
        """(K,): sets in which the version has no score."""
        return np.asarray((~np.isfinite(self.y)).sum(axis=0), dtype=np.int64)

    @cached_property
    def unit(self) -> float:
        """A step of which every mean score is a multiple: the last digit of the answers' sums,
        over the least common multiple of the numbers of answers. Scores with more than six
        decimals have none: 1e-6 of that is given, and a test that needs a lattice is drawn."""
        some = np.isfinite(self.y)
        times = np.ones(some.sum()) if self.answers is None else self.answers[some]
        shared = math.lcm(*{int(t) for t in np.unique(times) if t > 0} or {1})
        sums = self.y[some] * times
        for digits in range(7):
            scaled = sums * 10.0**digits
            slack = np.minimum(1e-3, 1e-7 + 1e-12 * np.abs(scaled))  # what floats can be off by
            if (np.abs(scaled - np.rint(scaled)) <= slack).all():
                return float(10.0**-digits / min(shared, _MAX_LATTICE))
        return 1e-12


@dataclass(frozen=True)
class Mean:
    """A mean over sets, its error from sums within resumes, t with resumes - 1 degrees of freedom.

    value; std_error, low, high, p_value: None where one resume leaves no spread to measure. p is
    that of the t test against 0.
    """

    value: float
    std_error: float | None
    low: float | None
    high: float | None
    p_value: float | None
    n: int
    items: int


def grouped(item: ArrayLike) -> tuple[Ints, int]:
    """Codes 0..G-1 of resumes (N,), and G."""
    values, at = np.unique(np.asarray(item), return_inverse=True)
    return at.reshape(-1).astype(np.int64), len(values)


def item_sums(values: Array, item: Ints, items: int) -> Array:
    """(items,) sums of values (N,) within resumes coded 0..items-1."""
    return np.asarray(np.bincount(item, weights=values, minlength=items), dtype=np.float64)


def mean_of(values: ArrayLike, item: ArrayLike, *, level: float = 0.95) -> Mean:
    """Mean of values (N,) of sets of resumes item (N,); N must be above 0.

    Linearised: sums within resumes of value - mean, over N, times G / (G - 1).
    """
    x = np.asarray(values, dtype=np.float64)
    value = float(x.mean())
    return from_influence(value, (x - value) / len(x), item, level=level)


def from_influence(value: float, influence: Array, item: ArrayLike, *, level: float = 0.95) -> Mean:
    """An estimate whose error is the sum of influence (N,) within resumes item (N,)."""
    at, items = grouped(item)
    if items < 2:
        return Mean(value, None, None, None, None, len(influence), items)
    sums = item_sums(influence, at, items)
    error = math.sqrt(float((sums**2).sum()) * items / (items - 1))
    reach = float(stdtrit(items - 1, (1 + level) / 2)) * error
    if error > 0:
        p = 2 * float(stdtr(items - 1, -abs(value) / error))
    else:
        p = 1.0 if value == 0 else 0.0
    return Mean(value, error, value - reach, value + reach, p, len(influence), items)


@dataclass(frozen=True)
class RankRow:
    """One number of a ranking analysis: the columns of `estimates` that the estimator knows.

    n: rank sets behind it. reason: why it is flagged or not computable; of an ok impact ratio:
    below_four_fifths.
    """

    estimand: str
    method: str
    estimate: float | None
    std_error: float | None
    ci_low: float | None
    ci_high: float | None
    p_value: float | None
    n: int
    status: Status = "ok"
    reason: str | None = None

    def __post_init__(self) -> None:
        numbers = (self.estimate, self.std_error, self.ci_low, self.ci_high, self.p_value)
        if any(value is not None and not math.isfinite(value) for value in numbers):
            raise ValueError(f"{self.estimand}: a number that is not finite has no place in a row")
        if self.status == "not_computable" and (self.estimate is not None or not self.reason):
            raise ValueError(f"{self.estimand}: not computable needs nulls and a reason")


Row = TypeVar("Row", bound=RankRow)


def settled(row: Row, *, exact: bool = False) -> Row:
    """The row as it is, or flagged and without error, interval and p where its error is 0: where
    nothing varies the estimate is a fact of these data, and its error cannot be told.

    exact: p is that of an exact test, which needs no error, and stays.
    """
    if row.std_error is None or row.std_error > _ROUNDING * abs(row.estimate or 0.0):
        return row
    return replace(
        row, std_error=None, ci_low=None, ci_high=None, p_value=row.p_value if exact else None,
        status="flagged", reason="; ".join(filter(None, (row.reason, NO_SPREAD))),
    )  # fmt: skip


def not_computable(estimand: str, method: str, n: int, reason: str) -> RankRow:
    return RankRow(estimand, method, None, None, None, None, None, n, "not_computable", reason)
