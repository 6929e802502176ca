"""Classifiers of a set of cells as rows of a table, and back. No Spark session."""

from __future__ import annotations

import numpy as np
import pandas as pd

from fairscreen.audits.answers import case_data, path_data
from fairscreen.audits.propensities import ARRAYS, one_set, shared
from fairscreen.estimators.path_specific import PathOptions, fit_classifiers

OPTIONS = PathOptions(learner="saturated", bootstrap_draws=0)
N = 400


def cells(seed: int = 1) -> pd.DataFrame:
    """Cells as `cells.cells` gives them, one person each; numbers beside the bins of R."""
    draw = np.random.default_rng(seed)
    x, name = draw.integers(0, 2, N), draw.integers(0, 20, N)
    arrays = {
        "z": draw.integers(0, 3, (N, 1)), "r": np.stack([draw.integers(0, 2, N), name // 5], 1),
        "b": draw.integers(0, 3, (N, 1)), "fold": draw.integers(0, 4, (N, 2)),
        "z_units": np.zeros((N, 0)), "r_units": name[:, None], "b_units": np.zeros((N, 0)),
    }  # fmt: skip
    frame = pd.DataFrame({"case": 3, "cell": draw.permutation(N) - N // 2, "x": x, "w": 1.0})
    for column, values in arrays.items():
        frame[column] = list(values.astype(np.int64))
    for p in ("p_z", "p_rz", "p_brz"):
        frame[p] = np.nan
    y = draw.normal(50, 3, N)
    return frame.assign(n=1, asked=1, sum_y=y, sum_yy=y**2, quality=None)


def test_rows_come_back_as_the_classifiers_of_a_direct_fit() -> None:
    frame = cells()
    rows = one_set(frame, OPTIONS)
    assert list(rows.columns) == ["case", "cell", *ARRAYS, "quality"]
    assert set(rows["case"]) == {3}
    moved = frame.drop(columns="quality").merge(rows.drop(columns="case"), on="cell")
    found = case_data(moved.sample(frac=1, random_state=2), weighted=False)
    assert found is not None
    assert found.whole
    back, direct = shared(found.frame), fit_classifiers(found.data, OPTIONS)
    assert back is not None
    assert direct is not None
    assert back.quality == direct.quality
    for name in ARRAYS:
        np.testing.assert_array_equal(getattr(back, name), getattr(direct, name))


def test_a_cell_without_classifiers_leaves_none_to_share() -> None:
    frame = cells()
    rows = one_set(frame, OPTIONS).drop(columns="case")
    moved = frame.drop(columns="quality").merge(rows.iloc[1:], on="cell", how="left")
    assert shared(moved) is None  # neither the first cell's numbers nor the quality on it
    whole = frame.drop(columns="quality").merge(rows, on="cell")
    assert shared(whole.assign(quality=None)) is None


def test_one_group_alone_has_no_rows_and_who_has_no_answer_is_told() -> None:
    frame = cells()
    assert one_set(frame[frame["x"] == 1], OPTIONS).empty
    some = frame.assign(n=np.where(np.arange(N) < 5, 0, 1))
    found = case_data(some, weighted=False)
    assert found is not None
    assert not found.whole
    assert len(found.frame) == len(found.data) == N - 5
    assert path_data(found.frame).n.sum() == N - 5
