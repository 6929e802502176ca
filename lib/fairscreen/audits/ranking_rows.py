"""What slices of rank sets say, as rows of `estimates` and `diagnostics`, and as notes.

Families of tests hold all models of the audit: an estimand's own test over the values of one kind
of slice. Effects without flagged resumes and controls stand outside every family.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from fairscreen import rank_rows
from fairscreen.audits.ranking_slices import MINUS
from fairscreen.settings.rank_audit import RankingConfig

DESIGN, CONTROL = "ranking", "placebo"
TITLES = {
    "rank_gap": "gap in ranks, favored minus other",
    "rank_gap_standardised": "gap in ranks, in standard deviations",
    "rank_gap_minus_control": "gap in ranks minus that of the control, same resumes",
    "score_gap": "gap in scores, favored minus other",
    "better_minus_worse": "share ranked better minus share ranked worse",
    "spread_ratio": "variance of ranks, favored over other",
    "impact_ratio": "impact ratio of the favored version",
    "impact_ratio_uncapped": "impact ratio, not capped at 1",
    "share_tied": "share of sets in which both rank alike",
    "untied_win_ratio": "wins over losses, ties left out",
    "mean_rank_ratio": "mean rank over the largest mean rank (published code)",
    "information_slope": "change of the gap per unit of log words",
    "mean_fixed_effect": "mean fixed effect: the gap at one word",
    "gap_at_mean_log_words": "gap at the mean log words",
    "gap_at_full_text": "gap at the full text",
    "within_resume_variance": "variance of repeated answers",
    "replicate_share_of_gap_variance": "share of the gap's variance that repeated answers explain",
}


@dataclass(frozen=True)
class Context:
    """What every row carries. input_versions: JSON."""

    cfg: RankingConfig
    config_hash: str
    input_versions: str

    def row(self, model: str, contrast: str, **values: Any) -> dict[str, Any]:
        base = {
            "audit_id": self.cfg.audit_id, "design": DESIGN, "model": model,
            "attribute": self.cfg.attribute, "contrast": contrast, "document_format": "text",
            "family": None, "p_holm": None, "p_bh": None, "p_maxt": None,
            "config_hash": self.config_hash, "input_versions": self.input_versions,
        }  # fmt: skip
        return {**base, **values}


def estimates(
    context: Context, slices: Sequence[Mapping[str, Any]]
) -> tuple[list[dict[str, Any]], list[str]]:
    """Rows of `estimates` of all slices (`ranking_slices.analyse`), families filled, and the note
    on Bonferroni over all tests of the audit."""
    pairs = context.cfg.pairs
    rows, controls = [], []
    for part in slices:
        model, name, kind = part["model"], part["slice"], part["kind"]
        columns = [] if kind == "all" else kind.split("; ")
        for contrast, told in part["rows"].items():
            for extra, row in told:
                where, kinds = rank_rows.narrowed(name, columns, tuple(extra.items()))
                family = None if "cues" in columns else rank_rows.family(row, kinds)
                rows.append(
                    context.row(
                        model, contrast, slice=where, title=TITLES[row["estimand"]],
                        favors_when_positive=rank_rows.favors(row["estimand"], *pairs[contrast]),
                        **{**row, "family": family},
                    )
                )  # fmt: skip
        for contrast, by_control in part["controls"].items():
            other = pairs[contrast][1]
            for control, told in by_control.items():
                controls += [
                    context.row(
                        model, contrast, design=CONTROL, slice=_joined(name, control),
                        title=TITLES[row["estimand"]],
                        favors_when_positive=other if row["estimand"] == MINUS else None, **row,
                    )
                    for row in told
                ]  # fmt: skip
    notes, _ = rank_rows.fill_families(rows)
    return [*rows, *controls], notes


def _joined(name: str, control: str) -> str:
    """The slice of a control's rows."""
    mine = f"control={control}"
    return mine if name == "all" else f"{name}; {mine}"


def diagnostics(context: Context, slices: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Rank sets of each slice: complete, incomplete, and how many lack each version."""
    rows = []
    for part in slices:
        counts = {
            "complete": part["complete"],
            "incomplete": part["sets"] - part["complete"],
            "resumes": part["resumes"],
            **{f"lacks_{version}": count for version, count in part["lacking"].items()},
        }
        rows += [
            {
                "audit_id": context.cfg.audit_id, "model": part["model"],
                "contrast": "all", "document_format": "text",
                "slice": part["slice"], "kind": "rank_sets", "name": name, "value": float(count),
                "reason": None,
            }
            for name, count in counts.items()
        ]  # fmt: skip
    return rows


def set_notes(slices: Iterable[Mapping[str, Any]]) -> list[str]:
    """One sentence per model that has incomplete rank sets, with the industries they are in."""
    notes = []
    parts = list(slices)
    for part in parts:
        gone = part["sets"] - part["complete"]
        if part["kind"] != "all" or not gone:
            continue
        lacking = ", ".join(f"{v} {n:,}" for v, n in sorted(part["lacking"].items()))
        where = ", ".join(
            f"{other['slice'].removeprefix('industry=')} {other['sets'] - other['complete']:,}"
            f" of {other['sets']:,}"
            for other in parts
            if other["model"] == part["model"] and other["kind"] == "industry"
        )
        notes.append(
            f"{part['model']}: {gone:,} of {part['sets']:,} rank sets lack the score of a version "
            f"({lacking}) and enter nothing: ranks over fewer versions are not comparable. By "
            f"industry: {where}."
        )
    return notes
