"""How names are spelled: in the bronze tables (`clean`) and on a resume (`printed`).

Bronze: one form for what is one name, nothing else changed. Unicode NFC (é is one character,
however it was typed); curly apostrophes and the modifier letter U+02BC become the straight one, so
that O’Brien and O'Brien are one name; runs of spaces become one. Diacritics, combining marks that
have no composed form, the Hawaiian okina (U+02BB), hyphens and letters of any script stay.

Resume: a name in which capitals and small letters are mixed is left as it is. One in capitals only
(the Census file's surnames) or in small letters only is written by rule:
    every part between spaces and hyphens begins with a capital       Smith-Jones
    so does a letter after a period                                   A.J., St.John
    after an apostrophe a capital follows one letter, Dell or Dall    O'Brien, D'Angelo, Prud'homme
    `Mc` is followed by a capital; Mac is too uncertain               McDonald, Macdonald
    particles after the first part of a name stay small               De la Cruz, Martinez de Haro
What the source dropped stays dropped: the Census file has no apostrophes, hyphens, spaces or
diacritics, so its OBRIEN is printed Obrien, its DELACRUZ Delacruz and its GARCIA Garcia.
"""

from __future__ import annotations

import re
import unicodedata
from itertools import pairwise

# Control and invisible characters, but for line ends.
ODD = re.compile(
    "[\x00-\x09\x0b\x0c\x0e-\x1f\x7f-\x9f\xad\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]"
)
_AFTER_PERIOD = re.compile(r"(?<=\.)\w")
_APOSTROPHES = str.maketrans(
    {"\u2018": "'", "\u2019": "'", "\u02bc": "'", "\u00b4": "'", "\u0149": "'n"}
)
_PARTICLES = frozenset({
    "af", "al", "bin", "bint", "da", "das", "de", "del", "della", "den", "der", "di", "do", "dos",
    "du", "e", "el", "ibn", "la", "las", "le", "los", "ten", "ter", "van", "ver", "von", "y", "zu",
    "zum", "zur",
})  # fmt: skip
_ELISIONS = frozenset({"dell", "dall"})


def clean(name: str) -> str:
    """The name as bronze tables hold it; cleaning twice changes nothing more."""
    if name.isascii() and "  " not in name:
        return name.strip(" ")
    straight = unicodedata.normalize("NFC", name).translate(_APOSTROPHES)
    return " ".join(unicodedata.normalize("NFC", straight).split())


def fault(name: str) -> str | None:
    """Why a text can be no name, or null; the words go on after the column's name."""
    if odd := ODD.search(name):
        return f"{name[:60]!r} holds the character U+{ord(odd.group()):04X}"
    if not any(c.isalpha() for c in name):
        return f"{name[:60]!r} holds no letter"
    return None


def printed(name: str) -> str:
    """A cleaned name as a resume shows it; printing twice changes nothing more."""
    if name != name.upper() and name != name.lower():
        return name
    if name.isascii() and name.isalpha() and name[:2] not in ("MC", "mc"):
        return name.capitalize()  # nearly every name, ten times as fast
    words = re.split(r"([ -])", name)
    shown = [_word(word, first=i == 0 or words[i - 1] == "-") for i, word in enumerate(words)]
    return unicodedata.normalize("NFC", "".join(shown))


def _word(word: str, *, first: bool) -> str:
    small = word.replace("\u0130", "i").lower()  # the Turkish capital would leave a stray dot
    if not first and small in _PARTICLES:
        return small
    parts = small.split("'")
    shown = [_capital(parts[0])]
    for before, part in pairwise(parts):
        shown.append(_capital(part) if len(before) == 1 or before in _ELISIONS else part)
    return _AFTER_PERIOD.sub(lambda letter: letter[0].title(), "'".join(shown))


def _capital(part: str) -> str:
    if part.startswith("mc") and len(part) > 3:
        return "Mc" + part[2].upper() + part[3:]
    return part[:1].title() + part[1:]
