"""The estimators on somebody else's file, without Spark and without a warehouse.

Rows have the columns of the `estimates` table that make sense for one file (ROW); what was left
out is counted by reason.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from fairscreen.errors import InputError
from fairscreen.estimators.data import PathData, assign_folds
from fairscreen.estimators.equivalence import tost
from fairscreen.estimators.multiplicity import adjust
from fairscreen.estimators.path_specific import PathOptions, path_effects
from fairscreen.estimators.results import EFFECTS, PathResult
from fairscreen.estimators.selection import Outcomes, outcome_rows
from fairscreen.input_files import all_numbers, equals, labels, numbers, place, read_table

__all__ = ["ROW", "analyze_paths", "read_table"]

ROW = (
    "slice", "estimand", "method", "estimate", "std_error", "ci_low", "ci_high", "p_value",
    "family", "p_holm", "p_bh", "p_maxt", "n", "favors_when_positive", "status", "reason",
)  # fmt: skip
FAMILIES = (("NDE", "BIE", "RIE"), ("TE", "NIE"))
_MANY = 20  # a number column with more distinct values is binned


@dataclass(frozen=True)
class _Columns:
    """Codes and numbers of the complete rows; `cuts` holds the cut points of the binned columns."""

    data: PathData
    cuts: dict[str, list[float]]


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
    cluster: str | None = None,
    learner: Literal["saturated", "xgboost"] = "saturated",
    repeats: int = 3,
    folds: int = 5,
    seed: int = 20260322,
    bins: int = 5,
    level: float = 0.95,
    bootstrap_draws: int = 500,
    margin: float | None = None,
    where: str = "input",
) -> dict[str, Any]:
    """Path-specific effects of column x (value x1 against x0) on column y of a frame.

    frame   one row per answer, as `read_table` gives it; `where` names it in messages
    z, r, b columns of confounders, redlining and business mediators. Numbers with more than 20
            distinct values enter as they are: trees split on them; the saturated learner has a
            smooth curve of each, and cells in which they are cut at quantiles into `bins` groups.
            Other columns are categories.
    weight  column of weights above 0; cluster: column whose equal values are not independent
    margin  an effect inside it (points of y) is negligible: adds rows of method `tost`
    Rows of other groups than x1 and x0 stay in the population of Z and in the median.

    Returns {"rows": [...], "excluded": {reason: count}, "notes": [...]}, rows with the columns
    of ROW. Raises InputError for a missing or doubly used column, a value that is no number, a
    weight below 0, an empty group.
    """
    _check_roles(frame, where, x=[x], z=z, r=r, b=b, y=[y], weight=weight, cluster=cluster)
    if x1 == x0:
        raise InputError("--x1, --x0", f"are both '{x1}'", "Give two values of the attribute.")
    for option, given, least in (
        ("--folds", folds, 2),
        ("--repeats", repeats, 1),
        ("--bins", bins, 2),
    ):
        if given < least:
            raise InputError(option, f"{given} is too few", f"Give {least} or more.")
    if margin is not None and not (np.isfinite(margin) and margin > 0):
        raise InputError("--margin", f"{margin:g} is no margin", "Give points of score above 0.")
    roles = {"x": [x], "z": z, "r": r, "b": b, "y": [y], "weight": weight, "cluster": cluster}
    score = numbers(frame, y, where)
    weights = np.ones(len(frame)) if weight is None else numbers(frame, weight, where)
    if (weights < 0).any():
        at = int(np.flatnonzero(weights < 0)[0])
        raise InputError(
            f"{where}, {place(frame, at)}, {weight}", f"{weights[at]:g} is below 0",
            "Weights are above 0.",
        )  # fmt: skip
    group = np.where(equals(frame[x], x1), 1, np.where(equals(frame[x], x0), 0, -1))
    keep, excluded = _complete(frame, roles, weights)
    for code, value in ((1, x1), (0, x0)):
        _require_group(frame, x, value, group == code, keep, where)
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

    def encoded(count: int) -> _Columns:
        cuts: dict[str, list[float]] = {}
        arrays: dict[str, Any] = {}
        for role, names in (("z", z), ("r", r), ("b", b)):
            arrays[role], arrays[f"{role}_values"] = _codes(part, names, count, cuts)
        data = PathData.from_rows(
            x=group[keep], y=score[keep], fold=fold, w=weights[keep], cluster=clusters, **arrays
        )
        return _Columns(data, cuts)

    columns = encoded(bins)
    result = path_effects(columns.data, options)
    rows = [_row(x1, r) for r in result.to_rows()]
    rows += _equivalence(rows, margin)
    if columns.cuts and learner == "xgboost":
        notes.append(
            f"Numbers with more than {_MANY} distinct values enter the trees as they are, without "
            f"bins: {', '.join(columns.cuts)}."
        )
    elif columns.cuts:
        finer = path_effects(encoded(2 * bins).data, replace(options, bootstrap_draws=0))
        rows += [_row(x1, {**r, "method": f"eif_bins_{2 * bins}"}) for r in finer.to_rows()]
        notes += _binning_notes(columns.cuts, result, finer, bins)
    left = _fill_families(rows, result, seed)
    if left:
        notes.append(f"{left} effects are not computable and are in no family of tests.")
    seen = Outcomes(
        group[keep].astype(np.int8), score[keep], weights[keep],
        np.ones(int(keep.sum()), dtype=np.int64), clusters,
    )  # fmt: skip
    rows += _outcomes(seen, x, x1, x0, level)
    notes.append(
        "NDE is the effect not through the mediators as given: coarse or missing mediators show "
        "as NDE. RIE includes what names and region do through qualifications."
    )
    return {"rows": rows, "excluded": dict(sorted(excluded.items())), "notes": notes}


def _check_roles(frame: pd.DataFrame, where: str, **roles: Sequence[str] | str | None) -> None:
    seen: dict[str, str] = {}
    for role, names in roles.items():
        for name in [names] if isinstance(names, str) else (names or ()):
            if name not in frame.columns:
                listed = ", ".join(map(str, frame.columns[:30]))
                more = f", and {len(frame.columns) - 30} more" if len(frame.columns) > 30 else ""
                raise InputError(f"{where}, {name}", "is no column", f"Columns: {listed}{more}.")
            if name in seen:
                both = (
                    f"--{seen[name]} twice"
                    if seen[name] == role
                    else f"--{seen[name]} and --{role}"
                )
                raise InputError(
                    f"{where}, {name}", f"is given as {both}", "Give every column one role."
                )
            seen[name] = role
    if not roles["r"] and not roles["b"]:
        raise InputError("--r, --b", "no mediator is given", "Give at least one column.")


def _complete(
    frame: pd.DataFrame, roles: Mapping[str, Any], weights: NDArray[np.float64]
) -> tuple[NDArray[np.bool_], Counter[str]]:
    """Rows with every value present, and the others counted by the first role they lack."""
    keep = np.ones(len(frame), dtype=bool)
    excluded: Counter[str] = Counter()
    for role, names in roles.items():
        for name in [names] if isinstance(names, str) else (names or ()):
            gone = keep & np.array([v is None for v in labels(frame[name])], dtype=bool)
            if gone.any():
                excluded[f"missing_{role}"] += int(gone.sum())
                keep &= ~gone
    zero = keep & (weights == 0)
    if zero.any():
        excluded["zero_weight"] += int(zero.sum())
        keep &= ~zero
    return keep, excluded


def _require_group(
    frame: pd.DataFrame,
    x: str,
    value: str,
    mine: NDArray[np.bool_],
    keep: NDArray[np.bool_],
    where: str,
) -> None:
    if (mine & keep).any():
        return
    if mine.any():
        raise InputError(
            f"{where}, {x}",
            f"every row with the value '{value}' lacks another value",
            "Fill in what is missing, or leave out a column.",
        )
    found = Counter(v for v in labels(frame[x]) if v is not None)
    listed = ", ".join(f"'{v}'" for v, _ in found.most_common(10))
    raise InputError(
        f"{where}, {x}",
        f"no row has the value '{value}'",
        f"Values are: {listed}{', ...' if len(found) > 10 else ''}.",
    )


def _codes(
    frame: pd.DataFrame, names: Sequence[str], bins: int, cuts: dict[str, list[float]]
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Integer codes (N, k), by value, and bins at quantiles of numbers with many values, which
    stand last; and those numbers (N, m) themselves."""
    columns, bands, many = [], [], []
    for name in names:
        cells = labels(frame[name])
        values = all_numbers(cells)
        if values is not None and len(np.unique(values)) > _MANY:
            inner = np.unique(np.quantile(values, np.arange(1, bins) / bins))
            cuts[name] = [float(c) for c in inner]
            bands.append(np.searchsorted(inner, values, side="right"))
            many.append(values)
        else:
            columns.append(pd.factorize(cells, sort=True)[0])
    codes = np.zeros((len(frame), len(names)), dtype=np.int64)
    for j, column in enumerate([*columns, *bands]):
        codes[:, j] = column
    values_of = np.zeros((len(frame), len(many)))
    for j, numbers_of in enumerate(many):
        values_of[:, j] = numbers_of
    return codes, values_of


def _row(favors: str | None, values: Mapping[str, Any]) -> dict[str, Any]:
    blank = dict.fromkeys(ROW)
    return {**blank, "slice": "all", "favors_when_positive": favors, **values}


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


def _binning_notes(
    cuts: Mapping[str, Sequence[float]], result: PathResult, finer: PathResult, bins: int
) -> list[str]:
    listed = "; ".join(f"{name} at {', '.join(f'{c:g}' for c in at)}" for name, at in cuts.items())
    notes = [
        f"Numbers with more than {_MANY} distinct values enter as smooth curves, and as bins that "
        f"tell what the curves miss, cut at quantiles: {listed}."
    ]
    moves = []
    for name in EFFECTS:
        one, two = result.effects[name], finer.effects[name]
        if one.estimate is not None and two.estimate is not None and one.std_error:
            moves.append(
                f"{name} {two.estimate - one.estimate:+.3g} "
                f"({abs(two.estimate - one.estimate) / one.std_error:.1f} of its error)"
            )
    if moves:
        notes.append(f"With {2 * bins} bins instead of {bins} effects move by: {', '.join(moves)}.")
    return notes


def _outcomes(data: Outcomes, x: str, x1: str, x0: str, level: float) -> list[dict[str, Any]]:
    """Raw gap, rates and ratios; the rates of one group name it in their slice."""
    rows = []
    for item in outcome_rows(data, level=level):
        favors: str | None = x1 if item.estimand == "raw_gap" else None
        if item.method == "log_ratio":
            favors = f"{x0} (above 1)"
        row = _row(favors, {k: getattr(item, k) for k in ROW if hasattr(item, k)})
        if item.group is not None:
            row["slice"] = f"{x}={x1 if item.group == 1 else x0}"
        rows.append(row)
    return rows
