"""What lies between models and between firms: tables of the callback study (callbacks_size.py).

Trend: 14 models at the dates of Gao, Jiang & Yan, their sampling errors correlated by 0.3, a slope
of -1 point a year: a reversal, from +2 points for the first model to -0.92 for the last. Bar: 93 to
97%.

Firms: 6,006 postings dealt at random over 20, 97 or 500 firms, 4 pairs each, 8% discordant, gaps of
firms normal around 1 point. Correlation: normal gaps of 14 models, without sampling errors or with
errors of half their variance, correlated by 0.8. Both without a bar.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable

import numpy as np
from scipy.stats import norm

from fairscreen.estimators.firms import firm_component
from fairscreen.estimators.gap_correlation import correlations
from fairscreen.estimators.panel import sampling_only, trend

PAIRS = 4
Z = norm.ppf(0.975)
YEARS = np.array([2023.33, 2024.17, 2024.5, 2024.5, 2024.75, 2024.83, 2025.42, 2025.58, 2025.58,
                  2025.83, 2026.08, 2026.17, 2026.17, 2026.25])  # fmt: skip


def trend_table(
    few: int, say: Callable[[str], None], taus: tuple[float, ...] = (0.0, 0.5, 1.0)
) -> None:
    error = np.linspace(0.1, 0.35, 14)
    v = np.outer(error, error) * (0.3 + 0.7 * np.eye(14))
    last = 2 - np.ptp(YEARS)
    say(f"Slope of 14 models, from +2 points to {last:.2f}, {few:,} samples: coverage of 95%")
    say("intervals of Knapp & Hartung, factor at least 1 (the row to read) and as it is (plain),")
    say("and by sampling errors alone; recovered = the interval is below 0; * = outside 93 to 97%.")
    say("At tau 0 a factor at least 1 covers 97% or more by construction: no error is then below")
    say("that of known variances, with which t(12) covers 97.07% where the normal covers 95%.\n")
    say(f"{'tau':>6}  {'at least 1':>11}{'plain':>9}{'sampling':>10}  {'recovered':>9}{'plain':>8}"
        f"{'mean slope':>12}")  # fmt: skip
    for tau in taus:
        rng = np.random.default_rng([6, round(10 * tau)])
        rows = []
        for _ in range(few):
            y = 2 - (YEARS - YEARS[0]) + rng.multivariate_normal(np.zeros(14), v)
            y = y + rng.normal(0, tau, 14)
            found = trend(gap=y, covariance=v, years=YEARS, leave_one_out=False)
            plain = found.plain
            slope, se, _ = sampling_only(gap=y, covariance=v, years=YEARS)
            rows.append((found.low <= -1 <= found.high, plain.low <= -1 <= plain.high,
                         abs(slope + 1) <= Z * se, found.high < 0, plain.high < 0,
                         found.slope))  # fmt: skip
        kept, own, alone, below, own_below, mean = np.mean(rows, axis=0)
        one, two = (f"{c:.3f}{' ' if 0.93 <= c <= 0.97 else '*'}" for c in (kept, own))
        say(f"{tau:>6g}  {one:>11}{two:>9}{alone:>10.3f}  {below:>9.3f}{own_below:>8.3f}"
            f"{mean:>12.3f}")  # fmt: skip


def firm_table(few: int, say: Callable[[str], None]) -> None:
    say(f"\nVariance between firms (points squared), {few:,} samples; coverage of 95% jackknife")
    say("intervals, and samples in which the planted value lies above them.\n")
    say(f"{'firms':>6}{'planted':>9}{'mean found':>12}{'coverage':>10}{'above':>8}")
    g = 6006
    for firms, sd in itertools.product((20, 97, 500), (0.0, 1.0, 2.0)):
        rng = np.random.default_rng([8, firms, round(sd)])
        rows = []
        for _ in range(few):
            firm = rng.integers(0, firms, g)
            lean = rng.normal(0.01, sd / 100, firms)[firm, None] / 2
            u = rng.random((g, PAIRS))
            d = ((u < 0.04 + lean).astype(int) - (u > 0.96 + lean)).sum(axis=1)
            found = firm_component(d=d, n=np.full(g, PAIRS), posting=np.arange(g), firm=firm)
            low, value, high = (1e4 * v for v in (found.low, found.variance, found.high))
            rows.append((value, low <= sd**2 <= high, sd**2 > high))
        mean, covered, above = np.mean(rows, axis=0)
        say(f"{firms:>6}{sd**2:>9g}{mean:>12.3f}{covered:>10.3f}{above:>8.3f}")


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
        seen, v = law[0, 1] / law[0, 0], np.full(14, own)
        ranks, rows = 6 / np.pi * np.arcsin(seen / 2), []
        for _ in range(few):
            one, two = rng.multivariate_normal([0, 0], law, 14).T
            p, s, m = correlations(
                one=one, two=two, variance_one=v, variance_two=v, covariance=0.8 * v
            )
            rows.append((p.low <= seen <= p.high, s.low <= ranks <= s.high, p.low <= true <= p.high,
                         p.value, math.nan if m.value is None else m.value))  # fmt: skip
        a = np.array(rows, dtype=float)
        say(f"{true:>6g}{seen:>10.3f}{a[:, 0].mean():>9.3f}{a[:, 1].mean():>10.3f}"
            f"{a[:, 2].mean():>9.3f}  {np.median(a[:, 3]):>7.3f}{np.nanmedian(a[:, 4]):>11.3f}"
            f"{np.isnan(a[:, 4]).mean():>7.3f}")  # fmt: skip
