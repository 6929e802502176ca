"""Renew one list of conf/occupations.csv from a PUMS data dictionary (CSV of 2017 or later).

    python tests/bench/occupation_list.py pums-dict_acs1-2023.csv 2018

Codes, groups and titles come from the dictionary's OCCP rows; what a code holds beside its own is
kept. Codes that came or went are printed: then list and crosswalk need a person.
"""

from __future__ import annotations

import csv
import re
import sys
from collections.abc import Iterable
from pathlib import Path

from fairscreen import resources
from fairscreen.population import occupations

COLUMNS = ("list", "code", "group", "title", "holds")
_NO_JOB = "9920"  # unemployed without an occupation


def read(lines: Iterable[str]) -> dict[str, tuple[str, str]]:
    """code: (group, title) of the OCCP rows of a dictionary."""
    found = {}
    for row in csv.reader(lines):
        if row[:2] == ["VAL", "OCCP"] and re.fullmatch(r"\d{4}", row[4]) and row[4] != _NO_JOB:
            group, title = re.fullmatch(r"(?:([A-Z]{3})-)?(.*)", " ".join(row[6].split())).groups()
            found[row[4]] = (group or "", title)
    return found


def main(dictionary: str, name: str) -> None:
    with Path(dictionary).open(encoding="latin-1", newline="") as file:
        new = read(file)
    lists = {key: dict(of) for key, of in occupations.lists().items()}
    print("came:", sorted(new.keys() - lists[name]), "went:", sorted(lists[name].keys() - new))
    old = lists[name]
    lists[name] = {
        code: occupations.Occupation(
            code, title, group, old[code].holds if code in old else (code,)
        )
        for code, (group, title) in sorted(new.items())
    }
    target = resources.path("conf", "occupations.csv")
    with target.open("w", encoding="utf-8", newline="") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow(COLUMNS)
        for key, of in lists.items():
            out.writerows(
                (key, o.code, o.group, o.title, " ".join(o.holds[1:])) for o in of.values()
            )


if __name__ == "__main__":
    main(*sys.argv[1:])
