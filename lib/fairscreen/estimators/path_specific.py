"""Path-specific effects of a protected attribute on a score, by cross-fitted double machine
learning: five functionals, one-step (influence function) scores, on cells.

Order Z, X, R, B, Y: confounders, attribute, redlining mediators, business mediators, score.
TE = E1 - E0, NDE = E_W - E0, NIE = E1 - E_W, BIE = 1/2 [(E1 - E_B) + (E_R - E_W)],
RIE = 1/2 [(E1 - E_R) + (E_B - E_W)] = NIE - BIE. RIE includes the path X -> R -> B -> Y.
Source: PopResume, section on estimation and table 1; scores as derived there.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from fairscreen.errors import InputError
from fairscreen.estimators.data import Codes, Floats, PathData
from fairscreen.estimators.glm import Glm
from fairscreen.estimators.influence import bootstrap_intervals, influence, normal_intervals
from fairscreen.estimators.nuisance import Learner, Nuisances, Problem, cross_fit
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
    """How to estimate and when to refuse; defaults are those of conf/base.yml, but for the cap.

    learner: how nuisances are fitted: glm (main effects), saturated (cells shrunk to them),
    xgboost (the published grid), or the stack of these and of known densities: the mix that
    predicts best out of fold. propensity: known takes the design's P(X|.) as they are.
    clip: propensities are kept in [clip, 1 - clip]. min_effective_n, max_unit_share,
    max_clipped_share: overlap rules, on unclipped weights. normalize: divide each weight by its
    mean (Hajek). bootstrap_draws 0: no bootstrap. max_training_cells: the nuisances are fitted on
    about so many cells, drawn where there are more (training.py); None, the default: on all.
    """

    learner: LearnerName = "stack"
    propensity: Literal["fitted", "known"] = "fitted"
    clip: float = 0.001
    min_effective_n: float = 30
    max_unit_share: float = 0.1
    max_clipped_share: float = 0.01
    sensitivity_clips: tuple[float, ...] = (0.0001, 0.01, 0.05)
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


def path_effects(data: PathData, options: PathOptions) -> PathResult:
    """TE, NDE, NIE, BIE and RIE of X on the score, with errors, intervals and overlap.

    phi is averaged over the repeats of cross-fitting, and the errors are those of that average.
    A missing group, a fold that leaves nothing to train on or a constant score make the effects
    not computable, with the reason; so does a path without mediators (BIE without any b, RIE
    without any r), whose effect is 0 by definition and tests nothing. Raises InputError where
    options ask for known propensities that the data do not bring.
    """
    known = options.propensity == "known"
    if known and any(p is None for p in (data.p_z, data.p_rz, data.p_brz)):
        raise InputError(
            "arrays p_z, p_rz, p_brz",
            "known propensities are asked for and not all given",
            "Give all three, or choose propensity: fitted.",
        )
    if reason := impossible(data):
        return _nothing(data, options, reason)
    order = data.order()
    ordered = data.take(order)
    train = training_weights(ordered, options.max_training_cells, options.seed)
    problem = Problem.of(ordered, train)
    learner = learners(problem, options)
    repeats = range(ordered.fold.shape[1])
    nuisances = [cross_fit(problem, learner, k, known=known) for k in repeats]
    result = effects_given(ordered, nuisances, options)
    if result.influence is None or result.c is None:
        return result
    back = np.argsort(order)
    return PathResult(
        effects=result.effects,
        bootstrap=result.bootstrap,
        overlap=result.overlap,
        functionals=result.functionals,
        covariance=result.covariance,
        influence=result.influence[back],
        c=result.c[back],
    )


def effects_given(
    data: PathData, nuisances: Sequence[Nuisances], options: PathOptions
) -> PathResult:
    """The effects from nuisances fitted elsewhere, one set per repeat, aligned with `data`."""
    clips = sorted({options.clip, FLAG_CLIP, *options.sensitivity_clips})
    phis = {
        clip: influence_coefficients(data, nuisances, clip, options.normalize) for clip in clips
    }
    a, c = phis[options.clip]
    overlap = _overlap(data, nuisances, options)
    levels = influence(data, a, c)
    inference = influence(data, a @ CONTRASTS.T, c @ CONTRASTS.T)
    covariance = inference.covariance
    errors = np.sqrt(np.diag(covariance))
    moved = {
        clip: influence(data, b @ CONTRASTS.T, d @ CONTRASTS.T).estimate
        for clip, (b, d) in phis.items()
    }
    sensitivity = [
        {clip: float(moved[clip][j]) for clip in options.sensitivity_clips} for j in range(5)
    ]
    absent = absent_paths(data)
    verdicts = [
        _verdict(
            name,
            overlap,
            float(errors[j]),
            float(moved[FLAG_CLIP][j] - inference.estimate[j]),
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
            name: None if _broken(overlap, (name,)) else float(levels.estimate[j])
            for j, name in enumerate(FUNCTIONALS)
        },
        covariance=covariance,
        influence=a @ CONTRASTS.T,
        c=c @ CONTRASTS.T,
    )


def learners(problem: Problem, options: PathOptions) -> list[Learner]:
    """The learner of the options, or all of them for a stack."""
    found: list[Learner] = []
    if options.learner in ("stack", "glm"):
        found.append(Glm())
    if options.learner in ("stack", "saturated"):
        found.append(Saturated())
    if options.learner in ("stack", "xgboost"):
        from fairscreen.estimators.boosted import tuned

        found.append(tuned(problem, seed=options.seed))
    return found


def influence_coefficients(
    data: PathData, nuisances: Sequence[Nuisances], clip: float, normalize: bool
) -> tuple[Floats, Floats]:
    """Coefficients a, c (C, 5) of phi = a + c Y per functional, averaged over the repeats."""
    people = data.n * data.w
    a, c = np.zeros((len(data), 5)), np.zeros((len(data), 5))
    for nu in (raw.clipped(clip) for raw in nuisances):
        for j, name in enumerate(FUNCTIONALS):
            score = SCORES[name](data.x, nu)
            a[:, j] += score.base
            for stage in score.stages:
                weight = stage.weight
                if normalize:
                    weight = weight / (float((people * weight).sum()) / float(people.sum()))
                if stage.high is None:
                    a[:, j] -= weight * stage.low
                    c[:, j] += weight
                else:
                    a[:, j] += weight * (stage.high - stage.low)
    return a / len(nuisances), c / len(nuisances)


def _overlap(
    data: PathData, nuisances: Sequence[Nuisances], options: PathOptions
) -> tuple[OverlapRow, ...]:
    """One row per weight set, on weights averaged over the repeats as phi is."""
    weights: dict[str, Floats] = {}
    shares: dict[str, float] = {}
    for nu in nuisances:
        clipped = nu.clipped(options.clip)
        for score in SCORES.values():
            for raw, kept in zip(
                score(data.x, nu).stages, score(data.x, clipped).stages, strict=True
            ):
                weights[raw.name] = weights.get(raw.name, 0.0) + raw.weight / len(nuisances)
                share = clipped_share(data, raw.ratio, kept.ratio)
                shares[raw.name] = shares.get(raw.name, 0.0) + share / len(nuisances)
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
