"""Tables of a paired-callback audit to report, summary and the MLflow run of each model.

Every run has the panel's rows and figures as artifacts too; no metric of a run is of another model.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as sf

from fairscreen.audits.callback_panel import MODEL, panel_of
from fairscreen.estimators.callbacks import GAP, HEADLINE
from fairscreen.reporting import callbacks
from fairscreen.reporting.callback_panel import FLIP
from fairscreen.scoring import prompts
from fairscreen.settings.callback_audit import CallbackConfig
from fairscreen.stations.callback_sources import CallbackBronze
from fairscreen.stations.common import Run, StationResult
from fairscreen.stations.reported import Told, of_view, publish

_TABLES = (
    "job_posting", "name_signals", "pair_documents", "documents", "contents", "requests", "replies",
    "scores", "estimates", "diagnostics",
)  # fmt: skip
_ORDER = ["model", "contrast", "slice", "estimand", "method"]
_KEYS = ("model", "contrast", "kind", "slice", "race", "gender")


def run(
    run: Run[CallbackConfig], bronze: CallbackBronze, done: Mapping[str, StationResult]
) -> StationResult:
    """Write the report and log the runs, unless both are there for these estimates."""
    return publish(
        run, done, tables=_TABLES, sampled="document_id IS NOT NULL",
        tell=lambda: _told(run, bronze, done["render"].detail),
    )  # fmt: skip


def _told(run: Run[CallbackConfig], bronze: CallbackBronze, made: Mapping[str, Any]) -> Told:
    cfg, warehouse = run.cfg, run.warehouse
    shown = _shown(warehouse.read("estimates").where(run.mine)).toPandas()
    estimates = shown.sort_values(_ORDER, ignore_index=True)
    outcomes = of_view(run, "callback_outcomes", _KEYS)
    names = warehouse.read("name_signals").where(run.mine)
    documents = warehouse.read("pair_documents").where(run.mine)
    used = [sha for group in _sources(bronze) for sha in group]
    sources = warehouse.read("source_file").where(sf.col("sha256").isin(used))
    own: dict[str, Any] = {
        "names": names.orderBy("kind", "race", "gender", "name").toPandas(),
        "pairs": _pairs(documents).toPandas(),
        "made_up": _made_up(warehouse.read("job_posting"), documents, bronze).toPandas(),
        "postings": made.get("postings", {}),
        "members": {name: (m.released, m.family) for name, m in panel_of(cfg).items()},
        "prompts": _prompts(cfg),
    }

    def data(common: Mapping[str, Any]) -> callbacks.CallbackReport:
        return callbacks.CallbackReport(**common, **own)

    panel = estimates[estimates["model"] == MODEL]
    return Told(
        estimates=estimates, outcomes=outcomes,
        sources=sources.orderBy("kind", "file").toPandas(),
        # Without its column `model` the panel's table is nobody's, so it goes to everybody.
        tables={
            "rollup": of_view(run, "callback_rollup", _KEYS),
            "panel": panel.drop(columns="model"),
            "names": own["names"],
        },
        kept=estimates[callbacks.pooled(estimates)], effects=callbacks.headline(estimates),
        render=lambda common: callbacks.render_callbacks(data(common)),
        beside=callbacks.figures(cfg, estimates, own["members"]),
    )  # fmt: skip


def _sources(bronze: CallbackBronze) -> tuple[tuple[str, ...], ...]:
    return bronze.postings, bronze.first, bronze.surnames, bronze.ssa, bronze.census


def _shown(estimates: DataFrame) -> DataFrame:
    """Rows that the report can show: of single companies, states and so on the gap and its test
    alone. There may be hundreds of each, for every model."""
    single = sf.col("slice").rlike(callbacks.SINGLE)
    lead = (sf.col("estimand") == GAP) & sf.col("method").isin(HEADLINE, *FLIP)
    return estimates.where(~single | lead)


def _pairs(documents: DataFrame) -> DataFrame:
    keys = ("contrast", "kind", "within")
    one = documents.where("side = 'favored'")
    counts = one.groupBy(*keys).agg(
        sf.count_distinct("posting_id").alias("postings"), sf.count("*").alias("pairs")
    )
    return counts.orderBy(*keys)


def _made_up(found: DataFrame, documents: DataFrame, bronze: CallbackBronze) -> DataFrame:
    """Synthetic columns of the postings that were asked about, as one source or another says."""
    mine = found.where(sf.col("source_sha256").isin(*bronze.postings))
    mine = mine.where("synthetic IS NOT NULL").select("posting_id", "synthetic").distinct()
    asked = documents.select("posting_id").distinct()
    counts = mine.join(asked, "posting_id").groupBy(sf.col("synthetic").alias("columns"))
    return counts.agg(sf.count("*").alias("postings")).orderBy("columns")


def _prompts(cfg: CallbackConfig) -> dict[str, str]:
    """What chat models are told, by the prompt's name."""
    found = {}
    for name, screener in cfg.scoring.models.items():
        prompt = screener.params.get("prompt")
        if screener.kind == "chat" and isinstance(prompt, str):
            file = prompts.load(prompt, f"scoring.models.{name}.params.prompt")
            found[prompt] = "\n\n".join(part for part in (file.system, file.user) if part)
    return found
