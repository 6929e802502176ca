"""What an audit does about cues: keep the text, flag it, exclude the resume, or neutralise it."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from fairscreen.documents import neutral_grammar
from fairscreen.documents.leakage import KINDS, find_hits
from fairscreen.documents.leakage_cues import Cues, Hit, any_of, load_cues

Policy = Literal["keep", "flag", "exclude", "neutralise"]
POLICIES: tuple[Policy, ...] = ("keep", "flag", "exclude", "neutralise")
_ROUNDS = 4


@dataclass(frozen=True)
class Treated:
    """A text after a policy.

    text      what is sent; None = the resume is excluded
    hits      cues of the text as it came, of the kinds asked for
    flagged   whether there are any (an audit reports its effects with and without these resumes)
    changed   whether `text` is another one
    """

    text: str | None
    hits: tuple[Hit, ...]
    flagged: bool
    changed: bool


def treat(
    text: str, policy: Policy, *, kinds: tuple[str, ...] = KINDS, cues: Cues | None = None
) -> Treated:
    """A policy applied to one text.

    keep        as it came; flagged all the same, so that effects can be told apart later
    flag        the same: its flagged resumes are reported apart
    exclude     a text with a cue is not sent
    neutralise  cues go or are reworded (`neutralise`)
    """
    hits = find_hits(text, cues=cues, kinds=kinds)
    if policy == "exclude" and hits:
        return Treated(None, hits, True, True)
    new = neutralise(text, kinds=kinds, cues=cues) if policy == "neutralise" and hits else text
    return Treated(new, hits, bool(hits), new != text)


def neutralise(text: str, *, kinds: tuple[str, ...] = KINDS, cues: Cues | None = None) -> str:
    """The text without cues of these kinds, in sentences that stay grammatical.

    Pronouns become they, them, their, theirs, themselves, with their verbs; titles go and the name
    stays; nouns lose their gender ("young man": "young person"), race words go; memberships become
    "a professional association" and the like; names become [name]; fields go whole.
    Neutralising twice changes nothing more, and no hit of these kinds is left. A text without any
    comes back as it is.
    """
    words = load_cues() if cues is None else cues
    for _ in range(_ROUNDS):
        hits = find_hits(text, cues=words, kinds=kinds)
        if not hits:
            return text
        text = _reworded(text, hits, words)
    # What rewording did not settle goes: every cut shortens the text, so this ends.
    while hits := find_hits(text, cues=words, kinds=kinds):
        text = _cut(text, hits[0].start, hits[0].end)
    return text


def _reworded(text: str, hits: tuple[Hit, ...], cues: Cues) -> str:
    pronouns = tuple(h for h in hits if h.kind == "pronoun")
    changes = neutral_grammar.replacements(text, pronouns, cues)
    worded = {start for start, _, _ in changes}
    for hit in hits:
        if hit.kind == "pronoun" and hit.start in worded:
            continue
        made = _REWORDED.get(hit.kind)
        changes.append((*_span(text, hit), made(text, hit, cues) if made else ""))
    # From the end, so that places before stay right; of what overlaps, what begins first.
    kept: list[tuple[int, int, str]] = []
    for change in sorted(set(changes), key=lambda c: (c[0], -c[1])):
        if not kept or change[0] >= kept[-1][1]:
            kept.append(change)
    for start, end, new in reversed(kept):
        text = _put(text, start, end, new) if new else _cut(text, start, end)
    return text


_WITH_PHOTO = re.compile(r"\s*\b(?:with|see)(?:\s+an?)?\s+\Z", re.IGNORECASE)
_I_AM = re.compile(r"\bI(?:['’]m|\s+am)\s+\Z", re.IGNORECASE)


def _span(text: str, hit: Hit) -> tuple[int, int]:
    """What goes with a hit: "with" before a photo, "I am ... and" around an age."""
    before, after = text[: hit.start], text[hit.end :]
    if hit.kind == "photo" and (found := _WITH_PHOTO.search(before)):
        return found.start(), hit.end
    if hit.kind in ("age", "marital_status") and (found := _I_AM.search(before)):
        if joined := re.match(r"\s+and\s+(?=\w)", after):
            return hit.start, hit.end + joined.end()
        if _stops(after):
            return found.start(), hit.end
    if hit.kind == "birth_date" and (found := _I_WAS.search(before)) and _stops(after):
        return found.start(), hit.end
    return hit.start, hit.end


def _stops(after: str) -> bool:
    return bool(re.match(r"\s*(?:[.,;!]|\Z)", after))


def _put(text: str, start: int, end: int, new: str) -> str:
    """The text with another wording of a span: a or an before it, no second article."""
    before, after = text[:start], text[end:]
    article = re.search(r"\b(an?|the)(\s+)\Z", before, re.IGNORECASE)
    if article:
        new = re.sub(r"\A(?:an?)\s+", "", new)
        if article.group(1).lower() != "the":
            one = "an" if _VOWEL.match(new) else "a"
            one = one.capitalize() if article.group(1)[0].isupper() else one
            before = before[: article.start()] + one + article.group(2)
    elif (not before.strip() or before.rstrip()[-1] in ".!?\n") and text[start].isupper():
        new = new[0].upper() + new[1:]
    return before + new + after


_VOWEL = re.compile(r"(?!uni|us[ei]|eu|one\b)(?:[aeiou]|hon|hour|heir)", re.IGNORECASE)


def _title(text: str, hit: Hit, cues: Cues) -> str:
    return re.sub(rf"\A{any_of(cues.titles)}\.?\s+", "", hit.text, flags=re.IGNORECASE)


def _person(text: str, hit: Hit, cues: Cues) -> str:
    race = rf"(?<!\w){any_of(cues.race_words)}(?!\w)[\s,-]*"
    said = re.sub(race, "", hit.text, flags=re.IGNORECASE).strip()
    neutral = {**cues.self_nouns, **cues.gendered_jobs}
    named = any_of(w for w in cues.self_jobs if w not in ("seeking", "looking"))
    if re.match(rf"\s+{named}\b", text[hit.end :], re.IGNORECASE):
        # "Male nurse" is a nurse.
        return re.sub(r"\s*\b(?:male|female)\Z", "", said, flags=re.IGNORECASE)

    def put(match: re.Match[str]) -> str:
        old = match.group()
        new = neutral[" ".join(old.lower().split())]
        return new[0].upper() + new[1:] if old[0].isupper() else new

    said = re.sub(rf"(?<!\w){any_of(neutral)}(?!\w)", put, said, flags=re.IGNORECASE)
    # "first-generation Mexican American": what is left asks for a noun.
    nouns = any_of([*neutral.values(), *cues.self_jobs])
    if not re.search(rf"(?<!\w){nouns}\b", said, re.IGNORECASE):
        said = f"{said} person".strip()
    return said


def _membership(text: str, hit: Hit, cues: Cues) -> str:
    """What kind of thing it is, and nothing more."""
    said = hit.text.lower()
    if sport := re.search(rf"{any_of(cues.sports)}(?:\s+team)?$", said):
        return sport.group() if "team" in sport.group() else f"{sport.group()} team"
    if re.search(r"student|sorority|fraternity|alpha|sigma|delta|kappa|omega|zeta|iota", said):
        return "a student association"
    school = any_of([*cues.schools["gender"], *cues.schools["race"]])
    if re.fullmatch(school, said, re.IGNORECASE):
        return "a university"
    return "a scouting group" if "scout" in said else "a professional association"


def _family(text: str, hit: Hit, cues: Cues) -> str:
    return "my family" if hit.text.lower().startswith("my ") else ""


_I_WAS = re.compile(r"\bI\s+was\s+\Z")


def _birth(text: str, hit: Hit, cues: Cues) -> str:
    """ "I was born on June 3, 1982 in Toledo" keeps its place."""
    told = hit.text.lower().startswith("born") and _I_WAS.search(text[: hit.start])
    return "born" if told and re.match(r"\s+in\s+[A-Z]", text[hit.end :]) else ""


def _leave(text: str, hit: Hit, cues: Cues) -> str:
    lead = re.match(r"(?:took|taking|on|my)\s+(?:a\s+)?", hit.text, re.IGNORECASE)
    new = f"{lead.group() if lead else ''}leave"
    return new[0].upper() + new[1:] if hit.text[0].isupper() else new


_REWORDED: dict[str, Callable[[str, Hit, Cues], str]] = {
    "title": _title,
    "self_description": _person,
    "membership": _membership,
    "marital_status": _family,
    "parental_leave": _leave,
    "birth_date": _birth,
    "name": lambda text, hit, cues: "[name]",
}


def _cut(text: str, start: int, end: int) -> str:
    """The text without a span, and without what divided it from its neighbours."""
    before, after = text[:start], text[end:]
    opened, closed = re.search(r"[ \t]*[(\[]\s*\Z", before), re.match(r"\s*[)\]]", after)
    if opened and closed:
        before, after = before[: opened.start()], after[closed.end() :]
    left = re.search(r"[ \t]*[,;|/][ \t]*\Z", before)
    right = re.match(r"[ \t]*[,;|/.–—-][ \t]*", after)
    begins = not before.strip() or before.rstrip()[-1] in ".!?:" or before[-1] == "\n"
    if left and (right or not after.strip() or after[0] == "\n"):
        before = before[: left.start()]
    elif right and begins:
        after = after[right.end() :]
    if re.match(r"[.,;:!?)\]]", after):
        before = before.rstrip(" \t")
    elif before and after and before[-1].isspace():
        after = after.lstrip(" \t")
    elif before and after and before[-1].isalnum() and after[0].isalnum():
        before += " "
    if not after.strip():
        return before.rstrip(" \t") + after.lstrip(" \t")
    return before + after if before.strip() else after.lstrip(" \t")
