"""Tables of a ranking audit to report and summary, and into the MLflow run of each model."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import pandas as pd
from pyspark.sql import functions as sf

from fairscreen import __version__, sql, tracking
from fairscreen.reporting.ranking import SIGN_FLIP, RankingReport, render_ranking
from fairscreen.settings.rank_audit import RankingConfig
from fairscreen.sources.result import IngestResult
from fairscreen.stations.common import Run, StationResult, fingerprint, run_station
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
    "corpus_resume", "leakage_hits", "rank_documents", "documents", "contents", "requests",
    "replies", "scores", "estimates", "diagnostics",
)  # fmt: skip
_TOLD = ("score_gap", "spread_ratio", "impact_ratio", "information_slope", "mean_fixed_effect")


def run(
    run: Run[RankingConfig], corpus: IngestResult, done: Mapping[str, StationResult]
) -> StationResult:
    """Write the report and log the runs, unless both are there for these estimates."""
    cfg = run.cfg
    target = folder(cfg) / "report.html"

    def work() -> dict[str, Any]:
        make_folder(target.parent)
        versions = {name: run.warehouse.version(name) for name in _TABLES}
        frames = _frames(run, corpus)
        found, simulated = models(run), simulated_notes(cfg)
        runs = {
            model: tracking.log_audit_run(
                cfg, model=model, estimates=frames["estimates"], outcomes=frames["outcomes"],
                rollup=frames["rollup"], input_versions=versions,
                warehouse_root=run.warehouse.root, report_path=None,
                summary={"audit_id": cfg.audit_id, "config_hash": cfg.hash()},
                simulated=facts.simulated,
            )
            for model, facts in found.items()
        }  # fmt: skip
        data = RankingReport(
            cfg=cfg, generated_at=datetime.now(UTC), package_version=__version__,
            estimates=frames["estimates"], outcomes=frames["outcomes"], rollup=frames["rollup"],
            documents=frames["documents"], sources=frames["sources"], input_versions=versions,
            models=found, samples=samples(run, "document_id IS NOT NULL"), mlflow_runs=runs,
            mlflow_command=tracking.open_command(cfg), command=run.command,
            notes=(*simulated, *(n for r in done.values() for n in r.detail.get("notes", []))),
        )  # fmt: skip
        write_text(target, render_ranking(data))
        for run_id in runs.values():
            tracking.attach(cfg, run_id, target)
        return {
            "report_path": str(target),
            "mlflow_run_ids": runs,
            "mlflow_command": tracking.open_command(cfg),
            "table_versions": versions,
            "notes": simulated,
            "effects": effects(_headline(frames["estimates"])),
        }

    mark = fingerprint(done["estimate"].fingerprint, cfg.hash(), str(target), tracking.store(cfg))
    return run_station(run, "report", mark, work, force=not target.exists())


def _headline(estimates: pd.DataFrame) -> pd.DataFrame:
    """The rows that the report leads with: pooled and by industry, each estimand's own method."""
    where = estimates["slice"].eq("all") | estimates["slice"].str.fullmatch("industry=[^;]*")
    level = estimates["estimand"].eq("rank_gap") & estimates["method"].isin(SIGN_FLIP)
    published = estimates["method"].eq("pooled_permutation_published")
    other = estimates["estimand"].isin(_TOLD) & ~published
    return estimates[estimates["design"].eq("ranking") & where & (level | other)]


def _frames(run: Run[RankingConfig], corpus: IngestResult) -> dict[str, pd.DataFrame]:
    """Everything the report shows, as small frames (results and counts, never resumes)."""
    warehouse = run.warehouse
    order = ["model", "contrast", "slice", "estimand", "method"]
    estimates = warehouse.read("estimates").where(run.mine).toPandas().sort_values(order)
    sql.prepare(warehouse.spark, warehouse)
    frames = {"estimates": estimates.reset_index(drop=True)}
    for name, view in (("outcomes", "rank_outcomes"), ("rollup", "ranking_rollup")):
        rows = warehouse.spark.table(view).where(run.mine).toPandas()
        keys = [c for c in ("model", "industry", "contrast", "information", "kind", "version")
                if c in rows]  # fmt: skip
        frames[name] = rows.sort_values(keys, ignore_index=True)
    documents = warehouse.read("rank_documents").where(run.mine)
    resumes = documents.groupBy("industry", "resume_id").agg(
        sf.max("words").alias("words"), sf.max("flagged").alias("flagged"),
        sf.count("*").alias("documents"),
    )  # fmt: skip
    counts = resumes.groupBy("industry").agg(
        sf.count("*").alias("resumes"),
        sf.sum("documents").alias("documents"),
        sf.percentile_approx("words", 0.5).alias("median_words"),
        sf.count_if("flagged").alias("flagged"),
    )
    frames["documents"] = counts.orderBy("industry").toPandas()
    sources = warehouse.read("source_file").where(sf.col("sha256").isin(*corpus.sha256))
    frames["sources"] = sources.where("kind = 'corpus'").orderBy("file").toPandas()
    return frames
