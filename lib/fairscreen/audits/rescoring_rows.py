"""Rows of `estimates` and notes of counterfactual rescoring, from the few results of its cases."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd
from scipy.stats import norm

from fairscreen.audits.cells import Case, cases
from fairscreen.audits.path_rows import NO_ANSWER, TITLES, Context, equivalence
from fairscreen.audits.rescoring import PLACEBOS, Measured, told
from fairscreen.config import Config
from fairscreen.estimators.joint import PRIMARY
from fairscreen.estimators.rescoring import (
    BY_CONSTRUCTION,
    DIFFERENCE,
    PLACEBO_NAME,
    PLACEBO_REPEAT,
    SAME_AS_TE,
    VERSIONS,
)
from fairscreen.estimators.results import EFFECTS

_TOLD_NDE = "Effect past every mediator: of what the screener is told of {attribute} itself"
_NDE = "Effect past every mediator"
_PLACEBO = {
    PLACEBO_REPEAT: "Placebo: the same document asked twice, second minus first",
    PLACEBO_NAME: "Placebo: a name redrawn within gender, race and birth year, second minus first",
}
_BESIDE = {"share_differ": "share of pairs that differ", "mean_absolute": "mean absolute "
           "difference", "sd": "standard deviation of the differences"}  # fmt: skip
_NUMBERS = ("estimate", "std_error", "ci_low", "ci_high", "p_value")


@dataclass(frozen=True)
class Compared:
    """How rows that set an observational estimate against rescoring are named.

    method, wald: of the differences and of their joint test; titles: of the effects; why, means:
    what is said of a difference and of the test.
    """

    method: str
    wald: str
    titles: Mapping[str, str]
    why: str
    means: str


GROUPED = Compared(
    DIFFERENCE, "wald", TITLES, "observational minus rescoring (bias of grouping, and error)",
    "is observational equal to rescoring? (small p = no; grouping moves it)",
)  # fmt: skip


def rows(
    context: Context, measured: Measured, observed: Mapping[int, Mapping[str, Any]],
    agreed: Mapping[int, Mapping[str, Any]],
) -> list[dict[str, Any]]:  # fmt: skip
    """Effects by rescoring, their sign-flip and equivalence tests; with an observational estimate
    beside it the differences and the Wald test; the placebos.

    observed: results of the observational estimator by case; agreed: `rescoring.agreements`.
    """
    found = []
    for case in cases(context.cfg):
        found += _effects(context, case, measured.results.get(case.index))
        if context.cfg.estimation.observes:
            mine = observed.get(case.index), agreed.get(case.index)
            found += differences(context, case, *mine, GROUPED)
    return found + _placebos(context, measured)


def _effects(
    context: Context, case: Case, result: Mapping[str, Any] | None
) -> list[dict[str, Any]]:
    nothing = {"n": 0, "status": "not_computable", "reason": NO_ANSWER}
    effects: Iterable[Mapping[str, Any]] = (
        result["effects"] if result else [{"estimand": e, **nothing} for e in EFFECTS]
    )
    found = []
    for effect in effects:
        name = effect["estimand"]
        title = _title(context.cfg, case, name)
        values = {k: effect.get(k) for k in ("estimand", *_NUMBERS, "n", "status", "reason")}
        if name == "NIE" and not told(context.cfg, case) and effect["status"] == "ok":
            values["reason"] = SAME_AS_TE
        found.append(context.row(case, "path_specific", method="rescoring", title=title, **values))
        if values["reason"] == BY_CONSTRUCTION:
            continue
        drawn = effect.get("sign_flip_method") == "monte_carlo"
        flip = {
            **values, **dict.fromkeys(("std_error", "ci_low", "ci_high")),
            "p_value": effect.get("p_sign_flip"), "method": "rescoring_sign_flip",
        }  # fmt: skip
        said = f"{title}: sign-flip test, {'drawn' if drawn else 'exact'}"
        found.append(context.row(case, "path_specific", title=said, **flip))
        if effect.get("std_error"):
            row = equivalence(context, case, values, "rescoring_tost")
            row["title"] = row["title"].replace(TITLES[name], title)
            found.append(row)
    return found


def _title(cfg: Config, case: Case, estimand: str) -> str:
    if estimand != "NDE":
        return TITLES[estimand]
    if case.photo:
        return "Direct effect"
    attribute = cfg.estimation.contrasts[case.contrast].attribute
    return _TOLD_NDE.format(attribute=attribute) if told(cfg, case) else _NDE


def differences(
    context: Context, case: Case, result: Mapping[str, Any] | None,
    agreed: Mapping[str, Any] | None, how: Compared,
) -> list[dict[str, Any]]:  # fmt: skip
    """Observational minus rescoring, effect by effect, and whether both can be the same.

    result: of the observational estimator; agreed: `rescoring.agreements` of this case.
    """
    found = []
    reach = float(norm.ppf((1 + context.cfg.estimation.level) / 2))
    why = {e["estimand"]: e["reason"] for e in result["effects"]} if result else {}
    for name in EFFECTS:
        title = f"{how.titles[name]}: {how.why}"
        values: dict[str, Any] = {"estimand": name, "method": how.method, "title": title}
        if agreed is None or name not in agreed["difference"]:
            reason = f"observational: {why.get(name) or NO_ANSWER}"
            if agreed is None and result is not None and why.get(name) is None:
                reason = "no applicant is in both estimates, or the cells are too many to compare"
            values |= {"n": 0, "status": "not_computable", "reason": reason}
        else:
            gap, error = agreed["difference"][name], agreed["std_error"][name]
            p = 2 * float(norm.sf(abs(gap) / error)) if error > 0 else float(gap == 0)
            values |= {
                "estimate": gap, "std_error": error, "ci_low": gap - reach * error,
                "ci_high": gap + reach * error, "p_value": p, "n": agreed["n"], "status": "ok",
            }  # fmt: skip
        found.append(context.row(case, "path_specific", **values))
    return [*found, _wald(context, case, agreed, how)]


def _wald(
    context: Context, case: Case, agreed: Mapping[str, Any] | None, how: Compared
) -> dict[str, Any]:
    title = f"Wald test: {how.means}"
    values: dict[str, Any] = {"estimand": "agreement", "method": how.wald, "title": title}
    wald = agreed and agreed["wald"]
    if not wald or wald["statistic"] is None:
        reason = wald["reason"] if wald else f"none of {', '.join(PRIMARY)} has both estimates"
        values |= {"n": wald["n"] if wald else 0, "status": "not_computable", "reason": reason}
    else:
        of = f"chi-squared of {', '.join(wald['names'])}; degrees of freedom: {wald['degrees']}"
        values |= {
            "estimate": wald["statistic"], "p_value": wald["p_value"], "n": wald["n"],
            "status": "ok", "reason": of,
        }  # fmt: skip
    row = context.row(case, "path_specific", **values)
    return row | {"favors_when_positive": None}


def _placebos(context: Context, measured: Measured) -> list[dict[str, Any]]:
    """Placebos belong to no contrast: they are what any difference must be read against."""
    found = []
    have = {(p["model"], p["document_format"], p["slice"], p["version"]): p
            for p in measured.placebos}  # fmt: skip
    first = next(iter(context.cfg.estimation.contrasts))
    for case in cases(context.cfg):
        if case.contrast != first:
            continue
        own = {"attribute": "none", "contrast": "placebo", "favors_when_positive": None}
        for version in PLACEBOS:
            result = have.get((case.model, case.document_format, case.slice, version))
            title = _PLACEBO[version]
            values: dict[str, Any] = {"estimand": version, "method": "rescoring", "title": title}
            if result is None:
                why: dict[str, Any] = {"n": 0, "status": "not_computable",
                       "reason": "no_pair: no applicant has both answers"}  # fmt: skip
                found.append(context.row(case, "placebo", **values, **why) | own)
                continue
            values |= {"n": result["n"], "status": "ok", "reason": result["reason"]}
            gap = {"estimate": result["gap"]}
            errors = {k: result[k] for k in _NUMBERS[1:]}
            flip = {"method": "rescoring_sign_flip", "p_value": result["p_sign_flip"],
                    "title": f"{title}: sign-flip test"}  # fmt: skip
            kinds = [gap | errors, gap | flip]
            kinds += [
                {"method": name, "title": f"{title}: {text}", "estimate": result[name]}
                for name, text in _BESIDE.items()
                if result[name] is not None
            ]
            found += [context.row(case, "placebo", **(values | k)) | own for k in kinds]
    return found


def left_out_notes(missing: pd.DataFrame) -> list[str]:
    """Who is left out of rescoring for want of a score, by version and group.

    missing: see `rescoring.Measured`.
    """
    found = []
    for keys, part in missing.groupby(["model", "document_format", "contrast"], sort=True):
        lost = int(part["incomplete"].sum())
        if not lost:
            continue
        model, shown, contrast = keys
        lacking = ", ".join(f"{v} {int(part[v].sum()):,}" for v in VERSIONS if part[v].sum())
        groups = []
        for attribute in ("gender", "race"):
            for value, mine in part.groupby(attribute, sort=True):
                share = mine["incomplete"].sum() / mine["applicants"].sum()
                groups.append(f"{value} {100 * share:.1f}%")
        found.append(
            f"{model}, {shown}, {contrast}: {lost:,} of {int(part['applicants'].sum()):,} "
            f"applicants lack the score of a version ({lacking}) and are left out of rescoring; "
            f"of the groups they are: {', '.join(groups)}."
        )
    return found
