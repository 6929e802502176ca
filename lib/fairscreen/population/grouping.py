"""Groups of names, from the full name tables and never from the sample (PopResume, appendix C.4).

A first name is `female` or `male` when more than the threshold (0.75) of its births are, else
`neutral`; `young`, `mid` or `old` when more than the threshold (0.5) of its births within the
cohorts' years fall in that cohort, else `neutral`. A surname is of a race when more than half of
its bearers are, else `neutral`. Thresholds and cohorts are config. Surname groups are the three
races of the paper and, where the population has more races, those too: Garcia is of group hispanic
only where Hispanic people are a race of their own, else neutral.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

NEUTRAL = "neutral"
GENDER_GROUPS = ("female", "male", NEUTRAL)
SURNAME_GROUPS = ("white", "black", "asian_pacific", NEUTRAL)


def surname_groups(races: Iterable[str]) -> tuple[str, ...]:
    """Labels of surname groups for a population of these races."""
    return (*SURNAME_GROUPS[:-1], *(r for r in races if r not in SURNAME_GROUPS), NEUTRAL)


def gender_groups(p_female: NDArray[np.float64], threshold: float) -> NDArray[np.int8]:
    """Index into GENDER_GROUPS (N,) of names with share of female births p_female (N,)."""
    female = p_female > threshold
    male = 1 - p_female > threshold
    if threshold < 0.5:  # both can hold; the larger share decides
        female, male = female & (p_female >= 0.5), male & (p_female < 0.5)
    return np.asarray(np.where(female, 0, np.where(male, 1, 2)), dtype=np.int8)


def majority_groups(shares: NDArray[np.float64], threshold: float) -> NDArray[np.int8]:
    """Index (N,) of the group whose share (N, K) is the largest and above the threshold, else K.

    Not-a-number counts as 0: a suppressed cell is small by construction.
    """
    known = np.nan_to_num(shares, nan=0.0)
    best = known.argmax(axis=1)
    above = known[np.arange(len(known)), best] > threshold
    return np.asarray(np.where(above, best, shares.shape[1]), dtype=np.int8)
