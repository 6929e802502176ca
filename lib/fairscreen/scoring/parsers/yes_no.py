"""Answers of yes or no, as 1 or 0. Letter case never matters.

`one_word` takes only what the prompt asks for; `first_occurrence` is the published rule (Gao, Jiang
& Yan: the first yes or no in the reply). They part where a model explains itself: "There is no
doubt: yes" is no answer to the one and a no to the other. A letter with an accent is one letter,
however it is encoded: "nó" is no "no".
"""

from __future__ import annotations

import re
import unicodedata
from decimal import Decimal

from fairscreen.scoring.parsers.values import Reason

_SCORE = {"yes": Decimal("1.0000"), "no": Decimal("0.0000")}
# Possessive: what is around the word is read once.
_ONE = re.compile(r"[\W_]*+(yes|no)[\W_]*+")
_FIRST = re.compile(r"(?<!\w)(?:yes|no)(?!\w)")


def one_word(reply: str) -> Decimal | Reason:
    """Yes or no and nothing else but punctuation, markdown, symbols and space around it."""
    text = _letters(reply)
    found = _ONE.fullmatch(text)
    if found:
        return _SCORE[found.group(1)]
    return Reason.SEVERAL_WORDS if _FIRST.search(text) else Reason.NO_YES_OR_NO


def first_occurrence(reply: str) -> Decimal | Reason:
    """The first yes or no that stands as a word: no letter, digit or underscore beside it."""
    found = _FIRST.search(_letters(reply))
    return _SCORE[found.group()] if found else Reason.NO_YES_OR_NO


def _letters(reply: str) -> str:
    """In lower case. A combining mark on a letter becomes a letter itself: what it stands on is
    no plain word. On a symbol (the selectors of emoji) it is a symbol."""
    text = reply.lower()
    if text.isascii():
        return text
    found: list[str] = []
    in_word = False
    for c in text:
        if unicodedata.category(c)[0] == "M":
            found.append("x" if in_word else " ")
            continue
        in_word = c.isalnum() or c == "_"
        found.append(c)
    return "".join(found)
