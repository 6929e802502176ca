"""Somebody's long file of answers as rank sets: one row per answer, one set per resume and slice.

What cannot be ranked is refused here, with its place and a remedy.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from fairscreen.errors import InputError
from fairscreen.estimators.ranks import RankSets
from fairscreen.input_columns import check_columns, check_sizes
from fairscreen.input_files import equals, labels, numbers, place


@dataclass(frozen=True)
class Sets:
    """Rank sets of a file: data; slices (N, S) labels of the slice columns, by their names;
    neutral: column of data.y with the neutral version, if any; values: of the crossing column."""

    data: RankSets
    slices: NDArray[np.object_]
    names: tuple[str, ...]
    neutral: int | None
    values: tuple[str, ...]


def rank_sets(
    frame: pd.DataFrame, *, item: Sequence[str], version: str, favored: str, other: str,
    score: str, neutral: str | None, words: str | None, slices: Sequence[str], cross: str | None,
    where: str,
) -> tuple[Sets, Counter[str], list[str]]:  # fmt: skip
    """The rank sets of a long frame, the rows left out by reason, and notes."""
    own = {"version": [version], "score": [score], "words": words, "cross": cross}
    check_columns(frame, where, {**own, "item": item})
    check_columns(frame, where, {**own, "slice": slices})  # a column may name items and slice them
    y = numbers(frame, score, where)
    check_sizes(frame, score, y, where)
    text = None if words is None else numbers(frame, words, where)
    if text is not None and (text <= 0).any():
        at = int(np.flatnonzero(text <= 0)[0])
        raise InputError(
            f"{where}, {place(frame, at)}, {words}", f"{text[at]:g} is not above 0",
            "Count the words of the text that was sent.",
        )  # fmt: skip
    crossing = None if cross is None else labels(frame[cross])
    named = _versions(frame, version, favored, other, neutral, where)
    code, values = _crossed_codes(named, crossing, neutral is not None, where, cross)
    excluded: Counter[str] = Counter()
    keep = np.ones(len(frame), dtype=bool)

    def leave_out(reason: str, gone: NDArray[np.bool_]) -> None:
        nonlocal keep
        if count := int((gone & keep).sum()):
            excluded[reason] += count
            keep &= ~gone

    lacking = np.array([v is None for v in labels(frame[version])], dtype=bool)
    leave_out("missing_version", lacking & (named < 0))
    leave_out("other_version", named < 0)
    leave_out("missing_cross", code < 0)
    columns = {c: labels(frame[c]) for c in dict.fromkeys([*item, *slices])}
    for role, names in (("item", item), ("slice", slices)):
        for name in names:
            leave_out(f"missing_{role}", np.array([v is None for v in columns[name]], dtype=bool))
    if text is not None:
        leave_out("missing_words", np.isnan(text))
    if not keep.any():
        raise InputError(where, "no row has everything that is asked for", "Check the columns.")
    silent = keep & np.isnan(y)  # its set stays, incomplete
    if silent.any():
        excluded["missing_score"] += int(silent.sum())
    versions = 2 * max(len(values), 1) + (neutral is not None)
    sets = _grouped(
        y[keep], code[keep], versions,
        codes_of([columns[c][keep] for c in item]),
        np.stack([columns[c][keep] for c in slices], axis=1) if slices
        else np.empty((int(keep.sum()), 0), dtype=object),
        None if text is None else text[keep],
    )  # fmt: skip
    data, labelled, several = sets
    notes = _notes(several, data, words, where)
    last = versions - 1 if neutral is not None else None
    return Sets(data, labelled, tuple(slices), last, values), excluded, notes


def _versions(
    frame: pd.DataFrame, version: str, favored: str, other: str, neutral: str | None, where: str
) -> NDArray[np.int64]:
    """(N,): 0 favored, 1 other, 2 neutral, -1 anything else. InputError where one has no row."""
    column = frame[version]
    found = np.full(len(frame), -1, dtype=np.int64)
    for code, value in enumerate((favored, other, neutral)):
        if value is None:
            continue
        if value == "":
            mine = np.array([v is None for v in labels(column)], dtype=bool)
        else:
            mine = equals(column, value)
        if not mine.any():
            known = Counter(v for v in labels(column) if v is not None)
            listed = ", ".join(f"'{v}'" for v, _ in known.most_common(10))
            raise InputError(
                f"{where}, {version}", f"no row has the value '{value}'",
                f"Values are: {listed}{', ...' if len(known) > 10 else ''}.",
            )  # fmt: skip
        found[mine] = code
    return found


def _crossed_codes(
    named: NDArray[np.int64], crossing: NDArray[np.object_] | None, neutral: bool, where: str,
    cross: str | None,
) -> tuple[NDArray[np.int64], tuple[str, ...]]:  # fmt: skip
    """Column of y for each row (-1: none), and the values of the crossing column.

    InputError where a value lacks one of both labels. The neutral version has no second label.
    """
    if crossing is None:
        return named, ()
    labelled = (named == 0) | (named == 1)
    values = sorted({str(v) for v in crossing[labelled] if v is not None})
    if len(values) < 2:
        raise InputError(f"{where}, {cross}", "has no two values", "Leave out --cross.")
    place_of = {v: i for i, v in enumerate(values)}
    at = np.array([-1 if v is None else place_of.get(v, -1) for v in crossing], dtype=np.int64)
    for value, i in place_of.items():
        if len(set(named[labelled & (at == i)])) < 2:
            raise InputError(
                f"{where}, {cross}", f"'{value}' comes with one of both versions only",
                "Every value of the second attribute needs both.",
            )  # fmt: skip
    code = np.where(labelled & (at >= 0), 2 * at + named, -1)
    if neutral:
        code = np.where(named == 2, 2 * len(values), code)
    return code, tuple(values)


def codes_of(columns: Sequence[NDArray[np.object_]]) -> NDArray[np.int64]:
    """One code for each distinct combination, in the order of its texts."""
    codes = np.zeros(len(columns[0]), dtype=np.int64)
    for column in columns:
        found, kinds = pd.factorize(column, sort=True)
        codes = np.unique(codes * max(len(kinds), 1) + found, return_inverse=True)[1].reshape(-1)
    return codes.astype(np.int64)


def _several_texts(cell: NDArray[np.int64], text: NDArray[np.float64]) -> bool:
    """Whether a version of a resume in its slices comes with different numbers of words: then the
    slices do not name the information level, and the words do."""
    least, most = np.full(int(cell.max()) + 1, np.inf), np.zeros(int(cell.max()) + 1)
    np.minimum.at(least, cell, text)
    np.maximum.at(most, cell, text)
    return bool((most > least).any())


def _grouped(
    y: NDArray[np.float64], code: NDArray[np.int64], versions: int, item: NDArray[np.int64],
    slices: NDArray[np.object_], text: NDArray[np.float64] | None,
) -> tuple[RankSets, NDArray[np.object_], bool]:  # fmt: skip
    """Sets, their slice labels, and whether any version was answered more than once."""
    keys = [item.astype(object), *(slices[:, k] for k in range(slices.shape[1]))]
    at = codes_of(keys)
    if text is not None and _several_texts(at * versions + code, text):
        at = codes_of([*keys, pd.factorize(text, sort=True)[0].astype(object)])
    sets = int(at.max()) + 1
    cell = at * versions + code
    answered = ~np.isnan(y)
    size = sets * versions
    times = np.bincount(cell[answered], minlength=size)
    # Sums of one cell in the order of the scores: the order of the file moves no digit.
    order = np.lexsort((y[answered], cell[answered]))
    sums = np.bincount(cell[answered][order], weights=y[answered][order], minlength=size)
    with np.errstate(invalid="ignore"):
        means = np.where(times > 0, sums / times, np.nan)
    left = (y[answered] - means[cell[answered]]) ** 2
    squares = np.bincount(cell[answered][order], weights=left[order], minlength=size)
    _, first = np.unique(at, return_index=True)
    words = None if text is None else np.bincount(at, weights=text) / np.bincount(at)
    several = bool((times > 1).any())
    shape = (sets, versions)
    data = RankSets(
        means.reshape(shape), item[first], words,
        np.asarray(times.reshape(shape), dtype=np.int64) if several else None,
        np.asarray(squares.reshape(shape), dtype=np.float64) if several else None,
    )  # fmt: skip
    return data, slices[first], several


def _notes(several: bool, data: RankSets, words: str | None, where: str) -> list[str]:
    notes = []
    if several and data.answers is not None:
        most = int(data.answers.max())
        notes.append(f"Versions were answered up to {most} times: means of the answers are ranked.")
    complete = int(data.complete.sum())
    if complete == 0:
        differ = " or the words differ between the versions of one resume" if words else ""
        raise InputError(
            where, f"no rank set is complete: some version never has a score{differ}",
            "Check --item and --slice, which the versions of one resume must share; where their "
            "words differ, name the information level by --slice.",
        )  # fmt: skip
    notes.append(
        f"{complete:,} of {len(data):,} rank sets have a score of every version; ranks over fewer "
        "versions are not comparable, so the others enter nothing."
    )
    return notes


def incomplete(
    sets: Sets, favored: str, other: str, neutral: str | None
) -> Mapping[str, int]:  # fmt: skip
    """Sets left out, and how many lack each version."""
    gone = int((~sets.data.complete).sum())
    if not gone:
        return {}
    if sets.values:
        names = [f"{v} {value}" for value in sets.values for v in (favored, other)]
    else:
        names = [favored, other]
    if neutral is not None:
        names.append(neutral or "neutral")
    lacking = sets.data.lacking.tolist()
    found = {f"set_lacks_{n}": int(c) for n, c in zip(names, lacking, strict=True) if c}
    return {"incomplete_set": gone, **found}
