"""The panel of models as inline SVG: gaps by release date, and one gap against another.

Labels are laid out by arithmetic on an upper bound of their width: none lies on another.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from markupsafe import Markup

from fairscreen.reporting.plots import signed, ticks
from fairscreen.reporting.svg import (
    GRID,
    LETTER,
    SOFT,
    TEXT,
    apart,
    cut,
    line,
    text,
    tick,
    upright,
)

WIDTH, LEFT, RIGHT, PLOT = 1040.0, 58.0, 808.0, 300.0  # right of RIGHT: names of the baselines
INK, LEADER = "#3c4a57", "#bcc5ce"
BASE, BAND, TREND = "#8a5a00", "#eef2f6", "#7d8995"
FAMILIES = ("#1f5fa8", "#b3430f", "#14703a", "#7a2f8a", "#a3194f", "#0f6b78")
_AROUND = ((1, -1), (-1, -1), (1, 1), (-1, 1), (1, 0), (-1, 0), (0, -1), (0, 1))
Box = tuple[float, float, float, float]


@dataclass(frozen=True)
class PanelPoint:
    """One model's gap in percentage points; None where it is not computable.

    released: years (2024-07 is 2024.5), None: not known. low, high: the headline interval; inner:
    the one by posting alone, where there is one.
    """

    model: str
    released: float | None
    family: str | None
    estimate: float | None
    low: float | None
    high: float | None
    inner: tuple[float, float] | None = None
    reason: str | None = None


@dataclass(frozen=True)
class Baseline:
    """A gap that people showed, in the points' direction."""

    name: str
    value: float


@dataclass(frozen=True)
class Fitted:
    """The trend at one date (years): its value and band."""

    year: float
    value: float
    low: float
    high: float


#: Callback gaps of employers, white minus Black names, percentage points.
PEOPLE = (
    Baseline("Bertrand & Mullainathan 2004", 3.20),
    Baseline("Kline, Rose & Walters 2022", 2.05),
    Baseline("the same, within firm, about", 1.6),
)


def month_of(year: float) -> str:
    """2024.5 as 2024-07."""
    months = round(12 * year)
    return f"{months // 12}-{months % 12 + 1:02d}"


def domain(panels: Sequence[Sequence[PanelPoint]], baselines: Sequence[Baseline]) -> Box:
    """Common scale of several panels: (first year, last year, lowest, highest), with some air."""
    points = [p for panel in panels for p in panel if p.estimate is not None]
    years = [p.released for p in points if p.released is not None] or [2023.0]
    values = [0.0, *(b.value for b in baselines)]
    values += [v for p in points for v in (p.estimate, p.low, p.high) if v is not None]
    air = 0.05 * (max(values) - min(values)) or 1.0
    return min(years), max(years), min(values) - air, max(values) + air


def families(points: Sequence[PanelPoint]) -> dict[str, str]:
    """Color of each family that has two models or more in the figure."""
    named = [p.family for p in points if p.family and p.estimate is not None and p.released]
    several = [f for f in dict.fromkeys(named) if named.count(f) > 1]
    return {f: FAMILIES[k % len(FAMILIES)] for k, f in enumerate(several)}


def panel(
    title: str, points: Sequence[PanelPoint], *, scale: Box, favors_up: str, favors_down: str,
    baselines: Sequence[Baseline] = (), trend: Sequence[Fitted] = (), percent: str = "95%",
) -> Markup:  # fmt: skip
    """Gaps and intervals by release date; models without a date stand in a margin of their own.

    A filled mark: the headline interval leaves zero out. Points without an estimate are left out:
    whoever shows the figure says which.
    """
    shown = sorted(
        (p for p in points if p.estimate is not None), key=lambda p: (p.released or 9999.0, p.model)
    )
    colors = families(shown)
    first, last, low, high = scale
    undated = [p for p in shown if not p.released]
    edge = RIGHT - (14 + 26.0 * len(undated) if undated else 0)
    span = max(last - first, 1 / 12)

    def x(year: float) -> float:
        return LEFT + 22 + (year - first) / span * (edge - LEFT - 44)

    longest = max((len(cut(p.model)) for p in shown), default=0)
    top = 34 + 0.71 * LETTER * longest
    floor = top + PLOT

    def y(value: float) -> float:
        return floor - (value - low) / (high - low) * PLOT

    wished = [x(p.released) if p.released else 0.0 for p in shown]
    dated = [k for k, p in enumerate(shown) if p.released]
    marks = dict(
        zip(dated, apart([wished[k] for k in dated], 9.0, LEFT + 8, edge - 8), strict=True)
    )
    for place, k in enumerate(k for k, p in enumerate(shown) if not p.released):
        marks[k] = edge + 20 + 26.0 * place
    at = [marks[k] for k in range(len(shown))]
    labels = apart(at, 19.0, LEFT + 6, RIGHT + 6)
    legend = _legend(colors, floor + 60, bool(trend))
    height = floor + 52 + (22 if legend else 0)
    parts = [
        Markup(
            '<svg class="panel" viewBox="0 0 {:.0f} {:.0f}" width="{:.0f}" role="img" '
            'font-family="sans-serif" aria-label="{}">'
        ).format(WIDTH, height, WIDTH, f"{title} by release date, values in the table below"),
        _axes(x, y, scale, top, floor, edge if undated else RIGHT),
    ]  # fmt: skip
    if undated:
        parts += [
            line(edge, top, edge, floor, LEADER, dash="3 3"),
            text((edge + RIGHT) / 2, floor + 15, "no date", SOFT, anchor="middle"),
        ]
    parts += _trend(trend, x, y, top, floor)
    parts.append(line(LEFT, y(0), RIGHT, y(0), TEXT, width=1.3))
    parts += _people(baselines, y, top, floor)
    for k, p in enumerate(shown):
        head = y(p.high if p.high is not None else p.estimate or 0.0)
        parts.append(
            Markup(
                '<polyline points="{:.1f},{:.1f} {:.1f},{:.1f} {:.1f},{:.1f}" fill="none" '
                'stroke="{}" stroke-width="0.8"/>'
            ).format(at[k], head - 2, at[k], top - 2, labels[k], top - 14, LEADER)
        )
    for family, color in colors.items():
        ends = [(at[k], y(p.estimate or 0.0)) for k, p in enumerate(shown)
                if p.family == family and p.released]  # fmt: skip
        parts += [line(*a, *b, color, width=1.2) for a, b in pairwise(ends)]
    for k, p in enumerate(shown):
        color = colors.get(p.family or "", INK)
        parts.append(_mark(p, at[k], y, color, percent))
        parts.append(text(labels[k], top - 16, cut(p.model), color, turn=-45))
    parts += [
        upright(13, (top + floor) / 2, _whom(favors_down, favors_up)),
        text((LEFT + RIGHT) / 2, floor + 34, "release date", TEXT, anchor="middle"),
        *legend,
        Markup("</svg>"),
    ]
    return Markup("").join(parts)


def scatter(
    points: Sequence[tuple[PanelPoint, PanelPoint]], *, across: str, up: str
) -> Markup | None:
    """Second gap (up) against the first (across), one mark per model that has both; None below
    three. across, up: what the axes are called."""
    both = [(a, b) for a, b in points if a.estimate is not None and b.estimate is not None]
    if len(both) < 3:
        return None
    side, left, top = 430.0, 58.0, 12.0
    sides = []
    for place in (0, 1):
        ends = [v for pair in both for v in (pair[place].estimate, pair[place].low,
                                            pair[place].high) if v is not None]  # fmt: skip
        low, high = min([0.0, *ends]), max([0.0, *ends])
        air = 0.07 * (high - low) or 1.0
        sides.append((low - air, high + air))
    (x0, x1), (y0, y1) = sides
    floor, right = top + side, left + 1.35 * side

    def x(value: float) -> float:
        return left + (value - x0) / (x1 - x0) * (right - left)

    def y(value: float) -> float:
        return floor - (value - y0) / (y1 - y0) * side

    parts = [
        Markup(
            '<svg class="scatter" viewBox="0 0 {:.0f} {:.0f}" width="{:.0f}" role="img" '
            'font-family="sans-serif" aria-label="{}">'
        ).format(right + 14, floor + 44, right + 14, f"{up} against {across}, by model")
    ]
    for v in ticks(x0, x1):
        parts += [line(x(v), top, x(v), floor, GRID),
                  text(x(v), floor + 15, tick(v), SOFT, anchor="middle")]  # fmt: skip
    for v in ticks(y0, y1):
        parts += [line(left, y(v), right, y(v), GRID),
                  text(left - 6, y(v) + 4, tick(v), SOFT, anchor="end")]  # fmt: skip
    parts += [line(x(0), top, x(0), floor, TEXT), line(left, y(0), right, y(0), TEXT)]
    marks = [(x(a.estimate or 0.0), y(b.estimate or 0.0)) for a, b in both]
    for (a, b), (cx, cy) in zip(both, marks, strict=True):
        if a.low is not None and a.high is not None:
            parts.append(line(x(a.low), cy, x(a.high), cy, LEADER, width=1.4))
        if b.low is not None and b.high is not None:
            parts.append(line(cx, y(b.low), cx, y(b.high), LEADER, width=1.4))
    taken: list[Box] = [(cx - 5, cy - 5, cx + 5, cy + 5) for cx, cy in marks]
    for (a, _), (cx, cy) in sorted(zip(both, marks, strict=True), key=lambda p: p[1][1]):
        name = cut(a.model)
        box, far = _room(cx, cy, LETTER * len(name), taken, (left, top, right, floor))
        taken.append(box)
        if far:
            near = min(max(cx, box[0]), box[2])
            edge = box[3] if box[3] < cy else box[1] if box[1] > cy else cy
            parts.append(line(cx, cy, near, edge, SOFT, width=0.7))
        parts.append(text(box[0] + 1, box[3] - 3, name, TEXT))
    dot = Markup('<circle cx="{:.1f}" cy="{:.1f}" r="4.2" fill="{}"><title>{}</title></circle>')
    for (a, b), (cx, cy) in zip(both, marks, strict=True):
        told = f"{a.model}: {signed(a.estimate or 0.0)} and {signed(b.estimate or 0.0)}"
        parts.append(dot.format(cx, cy, FAMILIES[0], told))
    parts += [
        text((left + right) / 2, floor + 35, across, TEXT, anchor="middle"),
        upright(13, top + side / 2, up),
        Markup("</svg>"),
    ]
    return Markup("").join(parts)


def _room(cx: float, cy: float, width: float, taken: Sequence[Box], frame: Box) -> tuple[Box, bool]:
    """Where a label of that width lies free, the nearest of a few places, and whether that is far
    enough for a line to its mark; on the mark where everything is taken."""
    for reach in range(7, 240, 6):
        for dx, dy in _AROUND:
            # The side of the box that faces the mark lies `reach` from it.
            x0 = cx + reach if dx > 0 else cx - reach - width if dx < 0 else cx - width / 2
            y0 = cy - 7 + dy * (reach + (2 if dx else 6))
            box = (x0, y0, x0 + width, y0 + 14)
            inside = (frame[0] <= x0 and frame[1] <= y0 and box[2] <= frame[2]
                      and box[3] <= frame[3])  # fmt: skip
            if inside and not any(_meet(box, other) for other in taken):
                return box, reach > 13
    return (cx, cy - 7, cx + width, cy + 7), False


def _meet(a: Box, b: Box) -> bool:
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]


def _axes(
    x: Callable[[float], float], y: Callable[[float], float], scale: Box, top: float, floor: float,
    edge: float,
) -> Markup:  # fmt: skip
    first, last, low, high = scale
    parts = []
    for v in ticks(low, high, 7):
        parts += [line(LEFT, y(v), RIGHT, y(v), GRID),
                  text(LEFT - 6, y(v) + 4, tick(v), SOFT, anchor="end")]  # fmt: skip
    # January and July; only Januaries over many years.
    half = 1 if last - first > 6 else 2
    for k in range(int(first * half) - 1, int(last * half) + 2):
        year, month = divmod(k, half)
        at = x(k / half)
        if LEFT + 8 <= at <= edge - 8:
            parts += [line(at, top, at, floor, GRID),
                      text(at, floor + 15, f"{'Jul' if month else 'Jan'} {year}", SOFT,
                            anchor="middle")]  # fmt: skip
    parts += [line(LEFT, top, LEFT, floor, SOFT), line(LEFT, floor, RIGHT, floor, SOFT)]
    return Markup("").join(parts)


def _trend(
    fitted: Sequence[Fitted], x: Callable[[float], float], y: Callable[[float], float],
    top: float, floor: float,
) -> list[Markup]:  # fmt: skip
    """Band and line; what leaves the scale is cut off, not drawn over the labels."""
    if len(fitted) < 2:
        return []

    def places(values: Sequence[tuple[float, float]]) -> str:
        return " ".join(f"{x(a):.1f},{min(max(y(b), top), floor):.1f}" for a, b in values)

    outline = [(f.year, f.high) for f in fitted] + [(f.year, f.low) for f in reversed(fitted)]
    return [
        Markup('<polygon points="{}" fill="{}"/>').format(places(outline), BAND),
        Markup(
            '<polyline points="{}" fill="none" stroke="{}" stroke-width="1.6" '
            'stroke-dasharray="7 4"/>'
        ).format(places([(f.year, f.value) for f in fitted]), TREND),
    ]


def _people(
    baselines: Sequence[Baseline], y: Callable[[float], float], top: float, floor: float
) -> list[Markup]:
    """Baselines across the plot, with their names right of it."""
    places = apart([y(b.value) for b in baselines], 15.0, top + 4, floor - 4)
    parts = []
    for b, place in zip(baselines, places, strict=True):
        parts += [
            line(LEFT, y(b.value), RIGHT, y(b.value), BASE, width=1.2, dash="2 3"),
            line(RIGHT, y(b.value), RIGHT + 10, place, BASE),
            text(RIGHT + 13, place - 2 + 6, f"{b.name} {signed(b.value)}", BASE, size=10.5),
        ]
    return parts


def _mark(
    p: PanelPoint, at: float, y: Callable[[float], float], color: str, percent: str
) -> Markup:
    value, told = p.estimate or 0.0, f"{p.model}: {signed(p.estimate or 0.0)} pp"
    parts = []
    clear = False
    if p.low is not None and p.high is not None:
        clear = p.low > 0 or p.high < 0
        told += f", {percent} interval {signed(p.low)} to {signed(p.high)}"
        parts += [
            line(at, y(p.low), at, y(p.high), color, width=1.5),
            *(line(at - 3, y(end), at + 3, y(end), color, width=1.5) for end in (p.low, p.high)),
        ]
    if p.inner is not None:
        parts.append(line(at, y(p.inner[0]), at, y(p.inner[1]), color, width=4.0))
    parts.append(
        Markup(
            '<circle cx="{:.1f}" cy="{:.1f}" r="4.4" fill="{}" stroke="{}" stroke-width="1.8"/>'
        ).format(at, y(value), color if clear else "#fff", color)
    )
    return Markup("<g><title>{}</title>{}</g>").format(told, Markup("").join(parts))


def _legend(colors: dict[str, str], at: float, trend: bool) -> list[Markup]:
    items = [(name, color, None) for name, color in colors.items()]
    items += [("trend over release dates, with its band", TREND, "7 4")] if trend else []  # type: ignore[list-item]
    parts, x = [], LEFT
    for name, color, dash in items:
        parts += [
            line(x, at - 4, x + 22, at - 4, color, width=1.8, dash=dash),
            text(x + 27, at, cut(name, 44), TEXT),
        ]
        x += 27 + LETTER * len(cut(name, 44)) + 18
    return parts


def _whom(down: str, up: str) -> str:
    return (
        f"\u2190 favors {cut(down, 16)} \u00b7 gap, percentage points \u00b7 "
        f"favors {cut(up, 16)} \u2192"
    )
