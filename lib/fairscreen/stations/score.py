"""Documents to scores: plan, ask, commit, parse. What was answered is never asked again."""

from __future__ import annotations

from typing import Any

from fairscreen.scoring import score
from fairscreen.stations.common import Run, StationResult, fingerprint, run_station


def run(run: Run, render: StationResult) -> StationResult:
    """Rows of `requests`, `waves`, `replies` and `scores` of this audit."""

    def work() -> dict[str, Any]:
        done = score.score(run.warehouse, run.cfg)
        return {
            "asked": done.asked,
            "reused": done.reused,
            "outcomes": done.outcomes,
            "cost_usd": done.cost_usd,
            "final": done.final,
        }

    settings = run.cfg.scoring.model_dump(mode="json", include={"models"})
    mark = fingerprint(render.fingerprint, settings)
    return run_station(run, "score", mark, work)
