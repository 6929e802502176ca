"""Path-specific effects on samples: recomputed plainly, invariant where they must be."""

from __future__ import annotations

import dataclasses
from collections import defaultdict

import numpy as np
import pytest

from fairscreen.errors import InputError
from fairscreen.estimators.boosted import DEPTHS, LAMBDAS, TREES, Boosted, Setting, tuned
from fairscreen.estimators.data import PathData, assign_folds
from fairscreen.estimators.levels import Problem
from fairscreen.estimators.nuisance import (
    SCORE_STEPS,
    Nuisances,
    classifier_steps,
    cross_fit,
)
from fairscreen.estimators.path_specific import (
    PathOptions,
    effects_given,
    path_effects,
)
from fairscreen.estimators.results import EFFECTS, PathResult
from fairscreen.estimators.saturated import Saturated

N = 600
QUIET = PathOptions(learner="saturated", bootstrap_draws=0)


def rows(n: int = N, seed: int = 1, groups: int = 2) -> dict[str, np.ndarray]:
    """A sample with every path open: z, r, b in two columns each."""
    draw = np.random.default_rng(seed)
    z = draw.integers(0, 2, (n, 2))
    x = (draw.random(n) < 0.35 + 0.3 * z[:, 0]).astype(int)
    if groups == 3:
        x[draw.random(n) < 0.2 + 0.3 * z[:, 1]] = -1
    one = (x == 1).astype(int)
    r = (draw.random((n, 2)) < (0.3 + 0.25 * one + 0.1 * z[:, 0])[:, None]).astype(int)
    b = draw.binomial(2, 0.25 + 0.2 * one + 0.2 * r[:, 0])[:, None]
    y = 10 + 2 * one + 3 * r[:, 0] - r[:, 1] * b[:, 0] + 2 * b[:, 0] + z[:, 0]
    y = np.round(y + draw.normal(0, 2, n), 2)
    fold = assign_folds(seed, [str(i) for i in range(n)], 4, 2)
    return {"x": x, "z": z, "r": r, "b": b, "y": y, "fold": fold}


def numbers(result: PathResult) -> np.ndarray:
    """(5, 2) estimates and errors."""
    table = [(e.estimate, e.std_error) for e in result.effects.values()]
    assert all(value is not None for row in table for value in row), result.summary()
    return np.array(table, dtype=float)


def unjudged(result: PathResult, data: PathData) -> np.ndarray:
    """(5, 2) estimates and errors whatever the overlap rules say."""
    assert result.influence is not None
    assert result.c is not None
    assert result.covariance is not None
    phi = result.influence * data.n[:, None] + result.c * data.sum_y[:, None]
    estimate = (data.w[:, None] * phi).sum(axis=0) / (data.w * data.n).sum()
    return np.stack([estimate, np.sqrt(np.diag(result.covariance))], axis=1)


# --- recomputed plainly ---------------------------------------------------------------------


def plain(d: dict[str, np.ndarray], repeat: int) -> np.ndarray:
    """phi (N, 5) for E1, E0, E_W, E_B, E_R: row by row, dictionaries of cell means, no shrinkage.

    Shares nothing with the estimator but the formulas of the paper.
    """
    n = len(d["y"])
    z = [tuple(v) for v in d["z"]]
    rz = [tuple(d["r"][i]) + z[i] for i in range(n)]
    brz = [tuple(d["b"][i]) + rz[i] for i in range(n)]
    fold, x, y = d["fold"][:, repeat], d["x"], d["y"]

    def averages(
        key: list[tuple[int, ...]], value: list[float], keep: list[bool]
    ) -> dict[tuple[int, ...], float]:
        sums: dict[tuple[int, ...], list[float]] = defaultdict(lambda: [0.0, 0.0])
        for k, v, yes in zip(key, value, keep, strict=True):
            if yes:
                sums[k][0] += v
                sums[k][1] += 1
        return {k: total / count for k, (total, count) in sums.items()}

    phi = np.zeros((n, 5))
    for f in sorted(set(fold)):
        out = [bool(fold[i] != f) for i in range(n)]
        is1 = [out[i] and x[i] == 1 for i in range(n)]
        is0 = [out[i] and x[i] == 0 for i in range(n)]
        both = [a or b for a, b in zip(is1, is0, strict=True)]
        ones = [float(v == 1) for v in x]
        p1 = averages(z, ones, out)
        p0 = averages(z, [float(v == 0) for v in x], out)
        er, eb = averages(rz, ones, both), averages(brz, ones, both)
        m1, m0 = averages(z, list(y), is1), averages(z, list(y), is0)
        mu3 = averages(brz, list(y), is1)
        at3 = [mu3.get(k, 0.0) for k in brz]
        mu1_w = averages(z, at3, is0)
        mu2_b = averages(rz, at3, is0)
        mu1_b = averages(z, [mu2_b[k] for k in rz], is1)
        mu2_r = averages(rz, list(y), is1)
        mu1_r = averages(z, [mu2_r[k] for k in rz], is0)
        for i in range(n):
            if out[i]:
                continue
            one, zero = float(x[i] == 1), float(x[i] == 0)
            e_r, e_b, q1, q0 = er[rz[i]], eb[brz[i]], p1[z[i]], p0[z[i]]
            m3, m2b, m2r = at3[i], mu2_b[rz[i]], mu2_r[rz[i]]
            phi[i] = (
                m1[z[i]] + one / q1 * (y[i] - m1[z[i]]),
                m0[z[i]] + zero / q0 * (y[i] - m0[z[i]]),
                mu1_w[z[i]]
                + zero / q0 * (m3 - mu1_w[z[i]])
                + one * (1 - e_b) / (e_b * q0) * (y[i] - m3),
                mu1_b[z[i]]
                + one / q1 * (m2b - mu1_b[z[i]])
                + zero * e_r / ((1 - e_r) * q1) * (m3 - m2b)
                + one * (1 - e_b) * e_r / (e_b * (1 - e_r) * q1) * (y[i] - m3),
                mu1_r[z[i]]
                + zero / q0 * (m2r - mu1_r[z[i]])
                + one * (1 - e_r) / (e_r * q0) * (y[i] - m2r),
            )
    return phi


@pytest.mark.parametrize("groups", [2, 3])
def test_equals_a_plain_recomputation_on_rows(groups: int) -> None:
    d = rows(8000, seed=3, groups=groups)
    phi = (plain(d, 0) + plain(d, 1)) / 2
    e1, e0, e_w, e_b, e_r = phi.T
    bie = ((e1 - e_b) + (e_r - e_w)) / 2
    effects = np.stack([e1 - e0, e_w - e0, e1 - e_w, bie, (e1 - e_w) - bie], axis=1)
    data = PathData.from_rows(**d)
    assert len(data) < 8000 / 2
    problem = Problem.of(data)
    learner = Saturated(shrink=False)
    nuisances = [cross_fit(problem, learner, k, known=False) for k in range(2)]
    options = dataclasses.replace(QUIET, clip=1e-9)
    result = effects_given(data, nuisances, options)
    expected = np.stack([effects.mean(axis=0), effects.std(axis=0, ddof=1) / np.sqrt(8000)], 1)
    np.testing.assert_allclose(numbers(result), expected, rtol=1e-10, atol=1e-10)
    assert result.covariance is not None
    np.testing.assert_allclose(result.covariance, np.cov(effects.T) / 8000, rtol=1e-9, atol=1e-14)


# --- cells, order, sums ------------------------------------------------------------------------


def test_cells_equal_rows() -> None:
    d = rows()
    by_row = path_effects(PathData.from_rows(**d, cells=False), PathOptions(learner="saturated"))
    by_cell = path_effects(PathData.from_rows(**d), PathOptions(learner="saturated"))
    np.testing.assert_allclose(numbers(by_cell), numbers(by_row), rtol=1e-10, atol=1e-10)
    assert by_cell.covariance is not None
    np.testing.assert_allclose(by_cell.covariance, by_row.covariance, rtol=1e-9, atol=1e-12)
    for a, b in zip(by_cell.overlap, by_row.overlap, strict=True):
        assert a.n == b.n
        assert a.effective_n == pytest.approx(b.effective_n, rel=1e-9)


def test_parts_add_up_to_the_whole() -> None:
    d = rows()
    half = {k: v[:250] for k, v in d.items()}
    rest = {k: v[250:] for k, v in d.items()}
    both = PathData.from_rows(**half) + PathData.from_rows(**rest)
    whole = PathData.from_rows(**d)
    np.testing.assert_allclose(
        numbers(path_effects(both, QUIET)), numbers(path_effects(whole, QUIET)), rtol=1e-10
    )
    merged = both.grouped()
    assert len(merged) == len(whole)
    np.testing.assert_array_equal(merged.n, whole.n)


def test_order_of_arrival_changes_no_bit() -> None:
    data = PathData.from_rows(**rows(), cells=False)
    order = np.random.default_rng(0).permutation(len(data))
    a, b = (
        path_effects(data, PathOptions(learner="saturated")),
        path_effects(data.take(order), PathOptions(learner="saturated")),
    )
    assert a.to_rows() == b.to_rows()
    assert a.overlap == b.overlap
    assert a.influence is not None
    assert b.influence is not None
    np.testing.assert_array_equal(a.influence[order], b.influence)


def test_influence_gives_estimate_and_error() -> None:
    data = PathData.from_rows(**rows(), cells=False)
    result = path_effects(data, QUIET)
    assert result.influence is not None
    assert result.c is not None
    phi = result.influence + result.c * data.sum_y[:, None]
    expected = np.stack([phi.mean(axis=0), phi.std(axis=0, ddof=1) / np.sqrt(N)], axis=1)
    np.testing.assert_allclose(numbers(result), expected, rtol=1e-10)


# --- algebra -----------------------------------------------------------------------------------


def test_effects_add_up() -> None:
    te, nde, nie, bie, rie = numbers(path_effects(PathData.from_rows(**rows()), QUIET))[:, 0]
    assert te == pytest.approx(nde + nie, abs=1e-10)
    assert nie == pytest.approx(bie + rie, abs=1e-10)


def test_swapping_the_groups_turns_the_total_effect_around() -> None:
    d = rows()
    te = numbers(path_effects(PathData.from_rows(**d), QUIET))[0]
    swapped = numbers(path_effects(PathData.from_rows(**{**d, "x": 1 - d["x"]}), QUIET))[0]
    np.testing.assert_allclose(swapped, te * [-1, 1], rtol=1e-9)


def test_effects_follow_the_scale_of_the_score() -> None:
    d = rows()
    base = numbers(path_effects(PathData.from_rows(**d), QUIET))
    moved = numbers(path_effects(PathData.from_rows(**{**d, "y": 7 * d["y"] - 1000}), QUIET))
    np.testing.assert_allclose(moved, 7 * base, rtol=1e-7)


def test_category_codes_are_only_names() -> None:
    d = rows()
    renamed = {**d, "r": 5 - 2 * d["r"], "z": 1 - d["z"], "b": (d["b"] + 1) % 3}
    np.testing.assert_allclose(
        numbers(path_effects(PathData.from_rows(**renamed), QUIET)),
        numbers(path_effects(PathData.from_rows(**d), QUIET)),
        rtol=1e-8,
    )


def test_no_confounder_is_a_legal_confounder() -> None:
    d = rows()
    none = {**d, "z": np.zeros((N, 0), dtype=int)}
    constant = {**d, "z": np.zeros((N, 1), dtype=int)}
    np.testing.assert_allclose(
        numbers(path_effects(PathData.from_rows(**none), QUIET)),
        numbers(path_effects(PathData.from_rows(**constant), QUIET)),
        rtol=1e-12,
    )


# --- other groups, weights, clusters -----------------------------------------------------------


def test_other_groups_count_in_p_z_and_their_scores_do_not() -> None:
    d = rows(groups=3)
    result = path_effects(PathData.from_rows(**d), QUIET)
    assert result.effects["TE"].n == N
    other = np.where(d["x"] == -1, 10_000.0, d["y"])
    np.testing.assert_allclose(
        numbers(path_effects(PathData.from_rows(**{**d, "y": other}), QUIET)),
        numbers(result),
        rtol=1e-9,
    )
    without = {k: v[d["x"] >= 0] for k, v in d.items()}
    assert not np.allclose(
        numbers(path_effects(PathData.from_rows(**without), QUIET))[:, 0], numbers(result)[:, 0]
    )


def test_equal_weights_are_no_weights() -> None:
    d = rows()
    base = numbers(path_effects(PathData.from_rows(**d), QUIET))
    equal = numbers(path_effects(PathData.from_rows(**d, w=np.full(N, 2.5)), QUIET))
    np.testing.assert_allclose(equal, base, rtol=1e-10)


def test_whole_weights_estimate_as_repeated_rows() -> None:
    """Plain cell means: shrinkage asks how many people there are, and a weight is not people."""
    d = rows(2000)
    w = np.random.default_rng(4).integers(1, 4, 2000)
    repeated = {k: np.repeat(v, w, axis=0) for k, v in d.items()}
    learner = Saturated(shrink=False)
    found = []
    for data in (PathData.from_rows(**d, w=w), PathData.from_rows(**repeated)):
        nuisances = [cross_fit(Problem.of(data), learner, k, known=False) for k in range(2)]
        found.append(unjudged(effects_given(data, nuisances, QUIET), data))
    np.testing.assert_allclose(found[0][:, 0], found[1][:, 0], rtol=1e-9)
    assert (found[0][:, 1] > found[1][:, 1]).all()  # repeating rows pretends to more people


def test_weights_move_the_population() -> None:
    """Weights on Z standardise to another P(Z): here the effect is 1 at z = 0 and 5 at z = 1."""
    draw = np.random.default_rng(8)
    n = 4000
    z, x, r, b = draw.integers(0, 2, (4, n))
    y = x * (1 + 4 * z) + draw.normal(0, 1, n)
    fold = assign_folds(1, [str(i) for i in range(n)], 5, 1)
    w = np.where(z == 1, 3.0, 1.0)
    result = path_effects(PathData.from_rows(x=x, z=z, r=r, b=b, y=y, fold=fold, w=w), QUIET)
    te = result.effects["TE"]
    assert te.estimate is not None
    assert te.std_error is not None
    assert abs(te.estimate - 4.0) < 4 * te.std_error
    assert te.std_error < 0.08


def test_clusters_of_copies_are_not_more_people() -> None:
    """Each person three times, in one cluster and one fold: the error is that of the people."""
    d = rows(8000, seed=3)
    person = np.arange(8000)
    single = PathData.from_rows(**d, cluster=person)
    tripled = {k: np.repeat(v, 3, axis=0) for k, v in d.items()}
    copied = PathData.from_rows(**tripled, cluster=np.repeat(person, 3))
    learner = Saturated(shrink=False)
    one, three = (
        effects_given(
            data, [cross_fit(Problem.of(data), learner, k, known=False) for k in range(2)], QUIET
        )
        for data in (single, copied)
    )
    np.testing.assert_allclose(unjudged(three, copied), unjudged(one, single), rtol=1e-9)
    assert [r.effective_n for r in three.overlap] == pytest.approx(
        [r.effective_n for r in one.overlap]
    )


def test_one_person_per_cluster_keeps_the_error_and_widens_the_interval() -> None:
    d = rows()
    alone = path_effects(PathData.from_rows(**d, cluster=np.arange(N)), QUIET)
    free = path_effects(PathData.from_rows(**d), QUIET)
    np.testing.assert_allclose(numbers(alone), numbers(free), rtol=1e-9)
    wide = [r.effects["TE"].ci_high - r.effects["TE"].ci_low for r in (alone, free)]  # type: ignore[operator]
    assert wide[0] / wide[1] == pytest.approx(1.9639 / 1.9600, abs=1e-4)  # t, 599 degrees


# --- bootstrap ---------------------------------------------------------------------------------


def test_multiplier_bootstrap_agrees_with_the_influence_error() -> None:
    data = PathData.from_rows(**rows())
    result = path_effects(data, dataclasses.replace(QUIET, bootstrap_draws=4000))
    for name in EFFECTS:
        by_eif, by_draws = result.effects[name], result.bootstrap[name]
        assert by_draws.estimate == by_eif.estimate
        assert by_draws.std_error == pytest.approx(by_eif.std_error, rel=0.05)
        assert by_draws.ci_low == pytest.approx(by_eif.ci_low, abs=0.15 * by_eif.std_error)  # type: ignore[operator]
    other = path_effects(data, dataclasses.replace(QUIET, bootstrap_draws=4000, seed=1))
    assert other.bootstrap["TE"].std_error != result.bootstrap["TE"].std_error
    assert [r["method"] for r in result.to_rows()] == ["eif"] * 5 + ["multiplier_bootstrap"] * 5


def test_known_propensities_must_be_there() -> None:
    with pytest.raises(InputError, match="known propensities are asked for and not all given"):
        path_effects(
            PathData.from_rows(**rows()), PathOptions(learner="saturated", propensity="known")
        )


def test_trees_of_cells_are_trees_of_rows() -> None:
    d = rows(400)
    names = [f.name for f in dataclasses.fields(Nuisances) if f.name != "quality"]
    learner = Boosted({name: Setting(trees=20, depth=3, reg_lambda=1.0) for name in names})
    found = []
    for cells in (True, False):
        data = PathData.from_rows(**d, cells=cells)
        nuisances = [cross_fit(Problem.of(data), learner, k, known=False) for k in range(2)]
        found.append(unjudged(effects_given(data, nuisances, QUIET), data))
    np.testing.assert_allclose(found[0], found[1], atol=1e-4)


def test_boosted_settings_are_points_of_the_published_grid() -> None:
    data = PathData.from_rows(**rows(150))
    plan = (*classifier_steps(data), *SCORE_STEPS)
    settings = tuned(Problem.of(data), plan, seed=1).settings
    assert set(settings) == {step.name for step in plan} - {"q"}
    for setting in settings.values():
        assert setting.trees in TREES
        assert setting.depth in DEPTHS
        assert setting.reg_lambda in LAMBDAS
