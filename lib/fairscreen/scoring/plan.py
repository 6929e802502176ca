"""Which calls are pending, and a wave of them with a shard for each. Transforms only."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from datetime import UTC, datetime

from pyspark.sql import DataFrame
from pyspark.sql import functions as sf

from fairscreen import random
from fairscreen.settings.audit import AuditConfig


def wave_prefix(audit_id: str) -> str:
    """How the ids of an audit's waves start; no audit id holds a dot."""
    return f"{audit_id}."


def new_wave_id(audit_id: str) -> str:
    """Never used before: Delta drops, without a word, rows under a transaction it has seen."""
    return f"{wave_prefix(audit_id)}{datetime.now(UTC):%Y%m%dT%H%M%S}.{uuid.uuid4().hex}"


def pending(requests: DataFrame, replies: DataFrame, again: DataFrame | None = None) -> DataFrame:
    """One row per call to ask: call_key, model, content_key, prompt_key, payload, retry.

    That is each call that has no reply, and each call in `again` that has no reply of that retry
    yet (call_key and retry, 1 or more: asked for with --retry). Every reply is final otherwise,
    failed ones too.
    """
    calls = requests.select("call_key", "model", "content_key", "prompt_key", "payload")
    calls = calls.dropDuplicates(["call_key"])
    new = calls.join(replies.select("call_key"), "call_key", "left_anti")
    new = new.withColumn("retry", sf.lit(0))
    if again is None:
        return new
    since = replies.select("call_key", sf.coalesce("retry", sf.lit(0)).alias("retried"))
    done = since.join(again, "call_key").where("retried >= retry").select("call_key")
    return new.unionByName(calls.join(again, "call_key").join(done, "call_key", "left_anti"))


def again(outcomes: DataFrame, replies: DataFrame, wanted: Sequence[str]) -> DataFrame:
    """call_key and retry (1, 2, ...) of each call that has a request whose outcome is wanted.

    outcomes: `outcome` of each request, as read from `replies`. Both must be of one fixed version
    of the table: else what fails again in this run would be asked again in this run.
    """
    calls = outcomes.where(sf.col("outcome").isin(*wanted)).select("call_key").distinct()
    retry = (sf.max(sf.coalesce("retry", sf.lit(0))) + 1).alias("retry")
    return calls.join(replies.groupBy("call_key").agg(retry), "call_key")


def plan(calls: DataFrame, cfg: AuditConfig, model: str, wave_id: str, shards: int) -> DataFrame:
    """At most `wave_size` pending calls of one model as rows of `waves`.

    The shard is a hash of the call, modulo `shards`: the same on any number of partitions.
    """
    scoring = cfg.scoring
    shard = sf.pmod(random.hash_column(cfg.seed, "shard", sf.col("call_key")), sf.lit(shards))
    mine = calls.where(sf.col("model") == model)
    # By hash, not by key: a wave that is cut off is a random part of the calls.
    order = random.hash_column(cfg.seed, "wave", sf.col("call_key"))
    return (
        mine.orderBy(order)
        .limit(scoring.wave_size)
        .select(
            sf.lit(wave_id).alias("wave_id"),
            sf.lit(cfg.audit_id).alias("audit_id"),
            "model",
            "call_key",
            shard.cast("int").alias("shard"),
            "content_key",
            "prompt_key",
            "payload",
            sf.current_timestamp().alias("planned_at"),
            "retry",
        )
    )


def with_texts(wave: DataFrame, contents: DataFrame) -> DataFrame:
    """A wave's rows with what is sent: `prompt` and `resume`, or in its place `image` (bytes) and
    its `media_type` (null = not there)."""
    resumes = contents.select(
        "content_key", sf.col("text").alias("resume"), sf.col("data").alias("image"), "media_type"
    )
    prompts = contents.select(
        sf.col("content_key").alias("prompt_key"), sf.col("text").alias("prompt")
    )
    return wave.join(resumes, "content_key", "left").join(prompts, "prompt_key", "left")


def without_texts(wave: DataFrame) -> DataFrame:
    """The same columns, for a screener that is sent no document."""
    nothing = "string(NULL) AS resume", "binary(NULL) AS image", "string(NULL) AS media_type"
    return wave.selectExpr("*", *nothing, "string(NULL) AS prompt")
