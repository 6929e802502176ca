"""Job postings into table `job_posting`, with what they lack and what does not fit in it said."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import pyarrow as pa

from fairscreen.settings.postings import FIELDS
from fairscreen.sources import editions, posting_files
from fairscreen.sources.posting_files import Posting
from fairscreen.sources.result import IngestResult
from fairscreen.tables import Warehouse

TABLE, KIND = "job_posting", "postings"
_SCHEMA = pa.schema(
    [
        pa.field("posting_id", pa.string()),
        pa.field("row_number", pa.int32()),
        *(pa.field(name, pa.string()) for name in (*FIELDS, "synthetic")),
    ]
)
_DDL = ", ".join(
    f"{field.name} {'INT' if field.type == pa.int32() else 'STRING'}" for field in _SCHEMA
)


def ingest_postings(warehouse: Warehouse, path: Path, columns: Mapping[str, str]) -> IngestResult:
    """Append one file's postings in one transaction; the same file again is a no-op.

    columns: our field -> what the file calls it; another map makes another source.
    Raises InputError as `posting_files.read` does, before anything is written.
    """

    def load() -> editions.Loaded:
        found = posting_files.read(path, columns)
        rows = table(found.rows)
        frame = editions.frame(warehouse, [editions.packed(rows)], _DDL)
        synthetic = any(posting.synthetic for posting in found.rows)
        return editions.Loaded(frame, rows.num_rows, [*found.notes, *checks(found.rows)], synthetic)

    sha256 = posting_files.content_sha256(path, columns)
    return editions.ingest(
        warehouse, table=TABLE, kind=KIND, file=path.name, sha256=sha256, load=load
    )


def table(postings: Sequence[Posting]) -> pa.Table:
    """Rows of the table without `source_sha256`; of postings that tell the same the first."""
    once: dict[str, Posting] = {}
    for posting in postings:
        once.setdefault(posting.posting_id, posting)
    return pa.Table.from_pylist([posting_files.as_row(p) for p in once.values()], schema=_SCHEMA)


def checks(postings: Sequence[Posting]) -> list[str]:
    """The check report of a source: what is missing, what is there twice, what is made up."""
    once = {posting.posting_id: posting for posting in reversed(postings)}
    missing = {
        field: n
        for at, field in enumerate(FIELDS)
        if (n := sum(posting.told[at] is None for posting in once.values()))
    }
    notes = []
    if missing:
        said = ", ".join(f"{field} {n:,}" for field, n in missing.items())
        notes.append(f"Missing in {len(once):,} postings: {said}.")
    if twice := len(postings) - len(once):
        said = "1 row says" if twice == 1 else f"{twice:,} rows say"
        notes.append(f"{said} what an earlier row says and counts as that posting.")
    made = {p.synthetic for p in once.values() if p.synthetic}
    if made:
        columns = sorted({name for text in made for name in text.split(",")})
        some = sum(p.synthetic is not None for p in once.values())
        notes.append(
            f"SYNTHETIC: the source says that a script made up {', '.join(columns)} in {some:,} of "
            f"{len(once):,} postings."
        )
    return notes
