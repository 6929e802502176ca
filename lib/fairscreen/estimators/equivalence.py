"""Is an effect negligible? Two one-sided tests against a margin chosen before.

"The interval covers zero" is no evidence of "no effect". Source: Schuirmann (1987). Power: at a
true effect of 0, two tests at 5% reach 80% power where the margin is 2.93 standard errors
(1.645 + 1.282), so the margin must be chosen with the design in mind.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr, ndtri, stdtr, stdtrit

MARGIN_AT_80_PERCENT_POWER = float(ndtri(0.95) + ndtri(0.90))  # in standard errors


@dataclass(frozen=True)
class Equivalence:
    """Two one-sided tests of |effect| < margin.

    p_value           the larger of both one-sided p-values; small = shown to be negligible
    p_exceeds         p of the opposite claim, |effect| > margin; small = shown not negligible
    ci_low, ci_high   interval of level 1 - 2 alpha that belongs to the tests
    minimal_margin    the smallest margin at which the effect would be shown negligible
    """

    margin: float
    p_value: float
    p_exceeds: float
    ci_low: float
    ci_high: float
    minimal_margin: float


def tost(
    *, estimate: float, std_error: float, margin: float, alpha: float = 0.05,
    df: float | None = None,
) -> Equivalence:  # fmt: skip
    """Two one-sided tests of one estimate, normal, or Student's with df degrees of freedom; all in
    the units of the estimate.

    Raises ValueError where margin or std_error is not a positive finite number.
    """
    if not (np.isfinite(margin) and margin > 0 and np.isfinite(std_error) and std_error > 0):
        raise ValueError(f"margin {margin} and standard error {std_error} must be above 0")
    far, near = (abs(estimate) + margin) / std_error, (abs(estimate) - margin) / std_error
    quantile = ndtri(1 - alpha) if df is None else stdtrit(df, 1 - alpha)
    reach = float(quantile) * std_error

    def below(x: float) -> float:
        return float(ndtr(x) if df is None else stdtr(df, x))

    return Equivalence(
        margin=margin,
        p_value=below(near),  # the side that the estimate leans to
        p_exceeds=min(1.0, below(-near) + below(-far)),
        ci_low=estimate - reach,
        ci_high=estimate + reach,
        minimal_margin=abs(estimate) + reach,
    )


def power(*, std_error: float, margin: float, alpha: float = 0.05, effect: float = 0.0) -> float:
    """Chance of showing equivalence at a true effect (two one-sided normal tests)."""
    bound = float(ndtri(1 - alpha))
    low, high = (margin + effect) / std_error, (margin - effect) / std_error
    return max(0.0, float(ndtr(low - bound) + ndtr(high - bound)) - 1)
