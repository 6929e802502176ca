"""Pass 1 of the path-specific design: classifiers P(X|.), once per contrast and slice.

They depend on who was asked, on the options and on the seed, and on nobody's score. So every
model and format of an audit takes the same ones, and a case does not change with the cases beside
it. A case in which somebody has no answer stands on other people: it fits its own.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pyspark.sql import DataFrame
from pyspark.sql import functions as sf

from fairscreen.audits.answers import path_data
from fairscreen.audits.cells import KEY, asked, cases
from fairscreen.audits.coding import Resolution, code_lists, grouped, ungrouped
from fairscreen.config import Config
from fairscreen.errors import InputError
from fairscreen.estimators.nuisance import Classifiers, Quality
from fairscreen.estimators.path_specific import PathOptions, fit_classifiers

#: Columns of the classifiers in `propensity`: one number per repeat, and how good they are.
ARRAYS = ("q", "e_z", "e_rz", "e_brz")
GROUPED, UNGROUPED = "grouped", "ungrouped"
_RESULT = "case INT, cell BIGINT, {}, quality STRING".format(
    ", ".join(f"{name} ARRAY<DOUBLE>" for name in ARRAYS)
)


def rows(
    applicants: DataFrame,
    scores: DataFrame,
    known: DataFrame | None,
    cfg: Config,
    options: PathOptions,
    how: Resolution | None = None,
) -> DataFrame:
    """Rows of `propensity` of one resolution, default grouped. Of `scores` nothing is read."""
    how = how or grouped(cfg)
    codes = code_lists(applicants, cfg, how)
    people = asked(applicants, scores.limit(0), known, cfg, codes, how)
    # Every case asks everybody: those of the first model and format hold all sets of applicants.
    every = cases(cfg)
    one = [c for c in every if (c.model, c.document_format) == _first(cfg)]
    keys = ("case", "contrast", "slice", *KEY, "cell")
    sets = people.where(sf.col("case").isin(*(c.index for c in one)) & (sf.col("w") > 0))
    sets = sets.groupBy(*keys).agg(sf.count(sf.lit(1)).alias("n"))
    names = people.sparkSession.createDataFrame(
        [(c.index, c.contrast, c.slice) for c in one], "case INT, contrast STRING, slice STRING"
    )
    return fitted(sets, options, len(every)).join(names, "case").select(
        sf.lit(cfg.audit_id).alias("audit_id"),
        sf.lit(UNGROUPED if how == ungrouped(cfg) else GROUPED).alias("resolution"),
        "contrast", "slice", "cell", *ARRAYS, "quality",
    )  # fmt: skip


def _first(cfg: Config) -> tuple[str, str]:
    return next(iter(cfg.scoring.models)), cfg.documents.formats[0]


def fitted(sets: DataFrame, options: PathOptions, slots: int) -> DataFrame:
    """Classifiers of every case of `sets` (cells with n people), fitted in grouped UDFs."""
    placed = sets.select(
        sf.col("case").alias("slot"), "case", "cell", "x", "z", "r", "b", "fold",
        "z_units", "r_units", "b_units", "n", "p_z", "p_rz", "p_brz",
        sf.col("w").cast("double").alias("w"),
    ).repartitionById(slots, "slot")  # fmt: skip

    def one_case(frame: pd.DataFrame) -> pd.DataFrame:
        try:
            return one_set(frame, options)
        except InputError as error:
            raise error.marked() from None

    return placed.groupBy("slot", "case").applyInPandas(one_case, _RESULT)


def one_set(frame: pd.DataFrame, options: PathOptions) -> pd.DataFrame:
    """Classifiers of one set of cells (case, cell, key, n), in key order; no row where nothing can
    be fitted."""
    data = path_data(frame.assign(sum_y=0.0, sum_yy=0.0))
    order = data.order()
    found = fit_classifiers(data.take(order), options)
    cell = frame["cell"].to_numpy(np.int64)[order]
    count = 0 if found is None else len(cell)
    columns: dict[str, Any] = {
        "case": np.full(count, int(frame["case"].iloc[0]), dtype=np.int32),
        "cell": cell[:count],
    }
    for name in ARRAYS:
        values = [] if found is None else list(getattr(found, name))
        columns[name] = pd.Series(values, dtype=object)
    told = [] if found is None else [quality_text(found), *[None] * (count - 1)]
    return pd.DataFrame({**columns, "quality": pd.Series(told, dtype=object)})


def quality_text(found: Classifiers) -> str:
    """Column `quality`."""
    return json.dumps([[asdict(q) for q in repeat] for repeat in found.quality], allow_nan=False)


def joined(cell_rows: DataFrame, propensity: DataFrame | None) -> DataFrame:
    """Cells of all cases with the columns of `propensity` (one resolution of one audit); null
    where it has no such cell."""
    if propensity is None:
        empty = [sf.lit(None).cast("array<double>").alias(name) for name in ARRAYS]
        return cell_rows.select("*", *empty, sf.lit(None).cast("string").alias("quality"))
    mine = propensity.select("contrast", "slice", "cell", *ARRAYS, "quality")
    return cell_rows.join(mine, ["contrast", "slice", "cell"], "left")


def shared(frame: pd.DataFrame) -> Classifiers | None:
    """The classifiers of one case's cells as `joined` gives them, in the frame's order; None where
    a cell lacks them."""
    told = frame["quality"].dropna()
    if len(told) != 1 or frame["q"].isna().any():
        return None
    arrays = {name: _numbers(frame[name]) for name in ARRAYS}
    listed = json.loads(told.iloc[0])
    quality = tuple(tuple(Quality(**q) for q in repeat) for repeat in listed)
    return Classifiers(**arrays, quality=quality)


def _numbers(column: pd.Series[Any]) -> NDArray[np.float64]:
    return np.stack([np.asarray(v, dtype=np.float64) for v in column])
