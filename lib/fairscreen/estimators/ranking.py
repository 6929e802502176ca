"""Ranking after scoring: every statistic of one slice of rank sets, as rows.

The default tests stand beside the published ones, named: level `sign_flip_exact` and
`pooled_permutation_published`, spread `paired_swap` and `pooled_permutation_published`, impact
ratio `ranks_at_least_tied` and mean ranks `published_code`, information `fixed_effects_cluster`
(and `wild_cluster_bootstrap` for few resumes). Pooled slices hold several sets of one resume: it is
flipped, swapped and resampled as a whole.
Sources: JobFair (Findings of EMNLP 2024); what is corrected, in the modules this one calls.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import rankdata

from fairscreen.estimators.equivalence import tost
from fairscreen.estimators.impact_ratio import METHOD as TIED
from fairscreen.estimators.impact_ratio import UNCAPPED, impact_rows, mean_rank_row
from fairscreen.estimators.information import (
    FEW_CLUSTERS,
    Coefficient,
    Wild,
    information,
)
from fairscreen.estimators.pooled_permutation import DRAWS, PooledPermutation, pooled_permutation
from fairscreen.estimators.rank_level import (
    Level,
    better_minus_worse,
    level_test,
    replicates,
    standardised,
)
from fairscreen.estimators.rank_spread import SWAPS, pitman_morgan, spread_test
from fairscreen.estimators.ranks import (
    HALF,
    Array,
    Ints,
    Mean,
    RankRow,
    RankSets,
    not_computable,
    settled,
)

SIGN_FLIP, PUBLISHED = "sign_flip_exact", "pooled_permutation_published"
FIXED_EFFECTS, WILD = "fixed_effects_cluster", "wild_cluster_bootstrap"
NO_SET = "no_complete_set: no set has a score of every version"
_ONE = "one_resume: there is no standard error"
#: The tests that an analysis stands on: neither published nor a second one of the same estimand.
TESTS = (
    ("rank_gap", SIGN_FLIP), ("spread_ratio", "paired_swap"), ("information_slope", FIXED_EFFECTS),
    ("rank_gap_difference", SIGN_FLIP),
)  # fmt: skip
_ALWAYS = (
    ("rank_gap", SIGN_FLIP), ("rank_gap", PUBLISHED), ("score_gap", SIGN_FLIP),
    ("score_gap", PUBLISHED), ("rank_gap_standardised", "paired"),
    ("better_minus_worse", "paired"), ("spread_ratio", "paired_swap"), ("spread_ratio", PUBLISHED),
    ("impact_ratio", TIED), (UNCAPPED, TIED), ("share_tied", TIED), ("untied_win_ratio", TIED),
    ("mean_rank_ratio", "published_code"),
)  # fmt: skip
_INFORMATION = (
    "information_slope", "mean_fixed_effect", "gap_at_mean_log_words", "gap_at_full_text",
)  # fmt: skip
#: Variance of repeated answers, and what of the variance of the score gap over sets it makes.
_REPLICATES = ("within_resume_variance", "replicate_share_of_gap_variance")


@dataclass(frozen=True)
class RankingOptions:
    """level of the intervals; margin, in ranks, inside which a gap is negligible (adds rows of
    method `tost`); published_draws, swaps: Monte Carlo draws; few_resumes: below it the wild
    cluster bootstrap stands beside; published: whether the published tests are made;
    pitman_morgan: adds the normal-theory test of spread, one set per resume only; seed."""

    level: float = 0.95
    margin: float | None = None
    published_draws: int = DRAWS
    swaps: int = SWAPS
    few_resumes: int = FEW_CLUSTERS
    published: bool = True
    pitman_morgan: bool = False
    seed: int | str = 0


@dataclass(frozen=True)
class RankingResult:
    """rows; sets given, `complete` of them with every score, of so many resumes (items); lacking:
    by version (column of y), sets in which it has no score."""

    rows: tuple[RankRow, ...]
    sets: int
    complete: int
    items: int
    lacking: tuple[int, ...]

    def to_rows(self) -> list[dict[str, Any]]:
        """One dict per row, with the columns of `estimates` known here."""
        return [asdict(row) for row in self.rows]

    def summary(self) -> str:
        """A table for people to read."""
        lines = [f"{self.complete:,} of {self.sets:,} rank sets complete, {self.items:,} resumes"]
        for r in self.rows:
            numbers = [
                "" if v is None else f"{v:.4g}"
                for v in (r.estimate, r.std_error, r.ci_low, r.ci_high, r.p_value)
            ]
            lines.append(
                f"{r.estimand:<22} {r.method:<28} "
                + " ".join(f"{v:>10}" for v in numbers)
                + (f"  {r.reason}" if r.reason else "")
            )
        return "\n".join(lines)


def ranking(
    data: RankSets, options: RankingOptions | None = None, *, pair: tuple[int, int] = (0, 1)
) -> RankingResult:
    """All rows of one slice. `pair`: columns of favored and other; ranks are over all columns.

    Positive favors: rank_gap and what is made of it the other version; score_gap and
    better_minus_worse the favored one.
    Not computable: "no_complete_set", "no_spread", "never_selected", "no_untied_win", "one_level",
    "one_resume", "no_replicates". Flagged "one_resume" where one resume leaves no error.
    """
    opts = options or RankingOptions()
    whole = data.take(data.complete).ordered()
    counts = (len(data), len(whole), len(np.unique(whole.item)), tuple(data.lacking.tolist()))
    if not len(whole):
        extra = [] if data.words is None else [(e, FIXED_EFFECTS) for e in _INFORMATION]
        if data.answers is not None:
            extra += [(e, "replicates") for e in _REPLICATES]
        if opts.margin is not None:
            extra.insert(0, ("rank_gap", "tost"))
        wanted = [*_ALWAYS, *extra]
        if not opts.published:
            wanted = [w for w in wanted if w[1] != PUBLISHED]
        return RankingResult(tuple(not_computable(e, m, 0, NO_SET) for e, m in wanted), *counts)
    one, two = pair
    ranks, item = whole.ranks, whole.item
    d, gap = ranks[:, one] - ranks[:, two], whole.y[:, one] - whole.y[:, two]
    pooled: dict[str, PooledPermutation] = {}
    if opts.published:
        for name, values in (("rank", ranks), ("score", whole.y)):
            pooled[name] = pooled_permutation(
                x=values[:, one], y=values[:, two], draws=opts.published_draws,
                seed=f"{opts.seed}/{name}",
            )  # fmt: skip
    rows = _level_rows("rank_gap", d, item, HALF, opts, pooled.get("rank"))
    rows += _level_rows("score_gap", gap, item, whole.unit, opts, pooled.get("score"))
    rows += _sizes(d, item, opts.level)
    rows += _spread_rows(ranks[:, one], ranks[:, two], item, opts, pooled.get("rank"))
    rows += impact_rows(favored=ranks[:, one], other=ranks[:, two], item=item, level=opts.level)
    rest = [k for k in range(ranks.shape[1]) if k != one]
    rows.append(mean_rank_row(ranks[:, [one, *rest]]))
    if whole.words is not None:
        rows += _information_rows(d, whole.words, item, opts)
    if whole.answers is not None and whole.squares is not None:
        at = list(pair)
        rows += _replicates(whole.squares[:, at], whole.answers[:, at], gap, opts.level)
    return RankingResult(tuple(rows), *counts)


def _level_rows(
    estimand: str, d: Array, item: Ints, unit: float, opts: RankingOptions,
    pooled: PooledPermutation | None,
) -> list[RankRow]:  # fmt: skip
    test = level_test(
        d=d, item=item, unit=unit, level=opts.level, seed=f"{opts.seed}/{estimand}"
    )  # fmt: skip
    rows = [_level_row(estimand, test)]
    if opts.margin is not None and estimand == "rank_gap":
        rows.append(_equivalence(rows[0], opts.margin))
    if pooled is not None:
        row = RankRow(
            estimand, PUBLISHED, pooled.difference, None, None, None, pooled.p_level, len(d),
            reason=_fewer(pooled, opts),
        )  # fmt: skip
        rows.append(row)
    return rows


def _fewer(pooled: PooledPermutation, opts: RankingOptions) -> str | None:
    """Says so where fewer draws were made than asked for."""
    if pooled.draws == opts.published_draws:
        return None
    return f"fewer_draws: {pooled.draws:,} of {opts.published_draws:,}, for values and sets so many"


def _level_row(estimand: str, test: Level) -> RankRow:
    m = test.mean
    row = RankRow(
        estimand, SIGN_FLIP if test.method == "exact" else "sign_flip_monte_carlo",
        m.value, m.std_error, m.low, m.high, test.p_value, m.n,
        "ok" if m.items > 1 else "flagged", None if m.items > 1 else _ONE,
    )  # fmt: skip
    return settled(row, exact=True)


def _equivalence(row: RankRow, margin: float) -> RankRow:
    if not row.std_error or row.estimate is None:
        why = "no_standard_error: there is one resume, or every gap is the same"
        return not_computable(row.estimand, "tost", row.n, why)
    test = tost(estimate=row.estimate, std_error=row.std_error, margin=margin)
    return RankRow(
        row.estimand, "tost", row.estimate, row.std_error, test.ci_low, test.ci_high,
        test.p_value, row.n,
    )  # fmt: skip


def _sizes(d: Array, item: Ints, level: float) -> list[RankRow]:
    """Effect sizes: mean D over its standard deviation, and share better minus share worse."""
    sized = standardised(d=d, item=item, level=level)
    if sized is None:
        why = "no_spread: the gap is the same in every set"
        first = not_computable("rank_gap_standardised", "paired", len(d), why)
    else:
        first = _mean_row("rank_gap_standardised", sized)
    return [first, _mean_row("better_minus_worse", better_minus_worse(d=d, item=item, level=level))]


def _mean_row(estimand: str, m: Mean, method: str = "paired") -> RankRow:
    several = m.items > 1
    row = RankRow(
        estimand, method, m.value, m.std_error, m.low, m.high, m.p_value, m.n,
        "ok" if several else "flagged", None if several else _ONE,
    )  # fmt: skip
    return settled(row)


def _spread_rows(
    a: Array, b: Array, item: Ints, opts: RankingOptions, pooled: PooledPermutation | None
) -> list[RankRow]:
    test = spread_test(
        a=a, b=b, item=item, swaps=opts.swaps, level=opts.level, seed=f"{opts.seed}/spread"
    )
    why = "no_spread: the ranks of a version do not vary"
    if test is None:
        rows = [not_computable("spread_ratio", "paired_swap", len(a), why)]
    else:
        one = test.std_error is None
        row = RankRow(
            "spread_ratio", "paired_swap", test.ratio, test.std_error, test.low, test.high,
            test.p_value, len(a), "flagged" if one else "ok", _ONE if one else None,
        )  # fmt: skip
        rows = [settled(row, exact=True)]
    if opts.pitman_morgan:
        rows.append(_normal_theory(a, b, item, test.ratio if test else None))
    if pooled is not None:
        if pooled.ratio is None:
            rows.append(not_computable("spread_ratio", PUBLISHED, len(a), why))
        else:
            rows.append(
                RankRow(
                    "spread_ratio", PUBLISHED, pooled.ratio, None, None, None, pooled.p_spread,
                    len(a), reason=_fewer(pooled, opts),
                )
            )  # fmt: skip
    return rows


def _normal_theory(a: Array, b: Array, item: Ints, ratio: float | None) -> RankRow:
    method = "pitman_morgan_normal_theory"
    p = pitman_morgan(a=a, b=b) if len(np.unique(item)) == len(item) else None
    if p is None or ratio is None:
        why = "not_one_pair_per_resume, or the ranks of a version do not vary"
        return not_computable("spread_ratio", method, len(a), why)
    return RankRow("spread_ratio", method, ratio, None, None, None, p, len(a))


def _information_rows(d: Array, words: Array, item: Ints, opts: RankingOptions) -> list[RankRow]:
    found = information(
        d=d, words=words, item=item, level=opts.level, few=opts.few_resumes, seed=opts.seed
    )
    if isinstance(found, str):
        return [not_computable(e, FIXED_EFFECTS, len(d), found) for e in _INFORMATION]
    fits = (found.slope, found.at_one_word, found.at_mean, found.at_full)
    rows = [
        _coefficient(e, fit, found.sets) for e, fit in zip(_INFORMATION, fits, strict=True)
    ]  # fmt: skip
    for estimand, fit, wild in zip(
        _INFORMATION[:2], fits[:2], (found.slope_wild, found.alpha_wild), strict=True
    ):
        if wild is not None:
            rows.append(_wild(estimand, fit, wild, found.sets))
    return rows


def _coefficient(estimand: str, fit: Coefficient, n: int) -> RankRow:
    return settled(
        RankRow(
            estimand, FIXED_EFFECTS, fit.estimate, fit.std_error, fit.low, fit.high, fit.p_value, n
        )
    )


def _wild(estimand: str, fit: Coefficient, wild: Wild, n: int) -> RankRow:
    endless = wild.low is None or wild.high is None
    why = "open_interval: an end of the interval lies beyond 100 errors" if endless else None
    row = RankRow(
        estimand, WILD, fit.estimate, fit.std_error, wild.low, wild.high, wild.p_value, n,
        "flagged" if endless else "ok", why,
    )  # fmt: skip
    return settled(row)


def _replicates(squares: Array, answers: Ints, gap: Array, level: float) -> list[RankRow]:
    found = replicates(squares=squares, answers=answers, gap=gap, level=level)
    variance, share = _REPLICATES
    if found is None:
        why = "no_replicates: no version was answered twice"
        return [not_computable(e, "replicates", len(gap), why) for e in _REPLICATES]
    row = RankRow(
        variance, "replicates", found.variance, found.std_error, found.low, found.high, None,
        len(gap),
    )  # fmt: skip
    first = settled(row)
    if found.share is None:
        why = "no_spread: the score gap is the same in every set"
        return [first, not_computable(share, "replicates", len(gap), why)]
    return [first, RankRow(share, "replicates", found.share, None, None, None, None, len(gap))]


def crossed(
    data: RankSets, values: Sequence[str], options: RankingOptions | None = None
) -> tuple[RankingResult, list[tuple[str, str, RankRow]]]:
    """Intersections: versions are labels of two attributes, (favored, other) for each value of the
    second. Columns of y: favored and other of values[0], of values[1], ...; then any others.

    Returns the gap averaged over the values (rows rank_gap and score_gap), and for each two of
    them the difference of their gaps, (value, minus value, row of rank_gap_difference). Ranks are
    over all versions of the resume; whole resumes are flipped.
    """
    opts = options or RankingOptions()
    many = len(values)
    whole = data.take(data.complete).ordered()
    counts = (len(data), len(whole), len(np.unique(whole.item)), tuple(data.lacking.tolist()))
    couples = [(i, j) for i in range(many) for j in range(i + 1, many)]
    if not len(whole):
        rows = [not_computable(e, SIGN_FLIP, 0, NO_SET) for e in ("rank_gap", "score_gap")]
        none = not_computable("rank_gap_difference", SIGN_FLIP, 0, NO_SET)
        return RankingResult(tuple(rows), *counts), [
            (values[i], values[j], none) for i, j in couples
        ]
    favored, other = np.arange(many) * 2, np.arange(many) * 2 + 1
    gaps = whole.ranks[:, favored] - whole.ranks[:, other]
    scores = whole.y[:, favored] - whole.y[:, other]
    silent = RankingOptions(**{**asdict(opts), "published": False})
    rows = _level_rows("rank_gap", gaps.mean(axis=1), whole.item, HALF / many, silent, None)
    rows += _level_rows(
        "score_gap", scores.mean(axis=1), whole.item, whole.unit / many, silent, None
    )
    differences = []
    for i, j in couples:
        test = level_test(
            d=gaps[:, i] - gaps[:, j], item=whole.item, level=opts.level,
            seed=f"{opts.seed}/{values[i]}/{values[j]}",
        )  # fmt: skip
        differences.append((values[i], values[j], _level_row("rank_gap_difference", test)))
    return RankingResult(tuple(rows), *counts), differences


def quality_terciles(neutral: ArrayLike, item: ArrayLike) -> NDArray[np.int64]:
    """0, 1, 2 = low, middle, high quality of each set (N,), by its resume's mean neutral score
    (NaN left out); -1 where the resume has none. Equal scores share a tercile."""
    score, codes = np.asarray(neutral, dtype=np.float64), np.asarray(item)
    values, at = np.unique(codes, return_inverse=True)
    at = at.reshape(-1)
    known = np.isfinite(score)
    sizes = np.bincount(at[known], minlength=len(values))
    sums = np.bincount(at[known], weights=score[known], minlength=len(values))
    found = np.full(len(values), -1, dtype=np.int64)
    some = sizes > 0
    if some.any():
        means = np.round(sums[some] / sizes[some], 9)  # a last digit is no difference
        found[some] = np.floor(3 * (rankdata(means) - 0.5) / some.sum()).astype(np.int64)
    return found[at]
