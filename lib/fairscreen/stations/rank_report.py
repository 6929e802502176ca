"""Tables of a ranking audit to report and summary, and into the MLflow run of each model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd
from pyspark.sql import functions as sf

from fairscreen.reporting.ranking import SIGN_FLIP, RankingReport, render_ranking
from fairscreen.settings.rank_audit import RankingConfig
from fairscreen.sources.result import IngestResult
from fairscreen.stations.common import Run, StationResult
from fairscreen.stations.reported import Told, of_view, publish

_TABLES = (
    "corpus_resume", "leakage_hits", "rank_documents", "documents", "contents", "requests",
    "replies", "scores", "estimates", "diagnostics",
)  # fmt: skip
_TOLD = ("score_gap", "spread_ratio", "impact_ratio", "information_slope", "mean_fixed_effect")


_KEYS = ("model", "industry", "contrast", "information", "kind", "version")


def run(
    run: Run[RankingConfig], corpus: IngestResult, done: Mapping[str, StationResult]
) -> StationResult:
    """Write the report and log the runs, unless both are there for these estimates."""
    return publish(
        run, done, tables=_TABLES, sampled="document_id IS NOT NULL",
        tell=lambda: _told(run, corpus),
    )  # fmt: skip


def _told(run: Run[RankingConfig], corpus: IngestResult) -> Told:
    warehouse = run.warehouse
    order = ["model", "contrast", "slice", "estimand", "method"]
    rows = warehouse.read("estimates").where(run.mine).toPandas()
    estimates = rows.sort_values(order, ignore_index=True)
    sources = warehouse.read("source_file").where(sf.col("sha256").isin(*corpus.sha256))
    rollup, documents = of_view(run, "ranking_rollup", _KEYS), _documents(run)

    def render(common: dict[str, Any]) -> str:
        return render_ranking(RankingReport(**common, rollup=rollup, documents=documents))

    return Told(
        estimates=estimates, outcomes=of_view(run, "rank_outcomes", _KEYS),
        sources=sources.where("kind = 'corpus'").orderBy("file").toPandas(),
        tables={"rollup": rollup}, effects=_headline(estimates), render=render,
    )  # fmt: skip


def _headline(estimates: pd.DataFrame) -> pd.DataFrame:
    """The rows that the report leads with: pooled and by industry, each estimand's own method."""
    where = estimates["slice"].eq("all") | estimates["slice"].str.fullmatch("industry=[^;]*")
    level = estimates["estimand"].eq("rank_gap") & estimates["method"].isin(SIGN_FLIP)
    published = estimates["method"].eq("pooled_permutation_published")
    other = estimates["estimand"].isin(_TOLD) & ~published
    return estimates[estimates["design"].eq("ranking") & where & (level | other)]


def _documents(run: Run[RankingConfig]) -> pd.DataFrame:
    """Resumes and documents of each industry, counted."""
    documents = run.warehouse.read("rank_documents").where(run.mine)
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
    return counts.orderBy("industry").toPandas()
