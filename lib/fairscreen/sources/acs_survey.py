"""The person files of one call, taken together: each content once, each person once. No Spark.

Memory: 8 bytes per person, 130 MB for the 16 million of a national 5-year file.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from fairscreen.errors import InputError
from fairscreen.sources.acs_layout import person_name, survey_name
from fairscreen.sources.acs_reader import Member, Scan, inspect, scan, year_fits

LAST_3_YEAR = 2013  # the Bureau's last file of three years is that of 2011 to 2013


@dataclass(frozen=True, eq=False)
class SurveyFile:
    """A member together with what one pass over it gave."""

    member: Member
    scan: Scan


#: Files with each content once, then those whose content came twice.
Survey = tuple[list[SurveyFile], list[SurveyFile]]


def survey_files(paths: Sequence[str | Path], *, vintage: int | None = None) -> Survey:
    """The members of all zips, each content once; then those whose content came twice.

    A zip whose members hold several survey years is a file that pools them: all its members are of
    the last year, with `period` years of data. `vintage` gives the (last) year of files whose
    SERIALNO has none.
    Raises InputError for bad files, for a vintage that SERIALNO contradicts, for years that make no
    file of the Bureau's (one of five years holds each of them), and where two members of one
    vintage and period hold the same person.
    """
    zips = [inspect(path, vintage=vintage) for path in paths]
    members = [m for found in zips for m in found]
    if not members:
        raise InputError("acs", "no file was given", "Give the path of at least one PUMS zip.")
    with ThreadPoolExecutor(max_workers=min(8, os.cpu_count() or 1)) as pool:
        scans = list(pool.map(scan, members))  # unzip, hash and parse all release the GIL
    scanned = iter(scans)
    members = [m for found in zips for m in _judged([(m, next(scanned)) for m in found])]
    unique: dict[str, SurveyFile] = {}
    twice = []
    for found in map(SurveyFile, members, scans):
        if found.scan.sha256 in unique:
            twice.append(found)
        else:
            unique[found.scan.sha256] = found
    files = list(unique.values())
    _refuse_overlap(files)
    return files, twice


def _judged(zipped: Sequence[tuple[Member, Scan]]) -> list[Member]:
    """The members of one zip with their vintage and period. InputError for years that make no file.

    By chance a member can hold fewer years than the file pools: the years are those of the zip. A
    vintage given by hand must be the last year of those that SERIALNO gives: it names the year of
    files without any, and relabels none.
    """
    for member, seen in zipped:
        if any(not 2000 <= year < 2100 for year in seen.years):  # the cheap pass takes any digits
            raise _odd(member)
    years = {year for _, seen in zipped for year in seen.years}
    given = next((m.vintage for m, _ in zipped if m.vintage_given), None)
    if not years or (given is None and all(len(s.years) < 2 for _, s in zipped)):
        return [member for member, _ in zipped]
    first, last = min(years), max(years)
    three = last <= LAST_3_YEAR and years == {*range(last - 2, last + 1)}
    if len(years) == 1 or three or years == {*range(last - 4, last + 1)}:
        if given not in (None, last):
            raise _relabelled(zipped[0][0], given, first, last)
        return [replace(m, vintage=last, period=last - first + 1) for m, _ in zipped]
    end = given or last
    lacking = {*range(end - 4, end + 1)} - years
    # Without a year given by hand, both ends must be there: two years could be of any pool.
    if end - 4 <= first and last <= end and (given is not None or first == end - 4):
        raise InputError(
            zipped[0][0].path,
            f"pools people of {_listed(years)}, but holds nobody of {_listed(lacking)}",
            "Give the 5-year file as the Census Bureau ships it, or files of one year each.",
        )
    members = [replace(m, vintage=end, period=5) if given else m for m, _ in zipped]
    pairs = zip(members, zipped, strict=True)
    raise _odd(next(m for m, (_, s) in pairs if not all(year_fits(m, year) for year in s.years)))


def _odd(member: Member) -> InputError:
    from fairscreen.sources.acs_diagnose import diagnose

    return diagnose(member, "its survey years")


def _listed(years: Iterable[int]) -> str:
    *most, final = map(str, sorted(years))
    return f"{', '.join(most)} and {final}" if most else final


def _relabelled(member: Member, given: int | None, first: int, last: int) -> InputError:
    years = f"{last}" if first == last else f"{first} to {last}"
    problem = f"is of {years} by its SERIALNO, but the vintage given is {given}"
    return InputError(member.where, problem, f"Leave --vintage out: it is {last}.")


def twice_note(file: SurveyFile) -> str:
    """What is said of a content that came twice."""
    return f"{file.member.label} was given twice (same content): nothing to do."


def _refuse_overlap(files: Sequence[SurveyFile]) -> None:
    surveys: dict[tuple[int, int], list[SurveyFile]] = {}
    for one in files:
        again = _twice(one.scan.keys)
        if again.size:
            problem = f"holds {person_name(again[0])} twice ({again.size} people in all)"
            remedy = "Download the file again; every person stands in it once."
            raise InputError(one.member.where, problem, remedy)
        # A person of a 1-year file is in the 5-year file too, by design: no overlap.
        surveys.setdefault(one.member.survey, []).append(one)
    for group in surveys.values():
        # One sort of all keys; only where it finds something, the pairs of files are compared.
        if len(group) > 1 and _twice(np.sort(np.concatenate([f.scan.keys for f in group]))).size:
            _name_overlap(group)


def _twice(keys: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.asarray(keys[1:][keys[1:] == keys[:-1]], dtype=np.int64)


def _name_overlap(files: Sequence[SurveyFile]) -> None:
    for i, one in enumerate(files):
        for other in files[:i]:
            if one.scan.states & other.scan.states:
                both = np.intersect1d(other.scan.keys, one.scan.keys, assume_unique=True)
                if both.size:
                    raise overlap(one.member, both, f"{other.member.where} holds")


def overlap(member: Member, both: NDArray[np.int64], holder: str) -> InputError:
    return InputError(
        member.where,
        f"{both.size} of its people {holder} already, for vintage {survey_name(*member.survey)} "
        f"(first: {person_name(both[0])})",
        "Nothing was written. Give the national file or the files of states, not both.",
    )
