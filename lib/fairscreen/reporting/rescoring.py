"""Counterfactual rescoring in the report: beside the observational estimate, and placebos."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from fairscreen.config import Config
from fairscreen.estimators.rescoring import (
    BY_CONSTRUCTION,
    DIFFERENCE,
    PLACEBO_NAME,
    PLACEBO_REPEAT,
)
from fairscreen.estimators.results import EFFECTS
from fairscreen.reporting import narrative
from fairscreen.reporting.plots import signed

Row = Mapping[str, Any]
#: Method of the Wald test against the estimate with ungrouped mediators (audits/ungrouped.py).
FINE = "wald_ungrouped"
_TITLES = {
    PLACEBO_REPEAT: "the same resume, asked a second time",
    PLACEBO_NAME: "another name of the same gender, race and birth year",
}


def by_construction(row: Row) -> bool:
    """Whether the number is known without asking anybody."""
    return bool(row["reason"] == BY_CONSTRUCTION)


def beside(paths: Sequence[Row], slices: Sequence[str]) -> list[dict[str, Any]]:
    """Both estimates of each effect and their difference, by slice; empty where one is missing.

    paths: rows of the path-specific design of one case.
    """
    at = {(r["slice"], r["estimand"], r["method"]): r for r in paths}
    found = []
    for where in slices:
        rows = [
            {"estimand": e, "rescoring": at[where, e, "rescoring"], "observed": at[where, e, "eif"],
             "difference": at[where, e, DIFFERENCE]}
            for e in EFFECTS
            if {(where, e, m) for m in ("rescoring", "eif", DIFFERENCE)} <= set(at)
        ]  # fmt: skip
        if rows:
            found.append({
                "slice": where, "rows": rows, "wald": at.get((where, "agreement", "wald")),
                "wald_ungrouped": at.get((where, "agreement", FINE)),
            })  # fmt: skip
    return found


def sentences(cfg: Config, compared: Sequence[Mapping[str, Any]]) -> list[str]:
    """How far the observational estimate lies from rescoring, pooled or in the only job."""
    pooled = [c for c in compared if c["slice"] == "all"] or list(compared)[:1]
    if not pooled:
        return []
    gaps = [
        f"{r['estimand']} by {signed(float(r['difference']['estimate']))} "
        f"({narrative.interval(r['difference'])})"
        for r in pooled[0]["rows"]
        if narrative.number(r["difference"]["estimate"]) is not None
    ]
    if not gaps:
        return ["The observational estimate has no number to compare with rescoring."]
    text = f"The observational estimate differs from rescoring: {', '.join(gaps)} points."
    wald = pooled[0]["wald"]
    p = wald and narrative.number(wald["p_value"])
    if p is not None:
        told = "<0.001" if p < 0.001 else f"{p:.3f}"
        alpha = 1 - cfg.estimation.level
        text += (
            f" Together they {'are not' if p < alpha else 'may be'} chance (Wald test, p {told})."
        )
    text += (
        " It holds groups of names and qualifications fixed, not the resume itself, so the "
        "difference is the bias of grouping, and error."
    )
    return [text, *_fine_sentence(cfg, pooled[0]["wald_ungrouped"])]


def _fine_sentence(cfg: Config, wald: Row | None) -> list[str]:
    """The test of the estimator itself: with ungrouped mediators both should agree."""
    p = narrative.number(wald["p_value"]) if wald else None
    if p is None:
        return []
    told = "agrees" if p >= 1 - cfg.estimation.level else "does not agree"
    shown = "<0.001" if p < 0.001 else f"{p:.3f}"
    return [
        f"With ungrouped mediators the observational estimate {told} with rescoring (Wald test, "
        f"p {shown})."
    ]


def placebos(estimates: Sequence[Row], models: Sequence[str], cfg: Config) -> list[dict[str, Any]]:
    """One row per model, format, slice and placebo: its gap with what stands beside it."""
    by_key: dict[tuple[str, str, str, str], dict[str, Row]] = {}
    for r in estimates:
        if r["design"] == "placebo":
            key = (str(r["model"]), str(r["document_format"]), str(r["slice"]), str(r["estimand"]))
            by_key.setdefault(key, {})[str(r["method"])] = r
    jobs = [f"job={key}" for key in cfg.population.jobs]

    def place(key: tuple[str, str, str, str]) -> tuple[Any, ...]:
        model, shown, where, what = key
        return (
            models.index(model) if model in models else len(models), model, shown,
            what != PLACEBO_REPEAT, jobs.index(where) if where in jobs else len(jobs),
        )  # fmt: skip

    found = []
    for key in sorted(by_key, key=place):
        model, shown, where, what = key
        rows = by_key[key]
        gap = rows["rescoring"]
        extra = {m: rows[m]["estimate"] for m in ("share_differ", "mean_absolute", "sd")
                 if m in rows}  # fmt: skip
        found.append({
            "model": model, "format": shown, "slice": where, "title": _TITLES[what], "gap": gap,
            "p_sign_flip": rows["rescoring_sign_flip"]["p_value"]
            if "rescoring_sign_flip" in rows else None,
            "share_differ": extra.get("share_differ"), "mean_absolute": extra.get("mean_absolute"),
            "sd": extra.get("sd"),
        })  # fmt: skip
    return found
