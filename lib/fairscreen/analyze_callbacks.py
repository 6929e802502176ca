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
from fairscreen.callback_words import Words, fill_families, in_words
from fairscreen.confidence import check_level
from fairscreen.errors import InputError
from fairscreen.estimators import callbacks_unpaired
from fairscreen.estimators.callback_pairs import CallbackPairs, CallbackRow
from fairscreen.estimators.callback_placebo import placebo_rows
from fairscreen.estimators.callbacks import CallbackOptions, callbacks
from fairscreen.slices import slices_of


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
    words = Words((f"{arm}={favored}", f"{arm}={other}"), favored, name, given.names)
    real = np.flatnonzero(~given.placebo)
    if not len(real):
        raise InputError(
            f"{where}, {placebo}",
            "every pair is a placebo",
            "Mark real pairs with 0 or no: an empty cell leaves a pair out.",
        )
    for text, columns, mine in slices_of(given.slices[real], roles.slices, where):
        found = _slice(given, real[mine], text, options)
        rows += [in_words(r, text, "; ".join(columns) or "all", words) for r in found]
    if given.placebo.any():
        rows += _placebo(given, words, options)
    notes += fill_families(rows)
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


def _placebo(given: Callbacks, words: Words, options: CallbackOptions) -> list[dict[str, Any]]:
    data = given.data
    if not isinstance(data, CallbackPairs):
        return []
    without = data.take(given.placebo)
    own = replace(options, names=False, margin=None, seed=f"{options.seed}/placebo")
    found = [r for r in callbacks(without, own).rows if r.part is None]
    rows = [in_words(r, "pairs=placebo", "pairs", words) for r in found]
    compared = placebo_rows(data.take(~given.placebo), without, level=options.level)
    return rows + [in_words(r, "all", "all", words) for r in compared]


def _check_options(o: CallbackOptions) -> None:
    check_level(o.level)
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
