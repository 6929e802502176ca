"""Where nothing varies there is an estimate and no error: no interval of width 0, and a reason."""

from __future__ import annotations

import numpy as np
import pytest

from fairscreen.estimators.callback_pairs import CallbackPairs, CallbackRow
from fairscreen.estimators.callbacks import ONE_GROUP, CallbackOptions, callbacks
from fairscreen.estimators.callbacks_unpaired import Applications, unpaired
from fairscreen.estimators.ranking import RankingOptions, crossed, ranking
from fairscreen.estimators.ranks import NO_SPREAD, RankRow, RankSets, settled

FAST = CallbackOptions(draws=199, permutations=99, margin=2.0)
QUICK = RankingOptions(published_draws=199, swaps=99, margin=0.5)
#: p-values that need no error.
EXACT = (
    "sign_flip_exact", "sign_flip_posting", "sign_flip_posting_monte_carlo", "name_permutation",
    "mcnemar_cc", "mcnemar_exact", "mcnemar_midp", "fisher_exact", "pooled_permutation_published",
    "paired_swap",
)  # fmt: skip


def pairs(favored: float, other: float, n: int = 60, postings: int = 30) -> CallbackPairs:
    """Pairs that all got the same; NaN: no answer."""
    codes = np.arange(n)
    return CallbackPairs.of_answers(
        favored=np.full(n, favored), other=np.full(n, other), posting=codes % postings,
        favored_name=codes % 5, other_name=5 + codes % 4,
    )  # fmt: skip


def check(rows: tuple[RankRow, ...]) -> None:
    for row in rows:
        name = (row.estimand, row.method)
        assert row.std_error is None or row.std_error > 0, name
        assert row.ci_low is None or row.ci_low < row.ci_high, name
        if row.reason and NO_SPREAD in row.reason and row.estimand != "callback_rate":
            assert row.status == "flagged", name
            assert row.estimate is not None, name
        if row.p_value is not None and row.status == "flagged":
            assert row.method in EXACT, name


def gaps(rows: tuple[CallbackRow, ...]) -> dict[str, CallbackRow]:
    return {r.method: r for r in rows if r.estimand == "callback_gap_pp"}


@pytest.mark.parametrize(("favored", "other", "gap"), [(0, 0, 0), (1, 1, 0), (1, 0, 100)])
def test_pairs_that_are_all_alike(favored, other, gap) -> None:
    rows = callbacks(pairs(favored, other), FAST, firm=np.arange(60) % 3).rows
    check(rows)
    found = gaps(rows)
    for method in ("cluster_posting_names", "cluster_t", "cluster_bootstrap", "wald"):
        row = found[method]
        assert (row.estimate, row.p_value, row.status) == (gap, None, "flagged")
        assert row.reason == NO_SPREAD
    assert found["newcombe"].ci_low < found["newcombe"].ci_high
    assert found["tost"].status == "not_computable"
    exact = found["mcnemar_exact"].p_value
    assert exact == (1.0 if gap == 0 else pytest.approx(2 * 0.5**60))
    assert found["sign_flip_posting"].p_value == pytest.approx(1.0 if gap == 0 else 2 * 0.5**30)
    rates = [r for r in rows if (r.estimand, r.method) == ("callback_rate", "cluster_posting")]
    for row in rates:  # Wilson's interval needs no error
        assert row.std_error is None
        assert row.ci_high - row.ci_low > 0.05
        assert row.reason == NO_SPREAD


def test_one_posting_has_no_bootstrap() -> None:
    rng = np.random.default_rng(1)
    some = CallbackPairs.of_answers(
        favored=rng.integers(0, 2, 40), other=rng.integers(0, 2, 40), posting=np.zeros(40)
    )
    rows = callbacks(some, FAST).rows
    check(rows)
    assert gaps(rows)["cluster_bootstrap"].reason == ONE_GROUP
    assert gaps(rows)["wald"].status == "ok"


def test_nobody_answered() -> None:
    rows = callbacks(pairs(np.nan, np.nan), FAST).rows
    check(rows)
    silence = [r for r in rows if r.estimand == "callback_gap_silence_is_no_pp"]
    assert [(r.estimate, r.p_value, r.status) for r in silence] == [
        (0.0, None, "flagged"), (0.0, 1.0, "ok"),
    ]  # fmt: skip


@pytest.mark.parametrize(("favored", "other"), [(0, 0), (1, 1), (1, 0)])
def test_applications_that_are_all_alike(favored, other) -> None:
    arm = np.arange(80) % 2
    called = np.where(arm == 1, favored, other)
    one = np.ones(80, dtype=np.int64)
    rows = unpaired(Applications(arm, np.arange(80) // 2, called, one, 0 * one), FAST).rows
    for row in rows:
        assert row.std_error is None or row.std_error > 0
        assert row.ci_low is None or row.ci_low < row.ci_high
    difference = gaps(rows)["difference"]
    assert difference.status == "flagged"
    # The z test stands on the pooled share, which varies where the arms differ.
    assert (difference.p_value is None) == (favored == other)


@pytest.mark.parametrize("scores", [(7.0, 7.0, 7.0), (6.0, 8.0, 7.0), (7.0, 7.0, 4.0)])
def test_sets_that_are_all_alike(scores) -> None:
    y = np.tile(scores, (40, 1)) + (np.arange(40) % 3)[:, None]
    item = np.arange(40) // 2
    words = np.tile([100.0, 200.0], 20)
    squares, answers = np.zeros((40, 3)), np.full((40, 3), 2)
    rows = ranking(RankSets(y, item, words, answers, squares), QUICK).rows
    check(rows)
    by_name = {(r.estimand, r.method): r for r in rows}
    gap = by_name["rank_gap", "sign_flip_exact"]
    assert (gap.status, gap.reason) == ("flagged", NO_SPREAD)
    assert gap.p_value == pytest.approx(1.0 if scores[0] == scores[1] else 2 * 0.5**20)
    better = by_name["better_minus_worse", "paired"]
    assert (better.p_value, better.status) == (None, "flagged")
    average, differences = crossed(RankSets(y[:, [0, 1, 0, 1]], item), ("a", "b"), QUICK)
    check((*average.rows, *(row for _, _, row in differences)))


def test_an_error_that_is_rounding_is_none() -> None:
    row = RankRow("g", "m", 0.3, 3e-17, 0.3, 0.3, 0.0, 9)
    assert settled(row) == RankRow("g", "m", 0.3, None, None, None, None, 9, "flagged", NO_SPREAD)
    assert settled(row, exact=True).p_value == 0.0
    small = RankRow("g", "m", 3e-170, 1e-171, 2e-170, 4e-170, 0.0, 9)
    assert settled(small) is small
