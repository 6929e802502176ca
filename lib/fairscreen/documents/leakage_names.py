"""What applicants are called: in a field, at the top of the text, or said."""

from __future__ import annotations

import re
from collections.abc import Iterator

from fairscreen.documents.leakage_cues import Cues, Hit, first_names

_NAME_WORD = (
    r"(?:[A-ZÀ-Þ][a-zà-ÿ]+(?:['’-][A-ZÀ-Þ]?[a-zà-ÿ]+)*|[A-ZÀ-Þ]['’][A-ZÀ-Þ][a-zà-ÿ]+"
    r"|Ma?c[A-Z][a-z]+|[A-Z]\.)"
)
_UPPER_WORD = r"(?:[A-ZÀ-Þ]{2,}(?:['’-][A-ZÀ-Þ]{2,})*|[A-Z]['’][A-ZÀ-Þ]{2,}|[A-Z]\.)"


def _name(least: int, most: int) -> str:
    """So many more words after the first, all written alike."""
    more = f"{{{least},{most}}}"
    return rf"(?:{_NAME_WORD}(?:\s+{_NAME_WORD}){more}|{_UPPER_WORD}(?:\s+{_UPPER_WORD}){more})"


_LABELLED = re.compile(
    r"(?<![\w-])(?<!\w )(?P<label>(?i:(?:(?:full|first|last|candidate|applicant)(?:['’]s)?\s+)?"
    rf"name)\s*[:：]\s*)(?P<value>{_name(0, 3)})(?![\w'’])"
)
_HEADER = re.compile(rf"\s*(?P<hit>{_name(1, 3)})(?=\s*(?:\n|\Z|\d|\(|/|\||,|•|[-–—]\s|[\w.+-]+@))")
_SAID_NAME = re.compile(
    rf"(?:(?i:\bmy\s+name\s+is)\s+(?P<hit>{_NAME_WORD}(?:\s+{_NAME_WORD}){{0,3}})"
    rf"|\bI,\s+(?P<i>{_NAME_WORD}(?:\s+{_NAME_WORD}){{1,3}})(?=,?\s+[a-z]))"
)
_HEADINGS = frozenset({
    "position", "address", "phone", "mobile", "telephone", "date", "email", "e-mail", "gender",
    "sex", "age", "dob", "nationality", "contact", "location", "role", "title", "surname",
})  # fmt: skip


def names(text: str, cues: Cues) -> Iterator[Hit]:
    """The applicant's name: in a field, at the top of the text, or said."""
    things = {w.lower().rstrip(".") for w in cues.organisation_words}
    known = first_names()
    for match in _LABELLED.finditer(text):
        label = match.group("label").strip(" :：").lower()
        parts = list(re.finditer(r"\S+", match.group("value")))
        # In running text the next field follows: "Name: Emily Walsh Address: ...".
        stop = next((i for i, w in enumerate(parts) if w.group().lower() in _HEADINGS), len(parts))
        parts = parts[:stop]
        if not parts or any(w.group().lower().rstrip(".") in things for w in parts):
            continue
        if label == "name" and parts[0].group().lower() not in known:
            continue
        end = match.start("value") + parts[-1].end()
        yield Hit(match.start(), end, "name", "gender", text[match.start() : end])
    for match in _SAID_NAME.finditer(text):
        group = "hit" if match.group("hit") else "i"
        if group == "hit" or match.group("i").split()[0].lower() in known:
            yield Hit(*match.span(group), "name", "gender", match.group(group))
    header = _HEADER.match(text)
    if header:
        words = [w.lower().strip(".,") for w in header.group("hit").split()]
        if words[0] in known and not any(w in things for w in words):
            yield Hit(*header.span("hit"), "name", "gender", header.group("hit"))
