"""The saturated learner: shrinkage that adapts, and a logistic fit that is the optimum."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy.optimize import minimize

from fairscreen.estimators.data import Floats
from fairscreen.estimators.features import Features, Sums
from fairscreen.estimators.saturated import Saturated

LEVELS = np.array(list(itertools.product(range(4), range(5), range(5))))  # 100 cells
MAIN = 2.0 * LEVELS[:, 0] - LEVELS[:, 1] + 0.5 * LEVELS[:, 2]


def features() -> Features:
    return Features(LEVELS, np.arange(len(LEVELS)))


def scores(truth: Floats, people: np.ndarray, sd: float, seed: int) -> Sums:
    """Sums of `people` normal scores per cell around `truth`."""
    draw = np.random.default_rng(seed)
    y, yy = np.zeros(len(truth)), np.zeros(len(truth))
    for i, n in enumerate(people):
        values = draw.normal(truth[i], sd, n)
        y[i], yy[i] = values.sum(), (values**2).sum()
    n = people.astype(float)
    return Sums(n, n, y, yy)


def hits(p: Floats, people: np.ndarray, seed: int) -> Sums:
    y = np.random.default_rng(seed).binomial(people, p).astype(float)
    n = people.astype(float)
    return Sums(n, n, y, y)


def error(found: Floats, truth: Floats) -> float:
    return float(np.mean((found - truth) ** 2))


@pytest.mark.parametrize(("tau", "people"), [(1.0, 10), (2.0, 10), (2.0, 50)])
def test_mixture_has_the_weight_of_the_formula(tau: float, people: int) -> None:
    """Weight tau^2 / (tau^2 + s^2/n) on the cell's own mean, recovered from data."""
    wanted = tau**2 / (tau**2 + 25 / people)
    weights = []
    for seed in range(10):
        truth = MAIN + np.random.default_rng(seed).normal(0, tau, 100)
        sums = scores(truth, np.full(100, people), 5.0, 100 + seed)
        own, found = sums.y / sums.w, Saturated().mean("mu3", features(), sums)
        # found = glm + weight (own - glm), one weight for equal cells: the slope on `own`
        # among the residuals of the main effects.
        design = features().design
        hat = design @ np.linalg.pinv(design)
        left, right = found - hat @ found, own - hat @ own
        weights.append(float(left @ right / (right @ right)))
    assert np.mean(weights) == pytest.approx(wanted, abs=0.07)


@pytest.mark.parametrize("tau", [0.0, 1.0, 6.0])
def test_shrunk_means_beat_plain_means_and_hardly_lose_to_the_glm(tau: float) -> None:
    people = np.random.default_rng(0).integers(1, 12, 100)
    plain, shrunk, glm = [], [], []
    for seed in range(10):
        truth = MAIN + np.random.default_rng(seed).normal(0, tau, 100)
        sums = scores(truth, people, 5.0, seed)
        design = features().design
        weighted = design * np.sqrt(sums.w)[:, None]
        beta = np.linalg.lstsq(weighted, sums.y / np.sqrt(sums.w), rcond=None)[0]
        glm.append(error(design @ beta, truth))
        plain.append(error(sums.y / sums.w, truth))
        shrunk.append(error(Saturated().mean("mu3", features(), sums), truth))
    assert np.mean(shrunk) < np.mean(plain)
    assert np.mean(shrunk) < 1.15 * np.mean(glm)  # 7% at tau = 0, the price of estimating it


def test_empty_cells_take_the_main_effects() -> None:
    people = np.full(100, 200)
    people[[7, 42]] = 0
    found = Saturated().mean("mu3", features(), scores(MAIN, people, 1.0, 1))
    np.testing.assert_allclose(found[[7, 42]], MAIN[[7, 42]], atol=0.1)


def test_many_people_settle_a_cell() -> None:
    truth = MAIN + np.random.default_rng(1).normal(0, 3, 100)
    sums = scores(truth, np.full(100, 2000), 1.0, 1)
    found = Saturated().mean("mu3", features(), sums)
    np.testing.assert_allclose(found, sums.y / sums.w, atol=1e-3)


def test_cells_of_one_person_are_left_to_the_glm() -> None:
    """Nobody shares a cell: what the GLM misses cannot be told from noise."""
    sums = scores(MAIN, np.ones(100, dtype=int), 5.0, 3)
    assert error(Saturated().mean("mu3", features(), sums), MAIN) < 25 * 0.2


def test_logistic_part_is_the_penalised_optimum() -> None:
    p = 1 / (1 + np.exp(-(MAIN - 2) / 2))
    people = np.full(100, 30)
    sums = hits(p, people, 2)
    design = features().design

    def loss(beta: Floats) -> float:
        eta = design @ beta
        fit = sums.w @ np.logaddexp(0, eta) - sums.y @ eta
        return float(fit + 0.5 * (beta[1:] @ beta[1:]) / 2)

    best = minimize(loss, np.zeros(design.shape[1]), method="BFGS", options={"gtol": 1e-6}).x
    expected = 1 / (1 + np.exp(-design @ best))
    # Main effects are the truth here, so hardly anything is left to the cells' own means.
    found = Saturated().probability("e_z", features(), sums)
    assert error(found, expected) < 0.05 * error(sums.y / sums.w, expected)
    # Without people in the cells, the GLM alone answers: compare there exactly.
    probe = Features(np.concatenate([LEVELS, LEVELS]), np.arange(200))
    zeros = np.zeros(100)
    doubled = Sums(*(np.concatenate([v, zeros]) for v in (sums.w, sums.ww, sums.y, sums.yy)))
    empty = Saturated().probability("e_z", probe, doubled)[100:]
    np.testing.assert_allclose(empty, expected, atol=1e-5)


def test_interaction_in_a_propensity_is_found() -> None:
    eta = np.where(LEVELS[:, 0] == LEVELS[:, 1], 2.0, -1.0)  # no main effect shows it
    p = 1 / (1 + np.exp(-eta))
    sums = hits(p, np.full(100, 40), 5)
    found = Saturated().probability("e_brz", features(), sums)
    assert error(found, p) < 0.008  # binomial noise alone: 0.004; a main-effects fit: 0.03


def test_propensities_stay_inside_where_groups_separate() -> None:
    p = np.where(LEVELS[:, 0] == 0, 0.0, 1.0)
    found = Saturated().probability("e_rz", features(), hits(p, np.full(100, 50), 1))
    assert found.min() > 0
    assert found.max() < 1
    assert found[p == 0].max() < 0.01
    assert found[p == 1].min() > 0.99


def test_weights_count_as_fewer_people() -> None:
    """Half the people carry nine times the weight: cells know less, and are shrunk more."""
    truth = MAIN + np.random.default_rng(1).normal(0, 1.5, 100)
    draw = np.random.default_rng(2)
    w = np.where(np.arange(20) % 2 == 0, 9.0, 1.0)
    y = draw.normal(truth[:, None], 5.0, (100, 20))
    uneven = Sums(
        np.full(100, w.sum()), np.full(100, (w**2).sum()), y @ w, (y**2) @ w
    )  # fmt: skip
    naive = Sums(uneven.w, uneven.w, uneven.y, uneven.yy)
    own = uneven.y / uneven.w
    learner = Saturated()
    kept = [error(learner.mean("mu3", features(), s), own) for s in (uneven, naive)]
    assert kept[0] > 2 * kept[1]
