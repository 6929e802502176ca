"""The estimators on somebody else's file, without Spark and without a warehouse.

Rows have the columns of the `estimates` table that make sense for one file (ROW); what was left
out is counted by reason.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from fairscreen.confidence import check_level
from fairscreen.errors import InputError
from fairscreen.estimators.data import PathData, assign_folds
from fairscreen.estimators.equivalence import tost
from fairscreen.estimators.multiplicity import adjust
from fairscreen.estimators.path_specific import LearnerName, PathOptions, path_effects
from fairscreen.estimators.replicates import DesignBased, ReplicateSums, design_based
from fairscreen.estimators.results import EFFECTS, PathResult
from fairscreen.estimators.selection import Outcomes, outcome_rows
from fairscreen.estimators.sensitivity import ConfoundingBound, confounding_bounds
from fairscreen.input_columns import (
    MANY,
    binned,
    check_roles,
    check_sizes,
    check_weights,
    coded,
    complete,
    relative,
    require_group,
    scaled,
)
from fairscreen.input_files import equals, labels, numbers, read_table
from fairscreen.input_replicates import replicate_columns, replicate_weights
from fairscreen.result_rows import ROW

__all__ = ["ROW", "analyze_paths", "read_table"]

FAMILIES = (("NDE", "BIE", "RIE"), ("TE", "NIE"))
MAX_FOLDS = 50
MAX_BINS = 100


def analyze_paths(
    frame: pd.DataFrame,
    *,
    x: str,
    x1: str,
    x0: str,
    z: Sequence[str],
    r: Sequence[str],
    b: Sequence[str],
    y: str,
    weight: str | None = None,
    replicates: Sequence[str] = (),
    replicate_scale: float | None = None,
    cluster: str | None = None,
    learner: LearnerName = "stack",
    repeats: int = 3,
    folds: int = 5,
    seed: int = 20260322,
    bins: int = 5,
    level: float = 0.95,
    bootstrap_draws: int = 500,
    margin: float | None = None,
    confounder: tuple[float, float] | None = None,
    where: str = "input",
) -> dict[str, Any]:
    """Path-specific effects of column x (value x1 against x0) on column y of a frame.

    frame   one row per answer, as `read_table` gives it; `where` names it in messages
    z, r, b columns of confounders, redlining and business mediators. Numbers with more than 20
            distinct values enter as they are: trees split on them; the GLM has a
            smooth curve of each (of its ranks, in 2,000 steps at most), and cells in which they
            are cut at quantiles into `bins` groups. Other columns are categories, 200 at most.
    weight  column of weights above 0: the effects are those of the population that it stands for;
            cluster: column whose equal values are not independent (several answers of a person)
    replicates  columns of the weight's replicates, or what their names begin with: adds rows of
            method `replicate_weights`, the same effects with the error of the survey's design
            (estimators/replicates.py); replicate_scale: its factor, default 4 / their number
    margin  an effect inside it (points of y) is negligible: adds rows of method `tost`
    confounder  (cf_y, cf_d), the strength of a confounder that was left out: adds rows of method
            `confounder_bounds` (the interval the effect can then lie in) and `robustness_value`
            (the strength that takes the estimate, ci_low: the interval, to 0); see
            estimators/sensitivity.py
    Rows of other groups than x1 and x0 stay in the population of Z and in the median.

    Returns {"rows": [...], "excluded": {reason: count}, "notes": [...]}, rows with the columns
    of ROW. Scores are centred and scaled, weights divided by their mean, before anything is
    summed: neither the place nor the unit of either matters. Raises InputError for a missing or
    doubly used column, a value that is no number or beyond 1e140, a weight below 0, too many
    categories, an empty group, an option out of range.
    """
    roles = {"x": [x], "z": z, "r": r, "b": b, "y": [y], "weight": weight, "cluster": cluster}
    columns_r = replicate_columns(frame, replicates, weight, where)
    check_roles(frame, where, {**roles, "replicate-weights": columns_r})
    if x1 == x0:
        raise InputError("--x1, --x0", f"are both '{x1}'", "Give two values of the attribute.")
    _check_options(repeats, bins, level, bootstrap_draws, margin, replicate_scale)
    score = numbers(frame, y, where)
    check_sizes(frame, y, score, where)
    weights = np.ones(len(frame))
    if weight is not None:
        weights = numbers(frame, weight, where)
        check_weights(frame, weight, weights, where)
    replicated = replicate_weights(frame, columns_r, where)
    group = np.where(equals(frame[x], x1), 1, np.where(equals(frame[x], x0), 0, -1))
    keep, excluded = complete(frame, roles, weights)
    for code, value in ((1, x1), (0, x0)):
        require_group(frame, x, value, group == code, keep, weights, where)
    _check_folds(folds, int(keep.sum()))
    others = int(((group == -1) & keep).sum())
    notes = []
    if others:
        excluded["other_group"] = others
        notes.append(
            f"{others:,} rows of other groups than {x1} and {x0} are in no comparison; they stay "
            f"in the population of {', '.join(z) or 'confounders'} and in the median."
        )
    part = frame[keep]
    options = PathOptions(learner=learner, level=level, bootstrap_draws=bootstrap_draws, seed=seed)
    named = labels(part[cluster]) if cluster else np.flatnonzero(keep)
    keys = np.array([str(k) for k in named], dtype=object)
    fold = assign_folds(seed, keys.tolist(), folds, repeats)
    clusters = None if cluster is None else pd.factorize(keys, sort=True)[0].astype(np.int64)
    columns = {role: coded(part, names, where) for role, names in (("z", z), ("r", r), ("b", b))}
    people = relative(weights[keep])
    points = scaled(score[keep], people)
    cuts: dict[str, list[float]] = {}

    def effects(count: int, chosen: PathOptions) -> PathResult:
        arrays: dict[str, Any] = {}
        for role, mine in columns.items():
            arrays[role], arrays[f"{role}_values"] = binned(
                mine, count, steps=learner != "xgboost", cuts=cuts
            )
        data = PathData.from_rows(
            x=group[keep], y=points.y, fold=fold, w=people, cluster=clusters,
            cells=not columns_r, **arrays,
        )  # fmt: skip
        if count == bins:
            bounds.update(_bounds(data, result := path_effects(data, chosen), chosen, confounder))
            designed.update(_designed(data, result, replicated[keep], level, replicate_scale))
            return result
        return path_effects(data, chosen)

    bounds: dict[str, ConfoundingBound] = {}
    designed: dict[str, DesignBased] = {}
    result = effects(bins, options)
    rows = [_row(x1, _in_points(r, points.unit)) for r in result.to_rows()]
    rows += _equivalence(rows, margin)
    rows += _confounded(rows, bounds, points.unit)
    if columns_r:
        rows += _replicated(rows, designed, points.unit)
    if cuts and learner == "xgboost":
        notes.append(
            f"Numbers with more than {MANY} distinct values enter the trees as they are, without "
            f"bins: {', '.join(cuts)}."
        )
    elif cuts:
        notes.append(_binning_note(cuts))
        finer = effects(2 * bins, replace(options, bootstrap_draws=0))
        rows += [
            _row(x1, {**_in_points(r, points.unit), "method": f"eif_bins_{2 * bins}"})
            for r in finer.to_rows()
        ]
        notes += _moves_note(result, finer, bins, points.unit)
    if columns_r:
        notes.append(
            f"Errors of method replicate_weights are those of the survey's design, from "
            f"{len(columns_r)} replicate weights with the nuisances kept as they are. They hold "
            "the sampling of people already: take them instead of those of eif, never both."
        )
    left = _fill_families(rows, result, seed)
    if left:
        notes.append(f"{left} effects are not computable and are in no family of tests.")
    seen = Outcomes(
        group[keep].astype(np.int8), points.y - points.y.min(), people,
        np.ones(int(keep.sum()), dtype=np.int64), clusters,
    )  # fmt: skip
    rows += _outcomes(seen, x, x1, x0, level, points.unit, options.min_effective_n)
    notes.append(
        "NDE is the effect not through the mediators as given: coarse or missing mediators show "
        "as NDE. RIE includes what names and region do through qualifications."
    )
    return {"rows": rows, "excluded": dict(sorted(excluded.items())), "notes": notes}


def _check_options(
    repeats: int, bins: int, level: float, draws: int, margin: float | None, scale: float | None
) -> None:
    for option, given, least in (("--repeats", repeats, 1), ("--bins", bins, 2)):
        if given < least:
            raise InputError(option, f"{given} is too few", f"Give {least} or more.")
    if bins > MAX_BINS:
        raise InputError("--bins", f"{bins} is too many", f"Give {MAX_BINS} or fewer.")
    check_level(level)
    if draws < 0:
        raise InputError("--draws", f"{draws} is below 0", "Give 0 for no bootstrap, or more.")
    if margin is not None and not (np.isfinite(margin) and margin > 0):
        raise InputError("--margin", f"{margin:g} is no margin", "Give points of score above 0.")
    if scale is not None and not (np.isfinite(scale) and scale > 0):
        raise InputError("--replicate-scale", f"{scale:g} is no factor", "Give a number above 0.")


def _check_folds(folds: int, rows: int) -> None:
    if folds < 2:
        raise InputError("--folds", f"{folds} is too few", "Give 2 or more.")
    most = max(5, min(MAX_FOLDS, rows // 10))
    if folds > most:
        raise InputError(
            "--folds", f"{folds:,} is too many for {rows:,} complete rows", f"Give {most} or fewer."
        )


def _row(favors: str | None, values: Mapping[str, Any]) -> dict[str, Any]:
    blank = dict.fromkeys(ROW)
    return {**blank, "slice": "all", "favors_when_positive": favors, **values}


def _in_points(values: Mapping[str, Any], unit: float) -> dict[str, Any]:
    """Differences of scaled scores as points of the score; p-values are the same."""
    names = ("estimate", "std_error", "ci_low", "ci_high")
    return {**values, **{k: unit * values[k] for k in names if values[k] is not None}}


def _equivalence(rows: Sequence[Mapping[str, Any]], margin: float | None) -> list[dict[str, Any]]:
    found = []
    for row in rows:
        if margin is None or row["method"] != "eif" or row["estimate"] is None:
            continue
        test = tost(estimate=row["estimate"], std_error=row["std_error"], margin=margin)
        found.append(
            {**row, "method": "tost", "ci_low": test.ci_low, "ci_high": test.ci_high,
             "p_value": test.p_value}
        )  # fmt: skip
    return found


def _bounds(
    data: PathData, result: PathResult, options: PathOptions, confounder: tuple[float, float] | None
) -> dict[str, ConfoundingBound]:
    if confounder is None:
        return {}
    return confounding_bounds(data, result, options, cf_y=confounder[0], cf_d=confounder[1])


def _confounded(
    rows: Sequence[Mapping[str, Any]], bounds: Mapping[str, ConfoundingBound], unit: float
) -> list[dict[str, Any]]:
    found = []
    for row in rows:
        if row["method"] != "eif" or row["estimand"] not in bounds:
            continue
        bound = bounds[row["estimand"]]
        bare = {**row, "std_error": None, "p_value": None}
        interval = {"ci_low": unit * bound.ci_low, "ci_high": unit * bound.ci_high}
        found.append({**bare, "method": "confounder_bounds", **interval})
        strength = {
            "estimate": bound.robustness, "ci_low": bound.robustness_interval, "ci_high": None,
            "favors_when_positive": None,
        }  # fmt: skip
        found.append({**bare, "method": "robustness_value", **strength})
    return found


def _designed(
    data: PathData, result: PathResult, replicates: Any, level: float, scale: float | None
) -> dict[str, DesignBased]:
    """Design-based errors of effects of people, one per cell, under their replicate weights."""
    if not replicates.shape[1] or result.influence is None or result.c is None:
        return {}
    phi = result.influence + result.c * data.sum_y[:, None]
    sums = ReplicateSums.of(phi=phi, w=data.w, replicates=replicates)
    return dict(zip(EFFECTS, design_based(sums, scale=scale, level=level), strict=True))


def _replicated(
    rows: Sequence[Mapping[str, Any]], designed: Mapping[str, DesignBased], unit: float
) -> list[dict[str, Any]]:
    """Rows of method `replicate_weights`; an effect that eif cannot compute has its reason."""
    found = []
    for row in [r for r in rows if r["method"] == "eif"]:
        told: dict[str, Any] = {}
        if row["status"] != "not_computable":
            mine = designed[row["estimand"]]
            error = {k: getattr(mine, k) for k in ("std_error", "ci_low", "ci_high", "p_value")}
            told = _in_points({"estimate": mine.estimate, **error}, unit)
            if mine.reason:
                told |= {"estimate": None, "status": "not_computable", "reason": mine.reason}
        found.append({**row, **told, "method": "replicate_weights"})
    return found


def _fill_families(rows: Sequence[dict[str, Any]], result: PathResult, seed: int) -> int:
    """Adjusted p-values of both families, in place; how many effects are left out."""
    left = 0
    for members in FAMILIES:
        mine = [r for r in rows if r["method"] == "eif" and r["estimand"] in members]
        able = [r for r in mine if r["p_value"] is not None]
        left += len(mine) - len(able)
        if not able or result.covariance is None:
            continue
        at = [EFFECTS.index(r["estimand"]) for r in able]
        block = result.covariance[np.ix_(at, at)]
        sd = np.sqrt(np.diag(block))
        name = " ".join(members)
        family = adjust(
            [r["p_value"] for r in able],
            [r["estimate"] / r["std_error"] for r in able],
            block / np.outer(sd, sd),
            seed=f"{seed}/{name}",
        )
        for row, member in zip(able, family.members, strict=True):
            if member is not None:
                row["family"] = name
                row["p_holm"], row["p_bh"], row["p_maxt"] = member.holm, member.bh, member.maxt
    return left


def _binning_note(cuts: Mapping[str, Sequence[float]]) -> str:
    listed = "; ".join(f"{name} at {', '.join(f'{c:g}' for c in at)}" for name, at in cuts.items())
    return (
        f"Numbers with more than {MANY} distinct values enter as smooth curves, and as bins that "
        f"tell what the curves miss, cut at quantiles: {listed}."
    )


def _moves_note(result: PathResult, finer: PathResult, bins: int, unit: float) -> list[str]:
    moves = []
    for name in EFFECTS:
        one, two = result.effects[name], finer.effects[name]
        if one.estimate is not None and two.estimate is not None and one.std_error:
            move = two.estimate - one.estimate
            share = abs(move) / one.std_error
            moves.append(f"{name} {unit * move:+.3g} ({share:.1f} of its error)")
    if not moves:
        return []
    return [f"With {2 * bins} bins instead of {bins} effects move by: {', '.join(moves)}."]


def _outcomes(
    data: Outcomes, x: str, x1: str, x0: str, level: float, unit: float, least: float
) -> list[dict[str, Any]]:
    """Raw gap, rates and ratios; the rates of one group name it in their slice.

    Groups of fewer than `least` are flagged, as in an audit.
    """
    rows = []
    for item in outcome_rows(data, level=level, min_group=least):
        favors: str | None = x1 if item.estimand == "raw_gap" else None
        if item.method == "log_ratio":
            favors = f"{x0} (above 1)"
        values = {k: getattr(item, k) for k in ROW if hasattr(item, k)}
        row = _row(favors, _in_points(values, unit if item.estimand == "raw_gap" else 1.0))
        if item.group is not None:
            row["slice"] = f"{x}={x1 if item.group == 1 else x0}"
        rows.append(row)
    return rows
