"""Rows of the result tables of the path-specific design, from the few results of its cases.

Families of tests (fixed by the config, before any score is seen): primary NDE, BIE, RIE and
secondary TE, NIE, each once over the job slices and once pooled, by the config's primary method
(`rescoring` where it is chosen, else `eif`). Every other method, outcome gap and diagnostic stands
outside and has no adjusted p-value; so does an effect that is known by construction.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from fairscreen.audits.cells import Case, cases
from fairscreen.config import Config
from fairscreen.estimators import patterns as five
from fairscreen.estimators.equivalence import tost
from fairscreen.estimators.joint import Joint, correlation
from fairscreen.estimators.multiplicity import adjust
from fairscreen.estimators.rescoring import BY_CONSTRUCTION, SAME_AS_TE
from fairscreen.estimators.results import EFFECTS, Floats

NO_ANSWER = "no_answer: no applicant of this case has a score"
FAMILIES = (("NDE", "BIE", "RIE"), ("TE", "NIE"))
TITLES = {
    "TE": "Total effect",
    "NDE": "Effect not through the grouped mediators",  # without a photo; never "direct"
    "NIE": "Effect through all mediators",
    "BIE": "Through qualifications (business necessity)",
    "RIE": "Through names and region (redlining; includes name -> qualification chains)",
    "raw_gap": "Raw gap of mean scores",
    "selection_rate": "Share scored above the median of all assessed",
    "selection_rate_ratio": "Ratio of the shares scored above the median",
    "share_tied": "Share of all assessed exactly at the median",
}
MIXES_JOBS = "mixes_differences_between_jobs"
_PHOTO_NDE = "Direct effect"
_METHOD_TITLES = {
    "at_or_above_median": "Share scored at or above the median of all assessed",
    "four_fifths": "Impact ratio: lower share scored above the median over the higher",
    "difference_unweighted": "Raw gap of mean scores, sample as drawn, without design weights",
}


@dataclass(frozen=True)
class Context:
    """What every row carries: the config, its hash, and the table versions that were read."""

    cfg: Config
    config_hash: str
    input_versions: str

    def row(
        self, case: Case, design: str, *, title: str | None = None, **values: Any
    ) -> dict[str, Any]:
        """A row of `estimates`, every column present; title: None = the estimand's."""
        contrast = self.cfg.estimation.contrasts[case.contrast]
        blank = dict.fromkeys(
            ("estimate", "std_error", "ci_low", "ci_high", "p_value", "family", "p_holm", "p_bh",
             "p_maxt", "reason")
        )  # fmt: skip
        return {
            "audit_id": self.cfg.audit_id, "design": design, "model": case.model,
            "attribute": contrast.attribute, "contrast": case.contrast,
            "document_format": case.document_format, "slice": case.slice,
            "title": title or _title(case, values["estimand"], values["method"]),
            **blank, "favors_when_positive": contrast.x1_label, **values,
            "config_hash": self.config_hash, "input_versions": self.input_versions,
        }  # fmt: skip

    def where(self, case: Case) -> dict[str, Any]:
        """Key columns of `overlap` and `patterns`."""
        return {
            "audit_id": self.cfg.audit_id, "model": case.model, "contrast": case.contrast,
            "document_format": case.document_format, "slice": case.slice,
        }  # fmt: skip


def _title(case: Case, estimand: str, method: str) -> str:
    if estimand == "NDE" and case.photo:
        return _PHOTO_NDE
    return _METHOD_TITLES.get(method, TITLES[estimand])


def estimates(
    context: Context,
    observed: Mapping[int, Mapping[str, Any]],
    raw: Mapping[int, Sequence[Mapping[str, Any]]],
    rescored: Sequence[dict[str, Any]],
    results: Mapping[int, Mapping[str, Any]],
    shared: Mapping[tuple[int, int], Floats],
    left_out: Sequence[int],
) -> tuple[list[dict[str, Any]], list[str]]:
    """All rows of `estimates`, and notes. Cases nobody answered get rows with the reason.

    observed: results of the observational estimator; rescored: rows of `rescoring_rows`; results:
    of the primary method, and shared: its correlations (3, 3) of NDE, BIE, RIE between cases;
    left_out: cases whose influence was too large to compare, taken as independent of the others.
    """
    rows: list[dict[str, Any]] = list(rescored)
    for case in cases(context.cfg):
        if context.cfg.estimation.observes:
            rows += _effect_rows(context, case, observed.get(case.index))
        rows += _outcome_rows(context, case, raw.get(case.index))
    notes = _fill_families(context.cfg, rows, results, shared)
    if left_out:
        notes.append(
            f"p_maxt takes {len(left_out)} case(s) as independent of the others: their cells are "
            "too many to compare applicant by applicant. Holm and Benjamini-Hochberg are unchanged."
        )
    if any(case.pooled for case in cases(context.cfg)):
        notes.append(
            "The slice `all` gives every job the weight of its applicants here, not of its "
            "workforce. Its raw gaps and rates also mix differences between jobs."
        )
    return rows, notes


def _effect_rows(
    context: Context, case: Case, result: Mapping[str, Any] | None
) -> list[dict[str, Any]]:
    draws = context.cfg.estimation.bootstrap_draws
    if result is None:
        methods = ("eif", "multiplier_bootstrap") if draws else ("eif",)
        return [
            context.row(
                case,
                "path_specific",
                estimand=e,
                method=m,
                n=0,
                status="not_computable",
                reason=NO_ANSWER,
            )
            for m in methods
            for e in EFFECTS
        ]
    rows = []
    for method, key in (("eif", "effects"), ("multiplier_bootstrap", "bootstrap")):
        for effect in result[key]:
            values = {k: v for k, v in effect.items() if k != "clip_sensitivity"}
            rows.append(context.row(case, "path_specific", method=method, **values))
    for effect in result["effects"]:
        rows += _beside(context, case, effect)
    return rows


def equivalence(
    context: Context, case: Case, effect: Mapping[str, Any], method: str
) -> dict[str, Any]:
    """The row of the equivalence test of one effect that has an error above 0."""
    margin = context.cfg.estimation.equivalence_margin
    value, error = effect["estimate"], effect["std_error"]
    test = tost(estimate=value, std_error=error, margin=margin)
    row = context.row(
        case, "path_specific", estimand=effect["estimand"], method=method, estimate=value,
        std_error=error, ci_low=test.ci_low, ci_high=test.ci_high, p_value=test.p_value,
        n=effect["n"], status=effect["status"], reason=effect["reason"],
    )  # fmt: skip
    row["title"] += f": is it negligible, within {margin:g} points? (small p = yes)"
    return row


def _beside(context: Context, case: Case, effect: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Equivalence test and other clip levels of one effect, where it is computable."""
    if effect["status"] == "not_computable":
        return []
    name = effect["estimand"]
    rows = [equivalence(context, case, effect, "tost")]
    for clip, moved in effect["clip_sensitivity"].items():
        if float(clip) == context.cfg.estimation.overlap.clip:
            continue  # the headline itself
        rows.append(
            context.row(
                case,
                "path_specific",
                estimand=name,
                method=f"eif_clip_{float(clip):g}",
                estimate=moved,
                n=effect["n"],
                status=effect["status"],
                reason=effect["reason"],
            )
        )
    return rows


def _outcome_rows(
    context: Context, case: Case, found: Sequence[Mapping[str, Any]] | None
) -> list[dict[str, Any]]:
    contrast = context.cfg.estimation.contrasts[case.contrast]
    if found is None:
        return [
            context.row(
                case,
                "outcome",
                estimand=e,
                method=m,
                n=0,
                status="not_computable",
                reason=NO_ANSWER,
            )
            for e, m in (("raw_gap", "difference"), ("selection_rate_ratio", "four_fifths"))
        ]
    rows = []
    for item in found:
        values = {k: v for k, v in item.items() if k != "group"}
        row = context.row(case, "outcome", **values)
        if item["group"] is not None:
            members = contrast.x1 if item["group"] == 1 else contrast.x0
            arm = f"{contrast.attribute}={'+'.join(members)}"
            row["slice"] = arm if case.pooled else f"{case.slice}; {arm}"
            row["favors_when_positive"] = None
        elif item["estimand"] != "raw_gap":
            # Above 1 the ratio x0 / x1 favors x0; impact ratio and ties favor nobody.
            log = item["method"] == "log_ratio"
            row["favors_when_positive"] = f"{contrast.x0_label} (above 1)" if log else None
        if case.pooled and row["status"] != "not_computable":
            # Men and women hold different jobs: a pooled gap is not one within any of them.
            row["status"] = "flagged"
            row["reason"] = "; ".join(filter(None, (row["reason"], MIXES_JOBS)))
        rows.append(row)
    return rows


def _fill_families(
    cfg: Config,
    rows: list[dict[str, Any]],
    results: Mapping[int, Mapping[str, Any]],
    shared: Mapping[tuple[int, int], Floats],
) -> list[str]:
    """Adjusted p-values of the primary and secondary families, in place; notes on left-outs."""
    known = {(c.model, c.document_format, c.contrast, c.slice): c for c in cases(cfg)}
    notes = []
    for pooled in (False, True):
        for members in FAMILIES:
            name = f"{' '.join(members)} {'pooled' if pooled else 'by job'}"
            mine: list[tuple[Case, dict[str, Any]]] = []
            for row in rows:
                if row["method"] != cfg.estimation.primary or row["estimand"] not in members:
                    continue
                if row["reason"] in (BY_CONSTRUCTION, SAME_AS_TE):
                    continue  # no test, or one that is there already
                case = known[row["model"], row["document_format"], row["contrast"], row["slice"]]
                if case.pooled is pooled:
                    mine.append((case, row))
            if not mine:
                continue
            able = [(c, r) for c, r in mine if r["p_value"] is not None]
            between = _correlation([(c, str(r["estimand"])) for c, r in able], results, shared)
            family = adjust(
                [r["p_value"] for _, r in able],
                [_statistic(r) for _, r in able],
                between,
                seed=f"{cfg.seed}/{name}",
            )
            for (_, row), member in zip(able, family.members, strict=True):
                if member is not None:
                    row["family"] = name
                    row["p_holm"], row["p_bh"], row["p_maxt"] = member.holm, member.bh, member.maxt
            gone = len(mine) - family.tested
            if gone:
                notes.append(
                    f"Family {name}: {family.tested} tests; {gone} more are not computable and "
                    "are left out of the correction."
                )
    return notes


def _statistic(row: Mapping[str, Any]) -> float:
    """t; where everybody has the same difference, as far out as any draw will ever be."""
    if row["std_error"] > 0:
        return float(row["estimate"] / row["std_error"])
    return math.copysign(1e6, row["estimate"]) if row["estimate"] else 0.0


def _correlation(
    members: Sequence[tuple[Case, str]],
    results: Mapping[int, Mapping[str, Any]],
    shared: Mapping[tuple[int, int], Floats],
) -> Floats:
    """Correlation (m, m) of (case, effect): exact within a case, from shared applicants between."""
    joint = Joint.of({c.index: results[c.index]["covariance"] for c, _ in members}, shared)
    return correlation(joint.of_combinations([[(c.index, e, 1.0)] for c, e in members]))


def overlap(
    context: Context, results: Mapping[int, Mapping[str, Any]], method: str = "eif"
) -> list[dict[str, Any]]:
    """Rows of `overlap` of one method's weights; none for a case that nobody answered."""
    return [
        {**context.where(case), **row, "method": method}
        for case in cases(context.cfg)
        if case.index in results
        for row in results[case.index]["overlap"]
    ]


def patterns(context: Context, rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Rows of `patterns`, from the rows of the primary method. Corrected over all cases by job, and
    over all pooled ones."""
    options = context.cfg.estimation
    by_case: dict[tuple[Any, ...], dict[str, five.Part]] = {}
    for r in rows:
        if r["method"] == options.primary and r["estimand"] in EFFECTS:
            key = (r["model"], r["document_format"], r["contrast"], r["slice"])
            by_case.setdefault(key, {})[str(r["estimand"])] = _part(r)
    for parts in by_case.values():
        if parts["NIE"].reason == SAME_AS_TE:
            parts["NIE"] = parts["TE"]
    found: dict[int, list[dict[str, Any]]] = {}
    for pooled in (False, True):
        chosen = [case for case in cases(context.cfg) if case.pooled is pooled]
        judged = five.patterns(
            [
                five.Judged(
                    by_case[case.model, case.document_format, case.contrast, case.slice],
                    photo=case.photo,
                )
                for case in chosen
            ],
            margin=options.equivalence_margin,
            alpha=1 - options.level,
        )
        for case, mine in zip(chosen, judged, strict=True):
            found[case.index] = [{**context.where(case), **asdict(row)} for row in mine]
    return [row for index in sorted(found) for row in found[index]]


def _part(row: Mapping[str, Any]) -> five.Part:
    if row["reason"] == BY_CONSTRUCTION:
        return five.Part(0.0, 0.0, 0.0, 0.0, 1.0, known=True)
    return five.Part(
        row["estimate"], row["std_error"], row["ci_low"], row["ci_high"], row["p_value"],
        row["reason"], known=row["method"] == "rescoring" and row["std_error"] == 0,
    )  # fmt: skip
