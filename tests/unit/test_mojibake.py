"""Text read in the wrong encoding: put right where it is certain, else left as it is."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairscreen.sources.mojibake import repair, tidied


def spoiled(text: str) -> str:
    """UTF-8 taken for Windows-1252; bytes that it does not have stay as they are."""
    return "".join(
        chr(b) if b in (0x81, 0x8D, 0x8F, 0x90, 0x9D) else bytes([b]).decode("cp1252")
        for b in text.encode()
    )


@pytest.mark.parametrize(("wrong", "right", "places"), [
    ("10 – 15 people", "10 – 15 people", 0),
    ("2012 â€“ 2014", "2012 – 2014", 1),
    ("Clientâ€™s cafÃ©", "Client’s café", 2),
    ("Bilingual Â Â nurse", "Bilingual   nurse", 2),  # a no-break space that became a plain one
    ("neededÂ to", "needed to", 1),
    ("Oracle Â® and SAPÂ®,", "Oracle ® and SAP®,", 2),
    ("Name ï¼\u200b City", "Name - City", 1),
    ("â€œSystemâ€\u200b, monthsâ€\u200bâ€\u200bthen", "“System”, months--then", 3),
    ("ÃƒÂ©lan", "élan", 3),  # twice: each round counts
    ("Ã¢â‚¬Å“quotedÃ¢â‚¬Â\x9d", "“quoted”", 8),
    ("SÃO PAULO, CÂMARA, TÊTE-À-TÊTE", "SÃO PAULO, CÂMARA, TÊTE-À-TÊTE", 0),
    ("Â", "", 1),
    ("ÃœBER", "ÜBER", 1),
    ("price 5 â‚¬", "price 5 €", 1),
])  # fmt: skip
def test_known_damage(wrong: str, right: str, places: int) -> None:
    assert repair(wrong) == (right, places)


@given(st.text(st.characters(min_codepoint=0x20, max_codepoint=0x24FF, exclude_categories=["Cc"])))
def test_what_was_spoiled_once_comes_back(text: str) -> None:
    # Sound text that looks spoiled, or that lost no space, is outside of what can be promised.
    if repair(text) == (text, 0) and "\u00a0" not in text:
        assert repair(spoiled(text))[0] == text


@given(st.text())
def test_tidying_twice_changes_nothing_more(text: str) -> None:
    once = tidied(text)[0]
    assert tidied(once) == (once, 0) or repair(once)[1] > 0  # unveiled by NFC or a space gone


def test_tidied_text_has_one_form() -> None:
    assert tidied("\ufeffe\u0301 \u00a0a\u200bb\r\nc\rd\u2028 ") == ("é  ab\nc\nd", 0)
