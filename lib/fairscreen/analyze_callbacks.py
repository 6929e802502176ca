"""Callbacks on somebody else's file, without Spark and without a warehouse.

One row per application. Paired: two rows share the posting and all but the name. Unpaired:
independent applications. An empty outcome is no valid answer: the pair is left out of the gap,
counted, and bounded.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from fairscreen.callback_input import Callbacks, Roles, read_applications, read_pairs
from fairscreen.errors import InputError
from fairscreen.estimators import callbacks_unpaired
from fairscreen.estimators.callback_pairs import FAVORED, CallbackPairs, CallbackRow
from fairscreen.estimators.callbacks import TESTS, CallbackOptions, callbacks, placebo_rows
from fairscreen.estimators.multiplicity import adjust
from fairscreen.result_rows import ROW
from fairscreen.slices import slices_of

_NOBODY = (
    "callback_rate", "missing_gap_pp", "name_sd_pp", "firm_variance_pp2", "discordant_share",
    "discordant_share_gap_pp",
)  # fmt: skip


def analyze_callbacks(
    frame: pd.DataFrame,
    *,
    arm: str,
    favored: str,
    other: str,
    outcome: str,
    pair: Sequence[str] = (),
    cluster: str | None = None,
    name: str | None = None,
    name_group: str | None = None,
    slices: Sequence[str] = (),
    p_yes: str | None = None,
    firm: str | None = None,
    placebo: str | None = None,
    level: float = 0.95,
    margin: float | None = None,
    draws: int = 2_000,
    permutations: int = 9_999,
    seed: int | str = 20260501,
    where: str = "input",
) -> dict[str, Any]:
    """Are callbacks for the favored arm more frequent? `where` names the frame in messages.

    pair     columns that two applications to one posting share; empty: unpaired
    outcome  1 / 0, yes / no; empty where there is no valid answer
    cluster  the posting; name: the applicant's; name_group: within which labels are permuted over
             names (their gender); by default names that are paired with each other
    slices   columns to report by: each value of each, and every combination; "all" is pooled
    p_yes    probability of a callback; firm: adds the variance between firms; placebo: 1 where
             the two names differ in neither race nor gender
    margin   in percentage points, inside which a gap is negligible: adds rows of method `tost`

    Returns {"rows": [...], "excluded": {reason: count}, "notes": [...]}; rows have the columns of
    ROW. Families of tests: one test over the values of one slice column, or one combination.
    Raises InputError for bad columns, answers or options, each with its place and a remedy.
    """
    options = CallbackOptions(level, draws, permutations, margin, seed=seed)
    _check_options(options)
    roles = Roles(
        arm, favored, other, outcome, tuple(pair), cluster, name, name_group, tuple(slices),
        p_yes, firm, placebo,
    )  # fmt: skip
    if not roles.pair:
        _paired_only(roles)
    read = read_pairs if roles.pair else read_applications
    given, excluded, notes = read(frame, roles, where)
    rows: list[dict[str, Any]] = []
    real = np.flatnonzero(~given.placebo)
    if not len(real):
        raise InputError(f"{where}, {placebo}", "every pair is a placebo", "Give real pairs.")
    for text, columns, mine in slices_of(given.slices[real], roles.slices, where):
        found = _slice(given, real[mine], text, options)
        rows += [_row(r, text, columns, roles, given.names) for r in found]
    if given.placebo.any():
        rows += _placebo(given, roles, options)
    notes += _families(rows)
    if roles.pair and name is None:
        notes.append("No --name: intervals are for these names, which are a sample too.")
    return {"rows": rows, "excluded": dict(sorted(excluded.items())), "notes": notes}


def _slice(
    given: Callbacks, at: Any, text: str, options: CallbackOptions
) -> tuple[CallbackRow, ...]:
    """Rows of one slice; names and firms are told of the pooled one."""
    own = replace(options, names=text == "all", seed=f"{options.seed}/{text}")
    data = given.data.take(at)
    if isinstance(data, CallbackPairs):
        firm = given.firm[at] if given.firm is not None and text == "all" else None
        return callbacks(data, own, firm=firm).rows
    return callbacks_unpaired.unpaired(data, own).rows


def _placebo(given: Callbacks, roles: Roles, options: CallbackOptions) -> list[dict[str, Any]]:
    data = given.data
    if not isinstance(data, CallbackPairs):
        return []
    without = data.take(given.placebo)
    own = replace(options, names=False, margin=None, seed=f"{options.seed}/placebo")
    found = [r for r in callbacks(without, own).rows if r.part is None]
    rows = [_row(r, "pairs=placebo", ("pairs",), roles, given.names) for r in found]
    compared = placebo_rows(data.take(~given.placebo), without, level=options.level)
    return rows + [_row(r, "all", (), roles, given.names) for r in compared]


def _check_options(o: CallbackOptions) -> None:
    if not 0 < o.level < 1:
        raise InputError(
            "--level", f"{o.level:g} is no level", "Give a number between 0 and 1, such as 0.95."
        )
    if o.margin is not None and not (np.isfinite(o.margin) and o.margin > 0):
        raise InputError("--margin", f"{o.margin:g} is no margin", "Give points above 0.")
    for option, given in (("--draws", o.draws), ("--permutations", o.permutations)):
        if given < 99:
            raise InputError(option, f"{given} is too few", "Give 99 or more.")


def _paired_only(roles: Roles) -> None:
    for option in ("p_yes", "firm", "placebo", "name_group"):
        if getattr(roles, option) is not None:
            raise InputError(
                f"--{option.replace('_', '-')}", "is for pairs", "Leave it out, or give --pair."
            )


def _row(
    row: CallbackRow, text: str, columns: Sequence[str], roles: Roles, names: Sequence[str]
) -> dict[str, Any]:
    """A row with the columns of ROW: arms and names by their own words."""
    more, reason, kind = [], row.reason, "; ".join(columns) or "all"
    if row.part is not None:
        what, value = row.part
        if what == "arm":
            more = [f"{roles.arm}={roles.favored if value == FAVORED else roles.other}"]
        elif what.startswith("name of "):
            side = roles.favored if what.endswith(FAVORED) else roles.other
            more = [f"{roles.arm}={side}", f"{roles.name}={names[int(value)]}"]
        elif what == "without_name":
            reason = f"without {names[int(value)]}"
        else:
            more = [f"{what}={value}"]
    favors: str | None = roles.favored
    if row.estimand in _NOBODY:
        favors = None
    elif row.estimand == "callback_ratio":
        favors = f"{roles.favored} (below 1)"
    test = (row.estimand, row.method) in {*TESTS, *callbacks_unpaired.TESTS}
    family = f"{row.estimand} {row.method} by {kind}" if test and row.p_value is not None else None
    known = {k: getattr(row, k) for k in ROW if hasattr(row, k)}
    own = {
        "slice": "; ".join([*([] if text == "all" else [text]), *more]) or "all",
        "family": family, "favors_when_positive": favors, "reason": reason,
    }  # fmt: skip
    return {**dict.fromkeys(ROW), **known, **own}


def _families(rows: Sequence[dict[str, Any]]) -> list[str]:
    """Adjusted p-values of each family, in place; what to say of them."""
    names = dict.fromkeys(r["family"] for r in rows if r["family"] is not None)
    for family in names:
        mine = [r for r in rows if r["family"] == family]
        for row, member in zip(mine, adjust([r["p_value"] for r in mine]).members, strict=True):
            if member is not None:
                row["p_holm"], row["p_bh"] = member.holm, member.bh
    return [
        "Holm and Benjamini-Hochberg are within families: one test over the values of one slice "
        f"column or combination ({len(names):,} families)."
    ]
