"""The report's section on differences between two models, or two document formats."""

from __future__ import annotations

from typing import Any

import pandas as pd

from fairscreen.audits.comparisons import DESIGN, MINUS, NEGLIGIBLE
from fairscreen.config import Config
from fairscreen.reporting.narrative import number, slice_label
from fairscreen.reporting.plots import signed

_ORDER = ("TE", "NDE", "BIE", "RIE", "NIE")


def without(estimates: pd.DataFrame) -> pd.DataFrame:
    """The rows of `estimates` that are no comparison."""
    return estimates[estimates["design"] != DESIGN] if len(estimates) else estimates


def section(cfg: Config, estimates: pd.DataFrame) -> list[dict[str, Any]]:
    """One table per pair, contrast and format, in the order of the config; empty: no section.

    A row carries `p_negligible`, of its test of
    equivalence, and `verdict`: differ, negligible, undecided or not_computable.
    """
    if not len(estimates):
        return []
    mine = estimates[estimates["design"] == DESIGN]
    cells = mine.astype(object).where(mine.notna(), None).to_dict("records")
    keys = ("model", "contrast", "document_format")
    tests = {
        (*(r[k] for k in keys), r["slice"], r["estimand"]): r["p_value"]
        for r in cells
        if r["method"] == NEGLIGIBLE
    }
    tables: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for r in cells:
        if r["method"] == NEGLIGIBLE:
            continue
        where = tuple(r[k] for k in keys)
        row = {str(k): v for k, v in r.items()}
        row["p_negligible"] = tests.get((*where, r["slice"], r["estimand"]))
        row["verdict"] = verdict(row, 1 - cfg.estimation.level)
        tables.setdefault(where, []).append(row)
    return [
        _table(cfg, where, rows)
        for where, rows in sorted(tables.items(), key=lambda item: _place(cfg, item[0]))
    ]


def verdict(row: dict[str, Any], alpha: float) -> str:
    """What the corrected test of a difference and the test of equivalence show together."""
    if number(row["estimate"]) is None:
        return "not_computable"
    holm, negligible = number(row["p_holm"]), number(row["p_negligible"])
    if holm is not None and holm < alpha:
        return "differ"
    return "negligible" if negligible is not None and negligible < alpha else "undecided"


def _table(cfg: Config, where: tuple[Any, ...], rows: list[dict[str, Any]]) -> dict[str, Any]:
    model, contrast, document_format = where
    slices = [*(f"job={key}" for key in cfg.population.jobs), "all"]
    order = [*slices, *sorted({r["slice"] for r in rows} - set(slices))]
    rows = sorted(rows, key=lambda r: (order.index(r["slice"]), _ORDER.index(r["estimand"])))
    apart = [r for r in rows if r["verdict"] == "differ"]
    able = [r for r in rows if r["verdict"] != "not_computable"]
    spec = cfg.estimation.contrasts.get(contrast)
    of = model if MINUS in model else document_format
    one, _, two = str(of).partition(MINUS)
    listed = "; ".join(
        f"{r['estimand']} in {slice_label(cfg, r['slice'])} {signed(float(r['estimate']))}"
        for r in apart[:8]
    )
    more = "; and others" if len(apart) > 8 else ""
    return {
        "heading": f"{one} minus {two}",
        "one": one,
        "two": two,
        "beside": document_format if MINUS in model else model,
        "contrast": f"{spec.x1_label} against {spec.x0_label}" if spec else contrast,
        "favors": next((r["favors_when_positive"] for r in rows), ""),
        "groups": [(s, found) for s in order if (found := [r for r in rows if r["slice"] == s])],
        "sentence": (
            f"{len(apart)} of {len(able)} computable differences stay significant after Holm's "
            f"correction{f' ({listed}{more})' if listed else ''}."
        ),
    }


def _place(cfg: Config, where: tuple[Any, ...]) -> tuple[Any, ...]:
    """Pairs in the order of the config's models and formats, contrasts in theirs."""
    model, contrast, document_format = where
    names = [*cfg.scoring.models, *cfg.documents.formats]
    contrasts = list(cfg.estimation.contrasts)

    def at(listed: list[str], text: str) -> tuple[int, ...]:
        parts = str(text).split(MINUS)
        return tuple(listed.index(p) if p in listed else len(listed) for p in parts)

    return at(names, model), at(names, document_format), at(contrasts, contrast), where
