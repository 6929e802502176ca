"""What a reader must know of requests that have no score: how many, why, and in which groups."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

Row = Mapping[str, Any]


def no_score(
    rows: Iterable[Row], groups: Sequence[str] = ("gender", "race"), apart: str = ""
) -> list[str]:
    """One sentence per model some of whose requests have no score.

    rows: model, the columns of `groups`, outcome, reason, count (requests), and own: false for
    requests about `apart` (such as placebo pairs), which are in no share and are told as such.
    """
    rows = list(rows)
    found = []
    for model in sorted({r["model"] for r in rows}):
        every = [r for r in rows if r["model"] == model]
        mine = [r for r in every if r.get("own", True)]
        left = _sum(every) - _sum(mine)
        without = [r for r in mine if r["outcome"] != "ok"]
        if not without:
            continue
        kinds = sorted({(r["outcome"], str(r["reason"])) for r in without})
        parts = []
        for outcome, reason in kinds:
            these = [r for r in without if (r["outcome"], str(r["reason"])) == (outcome, reason)]
            name = outcome if outcome == reason else f"{outcome} ({reason})"
            parts.append(f"{name} {_sum(these):,}: {_shares(these, mine, groups)}")
        found.append(
            f"{model}: {_sum(without):,} of {_sum(mine):,} requests have no score"
            f"{f' ({left:,} about {apart} are not counted here)' if left else ''}; "
            f"{'; '.join(parts)}."
        )
    return found


def _shares(these: list[Row], mine: list[Row], groups: Sequence[str]) -> str:
    """The share of each group's requests, by each of the groups."""
    parts = []
    for attribute in groups:
        for value in sorted({r[attribute] for r in mine}):
            asked = _sum(r for r in mine if r[attribute] == value)
            hit = _sum(r for r in these if r[attribute] == value)
            parts.append(f"{value} {100 * hit / asked:.1f}%")
    return ", ".join(parts)


def _sum(rows: Iterable[Row]) -> int:
    return sum(int(r["count"]) for r in rows)
