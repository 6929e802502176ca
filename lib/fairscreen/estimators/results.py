"""Results of the path-specific estimators. A missing number is None with a reason, never NaN."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Status = Literal["ok", "flagged", "not_computable"]

EFFECTS = ("TE", "NDE", "NIE", "BIE", "RIE")
FUNCTIONALS = ("E1", "E0", "E_W", "E_B", "E_R")

# Rows: effects; columns: functionals. NIE = BIE + RIE and TE = NDE + NIE hold exactly.
CONTRASTS: Floats = np.array(
    [
        [1.0, -1.0, 0.0, 0.0, 0.0],
        [0.0, -1.0, 1.0, 0.0, 0.0],
        [1.0, 0.0, -1.0, 0.0, 0.0],
        [0.5, 0.0, -0.5, -0.5, 0.5],
        [0.5, 0.0, -0.5, 0.5, -0.5],
    ]
)


@dataclass(frozen=True)
class Effect:
    """One effect by one method.

    estimate, std_error, ci_low, ci_high: points of the score; p_value two-sided. All None when
    status is "not_computable"; `reason` then says why, as it does for "flagged".
    n: people it stands on (all of P(Z)).
    clip_sensitivity: the estimate with propensities clipped elsewhere, by clip level.
    """

    estimand: str
    estimate: float | None
    std_error: float | None
    ci_low: float | None
    ci_high: float | None
    p_value: float | None
    n: int
    status: Status
    reason: str | None = None
    clip_sensitivity: dict[float, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        numbers = (self.estimate, self.std_error, self.ci_low, self.ci_high, self.p_value)
        missing = [value is None for value in numbers]
        if self.status == "not_computable":
            if not all(missing) or not self.reason:
                raise ValueError(f"{self.estimand}: not computable needs nulls and a reason")
        elif any(value is None or not np.isfinite(value) for value in numbers):
            raise ValueError(f"{self.estimand}: {self.status} needs finite numbers")


@dataclass(frozen=True)
class OverlapRow:
    """Unclipped weights of one stage of one functional; "E_W:Y" weighs Y - mu3 of E_W.

    n: people who carry a weight. mean_weight: over everybody, 1 when the propensities are right.
    effective_n: (sum w)^2 / sum w^2 over units (clusters where given, else people).
    max_weight: largest weight of a person. max_unit_share: largest share of one unit.
    clipped_share: share of all applicants at whose Z, R, B the clip lowers the weight.
    mean_weight, max_weight: None where a weight is infinite (a propensity of 0).
    verdict: "ok" or the rules broken.
    """

    weight_set: str
    n: int
    mean_weight: float | None
    effective_n: float | None
    max_weight: float | None
    max_unit_share: float | None
    clipped_share: float | None
    verdict: str


@dataclass(frozen=True)
class Diagnostic:
    """One number that says how far an estimate can be trusted; None with a reason.

    kind `loss`, `skill`: of the nuisance `name`, out of fold (skill = 1 - loss / baseline).
    `stack_weight`: `nuisance/learner`. `balance`: standardised difference left after weighting,
    `weight set/role and column`, such as E_W:Y/r0. `split_sd`: standard deviation of the effect
    `name` over the repeats of cross-fitting, points.
    """

    kind: Literal["loss", "skill", "stack_weight", "balance", "split_sd"]
    name: str
    value: float | None
    reason: str | None = None


@dataclass(frozen=True)
class PathResult:
    """Effects, their joint errors and the influence they come from.

    effects, bootstrap: by estimand, in the order of EFFECTS.
    functionals: E1, E0, E_W, E_B, E_R; None where its overlap fails or nothing was fitted.
    covariance: (5, 5) sampling covariance of the effects, in the order of EFFECTS, whatever
        their status; None where nothing was fitted.
    influence, c: (C, 5), aligned with the cells given. For a person of the cell with score Y,
        phi = influence + c Y, uncentred: the weighted mean of phi is the estimate. Difference
        the phi of two results on the same people for an honest error of their contrast.
    """

    effects: dict[str, Effect]
    bootstrap: dict[str, Effect]
    overlap: tuple[OverlapRow, ...]
    functionals: dict[str, float | None]
    covariance: Floats | None
    influence: Floats | None
    c: Floats | None
    diagnostics: tuple[Diagnostic, ...] = ()

    def __post_init__(self) -> None:
        if tuple(self.effects) != EFFECTS or tuple(self.bootstrap) not in (EFFECTS, ()):
            raise ValueError("effects must be in the order of EFFECTS")
        if self.covariance is not None and self.covariance.shape != (5, 5):
            raise ValueError("covariance must be (5, 5)")

    def to_rows(self) -> list[dict[str, Any]]:
        """One dict per effect and method, with the columns of `estimates` known here."""
        return [
            {
                "estimand": e.estimand,
                "method": method,
                "estimate": e.estimate,
                "std_error": e.std_error,
                "ci_low": e.ci_low,
                "ci_high": e.ci_high,
                "p_value": e.p_value,
                "n": e.n,
                "status": e.status,
                "reason": e.reason,
            }
            for method, effects in (
                ("eif", self.effects),
                ("multiplier_bootstrap", self.bootstrap),
            )
            for e in effects.values()
        ]

    def summary(self) -> str:
        """A table for people to read."""
        lines = [f"{'effect':<7}{'estimate':>10}{'error':>9}  {'interval':<22}{'p':>8}  status"]
        for e in self.effects.values():
            if e.estimate is None or e.ci_low is None or e.ci_high is None:
                lines.append(f"{e.estimand:<7}{'':>10}{'':>9}  {'':<22}{'':>8}  {e.status}")
            else:
                interval = f"[{e.ci_low:.4g}, {e.ci_high:.4g}]"
                lines.append(
                    f"{e.estimand:<7}{e.estimate:>10.4g}{e.std_error:>9.3g}  {interval:<22}"
                    f"{e.p_value:>8.2g}  {e.status}"
                )
            if e.reason:
                lines.append(f"       {e.reason}")
        return "\n".join(lines)
