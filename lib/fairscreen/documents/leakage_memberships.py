"""Where applicants belong: organisations, teams and schools that tell a gender or a race."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Iterator

from fairscreen.documents import leakage_context as context
from fairscreen.documents.leakage_cues import Cues, Hit, any_of

_CAPITAL = r"[A-Z][\w'’&.-]*"
_PHRASE = re.compile(
    rf"{_CAPITAL}(?:\s+(?:(?:of|in|for|and|the|on|&)\s+){{0,2}}{_CAPITAL}){{0,14}}"
)
_BEFORE, _AFTER = 60, 60
_CO_ED = re.compile(
    r"\b(?:business|honors?|professional|service|co-?ed|music|engineering|law|legal|medical)\s+"
    r"fraternity",
    re.IGNORECASE,
)


def _near(pattern: re.Pattern[str], text: str, start: int, end: int) -> bool:
    """Whether words of the pattern stand around a span, in the same line."""
    before = re.split(r"\n", text[max(0, start - _BEFORE) : start])[-1]
    after = re.split(r"\n", text[end : end + _AFTER])[0]
    return bool(pattern.search(before) or pattern.search(after))


@functools.lru_cache(maxsize=8)
def _membership_patterns(cues: Cues) -> dict[str, re.Pattern[str]]:
    def words(of: Iterable[str]) -> re.Pattern[str]:
        return re.compile(rf"(?<![\w-]){any_of(of)}(?![\w-])", re.IGNORECASE)

    made = {
        "nouns": words([*cues.organisation_nouns, *(f"{n}s" for n in cues.organisation_nouns)]),
        "own": words(cues.own_membership),
        "others": words(cues.others_membership),
        "degree": words(cues.degree_words),
    }
    sport = any_of(cues.sports)
    made["sport"] = re.compile(
        r"(?<!\w)(?:wom[ae]n|m[ae]n|girl|boy|lad(?:ie|y))(?:['’]s|s['’]?)?\s+"
        rf"(?:(?:varsity|college|club)\s+)?{sport}"
        r"(?:\s+team)?(?!\w)",
        re.IGNORECASE,
    )
    for attribute, group in cues.groups.items():
        made[f"group_{attribute}"] = words(group)
        named = re.compile(rf"(?<![\w-]){any_of(cues.named_groups[attribute])}(?![\w-])")
        made[f"named_{attribute}"] = named
        school = re.compile(rf"(?<![\w-]){any_of(cues.schools[attribute])}(?![\w-])", re.IGNORECASE)
        made[f"school_{attribute}"] = school
    return made


def memberships(text: str, cues: Cues) -> Iterator[Hit]:
    """Organisations, teams and schools of a gender or a race to which the applicant belongs."""
    made = _membership_patterns(cues)
    found = context.sentences(text)
    seen: list[tuple[int, int, str]] = []

    def hit(start: int, end: int, attribute: str) -> Iterator[Hit]:
        if any(a < end and start < b and kind == attribute for a, b, kind in seen):
            return
        before = text[max(0, start - _BEFORE) : start]
        # Since the last full stop: what a sentence before says is of something else.
        before = re.split(r"[.\n]\s", before)[-1]
        after = text[end : end + 25]
        if made["others"].search(before) or re.match(
            r"\s*(?:conferences?|convention|celebration|cookies|ads|market)\b", after, re.IGNORECASE
        ):
            return
        sentence = found[context.sentence_at(found, start)]
        whole = context.begins_clause(text, sentence, start) and re.match(
            r"\s*(?:[,;.(|–—-]|\Z|\n|\d)", after
        )
        if whole or _near(made["own"], text, start, end):
            seen.append((start, end, attribute))
            yield Hit(start, end, "membership", attribute, text[start:end])

    for attribute in cues.groups:
        for match in made[f"named_{attribute}"].finditer(text):
            yield from hit(match.start(), match.end(), attribute)
        for match in _PHRASE.finditer(text):
            for start, said in _segments(match.group()):
                group = made[f"group_{attribute}"].search(said)
                noun = made["nouns"].search(said)
                alone = group and noun and group.span() == noun.span() and " " not in said
                if group and noun and not alone and not _CO_ED.search(said):
                    at = match.start() + start
                    yield from hit(at, at + len(said), attribute)
        for match in made[f"school_{attribute}"].finditer(text):
            if _near(made["degree"], text, match.start(), match.end()) and not re.match(
                r"\s+(?:hospital|medical center|press)\b", text[match.end() :], re.IGNORECASE
            ):
                yield Hit(match.start(), match.end(), "membership", attribute, match.group())
    for match in made["sport"].finditer(text):
        yield from hit(match.start(), match.end(), "gender")


_ROLES = re.compile(
    r"(?:^|\s)(?:(?:Active|Proud|Lifetime|Current|Board|Executive|Chapter|Founding|Vice)\s+)*"
    r"(?:Members?|President|Treasurer|Secretary|Chair|Officer|Volunteer|Fellow|Sister|Brother|"
    r"Networking|Chapter|Activities|Organizations?|Affiliations?|Memberships?|Position|Skills|"
    r"Experience|Education|Languages|Involved)[-.,]?"
    r"(?:\s+(?:of|in|for|the|at|and)(?=\s))*(?=\s|$)"
)


def _segments(said: str) -> Iterator[tuple[int, str]]:
    """Parts of a run of capitalised words: a role or a heading ends one name and begins another."""
    at = 0
    for role in [*_ROLES.finditer(said), None]:
        end = role.start() if role else len(said)
        part = said[at:end]
        first = at + len(part) - len(part.lstrip())
        part = part.strip().rstrip(".,&")
        if part:
            yield first, part
        if role:
            at = role.end()
