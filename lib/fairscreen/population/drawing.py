"""Applicants as a DataFrame, in the three modes of `population.mode`:

    surveyed  every surveyed person once, as published
    draws     N draws per job with probability proportional to PWGTP
    balanced  N applicants per job from the fitted generator, balanced attributes evenly

Rows are made in workers, from hashes of the applicant's id: partitions and order change nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from pyspark.sql import DataFrame

from fairscreen import random
from fairscreen.config import Config
from fairscreen.population import domain as axes
from fairscreen.population import generator as gen
from fairscreen.population import rows
from fairscreen.population.domain import GENDERS
from fairscreen.population.generator import Generator
from fairscreen.population.rows import People, Stamp


def applicants(included: DataFrame, generator: Generator, cfg: Config, vintage: int) -> DataFrame:
    """Rows of table `applicants`; `included`: the surveyed people who are in (joint.surveyed)."""
    settings = cfg.population
    stamp = Stamp(cfg.audit_id, settings.mode, vintage)
    if settings.mode == "surveyed":
        return _surveyed(included, generator, stamp)
    if settings.mode == "draws":
        return _draws(included, generator, stamp, settings.n_per_job)
    return _balanced(included, generator, stamp, settings.n_per_job)


def _balanced(included: DataFrame, generator: Generator, stamp: Stamp, n_per_job: int) -> DataFrame:
    jobs, schema = list(generator.jobs), rows.arrow_schema("applicants")

    def make(batches: Iterable[pa.RecordBatch]) -> Iterable[pa.RecordBatch]:
        for job, number, ids in _numbered(batches, jobs, n_per_job):
            u = random.uniforms(generator.seed, "applicant/z", ids.tolist())
            gender, race, age = gen.draw_z(generator, job, number, u)
            people = People(ids, gender, race, age, ids, None)
            yield rows.complete(generator, job, people, stamp, schema)

    numbers = included.sparkSession.range(len(jobs) * n_per_job)
    return numbers.mapInArrow(make, rows.spark_schema("applicants"))


def _draws(included: DataFrame, generator: Generator, stamp: Stamp, n_per_job: int) -> DataFrame:
    """N surveyed people per job by PWGTP: hash modulo the total, searched in the running sum."""
    jobs, schema = list(generator.jobs), rows.arrow_schema("applicants")
    survey = included.drop("vintage").toArrow().to_pandas()
    survey = survey.sort_values(["serialno", "sporder"], ignore_index=True)
    frames = {}
    for job in jobs:
        mine = survey[survey["job"] == job]
        frames[job] = (
            _coded(mine, generator.domain),
            mine["person_key"].to_numpy(dtype=object),
            mine["pwgtp"].to_numpy(dtype=np.int64),
            np.cumsum(mine["pwgtp"].to_numpy(dtype=np.int64)),
        )

    def make(batches: Iterable[pa.RecordBatch]) -> Iterable[pa.RecordBatch]:
        for job, _, ids in _numbered(batches, jobs, n_per_job):
            codes, keys, pwgtp, cumulative = frames[job]
            bound = int(cumulative[-1])
            ticket = random.integers(generator.seed, "applicant/person", ids.tolist(), bound)
            at = np.searchsorted(cumulative, ticket, side="right")
            given = {name: codes[name][at] for name in ("state", "edu_level")}
            z = (codes["gender"][at], codes["race"][at], codes["age"][at])
            people = People(ids, *z, keys[at], pwgtp[at])
            yield rows.complete(generator, job, people, stamp, schema, given)

    numbers = included.sparkSession.range(len(jobs) * n_per_job)
    return numbers.mapInArrow(make, rows.spark_schema("applicants"))


def _surveyed(included: DataFrame, generator: Generator, stamp: Stamp) -> DataFrame:
    schema, domain = rows.arrow_schema("applicants"), generator.domain

    def make(batches: Iterable[pa.RecordBatch]) -> Iterable[pa.RecordBatch]:
        for batch in batches:
            frame = batch.to_pandas()
            for job, mine in frame.groupby("job", sort=True):
                codes = _coded(mine, domain)
                ids = (mine["job"] + "-" + mine["serialno"] + "-" + mine["sporder"]).to_numpy()
                given = {name: codes[name] for name in ("state", "edu_level")}
                z = (codes["gender"], codes["race"], codes["age"])
                keys = mine["person_key"].to_numpy(dtype=object)
                people = People(ids.astype(object), *z, keys, mine["pwgtp"].to_numpy(np.int64))
                yield rows.complete(generator, str(job), people, stamp, schema, given)

    return included.mapInArrow(make, rows.spark_schema("applicants"))


def _numbered(
    batches: Iterable[pa.RecordBatch], jobs: list[str], n_per_job: int
) -> Iterator[tuple[str, gen.Index, np.ndarray[Any, np.dtype[np.object_]]]]:
    """(job, number within the job, applicant_id) of the ids of spark.range."""
    for batch in batches:
        ids = batch.column(0).to_numpy()
        for j in np.unique(ids // n_per_job):
            number = ids[ids // n_per_job == j] - j * n_per_job
            job = jobs[int(j)]
            yield job, number, np.array([f"{job}-{i:07d}" for i in number], dtype=object)


def _coded(people: pd.DataFrame, domain: axes.Domain) -> dict[str, gen.Index]:
    labels = {
        "gender": GENDERS, "race": domain.races, "state": domain.states,
        "edu_level": domain.levels,
    }  # fmt: skip
    codes = {c: gen.codes_of(people[c], values) for c, values in labels.items()}
    codes["age"] = people["age"].to_numpy(dtype=np.int64) - domain.age_min
    return codes
