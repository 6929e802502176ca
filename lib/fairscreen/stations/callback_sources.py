"""Sources of a paired-callback audit: postings, names, and what names are checked against."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from fairscreen.progress import say
from fairscreen.settings.callback_audit import CallbackConfig
from fairscreen.settings.callback_names import CallbackNames
from fairscreen.sources.result import IngestResult
from fairscreen.stations import ingest as upstream
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
    told = cfg.postings
    columns = {str(field): name for field, name in told.columns.items()}
    postings = _read(
        "postings", told.paths,
        lambda: upstream.ingest(warehouse, "postings", told.paths, columns=columns),
    )  # fmt: skip
    names = ingest_names(warehouse, cfg.names)
    sha256 = {kind: result.sha256 for kind, result in names.items()}
    return CallbackBronze(
        postings=postings.sha256,
        first=sha256.get("first", ()),
        surnames=sha256.get("surnames", ()),
        ssa=sha256["ssa"],
        census=sha256["census"],
        notes=(
            *(note for r in (postings, *names.values()) for note in r.notes),
            *_not_read(cfg.names),
        ),
    )


def _not_read(names: CallbackNames) -> list[str]:
    """Lists that are named and stand idle."""
    lists = ", ".join((*names.first, *names.surnames))
    if names.source == "list" or not lists:
        return []
    return [f"names.source population takes SSA and Census names; lists are not read: {lists}."]


def ingest_names(warehouse: Warehouse, names: CallbackNames) -> dict[str, IngestResult]:
    """By what they are: first, surnames (lists; neither where names are drawn), ssa, census.

    Raises InputError as the readers do.
    """
    kinds = {
        "first": "correspondence_first", "surnames": "correspondence_surname",
        "ssa": "ssa", "census": "surnames",
    }  # fmt: skip
    files: dict[str, list[str]] = {}
    for setting, path in name_files(names):
        files.setdefault(setting, []).append(path)
    return {
        setting: _read(setting, paths, partial(upstream.ingest, warehouse, kinds[setting], paths))
        for setting, paths in files.items()
    }


def _read(kind: str, paths: Sequence[str], work: Callable[[], IngestResult]) -> IngestResult:
    """What `work` gives, with a line before and after."""
    say(f"ingest: {kind}: reading {', '.join(paths)}")
    result = work()
    say(f"ingest: {kind}: {f'{result.rows:,} rows' if result.files else 'already there'}")
    return result
