"""Documents to scores: plan, ask, commit, parse. What was answered is never asked again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fairscreen.scoring import score
from fairscreen.scoring_runs import ScoringRuns
from fairscreen.settings.audit import AuditConfig
from fairscreen.stations.common import Run, StationResult, fingerprint, run_station


def run(
    run: Run[AuditConfig],
    render: StationResult,
    *,
    retry: Sequence[str] = (),
    reparse: bool = False,
) -> StationResult:
    """Rows of `requests`, `waves`, `replies`, `scores` and `parser_agreement` of this audit.

    retry: outcomes whose calls are asked again. reparse: read the replies again though nothing
    changed.
    """

    def work() -> dict[str, Any]:
        with ScoringRuns(run.cfg, run.warehouse.root) as runs:
            done = score.score(run.warehouse, run.cfg, retry=retry, recorder=runs)
        return {
            "asked": done.asked,
            "reused": done.reused,
            "outcomes": done.outcomes,
            "outcomes_by_group": done.outcomes_by_group,
            "cost_usd": done.cost_usd,
            "final": done.final,
            "notes": list(done.notes),
        }

    settings = run.cfg.scoring.model_dump(mode="json", include={"models"})
    mark = fingerprint(render.fingerprint, settings)
    return run_station(run, "score", mark, work, force=reparse or bool(retry))
