"""A posting as the prompt shows it: one labelled line per field that it tells."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from fairscreen.errors import InputError
from fairscreen.settings.pairs import PostingField

_LABELS: dict[PostingField, str] = {
    "company": "Company",
    "title": "Title",
    "location": "Location",
    "posted": "Date posted",
    "industry": "Industry",
    "description": "Description",
}


def posting_text(posting: Mapping[str, Any], fields: Sequence[PostingField]) -> str:
    """Lines such as `Company: Acme`, in the order of `fields`; what the posting does not tell has
    no line. posting: posting_id and columns of `job_posting`.

    Raises InputError where it tells none of the fields.
    """
    lines = [f"{_LABELS[field]}:{text}" for field in fields if (text := _text(posting, field))]
    if not lines:
        raise InputError(
            "pairs.posting_fields",
            f"posting {posting['posting_id']} tells none of {', '.join(fields)}",
            "Name a field that your postings have, or put it under postings.require.",
        )
    return "\n".join(lines)


def _text(posting: Mapping[str, Any], field: PostingField) -> str:
    """What stands after the label; a description of several lines begins on the next one."""
    if field == "description":
        text = (posting["description"] or "").strip()
        return f"\n{text}" if "\n" in text else text and f" {text}"
    names = ("metro", "state") if field == "location" else (field,)
    found = [part for name in names if (part := _line(posting[name]))]
    return f" {', '.join(found)}" if found else ""


def _line(text: str | None) -> str:
    """On one line, whatever the source has in it: a label begins each."""
    return " ".join((text or "").split())
