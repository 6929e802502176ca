"""Corrections against statsmodels, and max-t against cases whose answer is known."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import norm
from statsmodels.stats.multitest import multipletests

from fairscreen.estimators.multiplicity import adjust, benjamini_hochberg, holm, max_t


@pytest.mark.parametrize("m", [1, 2, 7, 60])
def test_holm_and_benjamini_hochberg_equal_statsmodels(m: int) -> None:
    p = np.random.default_rng(m).random(m) ** 3
    p[: m // 3] = p[0]  # ties
    np.testing.assert_allclose(holm(p), multipletests(p, method="holm")[1], rtol=1e-12)
    np.testing.assert_allclose(
        benjamini_hochberg(p), multipletests(p, method="fdr_bh")[1], rtol=1e-12
    )


def test_holm_by_hand() -> None:
    # 3 x 0.01; 2 x 0.03; max(0.06, 0.04)
    np.testing.assert_allclose(holm(np.array([0.04, 0.01, 0.03])), [0.06, 0.03, 0.06])


def test_max_t_of_independent_tests_is_step_down_sidak() -> None:
    t = np.array([3.1, -2.2, 1.4, 0.3])
    p = 2 * norm.sf(np.abs(t))
    expected = np.maximum.accumulate(1 - (1 - p) ** np.array([4, 3, 2, 1]))
    got = max_t(t, np.eye(4), draws=200_000, seed=1)
    np.testing.assert_allclose(got, expected, atol=4 * 0.5 / np.sqrt(200_000))


def test_max_t_of_one_test_in_many_copies_costs_nothing() -> None:
    t = np.array([2.0, 2.0, -2.0])
    signs = np.sign(t)
    got = max_t(t, np.outer(signs, signs), draws=100_000, seed=2)
    assert got == pytest.approx(2 * norm.sf(2.0), abs=0.003)


def test_max_t_takes_correlations_of_lower_rank() -> None:
    half = np.sqrt(0.5)
    correlation = np.array([[1, 0, half], [0, 1, half], [half, half, 1]])  # third = sum of both
    got = max_t(np.array([2.5, 1.0, 2.4]), correlation, draws=20_000, seed=3)
    assert np.isfinite(got).all()
    by_holm = holm(2 * norm.sf(np.array([2.5, 1.0, 2.4])))
    assert (got <= by_holm + 0.01).all()


def test_max_t_is_monotone_reproducible_and_never_zero() -> None:
    t = np.array([9.0, 0.1, 4.0, 2.0])
    got = max_t(t, np.eye(4), draws=1_000, seed=4)
    np.testing.assert_array_equal(got, max_t(t, np.eye(4), draws=1_000, seed=4))
    assert got[0] == 1 / 1_001
    assert got[0] <= got[2] <= got[3] <= got[1] <= 1


def test_max_t_keeps_the_familywise_level() -> None:
    """All null, equicorrelated at 0.5: some p below 5% in about 5% of families."""
    rng = np.random.default_rng(5)
    correlation = np.full((5, 5), 0.5) + 0.5 * np.eye(5)
    families = rng.multivariate_normal(np.zeros(5), correlation, size=400)
    wrong = [max_t(t, correlation, draws=999, seed=6).min() <= 0.05 for t in families]
    assert np.mean(wrong) == pytest.approx(0.05, abs=4 * np.sqrt(0.05 * 0.95 / 400))


def test_members_that_are_not_computable_never_enter() -> None:
    whole = adjust([0.01, 0.04], [2.6, 2.1], np.eye(2), draws=500, seed=7)
    holed = adjust(
        [0.01, None, 0.04, float("nan")], [2.6, None, 2.1, None], np.eye(4), draws=500, seed=7
    )
    assert (holed.tested, holed.left_out) == (2, 2)
    assert holed.members[1] is None
    assert holed.members[3] is None
    assert [holed.members[0], holed.members[2]] == list(whole.members)


def test_an_empty_family_is_empty() -> None:
    family = adjust([None, None])
    assert (family.members, family.tested, family.left_out) == ((None, None), 0, 2)


def test_without_statistics_there_is_no_max_t() -> None:
    (member,) = adjust([0.02]).members
    assert member is not None
    assert (member.holm, member.bh, member.maxt) == (0.02, 0.02, None)
