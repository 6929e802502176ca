"""JobFair's result file: one row per model, resume and share of its text, three versions in it.

Read, checked and written. What can be recomputed is (means, ranks, words), every difference is a
row, and the analysis stands on what was recomputed. Two things of the published code matter here:
a request that failed for good has the score -1, which its means include (here it is no answer);
and `Resume_len` is not the length of the text that was sent.
Source: the layout of JobFair's final_data.csv.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from fairscreen.analyze_ranking import analyze_sets, check_options
from fairscreen.errors import InputError
from fairscreen.estimators.ranking import RankingOptions
from fairscreen.estimators.ranks import RankSets, ranks
from fairscreen.input_columns import check_columns
from fairscreen.input_files import equals, label, labels, numbers, place, read_table
from fairscreen.rank_input import Sets, codes_of
from fairscreen.reporting.export import to_csv

Floats = NDArray[np.float64]
VERSIONS = ("Privilege", "Protect", "Neutral")
TEXT = ("Industry", "Role", "Original_Resume", "Preprocessed_Resume", "proportion", "model")
COLUMNS = (
    *TEXT,
    *(f"{version}_{what}" for version in VERSIONS for what in ("Scores", "Avg_Score", "Rank")),
    "Resume_len",
)
_NEEDED = (
    "Industry", "Original_Resume", "Preprocessed_Resume", "proportion", "model",
    *(f"{v}_Scores" for v in VERSIONS),
)  # fmt: skip
SLICES = ("model", "Industry")
_BEST = 10.0
_SAME = 1e-9
_SHOWN = 20
_NOT_NUMBER = re.compile(r"\b(?:None|nan|NaN|NULL)\b")


@dataclass(frozen=True)
class Published:
    """A result file: frame as read; answers: by version and row, the scores that count; means,
    ranks (N, 3) recomputed from them, NaN where there is none; words (N,) of the text that was
    sent; mismatches: one dict each; failed: answers of -1. texts: whether any is there; without,
    words are `Resume_len` as the file says, or 0. versions: 2 where nothing neutral was scored."""

    frame: pd.DataFrame
    answers: tuple[list[list[float]], ...]
    means: Floats
    ranks: Floats
    words: NDArray[np.int64]
    mismatches: list[dict[str, Any]]
    failed: int
    where: str
    texts: bool = True
    versions: int = 3

    def recomputed(self) -> pd.DataFrame:
        """The layout with means, ranks and words as recomputed; other columns as they were."""
        out = self.frame.copy()
        for k, version in enumerate(VERSIONS):
            out[f"{version}_Scores"] = [json.dumps(_whole(a)) for a in self.answers[k]]
            out[f"{version}_Avg_Score"] = self.means[:, k]
            out[f"{version}_Rank"] = self.ranks[:, k]
        out["Resume_len"] = self.words
        named = [c for c in COLUMNS if c in out.columns]
        return out[[*named, *(c for c in out.columns if c not in COLUMNS)]]


def read(path: str | Path) -> Published:
    """The file, recomputed. InputError for a missing column, scores that are no list of numbers,
    an industry, resume or model that is empty."""
    where = str(path)
    frame = read_table(path, row="rank set")
    check_columns(frame, where, {"published": list(_NEEDED)})
    for name in ("Industry", "Original_Resume", "proportion", "model"):
        empty = np.flatnonzero([v is None for v in labels(frame[name])])
        if len(empty):
            raise InputError(
                f"{where}, {place(frame, int(empty[0]))}, {name}", "is empty", "Fill it in."
            )
    given = [
        [_scores(frame, i, name, cell, where) for i, cell in enumerate(frame[name].tolist())]
        for name in (f"{v}_Scores" for v in VERSIONS)
    ]
    answers = tuple([[s for s in cell if s >= 0] for cell in column] for column in given)
    means = np.array(
        [
            [sum(sorted(cell)) / len(cell) if cell else np.nan for cell in column]
            for column in answers
        ]
    ).T.reshape(len(frame), 3)
    words = np.array(
        [len((label(v) or "").split()) for v in frame["Preprocessed_Resume"].tolist()],
        dtype=np.int64,
    )
    texts = bool(words.any())
    if not texts and "Resume_len" in frame.columns:
        words = np.nan_to_num(numbers(frame, "Resume_len", where)).astype(np.int64)
    versions = 3 if any(answers[2]) else 2
    placed = np.full(means.shape, np.nan)
    placed[:, :versions] = ranks(means[:, :versions])
    found = Published(
        frame, answers, means, placed, words, [],
        sum(s < 0 for column in given for cell in column for s in cell), where, texts, versions,
    )  # fmt: skip
    found.mismatches.extend(_mismatches(found, given))
    return found


def _scores(frame: pd.DataFrame, at: int, name: str, cell: Any, where: str) -> list[float]:
    """`[8, 7]`, `8`, a list of a parquet file; None and nan in it are no answers."""
    if isinstance(cell, list | tuple | np.ndarray):
        parsed: Any = [None if v is None or v != v else float(v) for v in cell]
    else:
        text = label(cell)
        try:
            parsed = [] if text is None else json.loads(_NOT_NUMBER.sub("null", text))
        except ValueError:
            parsed = [text]
        parsed = parsed if isinstance(parsed, list) else [parsed]
    if not all(v is None or (isinstance(v, int | float) and np.isfinite(v)) for v in parsed):
        raise InputError(
            f"{where}, {place(frame, at)}, {name}", f"'{str(cell)[:60]}' is no list of scores",
            "Write them as [8, 7].",
        )  # fmt: skip
    return [float(v) for v in parsed if v is not None]


def _whole(values: Sequence[float]) -> list[float]:
    return [int(v) if float(v).is_integer() else v for v in values]


def _mismatches(found: Published, given: list[list[list[float]]]) -> list[dict[str, Any]]:
    """Every published number that is not the recomputed one, in the order of the file."""
    frame, out = found.frame, []

    def tell(at: int, column: str, published: Any, recomputed: Any, reason: str) -> None:
        row = {"row": place(frame, at), "model": label(frame["model"].iloc[at])}
        row["proportion"] = label(frame["proportion"].iloc[at])
        told = {"published": published, "recomputed": recomputed, "reason": reason}
        out.append({**row, "column": column, **told})

    for k, version in enumerate(VERSIONS):
        for at, cell in enumerate(given[k]):
            bad = [s for s in cell if s < 0]
            if bad:
                tell(at, f"{version}_Scores", _whole(bad), None, "failed_answer")
            if far := [s for s in cell if s > _BEST]:
                tell(at, f"{version}_Scores", _whole(far), None, "above_10")
        for what, values in (("Avg_Score", found.means), ("Rank", found.ranks)):
            name = f"{version}_{what}"
            if name not in frame.columns:
                continue
            shown = numbers(frame, name, found.where)
            ours = values[:, k]
            same = np.abs(shown - ours) <= _SAME * np.maximum(1.0, np.abs(ours))
            same |= np.isnan(shown) & np.isnan(ours)
            for at in np.flatnonzero(~same).tolist():
                reason = f"not_the_{'mean' if what == 'Avg_Score' else 'rank'}"
                if what == "Rank" and np.isnan(ours[at]):
                    reason = "incomplete_set"
                tell(at, name, _null(shown[at]), _null(ours[at]), reason)
    if found.texts and "Resume_len" in frame.columns:
        shown = numbers(frame, "Resume_len", found.where)
        original = [len(str(v).split()) for v in labels(frame["Original_Resume"])]
        for at in np.flatnonzero(shown != found.words).tolist():
            of_original = shown[at] == original[at]
            reason = "words_of_the_original" if of_original else "not_the_words_sent"
            tell(at, "Resume_len", _null(shown[at]), int(found.words[at]), reason)
    keys = list(zip(*(labels(frame[c]) for c in _KEY), strict=True))
    first: dict[Any, int] = {}
    for at, key in enumerate(keys):
        if key in first:
            tell(at, "Original_Resume", None, place(frame, first[key]), "same_set_again")
        first.setdefault(key, at)
    order = {place(frame, i): i for i in range(len(frame))}
    return sorted(out, key=lambda m: order[m["row"]])


_KEY = ("model", "Industry", "Original_Resume", "proportion")


def _null(value: float) -> float | None:
    return None if np.isnan(value) else float(value)


def analyze(
    published: Published,
    *,
    favored: str = "Male",
    other: str = "Female",
    slices: Sequence[str] | None = None,
    margin: float | None = None,
    level: float = 0.95,
    draws: int = 100_000,
    swaps: int = 19_999,
    pitman_morgan: bool = False,
    seed: int | str = 20240624,
) -> dict[str, Any]:
    """As `analyze_ranking`, with "mismatches" beside; by default by model and industry.

    A resume is its industry and original text: its four shares, and its answers of several
    models, are flipped together. Words are those of the text that was sent.
    """
    options = RankingOptions(
        level=level,
        margin=margin,
        published_draws=draws,
        swaps=swaps,
        pitman_morgan=pitman_morgan,
        seed=seed,
    )
    check_options(options, favored, other, "Neutral")
    frame, where = published.frame, published.where
    names = tuple(SLICES if slices is None else slices)
    check_columns(frame, where, {"slice": list(names)})
    told = {c: labels(frame[c]) for c in dict.fromkeys([*names, "Industry", "Original_Resume"])}
    counted, used = bool(published.words.any()), published.versions
    keep, excluded = (published.words > 0) | (not counted), Counter[str]()
    if gone := int((~keep).sum()):
        excluded["no_text"] = gone
    lacking = np.array([[v is None for v in told[c]] for c in names], dtype=bool)
    if names and lacking.any():
        excluded["missing_slice"] = int((lacking.any(axis=0) & keep).sum())
        keep &= ~lacking.any(axis=0)
    if not (keep & np.isfinite(published.means[:, :used]).all(axis=1)).any():
        raise InputError(where, "no rank set is complete", "Check the score columns.")
    if published.failed:
        excluded["failed_answer"] = published.failed
    item = codes_of([told["Industry"], told["Original_Resume"]])
    times = np.array([[len(a) for a in column] for column in published.answers]).T
    squares = np.array(
        [
            [sum((s - published.means[i, k]) ** 2 for s in a) for i, a in enumerate(column)]
            for k, column in enumerate(published.answers)
        ],
        dtype=np.float64,
    ).T
    several = bool((times > 1).any())
    data = RankSets(
        published.means[:, :used], item,
        np.maximum(published.words, 1).astype(np.float64) if counted else None,
        times[:, :used].astype(np.int64) if several else None,
        squares[:, :used] if several else None,
    )  # fmt: skip
    values = np.empty((len(frame), len(names)), dtype=object)
    for k, name in enumerate(names):
        values[:, k] = told[name]
    neutral = "Neutral" if used == 3 else None
    sets = Sets(data.take(keep), values[keep], names, 2 if neutral else None, ())
    result = analyze_sets(
        sets, options, labels=(favored, other, neutral), excluded=excluded,
        notes=_notes(published), where=where,
    )  # fmt: skip
    return {**result, "mismatches": published.mismatches}


def _notes(published: Published) -> list[str]:
    told = [_note(published)]
    if not published.texts:
        words = "words are those of Resume_len" if published.words.any() else "none are counted"
        told.append(f"Preprocessed_Resume holds no text: {words}.")
    if published.versions == 2:
        told.append("Nothing neutral was scored: ranks are over two versions.")
    return told


def _note(published: Published) -> str:
    count = Counter(f"{m['column']} {m['reason']}" for m in published.mismatches)
    if not count:
        return "Means, ranks and words of the file are those that its scores and texts give."
    listed = "; ".join(f"{name}: {n:,}" for name, n in sorted(count.items()))
    return f"Not what the scores and texts of the file give, and recomputed: {listed}."


def lines(mismatches: Sequence[dict[str, Any]]) -> list[str]:
    """The first mismatches as text; --json has all of them."""
    shown = [
        f"mismatch: {m['row']}, {m['column']}: {m['published']}, recomputed {m['recomputed']} "
        f"({m['reason']})"
        for m in mismatches[:_SHOWN]
    ]
    more = len(mismatches) - _SHOWN
    return [*shown, f"and {more:,} more; --json FILE lists all"] if more > 0 else shown


def from_answers(
    frame: pd.DataFrame, *, item: Sequence[str], version: str, favored: str, other: str,
    neutral: str | None, score: str, words: str | None, slices: Sequence[str], where: str,
) -> pd.DataFrame:  # fmt: skip
    """Answers of a long frame in JobFair's layout; columns that it has by those names are kept.
    Of the others, those that `read` needs are filled: Original_Resume with the item, proportion
    with slices and words, which tell the sets of a resume apart, Industry with `all`, model with
    `unknown`; the rest is empty. A version that is missing has an empty list and no rank."""
    keys = list(dict.fromkeys([*item, *slices, *([words] if words else [])]))
    y, column = numbers(frame, score, where), frame[version]
    told = frame[keys].apply(lambda c: pd.Series(labels(c), index=c.index))
    groups = told.groupby(keys, sort=False, dropna=False).ngroup().to_numpy()
    sets = int(groups.max()) + 1
    answers: list[list[list[float]]] = [[[] for _ in range(sets)] for _ in VERSIONS]
    for k, value in enumerate((favored, other, neutral)):
        if value is None:
            continue
        mine = equals(column, value) if value else np.array([v is None for v in labels(column)])
        for at in np.flatnonzero(mine & ~np.isnan(y)).tolist():
            answers[k][int(groups[at])].append(float(y[at]))
    first = np.unique(groups, return_index=True)[1]
    out = frame.iloc[first].drop(columns=[version, score]).reset_index(drop=True)
    means = np.array([[np.mean(a) if a else np.nan for a in column] for column in answers]).T
    used = [0, 1, 2] if neutral is not None else [0, 1]
    placed = np.full((sets, 3), np.nan)
    placed[:, used] = ranks(means[:, used])
    for k, name in enumerate(VERSIONS):
        out[f"{name}_Scores"] = [json.dumps(_whole(a)) for a in answers[k]]
        out[f"{name}_Avg_Score"], out[f"{name}_Rank"] = means[:, k], placed[:, k]
    if words is not None:
        out["Resume_len"] = frame[words].iloc[first].to_numpy()
    cells = told.iloc[first].reset_index(drop=True)
    apart = [c for c in keys if c not in item]
    filled = {
        "Industry": "all", "model": "unknown", "Original_Resume": _joined(cells, item),
        "proportion": _joined(cells, apart) if apart else "all",
    }  # fmt: skip
    for name in COLUMNS:
        if name not in out.columns:
            out[name] = filled.get(name)
    return out[[*COLUMNS, *(c for c in out.columns if c not in COLUMNS)]]


def _joined(cells: pd.DataFrame, columns: Sequence[str]) -> list[str]:
    """The labels of these columns, row by row, as one text."""
    return ["; ".join(map(str, row)) for row in cells[list(columns)].itertuples(index=False)]


def check_target(target: str | None) -> None:
    """InputError where --export names no file that can be written."""
    if target is None:
        return
    file = Path(target).expanduser()
    if file.suffix.lower() not in (".csv", ".parquet"):
        raise InputError(f"--export {target}", "is no .csv or .parquet", "Give one of them.")
    if not file.resolve().parent.is_dir() or file.is_dir():
        raise InputError(
            f"--export {target}", "is no file in a folder that is there", "Give another."
        )


def write(frame: pd.DataFrame, target: str) -> None:
    """The frame as .csv (formulas neutralised: a text that starts with = or - gets an apostrophe)
    or .parquet (texts as they are)."""
    file = Path(target).expanduser()
    try:
        if file.suffix.lower() == ".csv":
            file.write_text(to_csv(frame), encoding="utf-8")
        else:
            frame.to_parquet(file, index=False)
    except OSError as error:
        raise InputError(
            f"--export {target}", error.strerror or "cannot be written", "Give another file."
        ) from None
