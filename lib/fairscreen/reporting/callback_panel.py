"""All models of a paired-callback audit side by side: figure, headline table, trend, correlation.

Nothing is estimated here: every number is a row of `estimates`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

from markupsafe import Markup

from fairscreen.estimators.callbacks import (
    BY_POSTING,
    GAP,
    HEADLINE,
    LEFT_OUT,
    NEWCOMBE,
    PERMUTATION,
    RATE,
    RATIO,
    SIGN_FLIP,
    WALD,
)
from fairscreen.estimators.panel_rows import CORRELATION, DIFFERENCE, PLAIN, REML, SAMPLING, TREND
from fairscreen.reporting import callback_plots as plots
from fairscreen.reporting.formats import p as p_text
from fairscreen.reporting.narrative import interval, number
from fairscreen.reporting.pages import Found
from fairscreen.reporting.plots import signed, words
from fairscreen.settings.callback_audit import CallbackConfig
from fairscreen.settings.pairs import Contrast

Row = Mapping[str, Any]
FLIP = (SIGN_FLIP, f"{SIGN_FLIP}_monte_carlo")
PANEL = "panel"
_STEPS = 24  # of the trend's band


def line(found: Found, contrast: Contrast, where: str = "all") -> dict[str, Any]:
    """One slice of one model: rates, gap, its tests, ratio. Rows, or None."""
    prefix = "" if where == "all" else f"{where}; "
    one, two = (found.get(f"{prefix}{arm}", RATE, "cluster_posting") for arm in contrast.arms)
    return {
        "slice": where,
        "favored": one,
        "other": two,
        "gap": found.get(where, GAP, HEADLINE),
        "posting": found.get(where, GAP, BY_POSTING),
        "flip": found.get(where, GAP, *FLIP),
        "names": found.get(where, GAP, PERMUTATION),
        "least": found.get(where, "gap_without_a_name_min_pp", LEFT_OUT),
        "most": found.get(where, "gap_without_a_name_max_pp", LEFT_OUT),
        "ratio": found.get(where, RATIO, "cluster_posting_names", "cluster_posting"),
        "wald": found.get(where, GAP, WALD),
        "newcombe": found.get(where, GAP, NEWCOMBE),
        "bootstrap": found.get(where, GAP, "cluster_bootstrap"),
        "mcnemar": [
            found.get(where, GAP, f"mcnemar_{kind}") for kind in ("cc", "exact", "midp")
        ],
        "negligible": found.get(where, GAP, "tost"),
        "p_yes": found.get(where, "p_yes_gap_pp", HEADLINE, BY_POSTING),
    }  # fmt: skip


def people(contrast: Contrast) -> tuple[plots.Baseline, ...]:
    """What employers did, in this contrast's direction; empty where nobody measured it."""
    sides = contrast.labels
    if contrast.attribute != "race" or set(sides) != {"white", "black"}:
        return ()
    sign = 1 if sides[0] == "white" else -1
    return tuple(plots.Baseline(b.name, sign * b.value) for b in plots.PEOPLE)


def point(name: str, member: tuple[float | None, str | None], shown: Row) -> plots.PanelPoint:
    """A model's place in the figure. shown: of `line`."""
    gap, inner = shown["gap"], shown["posting"]
    estimate, low, high = (number(gap[k]) if gap else None for k in ("estimate", "ci_low",
                                                                    "ci_high"))  # fmt: skip
    ends = tuple(number(inner[k]) for k in ("ci_low", "ci_high")) if inner else (None, None)
    reason = gap["reason"] if gap else "not asked"
    narrow = None if ends[0] is None or ends[1] is None else (ends[0], ends[1])
    return plots.PanelPoint(name, member[0], member[1], estimate, low, high, narrow, reason)


def fitted(rows: Found, years: Sequence[float]) -> list[plots.Fitted]:
    """The trend line with its band between the first and the last date; empty where there is none.

    The variance along a line is a square in the date: that of the slope and those at both ends say
    all of it.
    """
    slope = rows.get("all", TREND, REML)
    ends = [rows.get("all", f"gap_at_{end}_date_pp", REML) for end in ("first", "last")]
    if slope is None or None in ends or len(years) < 2:
        return []
    values = [number(r["estimate"]) for r in ends if r is not None]
    errors = [number(r["std_error"]) for r in ends if r is not None]
    steep, error, high = (number(slope[k]) for k in ("estimate", "std_error", "ci_high"))
    first, last = min(years), max(years)
    if (
        None in values or None in errors or steep is None or not error or high is None
        or last <= first
    ):  # fmt: skip
        return []
    one, two = (float(e or 0) ** 2 for e in errors)
    reach, span = (high - steep) / error, last - first
    mixed = (two - one) / span - error**2 * span
    found = []
    for k in range(_STEPS + 1):
        away = span * k / _STEPS
        half = reach * max(0.0, one + mixed * away + error**2 * away**2) ** 0.5
        value = float(values[0] or 0) + steep * away
        found.append(plots.Fitted(first + away, value, value - half, value + half))
    return found


def _dates(rows: Found, points: Sequence[plots.PanelPoint]) -> list[float]:
    """Release dates of the models in the trend; empty where its rows do not tell them apart."""
    slope = rows.get("all", TREND, REML)
    dated = [p for p in points if p.released is not None and p.low is not None]
    if slope is None or slope["estimate"] is None:
        return []
    if len(dated) != slope["n"]:
        named = {w.removeprefix("without_model=") for w in rows.slices(TREND)}
        dated = [p for p in dated if p.model in named]
    same = len(dated) == slope["n"]
    return [p.released for p in dated if p.released is not None] if same else []


def section(
    cfg: CallbackConfig, rows: Mapping[tuple[str, str], Found],
    members: Mapping[str, tuple[float | None, str | None]],
) -> list[dict[str, Any]]:  # fmt: skip
    """One entry per contrast: `lines` by model, figure, sentences, tables of the trend.

    rows: by (model, contrast) what is not of a placebo; members: release date (years) and family.
    """
    parts: list[dict[str, Any]] = []
    for name, contrast in cfg.contrasts.items():
        lines = {m: line(rows[m, name], contrast) for m in cfg.asked(name) if (m, name) in rows}
        panel = rows.get((PANEL, name), Found([], ""))
        points = [point(m, members.get(m, (None, None)), shown) for m, shown in lines.items()]
        parts.append({
            "name": name, "contrast": contrast, "favored": contrast.labels[0],
            "other": contrast.labels[1], "lines": lines, "points": points, "panel": panel,
            "people": people(contrast),
        })  # fmt: skip
    scale = plots.domain([p["points"] for p in parts], [b for p in parts for b in p["people"]])
    for part in parts:
        panel, points = part["panel"], part["points"]
        part["figure"] = None
        if any(p.estimate is not None for p in points):
            part["figure"] = plots.panel(
                f"Callback gap, {part['favored']} minus {part['other']}", points, scale=scale,
                favors_up=part["favored"], favors_down=part["other"], baselines=part["people"],
                trend=fitted(panel, _dates(panel, points)),
                percent=f"{100 * cfg.estimation.level:g}%",
            )  # fmt: skip
        part["missing"] = [(p.model, words(p.reason)) for p in points if p.estimate is None]
        part["dates"] = {
            p.model: plots.month_of(p.released) for p in points if p.released is not None
        }
        part["sentences"] = _sentences(cfg, part)
        part["trend"] = _trend_rows(panel)
        part["differences"] = [
            (w.removeprefix("models="), panel.get(w, DIFFERENCE, "contrast"))
            for w in panel.slices(DIFFERENCE)
        ]
        part["without"] = [
            (w.removeprefix("without_model="), row)
            for w in panel.slices(TREND)
            if w.startswith("without_model=")
            and (row := panel.get(w, TREND, REML))
            and row["estimate"] is not None
        ]
    return parts


def correlations(rows: Mapping[tuple[str, str], Found]) -> list[dict[str, Any]]:
    """Rows about two gaps across models, by pair of contrasts and method."""
    found = []
    for (model, contrast), some in rows.items():
        if model != PANEL:
            continue
        for method in some.methods("all", CORRELATION):
            left = f"{method}_leave_one_model_out"
            found.append({
                "contrast": contrast, "method": method, "row": some.get("all", CORRELATION, method),
                "least": some.get("end=least", CORRELATION, left),
                "most": some.get("end=most", CORRELATION, left),
            })  # fmt: skip
    return found


def scatters(parts: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """One gap against another, for every two contrasts that three models have."""
    found = []
    for a, b in combinations(parts, 2):
        of = {p.model: p for p in b["points"]}
        pairs = [(p, of[p.model]) for p in a["points"] if p.model in of]
        axes = [f"{s['name']}: {s['favored']} minus {s['other']}, pp" for s in (a, b)]
        figure: Markup | None = plots.scatter(pairs, across=axes[0], up=axes[1])
        if figure is not None:
            found.append({"title": f"{b['name']} against {a['name']}", "figure": figure})
    return found


_TREND = (
    (TREND, REML, "Change per year, spread between models counted"),
    (TREND, PLAIN, "The same, with the factor of Knapp and Hartung as it is"),
    (TREND, SAMPLING, "Change per year as if models differed by sampling alone"),
    ("gap_at_first_date_pp", REML, "Line at the first date"),
    ("gap_at_mean_date_pp", REML, "Line at the mean date"),
    ("gap_at_last_date_pp", REML, "Line at the last date"),
    ("gap_tau_pp", REML, "Spread between models beyond sampling (SD)"),
    ("gap_i2", REML, "Share of the variance that this is"),
)


def _trend_rows(panel: Found) -> list[tuple[str, Row]]:
    shown = ((title, panel.get("all", estimand, m)) for estimand, m, title in _TREND)
    return [(title, row) for title, row in shown if row is not None]


def _sentences(cfg: CallbackConfig, part: Mapping[str, Any]) -> list[str]:
    """What the panel says of one contrast, with what it does not say."""
    said = [_counted(cfg, part), _trended(cfg, part)]
    if part["people"]:
        told = ", ".join(f"{signed(b.value)} ({b.name})" for b in part["people"][:2])
        said.append(
            f"Employers in correspondence studies in the United States, for comparison: {told}; "
            "within firm about 1.6. Their postings and names are others than these."
        )
    return [s for s in said if s]


def _counted(cfg: CallbackConfig, part: Mapping[str, Any]) -> str:
    alpha = 1 - cfg.estimation.level
    able = {m: s for m, s in part["lines"].items() if s["gap"] and s["gap"]["estimate"] is not None}
    if not able:
        return "No model has a gap that can be computed."
    tested = {m: s for m, s in able.items() if s["flip"] and s["flip"]["p_holm"] is not None}
    sure = {m: s for m, s in tested.items() if s["flip"]["p_holm"] < alpha}
    up = sum(s["gap"]["estimate"] > 0 for s in sure.values())
    same = sum(
        bool(s["negligible"] and s["negligible"]["p_value"] is not None
             and s["negligible"]["p_value"] < alpha)
        for s in able.values()
    )  # fmt: skip
    name, largest = max(able.items(), key=lambda item: (abs(item[1]["gap"]["estimate"]), item[0]))
    text = (
        f"Of {len(able)} model{'s' * (len(able) != 1)} whose gap is computable, {up} "
        f"favor{'s' * (up == 1)} {part['favored']} and {len(sure) - up} {part['other']} after "
        f"Holm's correction over models (sign flip of postings, p below {alpha:.2g}), for these "
        "names. "
    )
    wide = sum(
        s["gap"]["ci_low"] is not None and (s["gap"]["ci_low"] > 0 or s["gap"]["ci_high"] < 0)
        for s in able.values()
    )
    text += (
        f"The interval that also allows for other names leaves zero out in {wide}. Largest: "
        f"{name}, {signed(largest['gap']['estimate'])} points ({interval(largest['gap'])}). "
    )
    if same:
        text += f"In {same} the gap is shown to be within \u00b1{cfg.estimation.margin:g} points. "
    return text + "A gap that is not shown is not shown to be absent."


def _trended(cfg: CallbackConfig, part: Mapping[str, Any]) -> str:
    panel = part["panel"]
    slope, plain = panel.get("all", TREND, REML), panel.get("all", TREND, SAMPLING)
    if slope is None:
        return ""
    if slope["estimate"] is None:
        return f"Trend over release dates: not computable, {words(slope['reason'])}."
    text = (
        f"Over release dates the gap changes by {signed(slope['estimate'])} points a year "
        f"({interval(slope)}, p {p_text(slope['p_value'])}; {slope['n']} models)"
    )
    left = [r["estimate"] for w in panel.slices(TREND) if w.startswith("without_model=")
            if (r := panel.get(w, TREND, REML)) and r["estimate"] is not None]  # fmt: skip
    if left:
        text += f"; without single models by {signed(min(left))} to {signed(max(left))}"
    if plain is not None and plain["p_value"] is not None:
        text += (
            f". Counting sampling alone the p would be {p_text(plain['p_value'])}, which takes the "
            "models for all there are"
        )
    return f"{text}."
