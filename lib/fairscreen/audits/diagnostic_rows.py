"""Rows of the table `diagnostics`: what the estimates of each case rest on."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from fairscreen.audits.cells import Case, cases, confounders
from fairscreen.audits.path_rows import Context
from fairscreen.config import Config

_COLUMN = re.compile(r"/([zrb])(\d+)$")


def rows(context: Context, results: Mapping[int, Mapping[str, Any]]) -> list[dict[str, Any]]:
    """One per case, kind and name; none for a case that nobody answered.

    results: what `path_specific.estimate` gave, by index of the case.
    """
    return [
        {**context.where(case), **row}
        for case in cases(context.cfg)
        if case.index in results
        for row in _rows(context.cfg, case, results[case.index])
    ]


def _rows(cfg: Config, case: Case, result: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    for effect in result["effects"]:
        moved = {float(clip): value for clip, value in effect["clip_sensitivity"].items()}
        for clip in cfg.estimation.overlap.sensitivity_clips:
            value = moved.get(clip)
            yield {
                "kind": "clip", "name": f"{effect['estimand']}@{clip:g}", "value": value,
                "reason": effect["reason"] if value is None else None,
            }  # fmt: skip
    columns = _columns(cfg, case)
    for found in result["diagnostics"]:
        name = _COLUMN.sub(lambda m: f"/{columns[m[1]][int(m[2])]}", found["name"])
        yield {**found, "name": name}


def _columns(cfg: Config, case: Case) -> dict[str, tuple[str, ...]]:
    """What the columns of z, r and b of a case are called."""
    roles = cfg.estimation.roles
    attribute = cfg.estimation.contrasts[case.contrast].attribute
    z = confounders(attribute, pooled=case.pooled)
    return {"z": z, "r": roles.redlining, "b": roles.business}
