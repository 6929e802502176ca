"""The person files of one call, taken together: each content once, each person once. No Spark."""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from fairscreen.errors import InputError
from fairscreen.sources.acs_layout import person_name
from fairscreen.sources.acs_reader import Member, Scan, inspect, scan


@dataclass(frozen=True, eq=False)
class SurveyFile:
    """A member together with what one pass over it gave."""

    member: Member
    scan: Scan


#: Files with each content once, then those whose content came twice.
Survey = tuple[list[SurveyFile], list[SurveyFile]]


def survey_files(paths: Sequence[str | Path], *, vintage: int | None = None) -> Survey:
    """The members of all zips, each content once; then those whose content came twice.

    Raises InputError for bad files, and where two members of one vintage hold the same person.
    """
    members = [m for path in paths for m in inspect(path, vintage=vintage)]
    if not members:
        raise InputError("acs", "no file was given", "Give the path of at least one PUMS zip.")
    with ThreadPoolExecutor(max_workers=min(8, os.cpu_count() or 1)) as pool:
        scans = list(pool.map(scan, members))  # unzip, hash and parse all release the GIL
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


def _refuse_overlap(files: Sequence[SurveyFile]) -> None:
    for i, one in enumerate(files):
        keys = one.scan.keys
        again = keys[1:][keys[1:] == keys[:-1]]
        if again.size:
            problem = f"holds {person_name(again[0])} twice ({again.size} people in all)"
            remedy = "Download the file again; every person stands in it once."
            raise InputError(one.member.where, problem, remedy)
        for other in files[:i]:
            same_vintage = other.member.vintage == one.member.vintage
            if same_vintage and one.scan.states & other.scan.states:
                both = np.intersect1d(other.scan.keys, keys, assume_unique=True)
                if both.size:
                    raise overlap(one.member, both, f"{other.member.where} holds")


def overlap(member: Member, both: NDArray[np.int64], holder: str) -> InputError:
    return InputError(
        member.where,
        f"{both.size} of its people {holder} already, for vintage {member.vintage} "
        f"(first: {person_name(both[0])})",
        "Nothing was written. Give the national file or the files of states, not both.",
    )
