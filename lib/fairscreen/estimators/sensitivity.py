"""How strong a confounder would have to be: omitted variable bounds on the path-specific effects.

Each effect is E[alpha Y], where alpha, the weight that its score puts on Y, is the Riesz
representer of the functional for the regression g of Y: on X and Z for TE, whose alpha knows no
mediator, else on X, R, B and Z. Somebody who left out U used the short alpha_s and g_s. Then
    |bias| <= B = S sqrt(cf_y cf_d / (1 - cf_d)),    S^2 = E[(Y - g_s)^2] E[alpha_s^2],
with cf_y the share of the residual variance of Y that U explains, and cf_d the share of alpha's
variance that U adds: 1 - E[alpha_s^2] / E[alpha^2]. The bound is reached where what U does to g
and to alpha is perfectly correlated.
Robustness value: the strength cf_y = cf_d at which the bound takes the estimate (or the near end
of its interval) to 0.

Scope: TE under any U that moves X and Y, through mediators too. The other effects under a common
cause of X and Y, or of a mediator and Y; not under one of X and a mediator, which bends the law of
the mediators itself, and which no regression of Y shows.

For data whose confounders nobody controls (`analyze paths`). Applicants of our own generator have
no hidden confounder. The sampling error of S itself is not in the interval.
Source: Chernozhukov, Cinelli, Newey, Sharma & Syrgkanis (2022), Long Story Short: Omitted Variable
Bias in Causal Machine Learning; robustness value after Cinelli & Hazlett (2020).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri

from fairscreen.errors import InputError
from fairscreen.estimators.data import Floats, PathData
from fairscreen.estimators.levels import Mask, Problem
from fairscreen.estimators.nuisance import GIVEN_ALL, GIVEN_Z, Step, out_of_fold
from fairscreen.estimators.path_specific import PathOptions, learners
from fairscreen.estimators.results import EFFECTS, PathResult


@dataclass(frozen=True)
class ConfoundingBound:
    """One effect under a confounder of strength cf_y, cf_d.

    low, high            bounds of the effect, points of the score
    ci_low, ci_high      the same with the estimate's sampling error
    robustness           strength (cf_y = cf_d) that could explain the whole estimate, 0 to 1
    robustness_interval  strength that could take the interval to 0; 0 where it covers 0 already
    scale                S, points
    """

    estimand: str
    low: float
    high: float
    ci_low: float
    ci_high: float
    robustness: float
    robustness_interval: float
    scale: float


def confounding_bounds(
    data: PathData, result: PathResult, options: PathOptions, *, cf_y: float, cf_d: float
) -> dict[str, ConfoundingBound]:
    """Bounds of every effect of `result` that is computable; `data`, `options` as it was made.

    cf_y in [0, 1], cf_d in [0, 1): strengths of the confounder. Raises InputError outside.
    """
    if not (0 <= cf_y <= 1 and 0 <= cf_d < 1):
        raise InputError(
            "confounder", f"strengths {cf_y:g} and {cf_d:g} are no shares of a variance",
            "Give cf_y from 0 to 1 and cf_d from 0 to below 1.",
        )  # fmt: skip
    if result.c is None:
        return {}
    order = data.order()
    ordered = data.take(order)
    residuals = [_residual(ordered, options, plan) for plan in (GIVEN_Z, GIVEN_ALL)]
    weights = result.c[order]
    people = ordered.n * ordered.w
    norms = people @ weights**2 / people.sum()
    reach = float(ndtri((1 + options.level) / 2))
    strength = float(np.sqrt(cf_y * cf_d / (1 - cf_d)))
    found: dict[str, ConfoundingBound] = {}
    for j, name in enumerate(EFFECTS):
        effect = result.effects[name]
        if effect.estimate is None or effect.std_error is None:
            continue
        scale = float(np.sqrt(residuals[name != "TE"] * norms[j]))
        width, error = strength * scale, reach * effect.std_error
        low, high = effect.estimate - width, effect.estimate + width
        near = max(abs(effect.estimate) - error, 0.0)
        found[name] = ConfoundingBound(
            name, low, high, low - error, high + error,
            robustness_value(abs(effect.estimate), scale), robustness_value(near, scale), scale,
        )  # fmt: skip
    return found


def robustness_value(distance: float, scale: float) -> float:
    """The strength r, cf_y = cf_d = r, whose bound S r / sqrt(1 - r) equals `distance`."""
    if distance <= 0:
        return 0.0
    if scale <= 0:
        return 1.0
    k = (distance / scale) ** 2
    # r^2 + k r - k = 0, k the square of the ratio; the form below does not cancel where k is large.
    root = float(np.sqrt(k * k + 4 * k))
    return 2 * k / (k + root)


def _residual(data: PathData, options: PathOptions, plan: tuple[Step, Step]) -> float:
    """E[1(X in {x1, x0}) (Y - g)^2] of regressions g of both groups (x1, x0), averaged over the
    repeats, out of fold.

    People of other groups have weight 0 in every effect: nothing of theirs can be confounded.
    """
    problem = Problem.of(data)
    chosen = learners(problem, options, plan)
    total = 0.0
    repeats = data.fold.shape[1]
    for k in range(repeats):
        g = out_of_fold(problem, chosen, k, plan, known=False)[0]
        for group, step in zip((1, 0), plan, strict=True):
            total += _squares(data, data.x == group, g[step.name])
    people = float((data.n * data.w).sum())
    return float(total / (repeats * people))


def _squares(data: PathData, rows: Mask, g: Floats) -> float:
    """Weighted sum of (Y - g)^2 over the people of the cells `rows`."""
    squares = data.sum_yy - 2 * g * data.sum_y + data.n * g**2
    return float((data.w * np.maximum(squares, 0.0))[rows].sum())
