"""Columns of somebody's file as input of the path-specific estimators: roles, groups, codes.

What cannot be estimated well is refused here, with its place and a remedy: the estimators work on
arrays and could name neither file nor column.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from fairscreen.errors import InputError
from fairscreen.input_files import all_numbers, labels, place

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]

MANY = 20  # a number column with more distinct values is a number, not a category
# Each category is a column of every regression: beyond this fits take minutes and gigabytes, and
# groups of under five rows tell nothing.
MAX_CATEGORIES = 200
ROWS_PER_CATEGORY = 5
# A curve sees ranks. Steps of 1/2000 of the rows change no effect that shows, and let rows of a
# large file share levels.
MAX_STEPS = 2_000
LARGEST = 1e140  # the square of a sum of such numbers is a number too


@dataclass(frozen=True)
class Scaled:
    """Scores (N,) with weighted mean 0 and standard deviation 1; points = unit * scaled."""

    y: Floats
    unit: float


@dataclass(frozen=True)
class Coded:
    """One mediator or confounder of the complete rows: codes (N,) of a category, or numbers."""

    name: str
    codes: NDArray[np.int64] | None
    values: Floats | None


def check_roles(frame: pd.DataFrame, where: str, roles: Mapping[str, Any]) -> None:
    """InputError for a role that is no column, a column with two roles, no mediator."""
    check_columns(frame, where, roles)
    if not roles["r"] and not roles["b"]:
        raise InputError("--r, --b", "no mediator is given", "Give at least one column.")


def check_columns(frame: pd.DataFrame, where: str, roles: Mapping[str, Any]) -> None:
    """InputError for a role that is no column, a column with two roles."""
    seen: dict[str, str] = {}
    for role, name in _named(roles):
        if name not in frame.columns:
            listed = ", ".join(f"'{c}'" for c in frame.columns[:30])
            more = f", and {len(frame.columns) - 30} more" if len(frame.columns) > 30 else ""
            raise InputError(f"{where}, '{name}'", "is no column", f"Columns: {listed}{more}.")
        if name in seen:
            both = f"--{seen[name]} twice" if seen[name] == role else f"--{seen[name]} and --{role}"
            raise InputError(
                f"{where}, {name}", f"is given as {both}", "Give every column one role."
            )
        seen[name] = role


def _named(roles: Mapping[str, Any]) -> list[tuple[str, str]]:
    return [
        (role, name)
        for role, names in roles.items()
        for name in ([names] if isinstance(names, str) else (names or ()))
    ]


def check_sizes(frame: pd.DataFrame, name: str, values: Floats, where: str) -> None:
    """InputError for the first number beyond LARGEST; NaN passes."""
    beyond = np.flatnonzero(np.abs(values) > LARGEST)
    if len(beyond):
        at = int(beyond[0])
        raise InputError(
            f"{where}, {place(frame, at)}, {name}", f"{values[at]:g} is too large a number",
            f"Numbers are within {LARGEST:g}; rescale the column, or leave the cell empty.",
        )  # fmt: skip


def complete(
    frame: pd.DataFrame, roles: Mapping[str, Any], weights: Floats
) -> tuple[Mask, Counter[str]]:
    """Rows with every value present, and the others counted by the first role they lack."""
    keep = np.ones(len(frame), dtype=bool)
    excluded: Counter[str] = Counter()
    for role, name in _named(roles):
        gone = keep & np.array([v is None for v in labels(frame[name])], dtype=bool)
        if gone.any():
            excluded[f"missing_{role}"] += int(gone.sum())
            keep &= ~gone
    zero = keep & (weights == 0)
    if zero.any():
        excluded["zero_weight"] += int(zero.sum())
        keep &= ~zero
    return keep, excluded


def check_weights(frame: pd.DataFrame, weight: str, weights: Floats, where: str) -> None:
    """InputError for a weight below 0, and where all are 0."""
    if (weights < 0).any():
        at = int(np.flatnonzero(weights < 0)[0])
        raise InputError(
            f"{where}, {place(frame, at)}, {weight}", f"{weights[at]:g} is below 0",
            "Weights are above 0.",
        )  # fmt: skip
    known = weights[~np.isnan(weights)]
    if len(known) and not known.any():
        raise InputError(
            f"{where}, {weight}", "all weights are 0", "Give weights above 0, or no --weight."
        )


def require_group(
    frame: pd.DataFrame, x: str, value: str, mine: Mask, keep: Mask, weights: Floats, where: str
) -> None:
    """InputError where no complete row has this value of the attribute."""
    if (mine & keep).any():
        return
    if mine.any():
        if (weights[mine] == 0).all():
            raise InputError(
                f"{where}, {x}", f"every row with the value '{value}' has weight 0",
                "Give weights above 0, or another group.",
            )  # fmt: skip
        raise InputError(
            f"{where}, {x}", f"every row with the value '{value}' lacks another value",
            "Fill in what is missing, or leave out a column.",
        )  # fmt: skip
    found = Counter(v for v in labels(frame[x]) if v is not None)
    listed = ", ".join(f"'{v}'" for v, _ in found.most_common(10))
    raise InputError(
        f"{where}, {x}", f"no row has the value '{value}'",
        f"Values are: {listed}{', ...' if len(found) > 10 else ''}.",
    )  # fmt: skip


def coded(frame: pd.DataFrame, names: Sequence[str], where: str) -> list[Coded]:
    """Columns of complete rows. Numbers with more than MANY distinct values stay numbers.

    Raises InputError for a category column with too many categories, a number too large.
    """
    limit = max(MANY, min(MAX_CATEGORIES, len(frame) // ROWS_PER_CATEGORY))
    found = []
    for name in names:
        cells = labels(frame[name])
        values = all_numbers(cells)
        if values is not None and len(np.unique(values)) > MANY:
            check_sizes(frame, name, values, where)
            found.append(Coded(name, None, values))
            continue
        codes, kinds = pd.factorize(cells, sort=True)
        if len(kinds) > limit:
            raise InputError(
                f"{where}, {name}",
                f"has {len(kinds):,} distinct texts in {len(frame):,} rows, and {limit} are the "
                "most",
                "Group the values first; in a column of numbers every cell is a number.",
            )
        found.append(Coded(name, codes.astype(np.int64), None))
    return found


def binned(
    columns: Sequence[Coded], bins: int, *, steps: bool, cuts: dict[str, list[float]]
) -> tuple[NDArray[np.int64], Floats]:
    """Codes (N, k), bins at quantiles of the numbers last, and the numbers (N, m) themselves.

    steps: numbers with over MAX_STEPS distinct values are given as ranks in so many steps.
    cuts: takes the cut points, by name.
    """
    bands: list[NDArray[Any]] = []
    many: list[Floats] = []
    for column in columns:
        if column.values is None:
            continue
        inner = np.unique(np.quantile(column.values, np.arange(1, bins) / bins))
        cuts[column.name] = [float(c) for c in inner]
        bands.append(np.searchsorted(inner, column.values, side="right"))
        many.append(_stepped(column.values) if steps else column.values)
    codes = [c.codes for c in columns if c.codes is not None] + bands
    rows = len(codes[0]) if codes else 0
    return (
        np.stack(codes, axis=1).astype(np.int64) if codes else np.zeros((rows, 0), dtype=np.int64),
        np.stack(many, axis=1) if many else np.zeros((rows, 0)),
    )


def _stepped(values: Floats) -> Floats:
    """Ranks of distinct values, neighbours merged where there are more than MAX_STEPS. Curves see
    ranks only; and a far outlier leaves no other values alike."""
    distinct, at, counts = np.unique(values, return_inverse=True, return_counts=True)
    if len(distinct) <= MAX_STEPS:
        return at.reshape(-1).astype(np.float64)
    middle = np.cumsum(counts) - counts / 2
    step = np.floor(middle * (MAX_STEPS / len(values)))
    return np.asarray(step[at.reshape(-1)], dtype=np.float64)


def relative(weights: Floats) -> Floats:
    """Weights (N,) above 0, divided by their mean; none below 1e-30, which stands for nobody."""
    shares = weights / weights.max()
    return np.asarray(np.maximum(shares / shares.mean(), 1e-30), dtype=np.float64)


def scaled(y: Floats, w: Floats) -> Scaled:
    """Scores within LARGEST, centred and scaled; scores that are all alike, up to rounding, stay
    as they are. Squares of a score far from 0 would lose its differences."""
    size = float(np.abs(y).max())
    if float(y.max() - y.min()) <= 8 * np.finfo(float).eps * size:
        return Scaled(y, 1.0)
    left = y - float((w * (y / size)).sum() / w.sum()) * size
    reach = float(np.abs(left).max())
    left = left - float((w * (left / reach)).sum() / w.sum()) * reach  # the first mean was rounded
    unit = reach * float(np.sqrt((w * (left / reach) ** 2).sum() / w.sum()))
    return Scaled(left / unit, unit)
