"""What a report is made of: frames with the columns of the tables, and facts about the run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

import pandas as pd

from fairscreen.config import Config
from fairscreen.settings.audit import AuditConfig


@dataclass(frozen=True)
class ModelFacts:
    """One screener. `version`: as the screener reports it (embedding: SHA-256 of the model)."""

    kind: str
    simulated: bool
    version: str | None = None


@dataclass(frozen=True)
class Sample:
    """One request as it was sent and answered, so that a reader sees what was asked."""

    model: str
    job: str
    applicant_id: str
    content_key: str
    prompt: str
    resume: str
    reply: str | None
    outcome: str
    score: float | None


@dataclass(frozen=True, kw_only=True)
class Report:
    """What the report of every design shows.

    estimates, sources: rows of the tables (sources: source_file). outcomes: rows of the design's
    view of outcomes.
    models: by key of scoring.models. mlflow_runs: model to run id.
    input_versions: Delta version of every table, for the provenance section.
    command: what to type to run the audit again.
    """

    cfg: AuditConfig
    generated_at: datetime
    package_version: str
    estimates: pd.DataFrame
    outcomes: pd.DataFrame
    sources: pd.DataFrame
    input_versions: Mapping[str, int]
    models: Mapping[str, ModelFacts]
    samples: tuple[Sample, ...] = ()
    mlflow_runs: Mapping[str, str] = field(default_factory=dict)
    mlflow_command: str | None = None
    command: str | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class ReportData(Report):
    """Everything that `render_report` shows; it reads nothing else.

    population: job, gender, race, edu_group, n (applicants); one row per combination.
    exclusions, overlap, patterns, experience_fit: rows of the tables. experience_fit may be empty:
    then the report has no such section.
    outcomes, population_margins, diagnostics, pattern_counts: rows of the views group_outcomes,
    population_margins, case_diagnostics and pattern_counts.
    population_fit: rows of the table; empty where an older fairscreen drew the applicants.
    experience: job, age, exp_year, weight: applicants' design weights summed.
    """

    cfg: Config
    population: pd.DataFrame
    exclusions: pd.DataFrame
    overlap: pd.DataFrame
    patterns: pd.DataFrame
    experience_fit: pd.DataFrame = field(default_factory=pd.DataFrame)
    population_fit: pd.DataFrame = field(default_factory=pd.DataFrame)
    population_margins: pd.DataFrame = field(default_factory=pd.DataFrame)
    pattern_counts: pd.DataFrame = field(default_factory=pd.DataFrame)
    diagnostics: pd.DataFrame = field(default_factory=pd.DataFrame)
    experience: pd.DataFrame = field(default_factory=pd.DataFrame)
