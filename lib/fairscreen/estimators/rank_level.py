"""Level: is one version of a resume ranked or scored better than the other, on average?

The default test flips whole resumes: under its null the labels are exchangeable within the
resume, so the sum of D over the sets of a resume is as likely s as -s. Sets of one resume are
flipped together, because they are not independent: flipped one by one, four information levels of
a resume reject in 0.155 of cases at a nominal 0.05. The t interval beside it has G - 1 degrees of
freedom, for G resumes.
Source: JobFair, section 3.7, with the pairing that its test leaves out.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from fairscreen.estimators.ranks import (
    HALF,
    Array,
    Ints,
    Mean,
    from_influence,
    grouped,
    item_sums,
    mean_of,
)
from fairscreen.estimators.sign_flip import sign_flip

# An analysis makes hundreds of tests: each gets a twentieth of what one alone may cost.
_WORK = 0.05


@dataclass(frozen=True)
class Level:
    """mean: of d over sets, its t interval. p_value: two-sided, of the sign flip; `method` tells
    whether it is exact or drawn."""

    mean: Mean
    p_value: float
    method: Literal["exact", "monte_carlo"]


def level_test(
    *, d: ArrayLike, item: ArrayLike, unit: float = HALF, level: float = 0.95, seed: int | str = 0
) -> Level:
    """d (N,): differences within sets, multiples of unit; item (N,): their resumes. N above 0."""
    values = np.asarray(d, dtype=np.float64)
    at, items = grouped(item)
    test = sign_flip(item_sums(values, at, items), unit=unit, seed=seed, share_of_work=_WORK)
    return Level(mean_of(values, at, level=level), test.p_value, test.method)


def standardised(*, d: ArrayLike, item: ArrayLike, level: float = 0.95) -> Mean | None:
    """Mean of d (N,) over its standard deviation, ddof 1; None where d does not vary.

    Interval from the influence function, which needs no normality: with z = (d - mean) / sd it is
    z - (mean / sd) (z^2 - 1) / 2 for a set, summed within resumes.
    """
    values = np.asarray(d, dtype=np.float64)
    if len(values) < 2 or not (sd := float(values.std(ddof=1))) > 1e-12 * np.abs(values).max():
        return None
    size, z = float(values.mean()) / sd, (values - values.mean()) / sd
    influence = (z - size * (z**2 - 1) / 2) / len(values)
    return from_influence(size, influence, item, level=level)


def better_minus_worse(*, d: ArrayLike, item: ArrayLike, level: float = 0.95) -> Mean:
    """Share of sets in which favored ranks better (d < 0) minus the share in which it ranks worse:
    the matched-pairs rank-biserial difference, ties counting for neither."""
    return mean_of(-np.sign(np.asarray(d, dtype=np.float64)), item, level=level)


@dataclass(frozen=True)
class Replicates:
    """Spread of repeated answers to one version of one resume.

    variance: pooled within versions, squared score points, with its chi-squared interval (normal
    answers); degrees: answers beyond the first. share: what of the variance of the score gap over
    sets such noise makes, None where the gap does not vary.
    """

    variance: float
    low: float
    high: float
    std_error: float
    degrees: int
    share: float | None


def replicates(
    *, squares: Array, answers: Ints, gap: Array, level: float = 0.95
) -> Replicates | None:
    """squares, answers (N, K): deviations and answers of favored and other in columns 0 and 1;
    gap (N,): favored minus other mean score. None where nothing was answered twice."""
    from scipy.stats import chi2

    repeated = answers > 1
    degrees = int((answers[repeated] - 1).sum())
    if not degrees:
        return None
    within = float(squares[repeated].sum())
    variance = within / degrees
    tail = (1 - level) / 2
    noise = float(np.mean(variance / answers[:, 0] + variance / answers[:, 1]))
    spread = float(gap.var(ddof=1)) if len(gap) > 1 else 0.0
    return Replicates(
        variance=variance,
        low=within / float(chi2.isf(tail, degrees)),
        high=within / float(chi2.isf(1 - tail, degrees)),
        std_error=variance * math.sqrt(2 / degrees),
        degrees=degrees,
        share=noise / spread if spread > 0 else None,
    )
