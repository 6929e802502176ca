"""A wave's journal to `replies`: one transaction, verified, and only then is the journal deleted.

`replies` belong to no audit. Every wave's replies are kept, so a call that two audits asked at the
same time, or that was asked again on request, has several; `parse.settle` says which one is read.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import pyarrow as pa
from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as sf

from fairscreen.errors import FairscreenError
from fairscreen.progress import say
from fairscreen.scoring.journal import WaveJournal, records, waves_left
from fairscreen.scoring.plan import wave_prefix
from fairscreen.tables import Warehouse

# What the journal holds. An older journal, found after an update, lacks the last columns: null.
_COLUMNS: dict[str, tuple[pa.DataType, str]] = {
    "segment": (pa.string(), "STRING"),
    "call_key": (pa.string(), "STRING"),
    "model": (pa.string(), "STRING"),
    "model_version": (pa.string(), "STRING"),
    "transport": (pa.string(), "STRING"),
    "reply": (pa.string(), "STRING"),
    "finish_reason": (pa.string(), "STRING"),
    "error": (pa.string(), "STRING"),
    "attempts": (pa.int32(), "INT"),
    "latency_ms": (pa.float64(), "DOUBLE"),
    "tokens_in": (pa.int64(), "BIGINT"),
    "tokens_out": (pa.int64(), "BIGINT"),
    "cost_usd": (pa.float64(), "DOUBLE"),
    "asked_at": (pa.timestamp("us", tz="UTC"), "TIMESTAMP"),
    "wave_id": (pa.string(), "STRING"),
    "p_yes": (pa.float64(), "DOUBLE"),
    "expected_score": (pa.float64(), "DOUBLE"),
    "provider_id": (pa.string(), "STRING"),
    "cost_max_usd": (pa.float64(), "DOUBLE"),
}
_ROWS = pa.schema([(name, arrow) for name, (arrow, _) in _COLUMNS.items()])
_DDL = ", ".join(f"{name} {sql}" for name, (_, sql) in _COLUMNS.items())
_BATCH = 1000


@dataclass(frozen=True)
class Committed:
    """Calls of a wave that were answered, and what they cost."""

    calls: int = 0
    cost_usd: float = 0.0


def commit(warehouse: Warehouse, journal: WaveJournal) -> Committed:
    """Bring a wave's replies into the table and delete its journal.

    Raises FairscreenError, and keeps the journal, where the table lacks a reply afterwards; and
    InputError, after the commit of all others, for a segment that cannot be read.
    """
    done: Committed | None = None
    while segments := journal.whole():
        before = _stored(warehouse, journal.wave_id).count() if done else 0
        found = _commit(warehouse, journal, segments)
        if done:  # a segment came meanwhile, of an attempt that Spark had given up
            new = _stored(warehouse, journal.wave_id).count() - before
            found = Committed(done.calls + new, done.cost_usd + found.cost_usd)
        done = found
        if journal.delete(segments):
            return done
    journal.delete()
    return done or Committed()


def _commit(warehouse: Warehouse, journal: WaveJournal, segments: list[Path]) -> Committed:
    """These segments into the table, and nothing that the wave already has there."""
    rows = read_journal(warehouse, segments)
    names = "\n".join(s.name for s in segments)
    late = hashlib.sha256(names.encode()).hexdigest()[:16]
    # Segments that a worker wrote after its wave was committed need a transaction of their own:
    # under the wave's name Delta would drop them without a word.
    for transaction in (f"replies/{journal.wave_id}", f"replies/{journal.wave_id}/{late}"):
        stored = _stored(warehouse, journal.wave_id)
        new = first_replies(rows).join(stored, "call_key", "left_anti")
        new = new.join(_retries(warehouse, journal.wave_id), "call_key", "left")
        warehouse.append("replies", new, transaction=transaction)
        done, lacking = _verify(_stored(warehouse, journal.wave_id), rows)
        if not lacking:
            return done
    raise FairscreenError(
        f"{journal.folder}: {lacking} of {done.calls} replies are not in the table `replies` after "
        "their commit. The journal is kept; run `fairscreen score` again."
    )


def commit_leftovers(warehouse: Warehouse, root: Path, audit_id: str) -> int:
    """Commit the journals that earlier runs of this audit left behind; the number of calls.

    Only under the audit's lease: a journal in use must not be taken for a leftover. What an
    earlier run left alive is stopped first.
    """
    calls = 0
    for journal in waves_left(root, wave_prefix(audit_id)):
        journal.let_end()
        found = commit(warehouse, journal).calls
        if found:
            say(f"kept {found:,} replies of an earlier run that was cut off")
        calls += found
    return calls


def read_journal(warehouse: Warehouse, segments: list[Path]) -> DataFrame:
    """The replies of all valid segments; read by the workers, so any number of them will do."""
    paths = warehouse.spark.createDataFrame([(str(s),) for s in segments], "path STRING")

    def read(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            buffer = []
            for name, record in records(Path(p) for p in batch.column(0).to_pylist()):
                at = datetime.fromisoformat(record["asked_at"])
                buffer.append({**record, "segment": name, "asked_at": at})
                if len(buffer) == _BATCH:
                    yield pa.RecordBatch.from_pylist(buffer, schema=_ROWS)
                    buffer = []
            yield pa.RecordBatch.from_pylist(buffer, schema=_ROWS)

    return paths.mapInArrow(read, _DDL)


def first_replies(rows: DataFrame) -> DataFrame:
    """The first reply of each call_key, by time and then by segment. A call that was asked twice,
    because a kill came between, cost both."""
    of_call = Window.partitionBy("call_key")
    ranked = rows.withColumn("nth", sf.row_number().over(of_call.orderBy("asked_at", "segment")))
    at_most = sf.coalesce("cost_max_usd", "cost_usd")
    ranked = ranked.withColumn("cost_max_usd", sf.sum(at_most).over(of_call))
    return ranked.where("nth = 1").drop("nth", "segment")


def _stored(warehouse: Warehouse, wave_id: str) -> DataFrame:
    """call_key of the wave's replies that are in the table."""
    return warehouse.read("replies").where(sf.col("wave_id") == wave_id).select("call_key")


def _retries(warehouse: Warehouse, wave_id: str) -> DataFrame:
    """call_key and retry, as the wave was planned: workers need not carry the number."""
    return warehouse.read("waves").where(sf.col("wave_id") == wave_id).select("call_key", "retry")


def _verify(stored: DataFrame, rows: DataFrame) -> tuple[Committed, int]:
    """Calls in the journal, and how many of them the table lacks."""
    found = first_replies(rows).join(stored.withColumn("stored", sf.lit(1)), "call_key", "left")
    counts = found.agg(
        sf.count("*").alias("calls"),
        sf.count("stored").alias("stored"),
        sf.coalesce(sf.sum("cost_usd"), sf.lit(0.0)).alias("cost"),
    ).collect()[0]
    calls = int(counts["calls"])
    return Committed(calls, float(counts["cost"])), calls - int(counts["stored"])
