"""The models of a paired-callback audit together: gaps over release dates, race beside gender. No
Spark: pairs of all models in (`gathered`), rows out (`rows`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from fairscreen.audits.callback_slices import ANSWERS
from fairscreen.callback_words import Words, in_words
from fairscreen.errors import ConfigError
from fairscreen.estimators.callback_pairs import NO, NONE, YES, CallbackRow
from fairscreen.estimators.clustered import compressed
from fairscreen.estimators.panel import gap_covariance
from fairscreen.estimators.panel_rows import correlation_rows, trend_rows
from fairscreen.scoring import models
from fairscreen.settings.callback_audit import CallbackConfig

MODEL = "panel"
_ROUNDING = 1e-12  # of the largest variance
_ROUNDING_OF_SHARES = 1e-10
_NOTHING: Mapping[str, Any] = {"models": [], "silent": [], "gap": None, "covariance": None}
ONE = "one_group: one posting or one name of an arm, so gaps have no error"


@dataclass(frozen=True)
class Member:
    """released: years (2024-07 is 2024.5), None = not known; family: None = of none."""

    released: float | None
    family: str | None


def panel_of(cfg: CallbackConfig) -> dict[str, Member]:
    """Release month and family of every model: the config's `panel`, else conf/models.yml."""
    found = {}
    for name, screener in cfg.scoring.models.items():
        released = family = None
        if screener.kind == "chat":
            try:
                spec = models.known(str(screener.params.get("model")), "model")
                released, family = spec.released, spec.family
            except ConfigError:  # a server of one's own
                pass
        if own := cfg.panel.get(name):
            released, family = own.released or released, own.family or family
        found[name] = Member(None if released is None else years(released), family)
    return found


def years(month: str) -> float:
    """YYYY-MM as years."""
    return int(month[:4]) + (int(month[5:]) - 1) / 12


def gathered(frame: pd.DataFrame, columns: Sequence[tuple[str, str]]) -> dict[str, Any]:
    """Gaps and their sampling covariance, of real pairs of all models and contrasts.

    frame: rows of `callbacks.pairs`; `column`: place in columns, (model, contrast). The cells are
    pairs of one posting and two names. By contrast (`own`): models, gap (M,), covariance (M, M),
    and `silent`, models without a complete pair; by two contrasts (`both`): models, and the
    covariance (M,) of each one's two gaps.
    """
    answers = [frame[side].to_numpy() for side in ANSWERS]
    complete = (answers[0] != NONE) & (answers[1] != NONE)
    frame = frame[complete]
    one, two = (a[complete] for a in answers)
    ways, sizes = [], []
    for name in ("posting", "favored_name", "other_name"):
        codes, size = compressed(frame[name].to_numpy())
        ways.append(codes)
        sizes.append(size)
    at, cells = compressed((ways[0] * sizes[1] + ways[1]) * sizes[2] + ways[2])
    first = np.zeros(cells, dtype=np.int64)
    first[at] = np.arange(len(at))
    ways = [way[first] for way in ways]
    place = frame["column"].to_numpy(dtype=np.int64) * cells + at
    size = len(columns) * cells
    gain = ((one == YES) & (two == NO)).astype(float) - ((one == NO) & (two == YES))
    d = np.bincount(place, weights=gain, minlength=size).reshape(len(columns), cells).T
    n = np.bincount(place, minlength=size).reshape(len(columns), cells).T
    used = np.flatnonzero(n.any(axis=0)).tolist()
    own: dict[str, Any] = {}
    for contrast in dict.fromkeys(c for _, c in columns):
        mine = [k for k in used if columns[k][1] == contrast]
        some = n[:, mine].any(axis=1)
        silent = [m for k, (m, c) in enumerate(columns) if c == contrast and k not in used]
        own[contrast] = {"models": [columns[k][0] for k in mine], "silent": silent,
                         "gap": None, "covariance": None}  # fmt: skip
        if mine and all(len(np.unique(way[some])) > 1 for way in ways):
            gap, v = gap_covariance(d[some][:, mine], n[some][:, mine], [w[some] for w in ways])
            own[contrast] |= {"gap": gap.tolist(), "covariance": v.tolist()}
    both: dict[str, Any] = {}
    if sum(part["gap"] is not None for part in own.values()) > 1:
        v = gap_covariance(d[:, used], n[:, used], ways)[1]
        where = {columns[k]: i for i, k in enumerate(used)}
        for a, b in combinations([c for c, part in own.items() if part["gap"] is not None], 2):
            shared = [m for m in own[a]["models"] if (m, a) in where and (m, b) in where]
            both[f"{a}\n{b}"] = {
                "models": shared,
                "covariance": [float(v[where[m, a], where[m, b]]) for m in shared],
            }
    return {"own": own, "both": both}


def rows(
    found: Mapping[str, Any], cfg: CallbackConfig, words: Mapping[str, Words]
) -> tuple[list[dict[str, Any]], list[str]]:
    """(rows as `in_words` with attribute and contrast, notes) of what `gathered` gave."""
    told: list[dict[str, Any]] = []
    notes: list[str] = []
    panel, level = panel_of(cfg), cfg.estimation.level
    for contrast in cfg.contrasts:
        part = found["own"].get(contrast) or _NOTHING
        made, left = _trend(part, panel, level)
        told += [_placed(row, cfg.contrasts[contrast].attribute, contrast, words[contrast])
                 for row in made]  # fmt: skip
        if left and len(left) < len(part["models"]) + len(part["silent"]):
            notes.append(f"Trend of {contrast}: without {', '.join(left)}.")
    for key, part in found["both"].items():
        a, b = key.split("\n")
        made = _correlation(found["own"], a, b, part, level)
        attribute = f"{cfg.contrasts[a].attribute} and {cfg.contrasts[b].attribute}"
        told += [_placed(row, attribute, f"{a} and {b}", words[a]) for row in made]
    return told, notes


def _placed(row: CallbackRow, attribute: str, contrast: str, words: Words) -> dict[str, Any]:
    made = in_words(row, "all", "all", words)
    return {**made, "attribute": attribute, "contrast": contrast}


def _trend(
    part: Mapping[str, Any], panel: Mapping[str, Member], level: float
) -> tuple[list[CallbackRow], list[str]]:
    """Rows, and models that are in none with why."""
    names = part["models"]
    if part["gap"] is None:
        keep, gap, v = [], np.empty(0), np.empty((0, 0))
    else:
        gap, v = np.array(part["gap"]), np.array(part["covariance"])
        # Answers that never vary leave a variance of rounding, which would weigh without limit.
        own = np.diag(v)
        varies = own > max(_ROUNDING * float(own.max()), _ROUNDING_OF_SHARES**2)
        keep = [i for i, m in enumerate(names) if panel[m].released is not None and varies[i]]
    left = [f"{m} (no complete pair)" for m in part["silent"]]
    for i, m in enumerate(names):
        if i not in keep:
            why = "nothing varies" if panel[m].released is not None else "no release month"
            left.append(f"{m} ({ONE if part['gap'] is None else why})")
    made = trend_rows(
        gap=gap[keep], covariance=v[np.ix_(keep, keep)],
        years=[panel[names[i]].released or 0.0 for i in keep], model=[names[i] for i in keep],
        family=[panel[names[i]].family for i in keep], level=level,
    )  # fmt: skip
    if left:
        made = [_because(row, left) for row in made]
    return made, left


def _because(row: CallbackRow, left: Sequence[str]) -> CallbackRow:
    if row.status != "not_computable":
        return row
    fields = {**vars(row), "reason": f"{row.reason}; left out: {', '.join(left)}"}
    return CallbackRow(**fields)


def _correlation(
    own: Mapping[str, Any], a: str, b: str, part: Mapping[str, Any], level: float
) -> list[CallbackRow]:
    sides = []
    for contrast in (a, b):
        mine = own[contrast]
        at = [mine["models"].index(m) for m in part["models"]]
        sides.append((np.array(mine["gap"])[at], np.diag(np.array(mine["covariance"]))[at]))
    return correlation_rows(
        one=sides[0][0], two=sides[1][0], variance_one=sides[0][1], variance_two=sides[1][1],
        covariance=part["covariance"], level=level,
    )  # fmt: skip
