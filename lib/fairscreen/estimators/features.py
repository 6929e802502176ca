"""Features of the nuisances: distinct values ("levels") of codes and numbers, and sums over them.

Where numbers stand beside their bins, a level is a person's exact numbers, and the levels of one
combination of codes form a *cell*. Without numbers every level is its own cell.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri
from scipy.stats import rankdata

from fairscreen.estimators.data import Floats, Ints, distinct_rows

# Knots of the natural cubic spline of a number, as quantiles of its score. Four columns bend
# where a line misses; beyond the outer knots the spline is straight, so tails stay tame.
KNOTS = (0.05, 0.275, 0.5, 0.725, 0.95)


@dataclass(frozen=True, eq=False)
class Features:
    """Distinct rows of code columns and, where given, of numbers.

    levels (U, k): codes. at (C,): the level of each cell of the data.
    values (U, m) or None: the numbers, standardised over the levels; `binned` (k,) tells which
    code columns are their bins. Levels are sorted by code, then by number.
    starts (K,) or None: first level of each code cell. None: every level is a cell.
    """

    levels: Ints
    at: Ints
    values: Floats | None = None
    binned: NDArray[np.bool_] | None = None
    starts: Ints | None = None

    @classmethod
    def of(cls, *parts: tuple[Ints, Floats | None]) -> Features:
        """From (codes, numbers) per role; the last columns of the codes are the numbers' bins."""
        first, at = distinct_rows([codes for codes, _ in parts])
        levels = np.concatenate([codes[first] for codes, _ in parts], axis=1)
        if levels.shape[1] == 0:
            return cls(np.zeros((1, 0), dtype=np.int64), at)
        numbers = [values for _, values in parts if values is not None]
        if not numbers:
            return cls(levels, at)
        values = np.concatenate(numbers, axis=1)
        order = np.lexsort((*values.T[::-1], at))
        new = np.ones(len(order), dtype=bool)
        moved = values[order]
        new[1:] = (at[order][1:] != at[order][:-1]) | (moved[1:] != moved[:-1]).any(axis=1)
        fine = np.zeros(len(order), dtype=np.int64)
        fine[order] = np.cumsum(new) - 1
        cell = at[order][new]
        binned = [
            np.arange(codes.shape[1]) >= codes.shape[1] - (0 if v is None else v.shape[1])
            for codes, v in parts
        ]
        return cls(
            levels[cell],
            fine,
            _standardised(moved[new]),
            np.concatenate(binned),
            np.searchsorted(cell, np.arange(len(levels))).astype(np.int64),
        )

    @cached_property
    def design(self) -> Floats:
        """(U, 1 + p): intercept, one indicator per code, a curve per number. All codes stay: the
        ridge identifies them, and no result depends on a choice of reference."""
        columns = [np.ones((len(self.levels), 1))]
        for column in self.levels.T:
            codes = np.unique(column)
            if len(codes) > 1:
                columns.append((column[:, None] == codes).astype(np.float64))
        if self.values is not None:
            columns += [curves(column) for column in self.values.T]
        return np.concatenate(columns, axis=1)

    @cached_property
    def splitting(self) -> Floats:
        """(U, k): what trees split on: the numbers, and the codes that are not their bins."""
        if self.values is None or self.binned is None:
            return self.levels.astype(np.float64)
        return np.concatenate([self.levels[:, ~self.binned], self.values], axis=1)

    def per_cell(self, values: Floats) -> Floats:
        """Sums (K, ...) over the levels of each cell of values (U, ...)."""
        if self.starts is None:
            return values
        return np.asarray(np.add.reduceat(values, self.starts, axis=0), dtype=np.float64)

    def per_level(self, cells: Floats) -> Floats:
        """(U,): each level takes the value of its cell, cells (K,)."""
        if self.starts is None:
            return cells
        return np.repeat(cells, np.diff(self.starts, append=len(self.levels)))


@dataclass(frozen=True, eq=False)
class Sums:
    """Training sums per level (U,): of w, w^2, w y and w y^2 over people.

    held: the same sums of people held out, where a learner is to be tuned. fits: what one learner
    of a stack fitted on these sums and another needs as well, by name.
    """

    w: Floats
    ww: Floats
    y: Floats
    yy: Floats
    held: Sums | None = None
    fits: dict[str, tuple[Floats, Floats]] = field(default_factory=dict)


def curves(values: Floats) -> Floats:
    """(U, p): columns in which a smooth curve of a number (U,) is linear.

    A natural cubic spline (Hastie, Tibshirani, Friedman, The Elements of Statistical Learning, eq.
    5.4-5.5) of the number's normal score (Blom 1958), so that no outlier steers it and any
    increasing transform of the number (income, log income) gives the same. Each column is
    standardised and free of those before it: the ridge treats them alike.
    """
    score = np.asarray(ndtri((rankdata(values) - 0.375) / (len(values) + 0.25)), dtype=np.float64)
    found: list[Floats] = []
    for column in _spline(score):
        left = column - column.mean()
        size = np.sqrt((left**2).mean())
        for before in found:
            left = left - (left * before).mean() * before
        if (sd := np.sqrt((left**2).mean())) > 1e-6 * size:
            found.append(left / sd)
    return np.stack(found, axis=1) if found else np.zeros((len(values), 0))


def _spline(values: Floats) -> list[Floats]:
    """Columns (U,) of the natural cubic spline, the values first; ties leave fewer."""
    knots = np.unique(np.quantile(values, KNOTS)).tolist()
    if len(knots) < 3:
        return [values]

    def bend(knot: float) -> Floats:
        cubes = np.maximum(values - knot, 0.0) ** 3 - np.maximum(values - knots[-1], 0.0) ** 3
        return np.asarray(cubes / (knots[-1] - knot), dtype=np.float64)

    final = bend(knots[-2])
    return [values, *(bend(knot) - final for knot in knots[:-2])]


def _standardised(values: Floats) -> Floats:
    centred: Floats = values - values.mean(axis=0)
    sd = np.sqrt((centred**2).mean(axis=0))
    out: Floats = np.divide(centred, sd, out=np.zeros_like(centred), where=sd > 0)
    return out
