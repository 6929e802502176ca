"""The stations of a paired-callback audit, from postings and names to its report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from fairscreen import resources
from fairscreen.errors import ConfigError
from fairscreen.settings.callback_audit import CallbackConfig
from fairscreen.stations import (
    callback_estimate,
    callback_report,
    callback_sources,
    pair_documents,
    score,
)
from fairscreen.stations.common import Begun, Run, StationResult
from fairscreen.tables import Warehouse

STATIONS = ("render", "score", "estimate", "report")


def check(cfg: CallbackConfig) -> None:
    """Everything that can be refused before there is work to lose."""
    named = [("postings.paths", path) for path in cfg.postings.paths]
    for where, path in callback_sources.name_files(cfg.names):
        named.append((f"names.{where}", path))
    if cfg.pairs.reference is not None:
        named.append(("pairs.reference", cfg.pairs.reference))
    for where, path in named:
        if not resources.resolve(path).is_file():
            raise ConfigError(
                where,
                f"{path or repr(path)} is no file",
                "Give the path of a file (a relative one starts in the current folder).",
            )
    pair_documents.check(cfg)


def begin(
    cfg: CallbackConfig, warehouse: Warehouse, *, command: str | None, retry: Sequence[str],
    reparse: bool,
) -> Begun:  # fmt: skip
    """Postings and names to bronze; the stations that follow."""
    bronze = callback_sources.ingest(warehouse, cfg)
    run = Run(cfg, warehouse, command)
    return Begun(
        run,
        {
            "render": lambda done: pair_documents.run(run, bronze),
            "score": lambda done: score.run(run, done["render"], retry=retry, reparse=reparse),
            "estimate": lambda done: callback_estimate.run(run, done["score"]),
            "report": lambda done: callback_report.run(run, bronze, done),
        },
    )


def facts(cfg: CallbackConfig, done: Mapping[str, StationResult]) -> dict[str, Any]:
    """What summary.json says of this design."""
    made = done["render"].detail
    return {
        "postings": made.get("postings", {}),
        "names": made.get("names", {}),
        "pairs": made.get("pairs", {}),
        "effects": done["report"].detail.get("effects", []) if "report" in done else [],
    }
