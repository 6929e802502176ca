"""How small an effect can a design show, and how many applicants does a wanted one need?

An effect's error falls with the root of the number of applicants: std_error = sd / sqrt(n), with sd
the spread over applicants of what one of them says about the effect: the influence phi of the
observational estimate, or psi, the difference of an applicant's own scores in rescoring. An earlier
audit tells it (std_error times sqrt(n)), whatever its size.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq
from scipy.special import chdtri, ndtr, ndtri, stdtrit

from fairscreen.errors import InputError
from fairscreen.estimators import equivalence

# From here on the t is the normal to three digits.
_NORMAL_FROM = 2_000
#: More applicants than anybody draws: beyond it a plan says that there is none.
MOST = 10**12


@dataclass(frozen=True)
class Aim:
    """What a test must hold. Two-sided level alpha, divided by `tests` (Bonferroni, the first step
    of Holm, whose power is never lower), and power. paired: a t of n - 1 degrees of freedom, as
    rescoring takes it; else normal. Equivalence is tested at alpha, not divided: two one-sided
    normal tests, as `equivalence.tost`.
    """

    alpha: float = 0.05
    power: float = 0.8
    tests: int = 1
    paired: bool = False

    def __post_init__(self) -> None:
        if not 0 < self.alpha < 0.5:
            raise InputError("alpha", f"{self.alpha} is no level of a test", "Use (0, 0.5).")
        if not self.alpha < self.power < 1:
            raise InputError(
                "power", f"{self.power} is not between alpha and 1", "Use 0.8 or 0.9, say."
            )
        if self.tests < 1:
            raise InputError("tests", f"{self.tests} is below 1", "Count the tests of the family.")

    @property
    def each(self) -> float:
        """The level of one test of the family."""
        return self.alpha / self.tests


def power(*, effect: float, sd: float, n: int, aim: Aim) -> float:
    """Chance that the two-sided test shows a true effect."""
    shift = abs(effect) * math.sqrt(n) / sd
    return _power(shift, n, aim)


def detectable(*, sd: float, n: int, aim: Aim) -> float:
    """The smallest true effect, in the units of sd, that n applicants show with the aim's power.

    Raises InputError for sd that is not above 0, and for n below 2.
    """
    _check(sd, n)
    return _shift(n, aim) * sd / math.sqrt(n)


def sample_size(*, effect: float, sd: float, aim: Aim) -> int | None:
    """The fewest applicants that show a true effect with the aim's power; None beyond MOST."""
    _check(sd, 2)
    if not (math.isfinite(effect) and effect != 0):
        raise InputError("effect", f"{effect} cannot be shown", "Give an effect other than 0.")
    return _fewest(lambda n: power(effect=effect, sd=sd, n=n, aim=aim), aim.power)


def smallest_margin(*, sd: float, n: int, aim: Aim) -> float:
    """The margin within which n applicants show a true effect of 0 to be negligible, with the
    aim's power: 2.93 standard errors at level 5% and power 80%."""
    _check(sd, n)
    errors = ndtri(1 - aim.alpha) + ndtri((1 + aim.power) / 2)
    return float(errors) * sd / math.sqrt(n)


def sample_size_equivalence(
    *, margin: float, sd: float, aim: Aim, effect: float = 0.0
) -> int | None:
    """The fewest applicants that show a true `effect` to be within the margin; None beyond MOST."""
    _check(sd, 2)
    if not (math.isfinite(margin) and margin > abs(effect)):
        raise InputError(
            "margin", f"{margin} does not hold the true effect {effect:g}", "Give a wider margin."
        )

    def shown(n: int) -> float:
        error = sd / math.sqrt(n)
        return equivalence.power(std_error=error, margin=margin, alpha=aim.alpha, effect=effect)

    return _fewest(shown, aim.power)


def _power(shift: float, n: int, aim: Aim) -> float:
    if not aim.paired or n >= _NORMAL_FROM:
        bound = float(ndtri(1 - aim.each / 2))
        return float(ndtr(shift - bound) + ndtr(-shift - bound))
    # The noncentral t by its definition, (Z + shift) / S: averaged over S, whose square is a
    # chi-squared over its degrees, taken at normal scores. Libraries' tails overflow.
    degrees = n - 1
    bound = float(stdtrit(degrees, 1 - aim.each / 2))
    score = np.linspace(-9, 9, 4_001)
    far = bound * np.sqrt(chdtri(degrees, ndtr(-score)) / degrees)
    shown = ndtr(shift - far) + ndtr(-shift - far)
    return float(np.trapezoid(shown * np.exp(-(score**2) / 2), score) / math.sqrt(2 * math.pi))


def _shift(n: int, aim: Aim) -> float:
    """The true effect in standard errors that is shown with the aim's power."""
    high = 4.0
    while _power(high, n, aim) < aim.power:
        high *= 2
    return float(brentq(lambda s: _power(s, n, aim) - aim.power, 0.0, high, xtol=1e-12))


def _fewest(of: Callable[[int], float], target: float) -> int | None:
    """The least n >= 2 with of(n) >= target, of a function that rises with n."""
    high = 2
    while of(high) < target:
        high *= 2
        if high > MOST:
            return None
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if of(middle) >= target else (middle, high)
    return high


def _check(sd: float, n: int) -> None:
    if not (np.isfinite(sd) and sd > 0):
        raise InputError("sd", f"{sd} is no spread", "Give a number above 0.")
    if n < 2:
        raise InputError("n", f"{n} applicants have no standard error", "Give at least 2.")
