"""A wave's journal to `replies`: one transaction, verified, and only then is the journal deleted.

`replies` belong to no audit. Two audits that ask the same call at the same time may both commit
it; readers take the first reply of a call (`scores.py`).
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

_ROWS = pa.schema(
    [
        ("segment", pa.string()),
        ("call_key", pa.string()),
        ("model", pa.string()),
        ("model_version", pa.string()),
        ("transport", pa.string()),
        ("reply", pa.string()),
        ("finish_reason", pa.string()),
        ("error", pa.string()),
        ("attempts", pa.int32()),
        ("latency_ms", pa.float64()),
        ("tokens_in", pa.int64()),
        ("tokens_out", pa.int64()),
        ("cost_usd", pa.float64()),
        ("asked_at", pa.timestamp("us", tz="UTC")),
        ("wave_id", pa.string()),
    ]
)
_DDL = (
    "segment STRING, call_key STRING, model STRING, model_version STRING, transport STRING, "
    "reply STRING, finish_reason STRING, error STRING, attempts INT, latency_ms DOUBLE, "
    "tokens_in BIGINT, tokens_out BIGINT, cost_usd DOUBLE, asked_at TIMESTAMP, wave_id STRING"
)
_BATCH = 1000


@dataclass(frozen=True)
class Committed:
    """Calls of a wave that were answered, and what they cost."""

    calls: int = 0
    cost_usd: float = 0.0


def commit(warehouse: Warehouse, journal: WaveJournal) -> Committed:
    """Bring a wave's replies into the table and delete its journal.

    Raises FairscreenError, and keeps the journal, where the table lacks a reply afterwards.
    """
    segments = journal.segments()
    if not segments:
        journal.delete()
        return Committed()
    rows = read_journal(warehouse, segments)
    names = "\n".join(s.name for s in segments)
    late = hashlib.sha256(names.encode()).hexdigest()[:16]
    # Segments that a worker wrote after its wave was committed need a transaction of their own:
    # under the wave's name Delta would drop them without a word.
    for transaction in (f"replies/{journal.wave_id}", f"replies/{journal.wave_id}/{late}"):
        new = first_replies(rows).join(
            warehouse.read("replies").select("call_key"), "call_key", "left_anti"
        )
        warehouse.append("replies", new, transaction=transaction)
        done, lacking = _verify(warehouse, rows)
        if not lacking:
            journal.delete()
            return done
    raise FairscreenError(
        f"{journal.folder}: {lacking} of {done.calls} replies are not in the table `replies` after "
        "their commit. The journal is kept; run `fairscreen score` again."
    )


def commit_leftovers(warehouse: Warehouse, root: Path, audit_id: str) -> int:
    """Commit the journals that earlier runs of this audit left behind; the number of calls.

    Only under the audit's lease: a journal in use must not be taken for a leftover.
    """
    calls = 0
    for journal in waves_left(root, wave_prefix(audit_id)):
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
    """The first reply of each call_key, by time and then by segment."""
    order = Window.partitionBy("call_key").orderBy("asked_at", "segment")
    ranked = rows.withColumn("nth", sf.row_number().over(order))
    return ranked.where("nth = 1").drop("nth", "segment")


def _verify(warehouse: Warehouse, rows: DataFrame) -> tuple[Committed, int]:
    """Calls in the journal, and how many of them the table lacks."""
    stored = warehouse.read("replies").select("call_key", sf.lit(1).alias("stored")).distinct()
    found = first_replies(rows).join(stored, "call_key", "left")
    counts = found.agg(
        sf.count("*").alias("calls"),
        sf.count("stored").alias("stored"),
        sf.coalesce(sf.sum("cost_usd"), sf.lit(0.0)).alias("cost"),
    ).collect()[0]
    calls = int(counts["calls"])
    return Committed(calls, float(counts["cost"])), calls - int(counts["stored"])
