"""Rows of paired callbacks: sums that add, plain recomputation, planted gaps, what is refused."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import t as student
from scipy.stats import ttest_1samp

from callback_designs import audit
from fairscreen.errors import InputError
from fairscreen.estimators.callback_pairs import CallbackPairs
from fairscreen.estimators.callback_placebo import placebo_rows
from fairscreen.estimators.callbacks import (
    CallbackOptions,
    CallbackRow,
    callbacks,
)

FAST = CallbackOptions(draws=300, permutations=199)


def rows_of(result) -> dict[tuple, CallbackRow]:
    return {(r.estimand, r.method, r.part): r for r in result.rows}


def gaps(result) -> dict[str, CallbackRow]:
    return {r.method: r for r in result.rows if r.estimand == "callback_gap_pp"}


def cells_of(pairs: CallbackPairs) -> CallbackPairs:
    """The same pairs, one cell per posting and names."""
    keys = np.stack([pairs.posting, pairs.favored, pairs.other], axis=1)
    kinds, at = np.unique(keys, axis=0, return_inverse=True)
    table = np.zeros((len(kinds), 3, 3), dtype=np.int64)
    np.add.at(table, at.reshape(-1), pairs.table)
    p_pairs = np.bincount(at.reshape(-1), weights=pairs.p_pairs).astype(np.int64)
    p_gap = np.bincount(at.reshape(-1), weights=pairs.p_gap)
    return CallbackPairs(table, *kinds.T.copy(), None, p_pairs, p_gap)


@pytest.fixture(scope="module")
def pairs() -> CallbackPairs:
    return audit(1, gap=0.05, name_sd=0.01, silent=(0.02, 0.05))


@pytest.fixture(scope="module")
def result(pairs):
    return callbacks(pairs, CallbackOptions(draws=300, permutations=199, margin=2.0))


def test_parts_that_are_added_give_the_numbers_of_all_pairs(pairs, result) -> None:
    a, b = pairs.take(np.arange(500)), pairs.take(np.arange(500, len(pairs)))
    for other in (b + a, cells_of(pairs)):
        again = rows_of(callbacks(other, CallbackOptions(draws=300, permutations=199, margin=2.0)))
        assert set(again) == set(rows_of(result))
        for key, row in rows_of(result).items():
            for name in ("estimate", "std_error", "ci_low", "ci_high", "p_value", "n"):
                want = getattr(row, name)
                got = getattr(again[key], name)
                assert got == (None if want is None else pytest.approx(want, rel=1e-9)), key


def test_counts_gap_and_rates_by_plain_arithmetic(pairs, result) -> None:
    yes_f, yes_o = pairs.table[:, 1, :].sum(axis=1), pairs.table[:, :, 1].sum(axis=1)
    whole = pairs.table[:, :2, :2].sum(axis=(1, 2)) == 1
    gap = 100 * (yes_f[whole] - yes_o[whole]).mean()
    assert (result.pairs, result.complete) == (1200, int(whole.sum()))
    for row in gaps(result).values():
        assert row.estimate == pytest.approx(gap)
        assert row.n == result.complete
    found = rows_of(result)
    for side, y in (("favored", yes_f), ("other", yes_o)):
        row = found["callback_rate", "cluster_posting", ("arm", side)]
        assert row.estimate == pytest.approx(y[whole].mean())
        assert row.ci_low < row.estimate < row.ci_high
    ratio = found["callback_ratio", "cluster_posting_names", None]
    assert ratio.estimate == pytest.approx(yes_o[whole].mean() / yes_f[whole].mean())
    assert ratio.ci_low < ratio.estimate < ratio.ci_high


def test_cluster_t_is_the_t_test_of_posting_means_where_postings_are_alike() -> None:
    pairs = audit(2, gap=0.05)
    row = gaps(callbacks(pairs, FAST))["cluster_t"]
    means = pairs.d.reshape(-1, 4).mean(axis=1)
    want = ttest_1samp(means, 0)
    low, high = want.confidence_interval()
    assert row.p_value == pytest.approx(want.pvalue)
    assert (row.ci_low, row.ci_high) == pytest.approx((100 * low, 100 * high))


def test_sign_flip_by_enumeration() -> None:
    pairs = audit(3, postings=9, gap=0.3, names=3)
    sums = pairs.d.reshape(-1, 4).sum(axis=1)
    every = np.array(list(itertools.product((-1, 1), repeat=9))) @ sums
    want = (np.abs(every) >= abs(sums.sum())).mean()
    assert gaps(callbacks(pairs, FAST))["sign_flip_posting"].p_value == pytest.approx(want)


def test_headline_clusters_by_names_too_and_equivalence_stands_on_it(result) -> None:
    rows = gaps(result)
    head, tost = rows["cluster_posting_names"], rows["tost"]
    assert head.std_error >= rows["cluster_t"].std_error
    # 38 names per arm (19 of each gender): 37 degrees of freedom.
    half = student.ppf(0.975, 37) * head.std_error
    assert (head.ci_high - head.ci_low) / 2 == pytest.approx(half)
    assert tost.std_error == head.std_error
    assert tost.ci_high - tost.estimate == pytest.approx(student.ppf(0.95, 37) * head.std_error)
    # The margin is 2 points, the gap about 5: shown not to be inside.
    assert tost.p_value > 0.5


def test_names_that_differ_widen_the_headline_and_nothing_else() -> None:
    rows = gaps(callbacks(audit(4, postings=1500, name_sd=0.08), FAST))
    assert rows["cluster_posting_names"].std_error > 1.5 * rows["cluster_t"].std_error
    assert rows["cluster_t"].std_error == pytest.approx(
        rows["cluster_bootstrap"].std_error, rel=0.1
    )


def test_p_yes_gap_has_less_noise_than_the_answers(pairs) -> None:
    result = callbacks(pairs, FAST)
    row = rows_of(result)["p_yes_gap_pp", "cluster_posting_names", None]
    assert row.n == 1200
    assert row.estimate == pytest.approx(100 * pairs.p_gap.mean())
    assert row.std_error < gaps(result)["cluster_posting_names"].std_error


def test_leaving_out_a_name_moves_the_gap_as_dropping_its_pairs_does(pairs, result) -> None:
    low, high = (
        next(r for r in result.rows if r.estimand == f"gap_without_a_name_{end}_pp")
        for end in ("min", "max")
    )
    gap = gaps(result)["cluster_t"].estimate
    assert low.estimate < gap < high.estimate
    for row in (low, high):
        name = int(row.part[1])
        rest = pairs.take((pairs.favored != name) & (pairs.other != name))
        assert row.estimate == pytest.approx(100 * rest.d.sum() / rest.n.sum())


def test_without_names_and_without_a_complete_pair() -> None:
    plain = CallbackPairs.of_answers(favored=[1, 0, 1], other=[0, 0, np.nan], posting=[0, 1, 2])
    result = callbacks(plain, FAST)
    assert "cluster_posting_names" not in gaps(result)
    assert gaps(result)["cluster_t"].n == 2
    assert not [r for r in result.rows if r.method == "by_name"]
    silent = CallbackPairs.of_answers(favored=[np.nan], other=[1], posting=[0])
    found = gaps(callbacks(silent, FAST))
    assert {r.status for r in found.values()} == {"not_computable"}
    assert found["sign_flip_posting"].reason.startswith("no_pairs")
    one = callbacks(CallbackPairs.of_answers(favored=[1], other=[0], posting=[0]), FAST)
    assert gaps(one)["cluster_t"].status == "flagged"
    assert gaps(one)["cluster_t"].std_error is None


def test_nobody_called_leaves_no_ratio() -> None:
    result = callbacks(CallbackPairs.of_answers(favored=[0, 0], other=[0, 0], posting=[0, 1]), FAST)
    ratio = rows_of(result)["callback_ratio", "cluster_posting", None]
    assert (ratio.status, ratio.estimate) == ("not_computable", None)
    assert gaps(result)["mcnemar_exact"].p_value == 1.0


def test_placebo_pairs_show_what_names_do_without_race() -> None:
    real, placebo = audit(5, gap=0.25), audit(6, postings=60)
    rows = {r.estimand + str(r.part or ""): r for r in placebo_rows(real, placebo)}
    gap = rows["discordant_share_gap_pp"]
    shares = [
        (p.table[:, 1, 0] + p.table[:, 0, 1]).sum() / p.n.sum() for p in (real, placebo)
    ]  # fmt: skip
    assert gap.estimate == pytest.approx(100 * (shares[0] - shares[1]))
    assert gap.ci_low > 0  # a gap of 25 points parts more pairs than chance does
    assert placebo_rows(real, placebo.take(np.zeros(0, dtype=int)))[0].status == "not_computable"


def test_a_placebo_of_few_postings_has_their_degrees_of_freedom() -> None:
    real, placebo = audit(5), audit(6, postings=5)
    row = placebo_rows(real, placebo)[-1]
    terms = []
    for p in (real, placebo):  # postings 0 to 4 are in both
        b_c = p.table[:, 1, 0] + p.table[:, 0, 1]
        influence = (b_c - b_c.sum() / p.n.sum() * p.n) / p.n.sum()
        terms.append(np.bincount(p.posting, influence, minlength=real.posting.max() + 1))
    (a, b), large = terms, len(np.unique(real.posting))
    variance = a @ a * large / (large - 1) + b @ b * 5 / 4 - 2 * a @ b
    assert row.std_error == pytest.approx(100 * np.sqrt(variance))
    reach = student.ppf(0.975, 4) * row.std_error
    assert row.ci_high - row.estimate == pytest.approx(reach)


def test_a_placebo_of_one_posting_has_no_error() -> None:
    row = placebo_rows(audit(5), audit(6, postings=1))[-1]
    assert (row.status, row.std_error, row.ci_low, row.p_value) == ("flagged", None, None, None)
    assert row.reason.startswith("one_group")
    # A posting whose pairs are all incomplete is no cluster.
    mute = CallbackPairs.of_answers(
        favored=[np.nan], other=[1], posting=[1], favored_name=[0], other_name=[1],
        stratum=[0], favored_p=[0.5], other_p=[0.5],
    )  # fmt: skip
    one = audit(6, postings=1)
    both = replace(one, stratum=np.zeros(len(one), dtype=np.int64)) + mute
    assert placebo_rows(audit(5), both)[-1].status == "flagged"


def test_rows_stay_where_no_pair_is_complete() -> None:
    silent = {"favored": [np.nan, np.nan], "other": [1, np.nan], "posting": [0, 1]}
    options = CallbackOptions(draws=300, permutations=199, margin=2.0)
    rows = {(r.estimand, r.method): r for r in callbacks(CallbackPairs.of_answers(
        **silent, favored_p=[0.6, 0.4], other_p=[0.5, 0.1]), options).rows}  # fmt: skip
    for key in (("callback_ratio", "cluster_posting"), ("callback_gap_pp", "tost")):
        assert rows[key].status == "not_computable"
        assert rows[key].reason == "no_pairs: no pair has an answer to both sides"
    assert rows["p_yes_gap_pp", "cluster_t"].estimate == pytest.approx(20)
    named = CallbackPairs.of_answers(**silent, favored_name=[0, 1], other_name=[2, 3])
    rows = {(r.estimand, r.method): r for r in callbacks(named, FAST).rows}
    assert rows["callback_ratio", "cluster_posting_names"].n == 0
    assert ("callback_gap_pp", "tost") not in rows


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"favored": [2.0], "other": [0], "posting": [0]}, "array favored: is not 0, 1 or NaN"),
        ({"favored": [1], "other": [0], "posting": [0, 1]}, "array posting: has 2 values for 1"),
        (
            {"favored": [1], "other": [0], "posting": [0], "favored_name": [1]},
            "arrays favored, other: only one is given",
        ),
    ],
)
def test_bad_arrays(arrays: dict, message: str) -> None:
    with pytest.raises(InputError) as error:
        CallbackPairs.of_answers(**arrays)
    assert str(error.value).startswith(message)


def test_unlike_parts_do_not_add(pairs) -> None:
    plain = CallbackPairs.of_answers(favored=[1], other=[0], posting=[0])
    with pytest.raises(InputError, match="is on one side only"):
        _ = pairs + plain


def test_summary_lists_every_row(result) -> None:
    lines = result.summary().splitlines()
    assert len(lines) == 1 + len(result.rows)
    assert lines[0].endswith("of 1,200 pairs complete")
