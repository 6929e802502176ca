"""The report of a paired-callback audit: who was asked, how, and whom the answers favor.

Gaps are favored minus other in percentage points; what each interval covers, and what the numbers
cannot show, stands beside them. Pure: the same data gives the same text.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from fairscreen.estimators.callbacks import GAP, HEADLINE, RATE, RATIO
from fairscreen.estimators.panel_rows import CORRELATION, REML, TREND
from fairscreen.reporting import callback_cards, callback_panel, pages
from fairscreen.reporting.data import Report
from fairscreen.reporting.pages import Found
from fairscreen.reporting.plots import words
from fairscreen.settings.callback_audit import PLACEBO, CallbackConfig

Row = Mapping[str, Any]
Member = tuple[float | None, str | None]
DESIGN, CONTROL = "paired_callback", "placebo"
#: Regular expression of slices by what a posting tells, of Python and of Java.
SINGLE = r"^(company|industry|state|region|metro|job_type)="
_OUTCOMES = ("asked", "ok", "refused", "unparseable", "failed")
_GROUPS = ("model", "contrast", "kind", "race", "gender")


@dataclass(frozen=True, kw_only=True)
class CallbackReport(Report):
    """Everything that `render_callbacks` shows.

    outcomes: of the view callback_outcomes. names: rows of name_signals. pairs: contrast, kind,
    within, postings, pairs. postings: what became of them, by reason (counts, or counts by field).
    made_up: columns (a list as job_posting.synthetic has it), postings: of those that are asked
    about. members: release date in years and family of each model, None where not known.
    prompts: name and text of what chat models are told.
    """

    cfg: CallbackConfig
    names: pd.DataFrame
    pairs: pd.DataFrame
    postings: Mapping[str, Any]
    made_up: pd.DataFrame
    members: Mapping[str, Member]
    prompts: Mapping[str, str] = field(default_factory=dict)


def render_callbacks(data: CallbackReport) -> str:
    """The report as HTML text."""
    return pages.rendered("callbacks.html.j2", _view(data))


def figures(
    cfg: CallbackConfig, estimates: pd.DataFrame, members: Mapping[str, Member]
) -> dict[str, str]:
    """The figures of the panel as files of their own, by name."""
    parts = callback_panel.section(cfg, _found(estimates)[0], members)
    shown = {f"panel_{p['name']}.svg": p["figure"] for p in parts if p["figure"]}
    return {
        name: str(figure).replace("<svg ", '<svg xmlns="http://www.w3.org/2000/svg" ', 1) + "\n"
        for name, figure in shown.items()
    }


def headline(estimates: pd.DataFrame) -> pd.DataFrame:
    """The rows that the summary leads with: gap, rates and ratio, pooled and within what both
    arms share; the panel's trend and correlation at the end."""
    told = {
        GAP: (HEADLINE, *callback_panel.FLIP),
        RATE: ("cluster_posting",),
        RATIO: ("cluster_posting_names", "cluster_posting"),
        TREND: (REML,),
    }
    wanted = estimates["estimand"].eq(CORRELATION)
    for estimand, methods in told.items():
        wanted |= estimates["estimand"].eq(estimand) & estimates["method"].isin(methods)
    without = estimates["slice"].str.startswith(("without_model=", "end="))
    mine = wanted & estimates["design"].eq(DESIGN) & pooled(estimates) & ~without
    panel = estimates["model"].eq(callback_panel.PANEL)
    return pd.concat([estimates.loc[mine & ~panel], estimates.loc[mine & panel]])


def pooled(estimates: pd.DataFrame) -> pd.Series[bool]:
    """(n,): rows of no single company, industry, state, region, metro, job type or name."""
    where = estimates["slice"]
    return ~where.str.match(SINGLE) & ~where.str.contains("; name=")


def _found(
    estimates: pd.DataFrame,
) -> tuple[dict[tuple[str, str], Found], dict[tuple[str, str], Found]]:
    """Rows by (model, contrast): of the design, and of its controls."""
    grouped: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for row in pages.records(estimates):
        grouped.setdefault((row["model"], row["contrast"]), []).append(row)
    found, controls = (
        {key: Found(rows, design) for key, rows in grouped.items()} for design in (DESIGN, CONTROL)
    )
    return found, controls


def _view(data: CallbackReport) -> dict[str, Any]:
    cfg = data.cfg
    found, controls = _found(data.estimates)
    none = Found((), "")
    parts = callback_panel.section(cfg, found, data.members)
    every = pages.records(data.estimates)
    by_case: dict[tuple[str, str], list[Row]] = {}
    for row, whole in zip(every, pooled(data.estimates), strict=True):
        if whole:
            by_case.setdefault((row["model"], row["contrast"]), []).append(row)
    cases = [(m, c) for m in data.models for c in cfg.contrasts if m in cfg.asked(c)]
    return {
        **pages.shared(data, cfg.estimation.level), "jobs": {}, "parts": parts,
        "made_up": _made_up(data), "scatters": callback_panel.scatters(parts),
        "correlations": callback_panel.correlations(found),
        "cards": [
            {
                **callback_cards.card(
                    cfg, m, c, found.get((m, c), none), controls.get((m, c), none),
                    controls.get((m, PLACEBO), none),
                ),
                "others": by_case.get((m, c), []),
            }
            for m, c in cases
        ],
        "totals": pages.totals(data.outcomes), "outcomes": _outcomes(data.outcomes),
        "postings": _counts(data.postings), "pairs": pages.records(data.pairs),
        "names": _names(pages.records(data.names)),
        "weak": [r for r in pages.records(data.names) if r["weak"] or r["share"] is None],
        "asked_about": int(data.pairs["postings"].max()) if len(data.pairs) else 0,
        "real_pairs": int(data.pairs.loc[data.pairs["kind"] == "real", "pairs"].sum())
        if len(data.pairs) else 0,
    }  # fmt: skip


def _made_up(data: CallbackReport) -> list[dict[str, Any]]:
    """Synthetic columns with the postings that have them."""
    return [
        {"columns": str(r["columns"]).replace(",", ", "), "postings": r["postings"]}
        for r in pages.records(data.made_up)
    ]


def _counts(given: Mapping[str, Any], before: str = "") -> list[tuple[str, Any]]:
    """(what, count), nested counts with both names."""
    found: list[tuple[str, Any]] = []
    for name, value in given.items():
        label = f"{before}: {words(name)}" if before else words(name)
        if isinstance(value, Mapping):
            found += _counts(value, label)
        elif isinstance(value, int | float) and not isinstance(value, bool):
            found.append((label, value))
    return found


def _outcomes(outcomes: pd.DataFrame) -> list[dict[str, Any]]:
    """Requests by model, contrast, race and gender, by how they ended."""
    if not len(outcomes):
        return []
    groups = [c for c in _GROUPS if c in outcomes]
    kinds = [c for c in _OUTCOMES if c in outcomes]
    summed = outcomes.groupby(groups, sort=False, dropna=False)[kinds].sum().reset_index()
    return pages.records(summed)


def _names(rows: Sequence[Row]) -> list[dict[str, Any]]:
    """Lists of names by kind, source and group: how many, weak, not checked, their class signal."""
    grouped: dict[tuple[Any, ...], list[Row]] = {}
    for r in rows:
        grouped.setdefault(
            (r["kind"], r["source"], r["race"], r["gender"], r["signal"]), []
        ).append(r)
    found = []
    for (kind, source, race, gender, signal), mine in sorted(
        grouped.items(), key=lambda item: tuple(str(v) for v in item[0])
    ):
        shares = [r["share"] for r in mine if r["share"] is not None]
        used = [r for r in mine if r["used"]]
        found.append({
            "kind": kind, "source": source, "race": race, "gender": gender, "signal": signal,
            "names": len(mine), "used": len(used), "weak": sum(bool(r["weak"]) for r in mine),
            "unknown": sum(r["share"] is None for r in mine),
            "least": min(shares, default=None),
            "education": _mean(used, "mother_education"), "cohort": _mean(used, "cohort"),
            "listed": [r["name"] for r in used],
        })  # fmt: skip
    return found


def _mean(rows: Sequence[Row], column: str) -> tuple[float, int] | None:
    """Mean of what is known of a column, and of how many."""
    known = [float(r[column]) for r in rows if r.get(column) is not None]
    return (sum(known) / len(known), len(known)) if known else None
