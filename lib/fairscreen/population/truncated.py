"""The normal distribution cut to [0, upper], stable however far the location lies outside.

All on the log scale, in whichever tail keeps digits: a location 40 sigma above the upper limit
still gives a proper distribution just below it. `location` is the mean of the uncut normal, which
is not the mean of the cut one: `mean` and `location_of` go from one to the other.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_ndtr, ndtri_exp

Array = NDArray[np.float64]

#: `location_of` looks no further outside [0, upper] than this many sigma, or than
#: _STEEP sigma^2 / upper where that is more. The cut normal there is all but exponential, with
#: mean sigma / 12 or upper / 50: means still nearer to a bound are not reached.
_REACH, _STEEP = 12.0, 50.0
_LOG_ROOT_2PI = 0.5 * np.log(2 * np.pi)


def ppf(u: Array, location: Array, sigma: Array, upper: Array) -> Array:
    """Inverse distribution function at u (n,) in (0, 1); 0 where `upper` is 0."""
    low, high, flip = _limits(location, sigma, upper)
    v = np.where(flip, 1 - u, u)
    log_p = np.logaddexp(np.log1p(-v) + log_ndtr(low), np.log(v) + log_ndtr(high))
    z = np.clip(ndtri_exp(log_p), low, high)
    x = location + sigma * np.where(flip, -z, z)
    return np.asarray(np.clip(x, 0, upper))


def cdf(x: Array, location: Array, sigma: Array, upper: Array) -> Array:
    """Distribution function at x; arrays broadcast. 1 from `upper` on, also where upper is 0."""
    x, location, sigma, upper = np.broadcast_arrays(x, location, sigma, upper)
    low, high, flip = _limits(location, sigma, upper)
    z = np.clip(np.where(flip, -(x - location) / sigma, (x - location) / sigma), low, high)
    log_low = log_ndtr(low)
    with np.errstate(divide="ignore", invalid="ignore"):
        # log(Phi(z) - Phi(low)) - log(Phi(high) - Phi(low)), each about the larger term
        log_z = log_ndtr(z)
        part = log_z + np.log1p(-np.exp(log_low - log_z))
        share = np.exp(part - _log_mass(low, high))
    share = np.where(flip, 1 - share, share)
    return np.where(x >= upper, 1.0, np.where(x < 0, 0.0, np.clip(share, 0, 1)))


def log_chance(low: Array, high: Array, location: Array, sigma: Array, upper: Array) -> Array:
    """log P(low < X < high) for 0 <= low < high <= upper; arrays broadcast."""
    inside = _log_between((low - location) / sigma, (high - location) / sigma)
    return inside - _log_between(-location / sigma, (upper - location) / sigma)


def mean(location: Array, sigma: Array, upper: Array) -> Array:
    """Mean of the cut normal, upper > 0; arrays broadcast."""
    return _moments(location, sigma, upper)[0]


def location_of(mean: Array, sigma: Array, upper: Array) -> Array:
    """The location whose cut normal has this mean; arrays broadcast.

    Every mean strictly inside (0, upper) has one, which runs off to infinity toward a bound; it is
    kept within reach (above), so a mean within min(sigma / 12, upper / 50) of a bound, or on it,
    is missed by at most that much. Where upper is 0 the location is 0.
    """
    shape = np.broadcast_shapes(np.shape(mean), np.shape(sigma), np.shape(upper))
    m, s, u = (np.broadcast_to(a, shape).astype(np.float64).ravel() for a in (mean, sigma, upper))
    out = np.zeros(m.shape)
    todo = np.flatnonzero(u > 0)
    reach = s[todo] * np.maximum(_REACH, _STEEP * s[todo] / u[todo])
    low, high = -reach, u[todo] + reach
    for end, beyond in ((low, np.less_equal), (high, np.greater_equal)):
        out[todo] = np.where(beyond(m[todo], _moments(end, s[todo], u[todo])[0]), end, out[todo])
    open_ = out[todo] == 0
    todo, low, high = todo[open_], low[open_], high[open_]
    at = m[todo].copy()
    # Newton on an increasing function, halving the bracket where a step leaves it. Near a limit
    # of digits the last steps stop getting smaller: 80 halvings end that too.
    for _ in range(80):
        value, variance = _moments(at, s[todo], u[todo])
        gap = value - m[todo]
        out[todo] = at
        going = np.abs(gap) > 1e-9 * u[todo]
        if not going.any():
            break
        high, low = np.where(gap > 0, at, high), np.where(gap > 0, low, at)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            step = at - gap * s[todo] ** 2 / variance
        moved = np.where((step > low) & (step < high), step, (low + high) / 2)
        todo, at, low, high = todo[going], moved[going], low[going], high[going]
    return out.reshape(shape)


def _moments(location: Array, sigma: Array, upper: Array) -> tuple[Array, Array]:
    """Mean and variance of the cut normal."""
    low, high, flip = _limits(location, sigma, upper)
    mass = _log_mass(low, high)
    at_low = np.exp(-0.5 * low**2 - _LOG_ROOT_2PI - mass)
    at_high = np.exp(-0.5 * high**2 - _LOG_ROOT_2PI - mass)
    shift = at_low - at_high
    spread = 1 + low * at_low - high * at_high - shift**2
    return location + sigma * np.where(flip, -shift, shift), sigma**2 * np.maximum(spread, 0)


def _log_mass(low: Array, high: Array) -> Array:
    """log(Phi(high) - Phi(low)), limits as `_limits` gives them."""
    log_low, log_high = log_ndtr(low), log_ndtr(high)
    with np.errstate(divide="ignore"):
        return np.asarray(log_high + np.log1p(-np.exp(log_low - log_high)))


def _log_between(low: Array, high: Array) -> Array:
    """The same for any limits: mirrored into the tail that keeps digits."""
    flip = low + high > 0
    return _log_mass(np.where(flip, -high, low), np.where(flip, -low, high))


def _limits(location: Array, sigma: Array, upper: Array) -> tuple[Array, Array, NDArray[np.bool_]]:
    """Standardised limits, mirrored where most of the interval lies above the location."""
    low, high = -location / sigma, (upper - location) / sigma
    flip = low + high > 0
    return np.where(flip, -high, low), np.where(flip, -low, high), flip
