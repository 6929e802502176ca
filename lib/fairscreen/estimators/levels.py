"""Sums of people by fold, group and level: all that cross-fitting sees of the cells.

A fit on all folds but one, and what is left out of it, are sums over the levels of (Z, R, B), of
which there are as many as people differ in them; the cells are read once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fairscreen.estimators.data import OTHER, Codes, Floats, Ints, PathData, distinct_rows, totals
from fairscreen.estimators.features import Features

Mask = NDArray[np.bool_]
GROUPS = (1, 0, OTHER)
#: Stages by how much they see: Z; R, Z; B, R, Z.
STAGES = ("z", "rz", "brz")


@dataclass(frozen=True, eq=False)
class Problem:
    """What all folds and repeats share: features of the three stages, weights of the fits.

    train (C,) or None: weights of the cells in the fits of the stages `sampled` (training.py);
    None: all as they are.
    """

    data: PathData
    z: Features
    rz: Features
    brz: Features
    train: Floats | None = None
    sampled: frozenset[str] = frozenset()

    @classmethod
    def of(cls, data: PathData) -> Problem:
        z, r, b = (data.z, data.z_values), (data.r, data.r_values), (data.b, data.b_values)
        return cls(data, Features.of(z), Features.of(z, r), Features.of(z, r, b))

    def features(self, stage: str) -> Features:
        found: Features = getattr(self, stage)
        return found

    @cached_property
    def first(self) -> Ints:
        """(U,): one cell of each level of B, R, Z."""
        found = np.empty(len(self.brz.levels), dtype=np.int64)
        found[self.brz.at[::-1]] = np.arange(len(self.data) - 1, -1, -1)
        return found

    @cached_property
    def _homes(self) -> dict[tuple[str, str], Ints]:
        brz_z, brz_rz = self.z.at[self.first], self.rz.at[self.first]
        rz_z = np.empty(len(self.rz.levels), dtype=np.int64)
        rz_z[brz_rz] = brz_z
        return {("brz", "z"): brz_z, ("brz", "rz"): brz_rz, ("rz", "z"): rz_z}

    def home(self, fine: str, coarse: str) -> Ints | None:
        """The level of the coarse stage in which each level of the fine one lies; None: itself."""
        return None if fine == coarse else self._homes[fine, coarse]


class Table(NamedTuple):
    """Sums over the people of one group, by fold and level (F, V): of w, w^2, w y and w y^2."""

    w: Floats
    ww: Floats
    y: Floats
    yy: Floats


@dataclass(frozen=True, eq=False)
class Split:
    """The sums of one repeat of cross-fitting.

    slot (C,): place of each cell's fold among the `folds`. trained, every: tables of the groups
    that exist, at the levels of B, R, Z, under the weights of the fits and as people are.
    """

    problem: Problem
    slot: Ints
    folds: int
    trained: dict[int, Table]
    every: dict[int, Table]
    _coarse: dict[tuple[str, bool], dict[int, Table]] = field(init=False, default_factory=dict)

    @classmethod
    def of(cls, problem: Problem, repeat: int) -> Split:
        data, at = problem.data, problem.brz.at
        first, slot = distinct_rows([data.fold[:, [repeat]]])
        folds, levels = len(first), len(problem.brz.levels)
        place = slot * levels + at

        def table(rows: Ints, more: Floats | None) -> Table:
            w, n, where = data.w[rows], data.n[rows], place[rows]
            if more is not None:
                w = w * more[rows]

            def total(values: Floats) -> Floats:
                return totals(where, values, folds * levels).reshape(folds, levels)

            sums = (w * n, w**2 * n, w * data.sum_y[rows], w * data.sum_yy[rows])
            return Table(*(total(values) for values in sums))

        groups = {code: np.flatnonzero(data.x == code) for code in GROUPS}
        every = {code: table(rows, None) for code, rows in groups.items() if len(rows)}
        if (train := problem.train) is None:
            return cls(problem, slot, folds, every, every)
        kept = {code: rows[train[rows] > 0] for code, rows in groups.items()}
        trained = {code: table(kept[code], train) for code in every}
        return cls(problem, slot, folds, trained, every)

    def tables(self, stage: str, *, train: bool) -> dict[int, Table]:
        """Tables of the groups at the levels of a stage."""
        whole = self.trained if train else self.every
        home = self.problem.home("brz", stage)
        if home is None:
            return whole
        key = stage, train and self.trained is not self.every
        if key not in self._coarse:
            levels = len(self.problem.features(stage).levels)
            self._coarse[key] = {
                code: Table(*(gathered(values, home, levels) for values in table))
                for code, table in whole.items()
            }
        return self._coarse[key]


def gathered(values: Floats, home: Ints | None, levels: int) -> Floats:
    """Sums (..., levels) of values (..., U) by the coarser level in which each level lies."""
    if home is None:
        return values
    if values.ndim == 1:
        return totals(home, values, levels)
    return np.stack([totals(home, row, levels) for row in values])


def added(tables: Mapping[int, Table], groups: Sequence[int], keep: Mask) -> Table:
    """Sums over some groups and folds: a table of vectors (V,)."""
    some = [tables[code] for code in groups if code in tables]
    return Table(
        *(sum(part[keep].sum(axis=0) for part in column) for column in zip(*some, strict=True))
    )


@dataclass(frozen=True, eq=False)
class Strata:
    """Cells that no nuisance of one repeat tells apart: same group, fold, Z, R and B. D of them.

    x (D,): group. n, people, score (D,): sums of n, of w n and of w sum_y over their cells.
    first (D,): one of their cells. level (D,): their level of B, R, Z. at (C,): the stratum of each
    cell; None: every cell is its own, and its own level.
    """

    x: Codes
    n: Floats
    people: Floats
    score: Floats
    first: Ints
    level: Ints
    at: Ints | None

    @classmethod
    def of(cls, problem: Problem, repeat: int) -> Strata:
        data, level = problem.data, problem.brz.at
        group = data.x.astype(np.int64)
        first, at = distinct_rows([np.stack([group, data.fold[:, repeat], level], axis=1)])
        n, people, score = (
            totals(at, values, len(first))
            for values in (data.n, data.w * data.n, data.w * data.sum_y)
        )
        return cls(data.x[first], n, people, score, first, level[first], at)

    @classmethod
    def cells(cls, data: PathData) -> Strata:
        """Every cell for itself."""
        n = data.n.astype(np.float64)
        places = np.arange(len(data), dtype=np.int64)
        return cls(data.x, n, data.w * n, data.w * data.sum_y, places, places, None)

    def by_level(self, values: Floats) -> Floats:
        """Sums (U,) of values (D,) over the strata of each level."""
        return totals(self.level, values, int(self.level.max()) + 1)

    def spread(self, values: Floats) -> Floats:
        """Values (D, ...) of the strata for every cell (C, ...)."""
        return values if self.at is None else values[self.at]
