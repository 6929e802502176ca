"""Estimates of planted paired callbacks as frames, without Spark: what the report is given."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

import callback_tables as tables
from callback_tables import Planted
from fairscreen.audits import callback_panel, callback_rows, callback_slices
from fairscreen.estimators.callback_pairs import NONE
from fairscreen.settings.callback_audit import PLACEBO, CallbackConfig

NASTY = "<script>alert('x')</script> & \"O'Neil\"; race=white"
_KEY = ["posting", "pair_id", "within"]


@dataclass(frozen=True)
class Frames:
    """estimates: of the audit's table; outcomes: of the view; pairs: counts; notes."""

    cfg: CallbackConfig
    estimates: pd.DataFrame
    outcomes: pd.DataFrame
    pairs: pd.DataFrame
    notes: list[str]


def frames(
    folder: Path, models: Mapping[str, Planted], *overrides: str, postings: int = 80, names: int = 6
) -> Frames:
    """An audit of these models; the first company has a hostile name."""
    cfg = tables.config(folder, list(models), *overrides)
    docs = tables.pair_documents(postings, names=names, placebo=0.3)
    docs.loc[docs["company"] == "company 000", "company"] = NASTY
    scores, _ = tables.answers(docs, models)
    first = sorted(docs["first_name"].unique())
    columns = [*cfg.estimation.slices, "company"]
    values = {c: sorted(docs[c].dropna().unique()) for c in columns}
    asked = callback_slices.Asked.of(cfg, values, first)
    parts, real = [], []
    cases = [(m, c) for m in models for c in cfg.contrasts]
    for model in models:
        for contrast in cfg.contrasts:
            frame = _coded(docs, scores, model, contrast, values, first)
            found = callback_slices.analyse(frame, asked, contrast=contrast)
            parts.append({"model": model, "contrast": contrast, **found})
            own = frame[~frame["placebo"]]
            real.append(own.assign(column=cases.index((model, contrast))))
        control = _coded(docs, scores, model, PLACEBO, values, first)
        found = callback_slices.analyse_placebo(control, asked)
        parts.append({"model": model, "contrast": PLACEBO, **found})
    panel = callback_panel.gathered(pd.concat(real, ignore_index=True), cases)
    context = callback_rows.Context(cfg, "h", "{}")
    rows, notes = callback_rows.estimates(context, parts, panel, asked.words)
    told = scores.merge(docs[["document_id", "kind", "race", "gender"]], on="document_id")
    keys = ["model", "contrast", "kind", "race", "gender"]
    outcomes = told.groupby(keys)["score"].agg(asked="size", ok="count").reset_index()
    outcomes = outcomes.assign(refused=0, unparseable=outcomes["asked"] - outcomes["ok"], failed=0)
    pairs = docs[docs["side"] == "favored"].groupby(["contrast", "kind", "within"])
    counts = pairs.agg(postings=("posting", "nunique"), pairs=("posting", "size")).reset_index()
    return Frames(cfg, pd.DataFrame(rows), outcomes, counts, notes)


def _coded(
    docs: pd.DataFrame, scores: pd.DataFrame, model: str, contrast: str,
    values: Mapping[str, list[str]], names: list[str],
) -> pd.DataFrame:  # fmt: skip
    """Rows as `audits.callbacks.pairs` has them, with the placebo pairs."""
    mine = docs[docs["contrast"].isin([contrast, PLACEBO])]
    answers = scores.loc[scores["model"] == model, ["document_id", "score"]]
    mine = mine.merge(answers, on="document_id")
    sides = {
        side: mine[mine["side"] == side].set_index(["contrast", *_KEY]).sort_index()
        for side in ("favored", "other")
    }
    one = sides["favored"]
    frame = one.reset_index()[["contrast", *_KEY]].assign(replicate=0)
    frame["placebo"] = frame.pop("contrast") == PLACEBO
    for side, rows in sides.items():
        frame[side] = rows["score"].fillna(NONE).astype(int).to_numpy()
        frame[f"{side}_name"] = rows["first_name"].map(names.index).to_numpy()
        frame[f"{side}_p"] = np.nan
    for column, listed in values.items():
        given = frame["within"] if column == "within" else one[column].reset_index(drop=True)
        frame[column] = [listed.index(v) if v in listed else -1 for v in given]
    return frame
