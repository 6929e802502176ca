"""What a paired-callback audit asks: each document of each contrast, of the models it is for.

A screener that reads documents gets the profile (JSON) and the posting; a simulated one gets the
design's coordinates. Whoever stands in two contrasts, the same text under the same posting, has
one call key: asked once, counted in both.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf

from fairscreen.scoring import requests
from fairscreen.scoring.calls import Kind
from fairscreen.scoring.screeners import KINDS
from fairscreen.settings.callback_audit import PLACEBO, CallbackConfig


def of_documents(
    documents: DataFrame,
    coordinates: DataFrame,
    cfg: CallbackConfig,
    kinds: Mapping[str, Kind] = KINDS,
) -> DataFrame:
    """Columns of `requests`, and document_format and payload. `documents`, `coordinates`: this
    audit's rows of documents and pair_documents."""
    told = coordinates.select("document_id", "prompt_key", _payload().alias("payload"))
    rows = documents.join(told, "document_id").withColumn("replicate", sf.lit(0))
    contrasts = [*cfg.contrasts, PLACEBO]
    frames = []
    for name, screener in cfg.scoring.models.items():
        kind = kinds[screener.kind]
        asked = [contrast for contrast in contrasts if name in cfg.asked(contrast)]
        mine = rows.where(sf.col("contrast").isin(*asked))
        if kind.sends != "applicant":
            mine = mine.withColumn("payload", sf.lit(None).cast("string"))
        frames.append(requests.of_model(mine, name, screener, kind))
    return reduce(DataFrame.unionByName, frames)


def _payload() -> Column:
    """Who a profile is, as canonical JSON: names in order, texts and whole numbers."""
    return sf.to_json(sf.struct("first_name", "gender", "pair_id", "posting_id", "race", "surname"))
