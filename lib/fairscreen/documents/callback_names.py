"""Names of paired callbacks: which may be borne, for which group, and what they tell of it.

First names are drawn uniformly, as published; surnames of lists too, those of the Census in
proportion to their bearers of the race. A name that stands for two groups tells none and is left
out. Pure functions of small tables.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from fairscreen import spelling
from fairscreen.documents import name_balance, name_notes, name_signals
from fairscreen.documents.name_pools import NamePools, Surnames
from fairscreen.documents.name_signals import NONE, Name, Signal
from fairscreen.errors import ConfigError
from fairscreen.population.naming import SURNAME_RACES, published
from fairscreen.settings.callback_names import CallbackNames
from fairscreen.settings.pairs import Contrast

Group = tuple[str, str]  # race, gender
LEAST = 2  # names of a group: a placebo pair needs two


@dataclass(frozen=True)
class NameTables:
    """first, surnames: rows of correspondence_name of each kind (name, race, gender, source,
    mother_education, cohort), empty where no list is named; births: name, female, male,
    hidden_female, hidden_male in names.birth_years; census: name, bearers, pct_*."""

    first: pd.DataFrame
    surnames: pd.DataFrame
    births: pd.DataFrame
    census: pd.DataFrame


@dataclass(frozen=True)
class Checked:
    """pools: to draw from; signals: rows of table name_signals without audit_id; notes: sentences
    for readers."""

    pools: NamePools
    signals: list[dict[str, object]]
    notes: list[str]


def groups(contrasts: Iterable[Contrast]) -> tuple[Group, ...]:
    """Race and gender of every arm that profiles can be in, sorted."""
    found = set()
    for contrast in contrasts:
        shared: list[dict[str, str]] = [{}]
        for factor, values in {**contrast.draw, **contrast.each}.items():
            shared = [one | {str(factor): value} for one in shared for value in values]
        for one in shared:
            for side in (contrast.favored, contrast.other):
                whole = one | {str(factor): value for factor, value in side.items()}
                found.add((whole["race"], whole["gender"]))
    return tuple(sorted(found))


def require_groups(
    first: pd.DataFrame, surnames: pd.DataFrame, settings: CallbackNames, wanted: Sequence[Group]
) -> None:
    """ConfigError where lists lack a source or group that is asked for."""
    if settings.source == "list":
        mine = of_sources(first, settings.sources)
        there = sorted(set(zip(mine["race"], mine["gender"], strict=True)))
        for group in wanted:
            if group not in there:
                raise ConfigError(
                    "names.first",
                    f"no first name of {' '.join(group)} in the lists; they have "
                    f"{', '.join(' '.join(g) for g in there)}",
                    "Name a list that has it, or change contrasts.",
                )
    for race in sorted({race for race, _ in wanted}):
        if not _lists_surnames(settings):
            name_signals.required_census_race(race)
        elif race not in set(surnames["race"]):
            raise ConfigError(
                "names.surnames",
                f"no surname of {race} in the lists; they have "
                f"{', '.join(sorted(set(surnames['race'])))}",
                "Name a list that has it, or set names.surnames: [] for the Census Bureau's.",
            )


def of_sources(first: pd.DataFrame, sources: Sequence[str] | None) -> pd.DataFrame:
    """The rows of these studies; ConfigError naming one that no list has."""
    if sources is None:
        return first
    there = sorted(set(first["source"].dropna()))
    for source in sources:
        if source not in there:
            raise ConfigError(
                "names.sources",
                f"no list has names of {source!r}; they have {', '.join(there) or 'no source'}",
                "Correct the setting; it is the text of the lists' column source.",
            )
    return first[first["source"].isin(sources)]


def choose(tables: NameTables, settings: CallbackNames, wanted: Sequence[Group]) -> Checked:
    """Pools, signals and notes for the groups (race, gender) that profiles are of.

    Raises ConfigError: a source or group that no list has, a race that the Census lacks where it
    gives the surnames, no column to balance by, fewer than two first names of a group or no surname
    of a race left.
    """
    require_groups(tables.first, tables.surnames, settings, wanted)
    races = sorted({race for race, _ in wanted})
    listed = settings.source == "list"
    notes: list[str] = []
    if listed:
        first = _listed_first(tables, settings, wanted)
    else:
        first, told = _population_first(tables.births, settings, sorted({g for _, g in wanted}))
        notes += told
    if _lists_surnames(settings):
        last, weights = _listed_surnames(tables, races), None
    else:
        last, weights, told = _census_surnames(tables.census, settings, races)
        notes += told
    first, last = (_without_weak(names, settings) for names in (first, last))
    if settings.balance is not None:
        first, told = name_balance.balanced(first, settings.balance, settings.caliper)
        notes += told
    notes = name_notes.of_names([*first, *last], settings) + notes
    pools = NamePools(
        first={group: _pool(first, group if listed else (NONE, group[1])) for group in wanted},
        surnames={race: _surnames(last, race, weights) for race in races},
        surname_of=settings.surname_of,
    )
    notes += name_notes.of_surname_pools(pools)
    rows = [name_signals.row(name, settings.weak_below) for name in [*first, *last]]
    return Checked(pools, rows, notes)


def _lists_surnames(settings: CallbackNames) -> bool:
    return settings.source == "list" and bool(settings.surnames)


# --- from lists


def _listed_first(
    tables: NameTables, settings: CallbackNames, wanted: Sequence[Group]
) -> list[Name]:
    names = _merged(of_sources(tables.first, settings.sources), "first")
    names = [name for name in names if name.group in wanted]
    keys = [name_signals.key(name.name) for name in names]
    counts = name_signals.by_key(tables.births)
    counts = counts[counts.index.isin(keys)]
    known = {
        gender: dict(zip(counts.index, name_signals.gender_signals(counts, gender), strict=True))
        for gender in {name.gender for name in names}
    }
    missing = Signal(reason=name_signals.NOT_IN_SSA)
    return [
        replace(name, signal=known[name.gender].get(key, missing))
        for name, key in zip(names, keys, strict=True)
    ]


def _listed_surnames(tables: NameTables, races: Sequence[str]) -> list[Name]:
    names = [n for n in _merged(tables.surnames, "surname") if n.race in races]
    keys = [name_signals.key(n.name) for n in names]
    known = name_signals.race_signals(tables.census, races, keys)
    return [
        replace(name, signal=known[name.race, key]) for name, key in zip(names, keys, strict=True)
    ]


def _merged(rows: pd.DataFrame, kind: Literal["first", "surname"]) -> list[Name]:
    """One name per group, whatever number of sources lists it; one of two groups is not used."""
    together: dict[tuple[str, str, str], list[dict[str, Any]]] = {}
    stands_for: dict[str, set[Group]] = {}
    for row in rows.to_dict("records"):
        name, race = spelling.printed(str(row["name"])), str(row["race"])
        gender = str(row["gender"]) if kind == "first" else NONE
        together.setdefault((race, gender, name), []).append({str(k): v for k, v in row.items()})
        stands_for.setdefault(name_signals.key(name), set()).add((race, gender))
    found = []
    for (race, gender, name), same in sorted(together.items()):
        stands = sorted(stands_for[name_signals.key(name)])
        others = [" ".join(g).removesuffix(f" {NONE}") for g in stands if g != (race, gender)]
        sources = sorted({str(r["source"]) for r in same if not pd.isna(r["source"])})
        found.append(
            Name(
                kind=kind, race=race, gender=gender, name=name,
                source="; ".join(sources) or None,
                mother_education=_agreed([r["mother_education"] for r in same]),
                cohort=_agreed([r["cohort"] for r in same]),
                reasons=(f"two_groups: listed for {', '.join(others)} too",) if others else (),
            )
        )  # fmt: skip
    return found


def _agreed(values: Sequence[Any]) -> float | None:
    """What all sources that tell it say; None where they differ, for they may differ in unit."""
    told = {float(v) for v in values if not pd.isna(v)}
    return told.pop() if len(told) == 1 else None


# --- from the SSA and the Census


def _population_first(
    births: pd.DataFrame, settings: CallbackNames, genders: Sequence[str]
) -> tuple[list[Name], list[str]]:
    """The most frequent names that are typical of each gender; they stand for no race."""
    counts = name_signals.by_key(births)
    born = (counts["female"] + counts["male"]).to_numpy(dtype=np.float64)
    found: list[Name] = []
    notes = []
    for gender in genders:
        mine = counts[gender].to_numpy(dtype=np.float64)
        typical = np.flatnonzero(mine / born >= settings.typicality)
        rows = counts.iloc[_most_frequent(typical, mine, settings.per_group)]
        taken = [
            Name("first", NONE, gender, spelling.printed(str(name)), "SSA", signal)
            for name, signal in zip(
                rows["name"], name_signals.gender_signals(rows, gender), strict=True
            )
        ]
        found += taken
        notes.append(name_notes.of_pool(taken, len(typical), settings))
    return found, notes


def _census_surnames(
    census: pd.DataFrame, settings: CallbackNames, races: Sequence[str]
) -> tuple[list[Name], dict[tuple[str, str], int], list[str]]:
    """The most frequent surnames that are typical of each race, and their bearers of that race.

    A suppressed share is never typical: what the Bureau suppresses is 17.5% of a name's bearers at
    most (conf/data/README.md).
    """
    rows, pct = published(census)
    names, bearers = rows["name"].tolist(), rows["bearers"].to_numpy(dtype=np.float64)
    found: list[Name] = []
    weights: dict[tuple[str, str], int] = {}
    notes = []
    for race in races:
        column = SURNAME_RACES.index(name_signals.required_census_race(race))
        share = pct[:, column] / 100
        of_race = bearers * share
        typical = np.flatnonzero(share >= settings.typicality)  # NaN is not
        taken = []
        for i in _most_frequent(typical, of_race, settings.per_group):
            told, name = float(share[i]), spelling.printed(str(names[i]))
            signal = Signal(share=told, low=told, high=told, bearers=int(bearers[i]))
            taken.append(Name("surname", race, NONE, name, "Census", signal))
            weights[race, name] = max(1, round(of_race[i]))
        found += taken
        everybody = float(np.nansum(of_race))
        notes.append(name_notes.of_pool(taken, len(typical), settings, everybody=everybody))
    return found, weights, notes


def _most_frequent(
    typical: NDArray[np.intp], people: NDArray[np.float64], most: int | None
) -> NDArray[np.intp]:
    """Of the indices `typical` into `people` (alphabetical) those of the most people, `most` of
    them; of equals the first."""
    return typical[np.argsort(-people[typical], kind="stable")][:most]


# --- for both


def _without_weak(names: Sequence[Name], settings: CallbackNames) -> list[Name]:
    if not settings.drop_weak:
        return list(names)
    reason = f"weak: its share is below {settings.weak_below:g}"
    return [
        replace(n, reasons=(*n.reasons, reason)) if n.weak(settings.weak_below) else n
        for n in names
    ]


def _pool(names: Sequence[Name], group: Group) -> tuple[str, ...]:
    mine = [n for n in names if n.group == group]
    used = sorted(n.name for n in mine if n.used)
    if len(used) < LEAST:
        raise ConfigError(
            "names.typicality" if group[0] == NONE else "names.first",
            _left("first name", group, mine),
            f"A group needs {LEAST} first names: give more, or loosen what leaves them out "
            "(names.drop_weak, balance, caliper, typicality).",
        )  # fmt: skip
    return tuple(used)


def _surnames(
    names: Sequence[Name], race: str, weights: dict[tuple[str, str], int] | None
) -> Surnames:
    mine = [n for n in names if n.race == race]
    used = sorted(n.name for n in mine if n.used)
    if not used:
        raise ConfigError(
            "names.surnames" if weights is None else "names.typicality",
            _left("surname", (race, NONE), mine),
            "Give surnames of this race, or loosen what leaves them out (names.drop_weak, "
            "typicality).",
        )  # fmt: skip
    return Surnames(
        tuple(used), tuple(1 if weights is None else weights[race, name] for name in used)
    )


def _left(what: str, group: Group, names: Sequence[Name]) -> str:
    """For instance `1 first name of black female is left of 9 (weak: 2, unmatched_class: 6)`."""
    why = Counter(n.reasons[0].split(":")[0] for n in names if n.reasons)
    left = len(names) - sum(why.values())
    of = " ".join(part for part in group if part != NONE)
    told = ", ".join(f"{reason}: {n}" for reason, n in sorted(why.items()))
    return f"{left} {what}(s) of {of} left of {len(names)}" + (f" ({told})" if told else "")
