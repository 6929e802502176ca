"""The ranking design: scores of an audit to rank sets, and what they say, slice by slice.

Spark groups answers to rank sets, one row for each model, resume and information level, and places
each set in its slices; each slice of a model is analysed by numpy in a grouped pandas UDF
(`ranking_slices`). What needs all of them at once, families of tests, is in `ranking_rows`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf

from fairscreen.audits import ranking_rows, ranking_slices
from fairscreen.errors import InputError
from fairscreen.settings.rank_audit import RankingConfig

# Tasks of the analysis: slices are many and small, and each task costs a tenth of a second.
_TASKS = 16
_SET = ("model", "resume_id", "industry", "information", "words", "flagged")
_RESULT = "slot INT, payload STRING"


@dataclass(frozen=True)
class RankingResult:
    """Rows of the tables of the same names, and notes for the report."""

    estimates: list[dict[str, Any]]
    diagnostics: list[dict[str, Any]]
    notes: list[str]


def rank_sets(scores: DataFrame, documents: DataFrame, cfg: RankingConfig) -> DataFrame:
    """One row per model, resume and information level: its coordinates and the sorted scores of its
    answers (an empty list: there is none).

    scores, documents: this audit's rows of scores and rank_documents. `versions`: answers of each
    label, in the config's order, then of the version without one; `placebos`: of both placebo
    labels; `again`: of the label `again_of` (its place), asked a second time. `control`: whether
    the resume has placebos and a repeat at all.
    """
    asked = documents.select("document_id", *_SET[1:], "kind", "slot")
    mine = scores.where(sf.col("model").isin(*cfg.scoring.models))
    answers = mine.select("document_id", "model", "score").join(asked, "document_id")

    def of(kind: str, slot: int | None = None) -> Column:
        here = sf.col("kind") == kind
        if slot is not None:
            here = here & (sf.col("slot") == slot)
        return sf.sort_array(sf.collect_list(sf.when(here, sf.col("score").cast("double"))))

    ranked = [of("label", slot) for slot in range(len(cfg.labels.labels))]
    if cfg.labels.none:
        ranked.append(of("none"))
    repeated = sf.col("kind") == "repeat"
    return answers.groupBy(*_SET).agg(
        sf.array(*ranked).alias("versions"),
        sf.array(of("placebo", 0), of("placebo", 1)).alias("placebos"),
        of("repeat").alias("again"),
        sf.coalesce(sf.max(sf.when(repeated, sf.col("slot"))), sf.lit(0)).alias("again_of"),
        sf.max(sf.col("kind").isin("placebo", "repeat")).alias("control"),
    )


def placed(sets: DataFrame, *, cues: bool) -> DataFrame:
    """Each row once for every slice that it is in: `slice` (canonical) and `kind`, the names of the
    slice's columns. sets: rows with industry, information, flagged; cues: whether effects without
    flagged resumes are told too."""
    industry = sf.concat(sf.lit("industry="), "industry")
    level = sf.concat(sf.lit("information="), "information")
    kinds = [
        _slice("all", sf.lit("all")),
        _slice("industry", industry),
        _slice("information", level),
        _slice("industry; information", sf.concat_ws("; ", industry, level)),
    ]
    if cues:
        clue = sf.when(sf.col("flagged"), "cues=found").otherwise("cues=none")
        kinds += [
            _slice("cues", clue),
            _slice("industry; cues", sf.concat_ws("; ", industry, clue)),
        ]
    return sets.withColumn("place", sf.explode(sf.array(*kinds))).select(
        *sets.columns, "place.slice", "place.kind"
    )


def _slice(kind: str, name: Column) -> Column:
    return sf.struct(name.alias("slice"), sf.lit(kind).alias("kind"))


def slices(documents: DataFrame, *, cues: bool) -> list[tuple[str, str]]:
    """(slice, kind) of every slice that an audit's documents are in."""
    there = documents.select("industry", "information", "flagged").distinct()
    rows = placed(there, cues=cues).select("slice", "kind").distinct().collect()
    return sorted((row["slice"], row["kind"]) for row in rows)


def estimate(rows: DataFrame, cfg: RankingConfig, told: Sequence[tuple[str, str]]) -> DataFrame:
    """(slot, payload): JSON of `ranking_slices.analyse` for each model and slice of `placed`.

    told: (slice, kind) of all slices there are.
    """
    asked = ranking_slices.Asked.of(cfg)
    names = [(model, *one) for model in cfg.scoring.models for one in told]
    slots = rows.sparkSession.createDataFrame(
        [(i, i % _TASKS, model, name) for i, (model, name, _) in enumerate(names)],
        "slot INT, task INT, model STRING, slice STRING",
    )

    def one(frame: pd.DataFrame) -> pd.DataFrame:
        slot = int(frame["slot"].iloc[0])
        model, name, kind = names[slot]
        frame = frame.sort_values(["resume_id", "information"], ignore_index=True)
        try:
            found = ranking_slices.analyse(frame, asked, name=name, kind=kind)
        except InputError as error:
            raise error.marked() from None
        payload = {"model": model, "slice": name, "kind": kind, **found}
        return pd.DataFrame(
            {
                "slot": np.array([slot], dtype=np.int32),
                "payload": [json.dumps(payload, allow_nan=False)],
            }
        )

    tasks = min(_TASKS, max(1, len(names)))
    spread = rows.join(slots, ["model", "slice"]).repartitionById(tasks, "task")
    return spread.groupBy("task", "slot").applyInPandas(one, _RESULT)


def run(
    scores: DataFrame,
    documents: DataFrame,
    cfg: RankingConfig,
    *,
    config_hash: str,
    input_versions: Mapping[str, int],
) -> RankingResult:
    """Everything that a ranking audit says, from its documents and scores."""
    cues = bool(documents.where("flagged").limit(1).collect())
    rows = placed(rank_sets(scores, documents, cfg), cues=cues)
    found = estimate(rows, cfg, slices(documents, cues=cues)).collect()
    parts: Sequence[dict[str, Any]] = [
        json.loads(row["payload"]) for row in sorted(found, key=lambda r: int(r["slot"]))
    ]
    versions = json.dumps(dict(input_versions), sort_keys=True)
    context = ranking_rows.Context(cfg, config_hash, versions)
    estimates, notes = ranking_rows.estimates(context, parts)
    return RankingResult(
        estimates=estimates,
        diagnostics=ranking_rows.diagnostics(context, parts),
        notes=[*ranking_rows.set_notes(parts), *notes],
    )
