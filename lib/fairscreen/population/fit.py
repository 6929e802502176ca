"""Table population_fit: survey and applicants counted in Spark, compared in numpy.

What comes to the driver is bounded by the survey and by the domain's cells, never by the number
of applicants. Works alike in every mode: surveyed people once as they are (weight 1), draws
(weight 1), and a balanced design (its weights).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as sf

from fairscreen.config import Config
from fairscreen.population import rows
from fairscreen.population.behind import behind, included
from fairscreen.population.generator import Generator
from fairscreen.population.margins import COLUMNS, KEYS, SurveyedJob, margin_rows
from fairscreen.population.survey import REPLICATES
from fairscreen.settings.population import Population


def population_fit(
    acs: DataFrame,
    cells: pd.DataFrame,
    applicants: DataFrame,
    generator: Generator,
    cfg: Config,
    files: Mapping[str, str],
) -> pd.DataFrame:
    """Rows of the table, audit_id included.

    acs: the audit's rows of acs_person. cells: surveyed people as the generator was fitted to
    them. applicants: the audit's rows of that table. files: name of a source by its sha256.
    """
    lacking = behind(acs, cfg.population, files).lacking
    whole = [job for job in generator.jobs if lacking[job] is None]
    replicates = _replicates(acs, cfg.population, whole) if whole else None
    drawn = _applicants(applicants)
    frames = []
    for job, model in generator.jobs.items():
        mine, weights = cells[cells["job"] == job], None
        if replicates is not None and job in whole:
            mine = replicates[replicates["job"] == job]
            weights = np.stack(mine["replicates"].to_list()).astype(np.int64)
        survey = SurveyedJob(mine, weights, lacking[job])
        theirs = drawn[drawn["job"] == job]
        frames.append(margin_rows(job, model, generator.domain, survey, theirs))
    table = pd.concat(frames, ignore_index=True)
    return table.assign(audit_id=cfg.audit_id)[["audit_id", *COLUMNS]]


def as_table(frame: pd.DataFrame) -> pa.Table:
    """The rows with the table's types; what is not computable is null, never NaN."""
    schema = rows.arrow_schema("population_fit")
    return pa.Table.from_pandas(frame[schema.names], schema=schema, preserve_index=False)


def largest_difference(frame: pd.DataFrame) -> dict[str, dict[str, Any]]:
    """By job, the cell where generator and survey differ most: for the run's log."""
    worst = frame.loc[frame["difference"].abs().groupby(frame["job"]).idxmax()]
    return {
        str(r["job"]): {"margin": r["margin"], "value": r["value"], "difference": r["difference"]}
        for r in worst.to_dict("records")
    }


def _replicates(acs: DataFrame, population: Population, jobs: list[str]) -> pd.DataFrame:
    """Cells with the 80 sums of replicate weights of these jobs, sorted."""
    people = included(acs, population).where(sf.col("job").isin(jobs))
    sums = [sf.sum(sf.col("replicate_weights")[r]) for r in range(REPLICATES)]
    counted = people.groupBy("job", *KEYS).agg(
        sf.count(sf.lit(1)).alias("people"),
        sf.sum("pwgtp").alias("weight"),
        sf.array(*sums).alias("replicates"),
    )
    frame: pd.DataFrame = counted.toArrow().to_pandas()
    return frame.sort_values(["job", *KEYS], ignore_index=True)


def _applicants(applicants: DataFrame) -> pd.DataFrame:
    """Applicants by cell; weights are decimals, so their sum does not depend on the order."""
    counted = applicants.groupBy("job", *KEYS).agg(
        sf.count(sf.lit(1)).alias("applicants"), sf.sum("design_weight").alias("weight")
    )
    frame: pd.DataFrame = counted.toArrow().to_pandas()
    return frame.sort_values(["job", *KEYS], ignore_index=True).astype({"weight": float})
