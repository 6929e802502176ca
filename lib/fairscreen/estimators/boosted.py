"""Gradient-boosted nuisances with the published grid (PopResume, section on estimation).

n_estimators {5, 10, 20, 50, 100} x max_depth {1..5} x reg_lambda {0.5, 1, 2, 5}, chosen by Brier
score for P(X|.) and mean squared error for E[Y|.]. Tuned once per input, on a subsample and for
one split: tuning inside every fold moves the effects by less than a quarter of their error. A fit
of 100 trees predicts after 5, 10, 20 and 50 as well, so 20 fits give all 100 grid points.

Trees trained on weighted cells are the trees trained on their rows, up to single precision.
Features are the codes as numbers; a number that comes with its bins stands for itself, its bins
are left out. One thread, cells in key order.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
import xgboost as xgb

from fairscreen import random
from fairscreen.estimators.data import Floats, Ints, PathData
from fairscreen.estimators.features import Features, Sums
from fairscreen.estimators.levels import Problem, Split
from fairscreen.estimators.nuisance import Step, fit_all
from fairscreen.estimators.training import cell_keys

TREES = (5, 10, 20, 50, 100)
DEPTHS = (1, 2, 3, 4, 5)
LAMBDAS = (0.5, 1.0, 2.0, 5.0)
# People in the tuning subsample, about.
TUNING_PEOPLE = 6_000

_SQUARED = "reg:squarederror"
_LOGISTIC = "binary:logistic"


@dataclass(frozen=True)
class Setting:
    """A point of the grid."""

    trees: int
    depth: int
    reg_lambda: float


@dataclass(frozen=True)
class Boosted:
    """Boosted trees. `settings` by name of the nuisance; a nuisance that has none yet is tuned on
    the held-out sums that come with its training sums."""

    label: ClassVar[str] = "xgboost"
    settings: dict[str, Setting] = field(default_factory=dict)

    def mean(self, name: str, features: Features, sums: Sums) -> Floats:
        """Squared-error trees; the best setting has the least mean squared error."""
        return self._fit(name, features, sums, _SQUARED)

    def probability(self, name: str, features: Features, sums: Sums) -> Floats:
        """Logistic trees; the best setting has the least Brier score."""
        return self._fit(name, features, sums, _LOGISTIC)

    def _fit(self, name: str, features: Features, sums: Sums, objective: str) -> Floats:
        if len(features.levels) == 1:
            return np.full(1, sums.y.sum() / sums.w.sum())
        if name not in self.settings:
            self.settings[name] = _search(features, sums, objective)
        setting = self.settings[name]
        model = _train(_rows(features, sums), objective, setting)
        levels = features.splitting.astype(np.float32)
        found = model.inplace_predict(levels, iteration_range=(0, setting.trees))
        return np.asarray(found, dtype=np.float64)


def tuned(problem: Problem, plan: Sequence[Step], *, seed: int) -> Boosted:
    """Boosted trees with the settings that predict best for the steps of a plan on this input.

    The subsample is a hash draw of cells; its first fold of the first repeat is held out. Stages
    are tuned in order, each on the pseudo-outcomes of the stage before it at its best setting.
    """
    split = Split.of(Problem.of(_subsample(problem.data, seed)), 0)
    learner = Boosted()
    fit_all(split, learner, plan, np.arange(split.folds) == 0)
    return learner


def _subsample(data: PathData, seed: int) -> PathData:
    """About TUNING_PEOPLE people: whole cells, by a hash of what they are."""
    share = TUNING_PEOPLE / int(data.n.sum())
    if share >= 1:
        return data
    kept: Ints = np.flatnonzero(random.row_uniforms(seed, "paths/tuning", cell_keys(data)) < share)
    sample = data.take(kept)
    fold = sample.fold[:, 0] if len(sample) else np.zeros(0)
    homes = [len(np.unique(fold[sample.x == group])) for group in (0, 1)]
    return sample if min(homes) > 1 else data


def _search(features: Features, sums: Sums, objective: str) -> Setting:
    """The point of the grid with the least loss of the people held out; ties go to the smaller."""
    if (held := sums.held) is None:
        raise ValueError("a nuisance without a setting needs held-out sums")
    rows, some = _rows(features, sums), held.w > 0
    test = xgb.DMatrix(features.splitting[some].astype(np.float32), nthread=1)
    w, y, yy = held.w[some], held.y[some], float(held.yy[some].sum())
    best, least = Setting(TREES[0], DEPTHS[0], LAMBDAS[0]), np.inf
    for depth in DEPTHS:
        for reg_lambda in LAMBDAS:
            model = _train(rows, objective, Setting(TREES[-1], depth, reg_lambda))
            for trees in TREES:
                p = model.predict(test, iteration_range=(0, trees)).astype(np.float64)
                loss = yy + float(p @ (p * w - 2 * y))
                if loss < least:
                    best, least = Setting(trees, depth, reg_lambda), loss
    return best


def _rows(features: Features, sums: Sums) -> xgb.DMatrix:
    """The levels with people as training rows."""
    seen = sums.w > 0
    scale = sums.w.sum() / sums.ww.sum()  # weights count people, as reg_lambda does
    return xgb.DMatrix(
        features.splitting[seen].astype(np.float32),
        label=sums.y[seen] / sums.w[seen],
        weight=sums.w[seen] * scale,
        nthread=1,
    )


def _train(rows: xgb.DMatrix, objective: str, setting: Setting) -> xgb.Booster:
    """The trees, round by round: xgboost.train would spend as long on callbacks as on trees."""
    parameters = {
        "objective": objective,
        "max_depth": setting.depth,
        "reg_lambda": setting.reg_lambda,
        "nthread": 1,
        "seed": 0,
        "verbosity": 0,
    }
    model = xgb.Booster(parameters, [rows])
    for k in range(setting.trees):
        model.update(rows, k)
    return model
