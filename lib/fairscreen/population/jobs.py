"""Which jobs an audit has: occupations selected from the survey, codes in the survey's own list.

PopResume draws five at random from the twenty occupations with the most records;
`population.select` does that, or takes occupations by name. What comes out are concrete jobs: the
rest of the code sees no selector and no foreign code.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from fairscreen import random
from fairscreen.errors import InputError
from fairscreen.population import occupations
from fairscreen.settings.population import Job, Population, Select

_SELECT = "population.select"


@dataclass(frozen=True)
class Counted:
    """One occupation of the survey: surveyed people, and whom they stand for (sum PWGTP)."""

    code: str
    people: int
    weighted: int


@dataclass(frozen=True)
class Pool:
    """A file of content: its job's key and title, its 2018 codes, its path where it is a user's."""

    key: str
    title: str | None
    occp: tuple[str, ...]
    path: str | None = None


@dataclass(frozen=True)
class Chosen:
    """Concrete jobs; what is to be said of them; the facts of a selection, for the ledger."""

    jobs: dict[str, Job]
    notes: tuple[str, ...] = ()
    detail: dict[str, Any] | None = None


def check(population: Population) -> None:
    """InputError where a code or title is in no list: before any work starts."""
    if population.vintage is not None and population.vintage < occupations.FIRST_YEAR:
        return
    for key, job in population.jobs.items():
        for code in job.occp:
            _list_with(code, "2018", where=f"population.jobs.{key}.occp")
    for text in population.select.occupations if population.select else ():
        _list_with(text, "2018", where=f"{_SELECT}.occupations")
    for code in population.select.content if population.select else ():
        _list_with(code, "2018", where=f"{_SELECT}.content")


def concrete(jobs: Mapping[str, Job], vintage: int) -> Chosen:
    """The jobs with codes of the survey's list, and with PSID codes where they had none.

    Raises InputError where a code is in no list or has no counterpart in the survey's.
    """
    if vintage < occupations.FIRST_YEAR and all(j.psid_occp is not None for j in jobs.values()):
        return Chosen(dict(jobs))  # codes of an older list: taken as they are
    which = occupations.list_of(vintage)
    found, notes = {}, []
    for key, job in jobs.items():
        codes, note = _in_list(job.occp, which, where=f"population.jobs.{key}.occp")
        if note:
            notes.append(f"ACS {vintage} has occupation codes of {which}; job {key}: {note}.")
        psid = job.psid_occp
        if psid is None:
            psid, note = _in_psid(job.occp, which, key)
            if note:
                notes.append(f"PSID has occupation codes of 2010; job {key}: {note}.")
        found[key] = job.model_copy(update={"occp": codes, "psid_occp": psid})
    return Chosen(found, tuple(notes))


def select(
    counts: Iterable[Counted], wanted: Select, pools: Sequence[Pool], *, seed: int, vintage: int
) -> Chosen:
    """The selected jobs: codes of the survey's list, PSID codes still open.

    counts: every occupation of the survey, in any order. The draw is a hash of (seed, code).
    Raises InputError where an occupation is unknown or not in the survey, where there are fewer
    than are to be drawn, and where one to choose from has no content.
    """
    which = occupations.list_of(vintage)
    by_code = {c.code: c for c in counts if c.people > 0}
    if wanted.occupations:
        return _named(wanted.occupations, by_code, pools, which, vintage)
    largest = [c.code for c in ranked(by_code.values(), wanted.by)][: wanted.largest]
    n = len(largest) if wanted.draw is None else wanted.draw
    if not largest:
        raise InputError(
            _SELECT,
            f"nobody employed, of the ages in use, is in ACS {vintage}",
            "Check population.esr and the age range.",
        )
    if n > len(largest):
        raise InputError(
            f"{_SELECT}.draw",
            f"{n} are to be drawn and ACS {vintage} has {len(largest)} occupations to draw from",
            "Ingest a file of all occupations, or draw fewer.",
        )
    own = _contents([(code,) for code in largest], pools, which)
    _require_content([code for code in largest if (code,) not in own], which, vintage, wanted)
    used = seed if wanted.seed is None else wanted.seed
    ticket = dict(zip(largest, random.hashes(used, "jobs", largest).tolist(), strict=True))
    drawn = set(sorted(largest, key=lambda code: (ticket[code], code))[:n])
    taken = [code for code in largest if code in drawn]
    listed = ", ".join(
        f"{occupations.title(code, which)} ({by_code[code].people:,})" for code in largest
    )
    names = ", ".join(occupations.title(code, which) for code in taken)
    how = f"drawn with seed {used}" if n < len(largest) else "all taken"
    unit = "surveyed people" if wanted.by == "people" else "people (weighted)"
    note = (
        f"{n} {'job' if n == 1 else 'jobs'}, {how}, of the {len(largest)} occupations with the "
        f"most {unit} in ACS {vintage}: {names}. To choose from were: {listed}."
    )
    detail = {
        "vintage": vintage,
        "by": wanted.by,
        "seed": used,
        "ranked": [fact(by_code[code], which) | {"drawn": code in drawn} for code in largest],
    }
    return Chosen(_jobs([(code,) for code in taken], own, which), (note,), detail)


def _named(
    texts: Sequence[str],
    by_code: Mapping[str, Counted],
    pools: Sequence[Pool],
    which: str,
    vintage: int,
) -> Chosen:
    where, notes, absent = f"{_SELECT}.occupations", [], []
    groups: list[tuple[str, ...]] = []
    for text in texts:
        code = occupations.find(text, _list_with(text, which, where=where))
        codes, note = _in_list((code or text,), which, where=where)
        if note:
            notes.append(f"ACS {vintage} has occupation codes of {which}: {note}.")
        if not any(c in by_code for c in codes):
            absent.append(text)
            continue
        if codes in groups:
            raise InputError(where, f"{text} is there twice", "Name it once.")
        groups.append(codes)
    if absent:
        there = [occupations.title(c.code, which) for c in ranked(by_code.values(), "people")[:10]]
        raise InputError(
            where,
            f"nobody employed, of the ages in use, has {' or '.join(absent)} in ACS {vintage}",
            f"The largest of {len(by_code)} there: {'; '.join(there)}. `fairscreen occupations "
            "--warehouse FOLDER` lists all; other files of sources.acs may hold more.",
        )
    own = _contents(groups, pools, which)
    _require_content([c for g in groups if g not in own for c in g], which, vintage, None)
    detail = {
        "vintage": vintage,
        "ranked": [
            fact(by_code[c], which) | {"drawn": True} for g in groups for c in g if c in by_code
        ],
    }
    return Chosen(_jobs(groups, own, which), tuple(notes), detail)


def ranked(counts: Iterable[Counted], by: str) -> list[Counted]:
    """Largest first, by `people` or by `weight`; ties by code."""

    def size(one: Counted) -> tuple[int, str]:
        return (-(one.people if by == "people" else one.weighted), one.code)

    return sorted(counts, key=size)


def fact(counted: Counted, which: str) -> dict[str, Any]:
    """One occupation for the record."""
    return {
        "code": counted.code,
        "title": occupations.title(counted.code, which),
        "people": counted.people,
        "weighted": counted.weighted,
    }


def content_of(codes: Sequence[str], pools: Sequence[Pool], which: str) -> Pool | None:
    """The pool that stands for these codes of list `which`, a user's own before a shipped one."""
    for pool in sorted(pools, key=lambda p: p.path is None):
        try:
            theirs, _ = _in_list(pool.occp, which, where=f"conf/jobs/{pool.key}.yml, occp")
        except InputError:  # no counterpart in this list
            continue
        if set(codes) <= set(theirs):
            return pool
    return None


def _contents(
    groups: Iterable[tuple[str, ...]], pools: Sequence[Pool], which: str
) -> dict[tuple[str, ...], Pool]:
    found = {group: content_of(group, pools, which) for group in groups}
    return {group: pool for group, pool in found.items() if pool is not None}


def _require_content(codes: Sequence[str], which: str, vintage: int, wanted: Select | None) -> None:
    if not codes:
        return
    listed = ", ".join(f"{c} ({occupations.title(c, which)})" for c in codes)
    among = f" of the {wanted.largest} largest occupations of ACS {vintage}" if wanted else ""
    raise InputError(
        _SELECT,
        f"no content ships for {listed}{among}",
        "Write a file of pools for each, like conf/jobs/accountants.yml, and name it: "
        f'{_SELECT}.content={{"{codes[0]}": my_pools.yml}}; '
        "or name occupations that have content (`fairscreen occupations`).",
    )


def _jobs(
    groups: Sequence[tuple[str, ...]], own: Mapping[tuple[str, ...], Pool], which: str
) -> dict[str, Job]:
    """Jobs by the key of their content, in the order of the selection."""
    found: dict[str, Job] = {}
    for group in groups:
        pool = own[group]
        if pool.key in found:
            raise InputError(
                _SELECT,
                f"{', '.join(group)} and {', '.join(found[pool.key].occp)} share the content of "
                f"{pool.key}",
                f'Name a file for one of them: {_SELECT}.content={{"{group[0]}": my_pools.yml}}.',
            )
        title = pool.title or occupations.title(group[0], which)
        found[pool.key] = Job(title=title, occp=group, content=pool.path)
    return found


def slug(text: str) -> str:
    """A job's key from a title: lower case, words joined by `_`, at most 60 characters."""
    return re.sub(r"[^a-z0-9]+", "_", text.casefold()).strip("_")[:60].rstrip("_")


def _list_with(text: str, which: str, *, where: str) -> str:
    """The list that has this code or title, `which` first. Raises InputError."""
    other = "2010" if which == "2018" else "2018"
    for name in (which, other):
        if occupations.find(text, name):
            return name
    raise occupations.unknown(text, which, where=where)


def _in_list(codes: Sequence[str], which: str, *, where: str) -> tuple[tuple[str, ...], str | None]:
    """Codes in list `which`, in the order given, and what translating the others took."""
    own = [c for c in codes if _list_with(c, which, where=where) == which]
    foreign = [c for c in codes if c not in own]
    if not foreign:
        return tuple(codes), None
    other = "2010" if which == "2018" else "2018"
    new = occupations.translate(foreign, other, which, where=where)
    return (*own, *(c for c in new.codes if c not in own)), new.note


def _in_psid(codes: Sequence[str], which: str, key: str) -> tuple[tuple[str, ...], str | None]:
    """PSID codes of a job, and what is not exact about them; none where there is no counterpart."""
    where = f"population.jobs.{key}.psid_occp"
    found: set[str] = set()
    notes = []
    for name in sorted({_list_with(c, which, where=where) for c in codes}):
        mine = [c for c in codes if _list_with(c, which, where=where) == name]
        try:
            new = occupations.translate(mine, name, occupations.PSID_LIST, where=where)
        except InputError as error:
            notes.append(error.problem)
            continue
        found.update(new.codes)
        if not new.exact:
            notes.append(new.note)
    return tuple(sorted(found)), "; ".join(notes) or None
