"""Callback rates of every name, as inline SVG: shrunk to the mean of its arm, with error."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from fairscreen.reporting.plots import ticks
from fairscreen.reporting.svg import GRID, SOFT, TEXT, cut, line, text

_COLORS = ("#1f5fa8", "#b3430f")
_DOT = Markup('<circle cx="{:.1f}" cy="{:.1f}" r="3.4" fill="{}"><title>{}</title></circle>')
_ROW, _LEFT, _SIDE, _GAP = 14.0, 150.0, 330.0, 190.0


@dataclass(frozen=True)
class Name:
    """side: 0 favored, 1 other. rate: shrunk, error: its posterior one, plain: the name's own
    rate; shares. n: pairs."""

    name: str
    side: int
    rate: float
    error: float | None
    plain: float | None
    n: int


def rates(names: Sequence[Name], labels: Sequence[str]) -> Markup:
    """Two columns, one per arm, on one scale; the highest rate first. labels: of the arms."""
    ends = [v for n in names for v in (n.rate - 2 * (n.error or 0), n.rate + 2 * (n.error or 0))]
    ends += [n.plain for n in names if n.plain is not None]
    low, high = max(0.0, min(ends)), min(1.0, max(ends))
    air = 0.04 * (high - low) or 0.01
    low, high = low - air, high + air
    columns = [
        sorted((n for n in names if n.side == side), key=lambda n: (-n.rate, n.name))
        for side in (0, 1)
    ]
    floor = 26 + _ROW * max(map(len, columns))
    width = _LEFT + 2 * _SIDE + _GAP
    parts = [
        Markup(
            '<svg class="panel" viewBox="0 0 {:.0f} {:.0f}" width="{:.0f}" role="img" '
            'font-family="sans-serif" aria-label="{}">'
        ).format(width, floor + 24, width, "Callback rates by name, shrunk to the mean of the arm")
    ]
    for side, column in enumerate(columns):
        left = _LEFT + side * (_SIDE + _GAP)
        parts.append(text(left, 14, labels[side], _COLORS[side]))

        def x(value: float, left: float = left) -> float:
            return left + (min(max(value, low), high) - low) / (high - low) * _SIDE

        for v in ticks(low, high):
            parts += [line(x(v), 20, x(v), floor, GRID),
                      text(x(v), floor + 14, f"{100 * v:.3g}%", SOFT, anchor="middle")]  # fmt: skip
        for k, n in enumerate(column):
            y = 26 + _ROW * k + _ROW / 2
            parts.append(text(left - 8, y + 4, cut(n.name, 20), TEXT, anchor="end", size=10.5))
            if n.error is not None:
                ends_at = x(n.rate - 2 * n.error), x(n.rate + 2 * n.error)
                parts.append(line(ends_at[0], y, ends_at[1], y, _COLORS[side], width=1.6))
            if n.plain is not None:
                parts.append(
                    Markup('<circle cx="{:.1f}" cy="{:.1f}" r="2.4" fill="#fff" stroke="{}"/>')
                    .format(x(n.plain), y, SOFT)
                )  # fmt: skip
            told = f"{n.name}: {100 * n.rate:.1f}% of {n.n:,} pairs, shrunk"
            parts.append(_DOT.format(x(n.rate), y, _COLORS[side], told))
    parts.append(Markup("</svg>"))
    return Markup("").join(parts)
