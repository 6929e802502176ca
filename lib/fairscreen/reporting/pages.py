"""A report's HTML from its template: everything escaped, nothing undefined, the style inside."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib import resources
from typing import Any

import pandas as pd
import yaml
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from fairscreen.reporting import formats, narrative, plots, svg
from fairscreen.reporting.data import Report


def records(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """Rows as dicts with None for every null (a frame's NaN, NaT, NA)."""
    return [
        {str(k): None if not isinstance(v, list | dict) and pd.isna(v) else v
         for k, v in row.items()}
        for row in frame.to_dict("records")
    ]  # fmt: skip


def shared(data: Report, level: float) -> dict[str, Any]:
    """What the templates of every design need. level: of the intervals."""
    sources = records(data.sources)
    return {
        "data": data,
        "cfg": data.cfg,
        "config_hash": data.cfg.hash(),
        "percent": f"{100 * level:g}%",
        "simulated": [name for name, facts in data.models.items() if facts.simulated],
        "synthetic": [f"{r['kind'].upper()} ({r['file']})" for r in sources if r.get("synthetic")],
        "sources": sources,
        "settings": yaml.safe_dump(data.cfg.model_dump(mode="json"), sort_keys=False),
    }


def totals(outcomes: pd.DataFrame) -> list[dict[str, Any]]:
    """Requests of each model by how they ended."""
    kinds = [k for k in ("asked", "ok", "refused", "unparseable", "failed") if k in outcomes]
    if not len(outcomes):
        return []
    return records(outcomes.groupby("model", sort=False)[kinds].sum().reset_index())


class Found:
    """Rows of one model, contrast and design, by slice, estimand and method."""

    def __init__(self, rows: Sequence[Mapping[str, Any]], design: str) -> None:
        mine = (r for r in rows if r["design"] == design)
        self._rows = {(r["slice"], r["estimand"], r["method"]): r for r in mine}

    def get(self, where: str, estimand: str, *methods: str) -> Mapping[str, Any] | None:
        """The first of the methods that there is."""
        for method in methods:
            if row := self._rows.get((where, estimand, method)):
                return row
        return None

    def slices(self, estimand: str) -> list[str]:
        """Slices with rows of an estimand, in the order of the rows."""
        return list(dict.fromkeys(where for where, what, _ in self._rows if what == estimand))

    def methods(self, where: str, estimand: str) -> list[str]:
        return [how for here, what, how in self._rows if (here, what) == (where, estimand)]


def rendered(template: str, view: Mapping[str, Any], **filters: Callable[..., Any]) -> str:
    """`template` of this package filled with `view`; `filters` beside those of every report."""
    environment = Environment(
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True,
        loader=PackageLoader("fairscreen", "reporting"),
    )  # fmt: skip
    environment.filters.update(
        signed=lambda v: "" if narrative.number(v) is None else plots.signed(float(v)),
        fixed=formats.fixed, p=formats.p, share=formats.share, words=plots.words,
        whole=formats.whole, exact=formats.exact, cut=svg.cut, **filters,
    )  # fmt: skip
    style = (resources.files("fairscreen.reporting") / "report.css").read_text(encoding="utf-8")
    return environment.get_template(template).render(style=Markup(style), **view)
