"""Rows of a slice of rank sets, whom they favor, their families: of audits and of files alike."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from fairscreen.estimators.multiplicity import adjust
from fairscreen.estimators.ranking import TESTS, RankingOptions, quality_terciles, ranking
from fairscreen.estimators.ranks import RankRow, RankSets

QUALITY = ("low", "middle", "high")
_OF_TERCILES = ("rank_gap", "score_gap", "impact_ratio")
#: Estimands whose positive (ratios: above 1) values favor the favored version; the others' favor
#: the other one; _NOBODY's tell nothing about whom.
_FAVORED = ("score_gap", "better_minus_worse")
_RATIOS = ("impact_ratio", "impact_ratio_uncapped", "untied_win_ratio")
_NOBODY = (
    "spread_ratio", "share_tied", "within_resume_variance", "replicate_share_of_gap_variance",
)  # fmt: skip

Extra = tuple[tuple[str, str], ...]  # what narrows a slice: (column, value)


def slice_rows(
    data: RankSets, options: RankingOptions, *, neutral: int | None
) -> Iterator[tuple[Extra, RankRow]]:
    """Rows of one slice, and gaps by the quality of the resume. neutral: column of data.y with the
    neutral version, if any."""
    yield from (((), row) for row in ranking(data, options).rows)
    if neutral is not None:
        yield from _terciles(data, neutral, options)


def _terciles(
    data: RankSets, neutral: int, options: RankingOptions
) -> Iterator[tuple[Extra, RankRow]]:
    """Gaps by the quality of the resume: thirds of its neutral score."""
    complete = data.take(data.complete)
    whole = RankSets(complete.y, complete.item)  # nothing but the gaps is told
    group = quality_terciles(whole.y[:, neutral], whole.item)
    quick = replace(options, published=False, swaps=99)  # of the tests only the exact one is told
    for code, quality in enumerate(QUALITY):
        told = replace(quick, seed=f"{options.seed}/{quality}")
        for row in ranking(whole.take(group == code), told).rows:
            if row.estimand in _OF_TERCILES:
                yield (("quality", quality),), row


def narrowed(name: str, kinds: Sequence[str], extra: Extra) -> tuple[str, str]:
    """Canonical name and kind of a slice with what narrows it. kinds: its columns."""
    mine = [] if name == "all" else [name]
    mine += [f"{column}={value}" for column, value in extra]
    kind = "; ".join((*kinds, *(column for column, _ in extra))) or "all"
    return "; ".join(mine) or "all", kind


def favors(estimand: str, favored: str, other: str) -> str | None:
    """Whom a positive value (of a ratio: what is said) favors."""
    if estimand in _FAVORED:
        return favored
    if estimand in _RATIOS:
        return f"{favored} (above 1)"
    if estimand == "mean_rank_ratio":
        return f"{other} (nearer to 1)"
    return None if estimand in _NOBODY else other


def is_test(row: Mapping[str, Any]) -> bool:
    """Whether the row is of an estimand's own test, computable or not."""
    return (row["estimand"], row["method"]) in TESTS


def family(row: Mapping[str, Any], kind: str) -> str | None:
    """The family of a row's test; None where it is no estimand's own or has no p."""
    if not is_test(row) or row["p_value"] is None:
        return None
    return f"{row['estimand']} by {kind}"


def fill_families(rows: Sequence[dict[str, Any]]) -> tuple[list[str], dict[str, Any]]:
    """Adjusted p-values of each family, in place; notes, and Bonferroni over all tests.

    `below` of that: (estimand, slice), after the model where rows have one.
    """
    names = dict.fromkeys(r["family"] for r in rows if r["family"] is not None)
    for name in names:
        mine = [r for r in rows if r["family"] == name]
        for row, member in zip(mine, adjust([r["p_value"] for r in mine]).members, strict=True):
            if member is not None:
                row["p_holm"], row["p_bh"] = member.holm, member.bh
    tests = [r for r in rows if r["family"] is not None]
    left = sum(1 for r in rows if is_test(r) and r["p_value"] is None)
    bound = 0.05 / max(1, len(tests))
    below = [
        (*([r["model"]] if "model" in r else []), r["estimand"], r["slice"])
        for r in tests
        if r["p_value"] <= bound
    ]
    listed = ", ".join(f"{' '.join(who)} ({where})" for *who, where in below[:20])
    more = f", and {len(below) - 20} more" if len(below) > 20 else ""
    notes = [
        f"Bonferroni over the {len(tests):,} tests of this analysis: p below {bound:.3g} for "
        f"{len(below):,} of them{': ' if below else ''}{listed}{more}. Holm and "
        "Benjamini-Hochberg are within families."
    ]
    if left:
        notes.append(f"{left} tests are not computable and are in no family.")
    return notes, {"tests": len(tests), "threshold": bound, "below": below}
