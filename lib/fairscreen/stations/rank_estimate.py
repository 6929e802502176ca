"""Scores of a ranking audit to estimates and diagnostics."""

from __future__ import annotations

from typing import Any

from fairscreen.audits import ranking
from fairscreen.settings.rank_audit import RankingConfig
from fairscreen.stations.common import Run, StationResult, fingerprint, run_station

INPUTS = ("rank_documents", "scores")


def run(run: Run[RankingConfig], score: StationResult) -> StationResult:
    """Rows of `estimates` and `diagnostics` of this audit."""
    cfg, warehouse = run.cfg, run.warehouse

    def work() -> dict[str, Any]:
        versions = {name: warehouse.version(name) for name in INPUTS}
        table = {
            name: warehouse.read(name, version=versions[name]).where(run.mine) for name in INPUTS
        }
        result = ranking.run(
            table["scores"], table["rank_documents"], cfg,
            config_hash=cfg.hash(), input_versions=versions,
        )  # fmt: skip
        for name, records in (("estimates", result.estimates), ("diagnostics", result.diagnostics)):
            warehouse.replace(name, warehouse.rows(name, records), where=run.mine)
        return {
            "rows": len(result.estimates), "input_versions": versions, "notes": result.notes,
        }  # fmt: skip

    settings = cfg.model_dump(mode="json", include={"estimation", "seed", "information", "labels"})
    return run_station(run, "estimate", fingerprint(score.fingerprint, settings), work)
