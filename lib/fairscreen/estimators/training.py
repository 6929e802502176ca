"""Which cells the nuisances are fitted on, where there are more than a cap.

Cells are drawn by a hash of what they are, so that models scored on the same applicants train on
the same cells, whatever the order of arrival. Each group of X gets an equal share of the cap (a
rare group keeps all its cells); within it a cell's chance is in proportion to its people, and a
drawn cell weighs one over its chance (Horvitz & Thompson 1952). Influence moments use every cell.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fairscreen import random
from fairscreen.estimators.data import OTHER, Floats, PathData


def training_weights(data: PathData, cap: int | None, seed: int) -> Floats | None:
    """Weight (C,) of each cell in the fits, 0 for those left out; None: all of them, as they are.

    About `cap` cells are kept: their expected number is `cap`.
    """
    if cap is None or len(data) <= cap:
        return None
    groups = sorted(
        (np.flatnonzero(data.x == code) for code in (1, 0, OTHER)), key=lambda rows: len(rows)
    )
    chance = np.ones(len(data))
    left = float(cap)
    for k, rows in enumerate(groups):
        share = left / (len(groups) - k)
        if len(rows) > share:
            chance[rows] = _chances((data.n * data.w)[rows], share)
        left -= float(chance[rows].sum())
    kept = random.row_uniforms(seed, "paths/training", cell_keys(data)) < chance
    return np.where(kept, 1.0 / chance, 0.0)


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
    """(C, k): what each cell is, as integers; numbers by their bits, instead of their bins."""
    parts = [data.x.astype(np.int64)[:, None], data.fold]
    for codes, values in (
        (data.z, data.z_values), (data.r, data.r_values), (data.b, data.b_values),
    ):  # fmt: skip
        numbers = 0 if values is None else values.shape[1]
        parts.append(codes[:, : codes.shape[1] - numbers])
        if values is not None:
            parts.append(np.ascontiguousarray(values).view(np.int64))
    return np.concatenate(parts, axis=1)
