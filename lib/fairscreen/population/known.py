"""Known propensities of applicants as a DataFrame: what follows from the generator by Bayes."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame

from fairscreen.config import Config
from fairscreen.population import generator as gen
from fairscreen.population import propensity, rows
from fairscreen.population.generator import Generator


def unknown_reason(cfg: Config) -> str | None:
    """Why an audit has no known propensities, or null."""
    if cfg.population.mode != "balanced":
        return f"mode {cfg.population.mode} takes people from the survey as they are"
    return propensity.unknown_reason(cfg.estimation)


def known_propensity(applicants: DataFrame, generator: Generator, cfg: Config) -> DataFrame:
    """Rows of table `known_propensity` of these applicants; `unknown_reason` must be null."""
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

    return applicants.select(*columns).mapInArrow(make, rows.spark_schema("known_propensity"))
