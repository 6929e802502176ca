"""What an audit asks: one request per document and model.

The call key hashes the canonical JSON of what is sent and of what the screener's answer depends
on besides (model, files, pooling, parameters). Two requests with the same key are one call.
Transport settings are no part of it: another concurrency or shard number asks nothing again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf

from fairscreen.config import Config
from fairscreen.errors import InputError
from fairscreen.estimators.rescoring import PLACEBO_REPEAT
from fairscreen.scoring.calls import Kind, canonical
from fairscreen.scoring.images import require_readers
from fairscreen.scoring.screeners import KINDS
from fairscreen.settings.scoring import Screener
from fairscreen.tables import Warehouse

# Differs from version x0 in what a screener is told alone.
_TOLD = "x1_w_x0"


def requests(
    documents: DataFrame,
    applicants: DataFrame,
    cfg: Config,
    prompt_keys: Mapping[str, str],
    kinds: Mapping[str, Kind] = KINDS,
    versions: DataFrame | None = None,
) -> DataFrame:
    """Columns of `requests`, and `document_format` and `payload` (what else is sent, or null).

    `documents`, `applicants`, `versions`: this audit's rows of these tables (None: no versions).
    `prompt_keys`: job to content key of its job description. Raises InputError for a job that has
    none.
    """
    missing = sorted(set(cfg.population.jobs) - set(prompt_keys))
    if missing:
        raise InputError(
            f"population.jobs.{missing[0]}",
            "has no job description",
            "Give the job's content file one (conf/jobs).",
        )
    prompts = _lookup("job", prompt_keys)
    payload, person = _payload(cfg).alias("payload"), ("applicant_id", "contrast", "version")
    own = applicants.withColumns(dict.fromkeys(person[1:], sf.lit(None).cast("string")))
    features = own.select(_joined(person).alias("person"), payload)
    if versions is not None:
        others = versions.select(_joined(person).alias("person"), payload)
        features = features.unionByName(others)
    frames = []
    for name, screener in cfg.scoring.models.items():
        kind = kinds[screener.kind]
        frame = documents.withColumn("prompt_key", prompts)
        if kind.sends == "applicant":
            frame = frame.withColumn("person", _joined(person)).join(features, "person")
        else:
            frame = frame.where(sf.coalesce("version", sf.lit("")) != _TOLD)
            frame = frame.withColumn("payload", sf.lit(None).cast("string"))
        frames.append(of_model(frame.withColumn("replicate", _replicate()), name, screener, kind))
    return reduce(DataFrame.unionByName, frames)


def of_model(documents: DataFrame, name: str, screener: Screener, kind: Kind) -> DataFrame:
    """The requests of one model, of rows of `documents` with prompt_key, payload and replicate."""
    return documents.select(
        "audit_id",
        sf.concat("document_id", sf.lit(f"@{name}#"), "replicate").alias("request_id"),
        "document_id",
        "applicant_id",
        "job",
        "document_format",
        sf.lit(name).alias("model"),
        "replicate",
        "content_key",
        "prompt_key",
        call_key_column(kind, screener, sf.col("replicate")).alias("call_key"),
        "contrast",
        "version",
        "payload",
    )


def of_audit(
    warehouse: Warehouse,
    cfg: Config,
    prompt_keys: Mapping[str, str] | None = None,
    kinds: Mapping[str, Kind] = KINDS,
) -> DataFrame:
    """The requests of an audit whose documents are rendered. ConfigError where one is an image and
    a model reads none.

    `prompt_keys`: default is that of the job descriptions as rendered.
    """
    mine = f"audit_id = '{cfg.audit_id}'"
    if prompt_keys is None:
        from fairscreen.documents.render import job_descriptions

        prompt_keys = {job: key for job, key, _ in job_descriptions(cfg)}
    documents = warehouse.read("documents").where(mine)
    require_readers(documents, warehouse.read("contents"), cfg, kinds)
    people = warehouse.read("applicants").where(mine)
    versions = warehouse.read("versions").where(mine) if cfg.estimation.rescores else None
    return requests(documents, people, cfg, prompt_keys, kinds, versions)


def identity(kind: Kind, screener: Screener) -> str:
    """Canonical JSON of what this screener's answers depend on besides what it is sent."""
    return canonical({"model": kind.model(screener.params), **kind.identity(screener.params)})


def call_key_column(kind: Kind, screener: Screener, replicate: Column | None = None) -> Column:
    """The call key of rows that have content_key and prompt_key, or payload. replicate: None = 0,
    as of everything that is asked once."""
    sent = _sent(kind, screener, sf.lit(0) if replicate is None else replicate)
    return sf.substring(sf.sha2(sent, 256), 1, 32)


def _sent(kind: Kind, screener: Screener, replicate: Column) -> Column:
    """The canonical JSON as a column: keys in order, hex keys and payload as they are."""
    own = identity(kind, screener)
    end = sf.concat(sf.lit('"replicate":'), replicate.cast("string"), sf.lit("}"))
    if kind.sends == "applicant":
        middle = sf.lit(f',"identity":{own},')
        return sf.concat(sf.lit('{"applicant":'), "payload", middle, end)
    return sf.concat(
        sf.lit('{"content":"'),
        "content_key",
        sf.lit(f'","identity":{own},"prompt":"'),
        "prompt_key",
        sf.lit('",'),
        end,
    )


def _replicate() -> Column:
    """1 for the placebo that asks about a document again, so that it is another call; else 0."""
    return sf.when(sf.col("version") == PLACEBO_REPEAT, 1).otherwise(0)


def _joined(columns: Sequence[str]) -> Column:
    """Columns as one key: nulls are left out, so that they too are equal."""
    return sf.concat_ws("/", *columns)


def _payload(cfg: Config) -> Column:
    """An applicant's structural features as canonical JSON: text and integers only, since
    Java and Python do not always write a double alike. Names and dates are not sent."""
    ranks = {group: rank for rank, group in enumerate(cfg.population.education_groups)}
    return sf.to_json(
        sf.struct(
            "applicant_id",
            _lookup("edu_group", ranks).alias("edu_rank"),
            sf.round(sf.col("exp_year") * 12).cast("int").alias("exp_months"),
            "first_name_cohort",
            "first_name_gender",
            "gender",
            "job",
            "race",
            "region",
            "surname_race",
        )
    )


def _lookup(column: str, values: Mapping[str, str] | Mapping[str, int]) -> Column:
    pairs = [sf.lit(part) for pair in values.items() for part in pair]
    return sf.create_map(*pairs)[sf.col(column)]
