"""Five made-up resumes in JobFair's columns, two of them not what their columns say."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Any

from fairscreen.sources import corpus, corpus_files

HEADER = ("Occupation", "Resume", "Resume_len", "Role", "Cleaned_Resume")
SOURCE = "5" * 64
NURSE = 'Summary Calm nurse, "first in",\nlast out.  Skills Triage'
ROWS: tuple[tuple[str, ...], ...] = (
    ("HEALTHCARE", f"NIGHT NURSE {NURSE}", "11", "NIGHT NURSE", NURSE),
    ("HEALTHCARE", "AIDE Bathing and feeding", "9", "AIDE", "Bathing and feeding"),  # 4 words
    ("HEALTHCARE", "CODER Codes charts all day long", "6", "CODER", "Codes all day long"),
    ("FINANCE", "TELLER Counts money Â twice â€“ daily", "7", "TELLER",
     "Counts money Â twice â€“ daily"),
    ("FINANCE", "CLERK Files and files", "4", "CLERK", "Files and files"),
)  # fmt: skip


def as_csv(rows: tuple[tuple[str, ...], ...] = ROWS) -> str:
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerows((HEADER, *rows))
    return out.getvalue()


def file(folder: Path, text: str | None = None, encoding: str = "utf-8") -> Path:
    path = folder / "resumes.csv"
    path.write_bytes((as_csv() if text is None else text).encode(encoding))
    return path


def table_rows(folder: Path) -> list[dict[str, Any]]:
    """Rows of table corpus_resume, of the file as it would be ingested."""
    found = corpus_files.read(file(folder), corpus_files.Given())
    rows: list[dict[str, Any]] = corpus.table(list(found)).to_pylist()
    return [{**row, "source_sha256": SOURCE} for row in rows]
