"""Forest plots as inline SVG: text stays text (searchable, read aloud), nothing is loaded.

One panel is drawn 420 units wide and scales down to a phone; titles and legends are HTML around it.
"""

from __future__ import annotations

import math
import re
import textwrap
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from markupsafe import Markup

WIDTH, LEFT, RIGHT = 420, 148, 346  # the plot lies between LEFT and RIGHT, values right of it
ROW, TOP, FOOT = 34, 8, 44
INK, FLAG, MUTED = "#1f4e79", "#a15c00", "#5f6b76"


@dataclass(frozen=True)
class ForestRow:
    """One slice. estimate, low, high in points of score; None where it is not computable."""

    label: str
    estimate: float | None
    low: float | None
    high: float | None
    status: str
    reason: str | None
    pooled: bool


def signed(value: float, digits: int = 2) -> str:
    """+1.20, −0.40 (true minus) or 0.00: a zero has no sign."""
    text = f"{abs(value):.{digits}f}"
    if float(text) == 0:
        return text
    return ("+" if value > 0 else "\u2212") + text


def words(code: str | None) -> str:
    """A reason code as words: effective_n_below_30, but E_W stays as it is."""
    if code is None or code != code:
        return "no reason recorded"
    return re.sub(r"(?<=[a-z0-9])_(?=[a-z0-9])", " ", str(code))


def domain(rows: Iterable[ForestRow], margin: float) -> tuple[float, float]:
    """Common scale of several panels: every interval, zero and the margin, with some air."""
    values = [0.0, margin, -margin]
    for row in rows:
        values += [v for v in (row.estimate, row.low, row.high) if v is not None]
    low, high = min(values), max(values)
    air = 0.04 * (high - low) or 1.0
    return low - air, high + air


def ticks(low: float, high: float, about: int = 5) -> list[float]:
    """Round numbers between low and high, 1, 2 or 5 times a power of ten apart."""
    raw = (high - low) / about
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(s * power for s in (1, 2, 5, 10) if s * power >= raw)
    first = math.ceil(low / step)
    return [k * step for k in range(first, math.floor(high / step) + 1)]


def forest(
    title: str, rows: Sequence[ForestRow], *, scale: tuple[float, float], margin: float,
    favors_right: str, favors_left: str,
) -> Markup:  # fmt: skip
    """One panel: a row per slice with estimate and interval, the pooled row last, as a diamond."""
    low, high = scale

    def x(value: float) -> float:
        return LEFT + (value - low) / (high - low) * (RIGHT - LEFT)

    height = TOP + ROW * len(rows) + FOOT
    floor = TOP + ROW * len(rows)
    parts = [
        Markup(
            '<svg class="forest" viewBox="0 0 {} {}" role="img" aria-label="{}">'
        ).format(WIDTH, height, f"{title}: estimates and intervals, values in the table below"),
        Markup('<rect x="{:.1f}" y="{}" width="{:.1f}" height="{}" class="band"/>').format(
            x(-margin), TOP, x(margin) - x(-margin), floor - TOP
        ),
    ]  # fmt: skip
    for tick in ticks(low, high):
        digits = 0 if abs(tick - round(tick)) < 1e-9 else (1 if abs(tick * 10 % 1) < 1e-6 else 2)
        parts.append(
            Markup(
                '<line x1="{0:.1f}" x2="{0:.1f}" y1="{1}" y2="{2}" class="{3}"/>'
                '<text x="{0:.1f}" y="{4}" class="tick">{5}</text>'
            ).format(x(tick), TOP, floor, "zero" if abs(tick) < 1e-12 else "grid", floor + 14,
                     signed(tick, digits))
        )  # fmt: skip
    for at, row in enumerate(rows):
        parts.append(_row(row, TOP + ROW * at, x))
    whom = [f"\u2190 favors {_cut(favors_left, 58)}", f"favors {_cut(favors_right, 58)} \u2192"]
    if len(favors_left) + len(favors_right) <= 24:
        whom = ["   |   ".join(whom)]
    for number, line in enumerate(whom):
        parts.append(
            Markup('<text x="{}" y="{}" class="side">{}</text>').format(
                (LEFT + RIGHT) / 2 if len(whom) == 1 else WIDTH / 2, floor + 29 + 13 * number, line
            )
        )
    parts.append(Markup("</svg>"))
    return Markup("").join(parts)


def _row(row: ForestRow, top: float, x: Callable[[float], float]) -> Markup:
    middle = top + ROW / 2
    parts = []
    if row.pooled:
        parts.append(
            Markup('<line x1="0" x2="{}" y1="{}" y2="{}" class="rule"/>').format(WIDTH, top, top)
        )
    lines = textwrap.wrap(row.label, 23) or [""]
    if len(lines) > 2:
        lines = [lines[0], _cut(lines[1] + " " + lines[2], 22)]
    start = middle + 4 - 7 * (len(lines) - 1)
    for number, line in enumerate(lines):
        parts.append(
            Markup('<text x="0" y="{:.1f}" class="label{}">{}</text>').format(
                start + 14 * number, " pooled" if row.pooled else "", line
            )
        )
    if row.estimate is None:
        reason = words(row.reason)
        parts.append(
            Markup(
                '<g><title>{}</title><rect x="{}" y="{}" width="{}" height="{}" class="blank"/>'
                '<text x="{}" y="{:.1f}" class="missing">not computable</text>'
                '<text x="{}" y="{:.1f}" class="why">{}</text></g>'
            ).format(
                reason,
                LEFT - 2,
                top + 2,
                WIDTH - LEFT + 2,
                ROW - 3,
                LEFT + 2,
                middle - 2,
                LEFT + 2,
                middle + 11,
                _cut(reason, 47),
            )
        )
        return Markup("").join(parts)
    color = FLAG if row.status == "flagged" else INK
    clear = row.low is not None and row.high is not None and (row.low > 0 or row.high < 0)
    if row.low is not None and row.high is not None:
        parts.append(
            Markup(
                '<line x1="{:.1f}" x2="{:.1f}" y1="{}" y2="{}" stroke="{}" stroke-width="2.2"/>'
            ).format(x(row.low), x(row.high), middle, middle, color)
        )
    center, fill = x(row.estimate), color if clear else "#fff"
    if row.pooled:
        points = f"{center - 7:.1f},{middle} {center:.1f},{middle - 6} "
        points += f"{center + 7:.1f},{middle} {center:.1f},{middle + 6}"
        shape = Markup('<polygon points="{}" fill="{}" stroke="{}" stroke-width="2"/>').format(
            points, fill, color
        )
    else:
        shape = Markup(
            '<circle cx="{:.1f}" cy="{}" r="4.6" fill="{}" stroke="{}" stroke-width="2"/>'
        ).format(center, middle, fill, color)
    parts.append(shape)
    parts.append(
        Markup('<text x="{}" y="{:.1f}" class="value" fill="{}">{}{}</text>').format(
            WIDTH - 2, middle + 4, color, signed(row.estimate),
            " \u2691" if row.status == "flagged" else "",
        )
    )  # fmt: skip
    return Markup("").join(parts)


def _cut(text: str, length: int) -> str:
    return text if len(text) <= length else text[: length - 1].rstrip() + "\u2026"
