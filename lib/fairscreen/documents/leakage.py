"""Demographic cues left in resumes: a field, a title, a pronoun, a membership ... (`KINDS`).

Regular expressions over word lists (conf/leakage.yml) and small rules of context; no model, so that
the same text gives the same hits everywhere. What looks alike and is none ("Him/Her" in a title, Ms
Office, somebody else's team, gender dysphoria among a nurse's skills) is told by these rules:

    fields       a label, a separator and a value of the label's list; choices of a form are none
    titles       with a name, at the beginning of a clause, not of references or thanks
    pronouns     unless somebody else in the singular stands before them (`leakage_people`)
    self         "young man", "mother of two": after I am, as a, or where a clause begins
    memberships  organisations, teams and schools with words of belonging around them
    names        in a field, at the top, or after "my name is"

How often that is right is measured: tests/bench/leakage.txt.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from fairscreen.documents import (
    leakage_details,
    leakage_memberships,
    leakage_names,
    leakage_people,
    leakage_self,
)
from fairscreen.documents.leakage_cues import Cues, Hit, field_patterns, load_cues

KINDS = (
    "gender_field", "race_field", "title", "pronoun", "self_description", "membership", "name",
    "birth_date", "age", "marital_status", "nationality", "religion", "photo", "appearance",
    "parental_leave",
)  # fmt: skip


def find_hits(
    text: str, *, cues: Cues | None = None, kinds: tuple[str, ...] = KINDS
) -> tuple[Hit, ...]:
    """Every cue of a text in its order. Hits of one kind and attribute do not overlap.

    cues: None = conf/leakage.yml. Offsets count characters.
    """
    words = load_cues() if cues is None else cues
    found = [hit for finder in _FINDERS for hit in finder(text, words)]
    return _distinct([h for h in found if h.kind in kinds])


def _distinct(hits: list[Hit]) -> tuple[Hit, ...]:
    """Of hits of one kind and attribute that overlap, the longest."""
    kept: list[Hit] = []
    for hit in sorted(hits, key=lambda h: (-(h.end - h.start), h)):
        alike = (k for k in kept if (k.kind, k.attribute) == (hit.kind, hit.attribute))
        if not any(k.start < hit.end and hit.start < k.end for k in alike):
            kept.append(hit)
    return tuple(sorted(kept))


def _fields(text: str, cues: Cues) -> Iterator[Hit]:
    for field in field_patterns(cues):
        for match in field.pattern.finditer(text):
            yield Hit(match.start(), match.end(), field.kind, field.attribute, match.group())


def _people(text: str, cues: Cues) -> Iterator[Hit]:
    own = tuple(leakage_people.titles(text, cues))
    yield from own
    yield from leakage_people.declared(text)
    yield from leakage_people.pronouns(text, cues, own)


_FINDERS: tuple[Callable[[str, Cues], Iterator[Hit]], ...] = (
    _fields, _people, leakage_self.self_descriptions, leakage_memberships.memberships,
    leakage_names.names, leakage_details.details, leakage_details.nations, leakage_details.leaves,
)  # fmt: skip
