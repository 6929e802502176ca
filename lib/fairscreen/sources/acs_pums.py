"""ACS PUMS person files into table `acs_person`: all given files or nothing.

The driver reads every member once (hash, people, states) and settles what is new and whether
anybody would be counted twice; Spark then reads the members in parallel into one transaction.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from fairscreen.errors import InputError, from_worker
from fairscreen.progress import say
from fairscreen.sources import ledger
from fairscreen.sources.acs_reader import (
    Member,
    Scan,
    batches,
    inspect,
    person_keys,
    person_name,
    scan,
)
from fairscreen.sources.result import IngestResult
from fairscreen.tables import Warehouse

__all__ = ["Member", "batches", "ingest_acs", "inspect", "survey_files"]

TABLE, KIND = "acs_person", "acs"


@dataclass(frozen=True)
class SurveyFile:
    """A member together with what one pass over it gave."""

    member: Member
    scan: Scan


def survey_files(
    paths: Sequence[str | Path], *, vintage: int | None = None
) -> tuple[list[SurveyFile], list[SurveyFile]]:
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
                    raise _overlap(one.member, both, f"{other.member.where} holds")


def _overlap(member: Member, both: NDArray[np.int64], holder: str) -> InputError:
    return InputError(
        member.where,
        f"{both.size} of its people {holder} already, for vintage {member.vintage} "
        f"(first: {person_name(both[0])})",
        "Nothing was written. Give the national file or the files of states, not both.",
    )


def ingest_acs(
    warehouse: Warehouse, paths: Sequence[str | Path], *, vintage: int | None = None
) -> IngestResult:
    """Append the people of all given zips to `acs_person` in one transaction.

    Content that is there already is skipped and named; several vintages stay apart by column
    `vintage`. `vintage` overrides the year that SERIALNO begins with.
    Raises InputError, with nothing written, for any bad file and for a person who is in the
    warehouse through another file.
    """
    files, twice = survey_files(paths, vintage=vintage)
    held = ledger.known(warehouse, KIND)
    states, sources = _in_table(warehouse, {f.member.vintage for f in files})
    new = [f for f in files if f.scan.sha256 not in held | sources]
    for file in new:
        shared = states.get(file.member.vintage, set()) & file.scan.states
        if shared:
            _refuse_people_in_table(warehouse, file, shared)
    if new:
        say(f"ingest acs: {sum(f.scan.rows for f in new):,} people from {len(new)} files")
        _append(warehouse, new)
    # Also repairs the ledger of a run that died after its rows were written.
    ledger.record(warehouse, [_entry(f) for f in files if f.scan.sha256 not in held])
    skipped = [*(f for f in files if f not in new), *twice]
    return IngestResult(
        kind=KIND,
        rows=sum(f.scan.rows for f in new),
        files=tuple(f.member.label for f in new),
        skipped=tuple(f.member.label for f in skipped),
        notes=tuple(_notes(new, skipped, twice)),
    )


def _notes(
    new: Sequence[SurveyFile], skipped: Sequence[SurveyFile], twice: Sequence[SurveyFile]
) -> Iterator[str]:
    for file in skipped:
        where = "was given twice" if file in twice else "is in the warehouse already"
        yield f"{file.member.label} {where} (same content): nothing to do."
    vintages = sorted({f.member.vintage for f in new})
    if len(vintages) > 1:
        years = " and ".join(str(v) for v in vintages)
        yield f"The files are of {years}; they are kept apart by column vintage."
    for file in new:
        if not file.member.has_replicate_weights:
            yield (
                f"{file.member.label} has no replicate weights: design-based errors cannot be "
                "computed from it."
            )


def _entry(file: SurveyFile) -> ledger.Entry:
    return ledger.Entry(
        kind=KIND,
        sha256=file.scan.sha256,
        file=Path(file.member.path).name,
        member=file.member.member,
        vintage=file.member.vintage,
        row_count=file.scan.rows,
        has_replicate_weights=file.member.has_replicate_weights,
    )


def _in_table(warehouse: Warehouse, vintages: set[int]) -> tuple[dict[int, set[str]], set[str]]:
    """States per vintage, and the hashes of all content, that the table holds."""
    table = warehouse.read(TABLE)
    rows = table.where(table["vintage"].isin(sorted(vintages)))
    found = rows.select("vintage", "state", "source_sha256").distinct().collect()
    states: dict[int, set[str]] = {}
    for row in found:
        states.setdefault(row["vintage"], set()).add(row["state"])
    return states, {row["source_sha256"] for row in found}


def _refuse_people_in_table(warehouse: Warehouse, file: SurveyFile, states: set[str]) -> None:
    """Compare people, not only states: collected is at most one survey, never the population."""
    table = warehouse.read(TABLE)
    there = table.where(
        (table["vintage"] == file.member.vintage) & table["state"].isin(sorted(states))
    )
    people = there.select("serialno", "sporder").toArrow()
    keys = [person_keys(b.column("serialno"), b.column("sporder")) for b in people.to_batches()]
    both = np.intersect1d(file.scan.keys, np.concatenate(keys))
    if both.size:
        raise _overlap(file.member, both, "are in the warehouse through another file")


def _append(warehouse: Warehouse, files: Sequence[SurveyFile]) -> None:
    spark = warehouse.spark
    shuffle = spark.conf.get("spark.sql.shuffle.partitions") or ""
    slots = min(len(files), int(shuffle) if shuffle.isdigit() else 8)
    work = [
        (slot, file.scan.sha256, json.dumps(asdict(file.member)))
        for slot, file in _shared_out(files, slots)
    ]
    tasks = spark.createDataFrame(work, "slot INT, sha256 STRING, member STRING")
    tasks = tasks.repartitionById(slots, tasks["slot"])
    rows = tasks.mapInArrow(_read_members, warehouse.schema(TABLE))
    name = ledger.transaction(warehouse, TABLE, KIND, [f.scan.sha256 for f in files])
    try:
        warehouse.append(TABLE, rows, transaction=name)
    except Exception as error:
        found = from_worker(error)
        if found is None:
            raise
        raise found from None


def _shared_out(files: Sequence[SurveyFile], slots: int) -> Iterator[tuple[int, SurveyFile]]:
    """Largest first, each to the slot with the least bytes so far: few tasks, few output files."""
    load = [0] * slots
    for file in sorted(files, key=lambda f: (-f.member.size, f.scan.sha256)):
        slot = load.index(min(load))
        load[slot] += file.member.size
        yield slot, file


def _read_members(tasks: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for task in tasks:
        for row in task.to_pylist():
            fields = json.loads(row["member"])
            member = Member(**{**fields, "columns": tuple(fields["columns"])})
            try:
                yield from batches(member, sha256=row["sha256"])
            except InputError as error:
                raise error.marked() from None
