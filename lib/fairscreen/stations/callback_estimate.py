"""Scores of a paired-callback audit to estimates and diagnostics."""

from __future__ import annotations

from typing import Any

from fairscreen.audits import callback_panel, callbacks
from fairscreen.settings.callback_audit import CallbackConfig
from fairscreen.stations.common import Run, StationResult, fingerprint, run_station

INPUTS = ("pair_documents", "scores", "replies")


def run(run: Run[CallbackConfig], score: StationResult) -> StationResult:
    """Rows of `estimates` and `diagnostics` of this audit."""
    cfg, warehouse = run.cfg, run.warehouse

    def work() -> dict[str, Any]:
        versions = {name: warehouse.version(name) for name in INPUTS}
        table = {name: warehouse.read(name, version=versions[name]) for name in INPUTS}
        result = callbacks.run(
            table["scores"].where(run.mine), table["pair_documents"].where(run.mine),
            table["replies"], cfg, config_hash=cfg.hash(), input_versions=versions,
        )  # fmt: skip
        for name, records in (("estimates", result.estimates), ("diagnostics", result.diagnostics)):
            warehouse.replace(name, warehouse.rows(name, records), where=run.mine)
        return {
            "rows": len(result.estimates), "input_versions": versions, "notes": result.notes,
        }  # fmt: skip

    settings = cfg.model_dump(mode="json", include={"estimation", "seed", "contrasts", "panel"})
    # Release months that conf/models.yml tells are settings too.
    dates = {name: (m.released, m.family) for name, m in callback_panel.panel_of(cfg).items()}
    return run_station(run, "estimate", fingerprint(score.fingerprint, settings, dates), work)
