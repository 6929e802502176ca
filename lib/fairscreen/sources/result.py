"""What an ingest reports, whatever the source."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class IngestResult:
    """Outcome of one ingest. Nothing new is a result too: `rows` is 0 and `skipped` says why.

    kind     acs, psid, ssa, surnames, corpus or postings.
    rows     rows appended to the source's table.
    files    `FILE` or `FILE/MEMBER` of what was ingested now.
    skipped  the same for content that was already there.
    notes    sentences for the user, in order.
    sha256   contents that the call named, new or already there: an audit selects its rows by them.
    """

    kind: str
    rows: int
    files: tuple[str, ...]
    skipped: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    sha256: tuple[str, ...] = ()
