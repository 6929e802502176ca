"""Ranking after scoring on somebody else's file, without Spark and without a warehouse.

One row per answer. Repeated answers of one resume and version are averaged before ranking; a rank
set is one resume in one combination of slices, in every version that is asked for. Where words are
given and differ within that, each number of words is an information level, a set of its own. Sets
without a score of every version are counted and left out.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, replace
from typing import Any

import numpy as np
import pandas as pd

from fairscreen.confidence import check_level
from fairscreen.errors import InputError
from fairscreen.estimators.ranking import RankingOptions, crossed, ranking
from fairscreen.estimators.ranks import RankRow, RankSets
from fairscreen.rank_input import Sets, incomplete, rank_sets
from fairscreen.rank_rows import Extra, family, favors, fill_families, narrowed, slice_rows
from fairscreen.result_rows import ROW
from fairscreen.slices import Slice, slices_of


def analyze_ranking(
    frame: pd.DataFrame,
    *,
    item: Sequence[str],
    version: str,
    favored: str,
    other: str,
    score: str,
    neutral: str | None = None,
    words: str | None = None,
    slices: Sequence[str] = (),
    cross: str | None = None,
    level: float = 0.95,
    margin: float | None = None,
    draws: int = 100_000,
    swaps: int = 19_999,
    pitman_morgan: bool = False,
    seed: int | str = 20240624,
    where: str = "input",
) -> dict[str, Any]:
    """Ranks of the versions of each resume, and whether one is favored; `where` names the frame.

    item     columns that name a resume; version: the column of its labels, of which favored and
             other are compared and neutral ("" = an empty cell) is ranked with them
    score    higher is better; words: number of words of the text that was sent
    slices   columns to report by: each value of each, and every combination; "all" is pooled
    cross    column of a second attribute (gender by race): every value of it must come with both
             labels; ranks are over all combinations, gaps are told for each value, averaged, and
             compared between values
    margin   in ranks, inside which a gap is negligible: adds rows of method `tost`

    Returns {"rows": [...], "excluded": {reason: count}, "notes": [...], "bonferroni": {tests,
    threshold, below}}; rows have the columns of ROW. n counts rank sets. Families of tests: an
    estimand's own test over the values of one slice column, or of one combination of columns;
    Bonferroni is over all of them, at 5%, `below` their (estimand, slice).
    Raises InputError for a missing or doubly used column, a score that is no number, words that
    are not above 0, a version that no row has, an option out of range.
    """
    options = RankingOptions(
        level=level,
        margin=margin,
        published_draws=draws,
        swaps=swaps,
        pitman_morgan=pitman_morgan,
        seed=seed,
    )
    check_options(options, favored, other, neutral)
    sets, excluded, notes = rank_sets(
        frame, item=item, version=version, favored=favored, other=other, score=score,
        neutral=neutral, words=words, slices=slices, cross=cross, where=where,
    )  # fmt: skip
    labels = (favored, other, neutral)
    return analyze_sets(
        sets, options, labels=labels, cross=cross, excluded=excluded, notes=notes, where=where
    )


def analyze_sets(
    sets: Sets,
    options: RankingOptions,
    *,
    labels: tuple[str, str, str | None],
    cross: str | None = None,
    excluded: Mapping[str, int],
    notes: Sequence[str],
    where: str = "input",
) -> dict[str, Any]:
    """The result of rank sets: rows of every slice, families filled, incomplete sets counted.

    labels: favored, other, neutral; excluded, notes: what reading them left out and said.
    """
    favored, other, neutral = labels

    def told(part: Slice) -> list[dict[str, Any]]:
        name, columns, at = part
        own = replace(options, seed=f"{options.seed}/{name}")
        return [
            _row(row, name, columns, extra, (favored, other))
            for extra, row in _rows_of(sets, sets.data.take(at), cross, own)
        ]

    # Draws let go of Python's lock; each slice has a seed of its own, so the order moves nothing.
    with ThreadPoolExecutor(max_workers=min(8, os.cpu_count() or 1)) as pool:
        rows = [
            row
            for part in pool.map(told, slices_of(sets.slices, sets.names, where))
            for row in part
        ]
    found = {**excluded, **incomplete(sets, favored, other, neutral)}
    said, bonferroni = fill_families(rows)
    return {
        "rows": rows, "excluded": dict(sorted(found.items())), "notes": [*notes, *said],
        "bonferroni": bonferroni,
    }  # fmt: skip


def check_options(o: RankingOptions, favored: str, other: str, neutral: str | None) -> None:
    """InputError for a version named twice, a level, margin or number of draws out of range."""
    if len({favored, other, neutral}) < 3:
        raise InputError(
            "--favored, --other, --neutral", f"name one version twice ('{favored}', '{other}')",
            "Give different values of the version column.",
        )  # fmt: skip
    check_level(o.level)
    if o.margin is not None and not (np.isfinite(o.margin) and o.margin > 0):
        raise InputError("--margin", f"{o.margin:g} is no margin", "Give ranks above 0.")
    for option, given in (("--draws", o.published_draws), ("--swaps", o.swaps)):
        if given < 99:
            raise InputError(option, f"{given} is too few", "Give 99 or more.")


def _rows_of(
    sets: Sets, data: RankSets, cross: str | None, options: RankingOptions
) -> Iterator[tuple[Extra, RankRow]]:
    """Rows of one slice: its own, those of crossed values, those of terciles."""
    if cross is not None:
        average, differences = crossed(data, sets.values, options)
        yield from (((), row) for row in average.rows)
        for one, two, row in differences:
            yield ((cross, f"{one} minus {two}"),), row
        for i, value in enumerate(sets.values):
            told = replace(options, seed=f"{options.seed}/{value}")
            result = ranking(data, told, pair=(2 * i, 2 * i + 1))
            yield from ((((cross, value),), row) for row in result.rows)
        return
    yield from slice_rows(data, options, neutral=sets.neutral)


def _row(
    row: RankRow, name: str, columns: Sequence[str], extra: Extra, labels: tuple[str, str]
) -> dict[str, Any]:
    where, kind = narrowed(name, columns, extra)
    known = {k: getattr(row, k) for k in ROW if hasattr(row, k)}
    own = {
        "slice": where,
        "family": family(asdict(row), kind),
        "favors_when_positive": favors(row.estimand, *labels),
    }
    return {**dict.fromkeys(ROW), **known, **own}
