"""The estimator against the plain g-formula (tests/g_formula.py).

With saturated nuisances that are fitted on all people the one-step corrections average to 0, so
that both are the same number.
"""

from __future__ import annotations

import dataclasses
from collections import defaultdict

import numpy as np
import pytest

from fairscreen.estimators.data import PathData, assign_folds
from fairscreen.estimators.levels import Problem, Split
from fairscreen.estimators.nuisance import SCORE_STEPS, Nuisances, classifier_steps, fit_all
from fairscreen.estimators.path_specific import PathOptions, effects_given, path_effects
from fairscreen.estimators.saturated import Saturated
from g_formula import Frequencies, effects

OPTIONS = PathOptions(learner="saturated", bootstrap_draws=0, clip=1e-9)
N = 12_000


def people(n: int = N, seed: int = 5, kinds: int = 3) -> dict[str, np.ndarray]:
    """Everybody once: x of `kinds` kinds, two confounders, two columns of R, one of B with three
    values, and a score in which they all interact; whole survey weights that follow everything."""
    draw = np.random.default_rng(seed)
    z = np.stack([draw.integers(0, 3, n), draw.integers(0, 2, n)], axis=1)
    bounds = np.cumsum(_tilted(z, kinds), axis=1)[:, :-1]
    x = (draw.random(n)[:, None] > bounds).sum(axis=1)
    r = (
        draw.random((n, 2)) < (0.3 + 0.15 * (x == 1) - 0.1 * (x == 2) + 0.1 * z[:, 1])[:, None]
    ).astype(int)
    b = draw.binomial(2, 0.35 + 0.15 * (x == 1) + 0.15 * r[:, 0] + 0.1 * (x == 2))
    y = 40 + 3 * (x == 1) * (1 + b) - 2 * r[:, 0] * b + r[:, 1] * z[:, 0] + 2 * (x == 2)
    y = np.round(y + draw.normal(0, 2, n), 1)
    w = draw.integers(1, 4, n) + 2 * b * r[:, 0] + (y > 44)
    return {"x": x, "z": z, "r": r, "b": b[:, None], "y": y, "w": w.astype(float)}


def _tilted(z: np.ndarray, kinds: int) -> np.ndarray:
    """P(X | Z), (n, kinds)."""
    size = 1.0 + np.stack([np.abs(z[:, 0] - k) + 0.5 * z[:, 1] * (k == 1) for k in range(kinds)], 1)
    return size / size.sum(axis=1, keepdims=True)


def cells(d: dict[str, np.ndarray], x1: int, x0: int, weighted: bool, folds: int = 2) -> PathData:
    fold = assign_folds(3, [str(i) for i in range(len(d["y"]))], folds, 1)
    code = np.where(d["x"] == x1, 1, np.where(d["x"] == x0, 0, -1))
    w = d["w"] if weighted else None
    return PathData.from_rows(x=code, z=d["z"], r=d["r"], b=d["b"], y=d["y"], fold=fold, w=w)


def injected(f: Frequencies, data: PathData, x1: int, x0: int) -> Nuisances:
    """Every nuisance as a ratio of counts, or a sum of them over what it does not condition on."""

    def p_x1(z: tuple, *more: tuple) -> float:
        one, zero = f.count[(x1, z, *more)], f.count[(x0, z, *more)]
        return one / (one + zero)

    def over_b(b: int, r: tuple, z: tuple) -> float:
        """E[E[Y | B, R, x1, Z] | R, b, Z]."""
        return sum(f.p_b(bb, r, b, z) * f.mean(bb, r, x1, z) for bb in f.b)

    found: dict[str, list[float]] = defaultdict(list)
    for row in zip(data.z.tolist(), data.r.tolist(), data.b.tolist(), strict=True):
        z, r, b = (tuple(v) for v in row)
        found["q"].append((f.count[(x1, z)] + f.count[(x0, z)]) / f.count[("z", z)])
        found["e_z"].append(p_x1(z))
        found["e_rz"].append(p_x1(z, r))
        found["e_brz"].append(p_x1(z, r, b))
        found["m1"].append(f.functional(x1, x1, x1, z))
        found["m0"].append(f.functional(x0, x0, x0, z))
        found["mu3"].append(f.mean(b, r, x1, z))
        found["mu1_w"].append(f.functional(x1, x0, x0, z))
        found["mu2_b"].append(over_b(x0, r, z))
        found["mu1_b"].append(f.functional(x1, x0, x1, z))
        found["mu2_r"].append(over_b(x1, r, z))
        found["mu1_r"].append(f.functional(x1, x1, x0, z))
    return Nuisances(**{name: np.array(values) for name, values in found.items()})


PAIRS = [(1, 0), (0, 1), (1, 2), (2, 0)]


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(("x1", "x0"), PAIRS)
def test_one_step_on_all_people_is_the_g_formula(x1: int, x0: int, weighted: bool) -> None:
    """Three kinds of X: the third stays in P(Z). Nuisances from counts, and from the learner."""
    d = people()
    f = Frequencies(d, weighted)
    expected = f.functionals(x1, x0)
    assert min(abs(v) for v in effects(expected).values()) > 0.02  # every path is open
    data = cells(d, x1, x0, weighted)
    plan = (*classifier_steps(data), *SCORE_STEPS)
    fitted = fit_all(Split.of(Problem.of(data), 0), Saturated(shrink=False), plan)
    counted = injected(f, data, x1, x0)
    for name, values in fitted.items():
        np.testing.assert_allclose(values, getattr(counted, name), rtol=0, atol=1e-9, err_msg=name)
    for nuisances in (counted, Nuisances(**fitted)):
        result = effects_given(data, [nuisances], OPTIONS)
        assert result.functionals == pytest.approx(expected, abs=1e-10)
        found = {name: effect.estimate for name, effect in result.effects.items()}
        assert found == pytest.approx(effects(expected), abs=1e-10)


def test_normalized_weights_change_nothing_where_the_corrections_average_to_0() -> None:
    d = people(kinds=2)
    f, data = Frequencies(d, weighted=False), cells(d, 1, 0, weighted=False)
    hajek = dataclasses.replace(OPTIONS, normalize=True)
    result = effects_given(data, [injected(f, data, 1, 0)], hajek)
    assert result.functionals == pytest.approx(f.functionals(1, 0), abs=1e-10)


def test_cross_fitted_effects_lie_within_a_fraction_of_their_error() -> None:
    """The default saturated learner, shrunk and cross-fitted: it is not the g-formula, but at this
    size what they differ by is small beside the sampling error."""
    d = people(40_000, seed=6)
    expected = effects(Frequencies(d, weighted=False).functionals(1, 0))
    result = path_effects(cells(d, 1, 0, weighted=False, folds=5), OPTIONS)
    for name, effect in result.effects.items():
        assert effect.estimate is not None, effect.reason
        assert abs(effect.estimate - expected[name]) < 0.2 * effect.std_error, name
