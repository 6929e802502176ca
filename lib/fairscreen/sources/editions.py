"""Sources that come in editions: first names, surnames, PSID.

Editions lie side by side, told apart by `source_sha256`: an audit takes the rows of the files that
it names, and two audits with different files share a warehouse. An edition is appended in one
Delta transaction. The rows come first and the ledger second, so what counts as "already there" is
asked of the rows themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as sf

from fairscreen.sources import ledger
from fairscreen.sources.result import IngestResult
from fairscreen.tables import Warehouse


@dataclass(frozen=True)
class Loaded:
    """An edition that was read and found sound: its rows without `source_sha256`."""

    rows: DataFrame
    row_count: int
    notes: Sequence[str] = ()
    synthetic: bool = False


def ingest(
    warehouse: Warehouse,
    *,
    table: str,
    kind: str,
    file: str,
    sha256: str,
    load: Callable[[], Loaded],
    part: str = "true",
) -> IngestResult:
    """Append this edition to `table`; a no-op where its rows and its ledger entry are there.

    `load` reads and checks the whole edition; what it raises leaves the table as it was. `part`: a
    condition on its rows, where one file gives several editions.
    """
    mine = warehouse.read(table).where(sf.col("source_sha256") == sha256).where(part)
    there = bool(mine.select("source_sha256").limit(1).collect())
    if there and sha256 in ledger.known(warehouse, kind):
        note = f"{file}: already ingested, nothing to do."
        return IngestResult(kind, 0, (), (file,), (note,), (sha256,))
    loaded = load()
    if not there:
        rows = loaded.rows.withColumn("source_sha256", sf.lit(sha256))
        name = ledger.transaction(warehouse, table, kind, [sha256])
        warehouse.append(table, rows, transaction=name)
    entry = ledger.Entry(kind, sha256, file, loaded.row_count, synthetic=loaded.synthetic)
    ledger.record(warehouse, [entry])
    return IngestResult(kind, loaded.row_count, (file,), (), tuple(loaded.notes), (sha256,))


def packed(rows: pa.Table) -> bytes:
    """A table as compressed Arrow bytes: how checked rows travel to workers, a few MB at most."""
    sink = pa.BufferOutputStream()
    options = pa.ipc.IpcWriteOptions(compression="zstd")
    with pa.ipc.new_stream(sink, rows.schema, options=options) as writer:
        writer.write_table(rows)
    return bytes(sink.getvalue().to_pybytes())


def frame(warehouse: Warehouse, parts: Sequence[bytes], ddl: str, *, tasks: int = 4) -> DataFrame:
    """The rows of `packed` parts as a DataFrame of schema `ddl`.

    `createDataFrame` on the rows themselves needs gigabytes of driver heap for 2 million names;
    on packed parts it needs megabytes, and workers need no access to the user's file.
    """
    source = pa.table({"part": pa.array(parts, pa.binary())})
    frames = warehouse.spark.createDataFrame(source).repartition(min(tasks, len(parts)))
    return frames.mapInArrow(_unpacked, ddl)


def _unpacked(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        for part in batch["part"]:
            with pa.ipc.open_stream(part.as_py()) as reader:
                yield from reader
