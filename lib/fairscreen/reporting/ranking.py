"""The report of a ranking audit: level, spread, impact ratio and information in plain words.

Everything is in the numbers' own terms; what they cannot show stands beside them. Pure: the same
data gives the same text.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd
from markupsafe import Markup

from fairscreen.reporting import formats, pages, plots
from fairscreen.reporting.data import Report
from fairscreen.reporting.narrative import interval, number
from fairscreen.reporting.pages import Found
from fairscreen.settings.rank_audit import RankingConfig

Row = Mapping[str, Any]
SIGN_FLIP = ("sign_flip_exact", "sign_flip_monte_carlo")
FOUR_FIFTHS = 0.8


@dataclass(frozen=True, kw_only=True)
class RankingReport(Report):
    """Everything that `render_ranking` shows.

    outcomes: of the view rank_outcomes. rollup: of the view ranking_rollup. documents: industry,
    resumes, documents, flagged (resumes).
    """

    cfg: RankingConfig
    rollup: pd.DataFrame
    documents: pd.DataFrame


def render_ranking(data: RankingReport) -> str:
    """The report as HTML text."""
    return pages.rendered("ranking.html.j2", _view(data))


def _view(data: RankingReport) -> dict[str, Any]:
    cfg = data.cfg
    rows, corpus = pages.records(data.estimates), pages.records(data.documents)
    industries = [str(r["industry"]) for r in corpus]
    pairs = list(cfg.pairs.items())
    return {
        **pages.shared(data, cfg.estimation.level), "jobs": {}, "slice_words": slice_words,
        "corpus": corpus, "industries": industries, "pairs": pairs,
        "rollup": pages.records(data.rollup), "outcomes": pages.records(data.outcomes),
        "cards": [
            _card(cfg, name, contrast, rows, industries)
            for name in data.models
            for contrast, _ in pairs
        ],
    }  # fmt: skip


_FITTED = (
    "information_slope", "mean_fixed_effect", "gap_at_mean_log_words", "gap_at_full_text",
)  # fmt: skip
_CONTROLS = {"placebo_label": "labels without meaning", "placebo_repeat": "one label asked twice"}


def _card(
    cfg: RankingConfig, name: str, contrast: str, every: Sequence[Row], industries: Sequence[str]
) -> dict[str, Any]:
    """What the report shows of one model and contrast."""
    rows = [r for r in every if r["model"] == name and r["contrast"] == contrast]
    found, controls = Found(rows, "ranking"), Found(rows, "placebo")
    slices = ["all", *(f"industry={i}" for i in industries)]
    levels = [f"information={level}" for level in cfg.information.levels]
    pair = cfg.pairs[contrast]

    def there(names: Sequence[str]) -> list[dict[str, Any]]:
        lines = (_line(found, where) for where in names)
        return [line for line in lines if line["gap"] is not None]

    shown = []
    for control, title in _CONTROLS.items():
        where = f"control={control}"
        if gap := controls.get(where, "rank_gap", *SIGN_FLIP):
            minus = controls.get(where, "rank_gap_minus_control", *SIGN_FLIP)
            shown.append({"title": title, "gap": gap, "minus": minus})
    methods = ("fixed_effects_cluster", "wild_cluster_bootstrap")
    fitted = (found.get("all", estimand, m) for estimand in _FITTED for m in methods)
    return {
        "name": name, "contrast": contrast, "anchor": f"{name}-{contrast}",
        "favored": pair[0], "other": pair[1],
        "sentences": sentences(cfg, pair, found, controls),
        "table": [_line(found, where) for where in slices],
        "levels": [_line(found, where) for where in levels],
        "plot": _plot(cfg, pair, found, [*slices[1:], *levels, "all"]),
        "information": [row for row in fitted if row is not None],
        "controls": shown,
        "cues": there(("cues=none", "cues=found")),
        "terciles": there(("quality=low", "quality=middle", "quality=high")),
        "others": [r for r in rows if r["slice"] == "all" and r["design"] == "ranking"],
    }  # fmt: skip


def _line(found: Found, where: str) -> dict[str, Any]:
    """The four questions of one slice side by side."""
    return {
        "slice": where,
        "gap": found.get(where, "rank_gap", *SIGN_FLIP),
        "gap_published": found.get(where, "rank_gap", "pooled_permutation_published"),
        "score": found.get(where, "score_gap", *SIGN_FLIP),
        "spread": found.get(where, "spread_ratio", "paired_swap"),
        "spread_published": found.get(where, "spread_ratio", "pooled_permutation_published"),
        "impact": found.get(where, "impact_ratio", "ranks_at_least_tied"),
        "mean_rank": found.get(where, "mean_rank_ratio", "published_code"),
    }


def sentences(
    cfg: RankingConfig, pair: tuple[str, str], found: Found, controls: Found
) -> list[str]:
    """What was found over all resumes and levels, each with what it does not show."""
    said = [
        _level(cfg, pair, found), _spread(cfg, pair, found), _impact(pair, found),
        *_information(cfg, found), _controls(cfg, controls), _cues(found),
    ]  # fmt: skip
    return [s for s in said if s]


def _missing(what: str, row: Row | None) -> str:
    return f"{what}: not computable, {plots.words(row['reason'] if row else None)}."


def _level(cfg: RankingConfig, pair: tuple[str, str], found: Found) -> str:
    row = found.get("all", "rank_gap", *SIGN_FLIP)
    if row is None or row["estimate"] is None:
        return _missing("Level", row)
    favored, other = pair
    gap, alpha = float(row["estimate"]), 1 - cfg.estimation.level
    text = f"Level: both labels are ranked alike on average ({interval(row)})."
    if gap:
        text = (
            f"Level: with the label {other if gap > 0 else favored} the same resume is ranked "
            f"{abs(gap):.2f} places better on average ({interval(row)} in ranks, above 0 favors "
            f"{other}; sign flip of whole resumes p {formats.p(row['p_value'])}, after Holm "
            f"{formats.p(row['p_holm'])})."
        )
    same, margin = found.get("all", "rank_gap", "tost"), cfg.estimation.equivalence_margin
    if same is not None and same["p_value"] is not None and same["p_value"] < alpha:
        return (
            f"{text} It is shown to be within \u00b1{margin:g} ranks, which counts as negligible."
        )
    if row["p_value"] is not None and row["p_value"] >= alpha:
        return f"{text} A gap is not shown, which is not the same as none."
    return text


def _spread(cfg: RankingConfig, pair: tuple[str, str], found: Found) -> str:
    row = found.get("all", "spread_ratio", "paired_swap")
    if row is None or row["estimate"] is None:
        return _missing("Spread", row)
    favored, other = pair
    ratio = float(row["estimate"])
    reading = "a difference in how much ranks vary is not shown"
    if row["p_value"] is not None and row["p_value"] < 1 - cfg.estimation.level:
        reading = f"ranks under {favored if ratio > 1 else other} vary more from resume to resume"
    return (
        f"Spread: the variance of ranks under {favored} is {ratio:.2f} times that under {other} "
        f"(p {formats.p(row['p_value'])}): {reading}."
    )


def _impact(pair: tuple[str, str], found: Found) -> str:
    row = found.get("all", "impact_ratio", "ranks_at_least_tied")
    if row is None or row["estimate"] is None:
        return _missing("Impact ratio", row)
    ratio = float(row["estimate"])
    verdict = "below four fifths, a warning" if ratio < FOUR_FIFTHS else "not below four fifths"
    low, high = number(row["ci_low"]), number(row["ci_high"])
    known = "" if low is None or high is None else f" ({low:.2f} to {high:.2f})"
    return (
        f"Impact ratio of {pair[0]}: {ratio:.2f}{known}, {verdict}. It counts how often a version "
        "ranks at least as well as the other; ties count for both."
    )


def _information(cfg: RankingConfig, found: Found) -> list[str]:
    """The paper's two parts of the gap, with what they do not prove."""
    slope, one, mean, full = (found.get("all", e, "fixed_effects_cluster") for e in _FITTED)
    if slope is None:
        return []
    if slope["estimate"] is None:
        return [_missing("Information", slope)]
    moves = slope["p_value"] is not None and slope["p_value"] < 1 - cfg.estimation.level
    first = (
        "Information, the part called statistical: per unit of log words the gap changes by "
        f"{plots.signed(float(slope['estimate']), 3)} ranks (p {formats.p(slope['p_value'])}). "
    )
    if moves:
        first += (
            "The gap depends on how much the resume says, as it would where a label stands in for "
            "what is not known."
        )
    else:
        first += "That it depends on how much the resume says is not shown, and not ruled out."
    parts = [row["estimate"] for row in (one, mean, full) if row is not None]
    if one is None or mean is None or full is None or None in parts:
        return [first]
    at_one, at_mean, at_full = (plots.signed(float(value)) for value in parts)
    second = (
        "Information, the part called taste-based: what does not move with information. The paper "
        f"reads it off the mean fixed effect, {at_one} ranks, the gap at one word, outside the "
        f"data. At the mean of log words it is {at_mean} ({interval(mean)}), at the full text "
        f"{at_full} ({interval(full)}). A gap that stays is no proof of taste: it may be whatever "
        "the model took from its training."
    )
    return [first, second]


def _controls(cfg: RankingConfig, controls: Found) -> str:
    where = "control=placebo_label"
    placebo = controls.get(where, "rank_gap", *SIGN_FLIP)
    minus = controls.get(where, "rank_gap_minus_control", *SIGN_FLIP)
    if placebo is None or placebo["estimate"] is None:
        return ""
    pair = " and ".join(cfg.labels.placebo.labels)
    text = (
        f"Control: the labels {pair}, without protected meaning in the same place, are "
        f"{plots.signed(float(placebo['estimate']))} ranks apart ({interval(placebo)})."
    )
    if minus is not None and minus["estimate"] is not None:
        text += (
            f" On these resumes the gap minus that is {plots.signed(float(minus['estimate']))} "
            f"({interval(minus)}, p {formats.p(minus['p_value'])})."
        )
    return text


def _cues(found: Found) -> str:
    without = found.get("cues=none", "rank_gap", *SIGN_FLIP)
    if without is None or without["estimate"] is None:
        return ""
    return (
        "Without the resumes whose own text gives the attribute away the gap is "
        f"{plots.signed(float(without['estimate']))} ({interval(without)}, {without['n']:,} sets)."
    )


def _plot(
    cfg: RankingConfig, pair: tuple[str, str], found: Found, slices: Sequence[str]
) -> Markup | None:
    rows = []
    for where in slices:
        row = found.get(where, "rank_gap", *SIGN_FLIP)
        if row is not None:
            low, high = number(row["ci_low"]), number(row["ci_high"])
            rows.append(
                plots.ForestRow(
                    label=slice_words(where), estimate=number(row["estimate"]), low=low, high=high,
                    status=row["status"], reason=row["reason"], pooled=where == "all",
                )
            )  # fmt: skip
    if not rows:
        return None
    margin = cfg.estimation.equivalence_margin
    return plots.forest(
        "Gap in ranks", rows, scale=plots.domain(rows, margin), margin=margin,
        favors_right=pair[1], favors_left=pair[0],
    )  # fmt: skip


def slice_words(where: str) -> str:
    """`industry=X` as X, `information=10` as 10% of the text, `all` as pooled."""
    if where == "all":
        return "All, pooled"
    parts = []
    for part in where.split("; "):
        name, _, value = part.partition("=")
        if name == "information":
            parts.append(f"{value}% of the text")
        elif name == "cues":
            parts.append("cues found" if value == "found" else "no cue found")
        elif name == "quality":
            parts.append(f"{value} neutral score")
        else:
            parts.append(value)
    return ", ".join(parts)
