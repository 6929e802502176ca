"""Several ways of clustering: sums done by hand, one-way software, known coverage of edge cases."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm

from fairscreen.estimators.clustered import (
    from_influence,
    group_sums,
    multiway_covariance,
    multiway_variance,
    ratio,
)


def cells(seed: int = 0, size: int = 300) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({
        "posting": rng.integers(0, 60, size), "one": rng.integers(0, 9, size),
        "two": rng.integers(20, 31, size), "n": rng.integers(1, 4, size),
    })  # fmt: skip
    effect = rng.normal(0, 1, 40)
    frame["d"] = rng.normal(0, 1, size) + effect[frame["one"]] - effect[frame["two"]]
    return frame


def by_hand(frame: pd.DataFrame, influence: str, ways: list[str]) -> float:
    total = 0.0
    for size in range(1, len(ways) + 1):
        for chosen in combinations(ways, size):
            sums = frame.groupby(list(chosen))[influence].sum()
            total += (-1) ** (size + 1) * (sums**2).sum() * len(sums) / (len(sums) - 1)
    return total


def test_three_ways_are_sums_over_groups_and_their_intersections() -> None:
    frame = cells()
    value = frame["d"].sum() / frame["n"].sum()
    frame["phi"] = (frame["d"] - value * frame["n"]) / frame["n"].sum()
    want = by_hand(frame, "phi", ["posting", "one", "two"])
    ways = [frame[k].to_numpy() for k in ("posting", "one", "two")]
    found = ratio(frame["d"], frame["n"], ways)
    assert found.value == pytest.approx(value)
    assert found.std_error == pytest.approx(np.sqrt(want))
    assert (found.df, found.groups) == (8, (60, 9, 11))
    assert not found.narrow
    matrix = multiway_covariance(frame[["phi"]].to_numpy(), ways)
    assert matrix == pytest.approx(np.array([[want]]))


def test_one_way_is_the_clustered_error_of_statsmodels() -> None:
    frame = cells(1)
    fit = sm.OLS(frame["d"], np.ones(len(frame))).fit(
        cov_type="cluster", cov_kwds={"groups": frame["posting"]}, use_t=True
    )
    found = ratio(frame["d"], np.ones(len(frame)), [frame["posting"].to_numpy()])
    groups, n = frame["posting"].nunique(), len(frame)
    assert found.value == pytest.approx(fit.params.iloc[0])
    # statsmodels multiplies by (N - 1) / (N - K) too, which is 1 for a mean.
    assert found.std_error == pytest.approx(fit.bse.iloc[0])
    low, high = fit.conf_int().to_numpy()[0]
    assert (found.low, found.high) == pytest.approx((low, high))
    assert found.p_value == pytest.approx(fit.pvalues.iloc[0])
    assert (groups, n) == (60, 300)


def test_two_ways_are_the_two_way_error_of_statsmodels() -> None:
    from statsmodels.stats.sandwich_covariance import cov_cluster_2groups

    frame = cells(2)
    fit = sm.OLS(frame["d"], np.ones(len(frame))).fit()
    want = cov_cluster_2groups(
        fit, frame["one"].to_numpy(), frame["two"].to_numpy() - 20, use_correction=True
    )[0]
    phi = (frame["d"] - frame["d"].mean()).to_numpy() / len(frame)
    got = multiway_variance(phi, [frame["one"].to_numpy(), frame["two"].to_numpy()])
    assert got == pytest.approx(float(np.squeeze(want)))


def test_never_narrower_than_by_the_first_way() -> None:
    # Names that cancel within themselves: their clustering says there is nothing to vary.
    posting = np.arange(8)
    name = np.array([0, 0, 1, 1, 2, 2, 3, 3])
    d = np.array([1.0, -1, 1, -1, 1, -1, 1, -1])
    alone, both = ratio(d, np.ones(8), [posting]), ratio(d, np.ones(8), [posting, name])
    assert multiway_variance(d / 8, [posting, name]) < multiway_variance(d / 8, [posting])
    assert both.std_error == alone.std_error
    assert both.narrow
    assert both.df == 3
    assert (both.low or 0) < (alone.low or 0)


def test_one_group_has_no_error_and_no_spread_a_certain_one() -> None:
    found = ratio([1.0, 0.0], [1, 1], [np.array([3, 3])])
    assert (found.value, found.std_error, found.p_value, found.df) == (0.5, None, None, 0)
    even = ratio([1.0, 1.0], [1, 1], [np.array([0, 1])])
    assert (even.std_error, even.low, even.high, even.p_value) == (0.0, 1.0, 1.0, 0.0)
    nothing = from_influence(0.0, np.zeros(4), [np.arange(4)])
    assert nothing.p_value == 1.0


def test_covariance_of_several_models_and_its_floor() -> None:
    rng = np.random.default_rng(4)
    phi = rng.normal(size=(200, 3))
    posting, name = rng.integers(0, 40, 200), rng.integers(0, 6, 200)
    one = multiway_covariance(phi, [posting])
    sums = pd.DataFrame(phi).groupby(posting).sum().to_numpy()
    assert one == pytest.approx(sums.T @ sums * len(sums) / (len(sums) - 1))
    both = multiway_covariance(phi, [posting, name])
    assert np.linalg.eigvalsh(both).min() >= -1e-12
    assert (np.diag(both) >= np.diag(one) - 1e-12).all()


def test_sums_by_group_in_the_order_of_codes() -> None:
    assert group_sums([1, 2, 3], [7, 2, 7]).tolist() == [2, 4]
