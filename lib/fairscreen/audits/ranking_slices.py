"""One slice of one model's rank sets: its rows, its incomplete sets, its controls. No Spark.

Controls exist for a share of the resumes: the rank gap of two labels that mean nothing, and of a
label asked about twice, each ranked beside the version without a label. The gap itself is read
against them: on the same resumes, gap minus control, whole resumes flipped.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from fairscreen.estimators.rank_level import level_test
from fairscreen.estimators.ranking import SIGN_FLIP, RankingOptions, ranking
from fairscreen.estimators.ranks import Array, RankRow, RankSets, not_computable, settled
from fairscreen.rank_rows import slice_rows
from fairscreen.settings.rank_audit import RankingConfig

CONTROLS = ("placebo_label", "placebo_repeat")
MINUS = "rank_gap_minus_control"
#: Kinds of slices with the published tests, and with controls.
PUBLISHED = CONTROLLED = ("all", "industry")
_TOLD = ("rank_gap", "score_gap", "spread_ratio", "impact_ratio")
_Answers = Sequence[Sequence[Array]]  # by set and version


@dataclass(frozen=True)
class Asked:
    """What is asked of each slice. names: of the ranked versions, as in their arrays; pairs: places
    of favored and other by contrast; neutral: place of the version without a label."""

    options: RankingOptions
    names: tuple[str, ...]
    pairs: dict[str, tuple[int, int]]
    neutral: int | None

    @classmethod
    def of(cls, cfg: RankingConfig) -> Asked:
        told, labels = cfg.estimation, cfg.labels.labels
        options = RankingOptions(
            level=told.level,
            margin=told.equivalence_margin,
            published=bool(told.published_draws),
            published_draws=told.published_draws or RankingOptions().published_draws,
            swaps=told.swaps,
            seed=cfg.seed,
        )
        pairs = {
            name: (labels.index(one), labels.index(two)) for name, (one, two) in cfg.pairs.items()
        }
        none = ("none",) if cfg.labels.none else ()
        return cls(options, (*labels, *none), pairs, len(labels) if none else None)


def sets_of(frame: pd.DataFrame, answers: _Answers) -> RankSets:
    """Rank sets of rows of `ranking.rank_sets`, in their order; answers (N, K): sorted scores."""
    times = np.array([[len(a) for a in row] for row in answers], dtype=np.int64)
    means = np.array([[a.sum() / len(a) if len(a) else np.nan for a in row] for row in answers])
    squares = np.array(
        [[((a - a.sum() / len(a)) ** 2).sum() if len(a) else 0.0 for a in row] for row in answers]
    )
    several = bool((times > 1).any())
    resumes = frame["resume_id"].to_numpy(dtype=str)
    return RankSets(
        means,
        np.unique(resumes, return_inverse=True)[1].reshape(-1).astype(np.int64),
        frame["words"].to_numpy(dtype=np.float64),
        times if several else None,
        squares if several else None,
    )


def analyse(frame: pd.DataFrame, asked: Asked, *, name: str, kind: str) -> dict[str, Any]:
    """rows: by contrast, [what narrows the slice, row]; controls: by contrast and control, rows;
    sets, complete, resumes, and by version sets that lack it (`lacking`).

    frame: rows of `rank_sets` of one model and slice, sorted; name, kind: the slice's. Draws are
    keyed by seed and slice, so a file of the same answers gives the same numbers. The published
    tests are made where the paper makes them, by industry and pooled.
    """
    told = asked.options
    own = replace(told, seed=f"{told.seed}/{name}", published=told.published and kind in PUBLISHED)
    versions = [_arrays(row) for row in frame["versions"]]
    data = sets_of(frame, versions)
    lacking = dict(zip(asked.names, data.lacking.tolist(), strict=True))
    found: dict[str, Any] = {
        "rows": {},
        "sets": len(data),
        "complete": int(data.complete.sum()),
        "resumes": len(np.unique(data.item)),
        "lacking": {version: count for version, count in lacking.items() if count},
        "controls": {},
    }
    controlled = frame["control"].to_numpy(dtype=bool)
    for contrast, (one, two) in asked.pairs.items():
        rest = [k for k in range(len(asked.names)) if k not in (one, two)]
        order = [one, two, *rest]  # favored and other first, as the estimators have them
        neutral = None if asked.neutral is None else order.index(asked.neutral)
        rows = slice_rows(data.versions(order), own, neutral=neutral)
        found["rows"][contrast] = [[dict(extra), asdict(row)] for extra, row in rows]
        if controlled.any() and kind in CONTROLLED:
            at = np.flatnonzero(controlled)
            main = data.versions([one, two, *([] if asked.neutral is None else [asked.neutral])])
            found["controls"][contrast] = {
                control: [
                    asdict(row)
                    for row in _control(
                        frame.iloc[at],
                        [_pair(control, frame.iloc[i], versions[i], asked.neutral) for i in at],
                        main.take(at),
                        replace(own, seed=f"{own.seed}/{control}"),
                    )
                ]
                for control in CONTROLS
            }
    return found


def _arrays(row: Sequence[Any]) -> list[Array]:
    return [np.asarray(answers, dtype=np.float64) for answers in row]


def _pair(control: str, row: pd.Series, versions: list[Array], neutral: int | None) -> list[Array]:
    """Answers of both versions of a control, and of the one without a label beside them."""
    if control == "placebo_label":
        pair = _arrays(row["placebos"])
    else:
        pair = [versions[int(row["again_of"])], np.asarray(row["again"], dtype=np.float64)]
    return pair if neutral is None else [*pair, versions[neutral]]


def _control(
    frame: pd.DataFrame, answers: _Answers, main: RankSets, opts: RankingOptions
) -> list[RankRow]:
    """Rows of one control on the resumes that have it, and the gap of the labels minus its own."""
    data = sets_of(frame, answers)
    quiet = replace(opts, published=False, margin=None)
    rows = [row for row in ranking(data, quiet).rows if row.estimand in _TOLD]
    both = main.complete & data.complete
    if not both.any():
        why = "no_complete_set: no set has a score of every version and control"
        return [*rows, not_computable(MINUS, SIGN_FLIP, 0, why)]
    gap = main.ranks[:, 0] - main.ranks[:, 1] - (data.ranks[:, 0] - data.ranks[:, 1])
    test = level_test(
        d=gap[both], item=main.item[both], level=opts.level, seed=f"{opts.seed}/minus"
    )
    m = test.mean
    alone = m.items < 2
    row = RankRow(
        MINUS, SIGN_FLIP if test.method == "exact" else "sign_flip_monte_carlo",
        m.value, m.std_error, m.low, m.high, test.p_value, m.n,
        "flagged" if alone else "ok",
        "one_resume: there is no standard error" if alone else None,
    )  # fmt: skip
    return [*rows, settled(row, exact=True)]
