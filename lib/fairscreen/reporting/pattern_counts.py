"""The report's table of how often each pattern holds, beside the published counts."""

from __future__ import annotations

from typing import Any

import pandas as pd

#: PopResume, section 4: cases of text, image and image with photo, four models, five jobs, two
#: attributes; pattern 1 over the two formats without a photo.
PUBLISHED = {1: "49 of 80", 2: "6 of 120", 3: "6 of 120", 4: "6 of 120", 5: "53 of 120"}


def table(counts: pd.DataFrame) -> list[dict[str, Any]]:
    """One row per pattern: title, the two rules' counts, the published one.

    counts: rows of the view pattern_counts; empty: no table.
    """
    rows: dict[int, dict[str, Any]] = {}
    for found in counts.sort_values(["pattern", "rule"]).to_dict("records") if len(counts) else []:
        number = int(found["pattern"])
        row = rows.setdefault(
            number, {"pattern": number, "title": found["title"], "paper": PUBLISHED[number]}
        )
        row[str(found["rule"])] = {
            key: int(found[key]) for key in ("yes", "cases", "no", "undecided", "not_computable")
        }
    return list(rows.values())
