"""All rows of a slice: known truth, sums, pairs of columns, intersections, terciles, reasons."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import permutation_test

from fairscreen.estimators.ranking import (
    NO_SET,
    RankingOptions,
    crossed,
    quality_terciles,
    ranking,
)
from fairscreen.estimators.ranks import RankSets, ranks

QUICK = RankingOptions(published_draws=2_000, swaps=999, seed="test")


def planted(seed: int, n: int, shift: float, levels: int = 1, versions: int = 3) -> RankSets:
    """Favored, other, neutral: other scores `shift` higher; integer scores 0 to 10."""
    rng = np.random.default_rng(seed)
    item = np.repeat(np.arange(n), levels)
    quality = rng.normal(6, 1.2, n)[item][:, None]
    lean = np.zeros(versions)
    lean[1] = shift
    y = np.clip(np.rint(quality + lean + rng.normal(0, 0.8, (n * levels, versions))), 0, 10)
    words = np.tile(np.array([40.0, 160, 240, 400])[:levels], n)
    return RankSets(y, item, words if levels > 1 else None)


def rows_of(result) -> dict:
    return {(r.estimand, r.method): r for r in result.rows}


def test_a_planted_preference_is_found_in_every_row() -> None:
    rows = rows_of(ranking(planted(1, 300, 0.5), QUICK))
    gap = rows["rank_gap", "sign_flip_exact"]
    assert gap.ci_low > 0  # favored ranks worse
    assert gap.p_value < 1e-6
    assert rows["score_gap", "sign_flip_exact"].ci_high < 0
    assert rows["rank_gap_standardised", "paired"].ci_low > 0
    assert rows["better_minus_worse", "paired"].ci_high < 0
    ratio = rows["impact_ratio", "ranks_at_least_tied"]
    assert ratio.reason == "below_four_fifths"
    assert ratio.ci_high < 0.8
    two = rows_of(ranking(planted(1, 300, 0.5, versions=2), QUICK))
    assert two["mean_rank_ratio", "published_code"].estimate == 1.0  # favored is the worst of two
    for estimand in ("rank_gap", "score_gap"):
        published = rows[estimand, "pooled_permutation_published"]
        assert published.estimate == pytest.approx(rows[estimand, "sign_flip_exact"].estimate)


def test_a_null_is_none_and_the_interval_covers_it() -> None:
    covered, rejected = 0, 0
    for seed in range(300):
        row = rows_of(ranking(planted(seed, 60, 0.0), RankingOptions(published=False, swaps=99)))
        gap = row["rank_gap", "sign_flip_exact"]
        covered += gap.ci_low <= 0 <= gap.ci_high
        rejected += gap.p_value <= 0.05
    assert covered / 300 >= 0.95 - 4 * np.sqrt(0.05 * 0.95 / 300)
    assert rejected / 300 <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 300)


def test_parts_added_give_the_rows_of_all_sets() -> None:
    data = planted(3, 40, 0.3, levels=4)
    first = data.item < 17
    both = data.take(~first) + data.take(first)
    assert ranking(both, QUICK) == ranking(data, QUICK)  # to the last digit


def test_pooled_levels_flip_whole_resumes() -> None:
    data = planted(4, 12, 0.3, levels=4)
    row = rows_of(ranking(data, QUICK))["rank_gap", "sign_flip_exact"]
    d = (data.ranks[:, 0] - data.ranks[:, 1]).reshape(12, 4).sum(axis=1)
    exact = permutation_test(
        (d,), lambda x, axis: x.sum(axis=axis), permutation_type="samples", vectorized=True,
        n_resamples=np.inf,
    )  # fmt: skip
    assert row.p_value == pytest.approx(exact.pvalue, rel=1e-12)
    assert row.n == 48


def test_favored_and_other_may_change_places() -> None:
    data = planted(5, 50, 0.4, levels=4)
    one = rows_of(ranking(data, QUICK))
    two = rows_of(ranking(data.versions([1, 0, 2]), QUICK))
    for estimand in ("rank_gap", "score_gap"):
        key = (estimand, "sign_flip_exact")
        assert two[key].estimate == pytest.approx(-one[key].estimate)
        assert two[key].p_value == pytest.approx(one[key].p_value, rel=1e-12)
    again = rows_of(ranking(data, QUICK, pair=(1, 0)))
    assert again["rank_gap", "sign_flip_exact"] == two["rank_gap", "sign_flip_exact"]
    assert again["mean_rank_ratio", "published_code"] == two["mean_rank_ratio", "published_code"]


def test_incomplete_sets_enter_nothing_and_are_counted() -> None:
    data = planted(6, 80, 0.2)
    y = data.y.copy()
    y[:7, 2], y[5:9, 0] = np.nan, np.nan
    holed = ranking(RankSets(y, data.item), QUICK)
    assert (holed.sets, holed.complete, holed.items, holed.lacking) == (80, 71, 71, (4, 0, 7))
    assert holed.rows == ranking(RankSets(y[9:], data.item[9:]), QUICK).rows


def test_no_complete_set_makes_every_row_not_computable() -> None:
    data = planted(7, 5, 0.2, levels=4)
    empty = RankSets(np.where([True, False, True], data.y, np.nan), data.item, data.words)
    options = RankingOptions(margin=0.2, published_draws=99, swaps=99)
    got, full = ranking(empty, options), ranking(data, options)
    assert {r.reason for r in got.rows} == {NO_SET}
    assert {(r.estimand, r.method) for r in got.rows} == {
        (r.estimand, r.method) for r in full.rows if r.method != "wild_cluster_bootstrap"
    }


def test_one_resume_and_equal_ranks_are_flagged_with_reasons() -> None:
    rows = rows_of(ranking(RankSets(np.array([[7.0, 8, 8]]), np.array([0])), QUICK))
    assert rows["rank_gap", "sign_flip_exact"].reason.startswith("one_resume")
    assert rows["rank_gap", "sign_flip_exact"].p_value == 1.0
    assert rows["spread_ratio", "paired_swap"].reason.startswith("no_spread")
    assert rows["spread_ratio", "pooled_permutation_published"].reason.startswith("no_spread")
    tied = rows_of(ranking(RankSets(np.full((9, 3), 8.0), np.arange(9)), QUICK))
    assert tied["rank_gap", "sign_flip_exact"].p_value == 1.0
    assert tied["rank_gap_standardised", "paired"].reason.startswith("no_spread")


def test_replicates_are_told_and_scores_between_are_exact() -> None:
    rng = np.random.default_rng(8)
    answers = rng.integers(4, 9, (50, 3, 3)).astype(float)
    data = RankSets(
        answers.mean(axis=2), np.arange(50), None, np.full((50, 3), 3),
        answers.var(axis=2) * 3,
    )  # fmt: skip
    rows = rows_of(ranking(data, QUICK))
    within = rows["within_resume_variance", "replicates"]
    assert within.estimate == pytest.approx(np.mean(answers[:, :2].var(axis=2, ddof=1)))
    assert rows["score_gap", "sign_flip_exact"].p_value > 0  # thirds: still a lattice
    assert rows["replicate_share_of_gap_variance", "replicates"].estimate > 0.6


def test_equivalence_needs_a_margin() -> None:
    data = planted(9, 400, 0.0)
    rows = rows_of(ranking(data, RankingOptions(margin=0.5, published_draws=99, swaps=99)))
    assert rows["rank_gap", "tost"].p_value < 0.001
    assert -0.5 < rows["rank_gap", "tost"].ci_low < rows["rank_gap", "tost"].ci_high < 0.5
    assert ("rank_gap", "tost") not in rows_of(ranking(data, QUICK))


def test_normal_theory_only_on_request_and_for_one_pair_per_resume() -> None:
    key = "spread_ratio", "pitman_morgan_normal_theory"
    asked = RankingOptions(pitman_morgan=True, published_draws=99, swaps=99)
    assert key not in rows_of(ranking(planted(9, 40, 0.0), QUICK))
    assert rows_of(ranking(planted(9, 40, 0.0), asked))[key].status == "ok"
    several = rows_of(ranking(planted(9, 40, 0.0, levels=4), asked))[key]
    assert several.reason.startswith("not_one_pair_per_resume")


OF_RANKS = ("rank_gap", "impact_ratio", "spread_ratio", "share_tied", "better_minus_worse")


@given(st.integers(0, 10_000), st.sampled_from([lambda y: 3 * y - 50, np.exp, lambda y: y**3]))
@settings(max_examples=15, deadline=None)
def test_only_the_order_of_scores_and_which_sets_share_a_resume_matter(seed, change) -> None:
    data = planted(seed, 15, 0.3, levels=2)
    names = np.random.default_rng(seed).permutation(1_000)[: data.item.max() + 1]
    other = RankSets(change(data.y), np.sort(names)[data.item], data.words)
    one, two = ranking(data, QUICK), ranking(other, QUICK)
    for estimand in OF_RANKS:
        assert [r for r in one.rows if r.estimand == estimand] == [
            r for r in two.rows if r.estimand == estimand
        ]


@given(st.integers(0, 10_000))
@settings(max_examples=15, deadline=None)
def test_scores_turned_round_turn_the_gap_round(seed) -> None:
    data = planted(seed, 15, 0.3)
    one = rows_of(ranking(data, QUICK))
    two = rows_of(ranking(RankSets(-data.y, data.item), QUICK))
    for key in (("rank_gap", "sign_flip_exact"), ("score_gap", "sign_flip_exact")):
        assert two[key].estimate == pytest.approx(-one[key].estimate, abs=1e-12)
        assert two[key].p_value == pytest.approx(one[key].p_value, rel=1e-12)


def four_arms(seed: int, n: int, extra: float) -> RankSets:
    """Male and female of black, then of white; black women gain `extra`."""
    rng = np.random.default_rng(seed)
    lean = np.array([0.0, 0.4 + extra, 0.0, 0.4, 0.2])
    y = rng.normal(6, 1, (n, 1)) + lean + rng.normal(0, 0.6, (n, 5))
    return RankSets(np.rint(2 * y) / 2, np.arange(n))


def test_intersections_find_the_average_and_the_difference() -> None:
    data = four_arms(10, 250, 0.8)
    average, differences = crossed(data, ("black", "white"), QUICK)
    place = data.ranks
    gaps = place[:, [0, 2]] - place[:, [1, 3]]
    gap = rows_of(average)["rank_gap", "sign_flip_exact"]
    assert gap.estimate == pytest.approx(gaps.mean())
    assert gap.p_value < 1e-10
    ((one, two, row),) = differences
    assert (one, two, row.estimand) == ("black", "white", "rank_gap_difference")
    assert row.estimate == pytest.approx((gaps[:, 0] - gaps[:, 1]).mean())
    assert row.ci_low > 0
    white = rows_of(ranking(data, QUICK, pair=(2, 3)))["rank_gap", "sign_flip_exact"]
    assert white.estimate == pytest.approx(gaps[:, 1].mean())


def test_intersections_are_exact() -> None:
    data = four_arms(11, 11, 0.3)
    _, ((_, _, row),) = crossed(data, ("black", "white"), QUICK)
    place = data.ranks
    d = place[:, 0] - place[:, 1] - place[:, 2] + place[:, 3]
    sums = [abs(np.array(s) @ d) for s in product((-1, 1), repeat=11)]
    assert row.p_value == pytest.approx(np.mean(np.array(sums) >= abs(d.sum()) - 1e-9), rel=1e-12)


def test_terciles_are_thirds_of_resumes_and_equal_scores_stay_together() -> None:
    neutral = np.array([1.0, 1, 9, 9, 5, 5, 5, 5, 2, 8, 3, 7])
    item = np.array([0, 0, 1, 1, 2, 3, 4, 5, 6, 7, 8, 9])
    got = quality_terciles(neutral, item)
    assert got.tolist() == [0, 0, 2, 2, 1, 1, 1, 1, 0, 2, 0, 2]
    assert set(quality_terciles(np.full(6, 3.0), np.arange(6))) == {1}
    assert quality_terciles(np.array([np.nan, 2.0]), np.array([0, 1])).tolist() == [-1, 1]


def test_a_row_says_that_fewer_draws_were_made_than_asked_for(monkeypatch) -> None:
    monkeypatch.setattr("fairscreen.estimators.pooled_permutation._MAX_SHUFFLED", 600 * 1_500)
    y = np.random.default_rng(1).normal(size=(300, 3))
    rows = rows_of(ranking(RankSets(y, np.arange(300)), QUICK))
    published = "pooled_permutation_published"
    assert rows["score_gap", published].reason.startswith("fewer_draws: 1,500 of 2,000")
    assert rows["rank_gap", published].reason is None  # ranks have few values


def test_results_repeat_and_print() -> None:
    data = planted(12, 30, 0.2, levels=4)
    assert ranking(data, QUICK) == ranking(data, QUICK)
    text = ranking(data, QUICK).summary()
    assert "120 of 120 rank sets complete, 30 resumes" in text
    assert "wild_cluster_bootstrap" in text
    assert {"estimand", "method", "reason"} <= set(ranking(data, QUICK).to_rows()[0])
    np.testing.assert_array_equal(ranks(data.y), data.ranks)
