"""What pairs of callbacks say, as rows of `estimates` and `diagnostics`, and as notes. No Spark.

Families of tests hold all models of the audit: one test of one contrast over the values of one kind
of slice. Placebo pairs and the panel stand outside every family.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from fairscreen.audits import callback_panel
from fairscreen.callback_words import Words, fill_families
from fairscreen.settings.callback_audit import PLACEBO, CallbackConfig

DESIGN, CONTROL = "paired_callback", "placebo"
TITLES = {
    "callback_rate": "share of applications called",
    "callback_gap_pp": "callback gap, favored minus other, percentage points",
    "callback_ratio": "callback rate of other over favored",
    "gap_without_a_name_min_pp": "smallest gap without a name, percentage points",
    "gap_without_a_name_max_pp": "largest gap without a name, percentage points",
    "p_yes_gap_pp": "gap on the probability of a yes, percentage points",
    "missing_gap_pp": "silence, favored minus other, percentage points",
    "callback_gap_silence_is_no_pp": "callback gap, silence counted as no, percentage points",
    "gap_lower_bound_pp": "least gap that silent answers allow, percentage points",
    "gap_upper_bound_pp": "largest gap that silent answers allow, percentage points",
    "firm_variance_pp2": "variance of the gap between firms, percentage points squared",
    "name_sd_pp": "spread of rates between the names of an arm, percentage points",
    "discordant_share": "share of pairs in which one side alone is called",
    "discordant_share_gap_pp": "discordant pairs, real minus placebo, percentage points",
    "gap_trend_pp_per_year": "change of the gap per year of release, percentage points",
    "gap_at_mean_date_pp": "gap at the mean release date, percentage points",
    "gap_at_first_date_pp": "gap that the trend has at the first release date, percentage points",
    "gap_at_last_date_pp": "gap that the trend has at the last release date, percentage points",
    "gap_tau_pp": "spread of gaps between models beyond sampling, percentage points",
    "gap_i2": "share of the gaps' variance that is no sampling",
    "gap_difference_pp": "gap of a later model minus an earlier one, percentage points",
    "gap_correlation": "correlation of two gaps across models",
}


@dataclass(frozen=True)
class Context:
    """What every row carries. input_versions: JSON."""

    cfg: CallbackConfig
    config_hash: str
    input_versions: str

    def row(
        self, model: str, contrast: str, told: Mapping[str, Any], **more: Any
    ) -> dict[str, Any]:
        known = self.cfg.contrasts.get(contrast)
        return {
            "audit_id": self.cfg.audit_id, "design": DESIGN, "model": model,
            "attribute": "none" if known is None else known.attribute, "contrast": contrast,
            "document_format": "text", "config_hash": self.config_hash,
            "input_versions": self.input_versions, **told,
            "title": TITLES.get(told["estimand"], told["estimand"]), **more,
        }  # fmt: skip


def estimates(
    context: Context,
    parts: Sequence[Mapping[str, Any]],
    panel: Mapping[str, Any] | None,
    words: Mapping[str, Words],
) -> tuple[list[dict[str, Any]], list[str]]:
    """Rows of all models and contrasts (`callback_slices.analyse`, with model and contrast) and of
    the panel (`callback_panel.gathered`), families filled; notes."""
    rows, others = [], []
    for part in parts:
        model, contrast = part["model"], part["contrast"]
        for told in part["rows"]:
            family = told["family"] and f"{contrast}: {told['family']}"
            rows.append(context.row(model, contrast, told, family=family))
        others += [context.row(model, contrast, told, design=CONTROL) for told in part["controls"]]
    notes = fill_families(rows)
    if panel is not None:
        told_rows, more = callback_panel.rows(panel, context.cfg, words)
        others += [
            context.row(callback_panel.MODEL, told["contrast"], told, family=None)
            for told in told_rows
        ]
        notes += more
    return [*rows, *others], notes


def diagnostics(context: Context, parts: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Pairs of each slice: complete, lacking an answer by arm; postings and names behind them. Of
    each model its release (years) and family, kind `panel`."""

    def row(model: str, contrast: str, where: str, kind: str, name: str, value: float) -> Any:
        return {
            "audit_id": context.cfg.audit_id, "model": model, "contrast": contrast,
            "document_format": "text", "slice": where, "kind": kind, "name": name, "value": value,
            "reason": None,
        }  # fmt: skip

    rows = [
        row(part["model"], part["contrast"], counts["slice"], "pairs", name, float(count))
        for part in parts
        for counts in part["counts"]
        for name, count in counts.items()
        if name != "slice"
    ]
    for model, member in callback_panel.panel_of(context.cfg).items():
        if member.released is not None:
            rows.append(row(model, "all", "all", "panel", "released", member.released))
        if member.family is not None:
            rows.append(row(model, "all", "all", "panel", f"family={member.family}", 1.0))
    return rows


def missing_notes(parts: Iterable[Mapping[str, Any]], words: Mapping[str, Words]) -> list[str]:
    """One sentence per model and contrast with incomplete pairs: whose answers are missing, and
    what that says; one on postings without a value of a slice."""
    notes, absent = [], set()
    for part in parts:
        model, contrast, pooled = part["model"], part["contrast"], part["counts"][0]
        absent |= {
            (contrast, name.removeprefix("without_"))
            for name in pooled
            if name.startswith("without_")
        }
        gone = pooled["pairs"] - pooled["complete"]
        if contrast == PLACEBO or not gone:
            continue
        arms = words[contrast].arms
        told = f"{arms[0]} {pooled['lacks_favored']:,}, {arms[1]} {pooled['lacks_other']:,}"
        notes.append(
            f"{model}, {contrast}: {gone:,} of {pooled['pairs']:,} pairs lack a valid answer "
            f"({told}) and are in no gap. {_differs(part['rows'])}"
        )
    if absent:
        listed = ", ".join(f"{column} ({contrast})" for contrast, column in sorted(absent))
        notes.append(
            f"Postings without a value are in no slice of that kind: {listed}. Diagnostics "
            "without_... count their pairs."
        )
    return notes


def _differs(rows: Iterable[Mapping[str, Any]]) -> str:
    """What the test of even silence and the bounds say, from the pooled rows."""
    pooled = {(r["estimand"], r["method"].removesuffix("_monte_carlo")): r for r in rows
              if r["slice"] == "all"}  # fmt: skip
    test = pooled.get(("missing_gap_pp", "sign_flip_posting"))
    if test is None or test["p_value"] is None or test["estimate"] is None:
        return ""
    even = "is even" if test["p_value"] > 0.05 else "is NOT even"
    said = f"Silence {even} between arms ({test['estimate']:+.2f} points, p {test['p_value']:.2g})"
    ends = [pooled.get((name, "manski")) for name in ("gap_lower_bound_pp", "gap_upper_bound_pp")]
    if None in ends:
        return f"{said}."
    low, high = (end["estimate"] for end in ends)  # type: ignore[index]
    return f"{said}; whatever they would have said, the gap is {low:+.2f} to {high:+.2f}."
