"""Bronze to applicants: who applies, who was left out and why.

What comes to the driver is bounded by the survey and the name tables, never by N.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pandas as pd
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as sf

from fairscreen.config import Config
from fairscreen.population import births, experience, joint, notes, rows, typicality
from fairscreen.population import domain as axes
from fairscreen.population import generator as gen
from fairscreen.population.drawing import applicants
from fairscreen.population.generator import Generator
from fairscreen.population.known import unknown_reason

__all__ = [
    "Fitted",
    "applicants",
    "exclusions",
    "experience_fit",
    "facts",
    "fit_generator",
    "notes_of",
]


@dataclass(frozen=True)
class Fitted:
    """The generator of an audit, and what its fit stands on."""

    generator: Generator
    survey: joint.Survey
    included: DataFrame  # people of joint.surveyed who are in
    left_out: pd.DataFrame  # job, reason, people, weighted
    names: typicality.Names
    cells: pd.DataFrame  # those people counted by what the generator is fitted to
    experience_facts: dict[str, Any]
    experience_rows: tuple[dict[str, Any], ...]  # of table experience_fit, less audit_id

    @property
    def vintage(self) -> int:
        return self.survey[0]

    def surveyed_people(self) -> dict[str, int]:
        """Surveyed people who are in, by job."""
        return {job: n for job, why, n in _counts(self.left_out) if why == "included"}


def fit_generator(
    acs: DataFrame, psid: DataFrame, ssa: DataFrame, surnames: DataFrame, cfg: Config
) -> Fitted:
    """Fit P1 to P4 from the bronze tables; the same tables and config give the same generator.

    Raises InputError where a table cannot serve: no such vintage, a job with nobody, birth years
    without names, too few PSID people, a race that the surname file lacks.
    """
    settings, domain = cfg.population, axes.from_settings(cfg.population)
    survey = joint.survey_of(acs, settings)
    people = joint.surveyed(acs, settings)
    left_out = joint.exclusions(people).toArrow().to_pandas()
    joint.require_people(_counts(left_out), settings)
    included = people.where("reason IS NULL").drop("reason")
    cells = _cells(included)
    exp = experience.fit(psid.drop("source_sha256").toArrow().to_pandas(), settings, domain, cells)
    names = _names(ssa, surnames, cfg)
    generator = gen.fit(cells, cfg, domain, exp, names.first, names.last)
    return Fitted(generator, survey, included, left_out, names, cells, exp.facts, exp.rows)


def exclusions(fitted: Fitted, cfg: Config) -> DataFrame:
    """Rows of table `exclusions`."""
    counted = fitted.left_out.assign(audit_id=cfg.audit_id).sort_values(["job", "reason"])
    columns = rows.arrow_schema("exclusions")
    table = pa.Table.from_pandas(counted[columns.names], schema=columns, preserve_index=False)
    return fitted.included.sparkSession.createDataFrame(table)


def experience_fit(fitted: Fitted, cfg: Config) -> list[dict[str, Any]]:
    """Records of table `experience_fit`."""
    return [{"audit_id": cfg.audit_id, **row} for row in fitted.experience_rows]


def notes_of(fitted: Fitted, cfg: Config) -> tuple[str, ...]:
    """Sentences for the user and the report."""
    shares = {job: model.population for job, model in fitted.generator.jobs.items()}
    reason = unknown_reason(cfg)
    return (
        *notes.survey_notes(cfg.population, shares, fitted.surveyed_people()),
        *notes.fit_notes(cfg.population, fitted.experience_facts),
        *notes.name_notes(cfg.population, cfg.birth_years, dated=fitted.names.dated),
        *([f"No known propensities: {reason}."] if reason else []),
    )


def facts(fitted: Fitted, cfg: Config) -> dict[str, Any]:
    """What the run's log keeps of the fit."""
    return {
        "acs_vintage": fitted.survey[0],
        "acs_period": fitted.survey[1],
        "surveyed_people": fitted.surveyed_people(),
        "generator_prior_n": cfg.population.prior_n,
        "experience": fitted.experience_facts,
        "names": fitted.names.facts,
    }


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


def _names(ssa: DataFrame, surnames: DataFrame, cfg: Config) -> typicality.Names:
    settings, years = cfg.population, cfg.birth_years
    span = births.naming_years(settings.first_names, years)
    year = sf.col("birth_year")
    first = ssa.where(year.between(*span) | year.isNull()).toArrow().to_pandas()
    last = surnames.toArrow().to_pandas()
    return typicality.names(first, last, settings, years=years)
