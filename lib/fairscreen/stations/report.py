"""Tables to report and summary, and into the MLflow run of each model."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import pandas as pd
from pyspark.sql import functions as sf

from fairscreen import __version__, sql, tracking
from fairscreen.config import Config
from fairscreen.reporting import experience
from fairscreen.reporting.report import ReportData, render_report
from fairscreen.stations.common import Run, StationResult, fingerprint, run_station
from fairscreen.stations.ingest import Bronze
from fairscreen.stations.reported import (
    effects,
    folder,
    make_folder,
    models,
    samples,
    simulated_notes,
    write_text,
)

_TABLES = (
    "acs_person", "psid_person", "ssa_name", "census_surname", "applicants", "exclusions",
    "experience_fit", "population_fit", "known_propensity", "first_name_typicality",
    "surname_typicality", "versions",
    "documents", "contents", "requests", "replies", "scores", "propensity", "estimates", "overlap",
    "patterns", "diagnostics",
)  # fmt: skip


def run(run: Run[Config], bronze: Bronze, done: Mapping[str, StationResult]) -> StationResult:
    """Write the report and log the runs, unless both are there for these estimates."""
    cfg = run.cfg
    target = folder(cfg) / "report.html"

    def work() -> dict[str, Any]:
        make_folder(target.parent)
        versions = {name: run.warehouse.version(name) for name in _TABLES}
        frames = _frames(run, bronze)
        found = models(run)
        planted = simulated_notes(cfg)
        runs = {
            model: tracking.log_audit_run(
                cfg, model=model, estimates=frames["estimates"], overlap=frames["overlap"],
                patterns=frames["patterns"], outcomes=frames["outcomes"], input_versions=versions,
                warehouse_root=run.warehouse.root, report_path=None,
                summary={"audit_id": cfg.audit_id, "config_hash": cfg.hash()},
                simulated=facts.simulated,
            )
            for model, facts in found.items()
        }  # fmt: skip
        data = ReportData(
            cfg=cfg, generated_at=datetime.now(UTC), package_version=__version__,
            population=frames["population"], exclusions=frames["exclusions"],
            outcomes=frames["outcomes"], estimates=frames["estimates"],
            overlap=frames["overlap"], patterns=frames["patterns"], sources=frames["sources"],
            experience_fit=frames["experience_fit"], population_fit=frames["population_fit"],
            experience=frames["experience"], population_margins=frames["population_margins"],
            diagnostics=frames["case_diagnostics"], pattern_counts=frames["pattern_counts"],
            input_versions=versions, models=found, mlflow_runs=runs,
            samples=samples(run, "version IS NULL"),
            mlflow_command=tracking.open_command(cfg), command=run.command,
            notes=(*planted, *(n for r in done.values() for n in r.detail.get("notes", []))),
        )  # fmt: skip
        beside = experience.files(frames["experience_fit"], cfg)
        for name, text in beside.items():
            write_text(target.with_name(name), text)
        write_text(target, render_report(data))
        for run_id in runs.values():
            for name in (target.name, *beside):
                tracking.attach(cfg, run_id, target.with_name(name))
        return {
            "report_path": str(target),
            "mlflow_run_ids": runs,
            "mlflow_command": tracking.open_command(cfg),
            "table_versions": versions,
            "notes": planted,
            "effects": _effects(frames["estimates"], cfg.estimation.primary),
        }

    mark = fingerprint(done["estimate"].fingerprint, cfg.hash(), str(target), tracking.store(cfg))
    return run_station(run, "report", mark, work, force=not target.exists())


def _effects(estimates: pd.DataFrame, method: str) -> list[dict[str, Any]]:
    """The path effects of summary.json: what the report's main table shows."""
    paths = estimates["design"] == "path_specific"
    return effects(estimates[paths & (estimates["method"] == method)])


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
    sql.prepare(warehouse.spark, warehouse)
    frames["outcomes"] = warehouse.spark.table("group_outcomes").where(run.mine).toPandas()
    for name in ("population_margins", "case_diagnostics", "pattern_counts"):
        frames[name] = warehouse.spark.table(name).where(run.mine).toPandas()
    used = [sha for hashes in bronze.sha256.values() for sha in hashes]
    sources = warehouse.read("source_file").where(sf.col("sha256").isin(used))
    frames["sources"] = sources.orderBy("kind", "file").toPandas()
    return frames
