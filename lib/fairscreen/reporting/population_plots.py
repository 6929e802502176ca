"""Who applies, as inline SVG in the style of plots.py: shares by group, experience by age."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from fairscreen.reporting.plots import INK, ticks

WIDTH, LEFT, RIGHT = 420, 148, 366  # shares: the plot lies between LEFT and RIGHT, values right
ROW, TOP, FOOT = 21, 4, 22
HEIGHT, AGES_LEFT, AGES_RIGHT, FLOOR = 230, 34, 410, 196  # experience


@dataclass(frozen=True)
class ShareRow:
    """One group of one job. Shares 0 to 1; error: one standard error, None where there is none."""

    label: str
    survey: float
    error: float | None
    generator: float
    applicants: float | None
    opens: bool = False  # a rule above: another variable begins


@dataclass(frozen=True)
class AgeRow:
    """Years of experience at one age: 10%, median, 90%."""

    age: int
    low: float
    middle: float
    high: float


def shares(title: str, rows: Sequence[ShareRow]) -> Markup:
    """Survey (dot, two standard errors), generator (ring), applicants as drawn (bar across)."""

    def x(value: float) -> float:
        return LEFT + min(max(value, 0.0), 1.0) * (RIGHT - LEFT)

    floor = TOP + ROW * len(rows)
    parts = [
        Markup('<svg class="forest" viewBox="0 0 {} {}" role="img" aria-label="{}">').format(
            WIDTH, floor + FOOT, f"{title}: shares by group"
        )
    ]
    for tick in (0.0, 0.25, 0.5, 0.75, 1.0):
        parts.append(
            Markup(
                '<line x1="{0:.1f}" x2="{0:.1f}" y1="{1}" y2="{2}" class="grid"/>'
                '<text x="{0:.1f}" y="{3}" class="tick">{4:.0f}%</text>'
            ).format(x(tick), TOP, floor, floor + 15, 100 * tick)
        )
    for at, row in enumerate(rows):
        top = TOP + ROW * at
        middle = top + ROW / 2
        if row.opens and at:
            parts.append(
                Markup('<line x1="0" x2="{}" y1="{}" y2="{}" class="rule"/>').format(
                    WIDTH, top, top
                )
            )
        parts.append(
            Markup('<text x="0" y="{:.1f}" class="label">{}</text>').format(middle + 4, row.label)
        )
        if row.error is not None:
            parts.append(
                Markup(
                    '<line x1="{:.1f}" x2="{:.1f}" y1="{}" y2="{}" stroke="{}" stroke-width="2.2"/>'
                ).format(
                    x(row.survey - 2 * row.error), x(row.survey + 2 * row.error), middle, middle,
                    INK,
                )
            )  # fmt: skip
        if row.applicants is not None:
            parts.append(
                Markup(
                    '<line x1="{0:.1f}" x2="{0:.1f}" y1="{1:.1f}" y2="{2:.1f}" class="drawn"/>'
                ).format(x(row.applicants), middle - 8, middle + 8)
            )
        parts.append(
            Markup(
                '<circle cx="{0:.1f}" cy="{1}" r="3.2" fill="{2}"/>'
                '<circle cx="{3:.1f}" cy="{1}" r="6" fill="none" stroke="{2}" stroke-width="1.3"/>'
                '<text x="{4}" y="{5:.1f}" class="value" fill="{2}">{6:.1f}%</text>'
            ).format(
                x(row.survey), middle, INK, x(row.generator), WIDTH - 2, middle + 4,
                100 * row.survey,
            )
        )  # fmt: skip
    parts.append(Markup("</svg>"))
    return Markup("").join(parts)


def experience(title: str, rows: Sequence[AgeRow], most: float) -> Markup:
    """Median (line) and 10% to 90% (band) by age, under the most possible, age - 18 (dashed).

    most: the vertical scale's end in years, one for all panels.
    """
    first, last = rows[0].age, rows[-1].age

    def x(age: float) -> float:
        return AGES_LEFT + (age - first + 0.5) / (last - first + 1) * (AGES_RIGHT - AGES_LEFT)

    def y(years: float) -> float:
        return FLOOR - years / most * (FLOOR - 8)

    def line(points: Sequence[tuple[float, float]]) -> str:
        return " ".join(f"{a:.1f},{b:.1f}" for a, b in points)

    parts = [
        Markup('<svg class="forest" viewBox="0 0 {} {}" role="img" aria-label="{}">').format(
            WIDTH, HEIGHT, f"{title}: years of experience by age"
        )
    ]
    for tick in ticks(0, most):
        parts.append(
            Markup(
                '<line x1="{0}" x2="{1}" y1="{2:.1f}" y2="{2:.1f}" class="grid"/>'
                '<text x="{3}" y="{4:.1f}" class="tick">{5:g}</text>'
            ).format(AGES_LEFT, AGES_RIGHT, y(tick), AGES_LEFT - 13, y(tick) + 4, tick)
        )
    for tick in ticks(first, last) if last > first else [first]:
        if float(tick).is_integer():
            parts.append(
                Markup('<text x="{:.1f}" y="{}" class="tick">{:.0f}</text>').format(
                    x(tick), FLOOR + 15, tick
                )
            )
    band = [(x(r.age), y(r.low)) for r in rows] + [(x(r.age), y(r.high)) for r in reversed(rows)]
    limit = [(x(a), y(min(a - 18, most))) for a in (max(first, 18), min(last, 18 + most))]
    parts.append(
        Markup(
            '<polygon points="{}" class="spread"/><polyline points="{}" class="limit"/>'
            '<polyline points="{}" fill="none" stroke="{}" stroke-width="2.2"/>'
        ).format(line(band), line(limit), line([(x(r.age), y(r.middle)) for r in rows]), INK)
    )
    parts.append(
        Markup('<text x="{}" y="{}" class="side">age</text></svg>').format(
            (AGES_LEFT + AGES_RIGHT) / 2, FLOOR + 29
        )
    )
    return Markup("").join(parts)
