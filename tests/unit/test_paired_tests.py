"""McNemar, Wald, Newcombe and the bootstrap beside other software, enumeration and plain loops."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import binom, binomtest
from statsmodels.stats.contingency_tables import mcnemar as of_statsmodels
from statsmodels.stats.proportion import proportion_confint

from fairscreen.errors import InputError
from fairscreen.estimators.paired_tests import (
    bootstrap_interval,
    cluster_bootstrap,
    mcnemar,
    newcombe,
    wald,
    wilson,
)

COUNTS = [(10, 3), (3, 10), (953, 443), (1, 0), (25, 24), (0, 7)]


@pytest.mark.parametrize(("b", "c"), COUNTS)
def test_mcnemar_is_that_of_statsmodels_and_scipy(b: int, c: int) -> None:
    found = mcnemar(b, c)
    table = [[5, b], [c, 9]]
    corrected = of_statsmodels(table, exact=False, correction=True).pvalue
    assert found["mcnemar_cc"] == pytest.approx(corrected, rel=1e-9)
    assert found["mcnemar_exact"] == pytest.approx(binomtest(b, b + c).pvalue, rel=1e-9)
    point = binom.pmf(b, b + c, 0.5)
    assert found["mcnemar_midp"] == pytest.approx(found["mcnemar_exact"] - point, rel=1e-9)


def test_mcnemar_where_nothing_leans() -> None:
    assert mcnemar(0, 0) == {"mcnemar_cc": 1.0, "mcnemar_exact": 1.0, "mcnemar_midp": 1.0}
    even = mcnemar(4, 4)
    assert even["mcnemar_cc"] == even["mcnemar_exact"] == 1.0
    assert even["mcnemar_midp"] == pytest.approx(1 - math.comb(8, 4) / 2**9)


@pytest.mark.parametrize(("k", "n", "level"), [(0, 20, 0.95), (7, 20, 0.9), (20, 20, 0.95)])
def test_wilson_is_that_of_statsmodels(k: int, n: int, level: float) -> None:
    want = proportion_confint(k, n, 1 - level, method="wilson")
    assert wilson(k, n, level=level) == pytest.approx(want, abs=1e-12)


def test_wald_is_the_mean_of_differences() -> None:
    d = np.array([1] * 9 + [-1] * 4 + [0] * 30, dtype=float)
    found = wald(9, 4, 43)
    assert found.value == pytest.approx(d.mean())
    assert found.std_error == pytest.approx(d.std() / math.sqrt(43))
    assert wald(0, 0, 5).p_value == 1.0
    assert wald(5, 0, 5).p_value == 0.0


def test_newcombe_of_a_published_table() -> None:
    # Bentur et al. (2009), an example of Fagerland, Lydersen & Laake (2017), chapter 8.
    found = newcombe(1, 1, 7, 12)
    assert (found.value, found.low, found.high) == pytest.approx(
        (-0.2857, -0.5069, -0.0256), abs=5e-4
    )


def test_newcombe_by_the_formula_written_out() -> None:
    a, b, c, d = 40, 12, 5, 43
    n = a + b + c + d
    p1, p2 = (a + b) / n, (a + c) / n
    l1, u1 = proportion_confint(a + b, n, method="wilson")
    l2, u2 = proportion_confint(a + c, n, method="wilson")
    phi = (a * d - b * c - n / 2) / math.sqrt((a + b) * (c + d) * (a + c) * (b + d))
    low = p1 - p2 - math.sqrt((p1 - l1) ** 2 - 2 * phi * (p1 - l1) * (u2 - p2) + (u2 - p2) ** 2)
    high = p1 - p2 + math.sqrt((u1 - p1) ** 2 - 2 * phi * (u1 - p1) * (p2 - l2) + (p2 - l2) ** 2)
    found = newcombe(a, b, c, d)
    assert (found.low, found.high) == pytest.approx((low, high))
    mirrored = newcombe(a, c, b, d)
    assert (mirrored.low, mirrored.high) == pytest.approx((-found.high, -found.low))
    assert newcombe(0, 0, 0, 10).low < 0 < newcombe(0, 0, 0, 10).high


def sums(seed: int = 3, postings: int = 80) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    n = rng.integers(2, 5, postings)
    return rng.binomial(n, 0.2) - rng.binomial(n, 0.15), n


def test_bootstrap_has_the_law_of_postings_drawn_one_by_one() -> None:
    d, n = sums()
    draws = 20_000
    got = np.sort(cluster_bootstrap(d, n, draws=draws, seed=1)[:, 0])
    at = np.random.default_rng(9).integers(0, len(d), (draws, len(d)))
    want = np.sort(d[at].sum(axis=1) / n[at].sum(axis=1))
    # Two empirical laws of 20,000 draws: five standard errors of a quantile apart at most.
    spread = want.std()
    for q in (0.025, 0.25, 0.5, 0.75, 0.975):
        assert np.quantile(got, q) == pytest.approx(np.quantile(want, q), abs=0.06 * spread)
    assert got.std() == pytest.approx(spread, rel=0.03)


def test_bootstrap_of_models_shares_the_postings_drawn() -> None:
    d, n = sums()
    both = cluster_bootstrap(np.stack([d, -d], axis=1), np.stack([n, n], axis=1), draws=50)
    assert both[:, 0] == pytest.approx(-both[:, 1])
    order = np.random.default_rng(0).permutation(len(d))
    again = cluster_bootstrap(d[order], n[order], draws=50, seed=4)
    assert (again == cluster_bootstrap(d, n, draws=50, seed=4)).all()


def test_bootstrap_interval_and_its_refusals() -> None:
    d, n = sums(5, 500)
    found = bootstrap_interval(d, n, draws=4_000)
    residual = d - found.value * n
    error = math.sqrt(500 / 499 * (residual**2).sum()) / n.sum()
    assert found.std_error == pytest.approx(error, rel=0.05)
    assert (found.high - found.low) / 2 == pytest.approx(1.96 * error, rel=0.08)
    with pytest.raises(InputError, match="differ in shape or are empty"):
        cluster_bootstrap(d, n[1:])
    with pytest.raises(InputError, match="0 is too few"):
        cluster_bootstrap(d, n, draws=0)
