"""What a reader must be told about the names of an audit."""

from __future__ import annotations

from collections.abc import Sequence

from fairscreen.documents.name_pools import NamePools
from fairscreen.documents.name_signals import NONE, Name
from fairscreen.settings.callback_names import CallbackNames

FEW_SURNAMES = 20
_MOST_NAMED = 12  # names of one kind that a note names; table name_signals has all


def of_names(names: Sequence[Name], settings: CallbackNames) -> list[str]:
    """Weak names by group, names that are not used, and what cannot be checked."""
    notes = []
    if settings.source == "list":
        notes.append(
            "The race that a first name tells is not checked: the SSA tells no race, and the "
            "Census Bureau's shares by race are of surnames. It is as the lists say."
        )
    for kind, group in sorted({(n.kind, n.group) for n in names}):
        mine = [n for n in names if (n.kind, n.group) == (kind, group)]
        if weak := [n for n in mine if n.weak(settings.weak_below)]:
            told = group[1] if kind == "first" else group[0]
            who = f"births are {told}" if kind == "first" else f"bearers are {told}"
            done = "left out" if settings.drop_weak else "used all the same (names.drop_weak)"
            notes.append(
                f"Weak {_what(kind, group)}, less than {settings.weak_below:.0%} of whose {who}: "
                f"{_named(weak, share=True)}; {done}."
            )
        edge = [
            n for n in mine
            if n.signal.low is not None and n.signal.high is not None and n.signal.share is not None
            and n.signal.low < settings.weak_below <= n.signal.high
            and n.signal.low < n.signal.high
        ]  # fmt: skip
        if edge:
            notes.append(
                f"What privacy keeps from the file may decide whether {_what(kind, group)} are "
                f"weak: {_named(edge)}."
            )
        if unknown := [n for n in mine if n.signal.share is None]:
            notes.append(f"Not checked, {_what(kind, group)}: {_named(unknown)}.")
    if two := [n for n in names if any(r.startswith("two_groups") for r in n.reasons)]:
        once = list({n.name: n for n in two}.values())
        notes.append(f"Listed for two groups, so they tell none and are left out: {_named(once)}.")
    return notes


def of_pool(
    taken: Sequence[Name],
    typical: int,
    settings: CallbackNames,
    *,
    everybody: float | None = None,
) -> str:
    """Who bears the names that the SSA or the Census gives.

    typical: how many there are in all; everybody: people of the race.
    """
    if not taken:
        return f"No name is typical at {settings.typicality:g}."
    kind, group = taken[0].kind, taken[0].group
    limit = f", the most frequent of {typical:,}" if len(taken) < typical else ""
    said = (
        f"{len(taken):,} {_what(kind, group)} at typicality {settings.typicality:g}{limit}; first "
        f"{', '.join(n.name for n in taken[:3])}"
    )
    if everybody:
        of_race = sum((n.signal.share or 0) * (n.signal.bearers or 0) for n in taken)
        said += f". They are borne by {of_race / everybody:.1%} of the people of this race"
    elif kind == "first":
        said += ". They tell no race: every race draws from them, the surname alone tells it"
    return said + "."


def of_surname_pools(pools: NamePools) -> list[str]:
    """Surnames are a small sample of their own."""
    few = [
        f"{race} {len(found.names)}"
        for race, found in sorted(pools.surnames.items())
        if len(found.names) < FEW_SURNAMES
    ]
    if not few:
        return []
    how = (
        "which clusters by first names" if pools.surname_of == "pair"
        else "which takes full names that share a surname for independent"
    )  # fmt: skip
    return [
        f"Few surnames ({', '.join(few)}): they are a sample too, and a small one, beyond the "
        f"headline interval, {how}."
    ]


def _what(kind: str, group: tuple[str, str]) -> str:
    plural = {"first": "first names", "surname": "surnames"}[kind]
    return " ".join([*(part for part in group if part != NONE), plural])


def _named(names: Sequence[Name], *, share: bool = False) -> str:
    shown = [
        f"{n.name} ({n.signal.share:.1%})" if share and n.signal.share is not None else n.name
        for n in names[:_MOST_NAMED]
    ]
    more = len(names) - len(shown)
    return ", ".join(shown) + (f" and {more} more" if more else "")
