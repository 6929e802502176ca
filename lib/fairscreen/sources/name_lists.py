"""Lists of names that a user brings, as cells of text: what their readers share.

CSV, parquet, Stata and Excel; columns are found by name in any order and case, other columns are
ignored.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from fairscreen import spelling
from fairscreen.errors import InputError
from fairscreen.input_files import labels, place, read_table

_LONGEST_NAME = 100
Cells = NDArray[np.object_]


@dataclass(frozen=True)
class NameList:
    """The cells of a file as text (None = empty), by the names that the readers use."""

    path: str
    cells: Mapping[str, Cells]
    titles: Mapping[str, str]  # what the file calls them
    places: list[str]  # `line 7`

    def wrong(self, at: int, column: str, problem: str, remedy: str) -> InputError:
        where = f"{self.path}, {self.places[at]}, {self.titles[column]}"
        return InputError(where, problem, remedy)

    def names(self) -> list[str]:
        """Cleaned names; InputError for one that can be none."""
        found = []
        for at, cell in enumerate(self.cells["name"]):
            name = spelling.clean(cell or "")
            if re.search("[\r\n]", cell or ""):
                problem = f"{cell[:60]!r} holds a line break"
                raise self.wrong(at, "name", problem, "Look for a quotation mark that is missing.")
            if len(name) > _LONGEST_NAME:
                problem = f"has {len(name)} letters; a name has {_LONGEST_NAME} at most"
                raise self.wrong(at, "name", problem, "Give a name.")
            if fault := spelling.fault(name):
                raise self.wrong(at, "name", fault if name else "is empty", "Give a name.")
            found.append(name)
        return found

    def once(self, column: str, keys: list[tuple[object, ...]], remedy: str) -> None:
        """InputError where two rows are of one name (as printed) and everything beside it."""
        seen: dict[tuple[object, ...], int] = {}
        for at, key in enumerate(keys):
            if key in seen:
                told = ", ".join(str(part) for part in key if part is not None)
                problem = f"{told} stands already in {self.places[seen[key]]}"
                raise self.wrong(at, column, problem, remedy)
            seen[key] = at


def read(path: Path, options: Mapping[str, tuple[str, ...]], needed: tuple[str, ...]) -> NameList:
    """The columns that are there; options: our name -> what a file may call it."""
    frame = read_table(path, row="name")
    there: dict[str, str] = {}
    for column in frame.columns:
        known = str(column).strip().lower()
        if known in there and any(known in theirs for theirs in options.values()):
            problem = f"is the name of two columns, {there[known]!r} and {str(column)!r}"
            raise InputError(f"{path}, {known}", problem, "Rename one.")
        there[known] = str(column)
    titles = {
        ours: there[found]
        for ours, theirs in options.items()
        if (found := next((t for t in theirs if t in there), None))
    }
    missing = [" or ".join(options[c]) for c in needed if c not in titles]
    if missing:
        noun = "column" if len(missing) == 1 else "columns"
        raise InputError(
            str(path),
            f"{noun} {', '.join(missing)} missing; it has {', '.join(there.values())}",
            "Name the columns so in the file's first line.",
        )
    cells = {ours: labels(frame[title]) for ours, title in titles.items()}
    return NameList(str(path), cells, titles, [place(frame, i) for i in range(len(frame))])
