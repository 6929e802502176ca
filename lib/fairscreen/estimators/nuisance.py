"""Nuisances of the path-specific effects, cross-fitted: P(X|.) and the sequential regressions.

A learner sees sums over the distinct values ("levels") of its features, never rows: fits cost what
the number of levels costs. The classifiers P(X|.) do not depend on the score: fitted once, they
serve every score of the same people (`Classifiers`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from scipy.optimize import nnls

from fairscreen.estimators.data import OTHER, Floats, Ints, PathData
from fairscreen.estimators.features import Features, Sums
from fairscreen.estimators.levels import GROUPS, Mask, Problem, Split, Strata, added, gathered


class Learner(Protocol):
    """Predicts every level (U,) from training sums. `name` tells one nuisance from another."""

    def mean(self, name: str, features: Features, sums: Sums) -> Floats: ...

    def probability(self, name: str, features: Features, sums: Sums) -> Floats: ...


@dataclass(frozen=True)
class Quality:
    """How well one nuisance foretells the cells left out, and of what it is mixed.

    loss: mean squared error per person, for a propensity the Brier score. baseline: that of the
    weighted mean, known beforehand. A nuisance that is a regression of another is measured
    against the other's predictions. weights: of the learners, by name; empty for one learner.
    """

    name: str
    loss: float
    baseline: float
    weights: dict[str, float]


@dataclass(frozen=True, eq=False)
class Nuisances:
    """Out-of-fold predictions for every cell (C,), or for every stratum (D,) where `strata` says
    which cells are alike; symbols of the paper (table 1).

    q: P(X in {x1, x0} | Z). e_z, e_rz, e_brz: P(x1 | ., X in {x1, x0}).
    m1, m0: E[Y | x, Z]. mu3: E[Y | B, R, x1, Z].
    mu1_w: E[mu3 | x0, Z]. mu2_b: E[mu3 | R, x0, Z]; mu1_b: E[mu2_b | x1, Z].
    mu2_r: E[Y | R, x1, Z]; mu1_r: E[mu2_r | x0, Z].
    Only the ratio P(x0|.) / P(x1|.) is needed given R and B, and it is the same within the two
    groups of the contrast; given Z, P(x1|Z) = q e_z, so other groups stay in P(Z).
    quality: of the nuisances that were fitted or are known; empty where none was measured.
    """

    q: Floats
    e_z: Floats
    e_rz: Floats
    e_brz: Floats
    m1: Floats
    m0: Floats
    mu3: Floats
    mu1_w: Floats
    mu2_b: Floats
    mu1_b: Floats
    mu2_r: Floats
    mu1_r: Floats
    quality: tuple[Quality, ...] = ()
    strata: Strata | None = None

    def clipped(self, clip: float) -> Nuisances:
        """The same with propensities kept in [clip, 1 - clip] (q in [clip, 1])."""
        bounds = {f: np.clip(getattr(self, f), clip, 1 - clip) for f in ("e_z", "e_rz", "e_brz")}
        return replace(self, q=np.maximum(self.q, clip), **bounds)


@dataclass(frozen=True, eq=False)
class Classifiers:
    """P(X|.) of every repeat, out of fold, for the cells (C, K); symbols as in `Nuisances`.

    quality: per repeat, of the three that were fitted or are known. They depend on the people,
    the folds, the options and the seed, and on nobody's score.
    """

    q: Floats
    e_z: Floats
    e_rz: Floats
    e_brz: Floats
    quality: tuple[tuple[Quality, ...], ...]

    @classmethod
    def of(
        cls, nuisances: Sequence[tuple[Mapping[str, Floats], tuple[Quality, ...]]]
    ) -> Classifiers:
        """From what `out_of_fold` gives for the cells, one repeat after the other."""

        def column(name: str) -> Floats:
            return np.stack([found[name] for found, _ in nuisances], axis=1)

        quality = tuple(quality for _, quality in nuisances)
        return cls(column("q"), column("e_z"), column("e_rz"), column("e_brz"), quality)

    def take(self, order: Ints) -> Classifiers:
        """Of the cells at `order`, in that order."""
        return Classifiers(
            self.q[order], self.e_z[order], self.e_rz[order], self.e_brz[order], self.quality
        )

    def repeat(self, k: int, at: Ints | None) -> dict[str, Floats]:
        """By name, those of one repeat at some cells; None: at all."""
        rows: Ints | slice = slice(None) if at is None else at
        return {f: getattr(self, f)[rows, k] for f in ("q", "e_z", "e_rz", "e_brz")}


@dataclass(frozen=True, eq=False)
class Step:
    """One nuisance: of people of `groups`, on the features of a stage.

    hits: a probability, of belonging to these groups. of: a regression of the predictions of
    another step, which sees more. Neither: a regression of the score. given (C,): what the data
    know it to be, None where they do not.
    """

    name: str
    stage: str
    groups: tuple[int, ...]
    hits: tuple[int, ...] | None = None
    of: str | None = None
    given: Floats | None = None

    def fit(self, learner: Learner, features: Features, sums: Sums) -> Floats:
        """Predictions by level (U,)."""
        predict = learner.mean if self.hits is None else learner.probability
        return predict(self.name, features, sums)

    def sums(
        self, split: Split, keep: Mask, sources: Mapping[str, tuple[str, Floats]], *, train: bool
    ) -> Sums:
        """Sums over the people of the folds `keep` (F,), by level; sources: stage and predictions
        by level of the steps before. train: under the weights of the fits."""
        train = train and self.stage in split.problem.sampled
        mine = added(split.tables(self.stage, train=train), self.groups, keep)
        if self.hits is not None:
            hits = added(split.tables(self.stage, train=train), self.hits, keep).w
            return Sums(mine.w, mine.ww, hits, hits)
        if self.of is None:
            return Sums(*mine)
        stage, values = sources[self.of]
        people = added(split.tables(stage, train=train), self.groups, keep).w
        home, levels = split.problem.home(stage, self.stage), len(mine.w)
        first, second = (gathered(people * values**k, home, levels) for k in (1, 2))
        return Sums(mine.w, mine.ww, first, second)


# Nuisances that later ones are regressions of.
_SOURCES = ("mu3", "mu2_b", "mu2_r")
PAIR = (1, 0)


def classifier_steps(data: PathData) -> tuple[Step, ...]:
    """P(X|.), in the paper's order."""
    only = not (data.x == OTHER).any()
    q = np.ones(len(data)) if only else data.p_contrast
    return (
        Step("q", "z", GROUPS, hits=PAIR, given=q),
        Step("e_z", "z", PAIR, hits=(1,), given=data.p_z),
        Step("e_rz", "rz", PAIR, hits=(1,), given=data.p_rz),
        Step("e_brz", "brz", PAIR, hits=(1,), given=data.p_brz),
    )


#: The regressions of the score, in an order in which each rests on earlier ones only.
SCORE_STEPS = (
    Step("m1", "z", (1,)),
    Step("m0", "z", (0,)),
    Step("mu3", "brz", (1,)),
    Step("mu1_w", "z", (0,), of="mu3"),
    Step("mu2_b", "rz", (0,), of="mu3"),
    Step("mu1_b", "z", (1,), of="mu2_b"),
    Step("mu2_r", "rz", (1,)),
    Step("mu1_r", "z", (0,), of="mu2_r"),
)


def cross_fit(
    problem: Problem, learner: Learner | Sequence[Learner], repeat: int, *, known: bool,
    classifiers: Classifiers | None = None, merge: bool = False,
) -> Nuisances:  # fmt: skip
    """Nuisances of one repeat: each cell is predicted by fits on the other folds.

    Of several learners each nuisance is their stack: the mean, with weights above 0 that sum to 1,
    that predicts the cells left out best (Brier score, squared error), all folds together; what
    the data know of a propensity is one more candidate. known: take such propensities as they are;
    that the data bring them is the caller's duty. classifiers: taken instead of fits, aligned with
    the cells. merge: one prediction per stratum instead of per cell, where the data know no
    propensity: they may know it of every cell.
    """
    data = problem.data
    plain = all(p is None for p in (data.p_z, data.p_rz, data.p_brz, data.p_contrast))
    strata = Strata.of(problem, repeat) if merge and plain else None
    plan: tuple[Step, ...] = SCORE_STEPS
    found: dict[str, Floats] = {}
    quality: tuple[Quality, ...] = ()
    if classifiers is None:
        plan = (*classifier_steps(data), *plan)
    else:
        found = classifiers.repeat(repeat, None if strata is None else strata.first)
        quality = classifiers.quality[repeat]
    fitted, more = out_of_fold(problem, learner, repeat, plan, known=known, strata=strata)
    return Nuisances(**found, **fitted, quality=(*quality, *more), strata=strata)


# E[Y | B, R, x, Z] and E[Y | x, Z] of both groups.
GIVEN_ALL = (Step("g1", "brz", (1,)), Step("g0", "brz", (0,)))
GIVEN_Z = (Step("m1", "z", (1,)), Step("m0", "z", (0,)))


def out_of_fold(
    problem: Problem, learner: Learner | Sequence[Learner], repeat: int, plan: Sequence[Step], *,
    known: bool, strata: Strata | None = None,
) -> tuple[dict[str, Floats], tuple[Quality, ...]]:  # fmt: skip
    """Predictions of each step of the plan for every cell (C,), or stratum (D,), by fits on the
    other folds, and how good they are on the cells left out."""
    learners = list(learner) if isinstance(learner, Sequence) else [learner]
    split = Split.of(problem, repeat)
    slot = split.slot if strata is None else split.slot[strata.first]
    out: dict[str, Floats] = {}
    quality: list[Quality] = []
    sources: list[dict[str, tuple[str, Floats]]] = [{} for _ in range(split.folds)]
    for step in plan:
        if step.given is not None and (known or step.name == "q"):
            out[step.name] = step.given if strata is None else step.given[strata.first]
            if step.name != "q":
                quality.append(_quality(step.name, _squares(problem, step, step.given), {}))
            continue
        features = problem.features(step.stage)
        found = np.empty((len(learners), split.folds, len(features.levels)))
        held: list[Sums] = []
        for k, source in enumerate(sources):
            here = np.arange(split.folds) == k
            sums = step.sums(split, ~here, source, train=True)
            for j, one in enumerate(learners):
                found[j, k] = step.fit(one, features, sums)
            held.append(step.sums(split, here, source, train=False))
        at = features.at
        cells = None
        if step.given is not None and len(learners) > 1:  # what the data know: another candidate
            cells = np.concatenate([found[:, split.slot, at], [step.given]])
        weights = _weights(problem, step, found, cells, held)
        names = [_label(one) for one in learners] + ["known"]
        shares = dict(zip(names, weights.tolist(), strict=False)) if len(weights) > 1 else {}
        if cells is None:
            table = np.tensordot(weights, found, axes=1)
            parts = [_left(p, one.w, one.y, one.yy) for p, one in zip(table, held, strict=True)]
            out[step.name] = table[slot, at if strata is None else at[strata.first]]
            if step.name in _SOURCES:
                for source, values in zip(sources, table, strict=True):
                    source[step.name] = step.stage, values
        else:
            mixed = weights @ cells
            parts = [_squares(problem, step, mixed)]
            out[step.name] = mixed if strata is None else mixed[strata.first]
        quality.append(_quality(step.name, np.sum(parts, axis=0), shares))
    return out, tuple(quality)


def fit_all(
    split: Split, learner: Learner, plan: Sequence[Step], held: Mask | None = None
) -> dict[str, Floats]:
    """Every step of the plan fitted once, on all people: predictions for every cell (C,). What the
    data know for certain is not fitted.

    held (F,): folds that are left out, whose sums go to the learner for tuning.
    """
    sources: dict[str, tuple[str, Floats]] = {}
    out: dict[str, Floats] = {}
    keep = np.ones(split.folds, dtype=bool) if held is None else ~held
    for step in plan:
        if step.name == "q" and step.given is not None:
            out["q"] = step.given
            continue
        sums = step.sums(split, keep, sources, train=True)
        if held is not None:
            sums = replace(sums, held=step.sums(split, held, sources, train=True))
        features = split.problem.features(step.stage)
        values = step.fit(learner, features, sums)
        sources[step.name] = step.stage, values
        out[step.name] = values[features.at]
    return out


def _weights(
    problem: Problem, step: Step, found: Floats, cells: Floats | None, held: Sequence[Sums]
) -> Floats:
    """Of the candidates: predictions found (J, F, V) by level or, where given, cells (J, C)."""
    if cells is None and len(found) > 1:
        parts = list(zip(found.swapaxes(0, 1), held, strict=True))
        square = np.sum([(p * sums.w) @ p.T for p, sums in parts], axis=0)
        return _simplex(square, np.sum([p @ sums.y for p, sums in parts], axis=0))
    if cells is None:
        return np.ones(1)
    data, rows = problem.data, np.isin(problem.data.x, step.groups)
    p, people = cells[:, rows], (data.w * data.n)[rows]
    hits = people * np.isin(data.x[rows], step.hits or ())
    return _simplex((p * people) @ p.T, p @ hits)


def _squares(problem: Problem, step: Step, p: Floats) -> Floats:
    """`_left` of a probability p (C,) by cell, over all folds."""
    data, rows = problem.data, np.isin(problem.data.x, step.groups)
    people = (data.w * data.n)[rows]
    hits = people * np.isin(data.x[rows], step.hits or ())
    return _left(p[rows], people, hits, hits)


def _left(p: Floats, w: Floats, y: Floats, yy: Floats) -> Floats:
    """Sums over people: w, w y, w y^2, w (y - p)^2; p, and sums by level or cell."""
    left = np.maximum(yy - 2 * p * y + p**2 * w, 0.0)
    return np.array([w.sum(), y.sum(), yy.sum(), left.sum()])


def _quality(name: str, parts: Floats, weights: dict[str, float]) -> Quality:
    people, y, yy, left = parts.tolist()
    return Quality(name, left / people, max(yy / people - (y / people) ** 2, 0.0), weights)


def _label(learner: Learner) -> str:
    """The learner's name in the options (PathOptions.learner)."""
    return str(getattr(learner, "label", type(learner).__name__.lower()))


def _simplex(square: Floats, cross: Floats) -> Floats:
    """Weights v >= 0, sum v = 1, of the least v' square v - 2 v' cross.

    By Cholesky-free non-negative least squares on the symmetric root; the sum is held by a row of
    large weight (Lawson & Hanson 1974, chapter 23).
    """
    size = max(float(np.trace(square)), np.finfo(float).tiny)
    values, vectors = np.linalg.eigh(square / size)
    values = np.maximum(values, 1e-14)  # candidates that agree: any mix of them will do
    root = np.sqrt(values)[:, None] * vectors.T
    right = (vectors.T @ (cross / size)) / np.sqrt(values)
    firm = 1e4
    top = np.full((1, len(cross)), firm)
    weights, _ = nnls(np.concatenate([root, top]), np.append(right, firm))
    total = float(weights.sum())
    return weights / total if total > 0 else np.full(len(cross), 1 / len(cross))
