"""Path-specific effects measured by counterfactual rescoring: ask the model about each version.

The generator is ours, so every applicant exists in four versions with the same random numbers:
(R1, B(1,R1)), (R0, B(0,R0)), (R1, B(0,R1)), (R0, B(1,R0)). Their scores estimate E1, E0, E_B and
E_R by plain means; where X itself is shown (a photo) or told (a simulated screener), a fifth
version, (x1 itself, R0, B(0,R0)), gives E_W. Without either X reaches the document through R and B
alone, so that the version of E_W *is* that of E0: the
NDE is 0 by construction and is reported so, not tested. There is no nuisance and no overlap rule.

Per applicant psi = the effects' contrasts of his own scores; the estimate is their mean, its
interval a paired t. Labels are assigned by us: turning them round within an applicant is exact
randomisation inference (`sign_flip`), for the hypothesis that no applicant's score depends on them.
Source: estimators.md of the design notes (counterfactual rescoring).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtr, stdtrit
from scipy.stats import chi2

from fairscreen.errors import InputError
from fairscreen.estimators.results import CONTRASTS, EFFECTS, Floats, Status
from fairscreen.estimators.sign_flip import sign_flip

Ints = NDArray[np.int64]

#: Versions in the order of the columns of y; `x1_w_x0` only where X itself is shown or told.
VERSIONS = ("x1", "x0", "b_x0_r_x1", "b_x1_r_x0", "x1_w_x0")
#: Controls: the same document asked twice, and a name redrawn within gender, race and birth year.
PLACEBO_REPEAT, PLACEBO_NAME = "placebo_repeat", "placebo_name"
#: Method of the rows that compare the observational estimate with this one.
DIFFERENCE = "observational_minus_rescoring"
#: Column of y behind each functional (E1, E0, E_W, E_B, E_R); E_W is x0's own where there is
#: no photo.
_WITHOUT_PHOTO = (0, 1, 1, 2, 3)
_WITH_PHOTO = (0, 1, 4, 2, 3)
BY_CONSTRUCTION = "0 by construction: without a photo X reaches the document through R and B alone"
SAME_AS_TE = "the same number as TE, since NDE is 0 by construction"


# An audit makes hundreds of sign-flip tests: each gets a twentieth of what one alone may cost.
_WORK = 0.05


@dataclass(frozen=True, eq=False)
class Rescored:
    """Applicants whose every version was answered, as cells of equal scores. Cells add (`+`).

    y (C, 4 or 5): scores of the versions, in the order of VERSIONS. n (C,) int: applicants of the
    cell. w (C,): their design weight. cluster (C,) or None: the surveyed person, where several
    applicants come of one. unit: the step of the scores, points (0.0001: as they are stored).
    """

    y: Floats
    n: Ints
    w: Floats
    cluster: Ints | None = None
    unit: float = 1e-4

    def __post_init__(self) -> None:
        y = np.asarray(self.y, dtype=np.float64)
        if y.ndim != 2 or y.shape[1] not in (4, 5):
            raise InputError("array y", "has no four or five columns", "One column per version.")
        if not np.isfinite(y).all():
            raise InputError("array y", "holds a value that is no number", "Leave out, and count.")
        for name, least in (("n", 1), ("w", 0)):
            values = np.asarray(getattr(self, name))
            if values.shape != (len(y),) or (values < least).any():
                raise InputError(
                    f"array {name}", f"is no vector of values from {least}", "One value per cell."
                )
        if self.cluster is not None and len(self.cluster) != len(y):
            raise InputError("array cluster", "has another length than y", "One value per cell.")

    def __len__(self) -> int:
        return len(self.y)

    def __add__(self, other: Rescored) -> Rescored:
        if (self.cluster is None) != (other.cluster is None) or self.unit != other.unit:
            raise InputError("array cluster", "is on one side only", "Give it on both or neither.")
        cluster = None
        if self.cluster is not None and other.cluster is not None:
            cluster = np.concatenate([self.cluster, other.cluster])
        return Rescored(
            np.concatenate([self.y, other.y]), np.concatenate([self.n, other.n]),
            np.concatenate([self.w, other.w]), cluster, self.unit,
        )  # fmt: skip

    @property
    def psi(self) -> Floats:
        """(C, 5): TE, NDE, NIE, BIE, RIE of an applicant of the cell."""
        order = _WITH_PHOTO if self.y.shape[1] == 5 else _WITHOUT_PHOTO
        return np.asarray(self.y[:, order] @ CONTRASTS.T, dtype=np.float64)


@dataclass(frozen=True)
class RescoredEffect:
    """One effect. Points of the score; p_value of the paired t, p_sign_flip of the randomisation
    test, whose method is exact or monte_carlo. None where not computable, with the reason. An NDE
    that is 0 by construction is 0, without error or test, and says so in `reason`."""

    estimand: str
    estimate: float | None
    std_error: float | None
    ci_low: float | None
    ci_high: float | None
    p_value: float | None
    p_sign_flip: float | None
    sign_flip_method: Literal["exact", "monte_carlo"] | None
    n: int
    status: Status
    reason: str | None = None


def rescored_effects(
    data: Rescored, *, level: float = 0.95, seed: int | str = 0
) -> dict[str, RescoredEffect]:
    """TE, NDE, NIE, BIE and RIE by name.

    The interval is a t with n - 1 degrees of freedom (clusters: G - 1 of cluster sums), weighted
    where w differs: the effect in the population that the weights stand for. The sign-flip test
    takes every applicant once, whatever the weight: its null holds for each of them.
    Not computable: "no_complete_applicant", "one_applicant" (no error), "no_weight".
    """
    people = int(data.n.sum())
    without_photo = data.y.shape[1] == 4
    if people == 0 or float(data.n @ data.w) <= 0:
        reason = "no_complete_applicant" if people == 0 else "no_weight"
        return {name: _nothing(name, people, reason) for name in EFFECTS}
    mean, covariance, units = moments(data.psi, data.n, data.w, data.cluster)
    degrees = units - 1
    found: dict[str, RescoredEffect] = {}
    for j, name in enumerate(EFFECTS):
        if name == "NDE" and without_photo:
            found[name] = RescoredEffect(
                name, 0.0, *(None,) * 6, people, "ok", BY_CONSTRUCTION
            )  # fmt: skip
            continue
        if degrees < 1:
            found[name] = _nothing(name, people, "one_applicant: there is no standard error")
            continue
        value, error = float(mean[j]), float(np.sqrt(covariance[j, j]))
        reach = float(stdtrit(degrees, (1 + level) / 2)) * error
        p = _paired_p(value, error, degrees)
        test = sign_flip(
            data.psi[:, j], unit=data.unit / 2, n=data.n, seed=f"{seed}/{name}",
            share_of_work=_WORK,
        )  # fmt: skip
        found[name] = RescoredEffect(
            name, value, error, value - reach, value + reach, p, test.p_value, test.method,
            people, "ok",
        )  # fmt: skip
    return found


def moments(values: Floats, n: Ints, w: Floats, cluster: Ints | None) -> tuple[Floats, Floats, int]:
    """Weighted mean (J,) of values (C, J), its covariance (J, J), and the independent units.

    Linearised: units' totals of w (value - mean), over the sum of weights, times G / (G - 1).
    """
    some = w > 0
    values, n, w = values[some], n[some], w[some]
    total = float(n @ w)
    mean = (n * w) @ values / total
    centred = values - mean
    if cluster is None:
        units = int(n.sum())
        cross = (centred * (n * w**2)[:, None]).T @ centred
    else:
        groups, at = np.unique(cluster[some], return_inverse=True)
        units = len(groups)
        sums = np.zeros((units, values.shape[1]))
        np.add.at(sums, at.reshape(-1), centred * (n * w)[:, None])
        cross = sums.T @ sums
    factor = units / max(units - 1, 1)
    return mean, factor * cross / total**2, units


@dataclass(frozen=True)
class Agreement:
    """Observational minus rescoring, effect by effect, and whether both can be the same.

    difference, std_error: by estimand. statistic: Wald, chi-squared with `degrees` degrees of
    freedom; None with a reason where the differences do not vary.
    """

    difference: dict[str, float]
    std_error: dict[str, float]
    statistic: float | None
    degrees: int
    p_value: float | None
    n: int
    reason: str | None = None


def agreement(
    *, phi: Floats, psi: Floats, n: Ints, w: Floats, cluster: Ints | None = None,
    names: tuple[str, ...] = ("NDE", "BIE", "RIE"),
) -> Agreement:  # fmt: skip
    """Do the observational effects equal the rescored ones? Same applicants, same generator.

    phi (C, J): influence of the observational estimator (uncentred: its weighted mean is the
    estimate); psi (C, J): the rescored effects of the same applicants; n, w, cluster as in
    `Rescored`. With ungrouped mediators this tests the observational estimator; with the grouped
    ones the difference is the bias of grouping.
    The errors are those of phi - psi, so what both share cancels.
    """
    if phi.shape != psi.shape or phi.shape != (len(n), len(names)):
        raise InputError("array phi", f"is not {len(n)} x {len(names)} as psi is", "Align them.")
    people = int(n.sum())
    mean, covariance, units = moments(phi - psi, n, w, cluster)
    errors = np.sqrt(np.diag(covariance))
    shown = (
        dict(zip(names, mean.tolist(), strict=True)),
        dict(zip(names, errors.tolist(), strict=True)),
    )
    values, vectors = np.linalg.eigh(covariance)
    kept = values > 1e-12 * max(float(values.max()), 0.0)
    if units < 2 or not kept.any() or values.max() <= 0:
        return Agreement(*shown, None, 0, None, people, "the differences do not vary")
    along = vectors[:, kept].T @ mean
    statistic, degrees = float((along**2 / values[kept]).sum()), int(kept.sum())
    return Agreement(*shown, statistic, degrees, float(chi2.sf(statistic, degrees)), people)


@dataclass(frozen=True)
class Placebo:
    """Scores of one applicant that should be equal: asked twice, or another name of the same kind.

    gap: mean of second minus first, with its paired t interval and p; p_sign_flip; share_differ:
    of the pairs; mean_absolute, sd: of the differences, points. None with a reason for no pair.
    """

    n: int
    gap: float | None = None
    std_error: float | None = None
    ci_low: float | None = None
    ci_high: float | None = None
    p_value: float | None = None
    p_sign_flip: float | None = None
    share_differ: float | None = None
    mean_absolute: float | None = None
    sd: float | None = None
    reason: str | None = None


def placebo(
    first: Floats, second: Floats, n: Ints, *, unit: float = 1e-4, level: float = 0.95,
    seed: int | str = 0,
) -> Placebo:  # fmt: skip
    """Controls of the rescoring: first, second (C,) scores, n (C,) applicants with them."""
    people = int(n.sum())
    if people == 0:
        return Placebo(0, reason="no_pair: no applicant has both answers")
    d = np.asarray(second - first, dtype=np.float64)
    mean, covariance, _ = moments(d[:, None], n, np.ones(len(d)), None)
    gap, error = float(mean[0]), float(np.sqrt(covariance[0, 0]))
    told: dict[str, Any] = {
        "gap": gap,
        "p_sign_flip": sign_flip(d, unit=unit, n=n, seed=seed).p_value,
        "share_differ": float(n[d != 0].sum() / people),
        "mean_absolute": float(n @ np.abs(d) / people),
    }
    if people == 1:
        return Placebo(people, **told, reason="one_pair: there is no standard error")
    reach = float(stdtrit(people - 1, (1 + level) / 2)) * error
    return Placebo(
        people,
        **told,
        std_error=error,
        ci_low=gap - reach,
        ci_high=gap + reach,
        p_value=_paired_p(gap, error, people - 1),
        sd=error * float(np.sqrt(people)),
    )


def _paired_p(value: float, error: float, degrees: int) -> float:
    if error > 0:
        return 2 * float(stdtr(degrees, -abs(value) / error))
    # The same difference for everybody: certain, if not 0.
    return 1.0 if value == 0 else 0.0


def _nothing(name: str, people: int, reason: str) -> RescoredEffect:
    blank = (None,) * 7
    return RescoredEffect(name, *blank, people, "not_computable", reason)
