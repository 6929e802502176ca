"""Applicants without an answer: what is estimated, what weights restore, what rows say."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from fairscreen.audits.answers import case_data, said
from fairscreen.audits.cells import KEY
from fairscreen.estimators.path_specific import PathOptions, path_effects
from fairscreen.estimators.response import LEAST, Answers, response_weights
from fairscreen.estimators.results import EFFECTS, PathResult

OPTIONS = PathOptions(learner="saturated", bootstrap_draws=0)
LABELS = ("men", "women")
N = 20_000


def frame(seed: int, kept) -> pd.DataFrame:
    """Cells of one case as Spark gives them; kept(x, r, b): the chance of an answer."""
    rng = np.random.default_rng(seed)
    x, z = rng.integers(0, 2, N), rng.integers(0, 2, N)
    r = (rng.random(N) < 0.3 + 0.4 * x).astype(int)
    b = (rng.random(N) < 0.3 + 0.2 * x + 0.2 * r).astype(int)
    y = np.round(50 + 2 * x + 3 * r + 6 * b * (1 + r) + z + rng.normal(0, 3, N), 4)
    answers = rng.random(N) < kept(x, r, b)
    people = pd.DataFrame(
        {"x": x, "z": z, "r": r, "b": b, "fold": rng.integers(0, 5, N), "answers": answers}
    )
    people["y"] = np.where(answers, y, 0.0)
    people["yy"] = people["y"] ** 2
    cells = people.groupby(["x", "z", "r", "b", "fold"], as_index=False).agg(
        n=("answers", "sum"), asked=("answers", "size"), sum_y=("y", "sum"), sum_yy=("yy", "sum")
    )
    for column in ("z", "r", "b", "fold"):
        cells[column] = [[v] for v in cells[column]]
    for column in ("z_units", "r_units", "b_units"):
        cells[column] = [[] for _ in range(len(cells))]
    for column in ("p_z", "p_rz", "p_brz"):
        cells[column] = np.nan
    cells["w"] = 1.0
    cells["cell"] = np.arange(len(cells))
    assert set(KEY) <= set(cells)
    return cells


def uneven(x, r, b):
    """Qualified men are answered less often."""
    return np.where((b == 1) & (x == 1), 0.4, 0.95)


def effects(cells: pd.DataFrame, *, weighted: bool) -> PathResult:
    found = case_data(cells, weighted=weighted)
    assert found is not None
    return path_effects(found.data, OPTIONS)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_weights_restore_what_unequal_answers_take_away(seed: int) -> None:
    everybody = effects(frame(seed, lambda x, r, b: np.ones(N)), weighted=False)
    answered = effects(frame(seed, uneven), weighted=False)
    weighted = effects(frame(seed, uneven), weighted=True)
    for name in EFFECTS:
        whole, back = everybody.effects[name], weighted.effects[name]
        assert whole.estimate is not None
        assert back.estimate is not None
        assert back.std_error is not None
        assert abs(back.estimate - whole.estimate) < 3 * back.std_error
    lost = answered.effects["BIE"].estimate
    assert lost is not None
    assert everybody.effects["BIE"].estimate is not None
    assert everybody.effects["BIE"].std_error is not None
    gap = abs(lost - everybody.effects["BIE"].estimate)
    assert gap > 5 * everybody.effects["BIE"].std_error


def test_weights_are_one_over_the_share_that_answered() -> None:
    cells = frame(4, uneven)
    found = case_data(cells, weighted=True)
    assert found is not None
    qualified_men = (found.data.x == 1) & (found.data.b[:, 0] == 1)
    assert found.weight[qualified_men] == pytest.approx(1 / 0.4, rel=0.06)
    assert found.weight[~qualified_men] == pytest.approx(1 / 0.95, rel=0.03)
    np.testing.assert_array_equal(found.data.w, found.weight)
    assert found.answers == Answers.of(cells["x"].to_numpy(), cells["asked"].to_numpy(),
                                       cells["n"].to_numpy())  # fmt: skip


def test_without_missing_answers_weighting_changes_nothing() -> None:
    cells = frame(5, lambda x, r, b: np.ones(N))
    assert effects(cells, weighted=True).effects == effects(cells, weighted=False).effects


def test_cells_that_nobody_answered_are_left_out_and_their_weight_is_bounded() -> None:
    cells = frame(6, uneven)
    cells.loc[(cells["x"] == 1) & (cells["z"].str[0] == 0), ["n", "sum_y", "sum_yy"]] = 0
    found = case_data(cells, weighted=True)
    assert found is not None
    assert len(found.data) == (cells["n"] > 0).sum()
    assert found.data.n.min() > 0
    assert found.weight.max() <= 1 / LEAST
    cells[["n", "sum_y", "sum_yy"]] = 0
    assert case_data(cells, weighted=True) is None


def test_order_of_cells_changes_nothing() -> None:
    cells = frame(7, uneven)
    one = case_data(cells, weighted=True)
    two = case_data(cells.sample(frac=1, random_state=1), weighted=True)
    assert one is not None
    assert two is not None
    np.testing.assert_array_equal(one.cell, two.cell)
    np.testing.assert_array_equal(one.weight, two.weight)
    np.testing.assert_array_equal(one.data.sum_y, two.data.sum_y)


def test_known_shares_of_design_weights_count_once() -> None:
    found = case_data(frame(8, uneven), weighted=False)
    assert found is not None
    data = replace(found.data, w=np.full(len(found.data), 3.0))
    answered = np.floor(data.n / 2).astype(np.int64)
    np.testing.assert_allclose(
        response_weights(data, answered), response_weights(found.data, answered), rtol=1e-6
    )


EVEN = Answers(asked_x1=200, answered_x1=196, asked_x0=200, answered_x0=197)
ODD = Answers(asked_x1=200, answered_x1=150, asked_x0=200, answered_x0=199)
OK = {"estimand": "TE", "status": "ok", "reason": None}
GONE = {"estimand": "TE", "status": "not_computable", "reason": "overlap: E_W:Y"}


def test_rows_say_who_is_missing_and_flag_what_differs() -> None:
    assert said(OK, EVEN, LABELS, weighted=False) == {
        "estimand": "TE", "status": "ok",
        "reason": "answers_missing: men 98.0%, women 98.5% answered; all fitted on the answered, "
        "P(X|.) too; it describes them alone",
    }  # fmt: skip
    flagged = said(OK, ODD, LABELS, weighted=True)
    assert flagged["status"] == "flagged"
    assert flagged["reason"] == (
        "answers_missing_unequally: men 75.0%, women 99.5% answered (Fisher p 1.6e-15 < 0.05); "
        "weighted by 1 / P(answered | X, Z, R, B)"
    )
    gone = said(GONE, ODD, LABELS, weighted=False)
    assert gone["status"] == "not_computable"
    assert gone["reason"].startswith("overlap: E_W:Y; answers_missing_unequally: men 75.0%")
    assert said(GONE, EVEN, LABELS, weighted=False) == GONE
    full = Answers(asked_x1=5, answered_x1=5, asked_x0=7, answered_x0=7)
    assert said(OK, full, LABELS, weighted=True) == OK


def test_the_rule_is_fishers_test() -> None:
    assert not EVEN.unequal
    assert not EVEN.complete
    # 10 of 100 against 20 of 100 missing: p 0.073; against 21 of 100: p 0.049.
    assert not Answers(100, 90, 100, 80).unequal
    assert Answers(100, 90, 100, 79).unequal
    assert Answers(0, 0, 100, 78).p_value == 1.0
