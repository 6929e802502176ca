"""Do models with a larger gap by race have a larger one by gender?

Observed gaps hold sampling errors: they weaken the correlation where they are independent, and
make one where both gaps come from the same answers. The moment correction subtracts the mean
sampling variances and covariance; it can leave the range of a correlation, and then there is none.
Sources: Fisher (1921), Bonett & Wright (2000) for ranks; Spearman (1904) for the correction.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtr, ndtri
from scipy.stats import rankdata

from fairscreen.errors import InputError

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Correlation:
    """One coefficient. low, high, p_value: by Fisher's z, of gaps as observed, sampling errors and
    all, so not of true gaps where errors are large; None for `moments` and where a coefficient of 1
    or fewer than four models leave none; least, most: range with one model left out. value None has
    a reason."""

    method: Literal["pearson", "spearman", "moments"]
    value: float | None
    low: float | None
    high: float | None
    p_value: float | None
    least: float | None
    most: float | None
    models: int
    reason: str | None = None


def correlations(
    *, one: ArrayLike, two: ArrayLike, variance_one: ArrayLike, variance_two: ArrayLike,
    covariance: ArrayLike, level: float = 0.95,
) -> tuple[Correlation, Correlation, Correlation]:  # fmt: skip
    """Pearson, Spearman and moment-corrected correlation of gaps one, two (M,) of M models.

    variance_one, variance_two, covariance (M,): of the sampling errors of each model's two gaps.
    Not computable: "few_models" (under 3), "no_spread", "variance_below_0" and "outside_range" of
    the correction. Raises InputError where shapes differ or numbers are not finite.
    """
    arrays = [
        np.asarray(a, dtype=np.float64)
        for a in (one, two, variance_one, variance_two, covariance)
    ]  # fmt: skip
    if any(a.shape != arrays[0].shape or not np.isfinite(a).all() for a in arrays):
        raise InputError("gaps and variances", "differ in shape or are not finite",
                         "Give one number of each per model.")  # fmt: skip
    data = np.stack(arrays)
    pearson, spearman = (_plain(m, data, level) for m in ("pearson", "spearman"))
    value = _moments(data)
    least, most = _range("moments", data)
    if isinstance(value, str):
        corrected = Correlation(
            "moments", None, None, None, None, least, most, data.shape[1], value
        )
    else:
        corrected = Correlation("moments", value, None, None, None, least, most, data.shape[1])
    return pearson, spearman, corrected


def _plain(method: Literal["pearson", "spearman"], data: Array, level: float) -> Correlation:
    models, value = data.shape[1], _value(method, data)
    if isinstance(value, str):
        return Correlation(method, None, None, None, None, None, None, models, value)
    least, most = _range(method, data)
    if models < 4 or abs(value) >= 1 - 1e-12:
        return Correlation(method, value, None, None, None, least, most, models)
    # The z of ranks varies more: (1 + r^2 / 2) / (M - 3).
    spread = (1 + value**2 / 2) if method == "spearman" else 1.0
    centre, error = math.atanh(value), math.sqrt(spread / (models - 3))
    reach = float(ndtri((1 + level) / 2)) * error
    p = 2 * float(ndtr(-abs(centre) * math.sqrt(models - 3)))
    return Correlation(
        method, value, math.tanh(centre - reach), math.tanh(centre + reach), p, least, most, models
    )


def _value(method: str, data: Array) -> float | str:
    if method == "moments":
        return _moments(data)
    one, two = data[:2]
    if method == "spearman":
        one, two = rankdata(one), rankdata(two)
    if len(one) < 3:
        return "few_models: fewer than three"
    if np.ptp(one) == 0 or np.ptp(two) == 0:
        return "no_spread: one gap is the same in all models"
    return float(np.clip(np.corrcoef(one, two)[0, 1], -1, 1))


def _moments(data: Array) -> float | str:
    if data.shape[1] < 3:
        return "few_models: fewer than three"
    total = np.cov(data[0], data[1])
    own = data[2:].mean(axis=1)
    one, two = float(total[0, 0] - own[0]), float(total[1, 1] - own[1])
    if one <= 0 or two <= 0:
        return "variance_below_0: gaps differ less between models than their errors say"
    value = float(total[0, 1] - own[2]) / math.sqrt(one * two)
    if not -1 <= value <= 1:
        return f"outside_range: the corrected coefficient is {value:.3g}"
    return value


def _range(method: str, data: Array) -> tuple[float | None, float | None]:
    """Least and largest coefficient with one model left out; None where one has none."""
    found = [_value(method, np.delete(data, k, axis=1)) for k in range(data.shape[1])]
    numbers = [v for v in found if not isinstance(v, str)]
    if not numbers or len(numbers) < len(found):
        return None, None
    return min(numbers), max(numbers)
