"""Seven made-up postings, five of them entry-level by title, one of those incomplete."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Any

from fairscreen.sources import posting_files, postings

HEADER = (
    "Employer", "Job Title", "MSA", "State", "Date", "Description", "Industry", "synthetic",
)  # fmt: skip
COLUMNS = {"metro": "MSA"}
SOURCE = "7" * 64
ROWS: tuple[tuple[str, ...], ...] = (
    ("Zorovane Foods", "Data Analyst", "Atlanta", "GA", "2024-03-01", "Counts\ncrates", "Food", ""),
    ("zorovane foods", "Senior ANALYSTS, R&amp;D", "Boston", "Massachusetts", "2024-03-02", "",
     "Food", "company,metro"),
    ("Quelimmer Bank", "Sales Associate/Analyst", "Denver", "08", "2024-03-03", "", "Bank", ""),
    ("Quelimmer Bank", "Analyst", "", "NY", "2024-03-04", "", "Bank", ""),  # no metro
    ("Quelimmer Bank", "Engineer", "Denver", "CO", "2024-03-05", "", "Bank", ""),
    ("Vrinaldex Air", "Administrative Assistant", "San Juan", "PR", "2024-03-06", "", "", ""),
    ("Vrinaldex Air", "Associated press officer", "Reno", "NV", "2024-03-07", "", "Air", ""),
)  # fmt: skip


def as_csv(rows: tuple[tuple[str, ...], ...] = ROWS) -> str:
    out = io.StringIO()
    csv.writer(out).writerows((HEADER, *rows))
    return out.getvalue()


def file(folder: Path, text: str | None = None) -> Path:
    path = folder / "jobs.csv"
    path.write_text(as_csv() if text is None else text, encoding="utf-8")
    return path


def table_rows(folder: Path) -> list[dict[str, Any]]:
    """Rows of table job_posting, of the file as it would be ingested."""
    found = posting_files.read(file(folder), COLUMNS)
    rows: list[dict[str, Any]] = postings.table(found.rows).to_pylist()
    return [{**row, "source_sha256": SOURCE} for row in rows]
