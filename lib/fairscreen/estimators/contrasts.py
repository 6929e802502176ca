"""Differences of path-specific effects between two scores of the same applicants.

Two models, prompts or formats that scored the same people share sampling error. The difference of
their influence values keeps that, so its error is honest; the two errors added would not be.
"""

from __future__ import annotations

import numpy as np

from fairscreen.errors import InputError
from fairscreen.estimators.data import PathData
from fairscreen.estimators.influence import influence, normal_intervals
from fairscreen.estimators.results import EFFECTS, Effect, PathResult, Status

_SAME = ("x", "z", "r", "b", "n", "w", "cluster", "z_values", "r_values", "b_values")


def difference(
    a: PathResult, b: PathResult, *, data_a: PathData, data_b: PathData, level: float = 0.95
) -> dict[str, Effect]:
    """Effects under a minus effects under b, by estimand, with errors from phi_a - phi_b.

    data_a, data_b: what a and b were computed from, cell by cell the same people; only the scores
    differ. Raises InputError where they are not, and where a cell holds several people outside
    clusters: sums over a cell do not keep the product of two scores. An effect that either side
    cannot compute is not computable here, with that side's reason.
    """
    for name in _SAME:
        left, right = getattr(data_a, name), getattr(data_b, name)
        if (left is None) != (right is None) or not np.array_equal(left, right):
            raise InputError(
                f"array {name}",
                "differs between the two scores",
                "Compare scores of the same applicants, in the same order.",
            )
    if data_a.cluster is None and (data_a.n > 1).any():
        raise InputError(
            "array n",
            "holds several people per cell, whose products of scores are not kept",
            "Build both with cells=False, or give clusters.",
        )
    values = [(result.influence, result.c) for result in (a, b)]
    people = int(data_a.n.sum())
    normal = None
    if all(x is not None and c is not None for x, c in values):
        mean = np.zeros((len(data_a), len(EFFECTS)))
        for (x, c), data, sign in zip(values, (data_a, data_b), (1, -1), strict=True):
            if x is not None and c is not None:
                mean += sign * (x + c * (data.sum_y / data.n)[:, None])
        pooled = influence(data_a, mean, np.zeros_like(mean))
        normal = normal_intervals(pooled, level, clustered=data_a.cluster is not None)
    out: dict[str, Effect] = {}
    for j, name in enumerate(EFFECTS):
        status, reason = _joined(a.effects[name], b.effects[name])
        if status == "not_computable" or normal is None:
            none = (None,) * 5
            out[name] = Effect(name, *none, people, "not_computable", reason)
        elif normal[j][1] == 0:
            same = "the two scores do not differ: there is no standard error"
            out[name] = Effect(name, None, None, None, None, None, people, "not_computable", same)
        else:
            out[name] = Effect(name, *normal[j], people, status, reason)
    return out


def _joined(a: Effect, b: Effect) -> tuple[Status, str | None]:
    """The worse status of the two, with the side it comes from."""
    order: tuple[Status, ...] = ("not_computable", "flagged")
    for status in order:
        reasons = [
            f"{side}: {effect.reason}"
            for side, effect in (("first", a), ("second", b))
            if effect.status == status
        ]
        if reasons:
            return status, "; ".join(reasons)
    return "ok", None
