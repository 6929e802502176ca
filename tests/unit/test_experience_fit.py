"""What the fit says of itself: right where the model is right, and loud where it is not."""

from __future__ import annotations

import numpy as np
import pytest

from fairscreen import tables
from fairscreen.population import experience_fit as ef
from fairscreen.population import truncated

N = 6000


def _predicted(spread: float = 1.0, shift: float = 0.0, **change) -> ef.Predicted:
    """Whole years of a truncated normal of sigma 2.5; the model says sigma 2.5 / spread."""
    rng = np.random.default_rng(11)
    upper = rng.integers(1, 27, N).astype(float)
    mean = upper * rng.uniform(0.2, 0.9, N)
    sigma = np.full(N, 2.5)
    truth = truncated.location_of(mean, sigma, upper)
    years = np.rint(truncated.ppf(rng.uniform(size=N), truth, sigma, upper))
    said = sigma / spread
    values = {
        "years": years, "upper": upper, "mean": mean,
        "location": truncated.location_of(mean, said, upper) + shift, "sigma": said,
        "weight": np.ones(N), "person": np.arange(N), "key": [str(i) for i in range(N)],
    }  # fmt: skip
    return ef.Predicted(**(values | change))


def _row(p: ef.Predicted) -> dict:
    return ef.stratum_row("overall", "everybody", p, ef.quantiles(p), np.ones(N, dtype=bool))


def test_the_right_model_looks_right() -> None:
    row = _row(_predicted())
    assert row["ks_distance"] < 1.95 / np.sqrt(N)  # p = 0.001
    assert row["z_mean"] == pytest.approx(0, abs=3.5 / np.sqrt(N))
    assert row["z_sd"] == pytest.approx(1, abs=3.5 / np.sqrt(2 * N))
    assert row["qq_correlation"] > 0.999
    for percent in (50, 80, 95):
        p = percent / 100
        assert row[f"coverage_{percent}"] == pytest.approx(p, abs=3.5 * np.sqrt(p * (1 - p) / N))
    assert row["at_zero"] == pytest.approx(row["at_zero_expected"], abs=0.01)
    assert row["at_most"] == pytest.approx(row["at_most_expected"], abs=0.01)
    assert row["at_most"] > 0.03


def test_a_sigma_too_small_shows_in_coverage_and_spread() -> None:
    row = _row(_predicted(spread=1.5))
    assert row["coverage_80"] < 0.72
    assert row["coverage_95"] < 0.89
    assert row["z_sd"] > 1.15
    assert row["ks_distance"] > 3 / np.sqrt(N)


def test_a_shifted_location_shows_in_the_mean() -> None:
    assert _row(_predicted(shift=1.0))["z_mean"] < -0.15


def test_heaps_at_a_bound_show_as_people_there() -> None:
    p = _predicted()
    heap = np.arange(N) % 4 == 0
    row = _row(_predicted(years=np.where(heap, p.upper, p.years)))
    assert row["at_most"] - row["at_most_expected"] > 0.15


def test_draws_depend_on_the_row_alone() -> None:
    p = _predicted()
    back = np.arange(N)[::-1]
    other = ef.Predicted(
        **{n: ([p.key[i] for i in back] if n == "key" else v[back]) for n, v in vars(p).items()}
    )
    np.testing.assert_array_equal(ef.quantiles(other).u[back], ef.quantiles(p).u)


def test_few_people_have_a_reason_and_no_figures() -> None:
    p = _predicted()
    few = np.arange(N) < 29
    row = ef.stratum_row("stratum", "x", p, ef.quantiles(p), few)
    assert row["status"] == "not_computable"
    assert row["reason"] == "effective_n_below_30"
    assert row["n"] == 29
    assert "coverage_80" not in row
    nobody = ef.stratum_row("stratum", "x", p, ef.quantiles(p), np.zeros(N, dtype=bool))
    assert nobody["effective_n"] == 0
    assert nobody["sigma"] is None
    # 58 answers of 29 people are 29 people
    twice = _predicted(person=np.arange(N) // 2)
    assert ef.stratum_row(
        "stratum", "x", twice, ef.quantiles(twice), np.arange(N) < 58
    )["status"] == "not_computable"  # fmt: skip


def test_the_quantile_plot_lies_on_its_line_within_its_band() -> None:
    p = _predicted()
    points = ef.quantile_rows(p, ef.quantiles(p))
    assert [r["name"] for r in points[:2]] == ["p=0.01", "p=0.02"]
    assert len(points) == 99
    off = [abs(r["observed"] - r["theoretical"]) / ef.expected_band(r["theoretical"], N)
           for r in points]  # fmt: skip
    assert np.mean(np.array(off) < 1) > 0.8
    assert max(off) < 2.2
    assert ef.expected_band(0, 100) == pytest.approx(1.96 * 0.05 * np.sqrt(2 * np.pi))


def test_weights_count() -> None:
    p = _predicted()
    weight = np.where(p.years < 3, 5.0, 1.0)
    row = _row(_predicted(weight=weight))
    assert row["at_zero"] > 1.5 * _row(p)["at_zero"]
    residual = p.years - p.mean
    assert row["residual_mean"] == pytest.approx(np.average(residual, weights=weight))
    assert row["effective_n"] == pytest.approx(weight.sum() ** 2 / (weight**2).sum())


def test_rows_have_the_columns_of_their_table() -> None:
    columns = set(tables.ddl_columns("experience_fit"))
    p = _predicted()
    for row in (_row(p), ef.quantile_rows(p, ef.quantiles(p))[0]):
        assert set(row) < columns
