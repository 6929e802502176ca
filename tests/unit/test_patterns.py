"""The five patterns: one story per case, both rules."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom, norm

from fairscreen.estimators.equivalence import tost
from fairscreen.estimators.patterns import TITLES, Judged, Part, PatternRow, patterns

EFFECTS = ("TE", "NDE", "NIE", "BIE", "RIE")


def part(estimate: float, error: float = 0.2) -> Part:
    p = float(2 * norm.sf(abs(estimate) / error))
    return Part(estimate, error, estimate - 1.96 * error, estimate + 1.96 * error, p)


def one(effects: dict[str, Part], margin: float = 1.0) -> dict[tuple[int, str], PatternRow]:
    """Rows of a single case by pattern and rule."""
    (rows,) = patterns([Judged(effects)], margin=margin)
    return {(r.pattern, r.rule): r for r in rows}


def judged(*values: float, error: float = 0.2, photo: bool = False) -> dict[str, list[str]]:
    """Verdicts of patterns 1 to 5 by rule, for TE, NDE, NIE, BIE, RIE; margin 1."""
    effects = {name: part(v, error) for name, v in zip(EFFECTS, values, strict=True)}
    (rows,) = patterns([Judged(effects, photo)], margin=1.0)
    return {rule: [r.verdict for r in rows if r.rule == rule] for rule in ("published", "adjusted")}


# Every effect within 0.2 of truth, margin 1 = 5 errors: what is 0 is shown negligible.
STORIES = {
    "direct only": ((3, 3, 0, 0, 0), "yes no no no no", "yes no no no no"),
    "cancellation": ((0, 3, -3, -3, 0), "yes yes no no no", "yes yes no no no"),
    "same signs": ((4, 2, 2, 2, 0), "yes no no no no", "yes no no no no"),
    "qualifications": ((3, 0, 3, 3, 0), "no no yes no no", "no no yes no no"),
    "proxies": ((3, 0, 3, 0, 3), "no no no yes no", "no no no yes no"),
    "mixed": ((6, 0, 6, 3, 3), "no no no no yes", "no no no no yes"),
    "nothing": ((0, 0, 0, 0, 0), "no no no no no", "no no no no no"),
}


@pytest.mark.parametrize("story", STORIES)
def test_precise_cases_get_the_same_verdict_by_both_rules(story: str) -> None:
    values, published, adjusted = STORIES[story]
    got = judged(*values)
    assert got["published"] == published.split()
    assert got["adjusted"] == adjusted.split()


def test_noise_is_none_as_published_and_undecided_in_the_adjusted_form() -> None:
    got = judged(0, 0, 0, 7, 0, error=2)
    assert got["published"] == ["no", "no", "yes", "no", "no"]  # "about 0" without any evidence
    # Only pattern 4 is refuted: it wants BIE negligible, and BIE is 3 errors above the margin.
    assert got["adjusted"] == ["undecided", "undecided", "undecided", "no", "undecided"]


def test_p_is_the_largest_of_the_parts() -> None:
    effects = dict(zip(EFFECTS, map(part, (3, 0.5, 3, 3, 0.1)), strict=True))
    rows = one(effects)
    expected = tost(estimate=0.5, std_error=0.2, margin=1.0).p_value
    assert rows[3, "adjusted"].p_value == pytest.approx(expected)
    assert rows[3, "adjusted"].p_holm == pytest.approx(expected)  # one case: nothing to correct
    assert rows[3, "published"].p_value is None


def test_p_of_the_opposite_is_the_least_of_the_parts_times_their_number() -> None:
    effects = dict(zip(EFFECTS, map(part, (3, 0.5, 3, 0.5, 1.6)), strict=True))
    # Pattern 3: BIE not 0 is refuted by equivalence, NDE and RIE about 0 by exceeding the margin.
    tests = {name: tost(estimate=v, std_error=0.2, margin=1.0)
             for name, v in (("NDE", 0.5), ("BIE", 0.5), ("RIE", 1.6))}  # fmt: skip
    least = min(tests["BIE"].p_value, tests["NDE"].p_exceeds, tests["RIE"].p_exceeds)
    row = one(effects)[3, "adjusted"]
    assert row.p_refuted == pytest.approx(3 * least)
    assert row.verdict == "no"


def test_verdicts_are_corrected_over_the_cases() -> None:
    """RIE and BIE at p 0.02: pattern 5 holds in one case alone, in none of three."""
    borderline = Part(0.5, 0.215, 0.08, 0.92, 0.02)
    effects = dict.fromkeys(EFFECTS, borderline)
    alone = one(effects, margin=0.1)[5, "adjusted"]
    assert (alone.verdict, alone.p_holm) == ("yes", 0.02)
    found = patterns([Judged(effects)] * 3, margin=0.1)
    for rows in found:
        (row,) = (r for r in rows if (r.pattern, r.rule) == (5, "adjusted"))
        assert (row.verdict, row.p_value) == ("undecided", 0.02)
        assert row.p_holm == pytest.approx(0.06)
    # Clear cases beside it leave it at its own p: the last step of Holm.
    sure = dict.fromkeys(EFFECTS, Part(5.0, 0.2, 4.6, 5.4, 1e-9))
    last = patterns([Judged(sure), Judged(sure), Judged(effects)], margin=0.1)[2]
    (row,) = (r for r in last if (r.pattern, r.rule) == (5, "adjusted"))
    assert (row.verdict, row.p_holm) == ("yes", pytest.approx(0.02))


def test_what_cannot_be_computed_is_no_case_of_the_correction() -> None:
    lost = dict.fromkeys(EFFECTS, Part(None, None, None, None, None, "overlap"))
    effects = dict.fromkeys(EFFECTS, Part(0.5, 0.215, 0.08, 0.92, 0.02))
    found = patterns([Judged(lost)] * 9 + [Judged(effects)], margin=0.1)
    (row,) = (r for r in found[-1] if (r.pattern, r.rule) == (5, "adjusted"))
    assert row.verdict == "yes"


def test_false_claims_over_many_cases_stay_below_the_level() -> None:
    """40 cases whose NDE lies on the margin: pattern 3 is false in each, BIE as clear as can be."""
    draw = np.random.default_rng(7)
    claimed = 0
    for _ in range(400):
        cases = []
        for nde in draw.normal(1.0, 0.2, 40):
            values = (3.0 + nde, nde, 3.0, 3.0, 0.0)
            cases.append(Judged(dict(zip(EFFECTS, map(part, values), strict=True))))
        found = patterns(cases, margin=1.0)
        claimed += any(
            r.verdict == "yes"
            for rows in found
            for r in rows
            if (r.pattern, r.rule) == (3, "adjusted")
        )
    assert binom.sf(claimed - 1, 400, 0.05) > 0.001, claimed


def test_the_p_of_the_effect_is_used_not_the_interval() -> None:
    weak = Part(0.5, 0.2, 0.108, 0.892, 0.30)  # interval excludes 0, p does not
    rows = one(dict.fromkeys(EFFECTS, weak), margin=0.6)
    assert rows[1, "published"].verdict == "yes"
    assert rows[1, "adjusted"].verdict == "undecided"
    assert rows[1, "adjusted"].p_value == 0.30


def test_pattern_1_is_counted_without_a_photo_only() -> None:
    with_photo = judged(3, 3, 0, 0, 0, photo=True)
    assert with_photo["published"][0] == with_photo["adjusted"][0] == "not_computable"
    assert with_photo["published"][1:] == judged(3, 3, 0, 0, 0)["published"][1:]


def test_no_pattern_calls_an_effect_direct() -> None:
    assert not any("direct" in title.lower() for title in TITLES.values())


def test_a_part_that_is_not_computable_gives_its_reason() -> None:
    effects = {name: part(3.0) for name in EFFECTS}
    effects["RIE"] = Part(None, None, None, None, None, "overlap: E_R:Y effective_n")
    rows = one(effects)
    for number in (3, 4, 5):
        assert rows[number, "adjusted"].verdict == "not_computable"
        assert rows[number, "published"].reason == "RIE: overlap: E_R:Y effective_n"
    assert rows[1, "published"].verdict == "yes"


def test_flags_travel_with_the_verdict() -> None:
    effects = {name: part(3.0) for name in EFFECTS}
    effects["NDE"] = Part(3.0, 0.2, 2.6, 3.4, 0.0, "clip: moves")
    rows = one(effects)
    assert rows[1, "adjusted"].reason == "NDE: clip: moves"
    assert rows[5, "adjusted"].reason is None


def test_an_effect_that_is_0_by_construction_needs_no_test() -> None:
    effects = dict(zip(EFFECTS, map(part, (3, 0, 3, 3, 0)), strict=True))
    effects["NDE"] = Part(0.0, 0.0, 0.0, 0.0, 1.0, known=True)
    rows = one(effects)
    assert rows[1, "published"].verdict == rows[1, "adjusted"].verdict == "no"
    assert rows[3, "published"].verdict == rows[3, "adjusted"].verdict == "yes"
    bie, rie = effects["BIE"], effects["RIE"]
    assert rows[3, "adjusted"].p_value == max(bie.p_value, _negligible(rie))
    # Known to be large is known not to be negligible.
    effects["NDE"] = Part(2.0, 0.0, 2.0, 2.0, 0.0, known=True)
    rows = one(effects)
    assert rows[1, "adjusted"].verdict == "yes"
    assert rows[3, "adjusted"].verdict == "no"


def _negligible(found: Part) -> float:
    return tost(estimate=found.estimate, std_error=found.std_error, margin=1.0).p_value
