"""The stack of learners: the best mix out of fold; known densities as one more candidate."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize

from fairscreen.estimators.data import Floats, PathData
from fairscreen.estimators.features import Features, Sums
from fairscreen.estimators.glm import Glm
from fairscreen.estimators.levels import Problem
from fairscreen.estimators.nuisance import _simplex, cross_fit
from fairscreen.estimators.path_specific import PathOptions, learners, path_effects
from fairscreen.estimators.saturated import Saturated


class Constant:
    """Predicts one number, whatever it is shown."""

    def __init__(self, value: float) -> None:
        self.value = value

    def mean(self, name: str, features: Features, sums: Sums) -> Floats:
        return np.full(len(features.levels), self.value)

    def probability(self, name: str, features: Features, sums: Sums) -> Floats:
        return np.full(len(features.levels), 0.5)


def sample(n: int, seed: int, noise: float = 2.0) -> PathData:
    rng = np.random.default_rng(seed)
    z, x = rng.integers(0, 3, n), rng.integers(0, 2, n)
    p_r = 0.2 + 0.4 * x + 0.1 * (z == 1)
    r = (rng.random(n) < p_r).astype(int)
    b = rng.integers(0, 4, n)
    y = 10 + 2 * x + 3 * (r * (b == 2)) + z + noise * rng.normal(size=n)
    known = np.where(r == 1, (0.6 + 0.1 * (z == 1)), (0.4 - 0.1 * (z == 1)))
    other = np.where(r == 1, (0.2 + 0.1 * (z == 1)), (0.8 - 0.1 * (z == 1)))
    return PathData.from_rows(
        x=x, z=z, r=r, b=b, y=y, fold=rng.integers(0, 4, size=(n, 1)),
        p_z=np.full(n, 0.5), p_rz=known / (known + other), p_brz=known / (known + other),
    )  # fmt: skip


@given(st.integers(0, 10_000), st.integers(2, 4))
def test_weights_are_the_best_mix(seed: int, count: int) -> None:
    rng = np.random.default_rng(seed)
    p = rng.normal(size=(count, 50))
    y = rng.dirichlet(np.ones(count)) @ p + rng.normal(size=50)
    found = _simplex(p @ p.T, p @ y)
    assert found.min() >= 0
    assert found.sum() == pytest.approx(1)

    def loss(v: Floats) -> float:
        return float(((v @ p - y) ** 2).sum())

    best = minimize(
        loss, np.full(count, 1 / count), bounds=[(0, 1)] * count,
        constraints={"type": "eq", "fun": lambda v: v.sum() - 1},
    )  # fmt: skip
    assert loss(found) <= best.fun * (1 + 1e-4) + 1e-9


def test_candidates_that_agree_share_any_way() -> None:
    assert _simplex(np.ones((3, 3)), np.ones(3)).sum() == pytest.approx(1)
    assert _simplex(np.zeros((2, 2)), np.zeros(2)).sum() == pytest.approx(1)


def test_a_useless_candidate_gets_no_weight() -> None:
    data = sample(2000, 1)
    alone = cross_fit(Problem.of(data), Saturated(), 0, known=False)
    mixed = cross_fit(Problem.of(data), [Saturated(), Constant(-1e4)], 0, known=False)
    assert mixed.mu3 == pytest.approx(alone.mu3, abs=1e-2)
    assert mixed.mu1_w == pytest.approx(alone.mu1_w, abs=1e-2)


def test_the_stack_predicts_better_than_its_worst_and_about_as_its_best() -> None:
    """Squared error of mu3 against the truth, averaged: an interaction that the GLM cannot see."""
    errors: dict[str, list[float]] = {"glm": [], "saturated": [], "stack": []}
    for seed in range(6):
        data = sample(1500, seed)
        truth = 12 + 3 * (data.r[:, 0] * (data.b[:, 0] == 2)) + data.z[:, 0]
        ways = {"glm": [Glm()], "saturated": [Saturated()], "stack": [Glm(), Saturated()]}
        for name, chosen in ways.items():
            nu = cross_fit(Problem.of(data), chosen, 0, known=False)
            errors[name].append(float(np.average((nu.mu3 - truth) ** 2, weights=data.n)))
    mean = {name: np.mean(values) for name, values in errors.items()}
    assert mean["stack"] < 1.1 * min(mean["glm"], mean["saturated"])
    assert mean["stack"] < 0.5 * max(mean["glm"], mean["saturated"])


def test_known_densities_are_a_candidate_and_win_where_data_are_few() -> None:
    moved = []
    for seed in range(8):
        data = sample(120, seed)
        one = cross_fit(Problem.of(data), [Glm(), Saturated()], 0, known=False)
        assert data.p_rz is not None
        blind = replace(data, p_z=None, p_rz=None, p_brz=None)
        other = cross_fit(Problem.of(blind), [Glm(), Saturated()], 0, known=False)
        moved.append(
            [
                float(np.average((e - data.p_rz) ** 2, weights=data.n))
                for e in (one.e_rz, other.e_rz)
            ]
        )
    with_known, without = np.mean(moved, axis=0)
    assert with_known < 0.6 * without
    # Asked for as they are, they are taken as they are.
    told = cross_fit(Problem.of(data), [Glm(), Saturated()], 0, known=True)
    assert told.e_rz == pytest.approx(data.p_rz)


def test_the_default_is_the_stack_of_all_and_cells_equal_rows() -> None:
    data = sample(700, 3)
    chosen = learners(Problem.of(data), PathOptions())
    assert [type(one).__name__ for one in chosen] == ["Glm", "Saturated", "Boosted"]
    one = path_effects(data, PathOptions(bootstrap_draws=0))
    ungrouped = PathData.from_rows(
        **{k: np.repeat(getattr(data, k), data.n, axis=0) for k in ("x", "z", "r", "b", "fold")},
        y=np.repeat(data.sum_y / data.n, data.n), cells=False,
    )  # fmt: skip
    # Equal means in each cell: the same fits, up to single precision of the trees.
    blind = replace(data, p_z=None, p_rz=None, p_brz=None, sum_yy=data.sum_y**2 / data.n)
    two, three = (path_effects(d, PathOptions(bootstrap_draws=0)) for d in (blind, ungrouped))
    for name in ("TE", "NDE", "BIE", "RIE"):
        assert two.effects[name].estimate == pytest.approx(three.effects[name].estimate, abs=2e-3)
    assert one.effects["NDE"].status == "ok"
