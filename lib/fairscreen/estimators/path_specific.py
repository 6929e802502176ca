"""Path-specific effects of a protected attribute on a score, by cross-fitted double machine
learning: five functionals, one-step (influence function) scores, on cells.

Order Z, X, R, B, Y: confounders, attribute, redlining mediators, business mediators, score.
TE = E1 - E0, NDE = E_W - E0, NIE = E1 - E_W, BIE = 1/2 [(E1 - E_B) + (E_R - E_W)],
RIE = 1/2 [(E1 - E_R) + (E_B - E_W)] = NIE - BIE. RIE includes the path X -> R -> B -> Y.
Source: PopResume, section on estimation and table 1; scores as derived there.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from fairscreen.errors import InputError
from fairscreen.estimators.data import PathData
from fairscreen.estimators.diagnostics import diagnostics
from fairscreen.estimators.functionals import (
    SCORES,
    functional_means,
    influence_coefficients,
    mean_weights,
    strata_of,
)
from fairscreen.estimators.glm import Glm
from fairscreen.estimators.influence import bootstrap_intervals, influence, normal_intervals
from fairscreen.estimators.levels import STAGES, Problem
from fairscreen.estimators.nuisance import (
    SCORE_STEPS,
    Classifiers,
    Learner,
    Nuisances,
    Step,
    classifier_steps,
    cross_fit,
    out_of_fold,
)
from fairscreen.estimators.overlap import absent_paths, clipped_share, impossible, overlap_row
from fairscreen.estimators.results import (
    CONTRASTS,
    EFFECTS,
    FUNCTIONALS,
    Effect,
    OverlapRow,
    PathResult,
    Status,
)
from fairscreen.estimators.saturated import Saturated
from fairscreen.estimators.training import training_weights

LearnerName = Literal["stack", "saturated", "glm", "xgboost"]
# A clip at which an effect moves by over half its error is flagged.
FLAG_CLIP = 0.01
FLAG_SHARE = 0.5


@dataclass(frozen=True)
class PathOptions:
    """How to estimate and when to refuse; defaults are those of conf/designs, but for the cap.

    learner: how nuisances are fitted: glm (main effects), saturated (cells shrunk to them),
    xgboost (the published grid), or the stack of these and of known densities: the mix that
    predicts best out of fold. propensity: known takes the design's P(X|.) as they are.
    clip: propensities are kept in [clip, 1 - clip]. min_effective_n, max_unit_share,
    max_clipped_share: overlap rules, on unclipped weights. normalize: divide each weight by its
    mean (Hajek). bootstrap_draws 0: no bootstrap. max_training_cells: the nuisances are fitted on
    about so many values of (Z, R, B), drawn where there are more (training.py); None, the
    default: on all.
    """

    learner: LearnerName = "stack"
    propensity: Literal["fitted", "known"] = "fitted"
    clip: float = 0.001
    min_effective_n: float = 30
    max_unit_share: float = 0.1
    max_clipped_share: float = 0.01
    sensitivity_clips: tuple[float, ...] = (0.0001, 0.001, 0.01, 0.03, 0.1)
    level: float = 0.95
    bootstrap_draws: int = 500
    seed: int = 0
    normalize: bool = False
    max_training_cells: int | None = None

    def __post_init__(self) -> None:
        for clip in (self.clip, *self.sensitivity_clips):
            if not 0 < clip < 0.5:
                raise InputError(
                    "clip", f"{clip} leaves no propensity between its bounds", "Use (0, 0.5)."
                )
        if not 0 < self.level < 1:
            raise InputError("level", f"{self.level} is no confidence level", "Use (0, 1).")
        if self.bootstrap_draws < 0:
            raise InputError("bootstrap_draws", "is below 0", "Use 0 for no bootstrap.")


def path_effects(
    data: PathData, options: PathOptions, classifiers: Classifiers | None = None
) -> PathResult:
    """TE, NDE, NIE, BIE and RIE of X on the score, with errors, intervals and overlap.

    classifiers: those of `fit_classifiers` for the same cells and options, which other scores of
    the same people share; None: fitted here, to the same numbers.
    phi is averaged over the repeats of cross-fitting, and the errors are those of that average.
    A missing group, a fold that leaves nothing to train on or a constant score make the effects
    not computable, with the reason; so does a path without mediators (BIE without any b, RIE
    without any r), whose effect is 0 by definition and tests nothing. Raises InputError where
    options ask for known propensities that the data do not bring.
    """
    known = _known(data, options)
    if classifiers is not None and classifiers.q.shape != data.fold.shape:
        raise InputError(
            "classifiers",
            f"are for {classifiers.q.shape} cells and repeats where the data have "
            f"{data.fold.shape}",
            "Fit them on these cells, or leave them out.",
        )
    if reason := impossible(data):
        return _nothing(data, options, reason)
    order = data.order()
    ordered = data.take(order)
    problem = _problem(ordered, options)
    given = None if classifiers is None else classifiers.take(order)
    plan = SCORE_STEPS if given else (*classifier_steps(ordered), *SCORE_STEPS)
    learner = learners(problem, options, plan)
    nuisances = [
        cross_fit(problem, learner, k, known=known, classifiers=given, merge=True)
        for k in range(ordered.fold.shape[1])
    ]
    result = effects_given(ordered, nuisances, options)
    if result.influence is None or result.c is None:
        return result
    back = np.argsort(order)
    return replace(result, influence=result.influence[back], c=result.c[back])


def fit_classifiers(data: PathData, options: PathOptions) -> Classifiers | None:
    """P(X|.) of these cells, out of fold, for every score of the same people: no sum of the score
    is looked at. None where a group is missing or in one fold: nothing can be fitted.

    Raises InputError as `path_effects` does.
    """
    known = _known(data, options)
    n = data.n.astype(np.float64)
    if impossible(replace(data, sum_y=n, sum_yy=2 * n)):  # of the score nothing is asked
        return None
    order = data.order()
    ordered = data.take(order)
    problem, plan = _problem(ordered, options), classifier_steps(ordered)
    learner = learners(problem, options, plan)
    repeats = range(ordered.fold.shape[1])
    found = [out_of_fold(problem, learner, k, plan, known=known) for k in repeats]
    return Classifiers.of(found).take(np.argsort(order))


def _known(data: PathData, options: PathOptions) -> bool:
    known = options.propensity == "known"
    if known and any(p is None for p in (data.p_z, data.p_rz, data.p_brz)):
        raise InputError(
            "arrays p_z, p_rz, p_brz",
            "known propensities are asked for and not all given",
            "Give all three, or choose propensity: fitted.",
        )
    return known


def _problem(data: PathData, options: PathOptions) -> Problem:
    problem, cap = Problem.of(data), options.max_training_cells
    train = training_weights(data, problem.brz.at, cap, options.seed)
    many = [s for s in STAGES if cap is not None and len(problem.features(s).levels) > cap]
    return replace(problem, train=train, sampled=frozenset(many))


def effects_given(
    data: PathData, nuisances: Sequence[Nuisances], options: PathOptions
) -> PathResult:
    """The effects from nuisances fitted elsewhere, one set per repeat, aligned with `data`."""
    clips = sorted({options.clip, FLAG_CLIP, *options.sensitivity_clips})
    means = {clip: functional_means(data, nuisances, clip, options.normalize) for clip in clips}
    a, c = influence_coefficients(data, nuisances, options.clip, options.normalize)
    overlap = _overlap(data, nuisances, options)
    a, c = a @ CONTRASTS.T, c @ CONTRASTS.T
    inference = influence(data, a, c)
    covariance = inference.covariance
    errors = np.sqrt(np.diag(covariance))
    moves = {clip: CONTRASTS @ (means[clip] - means[options.clip]) for clip in clips}
    sensitivity = [
        {clip: float(inference.estimate[j] + moves[clip][j]) for clip in options.sensitivity_clips}
        for j in range(5)
    ]
    absent = absent_paths(data)
    verdicts = [
        _verdict(
            name,
            overlap,
            float(errors[j]),
            float(moves[FLAG_CLIP][j]),
            _rounding(data),
            absent,
        )
        for j, name in enumerate(EFFECTS)
    ]
    n = int(data.n.sum())
    effects: dict[str, Effect] = {}
    bootstrap: dict[str, Effect] = {}
    clustered = data.cluster is not None
    normal = normal_intervals(inference, options.level, clustered=clustered)
    drawn = bootstrap_intervals(inference, options.level, options.bootstrap_draws, options.seed)
    for j, name in enumerate(EFFECTS):
        status, reason = verdicts[j]
        if status == "not_computable":
            nothing = Effect(name, None, None, None, None, None, n, status, reason)
            effects[name] = bootstrap[name] = nothing
            continue
        effects[name] = Effect(name, *normal[j], n, status, reason, sensitivity[j])
        if drawn:
            bootstrap[name] = Effect(name, *drawn[j], n, status, reason, sensitivity[j])
    return PathResult(
        effects=effects,
        bootstrap=bootstrap if drawn else {},
        overlap=overlap,
        functionals={
            name: None if _broken(overlap, (name,)) else float(means[options.clip][j])
            for j, name in enumerate(FUNCTIONALS)
        },
        covariance=covariance,
        influence=a,
        c=c,
        diagnostics=diagnostics(data, nuisances, options.clip, options.normalize),
    )


def learners(
    problem: Problem, options: PathOptions, plan: Sequence[Step] | None = None
) -> list[Learner]:
    """The learner of the options, or all of them for a stack, for the steps of a plan (None: for
    every nuisance of the effects)."""
    found: list[Learner] = []
    if options.learner in ("stack", "glm"):
        found.append(Glm())
    if options.learner in ("stack", "saturated"):
        found.append(Saturated())
    if options.learner in ("stack", "xgboost"):
        from fairscreen.estimators.boosted import tuned

        plan = plan or (*classifier_steps(problem.data), *SCORE_STEPS)
        found.append(tuned(problem, plan, seed=options.seed))
    return found


def _overlap(
    data: PathData, nuisances: Sequence[Nuisances], options: PathOptions
) -> tuple[OverlapRow, ...]:
    """One row per weight set, on weights averaged over the repeats as phi is."""
    weights = mean_weights(data, nuisances)
    shares = dict.fromkeys(weights, 0.0)
    for nu in nuisances:
        strata, clipped = strata_of(data, nu), nu.clipped(options.clip)
        for score in SCORES.values():
            raw, kept = (score(strata.x, one).stages for one in (nu, clipped))
            for stage, other in zip(raw, kept, strict=True):
                ratios = strata.spread(stage.ratio), strata.spread(other.ratio)
                shares[stage.name] += clipped_share(data, *ratios) / len(nuisances)
    return tuple(
        overlap_row(data, name, weight, shares[name], options) for name, weight in weights.items()
    )


def _broken(overlap: Iterable[OverlapRow], functionals: Iterable[str]) -> list[str]:
    wanted = set(functionals)
    return [
        f"{row.weight_set} {row.verdict}"
        for row in overlap
        if row.verdict != "ok" and row.weight_set.split(":")[0] in wanted
    ]


def _verdict(
    name: str,
    overlap: tuple[OverlapRow, ...],
    error: float,
    move: float,
    rounding: float,
    absent: Mapping[str, str],
) -> tuple[Status, str | None]:
    if name in absent:
        return "not_computable", absent[name]
    used = [f for f, sign in zip(FUNCTIONALS, CONTRASTS[EFFECTS.index(name)], strict=True) if sign]
    if broken := _broken(overlap, used):
        return "not_computable", "overlap: " + "; ".join(broken)
    if error <= rounding:
        return "not_computable", "the influence does not vary: there is no standard error"
    if abs(move) > FLAG_SHARE * error:
        return "flagged", (
            f"clip: {FLAG_CLIP:g} moves the estimate by {move / error:+.2f} of its standard "
            f"error, over {FLAG_SHARE:g} of it"
        )
    return "ok", None


def _rounding(data: PathData) -> float:
    """An error that rounding alone can make, in points of the score."""
    return float(1e-14 * np.sqrt(data.sum_yy.sum() / data.n.sum()))


def _nothing(data: PathData, options: PathOptions, reason: str) -> PathResult:
    n = int(data.n.sum())
    effects = {
        e: Effect(e, None, None, None, None, None, n, "not_computable", reason) for e in EFFECTS
    }
    return PathResult(
        effects=effects,
        bootstrap=dict(effects) if options.bootstrap_draws else {},
        overlap=(),
        functionals=dict.fromkeys(FUNCTIONALS),
        covariance=None,
        influence=None,
        c=None,
    )
