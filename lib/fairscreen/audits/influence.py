"""Per-applicant values of effects (phi, psi), and how two cases that share applicants correlate."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf

from fairscreen.estimators.joint import PRIMARY
from fairscreen.estimators.results import EFFECTS

#: Columns of a frame of values: an applicant's own contribution to each of PRIMARY.
VALUES = tuple(f"v_{name}" for name in PRIMARY)
# Influence in units of 2^-18 of its standard deviation: products are whole numbers, so that their
# sums do not depend on the order of rows; the correlation is right to 1e-6 / sqrt(n). Nobody's
# influence exceeds sqrt(n) standard deviations, so a product fits 64 bits up to 134 million people.
_GRID = 2.0**18
_NUMBERS = NDArray[np.float64]


def phi(coded_rows: DataFrame, influence: pd.DataFrame) -> DataFrame:
    """case, slice, applicant_id, w and VALUES of the observational estimator.

    influence: case, cell, a, c of every case wanted: phi = a + c y of an applicant of the cell.
    """
    a, c = (np.stack(list(influence[k])) for k in ("a", "c"))
    columns: dict[str, Any] = {
        "case": influence["case"].to_numpy(np.int32),
        "cell": influence["cell"].to_numpy(np.int64),
    }
    for k in range(len(PRIMARY)):
        columns |= {f"a{k}": a[:, k], f"c{k}": c[:, k]}
    table = coded_rows.sparkSession.createDataFrame(pd.DataFrame(columns))
    rows = coded_rows.select("case", "slice", "cell", "applicant_id", "y", "w")
    y = sf.col("y").cast("double")
    values = [(sf.col(f"a{k}") + sf.col(f"c{k}") * y).alias(v) for k, v in enumerate(VALUES)]
    return rows.join(table, ["case", "cell"]).select("case", "slice", "applicant_id", "w", *values)


@dataclass(frozen=True)
class Shared:
    """What two cases share, by pair of their indices (i, j), i < j.

    correlation: (3, 3) of NDE, BIE, RIE, rows are case i. people: applicants answered in both.
    """

    correlation: dict[tuple[int, int], _NUMBERS]
    people: dict[tuple[int, int], int]


def correlations(values: DataFrame, results: Mapping[int, Mapping[str, Any]]) -> Shared:
    """Correlations of effects between cases over the applicants that they share.

    Sums products of the applicants' values in Spark, exactly (see _GRID). values: as `phi` gives
    them. results: covariance, n, sum_w and theta of each case. What does not vary correlates with
    nothing.
    """
    scales = {case: _scale(results[case]) for case in sorted(results)}
    w = sf.col("w").cast("double")

    def at(which: int, k: int) -> Column:
        pairs = [sf.lit(x) for case, s in scales.items() for x in (case, float(s[which][k]))]
        return sf.create_map(*pairs)[sf.col("case")]

    units = [
        sf.rint(w * (sf.col(v) - at(0, k)) / at(1, k)).cast("bigint").alias(f"q{k}")
        for k, v in enumerate(VALUES)
    ]
    people = values.where(sf.col("case").isin(*scales))
    people = people.select("case", "slice", "applicant_id", *units)
    one, two = people.alias("one"), people.alias("two")
    pairs = one.join(two, ["slice", "applicant_id"]).where("one.case <= two.case")
    size = len(PRIMARY)
    sums = [
        sf.sum((sf.col(f"one.q{i}") * sf.col(f"two.q{j}")).cast("decimal(20,0)")).alias(f"p{i}{j}")
        for i in range(size)
        for j in range(size)
    ]
    keys = [sf.col("one.case").alias("i"), sf.col("two.case").alias("j")]
    collected = pairs.groupBy(*keys).agg(sf.count(sf.lit(1)).alias("people"), *sums).collect()
    matrix = {
        (int(r["i"]), int(r["j"])): np.array(
            [[float(r[f"p{i}{j}"]) for j in range(size)] for i in range(size)]
        )
        for r in collected
    }
    sd = {i: np.sqrt(np.diag(matrix[i, i])) for i in scales if (i, i) in matrix}
    found = {}
    for (i, j), m in sorted(matrix.items()):
        if i < j:
            both = np.outer(sd[i], sd[j])
            found[i, j] = np.divide(m, both, out=np.zeros_like(m), where=both > 0)
    both_answered = {(int(r["i"]), int(r["j"])): int(r["people"]) for r in collected}
    return Shared(found, {pair: both_answered[pair] for pair in found})


def _scale(result: Mapping[str, Any]) -> tuple[_NUMBERS, _NUMBERS]:
    """theta (3,) and the unit (3,) of the values of the primary effects of one case."""
    at = [EFFECTS.index(name) for name in PRIMARY]
    error = np.sqrt(np.diag(np.array(result["covariance"]))[at])
    unit = error / np.sqrt(result["n"]) * result["sum_w"] / _GRID
    return np.array(result["theta"])[at], np.where(unit > 0, unit, 1.0)
