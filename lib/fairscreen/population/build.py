"""Bronze to applicants: who applies, who was left out and why, which propensities are known.

Three modes (`population.mode`):
    surveyed  every surveyed person once, as published
    draws     N draws per job with probability proportional to PWGTP
    balanced  N applicants per job from the fitted generator, balanced attributes evenly
What comes to the driver is bounded by the survey and the name tables, never by N.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as sf

from fairscreen import random
from fairscreen.config import Config
from fairscreen.population import domain as axes
from fairscreen.population import experience, joint, naming, propensity, rows
from fairscreen.population import generator as gen
from fairscreen.population.domain import GENDERS
from fairscreen.population.generator import Generator
from fairscreen.population.rows import People, Stamp
from fairscreen.settings.population import Population

FEW_SURVEYED = 100  # people of a job; fewer, and their own mix is mostly chance


@dataclass(frozen=True)
class PopulationResult:
    """DataFrames with exactly the columns of their tables; `fit` holds facts for the run's log."""

    applicants: DataFrame
    exclusions: DataFrame
    known_propensity: DataFrame | None
    notes: tuple[str, ...]
    fit: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Fitted:
    """The generator of an audit, and what its fit stands on."""

    generator: Generator
    vintage: int
    included: DataFrame  # people of joint.surveyed who are in
    left_out: pd.DataFrame  # job, reason, people, weighted
    experience_facts: dict[str, Any]
    smoothing_shift: dict[str, dict[str, float]]  # job: of states, of education levels


def fit_generator(
    acs: DataFrame, psid: DataFrame, ssa: DataFrame, surnames: DataFrame, cfg: Config
) -> Fitted:
    """Fit P1 to P4 from the bronze tables; the same tables and config give the same generator.

    Raises InputError where a table cannot serve: no such vintage, a job with nobody, birth years
    without names, too few PSID people, a race that the surname file lacks.
    """
    settings, domain = cfg.population, axes.from_settings(cfg.population)
    vintage = joint.vintage_of(acs, settings)
    people = joint.surveyed(acs, settings)
    left_out = joint.exclusions(people).toArrow().to_pandas()
    joint.require_people(_counts(left_out), settings)
    included = people.where("reason IS NULL").drop("reason")
    cells = _cells(included)
    exp = experience.fit(psid.drop("source_sha256").toArrow().to_pandas(), settings, domain, cells)
    generator = gen.fit(cells, cfg, domain, exp, *_name_tables(ssa, surnames, cfg, domain))
    shift = {
        job: gen.smoothing_shift(model, cells[cells["job"] == job], domain)
        for job, model in generator.jobs.items()
    }
    return Fitted(generator, vintage, included, left_out, exp.facts, shift)


def build(
    acs: DataFrame, psid: DataFrame, ssa: DataFrame, surnames: DataFrame, cfg: Config
) -> PopulationResult:
    """Applicants of one audit from the bronze tables.

    Raises InputError as `fit_generator` does, and where a contrast names an unknown value.
    """
    settings = cfg.population
    labels = {"gender": GENDERS, "race": tuple(settings.races)}
    propensity.check_contrasts(cfg.estimation, labels)
    fitted = fit_generator(acs, psid, ssa, surnames, cfg)
    generator = fitted.generator
    stamp = Stamp(cfg.audit_id, settings.mode, fitted.vintage)
    if settings.mode == "surveyed":
        applicants = _surveyed(fitted.included, generator, stamp)
    elif settings.mode == "draws":
        applicants = _draws(fitted.included, generator, stamp, settings.n_per_job)
    else:
        applicants = _balanced(acs, generator, stamp, settings.n_per_job)
    known, reason = _known(applicants, generator, cfg)
    counted = fitted.left_out.assign(audit_id=cfg.audit_id).sort_values(["job", "reason"])
    columns = rows.arrow_schema("exclusions")
    included = {job: n for job, why, n in _counts(fitted.left_out) if why == "included"}
    return PopulationResult(
        applicants=applicants,
        exclusions=acs.sparkSession.createDataFrame(
            pa.Table.from_pandas(counted[columns.names], schema=columns, preserve_index=False)
        ),
        known_propensity=known,
        notes=(
            *_survey_notes(
                settings, {j: m.population for j, m in generator.jobs.items()}, included
            ),
            *_notes(settings, fitted.experience_facts, reason),
        ),
        fit={
            "acs_vintage": fitted.vintage,
            "surveyed_people": included,
            "generator_prior_n": settings.prior_n,
            "generator_smoothing_shift": fitted.smoothing_shift,
            "experience": fitted.experience_facts,
        },
    )


def _counts(left_out: pd.DataFrame) -> list[tuple[str, str, int]]:
    listed = left_out[["job", "reason", "people"]].itertuples(index=False)
    return [(str(job), str(reason), int(people)) for job, reason, people in listed]


def _cells(included: DataFrame) -> pd.DataFrame:
    """Surveyed people counted: at most as many rows as there are people."""
    keys = ["job", "gender", "race", "age", "state", "edu_level"]
    counted = included.groupBy(*keys).agg(
        sf.count(sf.lit(1)).alias("people"), sf.sum("pwgtp").alias("weight")
    )
    # Sums of whole numbers, so no order matters; sorted all the same.
    cells: pd.DataFrame = counted.toArrow().to_pandas()
    return cells.sort_values(keys, ignore_index=True)


def _name_tables(
    ssa: DataFrame, surnames: DataFrame, cfg: Config, domain: axes.Domain
) -> tuple[naming.FirstNameTable, naming.SurnameTable]:
    settings, as_of = cfg.population, int(cfg.documents.as_of[:4])
    years = (as_of - domain.age_max, as_of - domain.age_min)
    span = naming.naming_years(settings.first_names, years)
    births = ssa.where(sf.col("birth_year").between(*span)).drop("source_sha256")
    first = naming.first_names(births.toArrow().to_pandas(), settings.first_names, years=years)
    census = surnames.drop("source_sha256").toArrow().to_pandas()
    last = naming.surnames(census, settings.races, threshold=settings.surname_threshold)
    return first, last


def _balanced(acs: DataFrame, generator: Generator, stamp: Stamp, n_per_job: int) -> DataFrame:
    jobs, schema = list(generator.jobs), rows.arrow_schema("applicants")

    def make(batches: Iterable[pa.RecordBatch]) -> Iterable[pa.RecordBatch]:
        for job, number, ids in _numbered(batches, jobs, n_per_job):
            u = random.uniforms(generator.seed, "applicant/z", ids.tolist())
            gender, race, age = gen.draw_z(generator, job, number, u)
            people = People(ids, gender, race, age, ids, None)
            yield rows.complete(generator, job, people, stamp, schema)

    numbers = acs.sparkSession.range(len(jobs) * n_per_job)
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


def _known(
    applicants: DataFrame, generator: Generator, cfg: Config
) -> tuple[DataFrame | None, str | None]:
    """Rows of known_propensity, or why there are none."""
    if cfg.population.mode != "balanced":
        return None, f"mode {cfg.population.mode} takes people from the survey as they are"
    if reason := propensity.unknown_reason(cfg.estimation):
        return None, reason
    tables = propensity.densities(generator, cfg.estimation)
    contrasts, schema = cfg.estimation.contrasts, rows.arrow_schema("known_propensity")
    roles = (cfg.estimation.roles.redlining, cfg.estimation.roles.business)
    columns = ["applicant_id", "job", "age", "exp_year", *tables.labels]
    audit_id = cfg.audit_id

    def make(batches: Iterable[pa.RecordBatch]) -> Iterable[pa.RecordBatch]:
        for batch in batches:
            for job, mine in batch.to_pandas().groupby("job", sort=True):
                codes = {c: gen.codes_of(mine[c], values) for c, values in tables.labels.items()}
                codes["age"] = mine["age"].to_numpy(dtype=np.int64) - tables.age_min
                codes["exp_year"] = np.searchsorted(
                    np.array(tables.cuts), mine["exp_year"].to_numpy(), side="right"
                )
                for name, contrast in contrasts.items():
                    p = propensity.known(tables, str(job), contrast, roles, codes)
                    inside = ~np.isnan(p[0])
                    n = int(inside.sum())
                    yield pa.RecordBatch.from_arrays(
                        [
                            pa.repeat(audit_id, n),
                            pa.repeat(name, n),
                            pa.array(mine["applicant_id"].to_numpy()[inside]),
                            *(pa.array(values[inside]) for values in p),
                        ],
                        schema=schema,
                    )

    return applicants.select(*columns).mapInArrow(make, rows.spark_schema("known_propensity")), None


def _notes(population: Population, facts: dict[str, Any], reason: str | None) -> tuple[str, ...]:
    notes = []
    if facts["psid_synthetic"]:
        notes.append("Years of experience come from a synthetic PSID extract, not from PSID data.")
    counts = facts["psid_rows_by_job"]
    for job in (j for j, n in counts.items() if not n):
        codes = population.jobs[job].psid_occp
        why = (
            f"nobody in PSID, of the waves and ages in use, has its psid_occp ({', '.join(codes)})"
            if codes
            else "its psid_occp is empty"
        )
        notes.append(
            f"Job {job}: {why}, so its years of experience are drawn from people in other jobs."
        )
    thin = [j for j, n in counts.items() if 0 < n < 30]
    if thin:
        notes.append(
            f"Fewer than 30 PSID rows in {', '.join(thin)}: experience there leans on other jobs."
        )
    if reason:
        notes.append(f"No known propensities: {reason}.")
    return tuple(notes)


def _survey_notes(
    population: Population, shares: Mapping[str, gen.Array], surveyed: Mapping[str, int]
) -> tuple[str, ...]:
    """Values that a balanced job lacks, and jobs that few surveyed people stand behind.

    shares: (G, R, A) of each job's surveyed population; surveyed: its people. Surveyed mode has
    no notes: there the applicants are the surveyed people.
    """
    if population.mode == "surveyed":
        return ()
    notes, labels = [], {"gender": GENDERS, "race": tuple(population.races)}
    for job in population.jobs:  # in the order of the config, not of the counted rows
        n = surveyed[job]
        for axis, (attribute, values) in enumerate(labels.items()):
            if population.mode != "balanced" or attribute not in population.balance:
                continue
            there = shares[job].sum(axis=tuple(a for a in range(3) if a != axis)) > 0
            gone = [v for v, occurs in zip(values, there, strict=True) if not occurs]
            if gone:
                have = [v for v, occurs in zip(values, there, strict=True) if occurs]
                notes.append(
                    f"Job {job}: nobody surveyed has {attribute} {' or '.join(gone)}, so its "
                    f"applicants are all {' or '.join(have)}, although population.balance says "
                    f"{attribute}."
                )
        if n < FEW_SURVEYED:
            notes.append(
                f"Only {n} surveyed {'person stands' if n == 1 else 'people stand'} behind the "
                f"{population.n_per_job:,} applicants of {job}."
            )
    return tuple(notes)
