"""What the nuisances are fitted on, where there is more than a cap.

A fit costs what the number of distinct (Z, R, B) costs, whatever the number of people and of cells.
Above the cap these levels are drawn by a hash of what they are, so that models scored on the same
applicants train on the same ones, whatever the order of arrival. A level is drawn with all its
people, of every group and fold: with one group alone it would tell a wrong P(X|.). Each group has
an equal share of the cap (a rare group keeps all of its levels); within it the chance is in
proportion to its people, and a level's chance is the largest of its groups'. What is drawn weighs
one over its chance (Horvitz & Thompson 1952). Influence moments use every cell.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fairscreen import random
from fairscreen.estimators.data import OTHER, Floats, Ints, PathData, totals


def training_weights(data: PathData, level: Ints, cap: int | None, seed: int) -> Floats | None:
    """Weight (C,) of each cell in the fits, 0 for those left out; None: all of them, as they are.

    level (C,): the cells' level of B, R, Z (levels.Problem). The expected number of levels that
    are kept is `cap` at most, and at least half of that where there are two groups.
    """
    levels = int(level.max()) + 1
    if cap is None or levels <= cap:
        return None
    people = data.n * data.w
    sizes = [totals(level[rows], people[rows], levels) for rows in _groups(data)]
    sizes = sorted(filter(np.any, sizes), key=np.count_nonzero)
    chance, left = np.zeros(levels), float(cap)
    for k, size in enumerate(sizes):
        share, some = left / (len(sizes) - k), size > 0
        mine = np.zeros(levels)
        mine[some] = _chances(size[some], share) if some.sum() > share else 1.0
        left -= float(mine.sum())
        chance = np.maximum(chance, mine)
    first = np.empty(levels, dtype=np.int64)
    first[level] = np.arange(len(level))
    kept = random.row_uniforms(seed, "paths/training", value_keys(data.take(first))) < chance
    return np.where(kept, 1.0 / chance, 0.0)[level]


def _groups(data: PathData) -> list[Ints]:
    return [np.flatnonzero(data.x == code) for code in (1, 0, OTHER)]


def _chances(size: Floats, count: float) -> Floats:
    """Chances (m,) in proportion to size (m,), at most 1, that sum to `count` < m."""
    chance = np.zeros(len(size))
    sure = np.zeros(len(size), dtype=bool)
    while True:
        rest = count - sure.sum()
        chance = np.where(sure, 1.0, size * (rest / size[~sure].sum()))
        over = (chance >= 1.0) & ~sure
        if not over.any():
            return chance
        sure |= over


def cell_keys(data: PathData) -> NDArray[np.int64]:
    """(C, k): what each cell is, as integers: group, folds, and what `value_keys` says."""
    group = data.x.astype(np.int64)[:, None]
    return np.concatenate([group, data.fold, value_keys(data)], axis=1)


def value_keys(data: PathData) -> NDArray[np.int64]:
    """(C, k): Z, R, B of each cell as integers; numbers by their bits, instead of their bins."""
    parts = []
    for codes, values in (
        (data.z, data.z_values), (data.r, data.r_values), (data.b, data.b_values),
    ):  # fmt: skip
        numbers = 0 if values is None else values.shape[1]
        parts.append(codes[:, : codes.shape[1] - numbers])
        if values is not None:
            parts.append(np.ascontiguousarray(values).view(np.int64))
    return np.concatenate(parts, axis=1)
