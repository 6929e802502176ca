"""When an effect is not computable: nothing to fit, or weights that rest on too few people.

The thresholds of the rule (PathOptions) are those at which standard errors become right, on
designs whose overlap goes from good to none: tests/bench/overlap_rule.txt.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np

from fairscreen.estimators.data import Floats, PathData
from fairscreen.estimators.influence import unit_totals
from fairscreen.estimators.results import OverlapRow

# A mean weight below this, and by over this many standard errors, is not 1: the group that
# carries the weights never takes values that the other takes, and no effective size shows it.
LOW_MEAN = 0.9
LOW_MEAN_ERRORS = 4.0


class Rules(Protocol):
    """The options that decide; see PathOptions."""

    @property
    def min_effective_n(self) -> float: ...
    @property
    def max_unit_share(self) -> float: ...
    @property
    def max_clipped_share(self) -> float: ...


# Spread of the scores, relative to their size, below which they are the same number.
_CONSTANT = 1e-7


def overlap_row(
    data: PathData, weight_set: str, weight: Floats, clipped_share: float, rules: Rules
) -> OverlapRow:
    """Diagnostics of unclipped weights (C,), 0 for people of the other group.

    Effective size and shares are over units: clusters where given, else people. Clipped weights
    would look comfortable exactly where the clip hides the problem, so they are never used here.
    """
    carriers = weight > 0
    n = int(data.n[carriers].sum())
    if n == 0:
        return OverlapRow(weight_set, 0, 0.0, 0.0, None, None, None, "nobody carries a weight")
    infinite = np.isinf(weight)
    if infinite.any():
        # The limit: the people with infinite weight hold all of it, in equal parts.
        holders = float(data.n[infinite].sum())
        mean, largest, effective, share = None, None, holders, 1.0 / holders
        broken = [f"a propensity of 0 for {holders:.0f} people"]
    else:
        totals, count = unit_totals(data, weight)
        whole = float((totals * count).sum())
        effective = whole**2 / float((totals**2 * count).sum())
        share = float(totals.max()) / whole
        mean = whole / float((data.n * data.w).sum())
        largest = float(weight.max())
        broken = []
        units = float(count.sum())
        error = mean * np.sqrt(max(units / effective - 1, 0.0) / units)
        if mean < min(LOW_MEAN, 1 - LOW_MEAN_ERRORS * error):
            broken.append(f"mean weight {mean:.2f} where 1 is due")
    if effective < rules.min_effective_n:
        broken.append(f"effective n {_down(effective)} < {rules.min_effective_n:g}")
    if share > rules.max_unit_share:
        broken.append(f"one unit holds {share:.1%} > {rules.max_unit_share:.1%} of the weight")
    if clipped_share > rules.max_clipped_share:
        broken.append(f"{clipped_share:.1%} > {rules.max_clipped_share:.1%} clipped")
    verdict = ", ".join(broken) or "ok"
    return OverlapRow(weight_set, n, mean, effective, largest, share, clipped_share, verdict)


def clipped_share(data: PathData, raw: Floats, clipped: Floats) -> float:
    """Share of all applicants at whose Z, R, B the clip lowers what a carrier would weigh.

    All applicants, not only carriers: at a value that the carriers' group never takes there is
    no carrier, and nobody else can tell. A clip that raises a weight near 0 hides nobody.
    """
    lowered = raw > clipped * (1 + 1e-9)
    return float(data.n[lowered].sum()) / float(data.n.sum())


def _down(value: float) -> str:
    """29.97 reads "29.9", never "30": the text must not contradict the rule."""
    return f"{np.floor(value * 10) / 10:g}"


def impossible(data: PathData) -> str | None:
    """Why no effect of these data can be computed, or None."""
    for code, name in ((1, "x1"), (0, "x0")):
        if not (data.x == code).any():
            return f"no applicant of group {name}"
    for k, fold in enumerate(data.fold.T):
        if len(np.unique(fold)) < 2:
            return f"repeat {k + 1} has one fold; cross-fitting needs two"
        for code, name in ((1, "x1"), (0, "x0")):
            homes = np.unique(fold[data.x == code])
            if len(homes) == 1:
                return f"all applicants of group {name} are in one fold; none is left to train on"
    if data.cluster is not None and len(np.unique(data.cluster)) < 2:
        return "one cluster gives no standard error"
    mean = data.sum_y / data.n
    low, high = float(mean.min()), float(mean.max())
    inner = float(np.sqrt(np.maximum(data.sum_yy / data.n - mean**2, 0.0)).max())
    if max(high - low, inner) <= _CONSTANT * max(abs(low), abs(high)):
        return f"all scores are {low:g}: without variation there is no standard error"
    return None


def absent_paths(data: PathData) -> dict[str, str]:
    """Effects whose path has no mediator, or none that varies, with the reason: they are 0 by
    definition, and what rounding leaves of them is no estimate."""
    found: dict[str, str] = {}
    for name, kind, codes, values in (
        ("BIE", "business", data.b, data.b_values),
        ("RIE", "redlining", data.r, data.r_values),
    ):
        if codes.shape[1] == 0:
            found[name] = f"no_{kind}_mediators"
        elif (codes == codes[:1]).all() and (values is None or (values == values[:1]).all()):
            found[name] = f"no_{kind}_mediators: none of them varies"
    return found
