"""Census occupation codes: the lists that surveys use, and the way from one list to another.

Lists (`conf/occupations.csv`):
    2018        ACS PUMS from 2018 on (the dictionaries of 2018 and 2023 have the same codes)
    2010        ACS PUMS of 2012 to 2017; those of 2010 and 2011 come from the same Census list
    census2010  the whole Census list of 2010, as PSID uses it
A PUMS list groups the smallest occupations of the Census list: `holds` names what a code holds
beside its own. Between 2010 and 2018 occupations were split, merged and moved; the shares in
`conf/occupation_crosswalk.yml` say where the people of a 2010 code went.

Sources: PUMS data dictionaries of 2015, 2018 and 2023; U.S. Census Bureau, Technical Paper 78
(2020), tables A2, B2, E1, F1.
"""

from __future__ import annotations

import csv
import difflib
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache

import yaml

from fairscreen import resources
from fairscreen.errors import InputError

FIRST_YEAR = 2010  # of ACS; before it, other lists were in use
PSID_LIST = "census2010"  # main job in the waves of conf/psid_crosswalk.yml
#: Back to 2010: a 2010 code stands for given 2018 codes where at least half its people have them.
MAJORITY = 0.5
#: On to 2018: a 2018 code is one of those for a 2010 code that at least this share of it has.
NOTABLE = 0.05


@dataclass(frozen=True)
class Occupation:
    """One code of one list; `group`: the Bureau's prefix, such as MED (empty in census2010)."""

    code: str
    title: str
    group: str
    holds: tuple[str, ...]  # codes of the whole Census list that it holds, its own first


@dataclass(frozen=True)
class Translation:
    """Codes of the other list. Not `exact`: `note` says what else they hold, or what they lack."""

    codes: tuple[str, ...]
    exact: bool
    note: str


@lru_cache(maxsize=1)
def lists() -> Mapping[str, Mapping[str, Occupation]]:
    """Every list: code to occupation, in the order of codes."""
    found: dict[str, dict[str, Occupation]] = {}
    with resources.path("conf", "occupations.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            holds = (row["code"], *row["holds"].split())
            one = Occupation(row["code"], row["title"], row["group"], holds)
            found.setdefault(row["list"], {})[one.code] = one
    return found


@lru_cache(maxsize=1)
def _moved() -> Mapping[str, Mapping[str, float]]:
    """2010 code: {2018 code: share}, of the codes that changed; both of the whole lists."""
    text = resources.path("conf", "occupation_crosswalk.yml").read_text(encoding="utf-8")
    moved: Mapping[str, Mapping[str, float]] = yaml.safe_load(text)
    return moved


def list_of(vintage: int) -> str:
    """The list of an ACS year; of a 5-year file, its last year. InputError before 2010."""
    if vintage < FIRST_YEAR:
        raise InputError(
            f"ACS {vintage}",
            "uses an occupation list from before 2010, which conf/occupations.csv does not have",
            "Use a file of 2010 or later.",
        )
    return "2018" if vintage >= 2018 else "2010"


def title(code: str, which: str) -> str:
    """Official title, or the code itself where the list has none."""
    known = lists()[which].get(code)
    return known.title if known else code


@cache
def _by_title(which: str) -> Mapping[str, str]:
    return {o.title.casefold(): o.code for o in lists()[which].values()}


def find(text: str, which: str) -> str | None:
    """The code that `text` names: a code of the list, or an official title in any case."""
    if text in lists()[which]:
        return text
    return _by_title(which).get(" ".join(text.casefold().split()))


def unknown(text: str, which: str, *, where: str) -> InputError:
    """The error for a code or title that the list lacks, with the nearest ones it has."""
    known = lists()[which]
    if text.isdigit():
        nearest = sorted(known, key=lambda code: (abs(int(code) - int(text)), code))[:3]
    else:
        by_title = _by_title(which)
        close = difflib.get_close_matches(text.casefold(), by_title, n=3, cutoff=0.4)
        words = [t for t in by_title if text.casefold() in t]
        nearest = [by_title[t] for t in dict.fromkeys([*words, *close])][:3]
    listed = ", ".join(_named(code, which) for code in nearest)
    return InputError(
        where,
        f"{text!r} is no occupation of the Census list of {which.removeprefix('census')}",
        (f"The nearest are {listed}." if listed else "See conf/occupations.csv.")
        + " Codes are text of four digits.",
    )


def translate(codes: Iterable[str], source: str, target: str, *, where: str) -> Translation:
    """Codes of list `source` as codes of list `target`, sorted.

    Raises InputError where a code is not in `source`, or where no code of `target` stands for
    the given ones (most people of each belong elsewhere).
    """
    given = sorted(set(codes))
    known = lists()[source]
    for code in given:
        if code not in known:
            raise unknown(code, source, where=where)
    if source == target:
        return Translation(tuple(given), True, "")
    inside = {member for code in given for member in known[code].holds}
    if "2018" not in (source, target):
        return _regrouped(given, inside, source, target)
    return _across(given, inside, source, target, where)


def _regrouped(given: Sequence[str], inside: set[str], source: str, target: str) -> Translation:
    """Between the two lists of 2010, which differ in grouping only."""
    taken = [o for o in lists()[target].values() if inside & set(o.holds)]
    other = sorted({m for o in taken for m in o.holds} - inside)
    parts = [f"also holds {', '.join(_named(c, PSID_LIST) for c in other)}"] if other else []
    return Translation(
        tuple(o.code for o in taken), not other, _note(given, source, taken, target, parts)
    )


def _across(
    given: Sequence[str], inside: set[str], source: str, target: str, where: str
) -> Translation:
    """Between 2010 and 2018, by the shares of people."""
    back = source == "2018"
    # Going back, shares of a 2010 code add up; going on, a 2018 code has the largest one it gets.
    flows = [
        (old, new, share)
        for old, row in _rows().items()
        for new, share in row.items()
        if (new if back else old) in inside
    ]
    reached: dict[str, float] = {}
    for old, new, share in flows:
        end = old if back else new
        reached[end] = reached.get(end, 0.0) + share if back else max(reached.get(end, 0), share)
    least = MAJORITY if back else NOTABLE
    # A grouped code is judged by the occupation that gives it its number, the largest one in it.
    taken = [o for o in lists()[target].values() if reached.get(o.code, 0.0) >= least]
    if not taken:
        holder = {m: o.code for o in lists()[target].values() for m in o.holds}
        shares = [
            f"part of {_named(holder[end], target)}"
            if holder[end] != end
            else f"{share:.0%} of {_named(old, PSID_LIST)}"
            for old, new, share in flows[:3]
            for end in [old if back else new]
        ]
        raise InputError(
            where,
            f"{', '.join(_named(c, source) for c in given)} has no counterpart in the Census list "
            f"of {target.removeprefix('census')}: its people are {', '.join(shares)}",
            "Choose another occupation, or give the codes of that list.",
        )
    covered = {member for o in taken for member in o.holds}
    parts = []
    if also := _also(covered, inside, back=back):
        parts.append("also holds " + ", ".join(also))
    if lost := [(o, n, s) for o, n, s in flows if (o if back else n) not in covered]:
        listed = ", ".join(f"{share:.0%} of {_named(old, PSID_LIST)}" for old, _, share in lost[:3])
        parts.append(f"lacks {listed}" + (" and others" if len(lost) > 3 else ""))
    return Translation(
        tuple(o.code for o in taken), not parts, _note(given, source, taken, target, parts)
    )


@lru_cache(maxsize=1)
def _rows() -> Mapping[str, Mapping[str, float]]:
    """Every 2010 code with its 2018 codes, those included that kept their number."""
    return {code: _moved().get(code, {code: 1.0}) for code in lists()["census2010"]}


def _also(covered: Collection[str], inside: Collection[str], *, back: bool) -> list[str]:
    """What the taken codes hold beside the given ones, largest share first."""
    found = [
        (share, new if back else old, old)
        for old, row in _rows().items()
        for new, share in row.items()
        if (old if back else new) in covered and (new if back else old) not in inside
    ]
    found.sort(key=lambda item: (-item[0], item[1]))
    own = lists()["2018"] if back else lists()["census2010"]
    names = [
        f"{code} ({own[code].title}, {share:.0%} of {old})" if code in own else code
        for share, code, old in found[:3]
    ]
    return [*names, "others"] if len(found) > 3 else names


def _note(
    given: Sequence[str],
    source: str,
    taken: Sequence[Occupation],
    target: str,
    parts: Sequence[str],
) -> str:
    ours = ", ".join(_named(code, source) for code in given)
    theirs = ", ".join(_named(o.code, target) for o in taken)
    return f"{ours} is {theirs}" + (f", which {' and '.join(parts)}" if parts else "")


def _named(code: str, which: str) -> str:
    return f"{code} ({title(code, which)})"
