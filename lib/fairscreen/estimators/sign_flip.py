"""The paired sign-flip test: under the null a unit's difference is as likely d as -d.

Exact by convolution where the differences are whole multiples of a unit (ranks: 1/2; scores with
decimals: their last digit). The units of one size u, m of them, sum to u (2K - m) with
K ~ Binomial(m, 1/2); the sizes are independent, so the distribution of the sum is a convolution of
binomials. All terms are positive, so relative accuracy holds far into the tail (p near 1e-60 and
beyond). Where the direct convolution costs too much the same law comes from its characteristic
function, and only where that does not do either (a tiny p-value of very many units, sizes on a
very fine lattice) the test is drawn. Units that are 0 change nothing and drop out.

The null is that labels are exchangeable within the unit (D symmetric around 0). A skewed D whose
mean is 0 breaks it: the t interval beside it does not assume symmetry.
Source: Fisher (1935), section 21; the convolution after Pagano & Tritchler (1983).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.fft import next_fast_len
from scipy.stats import binom

from fairscreen import random
from fairscreen.errors import InputError

Array = NDArray[np.float64]
Ints = NDArray[np.int64]
# Additions of the direct convolution, and of the one by Fourier transform: seconds of work.
_MAX_DIRECT = 4_000_000_000
_MAX_FOURIER = 1_000_000_000
# A transform is right in absolute terms only: a p-value must be this many times its noise.
_ABOVE_NOISE = 1e6
# Differences further from a multiple of the unit than this share of it are not on the lattice.
_ON_LATTICE = 1e-6


@dataclass(frozen=True)
class SignFlip:
    """One test.

    statistic  the sum of the differences
    p_value    two-sided: P(|sum of flipped| >= |statistic|); 1 where every difference is 0
    p_greater  one-sided: P(sum of flipped >= statistic)
    method     exact, or monte_carlo: (1 + exceedances) / (1 + draws)
    n          differences; n_zero of them are 0
    """

    statistic: float
    p_value: float
    p_greater: float
    method: Literal["exact", "monte_carlo"]
    n: int
    n_zero: int


def sign_flip(
    d: ArrayLike,
    *,
    unit: float,
    n: ArrayLike | None = None,
    draws: int = 19_999,
    seed: int | str = 0,
    share_of_work: float = 1.0,
) -> SignFlip:
    """Sign-flip test of differences d (C,), all multiples of `unit` (in units of d).

    n (C,): how many units of observation have each difference; None: one each.
    draws, seed: for the Monte Carlo form, taken where the exact one would cost too much (many
    sizes far apart) or where a difference is no multiple of the unit.
    share_of_work: of what the exact form may cost (1: some seconds), where many tests are made.
    Raises InputError where d is not a vector of finite numbers or the unit is not above 0.
    """
    values = np.asarray(d, dtype=np.float64)
    if values.ndim != 1 or not np.isfinite(values).all():
        raise InputError("array d", "is no vector of finite numbers", "Leave such units out.")
    if not (np.isfinite(unit) and unit > 0):
        raise InputError("unit", f"{unit} is not above 0", "Give the step of the differences.")
    times = np.ones(len(values), dtype=np.int64) if n is None else np.asarray(n, dtype=np.int64)
    statistic = float(times @ values) if len(values) else 0.0
    some = values != 0
    facts = (int(times.sum()), int(times[~some].sum()))
    scaled = values / unit
    whole = np.rint(scaled).astype(np.int64)
    if (np.abs(scaled - whole) <= _ON_LATTICE).all():
        step = max(1, int(np.gcd.reduce(whole[some])))  # whole scores stored with four decimals
        whole //= step
        sizes, counts = _merged(np.abs(whole[some]), times[some])
        if found := _exact(sizes, counts, int(times @ whole), share_of_work):
            return SignFlip(statistic, *found, "exact", *facts)
    lengths, counts = _merged(np.abs(values[some]), times[some])
    two, one = _drawn(lengths, counts, statistic, draws, seed)
    return SignFlip(statistic, two, one, "monte_carlo", *facts)


def _merged(sizes: NDArray[Any], counts: Ints) -> tuple[NDArray[Any], Ints]:
    """Distinct sizes, ascending, and how often each occurs."""
    distinct, at = np.unique(sizes, return_inverse=True)
    total = np.zeros(len(distinct), dtype=np.int64)
    np.add.at(total, at.reshape(-1), counts)
    return distinct, total


def _exact(sizes: Ints, counts: Ints, observed: int, work: float) -> tuple[float, float] | None:
    """Two-sided and upper p of the sum `observed` of +-sizes; None where it costs too much."""
    # Python integers: products may exceed 64 bits.
    total = sum(s * c for s, c in zip(sizes.tolist(), counts.tolist(), strict=True))
    if int(counts.sum()) * (total + 1) <= work * _MAX_DIRECT:
        return _tails(distribution(sizes, counts), observed)
    if len(sizes) * (total + 1) <= work * _MAX_FOURIER:
        law = _by_fourier(sizes, counts, total)
        noise = float(-law[law < 0].sum())  # probabilities below 0 are nothing else
        found = _tails(np.maximum(law, 0.0), observed)
        if min(found) >= _ABOVE_NOISE * noise:
            return found
    return None


def _tails(law: Array, observed: int) -> tuple[float, float]:
    """Two-sided and upper p. law[t] belongs to the sum 2 t - total; it is symmetric, so one tail
    tells both."""
    total = len(law) - 1
    upper = float(law[(total + abs(observed) + 1) // 2 :].sum())
    two = min(1.0, 2 * upper) if observed else 1.0
    if observed >= 0:
        return two, min(1.0, upper)
    # P(S >= s) for s < 0 is 1 - P(S > -s), where the upper tail is the small one.
    return two, 1.0 - float(law[(total - observed) // 2 + 1 :].sum())


def distribution(sizes: Ints, counts: Ints) -> Array:
    """(total + 1,): P(the positive ones sum to t), `counts` units of each size, signs by a coin."""
    law = np.ones(1)
    for step, count in zip(sizes.tolist(), counts.tolist(), strict=True):
        coin = binom.pmf(np.arange(count + 1), count, 0.5)
        out = np.zeros(len(law) + step * count)
        for k, p in enumerate(coin.tolist()):
            if p:
                out[k * step : k * step + len(law)] += p * law
        law = out
    return law


def _by_fourier(sizes: Ints, counts: Ints, total: int) -> Array:
    """The same law from E exp(i w T) = prod ((1 + exp(i w u)) / 2)^m."""
    length = next_fast_len(total + 1, real=True)
    angle = np.pi * np.arange(length // 2 + 1) / length  # half of w
    size = np.ones(len(angle))
    for step, count in zip(sizes.tolist(), counts.tolist(), strict=True):
        size *= np.cos(step * angle) ** count
    # Each factor is cos(u w / 2)^m exp(i m u w / 2); numpy's inverse takes exp(-i w t).
    law = np.fft.irfft(size * np.exp(-1j * total * angle), n=length)
    return np.asarray(law[: total + 1], dtype=np.float64)


def _drawn(
    sizes: Array, counts: Ints, observed: float, draws: int, seed: int | str
) -> tuple[float, float]:
    """Monte Carlo: the units of one size are one binomial draw, however many they are."""
    if len(sizes) == 0:
        return 1.0, 1.0
    key = int(random.hashes(seed, "sign_flip", ["philox"])[0])
    generator = np.random.Generator(np.random.Philox(key=key))
    total = float(sizes @ counts)
    slack = 1e-12 * total  # rounding must not turn a tie into a smaller sum
    single = counts == 1  # a coin each, 64 of them from one number
    alone, several, many = sizes[single], sizes[~single], counts[~single]
    words = -(-len(alone) // 64)
    beyond = above = 0
    step = max(1, 2_000_000 // len(sizes))
    for start in range(0, draws, step):
        size = min(step, draws - start)
        bits = generator.bit_generator.random_raw(size * words).reshape(size, words)
        coins = np.unpackbits(bits.view(np.uint8), axis=1)[:, : len(alone)]
        heads = coins.astype(np.float64) @ alone
        heads += generator.binomial(many, 0.5, size=(size, len(many))) @ several
        sums = 2.0 * heads - total
        beyond += int((np.abs(sums) >= abs(observed) - slack).sum())
        above += int((sums >= observed - slack).sum())
    return (1 + beyond) / (1 + draws), (1 + above) / (1 + draws)
