"""Effects with ungrouped mediators, beside the paper's groups.

Without a photo no resume shows the attribute: given all that it does show, NDE is 0. With grouped
mediators it is not: what a screener makes of two names of one group is then no effect through the
name (estimators.md, pitfall 1). With features of the raw values it should come out as 0 again, so
that row is a falsification: what it finds is rounding, features left out, or error (pitfall 6).
For the same reason this is the estimate that rescoring should agree with.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pyspark.sql import DataFrame

from fairscreen.audits import path_rows, rescoring, rescoring_rows
from fairscreen.audits.cells import Case, asked, cases
from fairscreen.audits.coding import Resolution, code_lists, ungrouped
from fairscreen.audits.estimated import effect_row, effects_of, estimated
from fairscreen.audits.path_rows import Context
from fairscreen.config import Config

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
COMPARED = rescoring_rows.Compared(
    "ungrouped_minus_rescoring", "wald_ungrouped", TITLES,
    "observational minus rescoring (rounding, features left out, and error)",
    "is observational, mediators ungrouped, equal to rescoring? (small p = no: features are left "
    "out, or the estimator is off)",
)  # fmt: skip


@dataclass(frozen=True)
class Ungrouped:
    """Rows of the tables of the same names, and notes for the report."""

    estimates: list[dict[str, Any]]
    overlap: list[dict[str, Any]]
    notes: list[str]


def run(
    applicants: DataFrame,
    scores: DataFrame,
    cfg: Config,
    *,
    config_hash: str,
    input_versions: Mapping[str, int],
    propensity: DataFrame | None = None,
) -> Ungrouped:
    """Rows for every case, and a note; nothing where the config has no such roles.

    propensity: classifiers at this resolution (`propensities.rows`); None: a case fits its own.

    Where the audit rescores too, rows of the difference of both and of its Wald test. All stand
    outside every family of tests.
    """
    how = ungrouped(cfg)
    if how is None:
        return Ungrouped([], [], [])
    rows = asked(applicants, scores, None, cfg, code_lists(applicants, cfg, how), how)
    found = estimated(rows, cfg, influence=cfg.estimation.rescores, propensity=propensity)
    context = Context(cfg, config_hash, json.dumps(dict(input_versions), sort_keys=True))
    estimates = effect_rows(context, found.results)
    if cfg.estimation.rescores:
        agreed = {}
        if found.phi is not None:
            measured = rescoring.by_case(rescoring.answered(applicants, scores, cfg), cfg)
            psi = rescoring.psi(measured)
            agreed = rescoring.agreements(found.phi, psi, found.computable, cfg)
        for case in cases(cfg):
            mine = found.results.get(case.index), agreed.get(case.index)
            estimates += rescoring_rows.differences(context, case, *mine, COMPARED)
    overlap = path_rows.overlap(context, found.results, METHOD)
    return Ungrouped(estimates, overlap, [note(how, found.results)])


def effect_rows(context: Context, results: Mapping[int, Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Five rows per case, from `estimate`'s payloads by case."""
    return [
        effect_row(context, case, effect, METHOD, title(case, effect["estimand"]))
        for case in cases(context.cfg)
        for effect in effects_of(results.get(case.index))
    ]


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
