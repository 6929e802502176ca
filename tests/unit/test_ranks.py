"""Ranks against pandas, sets that add, and clustered means against statsmodels."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from hypothesis import given
from hypothesis import strategies as st

from fairscreen.errors import InputError
from fairscreen.estimators.ranks import RankSets, from_influence, mean_of, ranks

SCORES = st.lists(
    st.lists(st.integers(0, 20).map(lambda v: v / 2), min_size=4, max_size=4), min_size=1,
    max_size=30,
)  # fmt: skip


@given(SCORES)
def test_ranks_are_pandas_ranks_and_sum_to_the_same(rows: list[list[float]]) -> None:
    y = np.array(rows)
    got = ranks(y)
    np.testing.assert_array_equal(got, pd.DataFrame(y).rank(axis=1, ascending=False).to_numpy())
    np.testing.assert_allclose(got.sum(axis=1), 10.0)
    np.testing.assert_array_equal(ranks(-y), 5 - got)  # the other way round


@given(SCORES, st.permutations(range(4)))
def test_versions_may_come_in_any_order(rows: list[list[float]], order: list[int]) -> None:
    y = np.array(rows)
    np.testing.assert_array_equal(ranks(y[:, order]), ranks(y)[:, order])


def test_the_published_example_and_rounding() -> None:
    np.testing.assert_array_equal(ranks([[8, 9, 8]]), [[2.5, 1, 2.5]])
    # Means of the same answers in another order may differ in their last digit, and are equal.
    one, two = (0.1 + 0.2 + 0.3) / 3, (0.3 + 0.2 + 0.1) / 3
    assert one != two
    np.testing.assert_array_equal(ranks([[one, two]]), [[1.5, 1.5]])
    np.testing.assert_array_equal(ranks([[-1e-7, 0.0, 1e-7]]), [[3, 2, 1]])


def test_incomplete_sets_have_no_ranks() -> None:
    data = RankSets(np.array([[1.0, np.nan, 2], [3, 2, 1]]), np.array([0, 1]))
    assert np.isnan(data.ranks[0]).all()
    assert data.ranks[1].tolist() == [1, 2, 3]
    assert data.complete.tolist() == [False, True]
    assert data.lacking.tolist() == [0, 1, 0]


def test_sets_add() -> None:
    rng = np.random.default_rng(3)
    y, item = rng.integers(0, 11, (20, 3)).astype(float), np.arange(20)
    words, answers, squares = rng.uniform(5, 90, 20), np.full((20, 3), 2), np.ones((20, 3))
    whole = RankSets(y, item, words, answers, squares)
    both = whole.take(np.arange(20) < 7) + whole.take(np.arange(7, 20))
    for name in ("y", "item", "words", "answers", "squares", "ranks"):
        np.testing.assert_array_equal(getattr(both, name), getattr(whole, name))
    with pytest.raises(InputError, match="words"):
        whole + RankSets(y, item)
    with pytest.raises(InputError, match="other versions"):
        whole + RankSets(y[:, :2], item)


@pytest.mark.parametrize(
    ("y", "answers", "unit"),
    [
        ([[7.0, 8]], None, 1.0), ([[7.25, 8.5]], None, 0.01), ([[22 / 3, 7]], [[3, 3]], 1 / 3),
        ([[7.5, 22 / 3]], [[2, 3]], 1 / 6), ([[0.1234567, 2]], None, 1e-12),
        ([[np.nan, 3]], [[0, 4]], 0.25),
    ],
)  # fmt: skip
def test_the_unit_divides_every_mean(y, answers, unit) -> None:
    times = None if answers is None else np.array(answers)
    data = RankSets(
        np.array(y, dtype=float), np.array([0]), None, times,
        None if times is None else np.zeros((1, 2)),
    )  # fmt: skip
    assert data.unit == pytest.approx(unit)


@pytest.mark.parametrize(
    ("change", "where"),
    [
        ({"y": np.ones((3, 1))}, "array y"), ({"y": np.full((3, 2), np.inf)}, "array y"),
        ({"item": np.zeros(2, dtype=int)}, "array item"), ({"words": np.zeros(3)}, "array words"),
        ({"answers": np.ones((3, 2))}, "arrays answers"),
    ],
)  # fmt: skip
def test_bad_input_is_named(change: dict, where: str) -> None:
    good = {"y": np.ones((3, 2)), "item": np.arange(3)}
    with pytest.raises(InputError, match=where):
        RankSets(**{**good, **change})


def test_the_clustered_mean_is_that_of_statsmodels() -> None:
    rng = np.random.default_rng(5)
    item = rng.integers(0, 25, 90)
    x = rng.normal(0.4, 1, 90) + rng.normal(0, 1, 25)[item]
    fit = sm.OLS(x, np.ones(90)).fit(
        cov_type="cluster", cov_kwds={"groups": item, "use_correction": True}, use_t=True
    )  # G / (G - 1) (N - 1) / (N - 1)
    got = mean_of(x, item)
    low, high = fit.conf_int()[0]
    assert (got.value, got.std_error) == pytest.approx((fit.params[0], fit.bse[0]), rel=1e-10)
    assert (got.low, got.high) == pytest.approx((low, high), rel=1e-10)
    assert got.p_value == pytest.approx(fit.pvalues[0], rel=1e-8)
    assert (got.n, got.items) == (90, len(np.unique(item)))


def test_one_resume_has_no_error_and_equal_values_are_certain() -> None:
    assert mean_of([1.0, 2.0], [4, 4]).std_error is None
    certain = mean_of([2.0, 2.0], [1, 2])
    assert (certain.std_error, certain.p_value) == (0.0, 0.0)
    assert from_influence(0.0, np.zeros(2), [1, 2]).p_value == 1.0
