"""What a ranking audit asks: each version of each resume, as often as its `runs` say.

A screener that reads documents gets the labelled resume and the role; a simulated one gets the
design's coordinates. The role stands where other audits have a job description.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf

from fairscreen.scoring import requests
from fairscreen.scoring.calls import Kind
from fairscreen.scoring.screeners import KINDS
from fairscreen.settings.rank_audit import RankingConfig


def of_documents(
    documents: DataFrame,
    coordinates: DataFrame,
    cfg: RankingConfig,
    kinds: Mapping[str, Kind] = KINDS,
) -> DataFrame:
    """Columns of `requests`, and document_format and payload. `documents`, `coordinates`: this
    audit's rows of documents and rank_documents."""
    replicates = sf.sequence("first_replicate", sf.expr("first_replicate + runs - 1"))
    told = coordinates.withColumn("replicate", sf.explode(replicates)).select(
        "document_id", "prompt_key", "replicate", _payload().alias("payload")
    )
    rows = documents.join(told, "document_id")
    frames = []
    for name, screener in cfg.scoring.models.items():
        kind = kinds[screener.kind]
        sends = sf.col("payload") if kind.sends == "applicant" else sf.lit(None).cast("string")
        frames.append(requests.of_model(rows.withColumn("payload", sends), name, screener, kind))
    return reduce(DataFrame.unionByName, frames)


def _payload() -> Column:
    """A version's coordinates as canonical JSON: names in order, texts and whole numbers."""
    return sf.to_json(
        sf.struct(
            "information",
            sf.coalesce("label", sf.lit("none")).alias("label"),
            "replicate",
            "resume_id",
            "words",
        )
    )
