"""Design-based errors of population effects, from replicate weights.

A survey's sample stands for a population, and every replicate weight for what another sample
would have given. The effect is a weighted mean of influence values, phi = a + c Y; under each
replicate it is recomputed with that weight, its normaliser too, and the nuisances stay as they
are. The spread over the replicates is the error of the survey's design: strata, clusters and
calibration included. Where applicants were drawn from the surveyed people, each weighs
w_r / w, and the spread holds the sampling of draws as well: it is the total, never to be added to
another error.
Sources: Fay & Train (1995), successive differences; Census Bureau, PUMS Accuracy of the Data.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import stdtr, stdtrit

from fairscreen.errors import InputError
from fairscreen.estimators.results import Floats


@dataclass(frozen=True, eq=False)
class ReplicateSums:
    """Sums over people, under the full weight (row 0) and under each of R replicates. They add
    (`+`): people may be summed part by part.

    weight (1 + R,): sum of w. value (1 + R, J): sum of w phi.
    """

    weight: Floats
    value: Floats

    @classmethod
    def of(cls, *, phi: Floats, w: Floats, replicates: Floats) -> ReplicateSums:
        """phi (N, J), w (N,), replicates (N, R), whose weights may be 0 or negative.

        Raises InputError where the shapes do not fit.
        """
        if phi.ndim != 2 or w.shape != (len(phi),) or replicates.shape[:1] != (len(phi),):
            raise InputError(
                "array replicates", f"has {len(replicates)} rows where phi has {len(phi)}",
                "Give one row of replicate weights per person.",
            )  # fmt: skip
        every = np.concatenate([w[:, None], replicates], axis=1)
        return cls(every.sum(axis=0), every.T @ phi)

    def __add__(self, other: ReplicateSums) -> ReplicateSums:
        if self.value.shape != other.value.shape:
            raise InputError(
                "array replicates", "has another number of replicates on the two sides",
                "Sum people of one survey.",
            )  # fmt: skip
        return ReplicateSums(self.weight + other.weight, self.value + other.value)


@dataclass(frozen=True)
class DesignBased:
    """One estimate with its design-based error. Points of the score; p_value two-sided; numbers
    other than the estimate are None where `reason` says why."""

    estimate: float
    std_error: float | None
    ci_low: float | None
    ci_high: float | None
    p_value: float | None
    reason: str | None = None


def replicate_error(estimate: Floats, replicates: Floats, scale: float) -> Floats:
    """sqrt(scale sum_r (X_r - X)^2) (...,), of an estimate X (...) and its replicates (..., R).

    Differences are taken from X, not from the mean of the replicates. scale: 4 / R for successive
    differences (the ACS: 4/80), 1 / R for balanced repeated replication, 1 / (R (1 - k)^2) with
    Fay's factor k, (R - 1) / R for a jackknife that drops one unit at a time.
    """
    gap = (replicates - estimate[..., None]).astype(np.float64)
    return np.asarray(np.sqrt(scale * np.square(gap).sum(axis=-1)))


def design_based(
    sums: ReplicateSums, *, scale: float | None = None, level: float = 0.95
) -> list[DesignBased]:
    """The J weighted means with their errors; t intervals with R - 1 degrees of freedom.

    scale: see `replicate_error`; None = 4 / R. No error: "a replicate weight sums to 0 or less",
    "the replicates do not differ". Raises InputError for fewer than two replicates.
    """
    count = len(sums.weight) - 1
    if count < 2:
        raise InputError(
            "array replicates", f"has {count} columns", "Give at least two replicate weights."
        )
    theta = sums.value[0] / sums.weight[0]
    if (sums.weight <= 0).any():
        why = "a replicate weight sums to 0 or less"
        return [DesignBased(float(value), *(None,) * 4, why) for value in theta]
    under = sums.value[1:] / sums.weight[1:, None]
    errors = replicate_error(theta, under.T, 4.0 / count if scale is None else scale)
    reach = float(stdtrit(count - 1, (1 + level) / 2))
    size = np.abs(under).max(axis=0) + np.abs(theta)
    found = []
    for value, error, large in zip(theta.tolist(), errors.tolist(), size.tolist(), strict=True):
        if error <= 1e-13 * large:  # an error of 0, up to the rounding of sums
            found.append(DesignBased(value, *(None,) * 4, "the replicates do not differ"))
            continue
        p = 2 * float(stdtr(count - 1, -abs(value) / error))
        low, high = value - reach * error, value + reach * error
        found.append(DesignBased(value, error, low, high, p))
    return found
