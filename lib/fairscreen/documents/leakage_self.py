"""How applicants describe themselves: young man, mother of two, African American woman."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator

from fairscreen.documents import leakage_context as context
from fairscreen.documents.leakage_cues import Cues, Hit, any_of

_ARTICLE = r"(?:(?:an?|the)\s+)?"
_REACH = 120  # characters around a noun that may belong to a self-description
_COUNT = r"(?:one|two|three|four|five|six|\d)"


@functools.lru_cache(maxsize=8)
def _self_patterns(cues: Cues) -> tuple[re.Pattern[str], ...]:
    traits, race = any_of(cues.traits), any_of(cues.race_words)
    nouns, jobs = any_of(cues.self_nouns), any_of(cues.gendered_jobs)
    stop = rf"(?![\w'’])(?!-\w)(?!\s+{any_of(cues.not_after_noun)}\b)"
    trait = rf"{traits}(?:\s*,\s*|\s+(?:and\s+)?)"
    of_children = rf"(?:\s+(?:of|to)\s+{_COUNT}\b)?"
    who = rf"(?:{nouns}|{jobs}){stop}{of_children}"
    race_noun = rf"(?:{any_of(w for w in cues.race_words if ' ' in w or '-' in w)}|latin[oa])"
    anything = r"(?:[\w-]+(?:,\s*|\s+(?:and\s+)?)){0,5}?"
    lead = r"\bI(?:['’]m|\s+am|\s+was)\s+(?:an?|the|still\s+an?)\s+"
    clause = rf"(?P<clause>{_ARTICLE})"
    at_home = rf"stay[- ]at[- ]home\s+(?:mom|dad|mother|father|mum)\b(?:\s+of\s+{_COUNT}\b)?"
    job = any_of(cues.self_jobs)
    patterns = (
        # I am a hard-working young man; I am a first-generation Mexican American
        rf"{lead}(?P<hit>{anything}(?:{who}|{race_noun}{stop}))",
        # as a Black man, as a mother of three, as a waitress
        rf"\bas\s+an?\s+(?P<hit>(?:{trait})*{who})",
        # where a clause begins: Hard-working young man ..., Single mother of two, Waitress
        rf"{clause}(?P<hit>(?:{trait})+{who})",
        rf"{clause}(?P<hit>(?:{trait})*{jobs}{stop})",
        rf"(?P<clause>)(?P<hit>(?:mother|father|mom|dad)\s+(?:of|to)\s+{_COUNT}\b)",
        # Male nurse ..., Female, 35
        rf"{clause}(?P<hit>(?:{trait})*(?:male|female))(?=\s+{job}\b|\s*,\s*\d\d\b)",
        rf"(?P<hit>\b{at_home})",
        rf"{clause}(?P<hit>{race}\s+(?:professional|{job})){stop}",
    )
    return tuple(re.compile(p, re.IGNORECASE) for p in patterns)


_NOT_SELF = re.compile(
    r"\b(?:to|for|with|helped|assisted|mentored|taught|supported|of|interviewed)\s+"
    r"(?:an?\s+|the\s+)?\Z",
    re.IGNORECASE,
)


def self_descriptions(text: str, cues: Cues) -> Iterator[Hit]:
    """Young man, mother of two, African American woman: said of oneself.

    Where race words are among them, these are a second hit, of race.
    """
    found = context.sentences(text)
    race = re.compile(rf"(?<!\w){any_of(cues.race_words)}(?!\w)", re.IGNORECASE)
    seen: list[tuple[int, int]] = []
    near = _windows(text, cues)
    matches = (m for p in _self_patterns(cues) for lo, hi in near for m in p.finditer(text, lo, hi))
    for match in matches:
        start, end = match.span("hit")
        said = match.group("hit")
        if any(a < end and start < b for a, b in seen):
            continue
        if start and (text[start - 1].isalnum() or text[start - 1] in "-'’"):
            continue
        if "clause" in match.re.groupindex:
            sentence = found[context.sentence_at(found, start)]
            if not context.begins_clause(text, sentence, match.start("clause")):
                continue
        if _NOT_SELF.search(text[max(0, match.start() - 30) : match.start()]):
            continue
        named = said.istitle() and re.match(r"\s+[A-Z]", text[end:])
        if named and (" " not in said or not _gendered(said, cues)):
            continue  # a brand, an organisation: Hostess Brands, Hispanic Student Association
        seen.append((start, end))
        noun, of_race = _gendered(said, cues), race.search(said)
        if noun:
            yield Hit(start, end, "self_description", "gender", said)
        if of_race:
            a, b = (start + of_race.start(), start + of_race.end()) if noun else (start, end)
            yield Hit(a, b, "self_description", "race", text[a:b])


def _windows(text: str, cues: Cues) -> list[tuple[int, int]]:
    """Where a noun of a self-description stands, with what may belong to it: the patterns are slow,
    and most resumes hold no such word at all."""
    found: list[tuple[int, int]] = []
    for noun in _nouns(cues).finditer(text):
        low, high = max(0, noun.start() - _REACH), min(len(text), noun.end() + _REACH)
        if found and low <= found[-1][1]:
            found[-1] = (found[-1][0], high)
        else:
            found.append((low, high))
    return found


@functools.lru_cache(maxsize=8)
def _nouns(cues: Cues) -> re.Pattern[str]:
    every = any_of([*cues.self_nouns, *cues.gendered_jobs, *cues.race_words])
    return re.compile(rf"(?<!\w){every}(?!\w)", re.IGNORECASE)


def _gendered(said: str, cues: Cues) -> bool:
    words = any_of([*cues.self_nouns, *cues.gendered_jobs])
    return bool(re.search(rf"(?<!\w){words}(?!\w)|latin[oa](?!\w)", said, re.IGNORECASE))
