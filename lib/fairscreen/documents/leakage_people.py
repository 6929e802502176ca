"""Titles and pronouns: of the applicant, or of somebody else?

A title is the applicant's where it begins a clause and nobody is thanked, assisted or referred to.
A pronoun is the applicant's unless somebody else in the singular stands before it in the sentence;
once the text has called the applicant he or she, later ones at the beginning of a sentence are the
applicant's again. "his or her", names of works and organisations, HIM and HER2 are nobody's.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator

from fairscreen.documents import leakage_context as context
from fairscreen.documents.leakage_cues import Cues, Hit, any_of

_FEMALE = frozenset({"she", "her", "hers", "herself"})
_PRONOUN = re.compile(
    r"(?<![\w'’/-])(?:he|she|him|her|his|hers|himself|herself)(?![\w-]|/\w)", re.IGNORECASE
)
_ANY = r"(?:he|she|him|her|his|hers|himself|herself|s/he)"
_PAIR = re.compile(
    rf"(?<!\w)(?:{_ANY}(?:\s*/\s*|\s+or\s+|\s+and/or\s+){_ANY}|\(s\)he|s/he)(?!\w)", re.IGNORECASE
)
_SETS = (
    r"(?:she|he|they|ze|xe)\s*/\s*(?:her|him|them|they|she|he|zir|hir|xem)"
    r"(?:\s*/\s*(?:hers|his|theirs|they|self))?"
)
#: Pronouns that somebody goes by: "(she/her)", "Pronouns: they/them".
_DECLARED = re.compile(rf"(?<![\w/])(?:(?:my\s+)?pronouns\s*:?\s*)?{_SETS}(?![\w/])", re.IGNORECASE)
_MIXED = re.compile(r"\b(?:she\s*/\s*(?:he|him|his)|he\s*/\s*(?:she|hers?))\b", re.IGNORECASE)
_SAYINGS = re.compile(
    r"\bhe\s+said,?\s+she\s+said\b"
    r"|\b(?:his|her)\s+(?:majesty|excellency|highness|honou?r|holiness|eminence)\b",
    re.IGNORECASE,
)
_NOT_A_NAME = re.compile(r"(?:My|Me|my|me|us|mine)\b")
_OF_SOMEBODY = re.compile(
    r"\b(?:to|with|for|by|under|of|from|and|assisted|supported|supporting|assisting|helped|contact|"
    r"supervisor|replaced|reporting|alongside)\s*:?\s*\Z",
    re.IGNORECASE,
)
_WORD_BEHIND = re.compile(r"\s*[\"”]?\s*([\w'’&.-]+)?")
_SUBJECTS = frozenset({"he", "she"})


@functools.lru_cache(maxsize=8)
def _title_pattern(cues: Cues) -> re.Pattern[str]:
    name = r"[A-Z][\w'’-]*[\w]"
    titles = any_of(cues.titles)
    upper = any_of(t.upper() for t in cues.titles if t.lower() not in ("miss", "mister"))
    # MS without a full stop is a degree or a company.
    return re.compile(
        rf"(?<![\w./-])(?:{titles}\.?|{upper}\.)\s+"
        rf"(?P<name>{name}(?:\s+(?:[A-Z]\.\s+)?{name}){{0,2}})"
    )


def titles(text: str, cues: Cues) -> Iterator[Hit]:
    """Titles with a name: Mr. Hernandez, Mrs. Patricia Lowell."""
    found = context.sentences(text)
    never = {w.lower() for w in cues.not_after_title}
    of_things = {w.lower().rstrip(".") for w in cues.organisation_words}
    for match in _title_pattern(cues).finditer(text):
        words = [w.lower().strip(".") for w in match.group("name").split()]
        end = match.end()
        # A verb or a heading in capitals is no part of the name.
        behind = _WORD_BEHIND.match(text, end)
        after = (behind.group(1) or "").lower().rstrip(".") if behind else ""
        thing = any(w in of_things for w in words[1:])
        if words[0] in never or thing or after in never | of_things:
            continue
        if any(w.endswith(("'s", "’s")) for w in words):
            continue
        sentence = found[context.sentence_at(found, match.start())]
        rest = text[sentence.start : sentence.end]
        if not context.begins_clause(text, sentence, match.start()):
            continue
        if _OF_SOMEBODY.search(text[sentence.start : match.start()]):
            continue
        if context.in_references(text, match.start()) or _NOT_A_NAME.search(rest):
            continue
        yield Hit(match.start(), end, "title", "gender", match.group())


def declared(text: str) -> Iterator[Hit]:
    """Pronouns that the applicant goes by."""
    for match in _DECLARED.finditer(text):
        if not _MIXED.search(match.group()):
            yield Hit(match.start(), match.end(), "pronoun", "gender", match.group())


def pronouns(text: str, cues: Cues, own_titles: tuple[Hit, ...]) -> Iterator[Hit]:
    """He, she and their forms where they mean the applicant."""
    found = context.sentences(text)
    taken = [m.span() for pattern in (_PAIR, _DECLARED, _SAYINGS) for m in pattern.finditer(text)]
    known = {_gender_of_title(hit.text): hit.start for hit in reversed(own_titles)}
    spoken: dict[int, set[bool]] = {}  # sentence -> genders by which it has called the applicant
    for hit in own_titles:
        spoken.setdefault(context.sentence_at(found, hit.start), set()).add(
            _gender_of_title(hit.text)
        )
    for match in _PRONOUN.finditer(text):
        at, word = match.start(), match.group().lower()
        if any(a <= at < b for a, b in taken) or _is_no_pronoun(text, match):
            continue
        index = context.sentence_at(found, at)
        sentence, female, subject = found[index], word in _FEMALE, word in _SUBJECTS
        start = sentence.start
        here = female in spoken.get(index, set())
        established = female in known and known[female] <= at
        if not here:
            if context.antecedent(text, cues, start, at, subject=subject):
                continue
            opening = context.begins_clause(text, sentence, at, commas=False)
            before = found[index - 1] if index else None
            if (
                before is not None
                and not established
                and (opening or not text[start:at].strip())
                and "\n" not in text[before.start : before.end]
                and context.antecedent(text, cues, before.start, before.end, subject=True)
            ):
                continue
        known.setdefault(female, at)
        spoken.setdefault(index, set()).add(female)
        yield Hit(at, match.end(), "pronoun", "gender", match.group())


def _gender_of_title(text: str) -> bool:
    """Whether a title is a woman's."""
    return text.split()[0].rstrip(".").lower() not in ("mr", "mister")


def _is_no_pronoun(text: str, match: re.Match[str]) -> bool:
    """HIM and HER in capitals, and a capital inside a sentence before another: "Her Campus"."""
    word = match.group()
    line = text[max(0, match.start() - 40) : match.end() + 40]
    letters = [c for c in line if c.isalpha()]
    capitals = sum(c.isupper() for c in letters)
    if word.isupper() and len(word) > 1 and capitals < 0.7 * len(letters):
        return True
    if word[0].isupper() and not word.isupper():
        before = text[: match.start()].rstrip()
        inside = (
            bool(before)
            and before[-1] not in '.!?:;•●|–—-\n"“(>*'
            and text[len(before) : match.start()].count("\n") == 0
        )
        return inside and bool(re.match(r"\s+[A-Z]", text[match.end() :]))
    return False
