"""Demographic cues in a column of somebody's file: `fairscreen analyze leakage`, as a function."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import pandas as pd

from fairscreen.documents.leakage import KINDS, find_hits
from fairscreen.documents.leakage_cues import Cues
from fairscreen.errors import InputError
from fairscreen.input_files import labels

COLUMNS = ("row", "kind", "attribute", "start", "end", "text")


def analyze_leakage(
    frame: pd.DataFrame,
    *,
    text: str,
    where: str,
    kinds: Sequence[str] = (),
    cues: Cues | None = None,
) -> dict[str, Any]:
    """`{"rows": [...], "excluded": {...}, "notes": [...]}`; a row per hit (`COLUMNS`).

    row 0 is the first row of data; text[start:end] of its cell is the hit, in characters.
    kinds: of `leakage.KINDS`, none = all. Empty cells are counted as missing_text.
    Raises InputError for a column that is not there and a kind that is none.
    """
    if text not in frame.columns:
        listed = ", ".join(f"'{c}'" for c in frame.columns[:30])
        raise InputError(f"{where}, '{text}'", "is no column", f"Columns: {listed}.")
    for kind in kinds:
        if kind not in KINDS:
            raise InputError(f"--kind {kind}", "is no kind of cue", f"Kinds: {', '.join(KINDS)}.")
    wanted = tuple(kinds) or KINDS
    rows: list[dict[str, Any]] = []
    missing = read = 0
    for at, cell in enumerate(labels(frame[text])):
        if cell is None or not cell.strip():
            missing += 1
            continue
        read += 1
        rows += [
            {
                "row": at, "kind": hit.kind, "attribute": hit.attribute, "start": hit.start,
                "end": hit.end, "text": hit.text,
            }
            for hit in find_hits(cell, cues=cues, kinds=wanted)
        ]  # fmt: skip
    return {
        "rows": rows,
        "excluded": {"missing_text": missing} if missing else {},
        "notes": _notes(rows, read),
    }


def _notes(rows: Sequence[dict[str, Any]], read: int) -> list[str]:
    flagged = len({r["row"] for r in rows})
    notes = [f"{flagged:,} of {read:,} texts hold a cue."]
    texts = Counter(kind for kind, _ in {(r["kind"], r["row"]) for r in rows})
    hits = Counter(r["kind"] for r in rows)
    notes += [f"{kind}: {hits[kind]:,} in {texts[kind]:,} texts." for kind in KINDS if kind in hits]
    return notes
