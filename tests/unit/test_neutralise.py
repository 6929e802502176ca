"""Policies on texts with cues; neutral wording is grammatical, stable and leaves nothing."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import leakage_labels
from fairscreen.documents.leakage import KINDS, find_hits
from fairscreen.documents.neutralise import neutralise, treat

PASSAGES = [p.text for name in ("dev", "heldout") for p in leakage_labels.passages(name)]


@pytest.mark.parametrize(("text", "neutral"), [
    # he and she, with the verb
    ("She manages the team.", "They manage the team."),
    ("He is a welder and has a license.", "They are a welder and have a license."),
    ("She was hired in 2010 and does the books.", "They were hired in 2010 and do the books."),
    ("He carries mail, watches the gate and fixes locks.",
     "They carry mail, watch the gate and fix locks."),
    ("She often travels and always reports the results.",
     "They often travel and always report the results."),
    ("He audits plans and reports.", "They audit plans and reports."),  # nouns stay
    ("She led audits and plans.", "They led audits and plans."),
    ("She has managed stores and trains.", "They have managed stores and trains."),
    ("He can lift 50 lbs and drives trucks.", "They can lift 50 lbs and drive trucks."),
    ("She's a nurse.", "They're a nurse."),
    ("She's managed three wards.", "They've managed three wards."),
    ("He doesn't smoke.", "They don't smoke."), ("He'll travel.", "They'll travel."),
    ("Not only does she teach, she writes.", "Not only do they teach, they write."),
    ("He works with a firm that makes pumps.", "They work with a firm that makes pumps."),
    # his, her, hers told apart
    ("Known for his patience.", "Known for their patience."),
    ("Colleagues trust her with keys.", "Colleagues trust them with keys."),
    ("Colleagues trust her.", "Colleagues trust them."),
    ("Colleagues trust her judgement.", "Colleagues trust their judgement."),
    ("The choice was hers.", "The choice was theirs."), ("A habit of his.", "A habit of theirs."),
    ("She taught herself French and wrote to him.",
     "They taught themselves French and wrote to them."),
    ("HE LEADS A CREW OF TEN.", "THEY LEAD A CREW OF TEN."),
    # titles, nouns, the rest
    ("Mr. Adams bakes. He sells his bread.", "Adams bakes. They sell their bread."),
    ("I am an ambitious woman.", "I am an ambitious person."),
    ("As an Asian woman I mentor.", "As a person I mentor."),
    ("A male nurse with patience", "A nurse with patience"),
    ("Single mother of two", "Single parent of two"),
    ("Waitress, 2001 to 2004", "Server, 2001 to 2004"),
    ("Member of the Women's Club, Omaha", "Member of the professional association, Omaha"),
    ("Eagle Scout, Troop 4", "A scouting group, Troop 4"),
    ("Captain of the women's soccer team", "Captain of the soccer team"),
    ("B.A., Howard University, 2011", "B.A., a university, 2011"),
    ("My name is Emily Walsh and I weld", "My name is [name] and I weld"),
    ("Skills: Excel, Gender: Female, Word", "Skills: Excel, Word"),
    ("Gender: Female. Nurse", "Nurse"), ("Jo (she/her) welds", "Jo welds"),
    ("I am 52 years old and fit.", "I am fit."), ("I am 52 years old. Fit.", "Fit."),
    ("I was born on June 3, 1982 in Toledo.", "I was born in Toledo."),
    ("I was born on June 3, 1982. Fit.", "Fit."),
    ("Name: Emily Walsh Position: cook", "[name] Position: cook"),
    ("I enjoy hiking with my wife.", "I enjoy hiking with my family."),
    ("CV with photo attached", "CV"), ("Was on maternity leave in 2016", "Was on leave in 2016"),
    # nothing to do
    ("Each child and his or her parents", "Each child and his or her parents"),
])  # fmt: skip
def test_wording(text: str, neutral: str) -> None:
    assert neutralise(text) == neutral


def _sound(text: str, kinds: tuple[str, ...]) -> None:
    new = neutralise(text, kinds=kinds)
    assert find_hits(new, kinds=kinds) == ()
    assert neutralise(new, kinds=kinds) == new
    if not find_hits(text, kinds=kinds):
        assert new == text


@given(
    st.lists(st.sampled_from(PASSAGES), min_size=1, max_size=4),
    st.sampled_from([" ", ". ", "\n", ", "]),
    st.lists(st.sampled_from(KINDS), min_size=1, unique=True),
)
def test_nothing_is_left_and_twice_is_once(
    parts: list[str], between: str, kinds: list[str]
) -> None:
    _sound(between.join(parts), KINDS)
    _sound(between.join(parts), tuple(kinds))


WORDS = [
    "she", "He", "her", "his", "hers", "himself", "Mr. Adams", "Mrs.", "the manager", "manages",
    "and", "Gender", ":", "Female", "/", "young man", "I am", "a", "Age", "35", "years old", ".",
    ",", "\n", "Women", "Society of", "Member", "Black", "(she/her)", "Name:", "Emily Walsh",
    "born", "in", "1990", "my wife", "photo attached", "US citizen",
]  # fmt: skip


@given(st.lists(st.sampled_from(WORDS), max_size=14))
def test_any_order_of_cue_words(words: list[str]) -> None:
    _sound(" ".join(words), KINDS)


@given(st.text())
def test_any_text(text: str) -> None:
    _sound(text, KINDS)


def test_policies() -> None:
    text = "She leads a crew"
    keep, flag, out, neutral = (treat(text, p) for p in ("keep", "flag", "exclude", "neutralise"))
    assert (keep.text, keep.flagged, keep.changed) == (text, True, False)
    assert (flag.text, flag.flagged, flag.changed) == (text, True, False)
    assert (out.text, out.flagged, out.changed) == (None, True, True)
    assert (neutral.text, neutral.flagged, neutral.changed) == ("They lead a crew", True, True)
    assert all(t.hits == keep.hits and len(t.hits) == 1 for t in (flag, out, neutral))
    clean = treat("Leads a crew", "exclude")
    assert (clean.text, clean.hits, clean.flagged) == ("Leads a crew", (), False)
    other = treat("She leads, Age: 40", "exclude", kinds=("religion",))
    assert other.text == "She leads, Age: 40"
