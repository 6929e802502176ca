"""Classifiers P(X|.) fitted once and shared by every score of the same people, and the sums by
level that stand for cells."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from fairscreen.errors import InputError
from fairscreen.estimators.data import PathData, assign_folds, distinct_rows, sorting
from fairscreen.estimators.glm import Glm
from fairscreen.estimators.levels import Problem, Strata
from fairscreen.estimators.nuisance import Nuisances, cross_fit
from fairscreen.estimators.path_specific import (
    LearnerName,
    PathOptions,
    fit_classifiers,
    path_effects,
)
from fairscreen.estimators.results import PathResult
from fairscreen.estimators.saturated import Saturated

N = 1_500


def people(seed: int = 1, **more: Any) -> dict[str, Any]:
    """Three groups, weights, two repeats; names and schooling follow the group."""
    draw = np.random.default_rng(seed)
    z, x = draw.integers(0, 3, N), draw.choice([1, 0, -1], N, p=[0.45, 0.4, 0.15])
    r = (draw.random(N) < 0.3 + 0.3 * (x == 1)).astype(int) + (draw.random(N) < 0.2)
    b = draw.binomial(3, 0.3 + 0.2 * (x == 1) + 0.1 * (r == 1))
    return {
        "x": x, "z": z, "r": r, "b": b, "w": 1 + 0.5 * (z == 2),
        "fold": assign_folds(seed, [str(i) for i in range(N)], 5, 2), **more,
    }  # fmt: skip


def score(who: dict[str, Any], seed: int) -> np.ndarray:
    noise = np.random.default_rng(seed).normal(0, 3, N)
    return 40 + 2 * (who["x"] == 1) + seed * who["r"] + 3 * who["b"] + who["z"] + noise


def case(who: dict[str, Any], seed: int) -> PathData:
    """The same cells for every score."""
    return PathData.from_rows(**who, y=score(who, seed))


def numbers(result: PathResult) -> list[Any]:
    return [result.effects, result.bootstrap, result.overlap, result.diagnostics]


@pytest.mark.parametrize("learner", ["stack", "saturated", "xgboost"])
def test_shared_classifiers_give_the_numbers_of_own_fits(learner: LearnerName) -> None:
    who, options = people(), PathOptions(learner=learner, bootstrap_draws=50)
    shared = fit_classifiers(case(who, 1), options)
    assert shared is not None
    for seed in (1, 2):
        data = case(who, seed)
        own, with_shared = path_effects(data, options), path_effects(data, options, shared)
        assert numbers(with_shared) == numbers(own)
        np.testing.assert_array_equal(with_shared.influence, own.influence)
        assert own.effects["NDE"].status == "ok"


def test_classifiers_do_not_look_at_the_score_or_the_order_of_arrival() -> None:
    who, options = people(), PathOptions(bootstrap_draws=0)
    one, two = (fit_classifiers(case(who, seed), options) for seed in (1, 2))
    order = np.random.default_rng(0).permutation(len(case(who, 1)))
    moved = fit_classifiers(case(who, 1).take(order), options)
    assert one is not None
    assert two is not None
    assert moved is not None
    assert one.quality == two.quality == moved.quality
    for name in ("q", "e_z", "e_rz", "e_brz"):
        np.testing.assert_array_equal(getattr(two, name), getattr(one, name))
        np.testing.assert_array_equal(getattr(moved, name), getattr(one, name)[order])


def test_known_propensities_are_shared_as_well() -> None:
    who = people()
    p = {name: np.full(N, 0.5) for name in ("p_z", "p_rz", "p_brz")} | {
        "p_contrast": np.full(N, 0.85)
    }
    data = PathData.from_rows(**who, **p, y=score(who, 1))
    for propensity in ("known", "fitted"):
        options = PathOptions(propensity=propensity, bootstrap_draws=0)  # type: ignore[arg-type]
        own = path_effects(data, options)
        assert numbers(path_effects(data, options, fit_classifiers(data, options))) == numbers(own)


def test_classifiers_of_other_cells_are_refused_and_of_no_group_there_are_none() -> None:
    data, options = case(people(), 1), PathOptions(learner="glm")
    shared = fit_classifiers(data, options)
    fewer = data.take(np.arange(len(data) - 1))
    with pytest.raises(InputError, match=r"classifiers: are for .* Fit them on these cells"):
        path_effects(fewer, options, shared)
    assert fit_classifiers(data.take(np.flatnonzero(data.x != 1)), options) is None


def test_strata_give_the_predictions_of_their_cells() -> None:
    """Cells that differ in the other repeat's fold and in weight alone have one prediction."""
    data = case(people(), 3)
    problem = Problem.of(data.take(data.order()))
    for repeat in range(2):
        both = [
            cross_fit(problem, [Glm(), Saturated()], repeat, known=False, merge=merge)
            for merge in (False, True)
        ]
        strata = both[1].strata
        assert strata is not None
        assert len(strata.x) < len(data)
        assert both[0].quality == both[1].quality
        for field in fields(Nuisances):
            if field.name not in ("quality", "strata"):
                cells, merged = (getattr(nu, field.name) for nu in both)
                np.testing.assert_array_equal(strata.spread(merged), cells)
        whole = Strata.cells(problem.data)
        assert strata.people.sum() == pytest.approx(whole.people.sum())
        assert strata.score.sum() == pytest.approx(whole.score.sum())


def test_cells_that_differ_in_nothing_that_is_seen_may_be_split() -> None:
    """Rows, or cells: the same effects, whatever the number of strata."""
    who, options = people(), PathOptions(learner="saturated", bootstrap_draws=0)
    rows = PathData.from_rows(**who, y=score(who, 2), cells=False)
    one, two = path_effects(rows, options), path_effects(case(who, 2), options)
    for name, effect in one.effects.items():
        assert effect.estimate == pytest.approx(two.effects[name].estimate, rel=1e-9)
        assert effect.std_error == pytest.approx(two.effects[name].std_error, rel=1e-9)


codes = arrays(np.int64, st.tuples(st.integers(1, 60), st.integers(1, 4)), elements=st.integers(
    -3, 5
))  # fmt: skip


@given(codes, st.booleans())
def test_distinct_rows_are_those_of_numpy(table: np.ndarray, wide: bool) -> None:
    if wide:  # beyond 62 bits, however packed
        table = table * (2**61 // 5)
    first, at = distinct_rows([table[:, :1], table[:, 1:]])
    levels, where = np.unique(table, axis=0, return_inverse=True)
    np.testing.assert_array_equal(table[first], levels)
    np.testing.assert_array_equal(at, where.reshape(-1))
    assert all(first[k] == np.flatnonzero(at == k)[0] for k in range(len(first)))


@given(codes, st.booleans(), st.integers(0, 100))
def test_sorting_is_lexical(table: np.ndarray, wide: bool, seed: int) -> None:
    if wide:
        table = table * (2**61 // 5)
    number = np.random.default_rng(seed).integers(0, 3, len(table)) / 3
    wanted = np.lexsort([*table[:, 1:].T[::-1], number, table[:, 0]])
    np.testing.assert_array_equal(sorting([table[:, 0], number, table[:, 1:]]), wanted)


def test_a_kept_fit_is_not_taken_for_another() -> None:
    """What learners of a stack share hangs on the sums: the stack's parts are what each gives."""
    problem = Problem.of(case(people(), 4))
    mixed = cross_fit(problem, [Glm(), Saturated()], 0, known=False)
    shares = {q.name: q.weights for q in mixed.quality}
    parts = {type(one): cross_fit(problem, one, 0, known=False) for one in (Glm(), Saturated())}
    for name in ("e_brz", "mu3", "m0"):
        wanted = sum(
            shares[name][kind.__name__.lower()] * getattr(nu, name) for kind, nu in parts.items()
        )
        np.testing.assert_allclose(getattr(mixed, name), wanted, rtol=1e-12)


def test_draws_have_the_covariance_of_the_terms() -> None:
    from fairscreen.estimators.influence import multiplier_draws

    base = np.random.default_rng(2).normal(size=(4_000, 3)) * [1.0, 1e-6, 30.0]
    terms = np.column_stack([base, base[:, 0] + base[:, 2], np.zeros(4_000)])
    draws = multiplier_draws(terms, 20_000, 1)
    wanted = terms.T @ terms
    size = np.sqrt(np.maximum(np.diag(wanted), 1e-300))
    scaled = draws.T @ draws / 20_000 / np.outer(size, size)
    np.testing.assert_allclose(scaled, wanted / np.outer(size, size), atol=0.04)
    np.testing.assert_allclose(draws[:, 3], draws[:, 0] + draws[:, 2], atol=1e-9 * size[3])
    # Which cell comes first, and how people are split over cells, is no matter.
    np.testing.assert_allclose(multiplier_draws(terms[::-1], 20_000, 1), draws, atol=1e-6)
