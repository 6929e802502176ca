"""One audit from sources to report: the stations in order, under the audit's lease."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

from fairscreen import __version__
from fairscreen.errors import InputError
from fairscreen.lease import lease
from fairscreen.progress import say
from fairscreen.scoring import quote as quotes
from fairscreen.scoring import quote_text, screeners
from fairscreen.session import get_session
from fairscreen.settings.audit import AuditConfig
from fairscreen.stations import callbacks, path_specific, ranking, reported
from fairscreen.stations.common import Run, StationResult
from fairscreen.tables import Warehouse, require_folder

#: What each design does: a module with STATIONS, check, begin and facts.
DESIGNS: dict[str, Any] = {
    "path_specific": path_specific,
    "ranking": ranking,
    "paired_callback": callbacks,
}


def run_audit(
    cfg: AuditConfig, *, until: str = "report", command: str | None = None,
    retry: Sequence[str] = (), reparse: bool = False, quote: bool = False,
) -> dict[str, Any]:  # fmt: skip
    """Run the audit's stations up to `until`; the summary. `command`: for the report.

    retry, reparse: see `stations.score`. quote: instead of scoring say what it would cost, as
    `quote` for machines and `text` for people; stations run up to `render`.
    Raises InputError for a station that the audit's design does not have.
    """
    # Everything that can be refused is refused before there is work to lose.
    design = DESIGNS[cfg.design]
    if until not in design.STATIONS:
        raise InputError(
            f"station {until}",
            f"is none of the design {cfg.design}",
            f"Its stations are: {', '.join(design.STATIONS)}.",
        )
    screeners.check(cfg)
    if not quote and until not in {"applicants", "render"}:
        for missing in screeners.keys_missing(cfg):
            say(f"no key yet: {missing} Calls that are not answered will need it.")
    design.check(cfg)
    require_folder(cfg.warehouse)
    reported.make_folder(reported.folder(cfg))
    say(f"audit {cfg.audit_id}: starting Spark")
    warehouse = Warehouse(get_session(), cfg.warehouse)
    began = time.monotonic()
    with lease(warehouse, cfg.audit_id, folder=cfg.scoring.journal):
        begun = design.begin(cfg, warehouse, command=command, retry=retry, reparse=reparse)
        run = begun.run
        seconds = {"ingest": time.monotonic() - began}
        done: dict[str, StationResult] = {}
        last = "render" if quote else until
        for name in design.STATIONS[: design.STATIONS.index(last) + 1]:
            done[name] = begun.stations[name](done)
            seconds[name] = done[name].seconds
        if quote:
            found = quotes.quote(warehouse, run.cfg, retry=retry)
            return {"quote": quote_text.as_json(found), "text": quote_text.as_text(found)}
        summary = _summary(run, done, seconds)
        summary |= design.facts(run.cfg, done)
        summary["notes"] = [n for result in done.values() for n in result.detail.get("notes", [])]
    if until == "report":
        summary["summary_path"] = reported.write_summary(run.cfg, summary)
    return summary


def _summary(
    run: Run[AuditConfig], done: dict[str, StationResult], seconds: dict[str, float]
) -> dict[str, Any]:
    """What summary.json says of every design."""
    scored = done["score"].detail if "score" in done else {}
    # A kept score station asked nothing in this run: every request was answered before.
    kept = "score" in done and done["score"].kept
    asked, reused = scored.get("asked", 0), scored.get("reused", 0)
    reported = done["report"].detail if "report" in done else {}
    return {
        "audit_id": run.cfg.audit_id,
        "config_hash": run.cfg.hash(),
        "package_version": __version__,
        "stage_seconds": {name: round(s, 1) for name, s in seconds.items()},
        "kept_stages": [name for name, result in done.items() if result.kept],
        "tables": run.warehouse.facts(run.mine),
        "asked": 0 if kept else asked,
        "reused": asked + reused if kept else reused,
        "outcomes": scored.get("outcomes", {}),
        "outcomes_by_group": scored.get("outcomes_by_group", {}),
        "cost_usd": 0.0 if kept else scored.get("cost_usd", 0.0),
        "mlflow_run_ids": reported.get("mlflow_run_ids", {}),
        "mlflow_command": reported.get("mlflow_command"),
        "report_path": reported.get("report_path"),
    }


def closing_text(cfg: AuditConfig, summary: dict[str, Any]) -> str:
    """What the command prints at its end."""
    lines = [
        f"audit {summary['audit_id']}: asked {summary['asked']:,}, reused {summary['reused']:,}",
        f"warehouse:  {cfg.warehouse}",
    ]
    for name, facts in summary["tables"].items():
        lines.append(f"  {name:<21} {facts['rows']:>10,} rows  Delta version {facts['version']}")
    if summary.get("report_path"):
        lines += [
            f"report:     {summary['report_path']}",
            f"MLflow:     {summary['mlflow_command']}",
        ]
        lines.append(f"summary:    {summary['summary_path']}")
    return "\n".join(lines)
