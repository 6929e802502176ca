"""A result of `analyze` as text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

#: Slices that are named beside one reason.
_SLICES = 4


def table(result: Mapping[str, Any], favors: str | None = None) -> str:
    """The result as text: rows, then what was left out, then notes. favors: whom a positive
    effect favors, where it is not the same for all rows."""
    heads = ("slice", "estimand", "method", "estimate", "std_error", "interval", "p", "p_holm",
             "n", "status")  # fmt: skip
    lines = [
        (
            r["slice"], r["estimand"], r["method"], _number(r["estimate"]),
            _number(r["std_error"]), _interval(r), _number(r["p_value"]), _number(r["p_holm"]),
            f"{r['n']:,}", r["status"],
        )
        for r in result["rows"]
    ]  # fmt: skip
    text = [_aligned([heads, *lines])]
    favored = sorted({str(r["favors_when_positive"]) for r in result["rows"][:1]})
    text.append(favors or (f"A positive effect favors {favored[0]}." if favored else ""))
    text += _reasons(result["rows"])
    text += [f"left out, {reason}: {count:,}" for reason, count in result["excluded"].items()]
    text += [f"note: {note}" for note in result["notes"]]
    return "\n".join(line for line in text if line)


def _reasons(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """One line per estimand, method and reason, with the slices that it is of."""
    found: dict[tuple[str, str, str], list[str]] = {}
    for r in rows:
        if r["reason"]:
            found.setdefault((r["estimand"], r["method"], r["reason"]), []).append(r["slice"])
    lines = []
    for (estimand, method, reason), slices in found.items():
        names = list(dict.fromkeys(slices))
        more = f", and {len(names) - _SLICES:,} more" if len(names) > _SLICES else ""
        told = ", ".join(names[:_SLICES])
        lines.append(f"reason: {estimand} {method} ({told}{more}): {reason}")
    return lines


def _interval(row: Mapping[str, Any]) -> str:
    if row["ci_low"] is None or row["ci_high"] is None:
        return ""
    return f"[{row['ci_low']:.4g}, {row['ci_high']:.4g}]"


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.4g}"


def _aligned(rows: Sequence[Sequence[str]]) -> str:
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return "\n".join(
        "  ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)).rstrip()
        for row in rows
    )
