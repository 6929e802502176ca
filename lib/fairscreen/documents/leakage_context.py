"""Where a cue stands in its text: sentences, clauses, references, and who is spoken of."""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass

from fairscreen.documents.leakage_cues import Cues, any_of

_ABBREVIATION = r"(?<!\bMr)(?<!\bMrs)(?<!\bMs)(?<!\bDr)(?<!\bSt)(?<!\bJr)(?<!\bInc)(?<!\b[A-Z])"
# A full stop ends a sentence before a capital, a digit or the end; a semicolon ends a clause only.
SENTENCE_END = re.compile(
    rf"{_ABBREVIATION}[.!?]+[\"”’)]*(?=\s+[^a-z\s]|\s*\Z)|\n\s*|[•●▪◦➢♦*|]\s|\s[|/]\s"
)
_CLAUSE_END = re.compile(
    r"(?:[;:]\s|,\s(?:and|but|where|while|then)\s|\s(?:and|but|where|while)\s|\s[-–—]\s|,\s)\Z"
)
_LONGEST_END = 12
_REFERENCES = re.compile(
    r"\b(?:references?|reference from|supervisors?|contact)\b\s*:?", re.IGNORECASE
)
_REACH = 220  # characters back within which somebody may be the antecedent: some 30 words


@dataclass(frozen=True)
class Sentence:
    start: int
    end: int


def sentences(text: str) -> tuple[Sentence, ...]:
    """The sentences of a text, end to end. Lines, bullets and bars divide them, too."""
    found, start = [], 0
    for end in SENTENCE_END.finditer(text):
        found.append(Sentence(start, end.end()))
        start = end.end()
    if start < len(text) or not found:
        found.append(Sentence(start, len(text)))
    return tuple(found)


def sentence_at(found: tuple[Sentence, ...], at: int) -> int:
    """Index of the sentence that holds a place."""
    low, high = 0, len(found) - 1
    while low < high:
        middle = (low + high) // 2
        if found[middle].end <= at:
            low = middle + 1
        else:
            high = middle
    return low


def begins_clause(text: str, sentence: Sentence, at: int, *, commas: bool = True) -> bool:
    """Whether nothing, or the end of a clause, stands right before a place of the sentence."""
    before = text[sentence.start : at]
    if not before.strip("\"“'(-–—•* \n\t"):
        return True
    end = _CLAUSE_END.search(before[-_LONGEST_END:])
    return end is not None and (commas or end.group()[0] in ";:")


def in_references(text: str, at: int) -> bool:
    """Whether names around here are those of people who speak for the applicant."""
    return bool(_REFERENCES.search(text[max(0, at - 160) : at]))


@functools.lru_cache(maxsize=8)
def third_party(cues: Cues) -> re.Pattern[str]:
    """Somebody else, in the singular: a noun of the list, a title with a name, "John Smith and"."""
    return re.compile(
        rf"(?P<noun>(?i:(?<![\w'’-]){any_of(cues.third_parties)}(?![\w-])))"
        rf"|(?P<named>(?<!\w)(?:{any_of(cues.titles)}\.?|Dr\.?)\s+[A-Z][\w'’-]+)"
        r"|(?P<pair>[A-Z][a-z]+\s+[A-Z][a-z]+,?\s+and\s*\Z)"
    )


_AS = re.compile(r"\bas\s+(?:(?:an?|the|our)\s+)?(?:[\w'’-]+\s+){0,3}\Z", re.IGNORECASE)
_OWN_ROLE = re.compile(
    r"\b(?:is|was|be|been|being|became|become|am|promoted\s+to|(?:role|position|title)\s+of)\s+"
    r"(?:an?\s+)?(?:[\w'’-]+\s+){0,3}\Z",
    re.IGNORECASE,
)
_DEFINITE = re.compile(
    r"\b(?:the|each|every|any|another|our|my|their|this|that|some|no)\s+(?:[\w'’-]+\s+){0,3}\Z",
    re.IGNORECASE,
)
# "Experienced nurse." is who the applicant is, "Assisted nurse." what was done.
_NO_TITLE = re.compile(
    r"(?!(?:experienced|skilled|licensed|dedicated|accomplished|motivated|seasoned|talented|caring|"
    r"hardworking|outstanding)\Z)\w+(?:ed|ing)|when|if|while|after|before|for|to|with|from|by|of|under|once|unless|until|"
    r"led|ran|gave|made|kept|met|told|taught|drove|wrote",
    re.IGNORECASE,
)


def antecedent(text: str, cues: Cues, start: int, at: int, *, subject: bool) -> bool:
    """Whether somebody else is named between `start` of the sentence and a pronoun at `at`.

    A role with which the sentence begins ("Store manager ...") and one after as, is or became are
    the applicant's own. subject: of a pronoun in the nominative ("A teacher at heart, she ...").
    """
    near = max(start, at - _REACH)
    before = text[near:at]
    for found in third_party(cues).finditer(before):
        lead = before[: found.start()]
        if found.lastgroup == "named":
            return True
        if found.lastgroup == "pair":
            if not subject:
                return True
            continue
        if _AS.search(lead):
            continue
        if _DEFINITE.search(lead):
            return True
        if _OWN_ROLE.search(lead):
            continue
        words = lead.strip(" \"“'(-–—•*\n\t").split()
        if near == start and len(words) <= 2 and not any(map(_NO_TITLE.fullmatch, words)):
            article = bool(words) and words[0].lower() in ("a", "an")
            titled = all(w[:1].isupper() for w in words)
            if (article and subject) or (titled and not article):
                continue
        return True
    return False
