"""Effects with ungrouped mediators, beside the paper's groups.

Without a photo no resume shows the attribute: given all that it does show, NDE is 0. With grouped
mediators it is not: what a screener makes of two names of one group is then no effect through the
name (estimators.md, pitfall 1). With features of the raw values it should come out as 0 again, so
that row is a falsification: what it finds is rounding, features left out, or error (pitfall 6).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from pyspark.sql import DataFrame

from fairscreen.audits.cells import Case, asked, cases, cells
from fairscreen.audits.coding import Resolution, code_lists, ungrouped
from fairscreen.audits.path_rows import NO_ANSWER, Context
from fairscreen.audits.path_specific import estimate
from fairscreen.config import Config
from fairscreen.estimators.results import EFFECTS

METHOD = "eif_ungrouped"
TITLES = {
    "TE": "Total effect (mediators ungrouped)",
    "NDE": "Falsification: effect not through the ungrouped mediators, 0 where the resume is all "
    "that the screener sees",
    "NIE": "Effect through all mediators, ungrouped",
    "BIE": "Through qualifications, ungrouped (business necessity)",
    "RIE": "Through name features and region, ungrouped (redlining; includes name -> "
    "qualification chains)",
}
PHOTO_NDE = "Direct effect, given the ungrouped mediators"


def run(
    applicants: DataFrame,
    scores: DataFrame,
    cfg: Config,
    *,
    config_hash: str,
    input_versions: Mapping[str, int],
) -> tuple[list[dict[str, Any]], list[str]]:
    """Rows of `estimates` for every case, and a note; nothing where the config has no such roles.

    Propensities are fitted: the generator's densities are kept for groups only. The rows stand
    outside every family of tests.
    """
    how = ungrouped(cfg)
    if how is None:
        return [], []
    rows = asked(applicants, scores, None, cfg, code_lists(applicants, cfg, how), how)
    found = estimate(cells(rows), fitted(cfg), influence=False).toPandas()
    payloads = [json.loads(p) for p in found["payload"]]
    results = dict(zip((int(c) for c in found["case"]), payloads, strict=True))
    context = Context(cfg, config_hash, json.dumps(dict(input_versions), sort_keys=True))
    return effect_rows(context, results), [note(how, results)]


def fitted(cfg: Config) -> Config:
    """The config with fitted propensities and without a bootstrap."""
    change = {"propensity": "fitted", "bootstrap_draws": 0}
    return cfg.model_copy(update={"estimation": cfg.estimation.model_copy(update=change)})


def effect_rows(context: Context, results: Mapping[int, Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Five rows per case, from `estimate`'s payloads by case."""
    rows = []
    for case in cases(context.cfg):
        result = results.get(case.index)
        effects = _none() if result is None else result["effects"]
        for effect in effects:
            values = {k: v for k, v in effect.items() if k != "clip_sensitivity"}
            row = context.row(case, "path_specific", method=METHOD, **values)
            rows.append(row | {"title": title(case, effect["estimand"])})
    return rows


def title(case: Case, estimand: str) -> str:
    """What an ungrouped effect may be called."""
    return PHOTO_NDE if estimand == "NDE" and case.photo else TITLES[estimand]


def note(how: Resolution, results: Mapping[int, Mapping[str, Any]]) -> str:
    """Which features stand for the raw values, how they are rounded, how many cells that makes."""
    numbers = [f"{c} to {how.steps[c]:g}" for c in how.steps if c in (*how.mediators, "age")]
    cells_, people = (sum(r[key] for r in results.values()) for key in ("cells", "n"))
    return (
        f"Ungrouped mediators (method {METHOD}): {', '.join(how.mediators)}; rounded: "
        f"{', '.join(numbers) or 'nothing'}. A missing feature is a category of its own. "
        f"{people:,} scores make {cells_:,} cells, over all cases."
    )


def _none() -> list[dict[str, Any]]:
    return [
        {"estimand": e, "n": 0, "status": "not_computable", "reason": NO_ANSWER} for e in EFFECTS
    ]
