"""What the report stations of all designs share: places, files, models and samples."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pandas as pd
from pyspark.sql import Window
from pyspark.sql import functions as sf

from fairscreen import __version__, sql, tracking
from fairscreen.errors import InputError
from fairscreen.reporting.data import ModelFacts, Sample
from fairscreen.scoring.screeners import planted, planted_callbacks, planted_ranking
from fairscreen.settings.audit import AuditConfig
from fairscreen.stations.common import Run, StationResult, fingerprint, run_station

_PLANTED = {
    "planted": planted.notes,
    "planted_ranking": planted_ranking.notes,
    "planted_callbacks": planted_callbacks.notes,
}
SIMULATED = frozenset(_PLANTED)


@dataclass(frozen=True)
class Told:
    """What a design tells in its report, from its tables.

    estimates, outcomes: rows of all models, shown and logged. tables: further ones that are logged.
    kept: rows of estimates that become metrics. None: all.
    effects: rows of estimates that summary.json has.
    render: the page, given what the reports of all designs have (fields of `reporting.data.Report`)
    beside: further files by name, with their text.
    """

    estimates: pd.DataFrame
    outcomes: pd.DataFrame
    sources: pd.DataFrame
    effects: pd.DataFrame
    render: Callable[[dict[str, Any]], str]
    tables: Mapping[str, pd.DataFrame] = field(default_factory=dict)
    kept: pd.DataFrame | None = None
    beside: Mapping[str, str] = field(default_factory=dict)


def publish(
    run: Run[AuditConfig], done: Mapping[str, StationResult], *, tables: Sequence[str],
    sampled: str, tell: Callable[[], Told],
) -> StationResult:  # fmt: skip
    """The station `report`: write the page and log the runs, unless both are there for these
    estimates. tables: whose versions the report names; sampled: as `where` of `samples`."""
    cfg = run.cfg
    target = folder(cfg) / "report.html"

    def work() -> dict[str, Any]:
        make_folder(target.parent)
        versions = {name: run.warehouse.version(name) for name in tables}
        told, found, simulated = tell(), models(run), simulated_notes(cfg)
        runs = {
            model: tracking.log_audit_run(
                cfg, model=model, estimates=told.estimates, outcomes=told.outcomes,
                input_versions=versions, warehouse_root=run.warehouse.root, report_path=None,
                summary={"audit_id": cfg.audit_id, "config_hash": cfg.hash()},
                simulated=facts.simulated, kept=told.kept, **told.tables,
            )
            for model, facts in found.items()
        }  # fmt: skip
        common = {
            "cfg": cfg, "generated_at": datetime.now(UTC), "package_version": __version__,
            "estimates": told.estimates, "outcomes": told.outcomes, "sources": told.sources,
            "input_versions": versions, "models": found, "samples": samples(run, sampled),
            "mlflow_runs": runs, "mlflow_command": tracking.open_command(cfg),
            "command": run.command,
            "notes": (*simulated, *(n for r in done.values() for n in r.detail.get("notes", []))),
        }  # fmt: skip
        files = {**told.beside, target.name: told.render(common)}
        for name, text in files.items():
            write_text(target.with_name(name), text)
        for run_id in runs.values():
            for name in files:
                tracking.attach(cfg, run_id, target.with_name(name))
        return {
            "report_path": str(target),
            "mlflow_run_ids": runs,
            "mlflow_command": tracking.open_command(cfg),
            "table_versions": versions,
            "notes": simulated,
            "effects": effects(told.effects),
        }

    mark = fingerprint(done["estimate"].fingerprint, cfg.hash(), str(target), tracking.store(cfg))
    return run_station(run, "report", mark, work, force=not target.exists())


def of_view(run: Run[AuditConfig], view: str, order: Sequence[str] = ()) -> pd.DataFrame:
    """This audit's rows of a view of sql/views, sorted by those columns of `order` that it has."""
    sql.prepare(run.warehouse.spark, run.warehouse)
    rows = run.warehouse.spark.table(view).where(run.mine).toPandas()
    keys = [c for c in order if c in rows]
    return rows.sort_values(keys, ignore_index=True) if keys else rows


def folder(cfg: AuditConfig) -> Path:
    """Where report and summary of this audit go."""
    return Path(cfg.out).expanduser().resolve() / cfg.audit_id


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
    "model", "contrast", "document_format", "slice", "estimand", "method", "title", "estimate",
    "std_error", "ci_low", "ci_high", "p_value", "p_holm", "n", "favors_when_positive", "status",
    "reason",
)  # fmt: skip


def effects(rows: pd.DataFrame) -> list[dict[str, Any]]:
    """Rows of `estimates` as summary.json has them, null where nothing could be computed."""
    main = rows[list(_HEADLINE)].astype(object)
    told = main.where(main.notna(), None)
    return [{str(k): v for k, v in row.items()} for row in told.to_dict("records")]


def simulated_notes(cfg: AuditConfig) -> list[str]:
    """What a reader must know of the audit's simulated screeners."""
    return [
        note
        for name, screener in cfg.scoring.models.items()
        if screener.kind in SIMULATED
        for note in _PLANTED[screener.kind](name, screener.params)
    ]


def models(run: Run[AuditConfig]) -> dict[str, ModelFacts]:
    """By key of scoring.models; version: as the replies of this audit's calls report it."""
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


def samples(run: Run[AuditConfig], where: str) -> tuple[Sample, ...]:
    """One request per model as it was sent and answered: the first by request id of those rows of
    `scores` that satisfy the SQL condition."""
    warehouse = run.warehouse
    scores = warehouse.read("scores").where(run.mine).where(where)
    place = sf.row_number().over(Window.partitionBy("model").orderBy("request_id"))
    first = scores.withColumn("place", place).where("place = 1")
    requests = warehouse.read("requests").where(run.mine)
    contents = warehouse.read("contents").selectExpr(
        "content_key", "COALESCE(text, CONCAT(media_type, ', ', OCTET_LENGTH(data), ' bytes'))"
    )
    replies = warehouse.read("replies").selectExpr("call_key", "wave_id AS reply_wave", "reply")
    rows = (
        first.select("request_id", "outcome", "score", "call_key", "reply_wave")
        .join(requests.drop("call_key"), "request_id")
        .join(contents.toDF("content_key", "resume"), "content_key")
        .join(contents.toDF("prompt_key", "prompt"), "prompt_key", "left")
        .join(replies, ["call_key", "reply_wave"], "left")
        .collect()
    )
    found = {
        r["model"]: Sample(
            model=r["model"], job=r["job"], applicant_id=r["applicant_id"],
            content_key=r["content_key"], prompt=r["prompt"] or "", resume=r["resume"],
            reply=r["reply"], outcome=r["outcome"],
            score=None if r["score"] is None else float(r["score"]),
        )
        for r in rows
    }  # fmt: skip
    return tuple(found[model] for model in run.cfg.scoring.models if model in found)
