"""How well P2 fits: rows of table `experience_fit`, from predictions of other families' people.

Residuals of a truncated normal are not normal, so each answer is turned into its quantile: u =
F(years), uniform where the model is right, and z = Phi^-1(u), standard normal there. PSID asks for
whole years: y stands for [y - 1/2, y + 1/2] within [0, age - 18], and u is drawn inside that
interval (randomised quantile residuals; Dunn & Smyth 1996), so heaps at a bound show as too many
people there, not as false precision. The mean is predicted out of fold; sigma is not, but it has
few parameters. Strata are weighted as the training was.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from fairscreen import random
from fairscreen.population import truncated
from fairscreen.population.matching import Moment
from fairscreen.population.sigma import effective_n, within_half_a_year

Array = NDArray[np.float64]
Index = NDArray[np.int64]
Mask = NDArray[np.bool_]

FEW = 30  # effective people; with fewer a stratum's figures are mostly chance
QUANTILES = np.arange(1, 100) / 100
_COVERAGE = (50, 80, 95)  # percent, central intervals


@dataclass(frozen=True)
class Predicted:
    """Answers (n,) and what the model says of them before it has seen their family.

    Only rows with upper > 0. person (n,): the same number = the same person. key (n,): of the row,
    for the draw inside a whole year.
    """

    years: Array
    upper: Array
    mean: Array
    location: Array
    sigma: Array
    weight: Array
    person: Index
    key: Sequence[str]


@dataclass(frozen=True)
class Quantiles:
    """u and z (n,), and the model's chance of an answer at either bound (n,)."""

    u: Array
    z: Array
    at_zero: Array
    at_most: Array


def quantiles(p: Predicted) -> Quantiles:
    """Randomised quantile residuals of each answer; the draws depend on the row's key only."""

    def below(x: Array) -> Array:
        return truncated.cdf(x, p.location, p.sigma, p.upper)

    low, high = (below(end) for end in within_half_a_year(p.years, p.upper))
    u = low + random.uniforms(0, "experience/quantile", p.key) * (high - low)
    u = np.clip(u, 1e-12, 1 - 1e-12)
    half = np.minimum(0.5, p.upper / 2)
    return Quantiles(u, ndtri(u), below(half), 1 - below(p.upper - half))


def stratum_row(kind: str, name: str, p: Predicted, q: Quantiles, rows: Mask) -> dict[str, Any]:
    """One row of the table; where fewer than FEW people are effective, only what they can say."""
    w = p.weight[rows]
    n, size = int(rows.sum()), effective_n(p.weight[rows], p.person[rows]) if rows.any() else 0.0
    row: dict[str, Any] = {
        "kind": kind, "name": name, "n": n, "effective_n": size, "unit": "years",
        "status": "ok", "reason": None,
        "sigma": float(np.average(p.sigma[rows], weights=w)) if n else None,
    }  # fmt: skip
    if size < FEW:
        return row | {"status": "not_computable", "reason": f"effective_n_below_{FEW}"}

    def share(true: Mask | Array) -> float:
        return float(np.average(true.astype(np.float64), weights=w))

    residual, z, u = p.years[rows] - p.mean[rows], q.z[rows], q.u[rows]
    order = np.argsort(z, kind="stable")
    position = (np.cumsum(w[order]) - w[order] / 2) / w.sum()
    step = np.concatenate([[0.0], np.cumsum(w[np.argsort(u, kind="stable")]) / w.sum()])
    sorted_u = np.sort(u)
    row |= {
        "residual_mean": share(residual),
        "residual_sd": _sd(residual, w),
        "z_mean": share(z),
        "z_sd": _sd(z, w),
        "qq_correlation": _correlation(z[order], ndtri(position), w[order]),
        "ks_distance": float(
            max(np.abs(step[1:] - sorted_u).max(), np.abs(step[:-1] - sorted_u).max())
        ),
        "at_zero": share(p.years[rows] < 0.5),
        "at_zero_expected": share(q.at_zero[rows]),
        "at_most": share(p.years[rows] > p.upper[rows] - 0.5),
        "at_most_expected": share(q.at_most[rows]),
    }
    for percent in _COVERAGE:
        row[f"coverage_{percent}"] = share(np.abs(u - 0.5) <= percent / 200)
    return row


def quantile_rows(p: Predicted, q: Quantiles) -> list[dict[str, Any]]:
    """The Q-Q plot: theoretical and observed z at 99 probabilities, everybody."""
    size = effective_n(p.weight, p.person)
    order = np.argsort(q.z, kind="stable")
    position = (np.cumsum(p.weight[order]) - p.weight[order] / 2) / p.weight.sum()
    observed = np.interp(QUANTILES, position, q.z[order])
    return [
        {
            "kind": "quantile", "name": f"p={prob:.2f}", "n": len(q.z), "effective_n": size,
            "theoretical": float(ndtri(prob)), "observed": float(z), "unit": "z",
            "status": "ok", "reason": None,
        }
        for prob, z in zip(QUANTILES, observed, strict=True)
    ]  # fmt: skip


def moment_rows(moments: Sequence[Moment], n: int, size: float) -> list[dict[str, Any]]:
    """One row per moment; n rows of PSID, `size` of them effective after weighting."""
    return [
        {
            "kind": "moment", "name": m.name, "n": n, "effective_n": size, "unit": m.unit,
            "psid": m.psid, "psid_matched": m.matched, "survey": m.survey,
            "difference": m.matched - m.survey, "tolerance": m.tolerance,
            "status": "within" if m.within else "outside",
            "reason": None if m.within else "beyond_tolerance",
        }
        for m in moments
    ]  # fmt: skip


def _sd(values: Array, weight: Array) -> float:
    center = values - np.average(values, weights=weight)
    return float(np.sqrt(np.average(center**2, weights=weight)))


def _correlation(a: Array, b: Array, weight: Array) -> float | None:
    a, b = a - np.average(a, weights=weight), b - np.average(b, weights=weight)
    both = np.sqrt(np.average(a**2, weights=weight) * np.average(b**2, weights=weight))
    return float(np.average(a * b, weights=weight) / both) if both > 0 else None


def expected_band(z: float, n: float) -> float:
    """95% half width of the Q-Q plot at theoretical z, for n effective people.

    From the error of an order statistic: sqrt(p (1 - p) / n) / phi(z).
    """
    p = float(ndtr(z))
    density = np.exp(-(z**2) / 2) / np.sqrt(2 * np.pi)
    return float(1.96 * np.sqrt(p * (1 - p) / n) / density)
