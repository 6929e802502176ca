"""Job postings as people have them: CSV, TSV, JSON lines, parquet, Stata or Excel, one per row.

Columns are found by name, in any case, order and spelling of blanks (Job Title, job-title,
job_title), or told: our field -> the file's column. Two columns that may both be one field are an
error that names them. `employment_type` (full-time) is not taken for a job type unless told.
JSON lines: one object per line, or one array of objects.
What a cell may hold, posting_values.py says; what it may not is missing, and counted in a note.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from fairscreen.errors import InputError
from fairscreen.input_files import labels, place, read_table
from fairscreen.settings.postings import FIELDS
from fairscreen.sources import archive, json_lines, posting_values
from fairscreen.sources.posting_values import Slashed
from fairscreen.sources.text_encoding import encoding

_TEXT = (".csv", ".tsv", ".txt")
_JSON = (".jsonl", ".ndjson", ".json")
_TYPED = (".parquet", ".dta", ".xlsx")
_KINDS = "CSV (.csv, .tsv), JSON lines (.jsonl), parquet, Stata (.dta), Excel (.xlsx)"
_REMEDY = f"Give a file with one row per posting: {_KINDS}."
#: What files call our fields, as `_plain` writes it.
NAMES = {
    "company": ("company", "company_name", "employer", "employer_name", "firm", "organization"),
    "title": ("title", "job_title", "jobtitle", "position", "title_raw", "jobtitle_raw"),
    "metro": ("metro", "metro_area", "metropolitan_area", "metro_name", "msa", "msa_name", "cbsa",
              "cbsa_name", "cbsa_title"),
    "state": ("state", "state_name", "state_code", "state_abbr", "state_usps", "state_fips"),
    "posted": ("posted", "posted_date", "posted_on", "posting_date", "post_date", "date_posted",
               "date"),
    "description": ("description", "job_description", "description_raw"),
    "industry": ("industry", "industry_name", "sector"),
    "job_type": ("job_type", "jobtype", "job_function", "function"),
}  # fmt: skip
_SYNTHETIC = "synthetic"
_SAYS = {"": False, "0": False, "false": False, "no": False,
         "1": True, "true": True, "yes": True}  # fmt: skip
_NAMED = 10  # rows that a note names


@dataclass(frozen=True)
class Posting:
    """One posting of a source. row: 0 = its first; the fields as job_posting has them."""

    row: int
    company: str | None = None
    title: str | None = None
    metro: str | None = None
    state: str | None = None
    posted: str | None = None
    description: str | None = None
    industry: str | None = None
    job_type: str | None = None
    synthetic: str | None = None

    @property
    def told(self) -> tuple[str | None, ...]:
        return tuple(getattr(self, field) for field in FIELDS)

    @property
    def posting_id(self) -> str:
        """Content key of everything that a posting tells, as FIELDS orders it."""
        said = json.dumps(self.told, ensure_ascii=False)
        return hashlib.sha256(said.encode()).hexdigest()[:32]


@dataclass(frozen=True)
class Postings:
    """What a file holds, in its order, and sentences about what could not be taken as it stood."""

    rows: tuple[Posting, ...]
    notes: tuple[str, ...]


def content_sha256(path: Path, columns: Mapping[str, str]) -> str:
    """SHA-256 of a file's bytes, and of the column map where one is given."""
    content = archive.file_sha256(path, _REMEDY)
    if not columns:
        return content
    return hashlib.sha256(json.dumps([content, dict(sorted(columns.items()))]).encode()).hexdigest()


def read(path: Path, columns: Mapping[str, str]) -> Postings:
    """The postings of one file. columns: our field -> what the file calls it.

    Raises InputError naming file, line or column: no rows, an unknown encoding, broken JSON, a
    column of the map that is not there, two columns for one field, a cell that holds a list.
    """
    frame = _frame(path)
    titles = found(str(path), list(frame.columns), columns)
    notes = [*_columns_note(titles)]
    cells = {field: _cells(path, frame, title) for field, title in titles.items()}
    places = [place(frame, i) for i in range(len(frame))]
    values: dict[str, list[str | None]] = {}
    for field in (f for f in FIELDS if f in cells):
        if field == "state":
            values[field], more = _states(cells[field], places)
        elif field == "posted":
            values[field], more = _dates(cells[field], places)
        else:
            lines = field == "description"
            values[field] = [posting_values.text(c, lines=lines) for c in cells[field]]
            more = []
        notes += more
    rows = [
        Posting(i, **{field: column[i] for field, column in values.items()})
        for i in range(len(frame))
    ]
    if _SYNTHETIC in cells:
        names = {title.lower(): field for field, title in titles.items() if field in FIELDS}
        rows = [
            replace(row, synthetic=_made_up(cell, row, names, f"{path}, {where}, synthetic"))
            for row, cell, where in zip(rows, cells[_SYNTHETIC], places, strict=True)
        ]
    full = [row for row in rows if any(row.told)]
    if empty := len(rows) - len(full):
        said = "1 row tells" if empty == 1 else f"{empty:,} rows tell"
        notes.append(f"{said} nothing of a posting; left out.")
    if not full:
        problem = "no row tells anything of a posting"
        raise InputError(str(path), problem, "Fill the columns in, or name others as such.")
    return Postings(tuple(full), tuple(notes))


# --- columns


def found(path: str, names: Sequence[str], columns: Mapping[str, str]) -> dict[str, str]:
    """Our field -> the file's column, of the fields that the file has (and `synthetic`)."""
    by_plain: dict[str, list[str]] = {}
    for name in names:
        by_plain.setdefault(_plain(name), []).append(name)
    titles: dict[str, str] = {}
    for field, told in columns.items():
        there = [told] if told in names else by_plain.get(_plain(told), [])
        if not there:
            problem = f"has no column {told!r}, which is to be {field}; it has {_listed(names)}"
            raise InputError(path, problem, "Name one of them.")
        titles[field] = _only(path, field, there)
    mapped = set(titles.values())  # said to be something else
    for field, known in {**NAMES, _SYNTHETIC: (_SYNTHETIC,)}.items():
        there = [name for plain in known for name in by_plain.get(plain, []) if name not in mapped]
        if there and field not in titles:
            titles[field] = _only(path, field, there)
    if not set(titles) & set(FIELDS):
        problem = f"has no column of a posting that is known by name; it has {_listed(names)}"
        raise InputError(
            path, problem,
            "Say which is what (--column title=NAME, or postings.columns of an audit).",
        )  # fmt: skip
    return titles


def _only(path: str, field: str, there: Sequence[str]) -> str:
    if len(there) > 1:
        problem = f"columns {' and '.join(there)} may both be {field}"
        remedy = f"Say which is meant (--column {field}={there[0]}, or postings.columns)."
        raise InputError(path, problem, remedy)
    return there[0]


def _plain(name: str) -> str:
    return re.sub(r"[\s_.-]+", "_", name.strip().lower())


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - 30} more" if len(names) > 30 else ""
    return ", ".join(names[:30]) + more


def _columns_note(titles: Mapping[str, str]) -> list[str]:
    named = [f"{f} = {titles[f]}" for f in FIELDS if f in titles and _plain(titles[f]) != f]
    lacking = [field for field in FIELDS if field not in titles]
    notes = [f"Columns: {', '.join(named)}."] if named else []
    if lacking:
        notes.append(f"The file has no column for {', '.join(lacking)}.")
    return notes


# --- cells


def _cells(path: Path, frame: pd.DataFrame, title: str) -> list[str | None]:
    column = frame[title]
    if column.dtype == object:
        for i, cell in enumerate(column.tolist()):
            if isinstance(cell, dict | list | tuple | set | np.ndarray):
                raise InputError(
                    f"{path}, {place(frame, i)}, {title}", "holds a list or an object, not a text",
                    "Write it as one text, or name another column.",
                )  # fmt: skip
    return list(labels(column))


def _states(
    cells: Sequence[str | None], places: Sequence[str]
) -> tuple[list[str | None], list[str]]:
    states = [posting_values.usps(cell) for cell in cells]
    return states, _unread(
        cells, states, places, "a state that is none of the United States",
        "Give USPS codes, names or FIPS codes.",
    )  # fmt: skip


def _dates(
    cells: Sequence[str | None], places: Sequence[str]
) -> tuple[list[str | None], list[str]]:
    """Days; where two numbers may be swapped, the file's other dates tell which is the month."""
    read = [posting_values.posted(cell) for cell in cells]
    slashed = [day for day in read if isinstance(day, Slashed)]
    order = posting_values.order(slashed)
    month_first = order in ("month", "silent")
    notes: list[str] = []

    def settled(day: str | Slashed | None) -> str | None:
        if not isinstance(day, Slashed):
            return day
        one, two = day.read(True), day.read(False)
        if one is None or two is None:
            return one or two
        return None if order == "both" else day.read(month_first)

    example = next((c for c, d in zip(cells, read, strict=True) if isinstance(d, Slashed)), None)
    if order == "silent" and slashed:
        notes.append(
            f"Dates such as {(example or '').strip()} ({len(slashed):,} of them) were read as "
            "month, day, year, as in the United States; nothing in the file says otherwise."
        )
    if order == "day":
        notes.append("Dates were read as day, month, year: some of the file can be nothing else.")
    if order == "both":
        notes.append(
            "Some dates begin with the month and some with the day: where both are possible the "
            "date counts as missing."
        )
    days = [settled(day) for day in read]
    return days, notes + _unread(
        cells, days, places, "a date that is not read (years have four digits)",
        "Write it as YYYY-MM-DD.",
    )  # fmt: skip


def _unread(
    cells: Sequence[str | None], values: Sequence[str | None], places: Sequence[str], what: str,
    remedy: str,
) -> list[str]:  # fmt: skip
    """A note about the cells that hold something and tell nothing; none where there are none."""
    wrong = [
        f"{where} ({' '.join(cell.split())[:40]!r})"
        for cell, value, where in zip(cells, values, places, strict=True)
        if value is None and cell is not None and cell.strip()
    ]
    if not wrong:
        return []
    more = f" and {len(wrong) - _NAMED:,} more" if len(wrong) > _NAMED else ""
    return [
        f"{_count(len(wrong), 'row')} with {what}, which counts as missing: "
        f"{', '.join(wrong[:_NAMED])}{more}. {remedy}"
    ]


def _made_up(cell: str | None, row: Posting, names: Mapping[str, str], where: str) -> str | None:
    """Fields that a script made up, sorted: a list in the cell, or true for all that are told."""
    said = (cell or "").strip().lower()
    if said in _SAYS:
        told = [field for field, value in zip(FIELDS, row.told, strict=True) if value is not None]
        return ",".join(sorted(told)) or None if _SAYS[said] else None
    fields = [part.strip() for part in said.split(",")]
    if unknown := [f for f in fields if f not in FIELDS and f not in names]:
        raise InputError(
            where, f"{unknown[0]!r} is no column of a posting",
            f"List those that were made up, with commas: {', '.join(FIELDS)}.",
        )  # fmt: skip
    return ",".join(sorted({f if f in FIELDS else names[f] for f in fields}))


def _count(n: int, noun: str) -> str:
    return f"{n:,} {noun}{'' if n == 1 else 's'}"


# --- files


def _frame(path: Path) -> pd.DataFrame:
    suffix = path.suffix.lower()
    if not path.is_file():
        problem = "is a folder" if path.is_dir() else "no such file"
        raise InputError(str(path), problem, _REMEDY)
    if suffix in _JSON:
        return json_lines.read_lines(path, row="posting", remedy=_REMEDY)
    if suffix in _TEXT:
        return read_table(path, row="posting", encoding=encoding(path, _REMEDY))
    if suffix in _TYPED:
        return read_table(path, row="posting")
    raise InputError(str(path), f"files ending in {suffix or 'nothing'} are not read", _REMEDY)


def as_row(posting: Posting) -> dict[str, Any]:
    """A row of job_posting without its source."""
    told = asdict(posting)
    return {"posting_id": posting.posting_id, "row_number": told.pop("row"), **told}
