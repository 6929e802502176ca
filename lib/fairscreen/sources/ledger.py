"""The ledger of upstream files (table `source_file`): what is in the warehouse, by content.

Order of an ingest: rows first, ledger second. A run that dies between the two left its rows but
no ledger entry; the next run finds the rows by their `source_sha256` and only adds the entry.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from fairscreen.tables import Warehouse

TABLE = "source_file"


@dataclass(frozen=True)
class Entry:
    """One ingested file or zip member. `file` and `member` are names without a folder."""

    kind: str
    sha256: str
    file: str
    row_count: int
    member: str | None = None
    vintage: int | None = None
    period: int | None = None
    has_replicate_weights: bool | None = None
    synthetic: bool = False


def known(warehouse: Warehouse, kind: str) -> set[str]:
    """SHA-256 of everything of this kind that the ledger holds."""
    if not warehouse.exists(TABLE):
        return set()
    rows = warehouse.read(TABLE)
    return {r["sha256"] for r in rows.where(rows["kind"] == kind).select("sha256").collect()}


def transaction(warehouse: Warehouse, table: str, kind: str, hashes: Iterable[str]) -> str:
    """Name of the transaction that appends these contents to `table` as it is now.

    Two runs at the same time over the same files get the same name, so one of them writes
    nothing. The table's version is part of the name: content that was deleted from the
    warehouse on purpose can be ingested again, which Delta would otherwise drop silently.
    """
    digest = hashlib.sha256("".join(sorted(hashes)).encode()).hexdigest()
    return f"{kind}/{digest}/{warehouse.version(table)}"


def record(warehouse: Warehouse, entries: Sequence[Entry], *, held: set[str] | None = None) -> None:
    """Append the entries that the ledger does not hold yet, in one transaction.

    `held`: what `known` gave this caller for the one kind of `entries`, to ask only once.
    """
    there = {k: known(warehouse, k) if held is None else held for k in {e.kind for e in entries}}
    fresh = list({(e.kind, e.sha256): e for e in entries if e.sha256 not in there[e.kind]}.values())
    if not fresh:
        return
    now = datetime.now(UTC)
    schema = warehouse.schema(TABLE)
    rows = [
        tuple(now if name == "ingested_at" else getattr(e, name) for name in schema.names)
        for e in fresh
    ]
    kinds = "+".join(sorted({e.kind for e in fresh}))
    name = transaction(warehouse, TABLE, kinds, [e.sha256 for e in fresh])
    warehouse.append(TABLE, warehouse.spark.createDataFrame(rows, schema), transaction=name)
