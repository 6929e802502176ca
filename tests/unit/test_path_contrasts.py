"""Differences of effects between two scores of the same applicants."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from fairscreen.errors import InputError
from fairscreen.estimators.contrasts import difference
from fairscreen.estimators.data import PathData, assign_folds
from fairscreen.estimators.path_specific import PathOptions, path_effects

OPTIONS = PathOptions(learner="saturated", bootstrap_draws=0)


def two_scores(n: int = 800) -> tuple[PathData, PathData]:
    """The second model favors x1 by one point more, on the same noise."""
    draw = np.random.default_rng(2)
    x, z, r = draw.integers(0, 2, (3, n))
    b = draw.binomial(2, 0.4 + 0.2 * x)
    y = 50 + 2 * x + r + 3 * b + draw.normal(0, 5, n)
    shared = {
        "x": x, "z": z, "r": r, "b": b, "cells": False,
        "fold": assign_folds(1, [str(i) for i in range(n)], 5, 2),
    }  # fmt: skip
    second = y + x + draw.normal(0, 0.5, n)
    return PathData.from_rows(y=y, **shared), PathData.from_rows(y=second, **shared)


def test_shared_noise_cancels() -> None:
    one, two = two_scores()
    a, b = path_effects(two, OPTIONS), path_effects(one, OPTIONS)
    found = difference(a, b, data_a=two, data_b=one)
    for name, effect in found.items():
        x, y = a.effects[name], b.effects[name]
        assert effect.estimate is not None
        assert effect.estimate == pytest.approx(x.estimate - y.estimate, abs=1e-10)  # type: ignore[operator]
        assert effect.std_error is not None
        assert effect.std_error < 0.4 * np.hypot(x.std_error, y.std_error)  # type: ignore[arg-type]
    te = found["TE"]
    assert te.estimate is not None
    assert te.std_error is not None
    assert abs(te.estimate - 1) < 4 * te.std_error


def test_error_is_that_of_the_difference_scored_as_one() -> None:
    """TE is linear in the score but for the shrinkage, which hardly acts on 500 people a cell:
    the difference of two TE is nearly the TE of the difference."""
    one, two = two_scores(4000)
    apart = difference(
        path_effects(two, OPTIONS), path_effects(one, OPTIONS), data_a=two, data_b=one
    )["TE"]
    gap = two.sum_y - one.sum_y
    joint = path_effects(replace(one, sum_y=gap, sum_yy=gap**2), OPTIONS).effects["TE"]
    assert apart.estimate == pytest.approx(joint.estimate, abs=1e-3)
    assert apart.std_error == pytest.approx(joint.std_error, rel=1e-2)


def test_refuses_unlike_people_and_cells_of_several() -> None:
    one, two = two_scores()
    a, b = path_effects(two, OPTIONS), path_effects(one, OPTIONS)
    with pytest.raises(InputError, match="array x: differs between the two scores"):
        difference(a, b, data_a=two, data_b=replace(one, x=1 - one.x))
    cells = replace(one, n=one.n * 2)
    with pytest.raises(InputError, match="holds several people per cell"):
        difference(b, b, data_a=cells, data_b=cells)


def test_a_side_without_a_number_gives_its_reason() -> None:
    one, two = two_scores()
    strict = path_effects(two, replace(OPTIONS, min_effective_n=340))
    found = difference(strict, path_effects(one, OPTIONS), data_a=two, data_b=one)
    assert found["TE"].status == "ok"
    assert found["NDE"].status == "not_computable"
    assert str(found["NDE"].reason).startswith("first: overlap: E_W:Y effective n ")
    same = path_effects(one, OPTIONS)
    assert "do not differ" in str(difference(same, same, data_a=one, data_b=one)["TE"].reason)
