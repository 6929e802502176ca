"""Impact ratio: the formulas written out, clusters against statsmodels, coverage, four-fifths."""

from __future__ import annotations

import numpy as np
import pytest
import statsmodels.api as sm

from fairscreen.estimators.impact_ratio import impact_rows, mean_rank_row
from fairscreen.estimators.ranks import NO_SPREAD, ranks


def by_name(better: int, worse: int, tied: int, item=None) -> dict:
    favored = np.r_[np.full(better, 1.0), np.full(worse, 3.0), np.full(tied, 2.0)]
    other = 4 - favored
    item = np.arange(len(favored)) if item is None else item
    return {r.estimand: r for r in impact_rows(favored=favored, other=other, item=item)}


@pytest.mark.parametrize(("a", "b", "t"), [(20, 50, 30), (50, 20, 30), (9, 10, 81), (60, 40, 0)])
def test_the_formulas_of_the_notes(a: int, b: int, t: int) -> None:
    rows = by_name(a, b, t)
    ratio, error = (a + t) / (b + t), np.sqrt((a + b) / ((a + t) * (b + t)))
    free, capped = rows["impact_ratio_uncapped"], rows["impact_ratio"]
    assert free.estimate == pytest.approx(ratio)
    ends = ratio * np.exp(-1.959964 * error), ratio * np.exp(1.959964 * error)
    assert (free.ci_low, free.ci_high) == pytest.approx(ends, rel=1e-6)
    assert capped.estimate == pytest.approx((a + t) / max(a + t, b + t))
    assert (capped.ci_low, capped.ci_high) == pytest.approx(np.minimum(1, ends), rel=1e-6)
    assert capped.reason == ("below_four_fifths" if capped.estimate < 0.8 else None)
    assert rows["share_tied"].estimate == pytest.approx(t / (a + b + t))
    assert rows["untied_win_ratio"].estimate == pytest.approx(a / b)
    assert rows["untied_win_ratio"].ci_high == pytest.approx(
        a / b * np.exp(1.959964 * np.sqrt(1 / a + 1 / b)), rel=1e-6
    )


def test_several_sets_of_a_resume_are_clustered() -> None:
    rng = np.random.default_rng(3)
    item = np.repeat(np.arange(30), 4)
    lean = rng.normal(0.3, 1, 30)[item] + rng.normal(0, 1, 120)
    favored, other = np.where(lean > 0.8, 1.0, np.where(lean < -0.8, 3.0, 2.0)), None
    other = 4 - favored
    row = next(
        r for r in impact_rows(favored=favored, other=other, item=item)
        if r.estimand == "impact_ratio_uncapped"
    )  # fmt: skip
    # The log ratio's influence, clustered by statsmodels.
    x, y = (favored <= other) * 1.0, (favored >= other) * 1.0
    linear = x / x.mean() - y / y.mean()
    fit = sm.OLS(linear, np.ones(120)).fit(
        cov_type="cluster", cov_kwds={"groups": item, "use_correction": True}
    )
    assert row.std_error == pytest.approx(row.estimate * fit.bse[0], rel=1e-10)


def test_coverage_is_that_of_the_notes() -> None:
    rng = np.random.default_rng(5)
    p = np.array([0.2, 0.35, 0.45])
    truth, covered = (p[0] + p[2]) / (p[1] + p[2]), []
    for a, b, t in rng.multinomial(100, p, size=2_000):
        row = by_name(a, b, t)["impact_ratio_uncapped"]
        covered.append(row.ci_low <= truth <= row.ci_high)
    assert 0.926 <= np.mean(covered) <= 0.96


def test_edges_have_reasons() -> None:
    never = by_name(0, 10, 0)
    assert (never["impact_ratio"].estimate, never["impact_ratio"].status) == (0.0, "flagged")
    assert never["impact_ratio"].reason.startswith("below_four_fifths; never_selected: favored")
    always = by_name(10, 0, 0)
    assert always["impact_ratio"].status == "not_computable"
    assert always["impact_ratio"].reason.startswith("never_selected: other")
    tied = by_name(0, 0, 10)
    assert (tied["impact_ratio"].estimate, tied["impact_ratio"].p_value) == (1.0, None)
    assert (tied["impact_ratio"].status, tied["impact_ratio"].reason) == ("flagged", NO_SPREAD)
    assert tied["untied_win_ratio"].reason.startswith("no_untied_win")
    alone = by_name(3, 4, 3, item=np.zeros(10))["impact_ratio"]
    assert (alone.status, alone.std_error) == ("flagged", None)
    assert alone.reason == "below_four_fifths; one_resume: there is no standard error" or (
        alone.reason == "one_resume: there is no standard error"
    )


def test_mean_rank_ratio_is_that_of_the_authors_code() -> None:
    place = ranks(np.random.default_rng(8).integers(0, 11, (50, 3)))
    means = place.mean(axis=0)
    row = mean_rank_row(place)
    assert row.estimate == pytest.approx(means[0] / means.max())
    assert (row.estimand, row.method, row.n) == ("mean_rank_ratio", "published_code", 50)
