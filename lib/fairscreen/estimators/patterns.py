"""The five discrimination patterns of PopResume, as published and in an adjusted form.

Published: an effect is "not 0" where its interval excludes 0, "about 0" otherwise. That takes
"not significant" for "none" and ignores how many tests were made. So beside it stands the adjusted
form, an intersection-union test: "not 0" is an adjusted difference test, "about 0" a test of
equivalence; the pattern's p is the largest of its parts. Its verdict is `yes` where every part is
shown, `no` where one part is shown to be false, else `undecided`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from fairscreen.estimators.equivalence import tost

Verdict = Literal["yes", "no", "undecided", "not_computable"]

TITLES = {
    1: "Direct effect without explicit information",
    2: "Direct effect masked by cancellation",
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
_PHOTO = "format_shows_photo: pattern 1 is counted over formats without a photo"


@dataclass(frozen=True)
class Part:
    """One effect of a case. p_adjusted: its difference p, adjusted within its family.

    `reason` says why the effect is flagged, or why it is not computable (estimate None). An effect
    whose error is 0 by construction is `known`: negligible or not, without a test.
    """

    estimate: float | None
    std_error: float | None
    ci_low: float | None
    ci_high: float | None
    p_adjusted: float | None
    reason: str | None = None
    known: bool = False

    @property
    def computable(self) -> bool:
        values = (self.estimate, self.std_error, self.ci_low, self.ci_high, self.p_adjusted)
        return all(v is not None for v in values) and (self.known or (self.std_error or 0.0) > 0)


@dataclass(frozen=True)
class PatternRow:
    """One verdict. p_value: adjusted rule only, the largest p of the parts."""

    pattern: int
    title: str
    rule: Literal["published", "adjusted"]
    verdict: Verdict
    p_value: float | None
    reason: str | None


def patterns(
    effects: Mapping[str, Part], *, margin: float, photo: bool = False, alpha: float = 0.05
) -> list[PatternRow]:
    """Ten rows: five patterns by two rules, for one case.

    effects  TE, NDE, NIE, BIE, RIE of one case
    margin   in points of score: an effect inside it is negligible
    photo    whether the document shows a photo: pattern 1 then does not apply
    """
    rows = []
    for number, (different, negligible) in _RULES.items():
        used = {name: effects[name] for name in (*different, *negligible)}
        lacking = [n for n, part in used.items() if not part.computable]
        if photo and number == 1:
            why: str | None = _PHOTO
        elif lacking:
            why = "; ".join(f"{n}: {used[n].reason or 'not computable'}" for n in lacking)
        else:
            why = None
        if why:
            rows += [
                PatternRow(number, TITLES[number], "published", "not_computable", None, why),
                PatternRow(number, TITLES[number], "adjusted", "not_computable", None, why),
            ]
            continue
        flags = "; ".join(f"{n}: {part.reason}" for n, part in used.items() if part.reason)
        found = _published(number, used, different, negligible)
        verdict, p = _adjusted(number, used, different, negligible, margin, alpha)
        rows += [
            PatternRow(number, TITLES[number], "published", found, None, flags or None),
            PatternRow(number, TITLES[number], "adjusted", verdict, p, flags or None),
        ]
    return rows


def _published(
    number: int, parts: Mapping[str, Part], different: tuple[str, ...], negligible: tuple[str, ...]
) -> Verdict:
    def excludes_zero(name: str) -> bool:
        low, high = parts[name].ci_low, parts[name].ci_high
        assert low is not None
        assert high is not None
        return low > 0 or high < 0

    holds = all(excludes_zero(n) for n in different) and not any(map(excludes_zero, negligible))
    if number == 2:
        holds = holds and _opposed(parts)
    return "yes" if holds else "no"


def _adjusted(
    number: int,
    parts: Mapping[str, Part],
    different: tuple[str, ...],
    negligible: tuple[str, ...],
    margin: float,
    alpha: float,
) -> tuple[Verdict, float]:
    p_parts: list[float] = []
    contradicted = False
    p_difference: dict[str, float] = {}
    for name, part in parts.items():
        assert part.estimate is not None
        assert part.std_error is not None
        assert part.p_adjusted is not None
        if part.known:
            p_negligible = float(abs(part.estimate) >= margin)
            p_exceeds = 1.0 - p_negligible
        else:
            against = tost(
                estimate=part.estimate, std_error=part.std_error, margin=margin, alpha=alpha
            )
            p_negligible, p_exceeds = against.p_value, against.p_exceeds
        p_difference[name] = part.p_adjusted
        if name in different:
            p_parts.append(part.p_adjusted)
            contradicted |= p_negligible <= alpha
        else:
            p_parts.append(p_negligible)
            contradicted |= p_exceeds <= alpha
    p = max(p_parts)
    if number == 2 and not _opposed(parts):
        # Same signs: no cancellation is seen, so nothing speaks for the pattern. It is refuted
        # where both signs are established.
        contradicted |= all(p_difference[n] <= alpha for n in different)
        p = 1.0
    if p <= alpha:
        return "yes", p
    return ("no" if contradicted else "undecided"), p


def _opposed(parts: Mapping[str, Part]) -> bool:
    return (parts["NDE"].estimate or 0.0) * (parts["NIE"].estimate or 0.0) < 0
