"""Whether PSID columns hold what they should: exchanged ones show in their values."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from fairscreen.errors import InputError
from fairscreen.sources.psid_crosswalk import Crosswalk

REMEDY = (
    "Use the text and the set-up file of one download; a code that is no answer belongs into "
    "`missing` of the crosswalk."
)
_DOUBTFUL = 0.2  # share of a wave's people with a job


def check_values(
    values: NDArray[np.float64], item: str, variable: str, of: str, crosswalk: Crosswalk,
    at: Callable[[int], str],
) -> None:  # fmt: skip
    """InputError where an answer is outside the crosswalk's `valid` ranges of the item.

    values (n,), NaN = blank or not asked; of: ` of wave 2019`, or nothing; at: entry -> where.
    """
    ranges = crosswalk.valid.get(item)
    if ranges is None:
        return
    codes = crosswalk.years_codes
    special = (*codes.less_than_one, *codes.all_since_18) if item.startswith("years_") else ()
    sound = np.isnan(values) | np.isin(values, (*crosswalk.missing.get(item, ()), *special))
    for low, high in ranges:
        sound |= (values >= low) & (values <= high)
    if not sound.all():
        row = int(np.flatnonzero(~sound)[0])
        shown = ", ".join(f"{a} to {b}" if a != b else f"{a}" for a, b in ranges)
        noun = item.replace("_", " ")
        problem = f"{variable}{of}, {noun}, is {values[row]:g}; possible is {shown}"
        raise InputError(at(row), problem, REMEDY)


def doubts(rows: pa.Table) -> list[str]:
    """Sentences on waves in which more than a fifth of the rows are hardly possible.

    rows: `psid_rows.SCHEMA`. Columns that were exchanged and stay in range show only so.
    """
    frame = rows.select(["wave", "age", "gender", "years_worked"]).to_pandas()
    frame["lack gender"] = frame["gender"].isna()
    most = (frame["age"] - 18).clip(lower=0)
    frame["have more years worked than years since 18"] = frame["years_worked"] > most
    out = []
    for year, wave in frame.groupby("wave"):
        for what in frame.columns[4:]:
            share = wave[what].mean()
            if share > _DOUBTFUL:
                out.append(
                    f"Wave {year}: {share:.0%} of the people with a main job {what}. Look whether "
                    "columns are in each other's place."
                )
    return out
