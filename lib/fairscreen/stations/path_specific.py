"""The stations of a path-specific audit, from Census files to its report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from fairscreen.config import Config
from fairscreen.documents.render import job_contents
from fairscreen.population import jobs
from fairscreen.stations import applicants, estimate, ingest, render, report, score, selection
from fairscreen.stations.common import Begun, Run, StationResult
from fairscreen.tables import Warehouse

STATIONS = ("applicants", "render", "score", "estimate", "report")


def check(cfg: Config) -> None:
    """Everything that can be refused before there is work to lose."""
    jobs.check(cfg.population)
    ingest.require_files(cfg)
    job_contents(cfg)


def begin(
    cfg: Config, warehouse: Warehouse, *, command: str | None, retry: Sequence[str], reparse: bool
) -> Begun:
    """Sources to bronze and jobs in the survey's own codes; the stations that follow."""
    bronze = ingest.run(warehouse, cfg.sources)
    concrete, chosen = selection.concrete(cfg, warehouse, bronze)
    run = Run(concrete, warehouse, command)
    return Begun(
        run,
        {
            "applicants": lambda done: applicants.run(run, bronze, chosen),
            "render": lambda done: render.run(run, done["applicants"]),
            "score": lambda done: score.run(run, done["render"], retry=retry, reparse=reparse),
            "estimate": lambda done: estimate.run(run, bronze, done["score"]),
            "report": lambda done: report.run(run, bronze, done),
        },
    )


def facts(cfg: Config, done: Mapping[str, StationResult]) -> dict[str, Any]:
    """What summary.json says of this design. cfg: the run's own, with concrete jobs."""
    return {
        "jobs": {key: list(job.occp) for key, job in cfg.population.jobs.items()},
        "selection": done["applicants"].detail.get("selection"),
        "effects": done["report"].detail.get("effects", []) if "report" in done else [],
        "synthetic_sources": done["applicants"].detail.get("synthetic", []),
    }
