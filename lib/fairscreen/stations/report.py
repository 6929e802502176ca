"""Tables to report and summary, and into the MLflow run of each model."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pandas as pd
from pyspark.sql import functions as sf

from fairscreen import __version__, sql, tracking
from fairscreen.config import Config
from fairscreen.errors import InputError
from fairscreen.reporting import experience
from fairscreen.reporting.report import ModelFacts, ReportData, Sample, render_report
from fairscreen.scoring.screeners.planted import notes as planted_notes
from fairscreen.settings.audit import AuditConfig
from fairscreen.stations.common import Run, StationResult, fingerprint, run_station
from fairscreen.stations.ingest import Bronze

SIMULATED = frozenset({"planted"})
_TABLES = (
    "acs_person", "psid_person", "ssa_name", "census_surname", "applicants", "exclusions",
    "experience_fit", "population_fit", "known_propensity", "first_name_typicality",
    "surname_typicality", "versions",
    "documents", "contents", "requests", "replies", "scores", "estimates", "overlap", "patterns",
    "diagnostics",
)  # fmt: skip


def folder(cfg: AuditConfig) -> Path:
    """Where report and summary of this audit go."""
    return Path(cfg.out).expanduser().resolve() / cfg.audit_id


def run(run: Run[Config], bronze: Bronze, done: Mapping[str, StationResult]) -> StationResult:
    """Write the report and log the runs, unless both are there for these estimates."""
    cfg = run.cfg
    target = folder(cfg) / "report.html"

    def work() -> dict[str, Any]:
        make_folder(target.parent)
        versions = {name: run.warehouse.version(name) for name in _TABLES}
        frames = _frames(run, bronze)
        models = _models(run)
        planted = [
            note
            for name, screener in cfg.scoring.models.items()
            if screener.kind == "planted"
            for note in planted_notes(name, screener.params)
        ]
        runs = {
            model: tracking.log_audit_run(
                cfg, model=model, estimates=frames["estimates"], overlap=frames["overlap"],
                patterns=frames["patterns"], outcomes=frames["outcomes"], input_versions=versions,
                warehouse_root=run.warehouse.root, report_path=None,
                summary={"audit_id": cfg.audit_id, "config_hash": cfg.hash()},
                simulated=facts.simulated,
            )
            for model, facts in models.items()
        }  # fmt: skip
        data = ReportData(
            cfg=cfg, generated_at=datetime.now(UTC), package_version=__version__,
            population=frames["population"], exclusions=frames["exclusions"],
            outcomes=frames["outcomes"], estimates=frames["estimates"],
            overlap=frames["overlap"], patterns=frames["patterns"], sources=frames["sources"],
            experience_fit=frames["experience_fit"], population_fit=frames["population_fit"],
            experience=frames["experience"], population_margins=frames["population_margins"],
            diagnostics=frames["case_diagnostics"], pattern_counts=frames["pattern_counts"],
            input_versions=versions, models=models, samples=_samples(run), mlflow_runs=runs,
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


def write_summary(cfg: AuditConfig, summary: dict[str, Any]) -> str:
    """Write summary.json; its path. A run logged just now gets it too."""
    target = folder(cfg) / "summary.json"
    summary = {**summary, "summary_path": str(target)}
    make_folder(target.parent)
    write_text(target, json.dumps(summary, indent=2, default=str, allow_nan=False) + "\n")
    if "report" not in summary["kept_stages"]:
        for run_id in summary["mlflow_run_ids"].values():
            tracking.attach(cfg, run_id, target)
    return str(target)


def write_text(target: Path, text: str) -> None:
    """Write whole or not at all: a reader never sees half a report."""
    part = target.with_name(target.name + ".part")
    part.write_text(text, encoding="utf-8")
    os.replace(part, target)


def make_folder(place: Path) -> None:
    """Make the folder; InputError where it cannot be made or written to."""
    problem = None
    try:
        place.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        problem = (error.strerror or "cannot be made").lower()
    if problem is None and not os.access(place, os.W_OK | os.X_OK):
        problem = "cannot be written to"
    if problem:
        raise InputError(f"out: {place}", problem, "Give --out a folder that you can write to.")


_HEADLINE = (
    "model", "contrast", "document_format", "slice", "estimand", "title", "estimate", "std_error",
    "ci_low", "ci_high", "p_value", "p_holm", "n", "favors_when_positive", "status", "reason",
)  # fmt: skip


def _effects(estimates: pd.DataFrame, method: str) -> list[dict[str, Any]]:
    """The path effects of summary.json: what the report's main table shows, null where it does."""
    paths = estimates["design"] == "path_specific"
    main = estimates[paths & (estimates["method"] == method)]
    rows = main[list(_HEADLINE)].astype(object).where(main[list(_HEADLINE)].notna(), None)
    return [{str(k): v for k, v in row.items()} for row in rows.to_dict("records")]


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


def _models(run: Run[Config]) -> dict[str, ModelFacts]:
    mine = run.warehouse.read("requests").where(run.mine).select("call_key", "model")
    answered = mine.join(
        run.warehouse.read("replies").select("call_key", "model_version"), "call_key"
    )
    versions = answered.groupBy("model").agg(sf.max("model_version").alias("v")).collect()
    found = {row["model"]: row["v"] for row in versions}
    return {
        name: ModelFacts(screener.kind, screener.kind in SIMULATED, found.get(name))
        for name, screener in run.cfg.scoring.models.items()
    }


def _samples(run: Run[Config]) -> tuple[Sample, ...]:
    """One request per model as it was sent and answered: the first by request id."""
    warehouse, found = run.warehouse, []
    for model in run.cfg.scoring.models:
        scores = warehouse.read("scores").where(run.mine).where(sf.col("model") == model)
        first = scores.where("version IS NULL").orderBy("request_id").limit(1)
        requests = warehouse.read("requests").where(run.mine)
        contents = warehouse.read("contents").selectExpr(
            "content_key", "COALESCE(text, CONCAT(media_type, ', ', OCTET_LENGTH(data), ' bytes'))"
        )
        prompts = contents.toDF("prompt_key", "prompt")
        replies = warehouse.read("replies").selectExpr("call_key", "wave_id AS reply_wave", "reply")
        rows = (
            first.select("request_id", "outcome", "score", "call_key", "reply_wave")
            .join(requests.drop("call_key"), "request_id")
            .join(contents.toDF("content_key", "resume"), "content_key")
            .join(prompts, "prompt_key", "left")
            .join(replies, ["call_key", "reply_wave"], "left")
            .collect()
        )
        found += [
            Sample(
                model=model, job=r["job"], applicant_id=r["applicant_id"],
                content_key=r["content_key"], prompt=r["prompt"] or "", resume=r["resume"],
                reply=r["reply"], outcome=r["outcome"],
                score=None if r["score"] is None else float(r["score"]),
            )
            for r in rows
        ]  # fmt: skip
    return tuple(found)
