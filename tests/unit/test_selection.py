"""Raw gaps and scoring rates: scipy, statsmodels, hand-made cases, cells against rows."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import ttest_ind
from statsmodels.stats.proportion import proportion_confint
from statsmodels.stats.weightstats import DescrStatsW

from fairscreen.estimators.selection import (
    OutcomeRow,
    Outcomes,
    median,
    outcome_rows,
    small_group,
)


def outcomes(x, y, w=None, cluster=None) -> Outcomes:
    n = len(x)
    weight = np.ones(n) if w is None else np.asarray(w, dtype=float)
    return Outcomes(
        np.asarray(x, dtype=np.int8), np.asarray(y, dtype=float), weight,
        np.ones(n, dtype=np.int64), cluster,
    )  # fmt: skip


def by_key(rows: list[OutcomeRow]) -> dict[tuple[str, str, int | None], OutcomeRow]:
    return {(r.estimand, r.method, r.group): r for r in rows}


@pytest.fixture
def sample():
    rng = np.random.default_rng(21)
    x = rng.integers(0, 2, 160)
    return x, np.round(50 + 3 * x + rng.normal(0, 4 + 3 * x, 160), 1)


def test_gap_is_welchs_test(sample) -> None:
    x, y = sample
    row = by_key(outcome_rows(outcomes(x, y)))["raw_gap", "difference", None]
    welch = ttest_ind(y[x == 1], y[x == 0], equal_var=False)
    interval = welch.confidence_interval(0.95)
    assert row.estimate == pytest.approx(y[x == 1].mean() - y[x == 0].mean())
    assert row.p_value == pytest.approx(welch.pvalue, rel=1e-9)
    assert (row.ci_low, row.ci_high) == pytest.approx((interval.low, interval.high))


def test_weights_state_the_population(sample) -> None:
    x, y = sample
    w = np.random.default_rng(22).uniform(0.5, 3, len(x))
    row = by_key(outcome_rows(outcomes(x, y, w)))["raw_gap", "difference", None]
    assert row.estimate == pytest.approx(
        DescrStatsW(y[x == 1], w[x == 1]).mean - DescrStatsW(y[x == 0], w[x == 0]).mean
    )
    resampled = []
    rng = np.random.default_rng(23)
    for _ in range(2_000):
        at = rng.integers(0, len(x), len(x))
        one, zero = at[x[at] == 1], at[x[at] == 0]
        resampled.append(np.average(y[one], weights=w[one]) - np.average(y[zero], weights=w[zero]))
    assert row.std_error == pytest.approx(np.std(resampled), rel=0.08)


def test_rates_by_hand() -> None:
    # All scores 1..8 with one repeated: median of 9 = 5; above it: 6, 7, 8.
    x = [1, 1, 1, 1, 0, 0, 0, 0, -1]
    y = [8, 7, 5, 2, 6, 4, 3, 1, 5]
    rows = by_key(outcome_rows(outcomes(x, y)))
    assert rows["selection_rate", "local_law_144", 1].estimate == 2 / 4
    assert rows["selection_rate", "local_law_144", 0].estimate == 1 / 4
    assert rows["selection_rate", "at_or_above_median", 1].estimate == 3 / 4
    assert rows["share_tied", "local_law_144", None].estimate == pytest.approx(2 / 9)
    impact = rows["selection_rate_ratio", "four_fifths", None]
    assert (impact.estimate, impact.reason) == (0.5, "below_four_fifths")
    ratio = rows["selection_rate_ratio", "log_ratio", None]
    # Var(rate) = p (1 - p) / (n - 1), on the log scale over p^2.
    error = np.sqrt(0.25 / 3 / 0.25 + 0.1875 / 3 / 0.0625)
    assert ratio.ci_low == pytest.approx(0.5 * np.exp(-1.959964 * error), rel=1e-6)
    assert ratio.ci_high == pytest.approx(0.5 * np.exp(1.959964 * error), rel=1e-6)
    assert ratio.n == 8


def test_impact_ratio_is_the_lower_over_the_higher_rate() -> None:
    y = np.arange(100.0)
    favored_zero = outcomes(np.arange(100) < 40, y)  # x1 has the lowest scores
    rows = by_key(outcome_rows(outcomes((np.arange(100) % 2 == 0), y)))
    assert rows["selection_rate_ratio", "four_fifths", None].estimate <= 1
    assert rows["selection_rate_ratio", "four_fifths", None].reason is None
    zero = by_key(outcome_rows(favored_zero))
    assert zero["selection_rate_ratio", "four_fifths", None].estimate == 0.0
    assert zero["selection_rate_ratio", "log_ratio", None].status == "not_computable"


def test_other_groups_are_assessed_but_never_compared(sample) -> None:
    x, y = sample
    with_others = outcomes(np.append(x, [-1] * 500), np.append(y, np.full(500, 90.0)))
    rows, plain = by_key(outcome_rows(with_others)), by_key(outcome_rows(outcomes(x, y)))
    gap = ("raw_gap", "difference", None)
    assert rows[gap] == plain[gap]
    assert rows["selection_rate", "local_law_144", 1].estimate == 0.0  # the median is theirs
    assert rows["selection_rate_ratio", "four_fifths", None].status == "not_computable"


def test_counts_are_as_good_as_rows_and_parts_add(sample) -> None:
    x, y = sample
    rows = outcomes(x, y)
    keys, n = np.unique(np.stack([x, y]), axis=1, return_counts=True)
    counted = Outcomes(keys[0].astype(np.int8), keys[1], np.ones(len(n)), n.astype(np.int64))
    parts = outcomes(x[:50], y[:50]) + outcomes(x[50:], y[50:])
    for one, two, three in zip(*map(outcome_rows, (rows, counted, parts)), strict=True):
        assert one.estimate == pytest.approx(two.estimate)
        assert one.std_error == pytest.approx(two.std_error)
        assert one == three


def test_interval_of_a_rate_is_wilsons() -> None:
    x, y = np.repeat([1, 0], 40), np.tile([1.0, 2.0, 2.0, 2.0], 20)
    row = by_key(outcome_rows(outcomes(x, y)))["selection_rate", "at_or_above_median", 1]
    low, high = proportion_confint(30, 40, method="wilson")
    # The variance has n - 1, so the effective size is 39 of 40.
    assert (row.ci_low, row.ci_high) == pytest.approx((low, high), abs=0.003)
    all_tied = by_key(outcome_rows(outcomes([1, 1, 0, 0], [5, 5, 5, 5])))
    everyone = all_tied["selection_rate", "at_or_above_median", 1]
    assert (everyone.estimate, everyone.ci_high) == (1.0, 1.0)
    assert everyone.ci_low == pytest.approx(proportion_confint(2, 2, method="wilson")[0])


def test_clusters_of_copies_give_the_error_of_the_originals(sample) -> None:
    x, y = sample
    copies = outcomes(np.tile(x, 3), np.tile(y, 3), cluster=np.tile(np.arange(len(x)), 3))
    row = by_key(outcome_rows(copies))["raw_gap", "difference", None]
    single = by_key(outcome_rows(outcomes(x, y, cluster=np.arange(len(x)))))
    assert row.std_error == pytest.approx(single["raw_gap", "difference", None].std_error)
    plain = by_key(outcome_rows(outcomes(x, y)))["raw_gap", "difference", None]
    assert row.std_error == pytest.approx(plain.std_error, rel=0.02)


def test_what_cannot_be_computed_says_why() -> None:
    empty = outcome_rows(outcomes([1, 1], [3, 4]))
    assert {r.status for r in empty} == {"not_computable"}
    assert {r.reason for r in empty} == {"empty_group: no answered applicant in x0"}
    one = by_key(outcome_rows(outcomes([1, 1, 0], [3, 4, 5])))["raw_gap", "difference", None]
    assert (one.estimate, one.std_error, one.status) == (-1.5, None, "flagged")
    assert one.reason is not None
    tied = by_key(outcome_rows(outcomes([1, 1, 0, 0], [5, 5, 5, 5])))
    assert tied["raw_gap", "difference", None].p_value is None
    assert tied["selection_rate_ratio", "four_fifths", None].reason == (
        "no_one_selected: nobody of either group is above the median"
    )


@pytest.mark.parametrize(("y", "expected"), [([1, 2, 3], 2.0), ([1, 2, 3, 10], 2.5), ([4], 4.0)])
def test_median_of_equal_weights_is_the_usual_one(y, expected) -> None:
    assert median(np.array(y, dtype=float), np.full(len(y), 0.1)) == expected


def test_small_groups_are_flagged_beside_other_reasons() -> None:
    # 40 of x1, 3 of x0 with the lowest scores: nobody of them is above the median.
    x, y = np.repeat([1, 0], [40, 3]), np.concatenate([np.arange(10.0, 50.0), [1.0, 2.0, 3.0]])
    plain = by_key(outcome_rows(outcomes(x, y)))
    rows = by_key(outcome_rows(outcomes(x, y), min_group=30))
    few = "fewer_than_30_in_a_group"
    assert plain["raw_gap", "difference", None].status == "ok"
    gap = rows["raw_gap", "difference", None]
    assert (gap.status, gap.reason) == ("flagged", few)
    assert gap.ci_low == plain["raw_gap", "difference", None].ci_low
    rate = rows["selection_rate", "local_law_144", 1]
    assert (rate.status, rate.reason) == ("flagged", few)
    impact = rows["selection_rate_ratio", "four_fifths", None]
    assert impact.estimate == 0.0
    assert impact.reason == f"{plain['selection_rate_ratio', 'four_fifths', None].reason}; {few}"
    assert impact.reason.startswith("below_four_fifths; ")
    assert rows["share_tied", "local_law_144", None].status == "ok"  # of all, whatever the group
    told = {r.estimand for r in rows.values() if small_group(r.reason)}
    assert told == {"raw_gap", "selection_rate", "selection_rate_ratio"}


@pytest.mark.parametrize(("n", "flagged"), [(29, True), (30, False)])
def test_people_are_counted_not_cells_and_from_30_on_groups_are_large(n, flagged) -> None:
    counted = Outcomes(
        np.array([1, 1, 0, 0], dtype=np.int8), np.array([1.0, 2.0, 1.0, 2.0]), np.ones(4),
        np.array([20, 20, 1, n - 1]),
    )  # fmt: skip
    gap = by_key(outcome_rows(counted, min_group=30))["raw_gap", "difference", None]
    assert (gap.status == "flagged") is flagged
    assert not small_group(None)
    nobody = outcome_rows(outcomes([1, 1], [3, 4]), min_group=30)
    assert {r.status for r in nobody} == {"not_computable"}
    assert all(small_group(r.reason) for r in nobody)
