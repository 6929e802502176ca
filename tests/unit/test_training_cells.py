"""The cap on training cells: who is drawn, what it weighs, and what the cap may move."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from fairscreen import random
from fairscreen.estimators.data import PathData, assign_folds
from fairscreen.estimators.levels import Problem
from fairscreen.estimators.path_specific import PathOptions, path_effects
from fairscreen.estimators.results import EFFECTS
from fairscreen.estimators.training import training_weights

OPTIONS = PathOptions(learner="saturated", bootstrap_draws=0)


def sample(n: int, seed: int, share: float = 0.5, repeats: int = 2) -> PathData:
    """Names, schooling and experience follow the group; few frequent cells, many rare ones."""
    rng = np.random.default_rng(seed)
    x = (rng.random(n) < share).astype(int)
    z = np.minimum(rng.geometric(0.3, n), 8)
    name = (rng.random(n) < 0.35 + 0.3 * x).astype(int) + (rng.random(n) < 0.2)
    region = rng.choice(4, n, p=[0.5, 0.3, 0.15, 0.05])
    edu = rng.binomial(2, 0.4 + 0.15 * x + 0.05 * (name == 2))
    years = np.minimum(rng.poisson(1.5 + 0.5 * x + 0.2 * z), 4)
    y = 40 + 2 * x + 3 * name + region + 4 * edu + years + 0.5 * z + edu * name
    return PathData.from_rows(
        x=x, z=z, r=np.stack([name, region], 1), b=np.stack([edu, years], 1),
        y=y + rng.normal(0, 8, n),
        fold=assign_folds(seed, [str(i) for i in range(n)], 5, repeats),
    )  # fmt: skip


def weights(data: PathData, cap: int | None, seed: int) -> np.ndarray | None:
    return training_weights(data, Problem.of(data).brz.at, cap, seed)


def values(data: PathData) -> np.ndarray:
    """Z, R, B of each cell: cells of both groups and several folds share them."""
    return np.concatenate([data.z, data.r, data.b], axis=1)


def kept(data: PathData, found: np.ndarray) -> int:
    """Levels with a weight."""
    return len(np.unique(values(data)[found > 0], axis=0))


def test_below_the_cap_nothing_is_drawn() -> None:
    data = sample(2_000, 1)
    count = data.distinct_values()
    assert count == len(np.unique(values(data), axis=0)) < len(data)
    assert weights(data, count, 7) is None
    assert weights(data, None, 7) is None
    assert weights(data, count - 1, 7) is not None
    plain = path_effects(data, OPTIONS)
    capped = path_effects(data, replace(OPTIONS, max_training_cells=count))
    assert plain.effects == capped.effects


def test_people_of_all_groups_and_folds_are_drawn_together() -> None:
    data = sample(5_000, 2)
    found = weights(data, 400, 7)
    assert found is not None
    _, at = np.unique(values(data), axis=0, return_inverse=True)
    for k in range(at.max() + 1):
        assert len(np.unique(found[at.reshape(-1) == k])) == 1


@pytest.mark.parametrize("seed", [3, 4, 5])
def test_the_cap_moves_no_effect_by_half_its_error(seed: int) -> None:
    data = sample(30_000, seed)
    assert data.distinct_values() > 1_300
    plain = path_effects(data, OPTIONS)
    capped = path_effects(data, replace(OPTIONS, max_training_cells=700))
    assert plain.effects["NDE"] != capped.effects["NDE"]
    # TE needs regressions on Z alone, of which there are 8 values: nothing is drawn for them.
    assert plain.effects["TE"] == capped.effects["TE"]
    for name in EFFECTS:
        one, two = plain.effects[name], capped.effects[name]
        assert one.status == two.status == "ok"
        assert one.estimate is not None
        assert two.estimate is not None
        assert one.std_error is not None
        assert abs(two.estimate - one.estimate) < one.std_error / 2
        assert two.std_error == pytest.approx(one.std_error, rel=0.1)
        assert two.n == one.n == 30_000  # influence moments use every cell


def test_what_is_drawn_stands_for_all_of_each_group() -> None:
    data = sample(30_000, 6)
    found = weights(data, 700, 7)
    assert found is not None
    assert 350 < kept(data, found) < 700 * 1.06
    assert found[found > 0].min() == 1.0  # large levels are sure to be drawn
    for group in (0, 1):
        mine = data.x == group
        assert (found * data.n)[mine].sum() == pytest.approx(data.n[mine].sum(), rel=0.06)


def test_a_rare_group_keeps_all_its_levels() -> None:
    data = sample(30_000, 8, share=0.01)
    found = weights(data, 600, 7)
    assert found is not None
    assert len(np.unique(values(data)[data.x == 1], axis=0)) < 300
    assert (found[data.x == 1] == 1.0).all()
    assert 300 < kept(data, found) < 600 * 1.06


def test_who_is_drawn_depends_on_the_level_alone() -> None:
    data = sample(20_000, 9)
    order = np.random.default_rng(1).permutation(len(data))
    found, moved = weights(data, 500, 7), weights(data.take(order), 500, 7)
    assert found is not None
    assert moved is not None
    np.testing.assert_allclose(moved, found[order])
    other = weights(data, 500, 8)
    assert other is not None
    assert ((other > 0) != (found > 0)).any()
    # Another score of the same people is another y, not another draw; nor are other folds.
    double = replace(data, sum_y=2 * data.sum_y, sum_yy=4 * data.sum_yy)
    np.testing.assert_array_equal(weights(double, 500, 7), found)
    np.testing.assert_array_equal(weights(replace(data, fold=data.fold + 1), 500, 7), found)


def test_uniforms_of_rows_are_fixed_for_ever_and_uniform() -> None:
    keys = np.stack([np.arange(5_000), -np.arange(5_000)], axis=1)
    u = random.row_uniforms(1, "a", keys)
    assert u.min() > 0
    assert u.max() < 1
    assert abs(u.mean() - 0.5) < 0.02
    # One column is the hash of an integer key.
    np.testing.assert_array_equal(
        random.row_uniforms(1, "a", keys[:, :1]), random.uniforms(1, "a", keys[:, 0])
    )
