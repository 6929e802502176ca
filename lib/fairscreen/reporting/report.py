"""The report: one HTML file that stands alone, for a lawyer first and a statistician after.

Nothing is loaded from anywhere (a content policy in the page forbids it), everything that comes
from data is escaped, and what could not be computed shows its reason in the number's place.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pandas as pd

from fairscreen.population.mapping import mapping_rows
from fairscreen.reporting import (
    differences,
    experience,
    narrative,
    pages,
    pattern_counts,
    plots,
    population,
    rescoring,
)
from fairscreen.reporting.data import ModelFacts, ReportData, Sample
from fairscreen.reporting.pages import records

__all__ = ["ModelFacts", "ReportData", "Sample", "render_report"]

EFFECTS = ("TE", "NDE", "BIE", "RIE", "NIE")
PANELS = (*EFFECTS, "raw_gap")
RAW = ("raw_gap", "selection_rate_ratio", "selection_rate", "share_tied")
OBSERVED, CLIPPED = "eif", "eif_clip_"
# Methods of the comparison of both estimates; they have a table of their own.
_COMPARED = ("rescoring", OBSERVED, "observational_minus_rescoring", "wald", rescoring.FINE)
# Rows of a table come in any order; within a slice they are shown in this one.
_ORDER = ("estimand", "method", "slice", "weight_set", "pattern", "rule")


def render_report(data: ReportData) -> str:
    """The report as HTML text. Pure: the same data gives the same text."""
    return pages.rendered(
        "template.html.j2", _view(data), effect=narrative.title_of,
        slice=lambda text: narrative.slice_label(data.cfg, text),
    )  # fmt: skip


def _view(data: ReportData) -> dict[str, Any]:
    cfg = data.cfg
    everything = data.estimates
    data = replace(data, estimates=differences.without(everything))
    common = pages.shared(data, cfg.estimation.level)
    # NaN has no truth in the template: nulls are None there.
    return {
        **common,
        "jobs": {key: job.title for key, job in cfg.population.jobs.items()},
        "alpha": f"{1 - cfg.estimation.level:.2g}",
        "applicants": int(data.population["n"].sum()) if len(data.population) else 0,
        "population_sentence": narrative.population_sentence(
            cfg,
            int(data.population["n"].sum()) if len(data.population) else 0,
            int(data.population["job"].nunique()) if len(data.population) else 0,
            narrative.survey_name(common["sources"]),
        ),
        "limits": narrative.limits(
            cfg, synthetic=common["synthetic"], simulated=common["simulated"]
        ),
        "meaning": {
            key: text.format(
                attribute="the protected attribute",
                business=_columns(cfg.estimation.roles.business),
                redlining=_columns(cfg.estimation.roles.redlining),
            )
            for key, text in narrative.MEANING.items()
        },
        "titles": narrative.TITLE,
        "cases": [_case(data, *key) for key in _case_keys(data)],
        "placebos": rescoring.placebos(records(data.estimates), list(data.models), cfg),
        "population": _crossed(data.population),
        "mapping": mapping_rows(cfg.population, _vintage(data)),
        "experience": experience.view(data.experience_fit, cfg),
        "who": population.section(
            cfg,
            fit=data.population_fit,
            margins=data.population_margins,
            experience=data.experience,
            exclusions=data.exclusions,
        ),
        "pattern_counts": pattern_counts.table(data.pattern_counts),
        "differences": differences.section(cfg, everything),
        "outcomes": _sorted_outcomes(data),
        "totals": pages.totals(data.outcomes),
        "families": _families(everything),
    }


def _vintage(data: ReportData) -> int | None:
    """The survey's year, or null where the ledger does not tell it."""
    years = [narrative.number(r.get("vintage")) for r in records(data.sources)
             if r["kind"] == "acs"]  # fmt: skip
    return max((int(y) for y in years if y is not None), default=None)


def _case_keys(data: ReportData) -> list[tuple[str, str, str]]:
    """(model, contrast, document_format), in the order of the config, then of the table."""
    if not len(data.estimates):
        return []
    keys = data.estimates[data.estimates["design"] != "placebo"]
    keys = keys[["model", "contrast", "document_format"]].drop_duplicates()
    models, contrasts = list(data.models), list(data.cfg.estimation.contrasts)

    def place(key: tuple[str, str, str]) -> tuple[int, int, str]:
        return (
            models.index(key[0]) if key[0] in models else len(models),
            contrasts.index(key[1]) if key[1] in contrasts else len(contrasts),
            key[2],
        )

    found = [(str(m), str(c), str(f)) for m, c, f in keys.itertuples(index=False)]
    return sorted(found, key=place)


def _case(data: ReportData, model: str, contrast: str, document_format: str) -> dict[str, Any]:
    """One model, contrast and format: sentences, panels and tables."""
    cfg = data.cfg

    def of(frame: pd.DataFrame) -> list[dict[str, Any]]:
        if not len(frame):
            return []
        mine = frame[
            (frame["model"] == model)
            & (frame["contrast"] == contrast)
            & (frame["document_format"] == document_format)
        ]
        return records(mine.sort_values([c for c in _ORDER if c in mine], kind="stable"))

    rows = of(data.estimates)
    inside = [r["slice"] for r in rows if r["design"] == "path_specific"]
    slices = _slice_order(data, inside or [r["slice"] for r in rows])
    rows = _ordered(rows, slices)
    paths = [r for r in rows if r["design"] == "path_specific"]
    methods = {r["method"] for r in paths}
    main = str(cfg.estimation.primary)
    main = main if main in methods else min(methods, default="")
    headline = [r for r in paths if r["method"] == main]
    raw = [r for r in rows if r["design"] != "path_specific"]
    spec = cfg.estimation.contrasts.get(contrast)
    favors = next((r["favors_when_positive"] for r in headline if r["favors_when_positive"]), "x1")
    other = (spec.x0_label if favors == spec.x1_label else spec.x1_label) if spec else "others"
    pooled = {r["estimand"]: r for r in headline if r["slice"] == "all"}
    total_by_job = [r for r in headline if r["estimand"] == "TE" and r["slice"] != "all"]
    sentences = [narrative.effect_sentence(cfg, pooled[e]) for e in EFFECTS[:4] if e in pooled]
    if total_by_job:
        sentences.insert(1, narrative.jobs_sentence(cfg, total_by_job))
    if headline:
        sentences.append(narrative.holm_sentence(cfg, headline))
    compared = rescoring.beside(paths, slices)
    sentences += rescoring.sentences(cfg, compared)
    ratios = [r for r in raw if r["estimand"] == "selection_rate_ratio"]
    if ratios:
        sentences.append(narrative.ratio_sentence(cfg, ratios))
    judged = of(data.patterns)
    patterned = {r["slice"] for r in judged}
    return {
        "model": model,
        "contrast": contrast,
        "format": document_format,
        "anchor": f"case-{_anchor(model)}-{_anchor(contrast)}-{_anchor(document_format)}",
        "attribute": next((r["attribute"] for r in rows), ""),
        "heading": f"{spec.x1_label} against {spec.x0_label}" if spec else contrast,
        "favors": favors,
        "other": other,
        "sentences": [s for s in sentences if s],
        "panels": _panels(data, headline, raw, slices, favors, other),
        "effects": _grouped(headline, slices, EFFECTS),
        "raw": _grouped([_raw_row(data, r) for r in raw], slices, RAW),
        "clips": _clips(paths, [r for r in paths if r["method"] == OBSERVED], slices),
        "compared": compared,
        "others": _grouped(
            [
                dict(r, method=narrative.method_label(r["method"]))
                for r in paths
                if r["method"] not in (main, *(_COMPARED if compared else ()))
                and not r["method"].startswith(CLIPPED)
            ],
            slices,
            EFFECTS,
        ),
        "method": main,
        "overlap": _grouped(
            [r for r in of(data.overlap) if r["method"] in (None, OBSERVED)], slices, ()
        ),
        "diagnostics": _ordered(of(data.diagnostics), slices),
        "patterns": _pattern_rows(judged, [s for s in slices if s in patterned]),
        "pattern_slices": [s for s in slices if s in patterned],
    }


def _panels(
    data: ReportData, headline: list[dict[str, Any]], raw: list[dict[str, Any]],
    slices: Sequence[str], favors: str, other: str,
) -> list[dict[str, Any]]:  # fmt: skip
    margin = data.cfg.estimation.equivalence_margin
    by_panel: dict[str, list[plots.ForestRow]] = {}
    for estimand in PANELS:
        mine = [r for r in [*headline, *raw] if r["estimand"] == estimand]
        first = min((r["method"] for r in mine), default="")  # one method per panel
        rows = _ordered([r for r in mine if r["method"] == first], slices)
        rows = [r for r in rows if not rescoring.by_construction(r)]
        if estimand == "raw_gap" and len(rows) > 1:
            # Pooled, it mixes differences between jobs and would stretch every panel's scale.
            rows = [r for r in rows if r["slice"] != "all"]
        by_panel[estimand] = [
            plots.ForestRow(
                label=narrative.slice_label(data.cfg, r["slice"]), estimate=r["estimate"],
                low=r["ci_low"], high=r["ci_high"], status=r["status"], reason=r["reason"],
                pooled=r["slice"] == "all",
            )
            for r in rows
        ]  # fmt: skip
    scale = plots.domain([row for rows in by_panel.values() for row in rows], margin)
    return [
        {
            "estimand": estimand,
            "title": narrative.TITLE[estimand],
            "svg": plots.forest(
                narrative.TITLE[estimand], rows, scale=scale, margin=margin,
                favors_right=favors, favors_left=other,
            ),
        }
        for estimand, rows in by_panel.items()
        if rows
    ]  # fmt: skip


def _slice_order(data: ReportData, found: list[str]) -> list[str]:
    """Jobs as in the config, other slices by name, the pooled one last."""
    jobs = [f"job={key}" for key in data.cfg.population.jobs]
    rest = sorted({s for s in found if s not in jobs and s != "all"})
    return [s for s in [*jobs, *rest, "all"] if s in set(found)]


def _ordered(rows: list[dict[str, Any]], slices: Sequence[str]) -> list[dict[str, Any]]:
    known = list(slices)
    return sorted(
        rows, key=lambda r: known.index(r["slice"]) if r["slice"] in known else len(known)
    )


def _grouped(
    rows: list[dict[str, Any]], slices: Sequence[str], order: Sequence[str]
) -> list[tuple[str, list[dict[str, Any]]]]:
    """Rows by slice; within one, estimands in the order given, the rest as they came."""
    groups = []
    for where in [*slices, *dict.fromkeys(r["slice"] for r in rows if r["slice"] not in slices)]:
        mine = [r for r in rows if r["slice"] == where]
        if order:
            mine.sort(key=lambda r: order.index(r["estimand"]) if r["estimand"] in order else 99)
        if mine:
            groups.append((where, mine))
    return groups


def _raw_row(data: ReportData, row: dict[str, Any]) -> dict[str, Any]:
    """A row of raw gaps and rates, placed under its slice, with its group and verdict."""
    verdict = ""
    if row["estimand"] == "selection_rate_ratio" and row["estimate"] is not None:
        if row["method"] != "log_ratio":
            keeps = narrative.four_fifths(row["estimate"])
            verdict = "keeps four-fifths" if keeps else "below four-fifths"
        spec = data.cfg.estimation.contrasts.get(str(row["contrast"]))
        if row["method"] == "log_ratio" and spec:
            row = dict(row, title=f"Ratio of those shares, {spec.x0_label} over {spec.x1_label}")
    group = narrative.group_of(row["slice"])
    title = f"{row['title']}: {group}" if group else row["title"]
    return dict(row, title=title, verdict=verdict, slice=narrative.base_slice(row["slice"]))


def _clips(
    paths: list[dict[str, Any]], headline: list[dict[str, Any]], slices: Sequence[str]
) -> dict[str, Any]:
    """Estimates at other clip levels, beside the headline: levels, and rows by slice."""
    clipped = [r for r in paths if r["method"].startswith(CLIPPED)]
    levels = sorted({r["method"].removeprefix(CLIPPED) for r in clipped}, key=float)
    at = {(r["slice"], r["estimand"], r["method"]): r["estimate"] for r in clipped}
    rows = [
        dict(r, at=[at.get((r["slice"], r["estimand"], CLIPPED + level)) for level in levels])
        for r in headline
        if r["estimate"] is not None
        and any((r["slice"], r["estimand"], CLIPPED + level) in at for level in levels)
    ]
    return {"levels": levels, "rows": _grouped(rows, slices, EFFECTS)}


def _pattern_rows(rows: list[dict[str, Any]], slices: Sequence[str]) -> list[dict[str, Any]]:
    found = []
    for number, title in sorted({(r["pattern"], r["title"]) for r in rows}):
        for rule in ("published", "adjusted"):
            cells = {r["slice"]: r for r in rows if r["pattern"] == number and r["rule"] == rule}
            if cells:
                found.append(
                    {"pattern": number, "title": title, "rule": rule,
                     "cells": [cells.get(s) for s in slices]}
                )  # fmt: skip
    return found


def _crossed(population: pd.DataFrame) -> dict[str, Any]:
    """Applicants by job (rows) and by value of gender, race and education (columns)."""
    kinds = [c for c in ("gender", "race", "edu_group") if c in population]
    columns: list[tuple[str, str]] = []
    for kind in kinds:
        columns += [(kind, str(v)) for v in population[kind].drop_duplicates()]
    rows = []
    for job in population["job"].drop_duplicates() if len(population) else []:
        mine = population[population["job"] == job]
        counts = [int(mine.loc[mine[k].astype(str) == v, "n"].sum()) for k, v in columns]
        rows.append({"job": job, "total": int(mine["n"].sum()), "counts": counts})
    return {"columns": columns, "kinds": [(k, sum(c[0] == k for c in columns)) for k in kinds],
            "rows": rows}  # fmt: skip


def _sorted_outcomes(data: ReportData) -> list[dict[str, Any]]:
    jobs = list(data.cfg.population.jobs)
    return sorted(
        records(data.outcomes),
        key=lambda r: (
            r["model"], jobs.index(r["job"]) if r["job"] in jobs else len(jobs), r["gender"],
            r["race"],
        ),
    )  # fmt: skip


def _families(estimates: pd.DataFrame) -> list[dict[str, Any]]:
    if not len(estimates):
        return []
    inside = estimates[estimates["family"].notna()]
    return [
        {"family": family, "tests": int(rows["p_value"].notna().sum()),
         "estimands": ", ".join(sorted(rows["estimand"].unique()))}
        for family, rows in inside.groupby("family")
    ]  # fmt: skip


def _columns(names: Sequence[str]) -> str:
    return ", ".join(n.replace("_", " ") for n in names)


def _anchor(text: str) -> str:
    return "".join(c if c.isalnum() else "-" for c in text)
