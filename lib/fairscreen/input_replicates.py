"""Replicate weights of somebody's file: which columns they are, and their numbers."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from fairscreen.errors import InputError
from fairscreen.input_columns import check_sizes
from fairscreen.input_files import numbers, place

_OPTION = "--replicate-weights"


def replicate_columns(
    frame: pd.DataFrame, named: Sequence[str], weight: str | None, where: str
) -> list[str]:
    """The columns that are meant: as named, or all that are one name and a number.

    `PWGTP` stands for PWGTP1, PWGTP2 ... up to the last one that is there. Raises InputError
    without a weight that they replicate, for a name that stands for no column or leaves a gap,
    and for fewer than two.
    """
    if not named:
        return []
    if weight is None:
        raise InputError(
            _OPTION, "has no weight beside it", "Give the full weight too: --weight COL."
        )
    if len(named) > 1:
        return list(named)
    (prefix,) = named
    found = {
        int(match[1]): str(column)
        for column in frame.columns
        if (match := re.fullmatch(rf"{re.escape(prefix)}([1-9][0-9]*)", str(column)))
    }
    if len(found) < 2:
        raise InputError(
            f"{where}, {_OPTION} {prefix}",
            f"stands for {len(found)} columns: {prefix}1, {prefix}2 ... are looked for",
            "Give what their names begin with, or name each column.",
        )
    gap = next((k for k in range(1, max(found) + 1) if k not in found), None)
    if gap is not None:
        raise InputError(
            f"{where}, {_OPTION} {prefix}",
            f"has no column {prefix}{gap}, and there is {prefix}{max(found)}",
            "Add it, or name each column.",
        )
    return [found[k] for k in sorted(found)]


def replicate_weights(
    frame: pd.DataFrame, columns: Sequence[str], where: str
) -> NDArray[np.float64]:
    """(N, R); 0 and below are legal. InputError for the first that is missing or no number."""
    found = np.empty((len(frame), len(columns)))
    for k, name in enumerate(columns):
        values = numbers(frame, name, where)
        check_sizes(frame, name, values, where)
        if np.isnan(values).any():
            at = int(np.flatnonzero(np.isnan(values))[0])
            raise InputError(
                f"{where}, {place(frame, at)}, {name}", "is empty",
                "Every row needs all replicate weights; leave out rows that have none.",
            )  # fmt: skip
        found[:, k] = values
    return found
