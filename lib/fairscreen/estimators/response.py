"""Applicants without an answer: whether groups differ in it, and weights for those who answered.

Effects stand on the answered. Where answering depends on X, Z, R, B alone (missing at random given
these), weighting each answered person by 1 / P(answered | X, Z, R, B) gives the effects of all who
were asked; where it depends on the score itself, no weight helps. The weights are taken as known:
errors are then, if anything, too large (Robins, Rotnitzky & Zhao 1994).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.stats import fisher_exact

from fairscreen.estimators.data import Floats, Ints, PathData, totals
from fairscreen.estimators.features import Features, Sums
from fairscreen.estimators.saturated import Saturated

# Fisher's exact test of answered x group, two-sided: below it the shares differ.
LEVEL = 0.05
# No answered person stands for more than 1 / LEAST of those asked.
LEAST = 0.05


@dataclass(frozen=True)
class Answers:
    """People asked and answered of the two groups of a contrast."""

    asked_x1: int
    answered_x1: int
    asked_x0: int
    answered_x0: int

    @classmethod
    def of(cls, x: Ints, asked: Ints, answered: Ints) -> Answers:
        """From cells: x, asked, answered (C,)."""
        one, two = x == 1, x == 0
        return cls(
            int(asked[one].sum()), int(answered[one].sum()),
            int(asked[two].sum()), int(answered[two].sum()),
        )  # fmt: skip

    @property
    def complete(self) -> bool:
        """Nobody of the two groups is missing."""
        return self.asked_x1 == self.answered_x1 and self.asked_x0 == self.answered_x0

    @property
    def p_value(self) -> float:
        """Of the test that both groups answer alike; 1 where a group was not asked."""
        if not self.asked_x1 or not self.asked_x0 or self.complete:
            return 1.0
        table = [
            [self.answered_x1, self.asked_x1 - self.answered_x1],
            [self.answered_x0, self.asked_x0 - self.answered_x0],
        ]
        return float(fisher_exact(table).pvalue)

    @property
    def unequal(self) -> bool:
        """The shares answered differ between the groups."""
        return self.p_value < LEVEL

    def sentence(self, labels: tuple[str, str], *, weighted: bool) -> str:
        """What a row says: who answered, whether groups differ, what was done about it."""
        shares = (
            f"{labels[0]} {self.answered_x1 / max(self.asked_x1, 1):.1%}, "
            f"{labels[1]} {self.answered_x0 / max(self.asked_x0, 1):.1%} answered"
        )
        stands = (
            "weighted by 1 / P(answered | X, Z, R, B)" if weighted
            else "all fitted on the answered, P(X|.) too; it describes them alone"
        )  # fmt: skip
        if not self.unequal:
            return f"answers_missing: {shares}; {stands}"
        told = f"Fisher p {self.p_value:.2g} < {LEVEL:g}"
        return f"answers_missing_unequally: {shares} ({told}); {stands}"


def response_weights(data: PathData, answered: Ints) -> Floats:
    """1 / P(answered | X, Z, R, B) of each cell (C,), from all who were asked.

    data: cells with n the people asked (its sums of scores are not used); answered (C,): how many
    of them have a score. Cells shrunk to a logistic model; P is kept above LEAST.
    """
    x = data.x.astype(np.int64)[:, None] + 1
    numbers = ((x, None), (data.z, data.z_values), (data.r, data.r_values), (data.b, data.b_values))
    features = Features.of(*numbers)

    def total(values: Floats) -> Floats:
        return totals(features.at, values, len(features.levels))

    w, hits = data.w, answered.astype(np.float64)
    sums = Sums(total(w * data.n), total(w**2 * data.n), total(w * hits), total(w * hits))
    p = Saturated().probability("answered", features, sums)[features.at]
    return np.asarray(1.0 / np.maximum(p, LEAST), dtype=np.float64)
