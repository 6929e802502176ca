"""What lies between models and between firms: tables of the callback study (callbacks_size.py).

Trend: 14 models at the dates of Gao, Jiang & Yan, their sampling errors correlated by 0.3, a slope
of -1 point a year: a reversal, from +2 points for the first model to -0.92 for the last. Bar: 93 to
97%.

Firms: 20, 97 or 500 with 300, 62 or 12 postings of 4 pairs, 8% discordant, gaps of firms normal
around 1 point. Correlation: normal gaps of 14 models, without sampling errors or with
errors of half their variance, correlated by 0.8. Both without a bar.

Samples are estimated in blocks; the block forms are compared with the package on some of them.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm, rankdata
from scipy.stats import t as student

from fairscreen.estimators.firms import firm_component
from fairscreen.estimators.gap_correlation import correlations
from fairscreen.estimators.panel import sampling_only, trend

A = NDArray[np.float64]
PAIRS = 4
Z = norm.ppf(0.975)
ENDS = np.array([-Z, Z])
YEARS = np.array([2023.33, 2024.17, 2024.5, 2024.5, 2024.75, 2024.83, 2025.42, 2025.58, 2025.58,
                  2025.83, 2026.08, 2026.17, 2026.17, 2026.25])  # fmt: skip


def regressed(y: A, v: A, tau2: A) -> tuple[A, A, A, A]:
    """Of gaps y (R, 14) with variances between models tau2 (R,): slope, its variance, squared
    residuals over what is expected of them, and the restricted likelihood's equation."""
    x = np.column_stack([np.ones(14), YEARS - YEARS.mean()])
    sigma = v + tau2[:, None, None] * np.eye(14)
    w = 1 / (np.diag(v) + tau2[:, None])
    wx = w[:, :, None] * x
    sums = np.linalg.solve(x.T @ wx, np.swapaxes(wx, 1, 2))
    rest = np.eye(14) - x @ sums
    left = (rest @ y[:, :, None])[:, :, 0]
    after = w[:, :, None] * (rest @ sigma @ np.swapaxes(rest, 1, 2))
    factor = (w * left**2).sum(axis=1) / np.trace(after, axis1=1, axis2=2)
    more = ((w * left) ** 2).sum(axis=1) - (w * np.diagonal(after, axis1=1, axis2=2)).sum(axis=1)
    variance = np.einsum("ri,rij,rj->r", sums[:, 1], sigma, sums[:, 1])
    return (sums[:, 1] * y).sum(axis=1), variance, factor, more


def most_likely(y: A, v: A) -> A:
    """(R,) variances between models: the last root of the equation, or 0."""
    grid = np.concatenate([[0.0], np.exp(np.linspace(np.log(1e-6), np.log(1e3), 60))])
    above = np.stack([regressed(y, v, np.full(len(y), k))[3] for k in grid]) > 0
    falls = above[:-1] & ~above[1:]
    at = len(grid) - 2 - falls[::-1].argmax(axis=0)
    low, high = grid[at], grid[at + 1]
    for _ in range(50):
        half = (low + high) / 2
        under = regressed(y, v, half)[3] > 0
        low, high = np.where(under, half, low), np.where(under, high, half)
    return np.where(falls.any(axis=0), (low + high) / 2, 0.0)


def trend_table(
    few: int, say: Callable[[str], None], taus: tuple[float, ...] = (0.0, 0.5, 1.0)
) -> None:
    error = np.linspace(0.1, 0.35, 14)
    v = np.outer(error, error) * (0.3 + 0.7 * np.eye(14))
    last = 2 - np.ptp(YEARS)
    say(f"Slope of 14 models, from +2 points to {last:.2f}, {few:,} samples: coverage of 95%")
    say("intervals of Knapp & Hartung, factor at least 1 (the row to read) and as it is (plain),")
    say("and by sampling errors alone; recovered = the interval is below 0; * = outside 93 to 97%.")
    say("The errors are known here. At tau 0 a factor at least 1 then covers 97% or more: no error")
    say("is below that of known variances, with which t(12) covers 97.07% where the normal covers")
    say("95%. With errors from few names it may cover less (estimators/panel.py).\n")
    say(f"{'tau':>6}  {'at least 1':>11}{'plain':>9}{'sampling':>10}  {'recovered':>9}{'plain':>8}"
        f"{'mean slope':>12}")  # fmt: skip
    for tau in taus:
        rng = np.random.default_rng([6, round(10 * tau)])
        y = 2 - (YEARS - YEARS[0]) + rng.multivariate_normal(np.zeros(14), v, few)
        y += rng.normal(0, tau, (few, 14))
        tau2 = most_likely(y, v)
        slope, variance, factor, _ = regressed(y, v, tau2)
        reach = student.ppf(0.975, 12)
        kept, own = (reach * np.sqrt(variance * f) for f in (np.maximum(1, factor), factor))
        plain, at_zero, _, _ = regressed(y, v, np.zeros(few))
        alone = Z * np.sqrt(at_zero)
        for r in range(min(few, 30)):
            found = trend(gap=y[r], covariance=v, years=YEARS, leave_one_out=False)
            by_sampling = sampling_only(gap=y[r], covariance=v, years=YEARS)
            ends = (slope[r] - kept[r], slope[r] + kept[r], slope[r] - own[r], slope[r] + own[r])
            assert np.allclose(
                (found.low, found.high, found.plain.low, found.plain.high), ends, atol=1e-4
            )
            assert np.allclose(by_sampling[:2], (plain[r], alone[r] / Z))
        one, two = ((np.abs(slope + 1) <= half).mean() for half in (kept, own))
        marked = [f"{c:.4f}{' ' if 0.93 <= c <= 0.97 else '*'}" for c in (one, two)]
        say(f"{tau:>6g}  {marked[0]:>11}{marked[1]:>9}{(np.abs(plain + 1) <= alone).mean():>10.3f}"
            f"  {(slope + kept < 0).mean():>9.3f}{(slope + own < 0).mean():>8.3f}"
            f"{slope.mean():>12.3f}")  # fmt: skip


def correlation_table(few: int, say: Callable[[str], None]) -> None:
    say(
        f"\nCorrelation of two gaps across 14 models, {few:,} samples: the 95% intervals of Pearson"
    )
    say("and Spearman cover the correlation as observed, Pearson's the true one (of true); medians")
    say("of Pearson and of the corrected coefficient, and samples in which that has none.\n")
    say(f"{'true':>6}{'observed':>10}{'pearson':>9}{'spearman':>10}{'of true':>9}  {'median':>7}"
        f"{'corrected':>11}{'none':>7}")  # fmt: skip
    for true, own in itertools.product((0.0, 0.6), (0.0, 0.5)):
        rng = np.random.default_rng([9, round(10 * true), round(10 * own)])
        law = np.array([[1 + own, true + 0.8 * own], [true + 0.8 * own, 1 + own]])
        seen = law[0, 1] / law[0, 0]
        gaps = rng.multivariate_normal([0, 0], law, (few, 14))
        one, two = gaps[..., 0], gaps[..., 1]
        v_one, v_two, r, shared = together(one, two)
        ranks = together(rankdata(one, axis=1), rankdata(two, axis=1))[2]
        wide = Z / np.sqrt(11) * np.sqrt(1 + ranks**2 / 2)  # ranks vary more
        v_one, v_two, shared = v_one - own, v_two - own, shared - 0.8 * own
        with np.errstate(invalid="ignore"):
            moments = shared / np.sqrt(np.where((v_one > 0) & (v_two > 0), v_one * v_two, np.nan))
        moments[~(np.abs(moments) <= 1)] = np.nan
        v = np.full(14, own)
        for k in range(min(few, 30)):
            p, s, m = correlations(
                one=one[k], two=two[k], variance_one=v, variance_two=v, covariance=0.8 * v
            )
            assert np.allclose((p.low, p.high), np.tanh(np.arctanh(r[k]) + ENDS / np.sqrt(11)))
            assert np.allclose((s.low, s.high), np.tanh(np.arctanh(ranks[k]) + ENDS / Z * wide[k]))
            assert (m.value is None and np.isnan(moments[k])) or np.isclose(m.value, moments[k])

        def covered(coefficient: A, truth: float, half: A | float) -> float:
            return float((np.abs(np.arctanh(coefficient) - np.arctanh(truth)) <= half).mean())

        plain = Z / math.sqrt(11)
        say(f"{true:>6g}{seen:>10.3f}{covered(r, seen, plain):>9.3f}"
            f"{covered(ranks, 6 / np.pi * np.arcsin(seen / 2), wide):>10.3f}"
            f"{covered(r, true, plain):>9.3f}  {np.median(r):>7.3f}{np.nanmedian(moments):>11.3f}"
            f"{np.isnan(moments).mean():>7.3f}")  # fmt: skip


def together(one: A, two: A) -> tuple[A, A, A, A]:
    """Variances of one and two (R, M), their correlation and covariance, each (R,)."""
    a, b = (x - x.mean(axis=1, keepdims=True) for x in (one, two))
    below = one.shape[1] - 1
    v_one, v_two, both = ((x * y).sum(axis=1) / below for x, y in ((a, a), (b, b), (a, b)))
    return v_one, v_two, both / np.sqrt(v_one * v_two), both


def firm_table(few: int, say: Callable[[str], None]) -> None:
    say(f"\nVariance between firms (points squared), {few:,} samples; coverage of 95% jackknife")
    say("intervals, and samples in which the planted value lies above them.\n")
    say(f"{'firms':>6}{'postings':>10}{'planted':>9}{'mean found':>12}{'coverage':>10}{'above':>8}")
    for (firms, postings), sd in itertools.product(((20, 300), (97, 62), (500, 12)), (0, 1, 2)):
        rng = np.random.default_rng([8, firms, sd])
        found = []
        for start in range(0, few, 200):
            lean = rng.normal(0.01, sd / 100, (min(200, few - start), firms)) / 2
            counts = rng.multinomial(postings, of_posting(lean))
            if not start:
                checked(counts[:3])
            found.append(component(counts))
        value, half = (1e4 * np.concatenate(k) for k in zip(*found, strict=True))
        inside = (np.abs(value - sd**2) <= half).mean()
        say(f"{firms:>6}{postings:>10}{sd**2:>9g}{value.mean():>12.3f}{inside:>10.3f}"
            f"{(value + half < sd**2).mean():>8.3f}")  # fmt: skip


def of_posting(lean: A) -> A:
    """(..., 9) law of the callbacks of favored minus other, -4 to 4, of four pairs of a posting."""
    up, down = np.clip(0.04 + lean, 0, 1), np.clip(0.04 - lean, 0, 1)
    law = np.zeros((*lean.shape, 2 * PAIRS + 1))
    law[..., PAIRS] = 1.0
    for _ in range(PAIRS):
        more, less = np.roll(law, 1, axis=-1), np.roll(law, -1, axis=-1)
        law = law * (1 - up - down)[..., None] + more * up[..., None] + less * down[..., None]
    return law / law.sum(axis=-1, keepdims=True)


def component(counts: A) -> tuple[A, A]:
    """(R,) between-firm variance and half width of its interval; counts (R, F, 9) of postings."""
    value = np.arange(-PAIRS, PAIRS + 1) / PAIRS
    n, firms = counts[0, 0].sum(), counts.shape[1]
    gap = counts @ value / n
    error2 = (counts @ value**2 - n * gap**2) / (n - 1) / n
    off = (gap - gap.mean(axis=1, keepdims=True)) ** 2
    spread, own = off.sum(axis=1, keepdims=True), error2.sum(axis=1, keepdims=True)
    found = (spread - (1 - 1 / firms) * own) / (firms - 1)
    left = firms - 1
    without = (spread - off * firms / left - (1 - 1 / left) * (own - error2)) / (left - 1)
    error = np.sqrt(
        left / firms * ((without - without.mean(axis=1, keepdims=True)) ** 2).sum(axis=1)
    )
    return found[:, 0], student.ppf(0.975, left) * error


def checked(counts: A) -> None:
    """Firms by counts are the package's."""
    value, half = component(counts)
    for k, mine in enumerate(counts):
        d = np.concatenate([np.repeat(np.arange(-PAIRS, PAIRS + 1), c) for c in mine])
        firm = np.repeat(np.arange(len(mine)), mine.sum(axis=1))
        own = firm_component(d=d, n=np.full(len(d), PAIRS), posting=np.arange(len(d)), firm=firm)
        assert np.allclose((own.low, own.high), (value[k] - half[k], value[k] + half[k]))
