"""What an earlier audit's rows of `estimates` tell a plan of the next one. No Spark."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from fairscreen.audits.path_rows import FAMILIES
from fairscreen.errors import InputError
from fairscreen.estimators import planning
from fairscreen.estimators.planning import Aim
from fairscreen.estimators.rescoring import BY_CONSTRUCTION, SAME_AS_TE

Design = Literal["observational", "rescoring"]
#: Methods whose error is sd / sqrt(n), and how they were measured.
METHODS: dict[str, Design] = {"eif": "observational", "rescoring": "rescoring"}
_EFFECTIVE = re.compile(r"effective n ([\d.]+) < ([\d.]+)")
_UNIT = re.compile(r"one unit holds ([\d.]+)% > ([\d.]+)%")
# Broken rules that more applicants do not mend.
_NOT_BY_SIZE = ("clipped", "mean weight", "propensity of 0", "no_", "no applicant", "constant")


@dataclass(frozen=True)
class Basis:
    """What one effect's plan rests on.

    sd: spread per applicant, points; None where the earlier audit could not compute the effect,
    with `reason`. n: applicants of that audit, or those asked about; None = not known. tests: of
    the effect's family. versions: documents asked per applicant.
    """

    label: Mapping[str, str]
    design: Design
    sd: float | None
    n: int | None
    tests: int
    versions: int = 1
    reason: str | None = None


def bases(rows: Sequence[Mapping[str, Any]]) -> list[Basis]:
    """One per effect that can be planned for, from rows of `estimates` of one audit.

    Every row of the family counts as a test, computable or not: with more applicants it will be
    one. An effect that is 0 by construction, or another one's equal, is no test and is left out.
    """
    mine = [
        r for r in rows
        if r["design"] == "path_specific" and r["method"] in METHODS
        and r["reason"] not in (BY_CONSTRUCTION, SAME_AS_TE)
    ]  # fmt: skip
    families = [_family(r) for r in mine]
    found = []
    for row, family in zip(mine, families, strict=True):
        error = row["std_error"]
        design = METHODS[str(row["method"])]
        found.append(
            Basis(
                label={k: str(row[k]) for k in ("model", "document_format", "contrast", "slice",
                                                "estimand", "method")},
                design=design,
                sd=None if error is None or not error > 0 else error * math.sqrt(row["n"]),
                n=int(row["n"]),
                tests=families.count(family),
                versions=versions(design, photo="photo" in str(row["document_format"])),
                reason=row["reason"],
            )
        )  # fmt: skip
    return found


def versions(design: Design, *, photo: bool) -> int:
    """Documents that an applicant is scored on."""
    return 1 if design == "observational" else 5 if photo else 4


def plan_row(
    basis: Basis, *, alpha: float, power: float, effect: float | None, margin: float | None,
    replicates: int = 1,
) -> dict[str, Any]:  # fmt: skip
    """Everything a plan says of one effect; null where it was not asked for or cannot be said.

    n_effect, n_margin: applicants for the wanted effect, for the margin. n_overlap: where the
    effect was not computable for too little overlap, about how many would have enough.
    calls: of one model, for n applicants, and for n_effect.
    """
    aim = Aim(alpha, power, basis.tests, paired=basis.design == "rescoring")
    per_applicant = basis.versions * replicates
    row: dict[str, Any] = {
        **basis.label,
        "n": basis.n, "std_error": None, "sd": basis.sd, "tests": basis.tests, "level": aim.each,
        "detectable": None, "power_effect": None, "n_effect": None,
        "smallest_margin": None, "n_margin": None, "n_overlap": None,
        "calls": None if basis.n is None else basis.n * per_applicant,
        "calls_effect": None, "reason": basis.reason,
    }  # fmt: skip
    if basis.sd is None:
        growth = growth_for_overlap(basis.reason or "")
        row["n_overlap"] = None if growth is None or not basis.n else math.ceil(basis.n * growth)
        return row
    sd = basis.sd
    if basis.n is not None:
        row["std_error"] = sd / math.sqrt(basis.n)
        row["detectable"] = planning.detectable(sd=sd, n=basis.n, aim=aim)
        row["smallest_margin"] = planning.smallest_margin(sd=sd, n=basis.n, aim=aim)
    if effect is not None:
        row["n_effect"] = planning.sample_size(effect=effect, sd=sd, aim=aim)
        if row["n_effect"] is not None:
            row["calls_effect"] = row["n_effect"] * per_applicant
        if basis.n is not None:
            row["power_effect"] = planning.power(effect=effect, sd=sd, n=basis.n, aim=aim)
    if margin is not None:
        row["n_margin"] = planning.sample_size_equivalence(margin=margin, sd=sd, aim=aim)
    return row


def growth_for_overlap(reason: str) -> float | None:
    """By what factor the applicants must grow to mend an overlap that is not computable.

    Effective sizes grow with the number of applicants, and the largest share of one of them falls
    with it, at the same mix of applicants. None where size is not what is missing.
    """
    if not reason.startswith("overlap:") or any(word in reason for word in _NOT_BY_SIZE):
        return None
    factors = [float(need) / float(have) for have, need in _EFFECTIVE.findall(reason)
               if float(have) > 0]  # fmt: skip
    factors += [float(held) / float(most) for held, most in _UNIT.findall(reason)]
    return max(factors, default=None)


def _family(row: Mapping[str, Any]) -> tuple[str, bool, tuple[str, ...]]:
    members = next(f for f in FAMILIES if row["estimand"] in f)
    return str(row["method"]), row["slice"] == "all", members


def basis_of_numbers(
    *, sd: float | None, std_error: float | None, n: int | None, tests: int, design: Design,
    photo: bool,
) -> Basis:  # fmt: skip
    """From numbers given: sd, or std_error with its n."""
    if (sd is None) == (std_error is None):
        raise InputError(
            "--sd, --std-error", "give exactly one of them",
            "Give --sd, the spread per applicant, or --std-error with --n.",
        )  # fmt: skip
    if std_error is not None and n is None:
        raise InputError("--std-error", "has no --n", "Give the applicants that it stands on.")
    spread = sd if sd is not None else (std_error or 0.0) * math.sqrt(n or 0)
    if not (math.isfinite(spread) and spread > 0):
        raise InputError("--sd, --std-error", "is not above 0", "Give a number above 0.")
    return Basis(
        label={}, design=design, sd=spread, n=n, tests=tests,
        versions=versions(design, photo=photo),
    )  # fmt: skip
