"""Known truths of the path-specific effects, to the last published digit.

All-binary model: Z ~ Bernoulli(Phi(-0.2)); R = W ~ Bernoulli(Phi(x - z - 0.8)); B = V ~
Bernoulli(Phi(x - z + w - 0.8)); E[Y] = Phi(x - z + 2 (w - v) - 0.5). The effects do not depend on
P(X | Z). The exact values are enumerated here, apart from the estimator, and compared with the
figures on file.
"""

from __future__ import annotations

import itertools
from math import erf, sqrt

import numpy as np
import pytest

from fairscreen.estimators.data import PathData, assign_folds
from fairscreen.estimators.path_specific import PathOptions, PathResult, path_effects

LEVELS = {
    "E0": 0.2163156, "E1": 0.4560247, "E_W": 0.4885800, "E_B": 0.5810604, "E_R": 0.3474193,
}  # fmt: skip
EFFECTS = {
    "TE": 0.2397091, "NDE": 0.2722644, "NIE": -0.0325553, "BIE": -0.1330982, "RIE": 0.1005429,
}  # fmt: skip
P_X1 = (0.6, 0.35)  # by Z; any numbers inside (0, 1) will do


def phi(value: float) -> float:
    return (1 + erf(value / sqrt(2))) / 2


def bernoulli(p: float, value: int) -> float:
    return p if value else 1 - p


def p_z(z: int) -> float:
    return bernoulli(phi(-0.2), z)


def p_w(w: int, x: int, z: int) -> float:
    return bernoulli(phi(x - z - 0.8), w)


def p_v(v: int, x: int, w: int, z: int) -> float:
    return bernoulli(phi(x - z + w - 0.8), v)


def mean_y(x: int, w: int, v: int, z: int) -> float:
    return phi(x - z + 2 * (w - v) - 0.5)


def enumerated(y: int, v_from: int, w_from: int) -> float:
    """E[Y_{y, V_{v_from, W_w_from}, W_w_from}] by summing over all values."""
    return sum(
        p_z(z) * p_w(w, w_from, z) * p_v(v, v_from, w, z) * mean_y(y, w, v, z)
        for z, w, v in itertools.product((0, 1), repeat=3)
    )


def test_figures_on_file_are_the_enumerated_truth() -> None:
    levels = {
        "E0": enumerated(0, 0, 0), "E1": enumerated(1, 1, 1), "E_W": enumerated(1, 0, 0),
        "E_B": enumerated(1, 0, 1), "E_R": enumerated(1, 1, 0),
    }  # fmt: skip
    assert {k: round(v, 7) for k, v in levels.items()} == LEVELS
    bie = ((levels["E1"] - levels["E_B"]) + (levels["E_R"] - levels["E_W"])) / 2
    rie = ((levels["E1"] - levels["E_R"]) + (levels["E_B"] - levels["E_W"])) / 2
    assert round(bie, 7) == EFFECTS["BIE"]
    assert round(rie, 7) == EFFECTS["RIE"]


def population(*, known: bool) -> PathData:
    """The whole population, as weighted cells, once in each of two folds."""
    rows = [
        (z, x, w, v, fold) for z, x, w, v, fold in itertools.product((0, 1), repeat=5)
    ]  # fmt: skip
    people = 10**9
    share = [
        p_z(z) * bernoulli(P_X1[z], x) * p_w(w, x, z) * p_v(v, x, w, z) for z, x, w, v, _ in rows
    ]
    y = np.array([mean_y(x, w, v, z) for z, x, w, v, _ in rows])

    def given(z: int, w: int | None = None, v: int | None = None) -> float:
        part = {1: 0.0, 0: 0.0}
        for (zz, x, ww, vv, _), p in zip(rows, share, strict=True):
            if zz == z and w in (None, ww) and v in (None, vv):
                part[x] += p
        return part[1] / (part[1] + part[0])

    columns = np.array(rows)
    return PathData(
        x=columns[:, 1], z=columns[:, :1], r=columns[:, 2:3], b=columns[:, 3:4],
        n=np.full(len(rows), people), w=np.array(share),
        sum_y=people * y, sum_yy=people * y, fold=columns[:, 4:],
        p_z=np.array([given(z) for z, *_ in rows]) if known else None,
        p_rz=np.array([given(z, w) for z, _, w, _, _ in rows]) if known else None,
        p_brz=np.array([given(z, w, v) for z, _, w, v, _ in rows]) if known else None,
    )  # fmt: skip


def check(result: PathResult, tolerance: float) -> None:
    assert result.functionals == pytest.approx(LEVELS, abs=tolerance)
    assert {k: e.estimate for k, e in result.effects.items()} == pytest.approx(
        EFFECTS, abs=tolerance
    )
    assert {e.status for e in result.effects.values()} == {"ok"}


@pytest.mark.parametrize("propensity", ["fitted", "known"])
def test_population_gives_the_truth(propensity: str) -> None:
    data = population(known=propensity == "known")
    check(path_effects(data, PathOptions(learner="saturated", propensity=propensity)), 1e-6)  # type: ignore[arg-type]


def sample(n: int, seed: int) -> dict[str, np.ndarray]:
    draw = np.random.default_rng(seed)
    vphi = np.vectorize(phi)
    z = (draw.random(n) < vphi(-0.2)).astype(int)
    x = (draw.random(n) < np.array(P_X1)[z]).astype(int)
    w = (draw.random(n) < vphi(x - z - 0.8)).astype(int)
    v = (draw.random(n) < vphi(x - z + w - 0.8)).astype(int)
    y = (draw.random(n) < vphi(x - z + 2 * (w - v) - 0.5)).astype(float)
    return {"x": x, "z": z, "r": w, "b": v, "y": y}


@pytest.mark.parametrize("learner", ["saturated", "xgboost"])
def test_sample_covers_the_truth(learner: str) -> None:
    n = 20_000 if learner == "saturated" else 4_000
    folds = assign_folds(7, [str(i) for i in range(n)], 5, 2 if learner == "saturated" else 1)
    data = PathData.from_rows(**sample(n, 20260322), fold=folds)
    result = path_effects(data, PathOptions(learner=learner))  # type: ignore[arg-type]
    for name, truth in EFFECTS.items():
        effect = result.effects[name]
        assert effect.status == "ok"
        assert effect.estimate is not None
        assert effect.std_error is not None
        assert abs(effect.estimate - truth) < 4 * effect.std_error
        # Informative: an error no larger than a sample of this size deserves.
        assert effect.std_error < 1.2 / np.sqrt(n)


def test_linear_model_gives_its_coefficients() -> None:
    """X -> R (0.5), X -> B (0.6), R -> B (0.5), Y = 50 + 2 X + 1.5 R + 3 B + noise: NDE 2,
    BIE 3 * 0.6 = 1.8, RIE (1.5 + 3 * 0.5) * 0.5 = 1.5. R in half points and B in fifths are
    binomial with these conditional means, so that codes lose nothing and overlap holds."""
    n = 20_000
    draw = np.random.default_rng(5)
    z = draw.integers(0, 3, n)
    x = draw.integers(0, 2, n)
    r = draw.binomial(4, (3 + 2 * x) / 8)  # mean 1.5 + x half points
    b = draw.binomial(20, (6 + 3 * x + 1.25 * r) / 20)  # 5 (0.6 x + 0.5 r / 2) fifths, and 6
    y = 50 + 2 * x + 1.5 * r / 2 + 3 * b / 5 + z + draw.normal(0, 1, n)
    folds = assign_folds(3, [str(i) for i in range(n)], 5, 1)
    data = PathData.from_rows(x=x, z=z, r=r, b=b, y=y, fold=folds)
    result = path_effects(data, PathOptions(learner="saturated"))
    truth = {"TE": 5.3, "NDE": 2.0, "NIE": 3.3, "BIE": 1.8, "RIE": 1.5}
    for name, value in truth.items():
        effect = result.effects[name]
        assert effect.estimate is not None, effect.reason
        assert effect.std_error is not None
        assert abs(effect.estimate - value) < 3.5 * effect.std_error
        assert effect.std_error < 0.15
