"""One model's pairs of one contrast: its rows, slice by slice, and its placebo pairs. No Spark.

Codes in, words out: pairs come as integers (`callbacks.pairs`), rows leave as `estimates` has them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from fairscreen.callback_words import Words, in_words
from fairscreen.estimators.callback_pairs import CallbackPairs, CallbackRow, Ints, not_computable
from fairscreen.estimators.callback_placebo import placebo_rows
from fairscreen.estimators.callbacks import (
    GAP,
    HEADLINE,
    CallbackOptions,
    callbacks,
    firm_row,
)
from fairscreen.settings.callback_audit import CallbackConfig

WITHIN, FIRM = "within", "company"
#: Order of the pairs of a group: numbers do not depend on partitions.
KEY = ("posting", "pair_id", "within", "replicate")
ANSWERS = ("favored", "other")
CONTROL = "control=placebo"
_Codes = NDArray[np.int64]


@dataclass(frozen=True)
class Asked:
    """What is asked of each group. kinds: columns to slice by; values: texts of the codes of each
    column, sorted; names: of all names that intervals cluster by (`callbacks.person`), sorted;
    words: by contrast."""

    options: CallbackOptions
    kinds: tuple[str, ...]
    min_postings: int
    values: Mapping[str, Sequence[str]]
    names: Sequence[str]
    words: Mapping[str, Words]

    @classmethod
    def of(
        cls, cfg: CallbackConfig, values: Mapping[str, Sequence[str]], names: Sequence[str]
    ) -> Asked:
        told = cfg.estimation
        options = CallbackOptions(
            level=told.level, draws=told.draws, permutations=told.permutations,
            margin=told.margin, seed=cfg.seed,
        )  # fmt: skip
        words = {}
        for key, contrast in cfg.contrasts.items():
            words[key] = Words(contrast.arms, contrast.labels[0], "name", names)
        return cls(options, told.slices, told.min_postings, values, names, words)


def cells_of(frame: pd.DataFrame) -> CallbackPairs:
    """Pairs of rows of `callbacks.pairs`, one cell each, in their order."""
    table = np.zeros((len(frame), 3, 3), dtype=np.int64)
    one, two = (frame[side].to_numpy(dtype=np.int64) for side in ANSWERS)
    table[np.arange(len(frame)), one, two] = 1
    gap = frame["favored_p"].to_numpy(dtype=np.float64) - frame["other_p"].to_numpy(
        dtype=np.float64
    )
    both = np.isfinite(gap)
    some = bool(both.any())
    return CallbackPairs(
        table,
        np.unique(frame["posting"].to_numpy(), return_inverse=True)[1].reshape(-1).astype(np.int64),
        frame["favored_name"].to_numpy(dtype=np.int64),
        frame["other_name"].to_numpy(dtype=np.int64),
        None,
        both.astype(np.int64) if some else None,
        np.where(both, gap, 0.0) if some else None,
    )


def analyse(frame: pd.DataFrame, asked: Asked, *, contrast: str) -> dict[str, Any]:
    """rows: as `in_words`, with `control` where they are of the placebo; counts: of each slice.

    frame: rows of one model and contrast, its placebo pairs among them (`placebo`). Draws are
    keyed by seed and slice, so a file of the same answers gives the same numbers. Labels are
    permuted over names in the pooled slice and by what both arms share, where names are whole.
    """
    frame = frame.sort_values(list(KEY), ignore_index=True)
    data, words, opts = cells_of(frame), asked.words[contrast], asked.options
    placebo = frame["placebo"].to_numpy(dtype=bool)
    at = np.flatnonzero(~placebo)
    real, codes = data.take(at), {k: frame[k].to_numpy()[at] for k in (*asked.kinds, FIRM)}
    rows, counts = [], []
    for text, column, mine in _slices(real, asked, codes):
        kind = _kind(column, text)
        some = real if mine is None else real.take(mine)
        postings = len(np.unique(some.posting))
        counts.append({"slice": text, **_counted(some, postings)})
        if mine is not None and postings < asked.min_postings:
            why = f"few_postings: {postings} of at least {asked.min_postings}"
            found: Sequence[CallbackRow] = [not_computable(GAP, HEADLINE, int(some.n.sum()), why)]
        else:
            whole = mine is None or column == WITHIN
            own = replace(
                opts, names=mine is None, seed=f"{opts.seed}/{text}",
                permutations=opts.permutations if whole else 0,
            )  # fmt: skip
            found = callbacks(some, own).rows
        rows += [in_words(row, text, kind, words) for row in found]
    firm = np.flatnonzero(codes[FIRM] >= 0)
    rows.append(
        in_words(firm_row(real.take(firm), codes[FIRM][firm], opts.level), "all", "all", words)
    )
    without = {f"without_{k}": int((codes[k] < 0).sum()) for k in asked.kinds if k != WITHIN}
    counts[0] |= {name: count for name, count in without.items() if count}
    controls = []
    if placebo.any():
        found = placebo_rows(real, data.take(placebo), level=opts.level)
        controls = [_controlled(in_words(row, "all", "all", words)) for row in found]
    return {"rows": rows, "controls": controls, "counts": counts}


def analyse_placebo(frame: pd.DataFrame, asked: Asked) -> dict[str, Any]:
    """The gap of two names of one race and gender, whose side is by draw: noise around 0."""
    frame = frame.sort_values(list(KEY), ignore_index=True)
    data, opts = cells_of(frame), asked.options
    own = replace(
        opts, names=False, margin=None, permutations=0, seed=f"{opts.seed}/placebo"
    )  # fmt: skip
    words = Words(("side=favored", "side=other"), "nobody", None, asked.names)
    rows = []
    for row in callbacks(data, own).rows:
        if row.part is None:
            told = in_words(row, "all", "all", words)
            rows.append(_controlled({**told, "favors_when_positive": None}))
    counts = {"slice": CONTROL, **_counted(data, len(np.unique(data.posting)))}
    return {"rows": [], "controls": rows, "counts": [counts]}


def _controlled(row: dict[str, Any]) -> dict[str, Any]:
    mine = CONTROL if row["slice"] == "all" else f"{CONTROL}; {row['slice']}"
    return {**row, "slice": mine, "family": None}


def _slices(
    data: CallbackPairs, asked: Asked, codes: Mapping[str, _Codes]
) -> Iterator[tuple[str, str, Ints | None]]:
    """(canonical name, column, positions), the pooled slice first: positions None."""
    yield "all", "all", None
    for column in asked.kinds:
        order = np.argsort(codes[column], kind="stable")
        found, first = np.unique(codes[column][order], return_index=True)
        ends = [*first[1:].tolist(), len(data)]
        for code, start, end in zip(found.tolist(), first.tolist(), ends, strict=True):
            text = asked.values[column][code] if code >= 0 else ""
            if text:
                yield text if column == WITHIN else f"{column}={text}", column, order[start:end]


def _kind(column: str, text: str) -> str:
    """Columns of a slice: what both arms share is told by its factors (gender=female)."""
    return "; ".join(p.split("=")[0] for p in text.split("; ")) if column == WITHIN else column


def _counted(pairs: CallbackPairs, postings: int) -> dict[str, int]:
    lacking = pairs.lacking
    one, two = (len(np.unique(names)) for names in pairs.ways[1:])
    return {
        "pairs": int(pairs.pairs.sum()), "complete": int(pairs.n.sum()),
        "lacks_favored": lacking[0], "lacks_other": lacking[1], "postings": postings,
        "names_favored": one, "names_other": two,
    }  # fmt: skip
