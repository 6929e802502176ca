"""Input of the path-specific estimators: sums of a score over cells of people.

A cell holds people who agree on X, Z, R, B, on their folds, weight and cluster. Numbers with many
values come twice: as codes of their bins and as they are (z_values, r_values, b_values). Sums of Y
and Y^2 are all that the estimators need of the score, so a cell is as good as its rows; a row is a
cell with n = 1. Cells add: concatenating two inputs (`+`) is the input of all their people.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fairscreen import random
from fairscreen.errors import InputError

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Codes = NDArray[np.int8]

OTHER = -1  # code of X for groups outside the contrast

_SUMS = ("n", "sum_y", "sum_yy")
_VALUES = ("z_values", "r_values", "b_values")
_OPTIONAL = ("cluster", "p_z", "p_rz", "p_brz", "p_contrast", *_VALUES)


@dataclass(frozen=True, eq=False)
class PathData:
    """Cells of people, C of them; checked when built.

    x        (C,) int8: 1 = x1, 0 = x0, -1 = another group (it stays in P(Z)).
    z, r, b  (C, k) int64: codes >= 0 of confounders, redlining and business mediators. Each may
             be empty (k = 0).
    n        (C,) int64: people in the cell, at least 1.
    w        (C,) float64 > 0: weight of each person of the cell. The effects are those of the
             weighted population, and every nuisance is fitted under the weights; so weights may
             depend on Z alone (standardisation to another P(Z)) or on everything (a survey).
    sum_y, sum_yy  (C,) float64: sums of the score and of its square over the cell's people.
    fold     (C, K) int64: fold of the cell in each of K repeats of cross-fitting.
    cluster  (C,) int64 or None: people of one cluster are not independent.
    p_z, p_rz, p_brz  (C,) or None: known P(x1 | ., X in {x1, x0}) given Z; R, Z; B, R, Z, in
             the weighted population. Used when the options ask for known propensities.
    p_contrast  (C,) or None: known P(X in {x1, x0} | Z). None: fitted where other groups exist.
    z_values, r_values, b_values  (C, m) float64 or None: numbers whose bins are the last m of the
             k columns of z, r, b, in the same order. Nuisances then see the numbers as well as
             their bins; none (m = 0) is None.

    Raises InputError naming the array that is wrong.
    """

    x: NDArray[np.int8]
    z: Ints
    r: Ints
    b: Ints
    n: Ints
    w: Floats
    sum_y: Floats
    sum_yy: Floats
    fold: Ints
    cluster: Ints | None = None
    p_z: Floats | None = None
    p_rz: Floats | None = None
    p_brz: Floats | None = None
    p_contrast: Floats | None = None
    z_values: Floats | None = None
    r_values: Floats | None = None
    b_values: Floats | None = None

    def __post_init__(self) -> None:
        x = _whole("x", self.x, 1)
        if not np.isin(x, (OTHER, 0, 1)).all():
            raise _bad("x", "holds a code other than 1, 0 and -1", "Code x1 as 1, x0 as 0.")
        object.__setattr__(self, "x", x.astype(np.int8))
        cells = len(x)
        for name, dim in (("z", 2), ("r", 2), ("b", 2), ("n", 1), ("fold", 2)):
            values = _whole(name, getattr(self, name), dim, cells)
            least = 1 if name == "n" else 0
            if (values < least).any():
                raise _bad(name, f"holds a value below {least}", "Correct these cells.")
            object.__setattr__(self, name, values)
        if self.fold.shape[1] == 0:
            raise _bad("fold", "has no column", "Give one column of folds per repeat.")
        for name in ("w", "sum_y", "sum_yy"):
            object.__setattr__(self, name, _number(name, getattr(self, name), cells))
        if (self.w <= 0).any():
            raise _bad("w", "holds a weight that is not above 0", "Leave these people out.")
        # Cauchy-Schwarz, up to rounding: a sum of squares below it belongs to other rows.
        square = self.sum_y**2 / self.n
        if (self.sum_yy < square - 1e-9 * (1.0 + square)).any():
            raise _bad("sum_yy", "is below sum_y^2 / n", "Sum the squares of the same scores.")
        if self.cluster is not None:
            object.__setattr__(self, "cluster", _whole("cluster", self.cluster, 1, cells))
        for name in ("p_z", "p_rz", "p_brz", "p_contrast"):
            if (given := getattr(self, name)) is None:
                continue
            p = _number(name, given, cells)
            if (p < 0).any() or (p > 1).any():
                raise _bad(name, "holds a probability outside [0, 1]", "Correct these cells.")
            object.__setattr__(self, name, p)
        for name in _VALUES:
            if (given := getattr(self, name)) is None:
                continue
            many = _number(name, given, cells, dim=2) + 0.0  # -0.0 is 0.0 in a key
            codes = getattr(self, name[0]).shape[1]
            if many.shape[1] > codes:
                raise _bad(
                    name,
                    f"has {many.shape[1]} columns where {name[0]} has {codes}",
                    f"Give the bins of every number as the last columns of {name[0]}.",
                )
            object.__setattr__(self, name, many if many.shape[1] else None)

    def __len__(self) -> int:
        return len(self.x)

    def __add__(self, other: PathData) -> PathData:
        """All cells of both; InputError where one has an array or a column the other lacks."""
        parts: dict[str, Any] = {}
        for field in fields(self):
            a, b = getattr(self, field.name), getattr(other, field.name)
            if (a is None) != (b is None):
                raise _bad(field.name, "is given on one side only", "Give it on both or neither.")
            if a is not None and a.shape[1:] != b.shape[1:]:
                raise _bad(field.name, "has unlike columns on the two sides", "Align them.")
            parts[field.name] = None if a is None else np.concatenate([a, b])
        return PathData(**parts)

    def take(self, order: Ints) -> PathData:
        """The cells at `order`, in that order."""
        picked = {
            f.name: getattr(self, f.name)[order]
            for f in fields(self)
            if getattr(self, f.name) is not None
        }
        return replace(self, **picked)

    def distinct_values(self) -> int:
        """How many distinct (Z, R, B) there are, numbers as they are."""
        arrays = self._arrays(["z", "r", "b", *_VALUES])
        return len(self) - int(_repeats(arrays, sorting(arrays)).sum())

    def order(self) -> Ints:
        """The order of cells by key, so that no result depends on the order of arrival."""
        order = sorting(self._arrays(_key_names()))
        if _repeats(
            self._arrays(_key_names()), order
        ).any():  # equal keys must be neighbours, and in one order
            order = sorting(self._arrays((*_key_names(), *_SUMS)))
        return order

    def _arrays(self, names: Iterable[str]) -> list[NDArray[Any]]:
        return [values for name in names if (values := getattr(self, name)) is not None]

    @classmethod
    def from_rows(
        cls,
        *,
        x: ArrayLike,
        z: ArrayLike,
        r: ArrayLike,
        b: ArrayLike,
        y: ArrayLike,
        fold: ArrayLike,
        w: ArrayLike | None = None,
        cluster: ArrayLike | None = None,
        p_z: ArrayLike | None = None,
        p_rz: ArrayLike | None = None,
        p_brz: ArrayLike | None = None,
        p_contrast: ArrayLike | None = None,
        z_values: ArrayLike | None = None,
        r_values: ArrayLike | None = None,
        b_values: ArrayLike | None = None,
        cells: bool = True,
    ) -> PathData:
        """From one row per person: y (N,), fold (N,) or (N, K), the rest as in the class.

        Rows that agree on everything but y become one cell; `cells=False` keeps each row.
        """
        score = np.asarray(y)
        rows = len(score)
        given = (cluster, p_z, p_rz, p_brz, p_contrast)
        numbers = [None if v is None else _columns(v, rows) for v in (z_values, r_values, b_values)]
        optional = dict(zip(_OPTIONAL, (*given, *numbers), strict=True))
        data = cls(
            x=_array(x), z=_columns(z, rows), r=_columns(r, rows), b=_columns(b, rows),
            n=np.ones(rows, dtype=np.int64), w=np.ones(rows) if w is None else _array(w),
            sum_y=_number("y", score, rows), sum_yy=_number("y", score, rows) ** 2,
            fold=_columns(fold, rows),
            **{name: None if v is None else _array(v) for name, v in optional.items()},
        )  # fmt: skip
        return data.grouped() if cells else data

    def grouped(self) -> PathData:
        """The same people with equal cells merged, in key order."""
        data = self.take(self.order())
        same = _repeats(data._arrays(_key_names()), np.arange(len(data), dtype=np.int64))
        new = np.concatenate([np.ones(min(len(data), 1), dtype=bool), ~same])
        at = np.cumsum(new) - 1
        merged = data.take(np.flatnonzero(new).astype(np.int64))
        return replace(
            merged,
            n=totals(at, data.n, len(merged)).astype(np.int64),
            sum_y=totals(at, data.sum_y, len(merged)),
            sum_yy=totals(at, data.sum_yy, len(merged)),
        )


def _repeats(arrays: Sequence[NDArray[Any]], order: Ints) -> NDArray[np.bool_]:
    """(C - 1,): whether a row of the arrays, in this order, is the one before it."""
    same = np.ones(max(len(order) - 1, 0), dtype=bool)
    for values in arrays:
        moved = values[order]
        equal = moved[1:] == moved[:-1]
        same &= equal if values.ndim == 1 else equal.all(axis=1)
    return same


def _key_names() -> list[str]:
    return [f.name for f in fields(PathData) if f.name not in _SUMS]


def totals(at: Ints, values: Floats | Ints, length: int) -> Floats:
    """Sums (length,) of values (C,) that share an index in `at` (C,)."""
    return np.bincount(at, weights=values, minlength=length).astype(np.float64)


def sorting(arrays: Sequence[NDArray[Any]]) -> Ints:
    """The order (C,) of rows by the columns of the arrays (C,) or (C, k), the first column first.

    Columns of whole numbers are packed into as few keys as fit 62 bits; constant ones are left
    out. Equal rows stay in their order.
    """
    columns = [column for a in arrays for column in (a[None] if a.ndim == 1 else a.T)]
    keys: list[NDArray[Any]] = []
    size = 0  # of the last key; 0: it takes no more columns
    for column in columns:
        if not len(column) or (low := column.min()) == (high := column.max()):
            continue
        span = int(high) - int(low) + 1 if np.issubdtype(column.dtype, np.integer) else 2**62
        if span >= 2**62:
            keys.append(column)
            size = 0
            continue
        values = column.astype(np.int64) - int(low)
        if size and size * span < 2**62:
            keys[-1] = keys[-1] * span + values
            size *= span
        else:
            keys.append(values)
            size = span
    if not keys:
        return np.arange(len(columns[0]) if columns else 0, dtype=np.int64)
    return np.lexsort(keys[::-1]).astype(np.int64)


def distinct_rows(arrays: Sequence[Ints]) -> tuple[Ints, Ints]:
    """First place (U,) of each distinct row of the columns of arrays (C, k) of whole numbers, in
    the order of their values; and which of them each row is (C,)."""
    rank, size = np.zeros(len(arrays[0]), dtype=np.int64), 1
    for column in (column for a in arrays for column in a.T):
        if not len(column):
            continue
        low = int(column.min())
        span = int(column.max()) - low + 1
        if span < 2**31:
            values: Ints = column - low
        else:
            levels, values = np.unique(column, return_inverse=True)
            span = len(levels)
        if size * span >= 2**62:
            rank, size = _dense(rank, size)
        rank, size = rank * span + values, size * span
    rank, size = _dense(rank, size)
    first = np.empty(size, dtype=np.int64)
    first[rank[::-1]] = np.arange(len(rank) - 1, -1, -1)
    return first, rank


def _dense(values: Ints, size: int) -> tuple[Ints, int]:
    """Ranks (C,) of values (C,) in [0, size), ties together, and how many ranks there are."""
    if size <= 4 * len(values) + 1_000_000:
        seen = np.zeros(size, dtype=bool)
        seen[values] = True
        rank = np.cumsum(seen) - 1
        return rank[values], int(rank[-1]) + 1 if size else 0
    levels, at = np.unique(values, return_inverse=True)
    return at.reshape(-1).astype(np.int64), len(levels)


def assign_folds(seed: int | str, keys: Sequence[str], folds: int, repeats: int) -> Ints:
    """Folds (N, repeats) by hash of the key, which should name the surveyed person.

    Rows of one person then share a fold, and a fold does not depend on who else is there.
    """
    columns = [random.integers(seed, f"fold/{k}", keys, folds) for k in range(repeats)]
    return np.stack(columns, axis=1)


def _bad(name: str, problem: str, remedy: str) -> InputError:
    return InputError(f"array {name}", problem, remedy)


def _array(values: ArrayLike) -> NDArray[Any]:
    return np.asarray(values)


def _columns(values: ArrayLike, rows: int) -> NDArray[Any]:
    array = np.asarray(values)
    if array.size == 0 and rows:
        return np.zeros((rows, 0), dtype=np.int64)
    return array[:, None] if array.ndim == 1 else array


def _shape(name: str, array: NDArray[Any], dim: int, cells: int | None) -> None:
    if array.ndim != dim:
        raise _bad(name, f"has {array.ndim} dimensions", f"Give {dim}.")
    if cells is not None and len(array) != cells:
        raise _bad(name, f"has {len(array)} cells where x has {cells}", "Give one per cell.")


def _number(name: str, values: ArrayLike, cells: int, dim: int = 1) -> Floats:
    try:
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise _bad(name, "holds a value that is no number", "Correct these cells.") from None
    _shape(name, array, dim, cells)
    if not np.isfinite(array).all():
        first = int(np.argwhere(~np.isfinite(array))[0, 0])
        raise _bad(name, f"is not finite at index {first}", "Leave such people out and count them.")
    return array


def _whole(name: str, values: ArrayLike, dim: int, cells: int | None = None) -> Ints:
    array = np.asarray(values)
    _shape(name, array, dim, cells)
    if array.size == 0 or np.issubdtype(array.dtype, np.signedinteger):
        return array.astype(np.int64, copy=False)
    if not np.issubdtype(array.dtype, np.number) and array.dtype != np.bool_:
        raise _bad(name, "holds a value that is no number", "Give integer codes.")
    if not np.isfinite(array).all():
        raise _bad(name, "holds a value that is not finite", "Give integer codes.")
    whole = array.astype(np.int64)
    if (whole != array).any():
        raise _bad(name, "holds a value that is no whole number", "Give integer codes.")
    return whole
