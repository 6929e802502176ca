"""Paired callbacks: every statistic of one slice, as rows; gaps in percentage points.

Headline `cluster_posting_names`: postings and names are both samples, and the interval clusters by
posting, favored name and other name. Default p: `sign_flip_posting`, exact, for these names.
Beside them relabelled names, each name left out, the interval by posting alone, and the published
ones (McNemar three ways, Wald, Newcombe, percentile bootstrap), which say what they assume.
Sources: Bertrand & Mullainathan (2004); Kline, Rose & Walters (2022).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from fairscreen.estimators import callback_missing, callback_names, firms, paired_tests
from fairscreen.estimators.callback_pairs import (
    FAVORED,
    OTHER,
    CallbackPairs,
    CallbackRow,
    Ints,
    not_computable,
)
from fairscreen.estimators.clustered import Clustered, from_influence, group_sums, ratio
from fairscreen.estimators.equivalence import tost
from fairscreen.estimators.ranks import NO_SPREAD, settled
from fairscreen.estimators.sign_flip import sign_flip

GAP, RATE, RATIO = "callback_gap_pp", "callback_rate", "callback_ratio"
HEADLINE, SIGN_FLIP, BY_POSTING = "cluster_posting_names", "sign_flip_posting", "cluster_t"
PERMUTATION, BOOTSTRAP, LEFT_OUT = "name_permutation", "cluster_bootstrap", "leave_one_name_out"
#: The tests an analysis stands on.
TESTS = ((GAP, SIGN_FLIP), (GAP, HEADLINE))
NO_PAIR = "no_pairs: no pair has an answer to both sides"
NARROW = "by_posting: clustering by names as well gave no more variance than by posting alone"
ONE_GROUP = "one_group: with one posting, or one name of an arm, there is no standard error"
WALD, NEWCOMBE = "wald", "newcombe"
_MCNEMAR = ("mcnemar_cc", "mcnemar_exact", "mcnemar_midp")


@dataclass(frozen=True)
class CallbackOptions:
    """level of the intervals; draws of the bootstrap; permutations of labels over names (0: no such
    row); margin, in percentage points, inside which a gap is negligible (adds a row of method
    `tost`); names: whether each name's rate is told; seed."""

    level: float = 0.95
    draws: int = paired_tests.DRAWS
    permutations: int = callback_names.PERMUTATIONS
    margin: float | None = None
    names: bool = True
    seed: int | str = 0


@dataclass(frozen=True)
class CallbackResult:
    """rows; pairs given, complete of them; lacking: pairs in which favored, other is silent."""

    rows: tuple[CallbackRow, ...]
    pairs: int
    complete: int
    lacking: tuple[int, int]

    def to_rows(self) -> list[dict[str, Any]]:
        """One dict per row, with the columns of `estimates` known here."""
        return [asdict(row) for row in self.rows]

    def summary(self) -> str:
        """A table for people to read."""
        return listed(f"{self.complete:,} of {self.pairs:,} pairs complete", self.rows)


def listed(title: str, rows: Sequence[CallbackRow]) -> str:
    """Rows as aligned text under a title."""
    lines = [title]
    for r in rows:
        numbers = [
            "" if v is None else f"{v:.4g}"
            for v in (r.estimate, r.std_error, r.ci_low, r.ci_high, r.p_value)
        ]
        lines.append(
            f"{r.estimand:<26} {r.method:<22} "
            + " ".join(f"{v:>10}" for v in numbers)
            + (f"  {'='.join(r.part)}" if r.part else "")
            + (f"  {r.reason}" if r.reason else "")
        )
    return "\n".join(lines)


def callbacks(
    pairs: CallbackPairs, options: CallbackOptions | None = None, *, firm: Ints | None = None
) -> CallbackResult:
    """All rows of one slice of pairs. firm (C,): code of the firm of each cell, if known.

    Gaps are favored minus other over complete pairs, in percentage points; rates are shares.
    Not computable: "no_pairs", and by method what names or firms lack. Flagged "one_group" where a
    single posting or name leaves no error.
    """
    opts = options or CallbackOptions()
    complete = int(pairs.n.sum())
    counts = (int(pairs.pairs.sum()), complete, pairs.lacking)
    if not complete:
        rows = [not_computable(RATE, "cluster_posting", 0, NO_PAIR, ("arm", side))
                for side in (FAVORED, OTHER)]  # fmt: skip
        methods = [SIGN_FLIP, BY_POSTING, BOOTSTRAP, WALD, NEWCOMBE, *_MCNEMAR]
        if pairs.favored is not None:
            methods = [HEADLINE, *([PERMUTATION] if opts.permutations else []), *methods]
        rows += [not_computable(GAP, m, 0, NO_PAIR) for m in methods]
        if opts.margin is not None:
            rows.append(not_computable(GAP, "tost", 0, NO_PAIR))
        rows.append(not_computable(RATIO, ratio_method(pairs.favored is not None), 0, NO_PAIR))
        if pairs.p_pairs is not None:  # P(yes) needs no valid answer
            rows += _p_yes(pairs, opts)
        return CallbackResult(tuple(rows + _silence(pairs, opts)), *counts)
    rows = [rate_row(pairs.called(side), pairs.n, pairs.posting, opts.level, ("arm", side))
            for side in (FAVORED, OTHER)]  # fmt: skip
    rows += _gap_rows(pairs, opts)
    rows.append(_ratio_row(pairs, opts.level))
    if pairs.p_pairs is not None and pairs.p_gap is not None:
        rows += _p_yes(pairs, opts)
    rows += _silence(pairs, opts)
    if firm is not None:
        rows.append(firm_row(pairs, firm, opts.level))
    if opts.names and pairs.favored is not None:
        rows += _name_rows(pairs)
    return CallbackResult(tuple(rows), *counts)


def gap_row(estimand: str, method: str, found: Clustered, n: int) -> CallbackRow:
    """A clustered difference of shares as a row in percentage points."""
    if found.std_error is None or found.low is None or found.high is None:
        return CallbackRow(
            estimand, method, 100 * found.value, None, None, None, None, n, "flagged", ONE_GROUP
        )
    row = CallbackRow(
        estimand, method, 100 * found.value, 100 * found.std_error, 100 * found.low,
        100 * found.high, found.p_value, n, "ok",
        NARROW if found.narrow and found.std_error else None,
    )  # fmt: skip
    return settled(row)


def _gap_rows(pairs: CallbackPairs, opts: CallbackOptions) -> list[CallbackRow]:
    n, rows = int(pairs.n.sum()), []
    some = pairs.some  # groups without a complete pair are no clusters
    best = by_posting = ratio(some.d, some.n, some.ways.first, level=opts.level)
    if pairs.favored is not None:
        best = ratio(some.d, some.n, some.ways, level=opts.level)
        rows.append(gap_row(GAP, HEADLINE, best, n))
        if opts.permutations:
            rows.append(_permutation_row(some, opts, n))
        rows += _left_out_rows(some, n)
    sums, times = (group_sums(v, some.posting) for v in (some.d, some.n))
    flip = sign_flip(sums, unit=1.0, seed=f"{opts.seed}/callbacks")
    gap = 100 * float(sums.sum()) / n
    method = SIGN_FLIP if flip.method == "exact" else f"{SIGN_FLIP}_monte_carlo"
    rows.append(CallbackRow(GAP, method, gap, None, None, None, flip.p_value, n))
    rows.append(gap_row(GAP, BY_POSTING, by_posting, n))
    drawn = paired_tests.bootstrap_interval(
        sums, times, draws=opts.draws, level=opts.level, seed=opts.seed
    )
    one = CallbackRow(GAP, BOOTSTRAP, gap, None, None, None, None, n, "flagged", ONE_GROUP)
    rows.append(_interval_row(BOOTSTRAP, drawn, n) if len(sums) > 1 else one)
    both, b, c, neither = pairs.cells
    rows.append(_interval_row(WALD, paired_tests.wald(b, c, n, level=opts.level), n))
    rows.append(
        _interval_row(NEWCOMBE, paired_tests.newcombe(both, b, c, neither, level=opts.level), n)
    )
    for method, p in paired_tests.mcnemar(b, c).items():
        rows.append(CallbackRow(GAP, method, gap, None, None, None, p, n))
    if opts.margin is not None:
        rows.append(equivalence_row(best, n, opts.margin))
    return rows


def _interval_row(method: str, found: paired_tests.Interval, n: int) -> CallbackRow:
    error = None if found.std_error is None else 100 * found.std_error
    row = CallbackRow(
        GAP, method, 100 * found.value, error, 100 * found.low, 100 * found.high, found.p_value, n
    )
    return settled(row)


def equivalence_row(found: Clustered, n: int, margin: float) -> CallbackRow:
    """Two one-sided t tests of a gap (a share) against a margin in percentage points."""
    if not found.std_error or gap_row(GAP, "tost", found, n).std_error is None:
        why = "no_standard_error: there is one group, or every gap is the same"
        return not_computable(GAP, "tost", n, why)
    gap, error = 100 * found.value, 100 * found.std_error
    test = tost(estimate=gap, std_error=error, margin=margin, df=found.df)
    return CallbackRow(GAP, "tost", gap, error, test.ci_low, test.ci_high, test.p_value, n)


def _permutation_row(pairs: CallbackPairs, opts: CallbackOptions, n: int) -> CallbackRow:
    found = callback_names.permutation(pairs, draws=opts.permutations, seed=opts.seed)
    if isinstance(found, str):
        return not_computable(GAP, PERMUTATION, n, found)
    gap = 100 * float(pairs.d.sum()) / n
    return CallbackRow(GAP, PERMUTATION, gap, None, None, None, found.p_value, n)


def _left_out_rows(pairs: CallbackPairs, n: int) -> list[CallbackRow]:
    ends = callback_names.left_out(pairs)
    labels = ("gap_without_a_name_min_pp", "gap_without_a_name_max_pp")
    if isinstance(ends, str):
        return [not_computable(e, LEFT_OUT, n, ends) for e in labels]
    return [
        CallbackRow(e, LEFT_OUT, 100 * end.gap, None, None, None, None, n,
                    part=("without_name", str(end.name)))
        for e, end in zip(labels, ends, strict=True)
    ]  # fmt: skip


def rate_row(
    called: Ints, n: Ints, posting: Ints, level: float, part: tuple[str, str] | None
) -> CallbackRow:
    """Rate sum(called) / sum(n) of cells (C,), its error by posting, and Wilson's interval at the
    sample size that the error stands for: p (1 - p) / error^2."""
    some = n > 0
    found = ratio(called[some], n[some], [posting[some]], level=level)
    total, p = int(n.sum()), found.value
    if found.std_error is None:
        return CallbackRow(
            RATE, "cluster_posting", p, None, None, None, None, total, "flagged", ONE_GROUP, part
        )
    error = settled(
        CallbackRow(RATE, "cluster_posting", p, found.std_error, None, None, None, total)
    ).std_error
    size = p * (1 - p) / error**2 if error else float(found.groups[0])
    low, high = paired_tests.wilson(p * size, size, level=level)
    why = None if error else NO_SPREAD  # Wilson's interval needs no error
    return CallbackRow(RATE, "cluster_posting", p, error, low, high, None, total, "ok", why, part)


def _ratio_row(pairs: CallbackPairs, level: float) -> CallbackRow:
    some = pairs.some
    return ratio_row(
        some.called(OTHER), some.called(FAVORED), some.n, some.n, some.ways, level,
        n=int(some.n.sum()),
    )  # fmt: skip


def ratio_method(names: bool) -> str:
    return "cluster_posting" + ("_names" if names else "")


def ratio_row(
    other: Ints, favored: Ints, n_other: Ints, n_favored: Ints, ways: Sequence[Ints], level: float,
    *, n: int, df: int | None = None,
) -> CallbackRow:  # fmt: skip
    """Other's rate over favored's from counts (C,), with the interval of its log."""
    method = ratio_method(len(ways) > 1)
    if not (other.any() and favored.any()):
        return not_computable(RATIO, method, n, "never_called: an arm has no callback")
    one, two = other.sum() / n_other.sum(), favored.sum() / n_favored.sum()
    influence = other / other.sum() - n_other / n_other.sum()
    influence = influence - (favored / favored.sum() - n_favored / n_favored.sum())
    log = from_influence(math.log(one / two), influence, ways, level=level, df=df)
    value = float(one / two)
    if log.std_error is None or log.low is None or log.high is None:
        return CallbackRow(RATIO, method, value, None, None, None, None, n, "flagged", ONE_GROUP)
    row = CallbackRow(
        RATIO, method, value, value * log.std_error, math.exp(log.low), math.exp(log.high),
        log.p_value, n, "ok", "below_four_fifths" if value < 0.8 else None,
    )  # fmt: skip
    return settled(row)


def _p_yes(pairs: CallbackPairs, opts: CallbackOptions) -> list[CallbackRow]:
    """The gap on P(yes), where both sides have one."""
    method = HEADLINE if pairs.favored is not None else BY_POSTING
    at = np.flatnonzero(pairs.p_pairs) if pairs.p_pairs is not None else np.zeros(0, dtype=int)
    some = pairs.take(at)
    if not len(some) or some.p_gap is None or some.p_pairs is None:
        why = "no_pairs: no pair has P(yes) of both sides"
        return [not_computable("p_yes_gap_pp", method, 0, why)]
    found = ratio(some.p_gap, some.p_pairs, some.ways, level=opts.level)
    return [gap_row("p_yes_gap_pp", method, found, int(some.p_pairs.sum()))]


def _silence(pairs: CallbackPairs, opts: CallbackOptions) -> list[CallbackRow]:
    """Rows about silent sides; none where every side answered."""
    total = int(pairs.pairs.sum())
    if not total or not any(pairs.lacking):
        return []
    away = callback_missing.silent(pairs)
    found = ratio(away, pairs.pairs, pairs.ways.first, level=opts.level)
    flip = sign_flip(group_sums(away, pairs.posting), unit=1.0, seed=f"{opts.seed}/silence")
    even = gap_row("missing_gap_pp", BY_POSTING, found, total)
    rows = [
        even,
        CallbackRow("missing_gap_pp", SIGN_FLIP, even.estimate, None, None, None, flip.p_value,
                    total),
    ]  # fmt: skip
    counted = callback_missing.silence_is_no(pairs)
    method = HEADLINE if len(pairs.ways) > 1 else BY_POSTING
    second = ratio(counted, pairs.pairs, pairs.ways, level=opts.level)
    rows.append(gap_row("callback_gap_silence_is_no_pp", method, second, total))
    sums = group_sums(counted, pairs.posting)
    flip = sign_flip(sums, unit=1.0, seed=f"{opts.seed}/no")
    rows.append(
        CallbackRow("callback_gap_silence_is_no_pp", SIGN_FLIP, rows[-1].estimate, None, None,
                    None, flip.p_value, total)
    )  # fmt: skip
    ends = callback_missing.bounds(pairs, level=opts.level)
    low, high = (None if v is None else 100 * v for v in (ends.low, ends.high))
    state, why = ("ok", None) if low is not None else ("flagged", ONE_GROUP)
    for estimand, bound in (("gap_lower_bound_pp", ends.lower), ("gap_upper_bound_pp", ends.upper)):
        error = None if bound.std_error is None else 100 * bound.std_error
        row = CallbackRow(
            estimand, "manski", 100 * bound.value, error, low, high, None, total,
            state, why,  # type: ignore[arg-type]
        )  # fmt: skip
        rows.append(settled(row))
    return rows


def firm_row(pairs: CallbackPairs, firm: Ints, level: float) -> CallbackRow:
    """How much firms differ in their gaps; firm (C,): codes."""
    found = firms.firm_component(
        d=pairs.d, n=pairs.n, posting=pairs.posting, firm=firm, level=level
    )
    if isinstance(found, str):
        return not_computable("firm_variance_pp2", "moments", int(pairs.n.sum()), found)
    error, low, high = (
        None if v is None else 1e4 * v for v in (found.std_error, found.low, found.high)
    )
    why = f"{found.single:,} firms with one posting left out" if found.single else None
    row = CallbackRow(
        "firm_variance_pp2", "moments", 1e4 * found.variance, error, low, high, None, found.firms,
        "ok", why,
    )  # fmt: skip
    return settled(row)


def _name_rows(pairs: CallbackPairs) -> list[CallbackRow]:
    rates, spreads = callback_names.name_rates(pairs)
    rows = []
    for side, spread in spreads.items():
        rows += name_rows(side, [r for r in rates if r.side == side], spread)
    return rows


def name_rows(
    side: str, rates: Sequence[callback_names.NameRate], spread: callback_names.NameSpread
) -> list[CallbackRow]:
    """The spread between the names of an arm, and each one's rate, plain and shrunk."""
    arm = ("arm", side)
    if spread.sd is None:
        why = spread.reason or ""
        rows = [not_computable("name_sd_pp", "moments", spread.names, why, arm)]
    else:
        sd = 100 * spread.sd
        rows = [CallbackRow("name_sd_pp", "moments", sd, None, None, None, None, spread.names,
                            part=arm)]  # fmt: skip
    for r in rates:
        part, one = (f"name of {r.side}", str(r.name)), r.std_error is None
        row = CallbackRow(RATE, "by_name", r.rate, r.std_error, None, None, None, r.n,
                          "flagged" if one else "ok", ONE_GROUP if one else None, part)  # fmt: skip
        rows.append(settled(row))
        if r.shrunk is not None:
            row = CallbackRow(RATE, "empirical_bayes", r.shrunk, r.shrunk_error, None, None, None,
                              r.n, part=part)  # fmt: skip
            rows.append(settled(row))
    return rows
