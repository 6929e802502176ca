"""Parts of pictures in SVG: lines, text, and places that do not overlap.

Colors and sizes are attributes and styles of their own, so that a picture stands alone as a file.
"""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup

from fairscreen.reporting.plots import signed

TEXT, SOFT, GRID = "#1b2530", "#5f6b76", "#e5e9ee"
SIZE, LETTER = 11.5, 6.9  # points of text, and more than a letter of it is wide
LONGEST = 28


def apart(wished: Sequence[float], step: float, low: float, high: float) -> list[float]:
    """Places at least `step` apart (less where they do not fit) within low and high, in the order
    of the wishes and as near to them as that allows."""
    if not wished:
        return []
    step = min(step, (high - low) / max(1, len(wished) - 1))
    order = sorted(range(len(wished)), key=lambda k: wished[k])
    groups: list[tuple[float, list[int]]] = []  # start, members
    for k in order:
        start, members = wished[k], [k]
        while True:
            reach = step * (len(members) - 1)
            start = min(max(start, low), high - reach)
            if not groups or groups[-1][0] + step * len(groups[-1][1]) <= start + 1e-9:
                break
            members = groups.pop()[1] + members
            start = sum(wished[m] - step * i for i, m in enumerate(members)) / len(members)
        groups.append((start, members))
    found = [0.0] * len(wished)
    for start, members in groups:
        for i, m in enumerate(members):
            found[m] = start + step * i
    return found


def line(
    x1: float, y1: float, x2: float, y2: float, color: str, *, width: float = 1.0,
    dash: str | None = None,
) -> Markup:  # fmt: skip
    dashes = Markup(' stroke-dasharray="{}"').format(dash) if dash else ""
    return Markup(
        '<line x1="{:.1f}" y1="{:.1f}" x2="{:.1f}" y2="{:.1f}" stroke="{}" stroke-width="{}"{}/>'
    ).format(x1, y1, x2, y2, color, width, dashes)


def text(
    x: float, y: float, text: str, color: str, *, anchor: str = "start", turn: int | None = None,
    size: float = SIZE,
) -> Markup:  # fmt: skip
    """Text with a white edge, so that lines behind it do not cross its letters."""
    turned = Markup(' transform="rotate({} {:.1f} {:.1f})"').format(turn, x, y) if turn else ""
    return Markup(
        '<text x="{:.1f}" y="{:.1f}" text-anchor="{}" style="font-size:{}px;fill:{};'
        'stroke:#fff;stroke-width:3px;paint-order:stroke"{}>{}</text>'
    ).format(x, y, anchor, size, color, turned, text)


def upright(x: float, y: float, text: str) -> Markup:
    """Text that reads upwards, centred."""
    return Markup(
        '<text transform="translate({:.1f} {:.1f}) rotate(-90)" text-anchor="middle" '
        'xml:space="preserve" style="font-size:{}px;fill:{}">{}</text>'
    ).format(x, y, SIZE, TEXT, text)


def tick(value: float) -> str:
    whole = abs(value - round(value)) < 1e-9
    return signed(value, 0 if whole else 1 if abs(value * 10 - round(value * 10)) < 1e-6 else 2)


def cut(text: str, longest: int = LONGEST) -> str:
    return text if len(text) <= longest else text[: longest - 1].rstrip() + "\u2026"
