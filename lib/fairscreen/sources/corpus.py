"""A corpus of resumes into table `corpus_resume`, with what does not fit in it said."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pyarrow as pa

from fairscreen.sources import corpus_files, editions
from fairscreen.sources.corpus_files import Given, Resume, words
from fairscreen.sources.result import IngestResult
from fairscreen.tables import Warehouse

TABLE = "corpus_resume"
_SCHEMA = pa.schema(
    [
        pa.field("resume_id", pa.string()),
        pa.field("row_number", pa.int32()),
        pa.field("member", pa.string()),
        pa.field("occupation", pa.string()),
        pa.field("role", pa.string()),
        pa.field("resume", pa.string()),
        pa.field("cleaned_resume", pa.string()),
        pa.field("resume_len", pa.int32()),
        pa.field("resume_words", pa.int32()),
        pa.field("cleaned_is_resume_without_role", pa.bool_()),
        pa.field("text", pa.string()),
        pa.field("text_words", pa.int32()),
        pa.field("repairs", pa.int32()),
    ]
)
_SQL = {pa.string(): "STRING", pa.int32(): "INT", pa.bool_(): "BOOLEAN"}
_DDL = ", ".join(f"{field.name} {_SQL[field.type]}" for field in _SCHEMA)
_NAMED = 10  # rows of one kind that a note names; sql/questions/corpus_mismatches.sql has all


def ingest_corpus(warehouse: Warehouse, path: Path, given: Given) -> IngestResult:
    """Append one source's resumes in one transaction; the same source again is a no-op.

    Raises InputError as `corpus_files.read` does, before anything is written.
    """

    def load() -> editions.Loaded:
        found = list(corpus_files.read(path, given))
        rows, notes = table(found), checks(found)
        if left := corpus_files.others(path):
            notes.append(f"{left} file(s) are neither .txt nor .pdf and were left out.")
        frame = editions.frame(warehouse, [editions.packed(rows)], _DDL)
        synthetic = any(resume.synthetic for resume in found)
        if synthetic:
            notes.append("The source says that its resumes are synthetic: nobody's.")
        return editions.Loaded(frame, rows.num_rows, notes, synthetic)

    sha256 = corpus_files.content_sha256(path, given)
    return editions.ingest(
        warehouse, table=TABLE, kind="corpus", file=path.name, sha256=sha256, load=load
    )


def table(resumes: Sequence[Resume]) -> pa.Table:
    """Rows of the table without `source_sha256`; of resumes alike in all that counts the first."""
    once: dict[str, Resume] = {}
    for resume in resumes:
        once.setdefault(resume.resume_id, resume)
    rows = [
        {
            "resume_id": key,
            "row_number": r.row,
            "member": r.member,
            "occupation": r.occupation,
            "role": r.role,
            "resume": r.resume,
            "cleaned_resume": r.cleaned,
            "resume_len": r.resume_len,
            "resume_words": words(r.resume),
            "cleaned_is_resume_without_role": r.cleaned_is_resume_without_role,
            "text": r.text,
            "text_words": words(r.text),
            "repairs": r.repairs,
        }
        for key, r in once.items()
    ]
    return pa.Table.from_pylist(rows, schema=_SCHEMA)


def checks(resumes: Sequence[Resume]) -> list[str]:
    """The check report of a source: sentences, one for each thing that does not fit."""
    seen: dict[str, int] = {}
    for r in resumes:
        seen[r.resume_id] = seen.get(r.resume_id, 0) + 1
    told = [r for r in resumes if r.resume_len is not None]
    repaired = [r for r in resumes if r.repairs]
    places = sum(r.repairs for r in repaired)
    found = [
        _note(
            [r for r in told if r.resume_len != words(r.resume)],
            f"of {len(told)} rows have a Resume_len that is not the number of words of Resume",
            lambda r: f"{r.row} ({r.resume_len}, counted {words(r.resume)})",
        ),
        _note(
            [r for r in resumes if r.cleaned_is_resume_without_role is False],
            "rows have a Cleaned_Resume that is not the Resume without its role words",
            lambda r: str(r.row),
        ),
        _note(
            [r for r in resumes if r.cleaned is None and _keeps_role(r)],
            "rows do not begin with their role: nothing was taken away from their text",
            lambda r: str(r.row),
        ),
        _note(
            repaired,
            f"rows were read in a wrong encoding somewhere ({places:,} places): `text` is right, "
            "the source's columns stay as they came",
            lambda r: str(r.row),
        ),
    ]
    if twice := len(resumes) - len(seen):
        found.append(f"{twice} rows say what an earlier row says and were left out.")
    return [note for note in found if note]


def _keeps_role(resume: Resume) -> bool:
    return corpus_files.without_role(resume.resume, resume.role) == resume.resume.strip()


def _note(rows: list[Resume], what: str, shown: Callable[[Resume], str]) -> str:
    if not rows:
        return ""
    more = f" and {len(rows) - _NAMED} more" if len(rows) > _NAMED else ""
    return f"{len(rows)} {what}: rows {', '.join(shown(r) for r in rows[:_NAMED])}{more}."
