"""Published correspondence studies, from their counts and their raw data.

gao_2026_table1.csv: Gao, Jiang & Yan (2026), table 1, counts and published figures.
bertrand_mullainathan_2004.csv: 4,870 applications to 1,323 advertisements; table 1 of the paper
(9.65 and 6.45 percent), and errors by other software on the same rows.
kline_rose_walters_2022.csv: callbacks and applications by name; 23.9 and 22.9 points in the paper.
"""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm

from fairscreen.estimators.callbacks import CallbackOptions
from fairscreen.estimators.callbacks_unpaired import Applications, unpaired
from fairscreen.estimators.paired_tests import mcnemar, wald
from fairscreen.estimators.panel import sampling_only, trend

HERE = Path(__file__).parent
GAO = list(csv.DictReader((HERE / "gao_2026_table1.csv").open(encoding="utf-8")))


def stars(p: float) -> str:
    return "p<0.01" if p < 0.01 else "p<0.05" if p < 0.05 else "n.s."


def test_there_are_fourteen_models() -> None:
    assert len(GAO) == 14


@pytest.mark.parametrize("row", GAO, ids=lambda r: r["model"])
def test_gap_class_and_interval_of_each_model(row: dict[str, str]) -> None:
    b, c, n = (int(row[k]) for k in ("white_only", "black_only", "n_pairs"))
    found = wald(b, c, n)
    assert 100 * found.value == pytest.approx(float(row["published_gap_pp"]), abs=0.005)
    for p in mcnemar(b, c).values():
        assert stars(p) == row["published_significance"]
    assert 100 * found.low == pytest.approx(float(row["published_ci_low_pp"]), abs=0.025)
    assert 100 * found.high == pytest.approx(float(row["published_ci_high_pp"]), abs=0.025)


def applications(frame: pd.DataFrame) -> Applications:
    """One cell per row of called, n."""
    return Applications(
        (frame["race"] == "white").to_numpy(np.int64),
        pd.factorize(frame["posting"])[0].astype(np.int64),
        frame["called"].to_numpy(np.int64), frame["n"].to_numpy(np.int64),
        np.zeros(len(frame), dtype=np.int64),
        pd.factorize(frame["name"])[0].astype(np.int64),
    )  # fmt: skip


@pytest.fixture(scope="module")
def boston_and_chicago() -> pd.DataFrame:
    frame = pd.read_csv(HERE / "bertrand_mullainathan_2004.csv")
    names = {"job_ad_id": "posting", "firstname": "name", "received_callback": "called"}
    return frame.rename(columns=names).assign(n=1)


def by_method(result, estimand: str = "callback_gap_pp") -> dict:
    return {r.method: r for r in result.rows if r.estimand == estimand}


def test_bertrand_and_mullainathan(boston_and_chicago: pd.DataFrame) -> None:
    data = applications(boston_and_chicago)
    result = unpaired(data, CallbackOptions(names=False))
    assert data.totals == (235, 2435, 157, 2435)
    assert len(np.unique(data.posting)) == 1323
    rows = by_method(result)
    assert rows["difference"].estimate == pytest.approx(3.20329, abs=5e-6)
    assert rows["fisher_exact"].p_value == pytest.approx(4.76e-5, abs=5e-8)
    assert rows["difference"].std_error == pytest.approx(0.7785, abs=5e-5)
    assert rows["cluster_ols"].std_error == pytest.approx(0.61945, abs=5e-6)
    assert rows["cluster_fixed_effects"].std_error == pytest.approx(0.61939, abs=5e-6)
    # Every advertisement got as many of each race: effects of advertisements move nothing.
    assert rows["cluster_fixed_effects"].estimate == pytest.approx(3.20329, abs=5e-6)
    ratio = by_method(result, "callback_ratio")["cluster_posting_names"]
    assert ratio.estimate == pytest.approx(0.668085, abs=5e-7)
    assert ratio.reason == "below_four_fifths"
    # 18 names per arm carry the gap: their sampling is more than that of the advertisements.
    assert rows["cluster_posting_names"].std_error > rows["cluster_ols"].std_error
    rates = [r.estimate for r in result.rows if r.estimand == "callback_rate"]
    assert rates == pytest.approx([0.0965, 0.0645], abs=5e-5)


@pytest.mark.parametrize(
    ("gender", "totals"), [("f", (184, 1860, 125, 1886)), ("m", (51, 575, 32, 549))]
)
def test_by_gender(boston_and_chicago: pd.DataFrame, gender: str, totals: tuple) -> None:
    mine = boston_and_chicago[boston_and_chicago["gender"] == gender]
    assert applications(mine).totals == totals


def test_kline_rose_and_walters() -> None:
    frame = pd.read_csv(HERE / "kline_rose_walters_2022.csv")
    frame = frame.assign(
        race=frame["race"].str.lower(), posting=np.arange(len(frame)), name=frame["first_name"],
        called=frame["callbacks"], n=frame["applications"],
    )  # fmt: skip
    data = applications(frame)
    result = unpaired(data)
    assert data.totals == (10483, 41837, 9619, 41806)
    row = by_method(result)["difference"]
    assert row.estimate == pytest.approx(2.0481, abs=5e-5)
    assert row.p_value is not None
    assert -norm.ppf(row.p_value / 2) == pytest.approx(6.931, abs=5e-4)
    ratio = by_method(result, "callback_ratio")["cluster_posting_names"]
    assert ratio.estimate == pytest.approx(0.91826, abs=5e-6)


def test_the_trend_of_gao_with_and_without_its_oldest_model() -> None:
    """Sampling errors alone make a trend of p 6e-32; with the spread between models there is none,
    and without GPT-3.5 it points up. Figures of the notes: -0.55; -0.46, 0.32, 0.18; +0.12."""
    b, c, n = (
        np.array([float(r[k]) for r in GAO]) for k in ("white_only", "black_only", "n_pairs")
    )
    years = [int(r["released"][:4]) + (int(r["released"][5:]) - 1) / 12 for r in GAO]
    data = {
        "gap": 100 * (b - c) / n, "covariance": 1e4 * (b + c - (b - c) ** 2 / n) / n**2,
        "years": years,
    }  # fmt: skip
    slope, _, p = sampling_only(**data)
    assert slope == pytest.approx(-0.55, abs=0.005)
    assert p < 1e-31
    found = trend(**data)
    assert (found.slope, found.std_error, found.p_value) == pytest.approx(
        (-0.46, 0.32, 0.18), abs=0.005
    )
    assert found.without[0][0] == pytest.approx(0.12, abs=0.005)
    assert GAO[0]["model"] == "GPT-3.5-turbo"
