"""Gaps of many models: a trend over release dates, contrasts within families, race beside gender.

The models read the same postings and names, so their gaps err together: V is the full sampling
covariance (`gap_covariance`), and models differ beyond it by tau^2. A trend that leaves tau^2 out
takes sampling for all there is: Gao's 14 race gaps then fall by 0.55 points a year, p below 1e-31;
with it by 0.46, p 0.18, and without the oldest model they rise by 0.12.
The factor of Knapp & Hartung is raised to 1 where it is below (Rover, Knapp & Friede 2015), so that
no interval is narrower than the errors given. The price is known: without spread between models a
95% interval of 14 of them covers 97% or more, since t with 12 degrees of freedom alone gives 97.07%
to a normal slope of known error. `Plain` leaves the factor as it is.
Sources: Knapp & Hartung (2003) and Rover, Knapp & Friede (2015);
Viechtbauer (2005) for REML; Higgins & Thompson (2002) for I^2, in the multivariate form of
Jackson, White & Riley (2012).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import cho_factor, cho_solve
from scipy.optimize import minimize_scalar
from scipy.special import ndtr, ndtri, stdtr, stdtrit

from fairscreen.errors import InputError
from fairscreen.estimators.clustered import multiway_covariance

Array = NDArray[np.float64]
Ints = NDArray[np.int64]
_REMEDY = "Give one number per model."


@dataclass(frozen=True)
class Plain:
    """Error, interval and p-value of the same slope with Knapp & Hartung's factor as it is, be it
    below 1. p is 0 where the error is 0, and 1 where the slope is 0 too."""

    std_error: float
    low: float
    high: float
    p_value: float


@dataclass(frozen=True)
class Trend:
    """A meta-regression on one covariate (years): gaps at `centre` and their change per year.

    slope, std_error, low, high, p_value: with t(M - 2) and the factor at least 1, as the error of
    level_at_centre is; plain: of the slope with the factor as it is
    tau: standard deviation between models beyond sampling, in the units of the gaps
    i2: share of the residual variance that it makes, 0 to 1
    factor: Knapp & Hartung's, before it is raised to 1
    without: slope, p-value with each model left out in turn; None where fewer than 4 are left
    shared: covariance of level_at_centre and slope
    """

    slope: float
    std_error: float
    low: float
    high: float
    p_value: float
    level_at_centre: float
    level_error: float
    centre: float
    tau: float
    i2: float
    factor: float
    models: int
    plain: Plain
    without: tuple[tuple[float, float], ...] | None = None
    shared: float = 0.0

    def at(self, year: float) -> tuple[float, float]:
        """The fitted line at a date, and its standard error."""
        away = year - self.centre
        variance = self.level_error**2 + 2 * away * self.shared + (away * self.std_error) ** 2
        return self.level_at_centre + away * self.slope, math.sqrt(max(0.0, variance))


@dataclass(frozen=True)
class Contrast:
    """Gap of model `later` minus that of `earlier` (positions), by the normal law."""

    earlier: int
    later: int
    value: float
    std_error: float
    low: float
    high: float
    p_value: float


def gap_covariance(
    d: ArrayLike, n: ArrayLike, ways: Sequence[Ints]
) -> tuple[Array, Array]:  # fmt: skip
    """Gaps (M,) and their sampling covariance (M, M), shares squared, from cells of one posting
    and pair of names that all models share.

    d, n (C, M): favored minus other, and complete pairs, by cell and model; ways: codes (C,) of
    posting, and of both names where they are a sample too. Columns may be of two contrasts (race
    and gender gaps of each model): a cell has n = 0 where it is of the other one.
    Raises InputError where a model has no pair or a way has one group.
    """
    top, below = np.asarray(d, dtype=np.float64), np.asarray(n, dtype=np.float64)
    if top.ndim != 2 or top.shape != below.shape:
        raise InputError("arrays d, n", "are not both (C, M)", "Give cells by models.")
    total = below.sum(axis=0)
    if not (total > 0).all():
        at = int(np.flatnonzero(total <= 0)[0])
        raise InputError(f"array n, model {at}", "has no complete pair", "Leave the model out.")
    if any(len(np.unique(way)) < 2 for way in ways):
        raise InputError("ways", "have a single group", "There is no error to estimate.")
    gap = top.sum(axis=0) / total
    return gap, multiway_covariance((top - gap * below) / total, ways)


def trend(
    *, gap: ArrayLike, covariance: ArrayLike, years: ArrayLike, level: float = 0.95,
    leave_one_out: bool = True,
) -> Trend | str:  # fmt: skip
    """REML meta-regression of gaps (M,) on years (M,); a reason where it is not computable.

    covariance (M, M), or (M,) variances; positive semidefinite. Not computable: "few_models" (under
    4), "one_date". Raises InputError for shapes that do not fit and numbers that are not finite.
    """
    y, v, t = _checked(gap, covariance, years)
    m = len(y)
    if m < 4:
        return "few_models: a trend with an error needs four models"
    if np.ptp(t) == 0:
        return "one_date: all models have one date"
    centre = float(t.mean())
    x = np.column_stack([np.ones(m), t - centre])
    tau2 = _reml(y, v, x)
    beta, bread, annihilator = _solve(y, v + tau2 * np.eye(m), x)
    df = m - 2
    left = y - x @ beta  # P y is P left; from left, points on a line leave nothing but rounding
    factor = float(left @ annihilator @ left) / df
    cov = max(1.0, factor) * bread
    slope, error = float(beta[1]), math.sqrt(float(cov[1, 1]))
    reach = float(stdtrit(df, (1 + level) / 2)) * error
    plain = _plain(slope, math.sqrt(max(0.0, factor) * float(bread[1, 1])), df, level)
    # The typical sampling variance around the fitted line, for the share beyond it.
    typical = df / float(np.trace(_solve(y, v + 1e-12 * np.trace(v) / m * np.eye(m), x)[2]))
    without = None
    if leave_one_out and m > 4:
        parts = []
        for k in range(m):
            at = np.delete(np.arange(m), k)
            parts.append(
                trend(gap=y[at], covariance=v[np.ix_(at, at)], years=t[at], level=level,
                      leave_one_out=False)
            )  # fmt: skip
        slopes = tuple((p.slope, p.p_value) for p in parts if isinstance(p, Trend))
        without = slopes if len(slopes) == m else None
    return Trend(
        slope, error, slope - reach, slope + reach, 2 * float(stdtr(df, -abs(slope) / error)),
        float(beta[0]), math.sqrt(float(cov[0, 0])), centre, math.sqrt(tau2),
        tau2 / (tau2 + typical), factor, m, plain, without, float(cov[0, 1]),
    )  # fmt: skip


def _plain(slope: float, error: float, df: int, level: float) -> Plain:
    reach = float(stdtrit(df, (1 + level) / 2)) * error
    p = 0.0 if slope else 1.0
    if error > 0:
        p = 2 * float(stdtr(df, -abs(slope) / error))
    return Plain(error, slope - reach, slope + reach, p)


def sampling_only(
    *, gap: ArrayLike, covariance: ArrayLike, years: ArrayLike
) -> tuple[float, float, float]:
    """Slope per year, its error and normal p where models differ by sampling alone: what a plain
    weighted regression says, kept for comparison."""
    y, v, t = _checked(gap, covariance, years)
    x = np.column_stack([np.ones(len(y)), t - t.mean()])
    beta, bread, _ = _solve(y, v, x)
    error = math.sqrt(float(bread[1, 1]))
    return float(beta[1]), error, 2 * float(ndtr(-abs(float(beta[1])) / error))


def _checked(gap: ArrayLike, covariance: ArrayLike, years: ArrayLike) -> tuple[Array, Array, Array]:
    y, v, t = (np.asarray(a, dtype=np.float64) for a in (gap, covariance, years))
    v = np.diag(v) if v.ndim == 1 else v
    m = len(y)
    for name, array, shape in (("gap", y, (m,)), ("covariance", v, (m, m)), ("years", t, (m,))):
        if array.shape != shape or not np.isfinite(array).all():
            raise InputError(f"array {name}", f"has shape {array.shape} or is not finite", _REMEDY)
    if not (np.diag(v) > 0).all():
        raise InputError("array covariance", "has a variance that is not above 0", _REMEDY)
    return y, v, t


def _solve(y: Array, sigma: Array, x: Array) -> tuple[Array, Array, Array]:
    """Generalised least squares: coefficients, their covariance, and P with P x = 0."""
    factor = cho_factor(sigma, lower=True)
    inverse = cho_solve(factor, np.eye(len(y)))
    wx = inverse @ x
    bread = np.linalg.inv(x.T @ wx)
    return bread @ (wx.T @ y), bread, inverse - wx @ bread @ wx.T


def _reml(y: Array, v: Array, x: Array) -> float:
    """tau^2 at or above 0 with the highest restricted likelihood. A grid in log tau^2 finds the
    neighbourhood, since there may be two maxima."""
    m, k = x.shape
    scale = float(np.trace(v)) / m
    spread = float(np.var(y - x @ np.linalg.lstsq(x, y, rcond=None)[0])) * m / (m - k)

    def minus(log_tau2: float) -> float:
        return _minus_likelihood(math.exp(log_tau2), y, v, x)

    top = math.log(100 * (spread + scale))
    grid = np.linspace(math.log(1e-8 * scale), top, 30)
    values = np.array([minus(g) for g in grid])
    best = int(values.argmin())
    ends = grid[max(0, best - 1)], grid[min(len(grid) - 1, best + 1)]
    found = minimize_scalar(minus, bounds=ends, method="bounded", options={"xatol": 1e-10})
    # At 0 exactly, where sampling alone is at least as likely (V may be singular there).
    try:
        at_zero = _minus_likelihood(0.0, y, v, x)
    except np.linalg.LinAlgError:
        at_zero = math.inf
    return 0.0 if at_zero <= float(found.fun) else math.exp(float(found.x))


def _minus_likelihood(tau2: float, y: Array, v: Array, x: Array) -> float:
    factor = cho_factor(v + tau2 * np.eye(len(y)), lower=True)
    wx = cho_solve(factor, x)
    information = x.T @ wx
    left = y - x @ np.linalg.solve(information, wx.T @ y)
    logs = 2 * float(np.log(np.diag(factor[0])).sum()) + float(np.linalg.slogdet(information)[1])
    return 0.5 * (logs + float(left @ cho_solve(factor, left)))


def contrasts(
    *, gap: ArrayLike, covariance: ArrayLike, years: ArrayLike, family: Sequence[str | None],
    level: float = 0.95,
) -> list[Contrast]:  # fmt: skip
    """Later minus earlier gap for every pair of models of one family (None: of no family), with
    the error of the difference; pairs of one date in the order given."""
    y, v, t = _checked(gap, covariance, years)
    if len(family) != len(y):
        raise InputError("family", f"has {len(family)} names for {len(y)} models", _REMEDY)
    z, found = float(ndtri((1 + level) / 2)), []
    order = np.argsort(t, kind="stable").tolist()
    for place, one in enumerate(order):
        for two in order[place + 1 :]:
            if family[one] is None or family[one] != family[two]:
                continue
            value = float(y[two] - y[one])
            error = math.sqrt(max(0.0, float(v[one, one] + v[two, two] - 2 * v[one, two])))
            p = 2 * float(ndtr(-abs(value) / error)) if error else float(value == 0)
            found.append(
                Contrast(one, two, value, error, value - z * error, value + z * error, p)
            )  # fmt: skip
    return found
