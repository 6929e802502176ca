"""The five patterns: one story per case, both rules."""

from __future__ import annotations

import pytest

from fairscreen.estimators.patterns import Part, patterns

EFFECTS = ("TE", "NDE", "NIE", "BIE", "RIE")


def part(estimate: float, error: float = 0.2) -> Part:
    from scipy.stats import norm

    p = float(2 * norm.sf(abs(estimate) / error))
    return Part(estimate, error, estimate - 1.96 * error, estimate + 1.96 * error, p)


def judged(*values: float, error: float = 0.2, photo: bool = False) -> dict[str, list[str]]:
    """Verdicts of patterns 1 to 5 by rule, for TE, NDE, NIE, BIE, RIE; margin 1."""
    effects = {name: part(v, error) for name, v in zip(EFFECTS, values, strict=True)}
    rows = patterns(effects, margin=1.0, photo=photo)
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
    got = judged(0, 0, 0, 6, 0, error=2)
    assert got["published"] == ["no", "no", "yes", "no", "no"]  # "about 0" without any evidence
    # Only pattern 4 is refuted: it wants BIE negligible, and BIE is 2.5 errors above the margin.
    assert got["adjusted"] == ["undecided", "undecided", "undecided", "no", "undecided"]


def test_p_is_the_largest_of_the_parts() -> None:
    from fairscreen.estimators.equivalence import tost

    effects = dict(zip(EFFECTS, map(part, (3, 0.5, 3, 3, 0.1)), strict=True))
    rows = {(r.pattern, r.rule): r for r in patterns(effects, margin=1.0)}
    expected = tost(estimate=0.5, std_error=0.2, margin=1.0).p_value
    assert rows[3, "adjusted"].p_value == pytest.approx(expected)
    assert rows[3, "published"].p_value is None


def test_the_adjusted_p_is_used_not_the_interval() -> None:
    weak = Part(0.5, 0.2, 0.108, 0.892, 0.30)  # interval excludes 0, adjusted p does not
    effects = dict.fromkeys(EFFECTS, weak)
    rows = {(r.pattern, r.rule): r for r in patterns(effects, margin=0.6)}
    assert rows[1, "published"].verdict == "yes"
    assert rows[1, "adjusted"].verdict == "undecided"
    assert rows[1, "adjusted"].p_value == 0.30


def test_pattern_1_is_counted_without_a_photo_only() -> None:
    with_photo = judged(3, 3, 0, 0, 0, photo=True)
    assert with_photo["published"][0] == with_photo["adjusted"][0] == "not_computable"
    assert with_photo["published"][1:] == judged(3, 3, 0, 0, 0)["published"][1:]


def test_a_part_that_is_not_computable_gives_its_reason() -> None:
    effects = {name: part(3.0) for name in EFFECTS}
    effects["RIE"] = Part(None, None, None, None, None, "overlap: E_R:Y effective_n")
    rows = {(r.pattern, r.rule): r for r in patterns(effects, margin=1.0)}
    for number in (3, 4, 5):
        assert rows[number, "adjusted"].verdict == "not_computable"
        assert rows[number, "published"].reason == "RIE: overlap: E_R:Y effective_n"
    assert rows[1, "published"].verdict == "yes"


def test_flags_travel_with_the_verdict() -> None:
    effects = {name: part(3.0) for name in EFFECTS}
    effects["NDE"] = Part(3.0, 0.2, 2.6, 3.4, 0.0, "clip: moves")
    rows = {(r.pattern, r.rule): r for r in patterns(effects, margin=1.0)}
    assert rows[1, "adjusted"].reason == "NDE: clip: moves"
    assert rows[5, "adjusted"].reason is None


def test_an_effect_that_is_0_by_construction_needs_no_test() -> None:
    effects = dict(zip(EFFECTS, map(part, (3, 0, 3, 3, 0)), strict=True))
    effects["NDE"] = Part(0.0, 0.0, 0.0, 0.0, 1.0, known=True)
    rows = {(r.pattern, r.rule): r for r in patterns(effects, margin=1.0)}
    assert rows[1, "published"].verdict == rows[1, "adjusted"].verdict == "no"
    assert rows[3, "published"].verdict == rows[3, "adjusted"].verdict == "yes"
    bie, rie = effects["BIE"], effects["RIE"]
    assert rows[3, "adjusted"].p_value == max(bie.p_adjusted, _negligible(rie))
    # Known to be large is known not to be negligible.
    effects["NDE"] = Part(2.0, 0.0, 2.0, 2.0, 0.0, known=True)
    rows = {(r.pattern, r.rule): r for r in patterns(effects, margin=1.0)}
    assert rows[1, "adjusted"].verdict == "yes"
    assert rows[3, "adjusted"].verdict == "no"


def _negligible(found: Part) -> float:
    from fairscreen.estimators.equivalence import tost

    return tost(estimate=found.estimate, std_error=found.std_error, margin=1.0).p_value
