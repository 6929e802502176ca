"""Differences of effects between two models, or two document formats, on the same applicants.

A row of the design `comparison` holds one effect under a minus the same effect under b, both by
the audit's primary method (`eif_difference`, or `rescoring_difference` where rescoring leads).
Prompts and generations are models under names of their own. The two share the sampling of
applicants, so the error is that of the difference of their influence, not the sum of two errors.
Which pairs are compared stands in `estimation.compare`, and so do the families of their tests,
before any score is seen: NDE, BIE, RIE and, second, TE, NIE; models and formats apart; by job and
pooled apart.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, Literal

import numpy as np
from scipy.special import ndtr, ndtri

from fairscreen.audits.cells import Case, cases
from fairscreen.audits.influence import Shared
from fairscreen.audits.path_rows import FAMILIES, NO_ANSWER, Context
from fairscreen.config import Config
from fairscreen.estimators.equivalence import tost
from fairscreen.estimators.joint import Combination, Joint, correlation
from fairscreen.estimators.multiplicity import adjust
from fairscreen.estimators.rescoring import BY_CONSTRUCTION
from fairscreen.estimators.results import EFFECTS, Status

DESIGN, NEGLIGIBLE = "comparison", "tost_difference"
MINUS = " minus "  # names of models hold no space
#: Below this share of the two variances a variance is rounding of the shared products.
_ROUNDING = 1e-8
#: Beyond so many tests in a family the step-down max-t is left out: it costs their cube.
_MOST_BY_MAXT = 3000
_TOO_LARGE = (
    "the cells of these cases are too many to compare applicant by applicant; set coarser "
    "estimation.roles.bins"
)
_EQUAL = "the difference does not vary: there is no standard error"

Result = Mapping[str, Any]


@dataclass(frozen=True)
class Pair:
    """Two cases that differ in the model or in the document format only; the effect is a - b."""

    kind: Literal["models", "formats"]
    a: Case
    b: Case

    @property
    def case(self) -> Case:
        """The case that the row is filed under: `a minus b` in the place where the two differ."""
        place = "model" if self.kind == "models" else "document_format"
        one, two = getattr(self.a, place), getattr(self.b, place)
        return replace(self.a, index=-1, **{place: f"{one}{MINUS}{two}"})

    @property
    def labels(self) -> tuple[str, str]:
        if self.kind == "models":
            return self.a.model, self.b.model
        return self.a.document_format, self.b.document_format


def pairs(cfg: Config) -> list[Pair]:
    """Every pair of cases that the config compares, in a fixed order."""
    chosen = cfg.estimation.compare
    found = {(c.model, c.document_format, c.contrast, c.slice): c for c in cases(cfg)}
    models: list[str] = list(cfg.scoring.models)
    formats: list[str] = list(cfg.documents.formats)
    if chosen == "all":
        of_models, of_formats = list(combinations(models, 2)), list(combinations(formats, 2))
    else:
        of_models = [pair for pair in chosen if set(pair) <= set(models)]
        of_formats = [pair for pair in chosen if pair not in of_models]
    out = []
    for contrast, piece in dict.fromkeys((c.contrast, c.slice) for c in cases(cfg)):
        for one, two in of_models:
            sides = [[found[m, f, contrast, piece] for f in formats] for m in (one, two)]
            out += [Pair("models", a, b) for a, b in zip(*sides, strict=True)]
        for one, two in of_formats:
            sides = [[found[m, f, contrast, piece] for m in models] for f in (one, two)]
            out += [Pair("formats", a, b) for a, b in zip(*sides, strict=True)]
    return out


def rows(
    context: Context, results: Mapping[int, Result], shared: Shared
) -> tuple[list[dict[str, Any]], list[str]]:
    """Rows of `estimates` of design `comparison`, and notes; both empty where nothing is compared.

    results: of the primary method, by index of the case: effects, covariance, n. An NDE that is 0
    by construction is not compared, nor NIE where both models' are: it is TE then.
    """
    chosen = pairs(context.cfg)
    own = {
        i: np.array(found["covariance"])
        for i, found in sorted(results.items())
        if found["covariance"] is not None
    }
    joint = Joint.of(own, shared.correlation)
    by_pair = [(pair, list(_pair_rows(context, pair, results, shared, joint))) for pair in chosen]
    notes = _fill_families(context.cfg, by_pair, joint)
    return [row for _, found in by_pair for row in found], notes


def _pair_rows(
    context: Context, pair: Pair, results: Mapping[int, Result], shared: Shared, joint: Joint
) -> Iterator[dict[str, Any]]:
    key = (min(pair.a.index, pair.b.index), max(pair.a.index, pair.b.index))
    both = shared.people.get(key)
    level, margin = context.cfg.estimation.level, context.cfg.estimation.equivalence_margin
    method = f"{context.cfg.estimation.primary}_difference"
    nde = [_effect(results.get(case.index), "NDE") for case in (pair.a, pair.b)]
    known = [side is not None and side["reason"] == BY_CONSTRUCTION for side in nde]
    for name in EFFECTS:
        # Where neither NDE can be anything but 0, NIE is TE: one test of the same number.
        if (name == "NDE" and any(known)) or (name == "NIE" and all(known)):
            continue
        sides = [_effect(results.get(case.index), name) for case in (pair.a, pair.b)]
        status, reason = _status(pair, sides)
        if status != "not_computable" and both is None:
            status, reason = "not_computable", _TOO_LARGE
        error = 0.0
        if status != "not_computable":
            variance = float(joint.of_combinations([_combination(pair, name)])[0, 0])
            apart = sum(side["std_error"] ** 2 for side in sides if side)  # rescoring's may be 0
            error = float(np.sqrt(max(variance, 0.0)))
            if variance <= _ROUNDING * apart:
                status, reason = "not_computable", _EQUAL
        if status == "not_computable":
            yield _row(context, pair, name, method, n=both or 0, status=status, reason=reason)
            continue
        one, two = (side["estimate"] for side in sides if side)
        value, reach = one - two, float(ndtri((1 + level) / 2)) * error
        why = filter(None, (reason, _answered(pair, results, both or 0)))
        told = {
            "estimate": value, "std_error": error, "n": both, "status": status,
            "reason": "; ".join(why) or None,
        }  # fmt: skip
        yield _row(
            context, pair, name, method, **told, ci_low=value - reach, ci_high=value + reach,
            p_value=2 * float(ndtr(-abs(value) / error)),
        )  # fmt: skip
        test = tost(estimate=value, std_error=error, margin=margin)
        row = _row(
            context, pair, name, NEGLIGIBLE, **told, ci_low=test.ci_low, ci_high=test.ci_high,
            p_value=test.p_value,
        )  # fmt: skip
        row["title"] += f": is it negligible, within {margin:g} points? (small p = yes)"
        yield row


def _row(context: Context, pair: Pair, name: str, method: str, **values: Any) -> dict[str, Any]:
    row = context.row(pair.case, DESIGN, estimand=name, method=method, **values)
    # An effect is called direct only where both documents show who applies.
    plain = pair.a if not pair.a.photo else pair.b
    title = context.row(plain, DESIGN, estimand=name, method=method)["title"]
    one, two = pair.labels
    return row | {"title": f"{title}: {one}{MINUS}{two}"}


def _combination(pair: Pair, effect: str) -> Combination:
    return [(pair.a.index, effect, 1.0), (pair.b.index, effect, -1.0)]


def _effect(result: Result | None, name: str) -> Mapping[str, Any] | None:
    if result is None:
        return None
    effects: Sequence[Mapping[str, Any]] = result["effects"]
    return next(e for e in effects if e["estimand"] == name)


def _status(pair: Pair, sides: Sequence[Mapping[str, Any] | None]) -> tuple[Status, str | None]:
    """The worse status of the two sides, with the side it comes from."""
    told = [
        ("not_computable", NO_ANSWER) if side is None else (side["status"], side["reason"])
        for side in sides
    ]
    worst: tuple[Status, ...] = ("not_computable", "flagged")
    for status in worst:
        reasons = [
            f"{label}: {reason}"
            for label, (found, reason) in zip(pair.labels, told, strict=True)
            if found == status
        ]
        if reasons:
            return status, "; ".join(reasons)
    return "ok", None


def _answered(pair: Pair, results: Mapping[int, Result], both: int) -> str | None:
    """Says so where the two did not answer the same applicants: each effect stands on its own."""
    counts = [int(results[case.index]["n"]) for case in (pair.a, pair.b)]
    if counts == [both, both]:
        return None
    one, two = pair.labels
    return f"answered: {one} {counts[0]:,}, {two} {counts[1]:,}, both {both:,}"


def _fill_families(
    cfg: Config, by_pair: Sequence[tuple[Pair, list[dict[str, Any]]]], joint: Joint
) -> list[str]:
    """Adjusted p-values within each family, in place; notes on what is left out."""
    notes = []
    for kind in ("models", "formats"):
        for pooled in (False, True):
            for effects in FAMILIES:
                where = "pooled" if pooled else "by job"
                name = f"{' '.join(effects)} differences of {kind} {where}"
                mine = [
                    (pair, row)
                    for pair, found in by_pair
                    if pair.kind == kind and pair.a.pooled is pooled
                    for row in found
                    if row["method"] != NEGLIGIBLE and row["estimand"] in effects
                ]
                able = [(pair, row) for pair, row in mine if row["p_value"] is not None]
                _adjust(able, name, f"{cfg.seed}/{name}", joint)
                if len(mine) > len(able):
                    notes.append(
                        f"Family {name}: {len(able)} tests; {len(mine) - len(able)} more are not "
                        "computable and are left out of the correction."
                    )
    return notes


def _adjust(
    able: Sequence[tuple[Pair, dict[str, Any]]], name: str, seed: str, joint: Joint
) -> None:
    between = None
    if able and len(able) <= _MOST_BY_MAXT:
        terms = [_combination(pair, str(row["estimand"])) for pair, row in able]
        between = correlation(joint.of_combinations(terms))
    family = adjust(
        [row["p_value"] for _, row in able],
        [row["estimate"] / row["std_error"] for _, row in able],
        between,
        seed=seed,
    )
    for (_, row), member in zip(able, family.members, strict=True):
        if member is not None:
            row["family"] = name
            row["p_holm"], row["p_bh"], row["p_maxt"] = member.holm, member.bh, member.maxt
