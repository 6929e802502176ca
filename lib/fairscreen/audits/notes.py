"""Notes of an audit for its report: the margin, who has no weight, who has no score. No Spark."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd
from scipy.stats import fisher_exact

from fairscreen.config import Config
from fairscreen.estimators.equivalence import MARGIN_AT_80_PERCENT_POWER
from fairscreen.estimators.response import LEVEL

_CONFOUNDERS = {"gender": "race and age", "race": "gender and age"}


def margin_note(cfg: Config) -> str:
    """What counts as negligible, and how precise an estimate must be to show it."""
    return (
        f"Negligible means within {cfg.estimation.equivalence_margin:g} points of score. Two "
        f"one-sided tests reach 80% power at {MARGIN_AT_80_PERCENT_POWER:.2f} standard errors."
    )


def weight_notes(zero: Mapping[str, int], cfg: Config) -> list[str]:
    """Who is left out of what for a weight of 0.

    zero: `applicants` (all of them), and how many of them have 0 in `design_weight`,
    `z_weight_gender`, `z_weight_race`. The two kinds differ: who has design weight 0 (no such
    gender, race and age in the survey) mostly has a z_weight (such confounders are there).
    """
    everyone, notes = zero["applicants"], []
    if nobody := zero["design_weight"]:
        notes.append(
            f"{nobody:,} of {everyone:,} applicants have design weight 0: nobody surveyed in "
            "their job has their gender, race and age. This leaves them out of design-weighted "
            "raw gaps and selection rates only; the effects weight by confounders alone."
        )
    for attribute, confounders in _CONFOUNDERS.items():
        names = [k for k, c in cfg.estimation.contrasts.items() if c.attribute == attribute]
        if names and (nobody := zero[f"z_weight_{attribute}"]):
            notes.append(
                f"{nobody:,} of {everyone:,} applicants have weight 0 in {', '.join(names)}: "
                f"nobody surveyed in their job has their {confounders}. They are left out of the "
                "effects there."
            )
    return notes


def training_notes(results: Mapping[int, Mapping[str, Any]], cfg: Config) -> list[str]:
    """How many cases train on a part of what they have; results: payloads with `values`, the
    number of distinct (Z, R, B), by case."""
    cap = cfg.estimation.max_training_cells
    capped = sum(result["values"] > cap for result in results.values())
    if not capped:
        return []
    return [
        f"{capped} of {len(results)} cases have more than {cap:,} distinct values of (Z, R, B): "
        "their nuisances are fitted on a weighted sample of about so many; effects and errors use "
        "every cell."
    ]


def sharing_notes(results: Mapping[int, Mapping[str, Any]], offered: bool) -> list[str]:
    """How many cases have classifiers of their own though there are shared ones; results: payloads
    with `shared` by case."""
    own = sum(not result["shared"] for result in results.values())
    if not offered or not own:
        return []
    return [
        f"{own} of {len(results)} cases have P(X|.) of their own: somebody has no answer there, "
        "so that they stand on other people than the classifiers that the cases share."
    ]


def answer_notes(counts: pd.DataFrame, cfg: Config) -> list[str]:
    """Who has no score, by model and group.

    counts: model, document_format, gender, race, outcome, count (requests).
    """
    notes = []
    for keys, part in counts.groupby(["model", "document_format"], sort=True):
        lost = part[part["outcome"] != "ok"]
        if lost.empty:
            continue
        kinds = lost.groupby("outcome")["count"].sum()
        listed = ", ".join(f"{kind} {number:,}" for kind, number in kinds.items())
        text = (
            f"{keys[0]}, {keys[1]}: {int(lost['count'].sum()):,} of {int(part['count'].sum()):,} "
            f"requests have no score ({listed}) and are left out."
        )
        for contrast in cfg.estimation.contrasts.values():
            table = [
                [int(group.loc[group["outcome"] == "ok", "count"].sum()), int(group["count"].sum())]
                for values in (contrast.x1, contrast.x0)
                for group in (part[part[contrast.attribute].isin(values)],)
            ]
            if any(total == 0 for _, total in table) or table[0] == table[1]:
                continue
            p = float(fisher_exact([[ok, total - ok] for ok, total in table]).pvalue)
            text += (
                f" Scored: {contrast.x1_label} {table[0][0] / table[0][1]:.1%}, "
                f"{contrast.x0_label} {table[1][0] / table[1][1]:.1%} (Fisher p {p:.2g}"
                f"{': answers differ by group' if p < LEVEL else ''})."
            )
        notes.append(text)
    return notes
