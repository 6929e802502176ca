"""The five discrimination patterns of PopResume, as published and in an adjusted form.

Published: an effect is "not 0" where its interval excludes 0, "about 0" otherwise. That takes
"not significant" for "none" and ignores how many tests were made. So beside it stands the adjusted
form, an intersection-union test: "not 0" is a difference test, "about 0" a test of equivalence;
the pattern's p is the largest of its parts, Holm's correction runs over the cases. Its verdict is
`yes` where every part is shown, `no` where one part is shown to be false (p: the least of the
parts' opposites times their number, over the cases as well), else `undecided`.

Without a photo nothing in the document says who applies, so what is not through the grouped
mediators is never called direct.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from fairscreen.estimators.equivalence import tost
from fairscreen.estimators.multiplicity import holm

Verdict = Literal["yes", "no", "undecided", "not_computable"]

TITLES = {
    1: "Not through the grouped mediators, without explicit information",
    2: "Masked: opposite effects through the mediators and past them",
    3: "Only through legitimate qualifications",
    4: "Only through proxies (names and region)",
    5: "Mixed: qualifications and proxies",
}
# Per pattern: effects that must differ from 0, effects that must be negligible.
_RULES: dict[int, tuple[tuple[str, ...], tuple[str, ...]]] = {
    1: (("NDE",), ()),
    2: (("NDE", "NIE"), ("TE",)),
    3: (("BIE",), ("NDE", "RIE")),
    4: (("RIE",), ("NDE", "BIE")),
    5: (("BIE", "RIE"), ()),
}
SHOWS_PHOTO = "format_shows_photo: pattern 1 is counted over formats without a photo"


@dataclass(frozen=True)
class Part:
    """One effect of a case. p_value: of its difference from 0, for this effect alone.

    `reason` says why the effect is flagged, or why it is not computable (estimate None). An effect
    whose error is 0 by construction is `known`: negligible or not, without a test.
    """

    estimate: float | None
    std_error: float | None
    ci_low: float | None
    ci_high: float | None
    p_value: float | None
    reason: str | None = None
    known: bool = False

    @property
    def computable(self) -> bool:
        values = (self.estimate, self.std_error, self.ci_low, self.ci_high, self.p_value)
        return all(v is not None for v in values) and (self.known or (self.std_error or 0.0) > 0)


@dataclass(frozen=True)
class Judged:
    """What patterns are judged by: TE, NDE, NIE, BIE, RIE of one case; whether it shows a photo."""

    effects: Mapping[str, Part]
    photo: bool = False


@dataclass(frozen=True)
class PatternRow:
    """One verdict. Adjusted rule only: p_value, the largest p of the parts, and p_refuted, that
    one part is false; each with Holm's correction over the cases."""

    pattern: int
    title: str
    rule: Literal["published", "adjusted"]
    verdict: Verdict
    p_value: float | None
    p_holm: float | None
    p_refuted: float | None
    p_refuted_holm: float | None
    reason: str | None


def patterns(
    cases: Sequence[Judged], *, margin: float, alpha: float = 0.05
) -> list[list[PatternRow]]:
    """Ten rows per case: five patterns by two rules. The cases are one family per pattern.

    margin   in points of score: an effect inside it is negligible
    """
    rows = [[row for number in _RULES for row in _rows(number, case, margin)] for case in cases]
    for number in _RULES:
        place = [
            (i, j)
            for i, found in enumerate(rows)
            for j, row in enumerate(found)
            if row.pattern == number and row.rule == "adjusted" and row.p_value is not None
        ]
        shown = _over_cases([rows[i][j].p_value for i, j in place])
        refuted = _over_cases([rows[i][j].p_refuted for i, j in place])
        for (i, j), yes, no in zip(place, shown, refuted, strict=True):
            verdict: Verdict = "yes" if yes <= alpha else "no" if no <= alpha else "undecided"
            rows[i][j] = replace(rows[i][j], verdict=verdict, p_holm=yes, p_refuted_holm=no)
    return rows


def _over_cases(p: Sequence[float | None]) -> list[float]:
    found: list[float] = holm(np.array(p, dtype=np.float64)).tolist()
    return found


def _rows(number: int, case: Judged, margin: float) -> list[PatternRow]:
    """Both rules of one pattern and case; the adjusted one is judged over all cases later."""
    different, negligible = _RULES[number]
    used = {name: case.effects[name] for name in (*different, *negligible)}
    title, blank = TITLES[number], (None,) * 4
    lacking = [n for n, part in used.items() if not part.computable]
    why = "; ".join(f"{n}: {used[n].reason or 'not computable'}" for n in lacking) or None
    if case.photo and number == 1:
        why = SHOWS_PHOTO
    if why:
        return [
            PatternRow(number, title, "published", "not_computable", *blank, why),
            PatternRow(number, title, "adjusted", "not_computable", *blank, why),
        ]
    flags = "; ".join(f"{n}: {part.reason}" for n, part in used.items() if part.reason) or None
    holds = _published(number, used, different, negligible)
    p, refuted = _tests(number, used, different, margin)
    return [
        PatternRow(number, title, "published", "yes" if holds else "no", *blank, flags),
        PatternRow(number, title, "adjusted", "undecided", p, None, refuted, None, flags),
    ]


def _published(
    number: int, parts: Mapping[str, Part], different: tuple[str, ...], negligible: tuple[str, ...]
) -> bool:
    def excludes_zero(name: str) -> bool:
        low, high = parts[name].ci_low, parts[name].ci_high
        assert low is not None
        assert high is not None
        return low > 0 or high < 0

    holds = all(excludes_zero(n) for n in different) and not any(map(excludes_zero, negligible))
    return holds and (number != 2 or _opposed(parts))


def _tests(
    number: int, parts: Mapping[str, Part], different: tuple[str, ...], margin: float
) -> tuple[float, float]:
    """p of the pattern (intersection of its parts), p of its opposite (union of theirs)."""
    shown, refuted = [], []
    for name, part in parts.items():
        p_negligible, p_exceeds = _equivalence(part, margin)
        assert part.p_value is not None
        shown.append(part.p_value if name in different else p_negligible)
        refuted.append(p_negligible if name in different else p_exceeds)
    p = max(shown)
    if number == 2:
        # Opposite signs are a part too: seen the same way round, nothing speaks for the pattern,
        # and it is refuted where both signs are established.
        same = max(parts[name].p_value or 0.0 for name in different)
        refuted.append(1.0 if _opposed(parts) else same)
        p = p if _opposed(parts) else 1.0
    return p, min(1.0, len(refuted) * min(refuted))


def _equivalence(part: Part, margin: float) -> tuple[float, float]:
    """p of |effect| < margin and of |effect| > margin."""
    assert part.estimate is not None
    assert part.std_error is not None
    if part.known:
        outside = float(abs(part.estimate) >= margin)
        return outside, 1.0 - outside
    test = tost(estimate=part.estimate, std_error=part.std_error, margin=margin)
    return test.p_value, test.p_exceeds


def _opposed(parts: Mapping[str, Part]) -> bool:
    return (parts["NDE"].estimate or 0.0) * (parts["NIE"].estimate or 0.0) < 0
