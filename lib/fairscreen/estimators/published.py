"""The published bootstrap of the path-specific effects, for comparison with our own intervals.

It follows the paper's code where that differs from ours: rows are resampled *before* folds are
made, so copies of one person fall into training and test folds alike; and the estimate reported
is the mean over the bootstrap samples, not that of the full sample. Both shift the answer. One
difference stays: boosted trees are tuned once, not inside every fold and sample.
Source: PopResume, section on estimation (500 samples, 5 folds, 95% percentile intervals).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from fairscreen import random
from fairscreen.errors import InputError
from fairscreen.estimators.data import Floats, PathData
from fairscreen.estimators.functionals import functional_means
from fairscreen.estimators.levels import Problem
from fairscreen.estimators.nuisance import Learner, cross_fit
from fairscreen.estimators.overlap import impossible
from fairscreen.estimators.path_specific import (
    PathOptions,
    learners,
    path_effects,
)
from fairscreen.estimators.results import CONTRASTS, EFFECTS, Effect


def published_bootstrap(
    data: PathData, options: PathOptions, *, draws: int = 500, folds: int = 5
) -> dict[str, Effect]:
    """Effects by estimand: mean and percentiles over `draws` refits, two-sided Monte Carlo p.

    data: one person per row (cells=False); its own folds are used for the overlap rules only, and
    an effect that they refuse or flag is refused or flagged here. Samples that leave a fold
    without one of the groups are drawn anew. Raises InputError for cells of several people.
    """
    if draws < 2:
        raise InputError("draws", f"{draws} give no spread", "Give 2 or more.")
    if (data.n > 1).any():
        raise InputError(
            "array n",
            "holds several people per cell; the published bootstrap resamples rows",
            "Build the data with cells=False.",
        )
    full = path_effects(data, replace(options, bootstrap_draws=0))
    reasons = {n: e.reason for n, e in full.effects.items() if e.status == "not_computable"}
    people = int(data.n.sum())
    if len(reasons) == len(EFFECTS):
        return {name: full.effects[name] for name in EFFECTS}
    ordered = data.take(data.order())
    learner = learners(Problem.of(ordered), options)
    found: list[Floats] = []
    attempt = 0
    while len(found) < draws and attempt < 20 * draws:
        sample = _resampled(ordered, f"published/{attempt}", options.seed, folds)
        attempt += 1
        if impossible(sample) is None:
            found.append(_estimates(sample, learner, options))
    if len(found) < draws:
        reason = f"only {len(found)} of {draws} bootstrap samples could be fitted"
        return {name: _refused(name, people, reason) for name in EFFECTS}
    table = np.stack(found)
    tail = (1 - options.level) / 2
    out: dict[str, Effect] = {}
    for j, name in enumerate(EFFECTS):
        if reason_of := reasons.get(name):
            out[name] = _refused(name, people, reason_of)
            continue
        column = table[:, j]
        low, high = np.quantile(column, [tail, 1 - tail]).tolist()
        side = min(int((column <= 0).sum()), int((column >= 0).sum()))
        judged = full.effects[name]
        out[name] = Effect(
            estimand=name,
            estimate=float(column.mean()),
            std_error=float(column.std(ddof=1)),
            ci_low=low,
            ci_high=high,
            p_value=min(1.0, 2 * (1 + side) / (1 + draws)),
            n=people,
            status=judged.status,
            reason=judged.reason,
        )
    return out


def _resampled(data: PathData, purpose: str, seed: int, folds: int) -> PathData:
    """As many rows, drawn with replacement, then dealt to folds without regard to copies."""
    places = np.arange(len(data), dtype=np.int64)
    rows = random.integers(seed, purpose, places, len(data))
    fold = random.integers(seed, purpose + "/fold", places, folds)
    return replace(data.take(rows), fold=fold[:, None])


def _estimates(data: PathData, learner: Sequence[Learner], options: PathOptions) -> Floats:
    known = options.propensity == "known"
    nuisances = [cross_fit(Problem.of(data), learner, 0, known=known, merge=True)]
    return CONTRASTS @ functional_means(data, nuisances, options.clip, options.normalize)


def _refused(name: str, people: int, reason: str) -> Effect:
    return Effect(name, None, None, None, None, None, people, "not_computable", reason)
