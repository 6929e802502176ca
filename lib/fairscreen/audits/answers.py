"""One case's cells where some applicants have no answer: who is estimated, and what rows say."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from fairscreen.audits.coding import MISSING
from fairscreen.estimators.data import Floats, Ints, PathData
from fairscreen.estimators.response import Answers, response_weights


@dataclass(frozen=True, eq=False)
class CaseData:
    """data: cells of the answered in key order, weighted where that is asked for. cell (C,): their
    hashes. weight (C,): what the weighting for missing answers multiplies `data.w` by. frame: the
    cells as they came, in this order. whole: nobody is without an answer."""

    data: PathData
    cell: Ints
    weight: Floats
    answers: Answers
    frame: pd.DataFrame
    whole: bool


def case_data(frame: pd.DataFrame, *, weighted: bool) -> CaseData | None:
    """From the cells of one case as `cells()` gives them; None where nobody answered."""
    asked = frame["asked"].to_numpy(np.int64)
    answered = frame["n"].to_numpy(np.int64)
    if not answered.any():
        return None
    everybody = path_data(frame.assign(n=asked, sum_y=0.0, sum_yy=0.0))
    order = everybody.order()  # the key alone: no result depends on the order of arrival
    frame, asked, answered = frame.iloc[order], asked[order], answered[order]
    some = answered > 0
    weight = np.ones(len(frame))
    if weighted and (asked != answered).any():
        weight = response_weights(everybody.take(order), answered)
    data = path_data(frame[some])
    return CaseData(
        data=replace(data, w=data.w * weight[some]),
        cell=frame["cell"].to_numpy(np.int64)[some],
        weight=weight[some],
        answers=Answers.of(frame["x"].to_numpy(np.int64), asked, answered),
        frame=frame[some],
        whole=bool((asked == answered).all()),
    )


def path_data(frame: pd.DataFrame) -> PathData:
    """Cells of one case, as `cells()` gives them, as input of the estimator.

    Numbers come in units of their step: their scale changes nothing.
    """
    known = frame["p_z"].notna().any()
    return PathData(
        x=frame["x"].to_numpy(dtype=np.int64),
        z=_stack(frame["z"]),
        r=_stack(frame["r"]),
        b=_stack(frame["b"]),
        n=frame["n"].to_numpy(dtype=np.int64),
        w=frame["w"].to_numpy(dtype=np.float64),
        sum_y=frame["sum_y"].to_numpy(dtype=np.float64),
        sum_yy=frame["sum_yy"].to_numpy(dtype=np.float64),
        fold=_stack(frame["fold"]),
        z_values=_numbers(frame["z_units"]),
        r_values=_numbers(frame["r_units"]),
        b_values=_numbers(frame["b_units"]),
        **{p: frame[p].to_numpy(np.float64) if known else None for p in ("p_z", "p_rz", "p_brz")},
    )


def said(
    effect: Mapping[str, Any], answers: Answers, labels: tuple[str, str], *, weighted: bool
) -> dict[str, Any]:
    """The effect with what its row must say of missing answers: flagged where groups differ."""
    found = dict(effect)
    if answers.complete or (found["status"] == "not_computable" and not answers.unequal):
        return found
    sentence = answers.sentence(labels, weighted=weighted)
    found["reason"] = "; ".join(filter(None, (found["reason"], sentence)))
    if answers.unequal and found["status"] == "ok":
        found["status"] = "flagged"
    return found


def _numbers(column: pd.Series[Any]) -> NDArray[np.float64] | None:
    """Numbers (C, m) of one role, or None. What is missing has a code of its own; its number is
    the median of the others, where it steers no curve."""
    values = _stack(column).astype(np.float64)
    if values.shape[1] == 0:
        return None
    for number in values.T:
        missing = number == MISSING
        if missing.any():
            number[missing] = 0.0 if missing.all() else np.median(number[~missing])
    return values


def _stack(column: pd.Series[Any]) -> NDArray[np.int64]:
    if column.empty:
        return np.zeros((0, 0), dtype=np.int64)
    return np.concatenate(column.to_list()).astype(np.int64).reshape(len(column), -1)
