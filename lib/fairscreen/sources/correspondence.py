"""Names of correspondence studies, or of a user's own list, into table `correspondence_name`.

First names: columns name, race, gender; surnames: surname, race. Where the list tells them also
source (the study), and of first names mother_education (any unit) and cohort (mean birth year of
the bearers). CSV, parquet, Stata or Excel; columns are found by name in any order and case.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Literal

import numpy as np
import pyarrow as pa

from fairscreen import resources, spelling
from fairscreen.input_files import all_numbers
from fairscreen.sources import archive, editions, name_lists
from fairscreen.sources.name_lists import NameList
from fairscreen.sources.result import IngestResult
from fairscreen.sources.ssa_lines import YEARS
from fairscreen.tables import Warehouse

TABLE = "correspondence_name"
Kind = Literal["first", "surname"]
SCHEMA = pa.schema(
    [
        pa.field("row_number", pa.int32(), nullable=False),
        pa.field("kind", pa.string(), nullable=False),
        pa.field("source", pa.string()),
        pa.field("name", pa.string(), nullable=False),
        pa.field("race", pa.string(), nullable=False),
        pa.field("gender", pa.string()),
        pa.field("mother_education", pa.float64()),
        pa.field("cohort", pa.float64()),
    ]
)
_DDL = (
    "row_number INT, kind STRING, source STRING, name STRING, race STRING, gender STRING, "
    "mother_education DOUBLE, cohort DOUBLE"
)
_GENDERS = {
    "f": "female", "female": "female", "woman": "female",
    "m": "male", "male": "male", "man": "male",
}  # fmt: skip
_RACE = re.compile(r"[a-z0-9][a-z0-9_ -]{0,40}")  # as settings/pairs.py has values of contrasts
_OPTIONS: dict[Kind, dict[str, tuple[str, ...]]] = {
    "first": {
        "name": ("name", "first_name", "firstname"),
        "race": ("race",),
        "gender": ("gender", "sex"),
        "source": ("source", "study"),
        "mother_education": ("mother_education",),
        "cohort": ("cohort",),
    },
    "surname": {
        "name": ("surname", "last_name", "name"),
        "race": ("race",),
        "source": ("source", "study"),
    },
}
_REMEDY = "Give a table of names: CSV, parquet, Stata or Excel."


def read(path: Path, kind: Kind) -> pa.Table:
    """The names of one list (`SCHEMA`), in the file's order.

    name as the bronze tables spell it; race in small letters; gender female or male, null for
    surnames. Raises InputError naming file, line and column: no such column, an empty or impossible
    name, race, gender or number, a name twice for one race and gender of one source.
    """
    needed = ("name", "race", "gender") if kind == "first" else ("name", "race")
    table = name_lists.read(path, _OPTIONS[kind], needed)
    names, n = table.names(), len(table.cells["name"])
    races = [_race(table, at) for at in range(n)]
    genders = [_gender(table, at) for at in range(n)] if kind == "first" else [None] * n
    sources = [" ".join((cell or "").split()) or None for cell in table.cells.get("source", [])]
    sources = sources or [None] * n
    shown = [spelling.printed(name) for name in names]
    table.once(
        "name",
        list(zip(shown, races, genders, sources, strict=True)),
        "Remove one, or tell in a column source which studies they are of.",
    )
    columns = {
        "row_number": pa.array(np.arange(n, dtype=np.int32)),
        "kind": pa.array([kind] * n, pa.string()),
        "source": pa.array(sources, pa.string()),
        "name": pa.array(names, pa.string()),
        "race": pa.array(races, pa.string()),
        "gender": pa.array(genders, pa.string()),
        "mother_education": pa.array(_numbers(table, "mother_education", n), pa.float64()),
        "cohort": pa.array(_numbers(table, "cohort", n), pa.float64()),
    }
    return pa.table(columns, schema=SCHEMA)


def ingest(warehouse: Warehouse, path: Path | str, kind: Kind) -> IngestResult:
    """Append the names of this list, in one transaction; the same list again is a no-op.

    One file may hold both kinds; each is appended for itself. Raises InputError as `read` does,
    before anything is written.
    """
    file = resources.resolve(str(path))

    def load() -> editions.Loaded:
        rows = read(file, kind)
        frame = editions.frame(warehouse, [editions.packed(rows)], _DDL)
        return editions.Loaded(frame, rows.num_rows)

    return editions.ingest(
        warehouse, table=TABLE, kind=f"correspondence_{kind}", file=file.name,
        sha256=archive.file_sha256(file, _REMEDY), load=load, part=f"kind = '{kind}'",
    )  # fmt: skip


def _race(table: NameList, at: int) -> str:
    race = " ".join((table.cells["race"][at] or "").lower().split())
    if not _RACE.fullmatch(race):
        problem = f"{race[:60]!r} is no race: letters a to z, digits, space, _ and -, at most 41"
        raise table.wrong(at, "race", problem if race else "is empty", "Give the race so.")
    return race


def _gender(table: NameList, at: int) -> str:
    cell = table.cells["gender"][at] or ""
    gender = _GENDERS.get(cell.strip().lower())
    if gender is None:
        problem = f"{cell[:60]!r} is not female or male (F or M)"
        raise table.wrong(at, "gender", problem, "Correct the cell.")
    return gender


def _numbers(table: NameList, column: str, n: int) -> list[float | None]:
    """A column of numbers, None where the cell is empty or the list has no such column."""
    found: list[float | None] = [None] * n
    for at, cell in enumerate(table.cells.get(column, ())):
        if not (text := (cell or "").strip()):
            continue
        number = all_numbers(np.array([text], dtype=object))
        if number is None:
            remedy = "Correct it; where the value is missing, leave the cell empty."
            raise table.wrong(at, column, f"{text[:60]!r} is no number", remedy)
        if column == "cohort" and not YEARS[0] <= number[0] <= YEARS[1]:
            problem = f"{text[:60]} is not a year between {YEARS[0]} and {YEARS[1]}"
            raise table.wrong(
                at, column, problem, "Give the mean birth year of the name's bearers."
            )
        found[at] = float(number[0])
    return found
