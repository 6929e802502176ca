"""Sources of a paired-callback audit: postings, names, and what names are checked against."""

from __future__ import annotations

from dataclasses import dataclass

from fairscreen.settings.callback_audit import CallbackConfig
from fairscreen.settings.callback_names import CallbackNames
from fairscreen.tables import Warehouse


@dataclass(frozen=True)
class CallbackBronze:
    """Content hashes of the audit's sources, by what they are; notes for readers.

    postings, first, surnames: as in job_posting and correspondence_name; ssa, census: as in
    ssa_name and census_surname
    """

    postings: tuple[str, ...]
    first: tuple[str, ...]
    surnames: tuple[str, ...]
    ssa: tuple[str, ...]
    census: tuple[str, ...]
    notes: tuple[str, ...]


def name_files(names: CallbackNames) -> list[tuple[str, str]]:
    """(setting, path) of every file that tells names."""
    lists = [*(("first", p) for p in names.first), *(("surnames", p) for p in names.surnames)]
    return [
        *(lists if names.source == "list" else []),
        ("ssa", names.ssa),
        ("census", names.census),
    ]


def ingest(warehouse: Warehouse, cfg: CallbackConfig) -> CallbackBronze:
    """Every source to bronze; the same files again are a no-op."""
    raise NotImplementedError
