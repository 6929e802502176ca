"""The information regression beside two maintained packages on rank_panel.csv, to 1e-8.

The numbers below were printed once by pyfixest 0.60.0 and linearmodels 7.1, which are not locked:
    pf.feols("d ~ logw | resume", data, vcov={"CRV1": "resume"})
    PanelOLS(d, logw, entity_effects=True).fit(
        cov_type="clustered", cluster_entity=True, debiased=False, group_debias=True)
pyfixest counts the nested fixed effects as one parameter, as we do: G / (G - 1) (N - 1) / (N - 2).
linearmodels, asked so, takes G / (G - 1) (N - 1) / N: its error times sqrt(N / (N - 2)) is ours.
The data are synthetic: 45 resumes at 2 or 4 numbers of words, gaps in halves of ranks.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from fairscreen.estimators.information import information

PYFIXEST = {
    "slope": 0.018443167666538304, "std_error": 0.07677369452007968, "p": 0.8112694837656732,
    "low": -0.13628404683948114, "high": 0.17317038217255776, "mean_effect": -0.34658476590228277,
}  # fmt: skip
LINEARMODELS = {
    "slope": 0.018443167666538304, "std_error": 0.07632074841645398,
    "mean_effect": -0.34658476590228265,
}  # fmt: skip


def test_slope_error_interval_and_mean_effect() -> None:
    data = pd.read_csv(Path(__file__).parent / "rank_panel.csv")
    item = pd.factorize(data["resume"])[0]
    got = information(d=data["d"], words=data["words"], item=item)
    slope = got.slope
    assert slope.estimate == pytest.approx(PYFIXEST["slope"], rel=1e-8)
    assert slope.std_error == pytest.approx(PYFIXEST["std_error"], rel=1e-8)
    assert slope.p_value == pytest.approx(PYFIXEST["p"], rel=1e-8)
    assert (slope.low, slope.high) == pytest.approx((PYFIXEST["low"], PYFIXEST["high"]), rel=1e-8)
    assert got.at_one_word.estimate == pytest.approx(PYFIXEST["mean_effect"], rel=1e-8)
    n = len(data)
    assert slope.estimate == pytest.approx(LINEARMODELS["slope"], rel=1e-8)
    matched = LINEARMODELS["std_error"] * np.sqrt(n / (n - 2))
    assert slope.std_error == pytest.approx(matched, rel=1e-8)
    assert got.at_one_word.estimate == pytest.approx(LINEARMODELS["mean_effect"], rel=1e-8)
