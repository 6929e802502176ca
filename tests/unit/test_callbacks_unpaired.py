"""Unpaired callbacks beside statsmodels and scipy, cells that add, names, silence, refusals."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import statsmodels.formula.api as smf
from scipy.stats import fisher_exact
from scipy.stats import t as student
from statsmodels.stats.proportion import proportions_ztest

from fairscreen.errors import InputError
from fairscreen.estimators.callbacks import CallbackOptions
from fairscreen.estimators.callbacks_unpaired import Applications, unpaired

PLAIN = CallbackOptions(names=False)


def sent(seed: int = 0, postings: int = 150, silent: float = 0.0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    rows = rng.integers(2, 5, postings)
    posting = np.repeat(np.arange(postings), rows)
    x = rng.integers(0, 2, len(posting))
    y = (rng.random(len(posting)) < 0.2 + 0.1 * x + rng.uniform(-0.2, 0.2, postings)[posting]) * 1
    name = rng.integers(0, 8, len(posting)) + 10 * x
    return pd.DataFrame({
        "x": x, "y": y, "posting": posting, "name": name,
        "silent": (rng.random(len(posting)) < silent * (1 + x)) * 1,
    })  # fmt: skip


def cells(frame: pd.DataFrame, names: bool = True) -> Applications:
    answered = 1 - frame["silent"].to_numpy(np.int64)
    return Applications(
        frame["x"].to_numpy(np.int64), frame["posting"].to_numpy(np.int64),
        frame["y"].to_numpy(np.int64) * answered, answered, frame["silent"].to_numpy(np.int64),
        frame["name"].to_numpy(np.int64) if names else None,
    )  # fmt: skip


def gaps(result) -> dict:
    return {r.method: r for r in result.rows if r.estimand == "callback_gap_pp"}


def test_classical_and_clustered_regression_are_those_of_statsmodels() -> None:
    frame = sent()
    rows = gaps(unpaired(cells(frame), PLAIN))
    plain = smf.ols("y ~ x", frame).fit()
    assert rows["difference"].estimate == pytest.approx(100 * plain.params["x"])
    assert rows["difference"].std_error == pytest.approx(100 * plain.bse["x"])
    low, high = 100 * plain.conf_int().loc["x"]
    assert (rows["difference"].ci_low, rows["difference"].ci_high) == pytest.approx((low, high))
    by = {"groups": frame["posting"]}
    robust = smf.ols("y ~ x", frame).fit(cov_type="cluster", cov_kwds=by, use_t=True)
    row = rows["cluster_ols"]
    assert row.std_error == pytest.approx(100 * robust.bse["x"])
    # Theirs is t(G - 1) of all postings; ours has those of the arm that has fewer.
    least = int(frame.groupby("x")["posting"].nunique().min())
    assert least < frame["posting"].nunique()
    p = 2 * student.sf(abs(robust.tvalues["x"]), least - 1)
    assert row.p_value == pytest.approx(p)
    within = smf.ols("y ~ x + C(posting)", frame).fit(cov_type="cluster", cov_kwds=by)
    n, k = len(frame), len(within.params)
    row = rows["cluster_fixed_effects"]
    assert row.estimate == pytest.approx(100 * within.params["x"])
    # statsmodels counts the nested effects: (N - 1) / (N - K) too much.
    assert row.std_error == pytest.approx(
        100 * within.bse["x"] / np.sqrt((n - 1) / (n - k)), rel=1e-6
    )


def test_fisher_and_the_z_test() -> None:
    frame = sent(1)
    rows = gaps(unpaired(cells(frame), PLAIN))
    count = frame.groupby("x")["y"].agg(["sum", "size"])
    table = [[s, n - s] for s, n in count.to_numpy()]
    assert rows["fisher_exact"].p_value == pytest.approx(fisher_exact(table)[1])
    z = proportions_ztest(count["sum"], count["size"])
    assert rows["difference"].p_value == pytest.approx(z[1])


def test_cells_that_are_counted_and_added_give_the_same_numbers() -> None:
    frame = sent(2, silent=0.05)
    whole = unpaired(cells(frame), CallbackOptions())
    half = cells(frame.iloc[:200]) + cells(frame.iloc[200:])
    assert unpaired(half, CallbackOptions()) == whole
    shown = frame.assign(called=frame["y"] * (1 - frame["silent"]), n=1 - frame["silent"])
    few = shown.groupby(["x", "posting", "name"], as_index=False)[["called", "n", "silent"]].sum()
    data = Applications(
        *(few[k].to_numpy(np.int64) for k in ("x", "posting", "called", "n", "silent", "name"))
    )
    for got, want in zip(unpaired(data, CallbackOptions()).rows, whole.rows, strict=True):
        assert (got.estimand, got.method, got.part) == (want.estimand, want.method, want.part)
        for k in ("estimate", "std_error", "ci_low", "ci_high", "p_value", "n"):
            expected = getattr(want, k)
            assert getattr(got, k) == (None if expected is None else pytest.approx(expected))


def test_names_and_silence_have_rows_of_their_own() -> None:
    result = unpaired(cells(sent(3, silent=0.1)), CallbackOptions(margin=3.0))
    rows = gaps(result)
    assert rows["tost"].std_error == rows["cluster_posting_names"].std_error
    assert [r["estimand"] for r in result.to_rows()] == [r.estimand for r in result.rows]
    ratio = next(r for r in result.rows if r.estimand == "callback_ratio")
    reach = np.log(ratio.ci_high / ratio.estimate) / (ratio.std_error / ratio.estimate)
    assert reach == pytest.approx(student.ppf(0.975, 7))  # eight names of an arm
    missing = next(r for r in result.rows if r.estimand == "missing_gap_pp")
    assert missing.n == result.applications > result.answered
    assert missing.estimate > 0
    names = [r for r in result.rows if r.method == "by_name"]
    assert len(names) == 16
    assert {r.part[0] for r in names} == {"name of favored", "name of other"}


def test_an_arm_without_an_answer_has_no_gap() -> None:
    one = Applications(*(np.array([k]) for k in (1, 0, 1, 2, 0)))
    rows = gaps(unpaired(one, PLAIN))
    assert {r.status for r in rows.values()} == {"not_computable"}
    assert rows["fisher_exact"].reason.startswith("no_answer: no application of other")


def test_more_callbacks_than_answers_are_refused() -> None:
    with pytest.raises(InputError, match="arrays called, n, cell 0"):
        Applications(*(np.array([k]) for k in (1, 0, 3, 2, 0)))
    with pytest.raises(InputError, match="array arm: is not 0 or 1"):
        Applications(*(np.array([k]) for k in (2, 0, 1, 2, 0)))


def lone(favored: int, other: int, silent: int = 0) -> Applications:
    """Applications with a posting each; every third is called; the last ones are silent."""
    arm = np.r_[np.ones(favored, dtype=np.int64), np.zeros(other, dtype=np.int64)]
    answered = (np.arange(len(arm)) < len(arm) - silent).astype(np.int64)
    called = (np.arange(len(arm)) % 3 == 0) * answered
    return Applications(arm, np.arange(len(arm)), called, answered, 1 - answered)


def test_an_arm_of_one_posting_has_no_error_however_large_the_other_is() -> None:
    result = unpaired(lone(1, 300, silent=5), CallbackOptions(names=False, margin=5.0))
    rows = {(r.estimand, r.method): r for r in result.rows if r.part is None}
    for key in (("callback_gap_pp", "cluster_ols"), ("missing_gap_pp", "cluster_ols"),
                ("callback_ratio", "cluster_posting")):  # fmt: skip
        row = rows[key]
        assert (row.status, row.std_error, row.ci_low, row.p_value) == ("flagged", *[None] * 3)
        assert row.reason.startswith("one_group")
    assert rows["callback_gap_pp", "tost"].status == "not_computable"


def test_degrees_of_freedom_are_those_of_the_arm_with_fewer_postings() -> None:
    for row in unpaired(lone(4, 300, silent=5), PLAIN).rows:
        if row.method == "cluster_ols":
            reach = student.ppf(0.975, 3) * row.std_error
            assert row.ci_high - row.estimate == pytest.approx(reach)
    data = lone(4, 300)
    name = np.where(data.arm == 1, data.posting, 100 + data.posting % 20)
    named = replace(data, name=name)
    row = gaps(unpaired(named, PLAIN))["cluster_posting_names"]
    reach = student.ppf(0.975, 3) * row.std_error
    assert row.ci_high - row.estimate == pytest.approx(reach)


def test_within_postings_only_those_of_both_arms_count() -> None:
    """Two postings of both arms, thirty of one arm, which the fixed effects take out."""
    arm, posting = np.r_[[1, 0, 1, 0], np.zeros(30)], np.r_[[0, 0, 1, 1], 2 + np.arange(30)]
    called = np.r_[[1, 0, 0, 0], np.arange(30) % 2]
    arm, posting, called = (v.astype(np.int64) for v in (arm, posting, called))
    ones = np.ones_like(arm)
    row = gaps(unpaired(Applications(arm, posting, called, ones, 0 * ones), PLAIN))[
        "cluster_fixed_effects"
    ]
    assert row.estimate == pytest.approx(50)
    assert row.ci_high - 50 == pytest.approx(student.ppf(0.975, 1) * row.std_error)


def test_an_arm_without_an_answer_keeps_its_rows() -> None:
    data = lone(6, 30)
    mute = Applications(
        data.arm, data.posting, data.called * (1 - data.arm), 1 - data.arm, data.arm
    )
    rows = {(r.estimand, r.method): r for r in unpaired(mute, CallbackOptions(margin=5.0)).rows}
    for key in (("callback_gap_pp", "tost"), ("callback_ratio", "cluster_posting")):
        assert rows[key].status == "not_computable"
        assert rows[key].reason == "no_answer: no application of favored has an answer"
    assert rows["missing_gap_pp", "cluster_ols"].estimate == pytest.approx(100)
