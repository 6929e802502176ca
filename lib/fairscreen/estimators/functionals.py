"""The five functionals as one-step scores: what weighs whom, and the influence they add up to.

Symbols: X attribute (x1, x0), Z confounders, R redlining and B business mediators, Y score.
Source: PopResume, table 1; E_B as derived in `score_e_b`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fairscreen.estimators.data import Codes, Floats, PathData
from fairscreen.estimators.levels import Strata
from fairscreen.estimators.nuisance import Nuisances
from fairscreen.estimators.results import FUNCTIONALS


@dataclass(frozen=True, eq=False)
class Stage:
    """One correction of a score: ratio * (high - low) for the people of `group`; high = None
    stands for Y. ratio (C,) is what a person of the group would weigh at the cell's Z, R, B."""

    name: str
    group: NDArray[np.bool_]
    ratio: Floats
    high: Floats | None
    low: Floats

    @property
    def weight(self) -> Floats:
        """(C,): the ratio within the group, else 0."""
        return np.where(self.group, self.ratio, 0.0)


@dataclass(frozen=True, eq=False)
class Score:
    """phi = base + corrections: the one-step score of one functional."""

    base: Floats
    stages: tuple[Stage, ...]


def score_e1(x: Codes, nu: Nuisances) -> Score:
    """E[Y_x1]: m1 + I1/P(x1|Z) (Y - m1)."""
    return Score(nu.m1, (Stage("E1:Y", x == 1, _ratio(1.0, nu.q * nu.e_z), None, nu.m1),))


def score_e0(x: Codes, nu: Nuisances) -> Score:
    """E[Y_x0]: m0 + I0/P(x0|Z) (Y - m0)."""
    return Score(nu.m0, (Stage("E0:Y", x == 0, _ratio(1.0, nu.q * (1 - nu.e_z)), None, nu.m0),))


def score_e_w(x: Codes, nu: Nuisances) -> Score:
    """E[Y_{x1, W_x0}], W = (R, B): mu3 drawn under x1, both mediators under x0."""
    p0 = nu.q * (1 - nu.e_z)
    return Score(
        nu.mu1_w,
        (
            Stage("E_W:mu3", x == 0, _ratio(1.0, p0), nu.mu3, nu.mu1_w),
            Stage("E_W:Y", x == 1, _ratio(1 - nu.e_brz, nu.e_brz * p0), None, nu.mu3),
        ),
    )


def score_e_b(x: Codes, nu: Nuisances) -> Score:
    """E[Y_{x1, B_{x0, R_x1}, R_x1}]: only B drawn under x0.

    The middle weight stands on x0 people. Table 1's pattern for E_R, where it stands on x1, does
    not carry over: there the ratio of B cancels, here it does not.
    """
    p1 = nu.q * nu.e_z
    return Score(
        nu.mu1_b,
        (
            Stage("E_B:mu2", x == 1, _ratio(1.0, p1), nu.mu2_b, nu.mu1_b),
            Stage("E_B:mu3", x == 0, _ratio(nu.e_rz, (1 - nu.e_rz) * p1), nu.mu3, nu.mu2_b),
            Stage(
                "E_B:Y",
                x == 1,
                _ratio((1 - nu.e_brz) * nu.e_rz, nu.e_brz * (1 - nu.e_rz) * p1),
                None,
                nu.mu3,
            ),
        ),
    )


def score_e_r(x: Codes, nu: Nuisances) -> Score:
    """E[Y_{x1, R_x0}]: only R drawn under x0; B follows from x1 and that R."""
    p0 = nu.q * (1 - nu.e_z)
    return Score(
        nu.mu1_r,
        (
            Stage("E_R:mu2", x == 0, _ratio(1.0, p0), nu.mu2_r, nu.mu1_r),
            Stage("E_R:Y", x == 1, _ratio(1 - nu.e_rz, nu.e_rz * p0), None, nu.mu2_r),
        ),
    )


SCORES = {"E1": score_e1, "E0": score_e0, "E_W": score_e_w, "E_B": score_e_b, "E_R": score_e_r}


def _ratio(top: Floats | float, bottom: Floats) -> Floats:
    """top / bottom; infinite where bottom is 0: a value that cannot occur in the group."""
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.asarray(top / bottom, dtype=np.float64)
    return np.where(np.isnan(ratio), np.inf, ratio)


def influence_coefficients(
    data: PathData, nuisances: Sequence[Nuisances], clip: float, normalize: bool
) -> tuple[Floats, Floats]:
    """Coefficients a, c (C, 5) of phi = a + c Y per functional, averaged over the repeats."""
    a, c = np.zeros((len(data), 5)), np.zeros((len(data), 5))
    for nu in nuisances:
        strata = strata_of(data, nu)
        one, two = _coefficients(strata, nu.clipped(clip), normalize)
        a += strata.spread(one)
        c += strata.spread(two)
    return a / len(nuisances), c / len(nuisances)


def functional_means(
    data: PathData, nuisances: Sequence[Nuisances], clip: float, normalize: bool
) -> Floats:
    """(5,): weighted means of the same phi: the estimates alone, without what errors need."""
    found = np.zeros(5)
    for nu in nuisances:
        strata = strata_of(data, nu)
        a, c = _coefficients(strata, nu.clipped(clip), normalize)
        found += strata.people @ a + strata.score @ c
    return found / (len(nuisances) * float((data.w * data.n).sum()))


def strata_of(data: PathData, nu: Nuisances) -> Strata:
    """What the predictions stand for: their strata, else every cell for itself."""
    return Strata.cells(data) if nu.strata is None else nu.strata


def _coefficients(strata: Strata, nu: Nuisances, normalize: bool) -> tuple[Floats, Floats]:
    people, every = strata.people, float(strata.people.sum())
    a, c = np.zeros((len(people), 5)), np.zeros((len(people), 5))
    for j, name in enumerate(FUNCTIONALS):
        score = SCORES[name](strata.x, nu)
        a[:, j] += score.base
        for stage in score.stages:
            weight = stage.weight
            if normalize:
                weight = weight / (float((people * weight).sum()) / every)
            if stage.high is None:
                a[:, j] -= weight * stage.low
                c[:, j] += weight
            else:
                a[:, j] += weight * (stage.high - stage.low)
    return a, c


def mean_weights(data: PathData, nuisances: Sequence[Nuisances]) -> dict[str, Floats]:
    """Weights (C,) of every weight set, averaged over the repeats as phi is, in their order."""
    weights: dict[str, Floats] = {}
    for nu in nuisances:
        strata = strata_of(data, nu)
        for score in SCORES.values():
            for stage in score(strata.x, nu).stages:
                one = strata.spread(stage.weight) / len(nuisances)
                weights[stage.name] = weights.get(stage.name, 0.0) + one
    return weights
