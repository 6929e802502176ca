"""Slices of an analysis: pooled, the values of each column, and those of every combination."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from fairscreen.errors import InputError

MAX_SLICES = 2_000
Slice = tuple[str, tuple[str, ...], NDArray[np.bool_]]


def slices_of(values: NDArray[np.object_], names: Sequence[str], where: str) -> Iterator[Slice]:
    """Canonical name, its columns and the rows, of values (N, S) of columns `names`: `all` first,
    then single columns, then combinations; numbers by size. InputError beyond MAX_SLICES."""
    found = []
    for size in range(len(names) + 1):
        for columns in combinations(range(len(names)), size):
            kinds = {tuple(row) for row in values[:, list(columns)].tolist()}
            found += [(columns, kind) for kind in sorted(kinds, key=_natural)]
            if len(found) > MAX_SLICES:
                raise InputError(
                    f"{where}, --slice", f"makes more than {MAX_SLICES:,} slices",
                    "Give fewer columns.",
                )  # fmt: skip
    for columns, kind in found:
        mine = np.ones(len(values), dtype=bool)
        for c, v in zip(columns, kind, strict=True):
            mine &= values[:, c] == v
        named = "; ".join(f"{names[c]}={v}" for c, v in zip(columns, kind, strict=True))
        yield named or "all", tuple(names[c] for c in columns), mine


def _natural(value: tuple[str, ...]) -> tuple[tuple[int, float, str], ...]:
    """Numbers by size, before texts."""

    def key(text: str) -> tuple[int, float, str]:
        try:
            return 0, float(text), text
        except ValueError:
            return 1, 0.0, text

    return tuple(key(v) for v in value)
