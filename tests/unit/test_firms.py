"""Between-firm variance: unbiased by simulation, by hand on three firms, what is left out."""

from __future__ import annotations

import numpy as np
import pytest

from fairscreen.estimators.firms import firm_component


def firms(seed: int, sd: float, count: int = 60) -> dict:
    rng = np.random.default_rng(seed)
    postings = rng.integers(2, 9, count)
    firm = np.repeat(np.arange(count), postings)
    gap = rng.normal(0.02, sd, count)[firm]
    d = gap + rng.normal(0, 0.2, len(firm))
    return {"d": d, "n": np.ones(len(firm)), "posting": np.arange(len(firm)), "firm": firm}


@pytest.mark.parametrize("sd", [0.0, 0.05, 0.1])
def test_a_planted_variance_is_recovered_without_bias(sd: float) -> None:
    found = [firm_component(**firms(s, sd)) for s in range(200)]
    variance = np.array([f.variance for f in found])
    assert variance.mean() == pytest.approx(sd**2, abs=4 * variance.std() / np.sqrt(200))
    error = np.array([f.std_error for f in found])
    assert error.mean() == pytest.approx(variance.std(ddof=1), rel=0.25)
    if sd == 0:
        assert (variance < 0).mean() > 0.3  # untruncated, or it could not be unbiased
        assert next(f for f in found if f.variance < 0).sd is None


@pytest.mark.parametrize("sd", [0.0, 0.05])
def test_the_interval_covers_a_planted_variance(sd: float) -> None:
    """95% within 4 Monte Carlo errors of 400 samples; other seeds than the test above."""
    found = [firm_component(**firms(1_000 + s, sd)) for s in range(400)]
    covered = np.mean([f.low <= sd**2 <= f.high for f in found])
    assert 0.95 - 4 * 0.0109 <= covered <= 0.95 + 4 * 0.0109


def test_three_firms_by_hand() -> None:
    # Posting means: firm 0 has 0.5 and 0; firm 1 has 1 and 0; firm 2 has 0, 0 and 1.5 / 3.
    d, n = [1, 0, 2, 0, 0, 0, 1.5], [2, 2, 2, 1, 1, 1, 3]
    found = firm_component(d=d, n=n, posting=range(7), firm=[0, 0, 1, 1, 2, 2, 2])
    gap = np.array([0.25, 0.5, 0.5 / 3])
    error2 = np.array([0.125 / 2, 0.5 / 2, np.var([0, 0, 0.5], ddof=1) / 3])
    want = (((gap - gap.mean()) ** 2).sum() - (2 / 3) * error2.sum()) / 2
    assert found.variance == pytest.approx(want)
    assert (found.firms, found.postings, found.single) == (3, 7, 0)


def test_the_error_is_that_of_leaving_out_each_firm_and_estimating_anew() -> None:
    data = firms(4, 0.1, 7)
    without = []
    for k in range(7):
        keep = data["firm"] != k
        without.append(firm_component(**{name: v[keep] for name, v in data.items()}).variance)
    found = firm_component(**data)
    want = np.sqrt(6 / 7 * ((np.array(without) - np.mean(without)) ** 2).sum())
    assert found.std_error == pytest.approx(want)


def test_firms_with_one_posting_are_left_out_and_counted() -> None:
    data = firms(3, 0.1)
    more = {
        "d": np.append(data["d"], 9.0), "n": np.append(data["n"], 1),
        "posting": np.append(data["posting"], 10**6), "firm": np.append(data["firm"], 10**6),
    }  # fmt: skip
    found, plain = firm_component(**more), firm_component(**data)
    assert (found.single, found.variance) == (1, pytest.approx(plain.variance))
    assert isinstance(firm_component(d=[1, 0], n=[1, 1], posting=[0, 1], firm=[0, 0]), str)
