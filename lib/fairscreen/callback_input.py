"""Somebody's long file of callbacks: one row per application, as pairs or as they are.

What cannot be told apart is refused here, with its place and a remedy.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from fairscreen.errors import InputError
from fairscreen.estimators.callback_pairs import CallbackPairs
from fairscreen.estimators.callbacks_unpaired import Applications
from fairscreen.input_columns import check_columns
from fairscreen.input_files import equals, label, labels, numbers, place
from fairscreen.rank_input import codes_of

Texts = NDArray[np.object_]
Mask = NDArray[np.bool_]
Ints = NDArray[np.int64]
_YES = frozenset({"1", "1.0", "yes", "true", "y"})
_NO = frozenset({"0", "0.0", "no", "false", "n"})


@dataclass(frozen=True)
class Roles:
    """Columns of the file, by what they say; None or empty: not there."""

    arm: str
    favored: str
    other: str
    outcome: str
    pair: tuple[str, ...] = ()
    cluster: str | None = None
    name: str | None = None
    name_group: str | None = None
    slices: tuple[str, ...] = ()
    p_yes: str | None = None
    firm: str | None = None
    placebo: str | None = None


@dataclass(frozen=True)
class Callbacks:
    """Pairs or applications, one cell each: data; slices (N, S) texts of roles.slices; names: text
    of each name code; firm (N,) codes, or None; placebo (N,): pairs without a contrast."""

    data: CallbackPairs | Applications
    slices: Texts
    names: tuple[str, ...]
    firm: Ints | None
    placebo: Mask


def read_pairs(
    frame: pd.DataFrame, roles: Roles, where: str
) -> tuple[Callbacks, Counter[str], list[str]]:
    """Pairs of both arms, what was left out by reason, and notes.

    Raises InputError for a missing or doubly used column, an answer that is neither yes nor no, a
    second row of one pair and arm, and a column that must be one per pair and is not.
    """
    _check(frame, roles, where)
    y, arm = _outcome(frame, roles.outcome, where), _arms(frame, roles, where)
    columns = {c: labels(frame[c]) for c in dict.fromkeys(_shared(roles) + list(roles.pair))}
    excluded, keep = _rows_kept(frame, roles, arm)
    for c in roles.pair:
        _leave(excluded, keep, "missing_pair", np.array([v is None for v in columns[c]]))
    rows = np.flatnonzero(keep)
    if not len(rows):
        raise InputError(where, "no row has everything that is asked for", "Check the columns.")
    code = codes_of([columns[c][rows] for c in roles.pair])
    at = np.full((int(code.max()) + 1, 2), -1, dtype=np.int64)
    for row, pair, side in zip(rows.tolist(), code.tolist(), arm[rows].tolist(), strict=True):
        if at[pair, side] >= 0:
            value = (roles.favored, roles.other)[side]
            raise InputError(
                f"{where}, {place(frame, row)}", f"is a second answer of one pair and arm '{value}'"
                f" ({place(frame, int(at[pair, side]))} is the first)",
                "Give --pair the columns that tell pairs apart, or one row per pair and arm.",
            )  # fmt: skip
        at[pair, side] = row
    for side, value in enumerate((roles.favored, roles.other)):
        if lacking := int((at[:, side] < 0).sum()):
            excluded[f"pair_lacks_row_{value}"] += lacking
    at = at[(at >= 0).all(axis=1)]
    if not len(at):
        raise InputError(
            where, "no pair has a row of both arms", "Check --pair: both rows of a pair share it."
        )
    for c in _shared(roles):
        unlike = np.flatnonzero(columns[c][at[:, 0]] != columns[c][at[:, 1]])
        if len(unlike):
            one, two = at[unlike[0]].tolist()
            raise InputError(
                f"{where}, {place(frame, two)}, {c}",
                f"'{columns[c][two]}' is not what the other row of the pair has "
                f"('{columns[c][one]}', {place(frame, one)})",
                "Rows of one pair share --cluster, --firm, --placebo, --name-group and --slice: "
                "correct the row, or leave the column out.",
            )
    for role, names in (("cluster", roles.cluster), ("firm", roles.firm), ("slice", roles.slices),
                        ("name_group", roles.name_group), ("placebo", roles.placebo)):  # fmt: skip
        for c in [names] if isinstance(names, str) else (names or ()):
            at = _without(excluded, at, f"missing_{role}", columns[c][at[:, 0]])
    named = None if roles.name is None else labels(frame[roles.name])
    if named is not None:
        for side in (0, 1):
            at = _without(excluded, at, "missing_name", named[at[:, side]])
    if not len(at):
        raise InputError(where, "no pair has everything that is asked for", "Check the columns.")
    return _pairs(frame, roles, y, at, columns, named, where, excluded)


def _pairs(
    frame: pd.DataFrame, roles: Roles, y: NDArray[np.float64], at: Ints, columns: dict[str, Texts],
    named: Texts | None, where: str, excluded: Counter[str],
) -> tuple[Callbacks, Counter[str], list[str]]:  # fmt: skip
    first, names, codes = at[:, 0], (), None
    if named is not None:
        kinds, both = np.unique(named[at].astype(str), return_inverse=True)
        names, codes = tuple(kinds.tolist()), both.reshape(-1, 2)
    notes, posting = [], np.arange(len(at))
    if roles.cluster is not None:
        posting = codes_of([columns[roles.cluster][first]])
    else:
        notes.append("No --cluster: pairs are taken for independent. Give the posting's column.")
    p = None if roles.p_yes is None else _probabilities(frame, roles.p_yes, where)
    data = CallbackPairs.of_answers(
        favored=y[first], other=y[at[:, 1]], posting=posting,
        favored_name=None if codes is None else codes[:, 0],
        other_name=None if codes is None else codes[:, 1],
        stratum=None if roles.name_group is None else codes_of([columns[roles.name_group][first]]),
        favored_p=None if p is None else p[first], other_p=None if p is None else p[at[:, 1]],
    )  # fmt: skip
    for side, value in enumerate((roles.favored, roles.other)):
        if silent := int(np.isnan(y[at[:, side]]).sum()):
            excluded[f"no_answer_{value}"] += silent
    placebo = np.zeros(len(at), dtype=bool)
    if roles.placebo is not None:
        placebo = _flags(frame, roles.placebo, columns[roles.placebo], where)[first]
    firm = None if roles.firm is None else codes_of([columns[roles.firm][first]])
    return Callbacks(data, _slices(columns, roles, first), names, firm, placebo), excluded, notes


def read_applications(
    frame: pd.DataFrame, roles: Roles, where: str
) -> tuple[Callbacks, Counter[str], list[str]]:
    """Independent applications of both arms; otherwise as `read_pairs`."""
    _check(frame, roles, where)
    y, arm = _outcome(frame, roles.outcome, where), _arms(frame, roles, where)
    excluded, keep = _rows_kept(frame, roles, arm)
    named = [("cluster", roles.cluster), ("name", roles.name)]
    named += [("slice", c) for c in roles.slices]
    columns = {c: labels(frame[c]) for _, c in named if c is not None}
    for role, c in named:
        if c is not None:
            _leave(excluded, keep, f"missing_{role}", np.array([v is None for v in columns[c]]))
    rows = np.flatnonzero(keep)
    if not len(rows):
        raise InputError(where, "no row has everything that is asked for", "Check the columns.")
    notes, posting = [], np.arange(len(rows))
    if roles.cluster is not None:
        posting = codes_of([columns[roles.cluster][rows]])
    else:
        notes.append("No --cluster: applications are taken for independent.")
    names: tuple[str, ...] = ()
    codes = None
    if roles.name is not None:
        codes, kinds = pd.factorize(columns[roles.name][rows].astype(str), sort=True)
        names = tuple(str(k) for k in kinds)
    answered = ~np.isnan(y[rows])
    for side, value in enumerate((roles.favored, roles.other)):
        if silent := int((~answered & (arm[rows] == side)).sum()):
            excluded[f"no_answer_{value}"] += silent
    data = Applications(
        1 - arm[rows], posting, np.nan_to_num(y[rows]).astype(np.int64),
        answered.astype(np.int64), (~answered).astype(np.int64),
        None if codes is None else codes.astype(np.int64),
    )  # fmt: skip
    plain = np.zeros(len(rows), dtype=bool)
    return Callbacks(data, _slices(columns, roles, rows), names, None, plain), excluded, notes


def _check(frame: pd.DataFrame, roles: Roles, where: str) -> None:
    own = {"arm": roles.arm, "outcome": roles.outcome, "p-yes": roles.p_yes}
    check_columns(frame, where, {**own, "pair": roles.pair, "name": roles.name})
    for role, names in (
        ("cluster", roles.cluster), ("slice", roles.slices), ("firm", roles.firm),
        ("name-group", roles.name_group), ("placebo", roles.placebo),
    ):  # fmt: skip
        check_columns(frame, where, {**own, role: names})
    for c in dict.fromkeys(filter(None, (roles.name, *_shared(roles)))):
        if all(label(v) is None for v in frame[c].tolist()):
            raise InputError(
                f"{where}, {c}", "is empty in every row", "Fill it in, or leave the column out."
            )
    if roles.favored == roles.other:
        raise InputError(
            "--favored, --other", f"name one arm twice ('{roles.favored}')",
            "Give different values of the arm column.",
        )  # fmt: skip


def _shared(roles: Roles) -> list[str]:
    """Columns that both rows of a pair must agree on."""
    some = (roles.cluster, roles.firm, roles.placebo, roles.name_group, *roles.slices)
    return [c for c in some if c is not None]


def _rows_kept(frame: pd.DataFrame, roles: Roles, arm: Ints) -> tuple[Counter[str], Mask]:
    excluded: Counter[str] = Counter()
    keep = np.ones(len(frame), dtype=bool)
    lacking = np.array([v is None for v in labels(frame[roles.arm])])
    _leave(excluded, keep, "missing_arm", lacking & (arm < 0))
    _leave(excluded, keep, "other_arm", arm < 0)
    return excluded, keep


def _leave(excluded: Counter[str], keep: Mask, reason: str, gone: Mask) -> None:
    """Count rows and take them out of keep, in place."""
    if count := int((gone & keep).sum()):
        excluded[reason] += count
        keep &= ~gone


def _without(excluded: Counter[str], at: Ints, reason: str, values: Texts) -> Ints:
    """Pairs at (N, 2) whose value is not missing."""
    gone = np.array([v is None for v in values], dtype=bool)
    if gone.any():
        excluded[reason] += int(gone.sum())
    return np.asarray(at[~gone], dtype=np.int64)


def _arms(frame: pd.DataFrame, roles: Roles, where: str) -> Ints:
    """(N,): 0 favored, 1 other, -1 anything else. InputError where one has no row."""
    found = np.full(len(frame), -1, dtype=np.int64)
    for code, value in enumerate((roles.favored, roles.other)):
        mine = equals(frame[roles.arm], value)
        if not mine.any():
            known = Counter(v for v in labels(frame[roles.arm]) if v is not None)
            listed = ", ".join(f"'{v}'" for v, _ in known.most_common(10))
            raise InputError(
                f"{where}, {roles.arm}", f"no row has the value '{value}'",
                f"Values are: {listed}{', ...' if len(known) > 10 else ''}.",
            )  # fmt: skip
        found[mine] = code
    return found


def _outcome(frame: pd.DataFrame, name: str, where: str) -> NDArray[np.float64]:
    """(N,): 1 called, 0 not, NaN no answer."""
    cells = labels(frame[name])
    found = np.full(len(cells), np.nan)
    for i, cell in enumerate(cells):
        if cell is not None:
            text = str(cell).strip().lower()
            if text not in _YES and text not in _NO:
                raise InputError(
                    f"{where}, {place(frame, i)}, {name}", f"'{cell}' is neither yes nor no",
                    "Give 1 or 0, yes or no; leave the cell empty where there is no valid answer.",
                )  # fmt: skip
            found[i] = text in _YES
    return found


def _flags(frame: pd.DataFrame, name: str, cells: Texts, where: str) -> Mask:
    filled = pd.DataFrame({name: [v if v is not None else "0" for v in cells]}, index=frame.index)
    return np.asarray(_outcome(filled, name, where) == 1, dtype=np.bool_)


def _probabilities(frame: pd.DataFrame, name: str, where: str) -> NDArray[np.float64]:
    p = numbers(frame, name, where)
    beyond = np.flatnonzero((p < 0) | (p > 1))
    if len(beyond):
        at = int(beyond[0])
        raise InputError(
            f"{where}, {place(frame, at)}, {name}", f"{p[at]:g} is no probability",
            "Give numbers from 0 to 1.",
        )  # fmt: skip
    return p


def _slices(columns: dict[str, Texts], roles: Roles, rows: Sequence[int] | Ints) -> Texts:
    if not roles.slices:
        return np.empty((len(rows), 0), dtype=object)
    return np.stack([columns[c][rows] for c in roles.slices], axis=1)
