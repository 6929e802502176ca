"""Successive difference replication against the formula written out."""

from __future__ import annotations

import math

import numpy as np
import pytest

from fairscreen.population.survey import successive_difference_error


def test_formula_written_out() -> None:
    estimates = [100, -7]
    replicates = [[100 + (r % 5) for r in range(80)], [-7 - r for r in range(80)]]
    by_hand = [
        math.sqrt(4 / 80 * sum((x - e) ** 2 for x in row))
        for e, row in zip(estimates, replicates, strict=True)
    ]
    got = successive_difference_error(np.array(estimates), np.array(replicates))
    assert got.tolist() == pytest.approx(by_hand, rel=1e-15)


def test_differences_are_from_the_estimate_not_from_their_mean() -> None:
    """All replicates 3 above the estimate: their spread is 0, the error is 6."""
    assert float(successive_difference_error(10, np.full(80, 13))) == 6.0


def test_other_numbers_of_replicates_are_refused() -> None:
    with pytest.raises(ValueError, match=r"replicates have shape \(79,\)"):
        successive_difference_error(10, np.zeros(79))
