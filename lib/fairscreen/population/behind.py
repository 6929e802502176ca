"""The survey behind an audit's applicants: whom they stand for, and its replicate weights."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pyspark.sql import DataFrame
from pyspark.sql import functions as sf

from fairscreen.population import joint
from fairscreen.settings.population import Population

#: Columns of `Behind.people`.
PEOPLE = "person_key STRING, job STRING, pwgtp INT, replicate_weights ARRAY<INT>"


@dataclass(frozen=True)
class Behind:
    """people: PEOPLE, the surveyed who are in the audit's population. workforce: by job, the sum
    of their PWGTP. lacking: by job, why there are no replicate weights, or None."""

    people: DataFrame
    workforce: Mapping[str, int]
    lacking: Mapping[str, str | None]


def behind(acs: DataFrame, population: Population, files: Mapping[str, str]) -> Behind:
    """acs: the audit's rows of acs_person. files: name of a source by its sha256."""
    people = included(acs, population)
    none = sf.when(sf.col("replicate_weights").isNull(), sf.col("source_sha256"))
    counted = (
        people.groupBy("job")
        .agg(
            sf.sum("pwgtp").cast("bigint").alias("weighted"),
            sf.count("replicate_weights").alias("have"),
            sf.collect_set(none).alias("sources"),
        )
        .collect()
    )
    lacking = {r["job"]: (int(r["have"]), tuple(r["sources"])) for r in counted}
    return Behind(
        people.select("person_key", "job", "pwgtp", "replicate_weights"),
        {r["job"]: int(r["weighted"]) for r in counted},
        no_error(lacking, files),
    )


def included(acs: DataFrame, population: Population) -> DataFrame:
    """The surveyed people who are in, with their replicate weights and source_sha256."""
    people = joint.surveyed(acs, population, also=("replicate_weights", "source_sha256"))
    return people.where("reason IS NULL")


def no_error(
    lacking: Mapping[str, tuple[int, tuple[str, ...]]], files: Mapping[str, str]
) -> dict[str, str | None]:
    """Why a job's survey errors cannot be computed, or None.

    lacking: by job, people who have replicate weights, and the sources of those who have none.
    """
    found: dict[str, str | None] = {}
    for job, (have, sources) in lacking.items():
        names = ", ".join(sorted({files.get(sha, sha[:12]) for sha in sources}))
        if not sources:
            found[job] = None
        elif have:
            found[job] = f"replicate weights of some people only: none in {names}"
        else:
            found[job] = f"no replicate weights in {names}"
    return found
