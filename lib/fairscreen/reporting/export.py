"""CSV for people: a text cell that a spreadsheet would run as a formula is made plain text."""

from __future__ import annotations

from typing import Any

import pandas as pd

_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n")


def plain_cell(value: Any) -> Any:
    """Text that begins like a formula gets an apostrophe before it; numbers stay numbers."""
    if isinstance(value, str) and value.startswith(_STARTS):
        return f"'{value}"
    return value


def to_csv(frame: pd.DataFrame) -> str:
    """The frame as CSV text: full precision, empty cell = null, formulas neutralised."""
    safe = frame.copy()
    safe.columns = [plain_cell(str(c)) for c in frame.columns]
    for position in range(safe.shape[1]):
        if not pd.api.types.is_numeric_dtype(safe.dtypes.iloc[position]):
            safe.isetitem(position, [plain_cell(v) for v in safe.iloc[:, position]])
    return safe.to_csv(index=False, lineterminator="\n")
