"""A report's HTML from its template: everything escaped, nothing undefined, the style inside."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import resources
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from fairscreen.reporting import formats, narrative, plots


def rendered(template: str, view: Mapping[str, Any], **filters: Callable[..., Any]) -> str:
    """`template` of this package filled with `view`; `filters` beside those of every report."""
    environment = Environment(
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True,
        loader=PackageLoader("fairscreen", "reporting"),
    )  # fmt: skip
    environment.filters.update(
        signed=lambda v: "" if narrative.number(v) is None else plots.signed(float(v)),
        fixed=formats.fixed, p=formats.p, share=formats.share, words=plots.words,
        whole=formats.whole, exact=formats.exact, **filters,
    )  # fmt: skip
    here = resources.files("fairscreen.reporting")
    style = (here / "report.css").read_text(encoding="utf-8")
    text = (here / template).read_text(encoding="utf-8").replace("{{STYLE}}", style)
    return environment.from_string(text).render(**view)
