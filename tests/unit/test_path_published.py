"""The published bootstrap: close to our intervals where copies do little harm, and named apart."""

from __future__ import annotations

import numpy as np
import pytest

from fairscreen.errors import InputError
from fairscreen.estimators.data import PathData, assign_folds
from fairscreen.estimators.path_specific import PathOptions, path_effects
from fairscreen.estimators.published import published_bootstrap

OPTIONS = PathOptions(learner="saturated", bootstrap_draws=0)


def data(n: int, *, cells: bool = False, other_name: float = 0.3) -> PathData:
    draw = np.random.default_rng(6)
    z = draw.integers(0, 2, n)
    x = np.arange(n) % 2
    r = np.where(draw.random(n) < other_name, 1 - x, x)
    b = draw.binomial(2, 0.4 + 0.2 * x)
    y = 50 + 2 * x + r + 3 * b + draw.normal(0, 3, n)
    fold = assign_folds(1, [str(i) for i in range(n)], 5, 1)
    return PathData.from_rows(x=x, z=z, r=r, b=b, y=y, fold=fold, cells=cells)


def test_agrees_with_the_influence_error_on_an_easy_design() -> None:
    given = data(800)
    ours = path_effects(given, OPTIONS).effects
    theirs = published_bootstrap(given, OPTIONS, draws=60)
    for name, effect in theirs.items():
        error = ours[name].std_error
        assert error is not None
        assert effect.estimate == pytest.approx(ours[name].estimate, abs=error)
        assert effect.std_error == pytest.approx(error, rel=0.5)  # copies leak: 36% here
        assert effect.ci_low < effect.estimate < effect.ci_high  # type: ignore[operator]
    again = published_bootstrap(given.take(np.arange(800)[::-1]), OPTIONS, draws=60)
    assert again == theirs


def test_is_refused_where_overlap_is() -> None:
    found = published_bootstrap(data(300, other_name=0.02), OPTIONS, draws=5)
    assert found["TE"].status == "ok"
    assert found["NDE"].status == "not_computable"
    assert str(found["NDE"].reason).startswith("overlap: ")


def test_needs_rows() -> None:
    with pytest.raises(InputError, match="the published bootstrap resamples rows"):
        published_bootstrap(data(300, cells=True), OPTIONS)


def test_one_sample_has_no_spread() -> None:
    with pytest.raises(InputError, match="draws: 1 give no spread"):
        published_bootstrap(data(300), OPTIONS, draws=1)
