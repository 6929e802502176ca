"""First names and surnames into the warehouse, whatever their publisher.

A reader of first names yields tables with the columns of `ssa_names.SCHEMA`, and where its
publisher leaves names out also `hidden_births` and `hidden_if_absent`; one of surnames gives
`census_surnames.Surnames`. The form of a file is seen from its name and, in a zip, its members.
"""

from __future__ import annotations

import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
from pyspark.sql import functions as sf

from fairscreen import resources
from fairscreen.sources import (
    archive,
    census_surnames,
    editions,
    own_names,
    ssa_lines,
    ssa_names,
    ssa_states,
)  # fmt: skip
from fairscreen.sources.census_surnames import ALL_OTHER, PERCENTAGES, SUPPRESSED, Surnames
from fairscreen.sources.result import IngestResult
from fairscreen.tables import Warehouse

FIRST_NAMES = pa.schema(
    [
        pa.field("birth_year", pa.int32()),
        pa.field("sex", pa.string(), nullable=False),
        pa.field("name", pa.string(), nullable=False),
        pa.field("births", pa.int32(), nullable=False),
        pa.field("hidden_births", pa.int32(), nullable=False),
        pa.field("hidden_if_absent", pa.int32(), nullable=False),
        pa.field("source_kind", pa.string(), nullable=False),
    ]
)
SURNAMES = census_surnames.SCHEMA.append(pa.field("source_kind", pa.string(), nullable=False))
_SQL = {pa.int32(): "INT", pa.string(): "STRING", pa.float64(): "DOUBLE"}
_ALIKE = ("hidden_if_absent", "source_kind")
_ALIKE_ELSEWHERE = ("hidden_births", *_ALIKE)
_REMEDY = "Give the file as its publisher ships it, or a table with a column name."


@dataclass(frozen=True)
class Form:
    """One form of file of first names. `hidden_if_absent`: births that a name without a row for a
    sex and year may have had, where the reader does not say."""

    read: Callable[[Path], Iterator[pa.Table]]
    inspect: Callable[[Path], object]
    hidden_if_absent: int


#: By the value of `source_kind`.
FORMS = {
    "ssa_national": Form(ssa_names.read, ssa_names.inspect, ssa_lines.MIN_BIRTHS - 1),
    "ssa_by_state": Form(ssa_states.read, ssa_states.inspect, ssa_lines.MIN_BIRTHS - 1),
    "own_list": Form(own_names.first_names, lambda path: list(own_names.first_names(path)), 0),
}


def first_name_kind(path: Path) -> str:
    """The form of a file of first names. A zip that is none is taken for the national one."""
    if ssa_states.MEMBER.fullmatch(path.name):
        return "ssa_by_state"
    if path.suffix.lower() != ".zip":
        return "own_list"
    try:
        with zipfile.ZipFile(path) as names:
            members = [archive.basename(m) for m in names.namelist()]
    except (OSError, zipfile.BadZipFile):
        return "ssa_national"  # whose reader says what is wrong
    national = any(ssa_names.MEMBER.fullmatch(m) for m in members)
    states = any(ssa_states.MEMBER.fullmatch(m) for m in members)
    return "ssa_by_state" if states and not national else "ssa_national"


def read_first_names(path: Path) -> Iterator[pa.Table]:
    """Tables of schema `FIRST_NAMES`; InputError as the form's reader raises it."""
    kind = first_name_kind(path)
    for rows in FORMS[kind].read(path):
        more = {"hidden_births": 0, "hidden_if_absent": FORMS[kind].hidden_if_absent}
        n, columns = rows.num_rows, {c: rows[c] for c in rows.column_names}
        for column, value in more.items():
            columns.setdefault(column, pa.array(np.full(n, value, dtype=np.int32)))
        columns["source_kind"] = pa.repeat(kind, n)
        yield pa.table({c: columns[c] for c in FIRST_NAMES.names}, schema=FIRST_NAMES)


def inspect_first_names(path: Path) -> None:
    """What can be known of the file at little cost: InputError as its reader raises it."""
    FORMS[first_name_kind(path)].inspect(path)


def surname_kind(path: Path) -> str:
    return "census" if path.suffix.lower() == ".zip" else "own_list"


def read_surnames(path: Path) -> Surnames:
    """Surnames of either form; InputError as the form's reader raises it."""
    if surname_kind(path) == "census":
        return census_surnames.read(path)
    return own_names.surnames(path)


def inspect_surnames(path: Path) -> None:
    """What can be known of the file at little cost: InputError as its reader raises it."""
    if surname_kind(path) == "census":
        census_surnames.inspect(path)
    else:
        own_names.surnames(path)


def ingest_first_names(warehouse: Warehouse, path: Path | str) -> IngestResult:
    """Append this edition of first names to table `ssa_name`, in one transaction.

    Raises InputError as `read_first_names` does, before anything is written.
    """
    file = resources.resolve(str(path))

    def load() -> editions.Loaded:
        parts, count, same = [], 0, {}
        for rows in read_first_names(file):
            # What is the same in every row need not travel: two million rows take half as long.
            alike = _ALIKE if rows["source_kind"][0].as_py() == "ssa_by_state" else _ALIKE_ELSEWHERE
            same = {column: rows[column][0].as_py() for column in alike}
            parts.append(editions.packed(rows.drop_columns(list(alike))))
            count += rows.num_rows
        travels = pa.schema([field for field in FIRST_NAMES if field.name not in same])
        frame = editions.frame(warehouse, parts, _ddl(travels))
        return editions.Loaded(frame.withColumns({c: sf.lit(v) for c, v in same.items()}), count)

    sha256 = archive.file_sha256(file, _REMEDY)
    return editions.ingest(
        warehouse, table="ssa_name", kind="ssa", file=file.name, sha256=sha256, load=load
    )


def ingest_surnames(warehouse: Warehouse, path: Path | str) -> IngestResult:
    """Append this file's surnames to table `census_surname`, in one transaction.

    Raises InputError as `read_surnames` does, before anything is written.
    """
    file = resources.resolve(str(path))

    def load() -> editions.Loaded:
        found = read_surnames(file)
        kind = pa.repeat(surname_kind(file), found.rows.num_rows)
        rows = found.rows.append_column(SURNAMES.field("source_kind"), kind)
        frame = editions.frame(warehouse, [editions.packed(rows)], _ddl(SURNAMES))
        return editions.Loaded(frame, found.rows.num_rows, _surname_notes(found))

    sha256 = archive.file_sha256(file, _REMEDY)
    return editions.ingest(
        warehouse, table="census_surname", kind="surnames", file=file.name, sha256=sha256, load=load
    )


def _surname_notes(found: Surnames) -> list[str]:
    notes = []
    if found.shares:
        notes.append("The file gives shares of 1, not percent: they were taken times 100.")
    if found.left_out:
        noun = "row" if found.left_out == 1 else "rows"
        listed = sum(found.rows["bearers"].to_pylist())
        share = 100 * listed / (listed + found.rarer_bearers)
        notes.append(
            f"{found.left_out} {noun} {ALL_OTHER} left out: it is a sum, not a surname. The listed "
            f"surnames are those of {listed:,} people, {share:.1f}%."
        )
    if found.suppressed_cells:
        notes.append(f"{found.suppressed_cells:,} suppressed percentages, {SUPPRESSED}, are null.")
    absent = [c for c in PERCENTAGES if found.rows[c].null_count == found.rows.num_rows]
    if absent:
        notes.append(f"Not told by the file: {', '.join(absent)}.")
    return notes


def _ddl(schema: pa.Schema) -> str:
    return ", ".join(f"{field.name} {_SQL[field.type]}" for field in schema)
