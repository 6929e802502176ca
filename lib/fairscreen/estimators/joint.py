"""Covariance of any effects of any cases: within a case, and between cases that share applicants.

Two models, prompts or formats that scored the same people share sampling error. NDE, BIE and RIE
of every case carry it all: TE = NDE + BIE + RIE and NIE = BIE + RIE exactly.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from fairscreen.estimators.results import EFFECTS, Floats

PRIMARY = ("NDE", "BIE", "RIE")
_AT = [EFFECTS.index(name) for name in PRIMARY]
#: (5, 3): EFFECTS from PRIMARY.
FROM_PRIMARY: Floats = np.array(
    [[1.0, 1.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 1.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
)

#: A linear combination of effects: (case, effect, factor) of each term.
Combination = Sequence[tuple[int, str, float]]


@dataclass(frozen=True, eq=False)
class Joint:
    """place: case to its rank m; covariance (3 M, 3 M) of NDE, BIE, RIE, case after case."""

    place: dict[int, int]
    covariance: Floats

    @classmethod
    def of(cls, own: Mapping[int, Floats], between: Mapping[tuple[int, int], Floats]) -> Joint:
        """own: (5, 5) covariance of the effects of each case, in the order of EFFECTS.

        between: correlations (3, 3) of NDE, BIE, RIE by pair of cases, the first as rows; pairs
        that are not there are taken as independent.
        """
        place = {case: m for m, case in enumerate(own)}
        block = {case: np.asarray(whole)[np.ix_(_AT, _AT)] for case, whole in own.items()}
        covariance = np.zeros((3 * len(own), 3 * len(own)))
        for case, m in place.items():
            covariance[3 * m : 3 * m + 3, 3 * m : 3 * m + 3] = block[case]
        for (one, two), correlation in between.items():
            if one in place and two in place:
                i, j = 3 * place[one], 3 * place[two]
                sd = [np.sqrt(np.diag(block[case])) for case in (one, two)]
                covariance[i : i + 3, j : j + 3] = correlation * np.outer(*sd)
                covariance[j : j + 3, i : i + 3] = covariance[i : i + 3, j : j + 3].T
        return cls(place, covariance)

    def of_combinations(self, combinations: Sequence[Combination]) -> Floats:
        """Covariance (k, k) of k linear combinations of effects."""
        factors = np.zeros((len(combinations), len(self.covariance)))
        for row, combination in zip(factors, combinations, strict=True):
            for case, effect, factor in combination:
                at = 3 * self.place[case]
                row[at : at + 3] += factor * FROM_PRIMARY[EFFECTS.index(effect)]
        return np.asarray(factors @ self.covariance @ factors.T, dtype=np.float64)


def correlation(covariance: Floats) -> Floats:
    """Correlation (k, k) of a covariance (k, k); what does not vary correlates with nothing."""
    sd = np.sqrt(np.diag(covariance))
    both = np.outer(sd, sd)
    found: Floats = np.divide(covariance, both, out=np.eye(len(sd)), where=both > 0)
    return found
