"""Tables to report and summary, and into the MLflow run of each model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd
from pyspark.sql import functions as sf

from fairscreen.config import Config
from fairscreen.reporting import experience
from fairscreen.reporting.report import ReportData, render_report
from fairscreen.stations.common import Run, StationResult
from fairscreen.stations.ingest import Bronze
from fairscreen.stations.reported import Told, of_view, publish

_TABLES = (
    "acs_person", "psid_person", "ssa_name", "census_surname", "applicants", "exclusions",
    "experience_fit", "population_fit", "known_propensity", "first_name_typicality",
    "surname_typicality", "versions",
    "documents", "contents", "requests", "replies", "scores", "propensity", "estimates", "overlap",
    "patterns", "diagnostics",
)  # fmt: skip


def run(run: Run[Config], bronze: Bronze, done: Mapping[str, StationResult]) -> StationResult:
    """Write the report and log the runs, unless both are there for these estimates."""
    return publish(
        run, done, tables=_TABLES, sampled="version IS NULL", tell=lambda: _told(run, bronze)
    )


def _told(run: Run[Config], bronze: Bronze) -> Told:
    cfg, frames = run.cfg, _frames(run, bronze)
    estimates = frames["estimates"]
    shown = (
        "population", "exclusions", "overlap", "patterns", "experience_fit", "population_fit",
        "experience", "population_margins",
    )  # fmt: skip

    def render(common: dict[str, Any]) -> str:
        own: dict[str, Any] = {name: frames[name] for name in shown}
        return render_report(
            ReportData(
                **common, **own, diagnostics=frames["case_diagnostics"],
                pattern_counts=frames["pattern_counts"],
            )
        )  # fmt: skip

    main = estimates["design"].eq("path_specific")
    main &= estimates["method"].eq(cfg.estimation.primary)
    return Told(
        estimates=estimates, outcomes=frames["outcomes"], sources=frames["sources"],
        tables={name: frames[name] for name in ("overlap", "patterns")},
        effects=estimates[main],  # what the report's main table shows
        render=render, beside=experience.files(frames["experience_fit"], cfg),
    )  # fmt: skip


def _frames(run: Run[Config], bronze: Bronze) -> dict[str, pd.DataFrame]:
    """Everything the report shows, as small frames (results and counts, never applicants)."""
    warehouse = run.warehouse
    frames = {
        name: warehouse.read(name).where(run.mine).toPandas()
        for name in (
            "exclusions",
            "experience_fit",
            "population_fit",
            "estimates",
            "overlap",
            "patterns",
        )
    }
    applicants = warehouse.read("applicants").where(run.mine)
    keys = ["job", "gender", "race", "edu_group"]
    counts = applicants.groupBy(*keys).agg(sf.count(sf.lit(1)).alias("n"))
    frames["population"] = counts.orderBy(*keys).toPandas()
    # Whole months at whole ages: bounded by the domain, whatever the number of applicants.
    by_age = applicants.groupBy("job", "age", "exp_year").agg(
        sf.sum("design_weight").cast("double").alias("weight")
    )
    frames["experience"] = by_age.toPandas()
    frames["outcomes"] = of_view(run, "group_outcomes")
    for name in ("population_margins", "case_diagnostics", "pattern_counts"):
        frames[name] = of_view(run, name)
    used = [sha for hashes in bronze.sha256.values() for sha in hashes]
    sources = warehouse.read("source_file").where(sf.col("sha256").isin(used))
    frames["sources"] = sources.orderBy("kind", "file").toPandas()
    return frames
