"""ACS PUMS person files into table `acs_person`: all given files or nothing.

The driver takes one cheap pass over every member (hash, people, states, years) and settles what is
new and whether anybody would be counted twice; Spark then parses and checks the members in
parallel, into one transaction. A member is read by one task: four members (the national 5-year
file) keep four cores busy, a single large one keeps one.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pyarrow as pa
from pyspark.sql import functions as sf
from pyspark.sql.types import StructType

from fairscreen.errors import InputError, from_worker
from fairscreen.progress import say
from fairscreen.sources import ledger
from fairscreen.sources.acs_layout import KEY_SQL, SCHEMA, survey_name
from fairscreen.sources.acs_reader import Member, batches, inspect
from fairscreen.sources.acs_survey import Survey, SurveyFile, survey_files, twice_note
from fairscreen.sources.result import IngestResult
from fairscreen.tables import Warehouse

__all__ = ["Member", "batches", "ingest_acs", "inspect"]

TABLE, KIND = "acs_person", "acs"


def ingest_acs(
    warehouse: Warehouse,
    paths: Sequence[str | Path],
    *,
    vintage: int | None = None,
    survey: Survey | None = None,
) -> IngestResult:
    """Append the people of all given zips to `acs_person` in one transaction.

    Content that is there already is skipped and named; several vintages stay apart by the columns
    `vintage` and `period` (years of data: 1, or 5 of a 5-year file). `vintage` is the year of
    files whose SERIALNO does not begin with it. `survey`: what `survey_files` gave for these
    paths, where the caller has it already.
    Raises InputError, with nothing written, for any bad file and for a person who is in two of
    the files given. People who are in the warehouse through an earlier file (a state's file after
    the national one) are kept a second time, apart by `source_sha256`, and that is said.
    """
    files, twice = survey or survey_files(paths, vintage=vintage)
    held = ledger.known(warehouse, KIND)
    states, sources = _in_table(warehouse, files)
    new = [f for f in files if f.scan.sha256 not in held | sources]
    again = []
    for file in new:
        shared = states.get(file.member.survey, set()) & file.scan.states
        if shared and (people := _people_in_table(warehouse, file, shared)):
            again.append(
                f"{file.member.label}: {people:,} of its people are in the warehouse through "
                "another file too. Rows are kept apart by source_sha256 and an audit reads only "
                "its own files; a query over all of acs_person counts these people twice."
            )
    if new:
        say(f"ingest acs: {sum(f.scan.rows for f in new):,} people from {len(new)} files")
        _append(warehouse, new)
    # Also repairs the ledger of a run that died after its rows were written.
    ledger.record(warehouse, [_entry(f) for f in files if f.scan.sha256 not in held], held=held)
    skipped = [*(f for f in files if f not in new), *twice]
    return IngestResult(
        kind=KIND,
        rows=sum(f.scan.rows for f in new),
        files=tuple(f.member.label for f in new),
        skipped=tuple(f.member.label for f in skipped),
        notes=(*_notes(new, skipped, twice), *again),
        sha256=tuple(f.scan.sha256 for f in files),
    )


def _notes(
    new: Sequence[SurveyFile], skipped: Sequence[SurveyFile], twice: Sequence[SurveyFile]
) -> Iterator[str]:
    for file in skipped:
        there = f"{file.member.label} is in the warehouse already (same content): nothing to do."
        yield twice_note(file) if file in twice else there
    surveys = sorted({f.member.survey for f in new})
    if len(surveys) > 1:
        years = " and ".join(survey_name(*s) for s in surveys)
        both = any(period > 1 for _, period in surveys)
        by = "columns vintage and period" if both else "column vintage"
        yield f"The files are of {years}; they are kept apart by {by}."
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
        period=file.member.period,
        row_count=file.scan.rows,
        has_replicate_weights=file.member.has_replicate_weights,
    )


def _in_table(
    warehouse: Warehouse, files: Sequence[SurveyFile]
) -> tuple[dict[tuple[int, int], set[str]], set[str]]:
    """States per survey (vintage, period), and which contents of `files`, the table holds."""
    if not warehouse.exists(TABLE):
        return {}, set()
    table = warehouse.read(TABLE)
    vintages = sorted({f.member.vintage for f in files})
    rows = table.where(
        table["vintage"].isin(vintages)
        | table["source_sha256"].isin([f.scan.sha256 for f in files])
    )
    found = rows.select("vintage", "period", "state", "source_sha256").distinct().collect()
    states: dict[tuple[int, int], set[str]] = {}
    for row in found:
        states.setdefault((row["vintage"], row["period"] or 1), set()).add(row["state"])
    return states, {row["source_sha256"] for row in found}


def _people_in_table(warehouse: Warehouse, file: SurveyFile, states: set[str]) -> int:
    """How many people of the file the table holds: collected are keys, of one survey at most."""
    table = warehouse.read(TABLE)
    vintage, period = file.member.survey
    same = (table["vintage"] == vintage) & (sf.coalesce(table["period"], sf.lit(1)) == period)
    there = table.where(same & table["state"].isin(sorted(states)))
    people = there.select(sf.expr(KEY_SQL).alias("key")).toArrow()
    return int(np.intersect1d(file.scan.keys, people["key"].to_numpy()).size)


def _append(warehouse: Warehouse, files: Sequence[SurveyFile]) -> None:
    spark = warehouse.spark
    # A slot is a task and an output file. Half the shuffle's partitions, two per core in a session
    # of ours: that is one per core, and the fewest files that keep all cores busy.
    shuffle = spark.conf.get("spark.sql.shuffle.partitions") or ""
    slots = min(len(files), max(1, int(shuffle) // 2) if shuffle.isdigit() else 8)
    work = [
        (slot, file.scan.sha256, json.dumps(asdict(file.member)))
        for slot, file in _shared_out(files, slots)
    ]
    tasks = spark.createDataFrame(work, "slot INT, sha256 STRING, member STRING")
    tasks = tasks.repartitionById(slots, tasks["slot"])
    # By name: in an older table, columns that came later stand at the end.
    order = warehouse.schema(TABLE)
    rows = tasks.mapInArrow(_read_members, StructType([order[f.name] for f in SCHEMA]))
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
