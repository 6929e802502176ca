"""Applicants to documents: one text resume each, and the job descriptions beside them.

Where an audit rescores, one more for each of an applicant's versions (table `versions`).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable

import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf

from fairscreen.config import Config
from fairscreen.documents.keys import MEDIA_TYPE_TEXT, content_key
from fairscreen.documents.pools import JobContent, Schools, load_pools, load_schools
from fairscreen.documents.resume import Profile, render_text
from fairscreen.errors import InputError

_INPUT = (
    "applicant_id", "job", "age", "state", "edu_level", "exp_year", "first_name", "surname",
)  # fmt: skip
_VERSION = ("contrast", "version")
DOCUMENT_COLUMNS = (
    "audit_id", "document_id", "applicant_id", "job", "document_format", "content_key", *_VERSION,
)  # fmt: skip
_OUTPUT = (*DOCUMENT_COLUMNS[1:], "text")
_Batches = Iterable[pa.RecordBatch]


def job_contents(cfg: Config) -> dict[str, JobContent]:
    """Pools of every job of the config. Raises InputError naming file and field."""
    return {key: load_pools(key, job.content) for key, job in cfg.population.jobs.items()}


def job_descriptions(cfg: Config) -> list[tuple[str, str, str]]:
    """(job, prompt_key, text) per job; prompt_key is the content key of the description."""
    return [
        (job, content_key(content.description), content.description)
        for job, content in job_contents(cfg).items()
    ]


def content_hash(cfg: Config) -> str:
    """Content key of everything the pools say: changes when a line of any pool changes."""
    pools = {job: content.model_dump() for job, content in job_contents(cfg).items()}
    said = {"jobs": pools, "schools": load_schools().model_dump()}
    return content_key(json.dumps(said, sort_keys=True))


def render(applicants: DataFrame, cfg: Config, versions: DataFrame | None = None) -> DataFrame:
    """One row per applicant, version and format: the columns of table `documents`, and `text`.

    versions: rows of that table; None = there are none. A version with the mediators of another
    has the same text, and so the same content key: content is chosen by applicant, never by name.
    Needs the columns of a profile only; gender and race are never read.
    Raises InputError (through `errors.from_worker`) for a value that no resume can show.
    """
    worker = _worker(job_contents(cfg), load_schools(), cfg.documents.as_of, cfg.seed)
    schema = ", ".join(f"{name} string" for name in _OUTPUT)
    own = [sf.lit(None).cast("string").alias(name) for name in _VERSION]
    profiles = applicants.select(*_typed(), *own)
    if versions is not None:
        profiles = profiles.unionByName(versions.select(*_typed(), *_VERSION))
    rendered = profiles.mapInArrow(worker, schema)
    return rendered.select(sf.lit(cfg.audit_id).alias("audit_id"), *_OUTPUT)


def documents(rendered: DataFrame) -> DataFrame:
    """The rows of table `documents`."""
    return rendered.select(*DOCUMENT_COLUMNS)


def contents(rendered: DataFrame) -> DataFrame:
    """The rows of table `contents`, one per content key."""
    return rendered.select(
        "content_key",
        sf.lit(MEDIA_TYPE_TEXT).alias("media_type"),
        "text",
        sf.lit(None).cast("binary").alias("data"),
    ).dropDuplicates(["content_key"])


def _typed() -> list[Column]:
    types = {"age": "int", "exp_year": "double"}
    return [sf.col(name).cast(types.get(name, "string")).alias(name) for name in _INPUT]


def _worker(
    pools: dict[str, JobContent], schools: Schools, as_of: str, seed: int
) -> Callable[[_Batches], _Batches]:
    def work(batches: _Batches) -> _Batches:
        for batch in batches:
            columns = [batch.column(name).to_pylist() for name in (*_INPUT, *_VERSION)]
            rows = []
            for *values, contrast, version in zip(*columns, strict=True):
                profile = Profile(*values)
                try:
                    text = render_text(profile, _content(pools, profile), schools, as_of, seed)
                except InputError as error:
                    raise error.marked() from None
                name = "/".join(filter(None, (profile.applicant_id, "text", contrast, version)))
                rows.append(
                    (
                        name, profile.applicant_id, profile.job, "text", content_key(text),
                        contrast, version, text,
                    )
                )  # fmt: skip
            arrays = [pa.array([row[i] for row in rows], pa.string()) for i in range(len(_OUTPUT))]
            yield pa.RecordBatch.from_arrays(arrays, names=list(_OUTPUT))

    return work


def _content(pools: dict[str, JobContent], profile: Profile) -> JobContent:
    content = pools.get(profile.job)
    if content is None:
        raise InputError(
            f"applicant {profile.applicant_id}, job",
            f"{profile.job!r} is not a job of this audit",
            f"Jobs are: {', '.join(pools)}.",
        )
    return content
