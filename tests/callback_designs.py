"""Paired audits with a known truth, for tests and the simulation study."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm

from fairscreen.estimators.callback_pairs import CallbackPairs

Array = NDArray[np.float64]


def audit(
    seed: int, *, postings: int = 300, pairs: int = 4, gap: float = 0.0, name_sd: float = 0.0,
    names: int = 19, silent: tuple[float, float] = (0.0, 0.0), base: float = 0.3,
) -> CallbackPairs:  # fmt: skip
    """Pairs of one gender each, names drawn uniformly from `names` per arm and gender.

    P(yes) of favored is base + gap + its name's effect, of other base + its name's; both share a
    normal threshold of posting and pair. silent: shares of favored, other without an answer.
    """
    rng = np.random.default_rng(seed)
    n = postings * pairs
    effect = rng.normal(0, name_sd, (2, 2 * names))  # arm, name: genders side by side
    gender = rng.integers(0, 2, n)
    one, two = (gender * names + rng.integers(0, names, n) for _ in range(2))
    posting = np.repeat(np.arange(postings), pairs)
    shared = 0.7 * rng.normal(size=postings)[posting] + 0.5 * rng.normal(size=n)
    p = [
        np.clip(base + gap + effect[0, one], 0.01, 0.99),
        np.clip(base + effect[1, two], 0.01, 0.99),
    ]
    noise = np.sqrt(1 - 0.7**2 - 0.5**2)
    sides = []
    for arm in (0, 1):
        y = (shared + noise * rng.normal(size=n) < norm.ppf(p[arm])).astype(float)
        y[rng.random(n) < silent[arm]] = np.nan
        sides.append(y)
    return CallbackPairs.of_answers(
        favored=sides[0], other=sides[1], posting=posting, favored_name=one,
        other_name=two + 2 * names, favored_p=p[0], other_p=p[1],
    )  # fmt: skip
