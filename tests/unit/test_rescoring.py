"""Rescoring against known truth, by hand, and beside the observational estimator."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import ndtr
from scipy.stats import kstest, ttest_1samp

from fairscreen.errors import InputError
from fairscreen.estimators.data import PathData
from fairscreen.estimators.path_specific import PathOptions, path_effects
from fairscreen.estimators.rescoring import (
    BY_CONSTRUCTION,
    Rescored,
    agreement,
    moments,
    placebo,
    rescored_effects,
)
from fairscreen.estimators.results import EFFECTS

# The all-binary model of the notes (estimators.md), exact to seven digits.
BINARY = {"TE": 0.2397091, "NDE": 0.2722644, "NIE": -0.0325553, "BIE": -0.1330982, "RIE": 0.1005429}


def cells(y: np.ndarray, **more: object) -> Rescored:
    ones = {"n": np.ones(len(y), dtype=np.int64), "w": np.ones(len(y))}
    return Rescored(y, **(ones | more))


def linear(n: int, seed: int) -> tuple[np.ndarray, PathData]:
    """X -> R 0.5, X -> B 0.6, R -> B 0.5, Y = 50 + 1.5R + 3B + own taste: BIE 1.8, RIE 1.5. Four
    versions with common random numbers, and one of them (by a coin) as the observational sample."""
    rng = np.random.default_rng(seed)
    e_r, e_b, taste = rng.normal(size=(3, n))

    def score(x_r: object, x_b: object) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        r = 0.5 * x_r + e_r
        b = 0.6 * x_b + 0.5 * r + e_b
        return 50 + 1.5 * r + 3 * b + taste, r, b

    y = np.stack([score(a, c)[0] for a, c in ((1, 1), (0, 0), (1, 0), (0, 1))], axis=1)
    x = rng.integers(0, 2, n)
    seen, r, b = score(x, x)

    def quintile(v: np.ndarray) -> np.ndarray:
        return np.searchsorted(np.quantile(v, [0.2, 0.4, 0.6, 0.8]), v, side="right")

    data = PathData.from_rows(
        x=x, z=np.zeros(n, dtype=int), r=quintile(r), b=quintile(b), r_values=r, b_values=b, y=seen,
        fold=rng.integers(0, 5, size=(n, 1)), cells=False,
    )  # fmt: skip
    return y, data


def test_binary_truth_with_a_photo() -> None:
    """Five versions drawn from the model itself: every effect within four errors of the truth."""
    rng = np.random.default_rng(11)
    n = 400_000
    z = (rng.random(n) < ndtr(-0.2)).astype(int)
    u_w, u_v, u_y = rng.random((3, n))

    def asked(x_y: int, x_w: int, x_v: int) -> np.ndarray:
        w = (u_w < ndtr(x_w - z - 0.8)).astype(int)
        v = (u_v < ndtr(x_v - z + w - 0.8)).astype(int)
        return (u_y < ndtr(x_y - z + 2 * (w - v) - 0.5)).astype(float)

    versions = ((1, 1, 1), (0, 0, 0), (1, 1, 0), (1, 0, 1), (1, 0, 0))
    found = rescored_effects(cells(np.stack([asked(*v) for v in versions], axis=1)))
    for name in EFFECTS:
        effect = found[name]
        assert effect.status == "ok"
        assert abs(effect.estimate - BINARY[name]) < 4 * effect.std_error, name


def test_effects_are_paired_t_tests_of_psi() -> None:
    y, _ = linear(300, 1)
    found = rescored_effects(cells(y))
    by_hand = {
        "TE": y[:, 0] - y[:, 1],
        "NIE": y[:, 0] - y[:, 1],
        "BIE": (y[:, 0] - y[:, 2] + y[:, 3] - y[:, 1]) / 2,
        "RIE": (y[:, 0] - y[:, 3] + y[:, 2] - y[:, 1]) / 2,
    }
    for name, psi in by_hand.items():
        other = ttest_1samp(psi, 0.0)
        low, high = other.confidence_interval(0.95)
        effect = found[name]
        assert effect.estimate == pytest.approx(psi.mean(), rel=1e-12)
        assert effect.p_value == pytest.approx(other.pvalue, rel=1e-9)
        assert (effect.ci_low, effect.ci_high) == pytest.approx((low, high), rel=1e-12)
    nde = found["NDE"]
    assert (nde.estimate, nde.std_error, nde.p_value, nde.reason) == (
        0.0, None, None, BY_CONSTRUCTION,
    )  # fmt: skip
    # Common random numbers: a linear scorer gives the truth itself.
    assert found["BIE"].estimate == pytest.approx(1.8)
    assert found["RIE"].estimate == pytest.approx(1.5)


def test_cells_equal_rows_and_cells_add() -> None:
    y = np.random.default_rng(2).integers(0, 4, size=(500, 4)).astype(float)
    rows = rescored_effects(cells(y))
    distinct, n = np.unique(y, axis=0, return_counts=True)
    grouped = Rescored(distinct, n, np.ones(len(n)))
    added = Rescored(distinct[:20], n[:20], np.ones(20)) + Rescored(
        distinct[20:], n[20:], np.ones(len(n) - 20)
    )
    for name in ("TE", "BIE", "RIE"):
        for other in (rescored_effects(grouped)[name], rescored_effects(added)[name]):
            assert other.estimate == pytest.approx(rows[name].estimate, rel=1e-12, abs=1e-14)
            assert other.std_error == pytest.approx(rows[name].std_error, rel=1e-12)
            assert other.p_sign_flip == rows[name].p_sign_flip


def test_weights_and_clusters() -> None:
    y, _ = linear(200, 3)
    rng = np.random.default_rng(4)
    w = rng.integers(1, 4, 200).astype(float)
    people = np.arange(200) // 4
    psi = y[:, 0] - y[:, 1] + rng.normal(size=50)[people]
    y = np.stack([psi, np.zeros(200), psi, np.zeros(200)], axis=1)
    found = rescored_effects(cells(y, w=w, cluster=people))["TE"]
    mean = np.average(psi, weights=w)
    sums = np.bincount(people, weights=w * (psi - mean))
    error = np.sqrt(50 / 49 * (sums**2).sum()) / w.sum()
    assert found.estimate == pytest.approx(mean)
    assert found.std_error == pytest.approx(error)
    # Weight 0 is nobody of the population.
    none = rescored_effects(cells(y, w=np.zeros(200)))["TE"]
    assert (none.status, none.reason) == ("not_computable", "no_weight")


def test_intervals_cover_and_sign_flips_keep_their_size() -> None:
    """A noisy scorer that looks at nothing: 1,000 audits of 40 applicants."""
    rng = np.random.default_rng(5)
    covered, exact, p_values = [], [], []
    for _ in range(1000):
        y = np.round(rng.normal(50, 5, size=(40, 4)))
        effect = rescored_effects(cells(y, unit=1.0))["RIE"]
        covered.append(effect.ci_low <= 0 <= effect.ci_high)
        exact.append(effect.sign_flip_method == "exact")
        p_values.append(effect.p_sign_flip)
    error = np.sqrt(0.05 * 0.95 / 1000)
    assert abs(np.mean(covered) - 0.95) < 4 * error
    assert all(exact)
    assert np.mean(np.array(p_values) <= 0.05) < 0.05 + 3 * error
    assert kstest(p_values, "uniform").pvalue > 1e-4


def test_agreement_holds_where_both_estimate_the_same() -> None:
    """The observational estimator on ungrouped mediators, the rescoring of the same people: the
    Wald test keeps its size; a biased observational estimate is told."""
    p_values, shifted = [], []
    for seed in range(60):
        y, data = linear(800, 100 + seed)
        result = path_effects(data, PathOptions(learner="saturated", bootstrap_draws=0))
        keep = [EFFECTS.index(e) for e in ("NDE", "BIE", "RIE")]
        phi = (result.influence + result.c * data.sum_y[:, None])[:, keep]
        psi = cells(y).psi[:, keep]
        n, w = np.ones(len(y), dtype=np.int64), np.ones(len(y))
        p_values.append(agreement(phi=phi, psi=psi, n=n, w=w).p_value)
        away = phi + np.array([0.0, 0.0, 1.0])
        shifted.append(agreement(phi=away, psi=psi, n=n, w=w).p_value)
    assert np.mean(np.array(p_values) <= 0.05) <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 60)
    assert np.mean(np.array(shifted) <= 0.05) > 0.9


def test_agreement_says_what_differs() -> None:
    y, _ = linear(50, 9)
    psi = cells(y).psi[:, [1, 3, 4]]
    same = agreement(phi=psi, psi=psi, n=np.ones(50, dtype=np.int64), w=np.ones(50))
    assert (same.statistic, same.p_value, same.reason) == (
        None, None, "the differences do not vary",
    )  # fmt: skip
    with pytest.raises(InputError, match="array phi"):
        agreement(phi=psi[:, :2], psi=psi, n=np.ones(50, dtype=np.int64), w=np.ones(50))


def test_placebo_is_a_paired_test_with_the_share_that_differs() -> None:
    first = np.array([50.0, 60.0, 70.0, 80.0, 90.0])
    second = np.array([50.0, 62.0, 69.0, 80.0, 91.0])
    got = placebo(first, second, np.ones(5, dtype=np.int64), unit=1.0)
    other = ttest_1samp(second - first, 0.0)
    assert (got.n, got.share_differ, got.mean_absolute) == (5, 0.6, 0.8)
    assert got.gap == pytest.approx(0.4)
    assert got.p_value == pytest.approx(other.pvalue)
    assert got.sd == pytest.approx(np.std(second - first, ddof=1))
    # +2 -1 +1: sums of flips 4 2 2 0 0 -2 -2 -4; two or more away from 0 in six of eight.
    assert got.p_sign_flip == pytest.approx(0.75)
    nobody = placebo(first[:0], second[:0], np.zeros(0, dtype=np.int64))
    assert nobody.gap is None
    assert "no_pair" in nobody.reason
    one = placebo(first[:1], second[:1], np.ones(1, dtype=np.int64))
    assert (one.gap, one.std_error, one.n) == (0.0, None, 1)


def test_nobody_and_one_applicant_are_not_computable() -> None:
    empty = rescored_effects(Rescored(np.zeros((0, 4)), np.zeros(0, dtype=np.int64), np.zeros(0)))
    assert {e.reason for e in empty.values()} == {"no_complete_applicant"}
    one = rescored_effects(cells(np.array([[3.0, 1.0, 2.0, 2.0]])))
    assert one["TE"].status == "not_computable"
    assert one["NDE"].estimate == 0.0


@pytest.mark.parametrize(
    ("change", "where"),
    [
        ({"y": np.zeros((2, 3))}, "array y"),
        ({"y": np.array([[np.nan] * 4] * 2)}, "array y"),
        ({"n": np.array([0, 1])}, "array n"),
        ({"w": np.array([-1.0, 1.0])}, "array w"),
        ({"cluster": np.array([1])}, "array cluster"),
    ],
)
def test_bad_input_is_named(change: dict, where: str) -> None:
    good = {"y": np.zeros((2, 4)), "n": np.ones(2, dtype=np.int64), "w": np.ones(2)}
    with pytest.raises(InputError, match=where):
        Rescored(**(good | change))


def test_moments_are_the_weighted_ones() -> None:
    values = np.random.default_rng(1).normal(size=(30, 2))
    mean, covariance, units = moments(values, np.ones(30, dtype=np.int64), np.ones(30), None)
    assert units == 30
    assert mean == pytest.approx(values.mean(axis=0))
    assert covariance == pytest.approx(np.cov(values.T) / 30)
