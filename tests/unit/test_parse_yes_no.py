"""The two named forms of yes and no, where they agree and where they part."""

from __future__ import annotations

import unicodedata
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairscreen.scoring.parse import Reason, parse


def read(form: str, reply: str) -> int | Reason | None:
    found = parse(f"yes_no_{form}/2", reply, "answered")
    return found.reason if found.score is None else int(found.score)


@pytest.mark.parametrize(
    ("reply", "one_word", "first"),
    [
        ("yes", 1, 1), ("no", 0, 0), (" Yes.\n", 1, 1), ("NO!", 0, 0), ("**Yes**", 1, 1),
        ('"no"', 0, 0), ("`yes`", 1, 1), ("✅ yes", 1, 1), ("- no", 0, 0),
        ("_yes_", 1, "no_yes_or_no"),
        ("yes, he fits", "several_words", 1), ("Yes. No.", "several_words", 1),
        ("yes yes", "several_words", 1), ("Callback: no", "several_words", 0),
        # The published rule takes the first, whatever is meant.
        ("There is no doubt: yes", "several_words", 0), ("No. 1 choice, yes", "several_words", 0),
        ("no-one fits better: yes", "several_words", 0),
        ("not now", "no_yes_or_no", "no_yes_or_no"), ("yesterday", "no_yes_or_no", "no_yes_or_no"),
        ("I know, none", "no_yes_or_no", "no_yes_or_no"), ("y", "no_yes_or_no", "no_yes_or_no"),
        ("yeſ", "no_yes_or_no", "no_yes_or_no"), ("éyes", "no_yes_or_no", "no_yes_or_no"),
        ("ｙｅｓ", "no_yes_or_no", "no_yes_or_no"), ("no2", "no_yes_or_no", "no_yes_or_no"),
        # An accent is part of its letter, composed or not; the selector of an emoji is not.
        ("n\u00f3", "no_yes_or_no", "no_yes_or_no"), ("no\u0301", "no_yes_or_no", "no_yes_or_no"),
        ("e\u0301yes", "no_yes_or_no", "no_yes_or_no"), ("no\u0301, yes", "several_words", 1),
        ("no\u20e0", "no_yes_or_no", "no_yes_or_no"), ("✔\ufe0fyes", 1, 1),
        ("是", "no_yes_or_no", "no_yes_or_no"), ("\n", "empty", "empty"),
        ("." * 10**6 + "yes", 1, 1), ("not " * 250_000 + "no", "several_words", 0),
    ],
)  # fmt: skip
def test_both_forms(reply: str, one_word: int | str, first: int | str) -> None:
    assert (read("one_word", reply), read("first_occurrence", reply)) == (one_word, first)


AROUND = st.text(st.sampled_from(" \n.,;:!?*`\"'()[]{}<>-–—…👍"), max_size=10)


@given(AROUND, st.sampled_from(["yes", "Yes", "YES", "no", "No", "nO"]), AROUND)
def test_one_word_survives_what_is_around_it(before: str, word: str, after: str) -> None:
    reply = before + word + after
    assert read("one_word", reply) == read("first_occurrence", reply) == (word.lower() == "yes")


@given(st.text())
def test_one_word_never_contradicts_the_first_occurrence(reply: str) -> None:
    one, first = (
        parse(f"yes_no_{f}/2", reply, "answered") for f in ("one_word", "first_occurrence")
    )
    if one.score is not None and "_" not in reply:
        assert one.score == first.score
    for found in (one, first):
        assert found.score in (None, Decimal(0), Decimal(1))


ACCENTS = st.text(st.sampled_from("yesnoYESNO éóñÉÓÑ.,\u0301\u0323\u20e0\ufe0f✅"), max_size=12)


@given(ACCENTS | st.text())
def test_how_accents_are_encoded_does_not_matter(reply: str) -> None:
    composed, apart = (unicodedata.normalize(form, reply) for form in ("NFC", "NFD"))
    for form in ("one_word", "first_occurrence"):
        assert read(form, composed) == read(form, apart)
