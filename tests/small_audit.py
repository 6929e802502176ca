"""A made-up audit, small and consistent, for tests of what reads the tables.

Four jobs-by-group cells of nurses and laborers, one model; no number here was ever measured.
"""

from __future__ import annotations

import datetime as dt
import hashlib
import json
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import small_corpus

AUDIT, MODEL = "small", "minilm"
ESTIMANDS = ("TE", "NDE", "NIE", "BIE", "RIE")
WHEN = dt.datetime(2026, 3, 22, 12, 0, tzinfo=dt.UTC)
VERSIONS = {"applicants": 1, "scores": 2, "requests": 1}
TITLES = {
    "TE": "total effect", "NDE": "not through the grouped mediators", "NIE": "through mediators",
    "BIE": "through qualifications", "RIE": "through names and region",
}  # fmt: skip
# slice: TE, NDE, BIE, RIE and their errors; NIE and TE follow. None = not computable.
_EFFECTS: dict[str, dict[str, tuple[float, float] | None]] = {
    "job=registered_nurses": {"NDE": (0.2, 0.3), "BIE": (0.5, 0.4), "RIE": (1.8, 0.4)},
    "job=construction_laborers": {"NDE": None, "BIE": (-0.4, 0.5), "RIE": None},
    "all": {"NDE": (0.1, 0.2), "BIE": (0.1, 0.3), "RIE": (0.9, 0.25)},
}
THIN = "effective_n_below_30"


def key(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def estimates() -> list[dict[str, Any]]:
    rows = []
    for contrast, attribute, favors in (
        ("male_vs_female", "gender", "men"),
        ("white_vs_rest", "race", "white applicants"),
    ):
        scale = 1.0 if attribute == "gender" else -0.5
        for where, parts in _EFFECTS.items():
            values: dict[str, tuple[float, float] | None] = dict(parts)
            bie, rie, nde = parts["BIE"], parts["RIE"], parts["NDE"]
            values["NIE"] = (bie[0] + rie[0], 0.5) if bie and rie else None
            values["TE"] = (nde[0] + values["NIE"][0], 0.6) if nde and values["NIE"] else (0.7, 0.6)
            for estimand in ESTIMANDS:
                found = values[estimand]
                est = scale * found[0] if found else None
                se = found[1] if found else None
                rows.append(_estimate(contrast, attribute, favors, where, estimand, "eif", est, se))
        for row in [r for r in rows if r["contrast"] == contrast and r["status"] == "ok"]:
            beside = row | {"family": None, "p_holm": None, "p_bh": None, "p_maxt": None}
            rows.append(beside | {"method": "tost", "p_value": 0.3})
            gone = dict.fromkeys(("std_error", "ci_low", "ci_high", "p_value"))
            rows.append(
                beside | gone | {"method": "eif_clip_0.01", "estimate": row["estimate"] / 2}
            )
        groups = ("male", "female") if attribute == "gender" else ("white", "black+asian_pacific")
        for where in _EFFECTS:
            arms = [
                f"{where}; {attribute}={g}" if where != "all" else f"{attribute}={g}"
                for g in groups
            ]
            for place, estimand, method, est in (
                (where, "raw_gap", "difference", 1.5 * scale),
                (where, "raw_gap", "difference_unweighted", 1.4 * scale),
                (where, "selection_rate_ratio", "four_fifths", 0.74),
                (where, "selection_rate_ratio", "log_ratio", 0.74),
                (arms[0], "selection_rate", "local_law_144", 0.5),
                (arms[1], "selection_rate", "local_law_144", 0.37),
                (where, "share_tied", "local_law_144", 0.01),
            ):
                row = _estimate(contrast, attribute, favors, place, estimand, method, est, 0.1)
                row |= {"design": "outcome", "family": None, "p_holm": None, "p_bh": None}
                favored = favors if estimand == "raw_gap" else None
                rows.append(row | {"p_maxt": None, "favors_when_positive": favored})
    return rows


def comparisons() -> list[dict[str, Any]]:
    """The model against another one, of gender, pooled: RIE differs after Holm, BIE does not."""
    rows = []
    for estimand, est, se in (("NDE", None, None), ("BIE", 0.4, 0.3), ("RIE", 1.2, 0.2)):
        row = _estimate("male_vs_female", "gender", "men", "all", estimand, "eif_difference",
                        est, se)  # fmt: skip
        rows.append(row | {
            "design": "comparison", "model": f"{MODEL} minus other",
            "family": "NDE BIE RIE differences of models pooled" if est else None,
            "title": f"{TITLES[estimand]}: {MODEL} minus other",
        })  # fmt: skip
        if est is not None:
            beside = dict.fromkeys(("family", "p_holm", "p_bh", "p_maxt"))
            rows.append(rows[-1] | beside | {"method": "tost_difference", "p_value": 0.01})
    return rows


def _estimate(
    contrast: str, attribute: str, favors: str, where: str, estimand: str, method: str,
    est: float | None, se: float | None,
) -> dict[str, Any]:  # fmt: skip
    ok = est is not None and se is not None
    p = min(1.0, 2 ** (-(abs(est / se) ** 1.5))) if ok else None
    return {
        "audit_id": AUDIT, "design": "path_specific", "model": MODEL, "attribute": attribute,
        "contrast": contrast, "document_format": "text", "slice": where, "estimand": estimand,
        "method": method, "title": TITLES.get(estimand, estimand.replace("_", " ")),
        "estimate": est, "std_error": se,
        "ci_low": est - 1.96 * se if ok else None, "ci_high": est + 1.96 * se if ok else None,
        "p_value": p, "family": "NDE, BIE, RIE",
        "p_holm": min(1.0, 3 * p) if ok else None, "p_bh": p, "p_maxt": p,
        "n": 8 if where == "all" else 4, "favors_when_positive": favors,
        "status": "ok" if ok else "not_computable", "reason": None if ok else THIN,
        "config_hash": "0123456789abcdef", "input_versions": json.dumps(VERSIONS),
    }  # fmt: skip


def overlap() -> list[dict[str, Any]]:
    rows = []
    for contrast in ("male_vs_female", "white_vs_rest"):
        for where in _EFFECTS:
            for weight_set in ("E_W:Y", "E_R:Y"):
                thin = where == "job=construction_laborers"
                rows.append({
                    "audit_id": AUDIT, "model": MODEL, "contrast": contrast,
                    "document_format": "text", "slice": where, "weight_set": weight_set, "n": 4,
                    "mean_weight": 1.02, "effective_n": 11.5 if thin else 240.0,
                    "max_weight": 40.0 if thin else 6.1, "max_unit_share": 0.2 if thin else 0.02,
                    "clipped_share": 0.0, "verdict": THIN if thin else "ok",
                    "method": None if weight_set == "E_W:Y" else "eif",  # null: an older row
                })  # fmt: skip
    fine = {"method": "eif_ungrouped", "effective_n": 7.5, "verdict": "effective n 7.5 < 30"}
    return [*rows, next(r for r in rows if r["verdict"] == THIN) | fine]


def diagnostics() -> list[dict[str, Any]]:
    """Nurses and laborers; of the laborers' effects only TE and BIE can be computed."""
    rows = []
    for where, scale in (("job=registered_nurses", 1.0), ("job=construction_laborers", 3.0)):
        thin = where == "job=construction_laborers"
        told: list[tuple[str, str, float | None]] = [
            ("balance", "E_W:Y/region", 0.05 * scale), ("balance", "E_W:Y/edu_group", 0.12),
            ("loss", "mu3", 4.0), ("skill", "mu3", 0.4), ("skill", "e_rz", 0.1 * scale),
            ("stack_weight", "mu3/glm", 0.25), ("stack_weight", "mu3/saturated", 0.75),
            ("clip", "BIE@0.01", 0.8), ("clip", "RIE@0.1", None if thin else 1.4),
            ("split_sd", "BIE", 0.02 * scale),
        ]  # fmt: skip
        rows += [
            {"audit_id": AUDIT, "model": MODEL, "contrast": "male_vs_female",
             "document_format": "text", "slice": where, "kind": kind, "name": name, "value": value,
             "reason": THIN if value is None else None}
            for kind, name, value in told
        ]  # fmt: skip
    return rows


def patterns() -> list[dict[str, Any]]:
    names = {
        1: "direct without explicit information", 2: "masked by cancellation",
        3: "legitimate qualifications", 4: "proxies", 5: "mixed",
    }  # fmt: skip
    rows = []
    for contrast in ("male_vs_female", "white_vs_rest"):
        for where in _EFFECTS:
            for number, title in names.items():
                for rule in ("published", "adjusted"):
                    thin = where == "job=construction_laborers"
                    yes = "yes" if number == 4 and rule == "published" else "undecided"
                    rows.append({
                        "audit_id": AUDIT, "model": MODEL, "contrast": contrast,
                        "document_format": "text", "slice": where, "pattern": number,
                        "title": title, "rule": rule,
                        "verdict": "not_computable" if thin else yes,
                        **dict.fromkeys(
                            ("p_value", "p_holm", "p_refuted", "p_refuted_holm"),
                            0.2 if rule == "adjusted" and not thin else None,
                        ),
                        "reason": THIN if thin else None,
                    })  # fmt: skip
    # One row as where a photo is shown.
    shown = next(r for r in rows if (r["pattern"], r["rule"]) == (1, "published"))
    shown |= {"verdict": "not_computable", "reason": "format_shows_photo: not counted"}
    return rows


def population_fit() -> list[dict[str, Any]]:
    """Two jobs; the laborers' survey has no replicate weights and no Black woman."""
    shares = {"female; white": 0.5, "female; black": 0.2, "male; white": 0.2, "male; black": 0.1}
    rows = []
    for job in ("registered_nurses", "construction_laborers"):
        thin = job == "construction_laborers"
        survey = {
            "female; white": 0.1,
            "female; black": 0.0,
            "male; white": 0.6,
            "male; black": 0.3,
        }
        survey = survey if thin else shares
        for cell, share in survey.items():
            gender, race = cell.split("; ")
            moved = 0.004 if gender == "female" else -0.004
            moved = moved if race == "black" else -moved / 2
            error = None if thin or not share else 0.0015
            why = "no replicate weights in five_jobs.zip" if thin else None
            rows.append(_fit_row(job, "gender x race", f"gender={gender}; race={race}", share,
                                 share + moved, error, why))  # fmt: skip
        for at, name in enumerate(("gender", "race")):
            for value in dict.fromkeys(c.split("; ")[at] for c in survey):
                share = sum(v for c, v in survey.items() if c.split("; ")[at] == value)
                error, why = (
                    (None, "no replicate weights in five_jobs.zip") if thin else (0.01, None)
                )
                moved = 0.002 if value in ("female", "black") else -0.002
                rows.append(
                    _fit_row(job, name, f"{name}={value}", share, share + moved, error, why)
                )
        for level, share in (("high_school", 0.25), ("bachelor", 0.75)):
            error, why = (None, "no replicate weights in five_jobs.zip") if thin else (0.02, None)
            value = f"edu_level={level}"
            rows.append(_fit_row(job, "edu_level", value, share, share, error, why))
    return rows


def _fit_row(
    job: str, margin: str, value: str, survey: float, generated: float, error: float | None,
    why: str | None,
) -> dict[str, Any]:  # fmt: skip
    difference = generated - survey
    return {
        "audit_id": AUDIT, "job": job, "margin": margin, "value": value,
        "survey_people": round(200 * survey), "survey_share": survey, "survey_std_error": error,
        "generator_share": generated, "applicants": round(4 * survey),
        "applicants_share": round(4 * survey) / 4, "difference": difference,
        "z": difference / error if error else None,
        "status": "ok" if error else "not_computable", "reason": why,
    }  # fmt: skip


def people() -> dict[str, list[dict[str, Any]]]:
    """Applicants with their documents, contents, requests, replies and scores: 8, in two jobs."""
    tables: dict[str, list[dict[str, Any]]] = {
        t: [] for t in ("applicants", "documents", "contents", "requests", "replies", "scores")
    }
    groups = [("female", "white"), ("male", "white"), ("female", "black"), ("male", "black")]
    number = 0
    for job in ("registered_nurses", "construction_laborers"):
        posting = f"Wanted: {job.replace('_', ' ')}."
        tables["contents"].append(_content(posting))
        for gender, race in groups:
            number += 1
            outcome = "refused" if number == 8 else "ok"
            _add(tables, f"a{number}", job, gender, race, posting, outcome, 50 + 1.25 * number)
    # Two of them as somebody else: whoever counts applicants must leave these out.
    tables["scores"] += [
        row
        | {"document_id": f"{row['document_id']}/male_vs_female/x1", "version": "x1",
           "request_id": f"{row['document_id']}/male_vs_female/x1@{MODEL}#0",
           "contrast": "male_vs_female", "score": Decimal("99.0000")}
        for row in tables["scores"][:2]
    ]  # fmt: skip
    return tables


def typicality() -> dict[str, list[dict[str, Any]]]:
    """The names of `people`: of Mary the gender group may flip, of O'Neil the surname group."""
    first = [
        {
            "audit_id": AUDIT, "name": name, "births_female": female, "births_male": male,
            "hidden_female": 8, "hidden_male": 8, "p_female": female / (female + male),
            "p_female_low": female / (female + male + 8),
            "p_female_high": (female + 8) / (female + male + 8), "mean_birth_year": 1950.0,
            "cohort_shares": '{"mid": 1.0}', "gender_group": group, "cohort_group": "mid",
            "gender_may_flip": name == "Mary", "cohort_may_flip": None, "gender_threshold": 0.75,
            "cohort_threshold": 0.5, "cohorts": '{"mid": [1940, 1960]}', "first_birth_year": 1940,
            "last_birth_year": 1960, "source_kind": "ssa_national", "source_sha256": "aa",
        }
        for name, female, male, group in (("Mary", 9, 1, "female"), ("John", 5, 995, "male"))
    ]  # fmt: skip
    last = [
        {
            "audit_id": AUDIT, "name": name, "bearers": 100, "p_white": None, "p_black": 0.1,
            "p_asian_pacific": 0.1, "p_native": 0.0, "p_two_or_more": 0.0, "p_hispanic": 0.1,
            "p_suppressed": 0.7, "surname_group": "neutral", "may_flip": name != "Smith",
            "surname_threshold": 0.5, "source_kind": "census", "source_sha256": "bb",
        }
        for name in ("Smith", "<b>O'Neil</b>")
    ]  # fmt: skip
    return {"first_name_typicality": first, "surname_typicality": last}


def _content(text: str) -> dict[str, Any]:
    return {"content_key": key(text), "media_type": "text/plain; charset=utf-8", "text": text,
            "data": None}  # fmt: skip


def _add(
    tables: dict[str, list[dict[str, Any]]], who: str, job: str, gender: str, race: str,
    posting: str, outcome: str, score: float,
) -> None:  # fmt: skip
    first, last = ("Mary", "Smith") if gender == "female" else ("John", "<b>O'Neil</b>")
    resume = f"{first} {last}\nWorked as {job}, case {who}."
    document, call = f"{who}/text", key(resume + posting)
    request = f"{document}@{MODEL}#0"
    tables["applicants"].append({
        "audit_id": AUDIT, "applicant_id": who, "job": job, "gender": gender, "race": race,
        "age": 30, "birth_year": 1994, "state": "56", "region": "west", "edu_level": "bachelor",
        "edu_group": "medium", "exp_year": 4.5, "first_name": first, "surname": last,
        "first_name_gender": gender, "first_name_cohort": "mid", "surname_race": "neutral",
        "first_name_p_female": 0.99 if gender == "female" else 0.01,
        "first_name_mean_year": 1950.0, "surname_p_white": None, "surname_p_black": 0.1,
        "surname_p_asian_pacific": 0.1, "surname_p_hispanic": 0.1, "person_key": who,
        "survey_weight": None,
        "design_weight": Decimal("1"), "z_weight_gender": Decimal("1"),
        "z_weight_race": Decimal("1"), "mode": "balanced", "acs_vintage": 2024,
    })  # fmt: skip
    tables["contents"].append(_content(resume))
    tables["documents"].append({
        "audit_id": AUDIT, "document_id": document, "applicant_id": who, "job": job,
        "document_format": "text", "content_key": key(resume), "contrast": None, "version": None,
    })  # fmt: skip
    tables["requests"].append({
        "audit_id": AUDIT, "request_id": request, "document_id": document, "applicant_id": who,
        "job": job, "model": MODEL, "replicate": 0, "content_key": key(resume),
        "prompt_key": key(posting), "call_key": call, "contrast": None, "version": None,
    })  # fmt: skip
    ok = outcome == "ok"
    tables["replies"].append({
        "call_key": call, "model": MODEL, "model_version": "v1",
        "transport": "answered" if ok else "refused", "reply": f"{score}" if ok else None,
        "finish_reason": None, "error": None, "attempts": 1, "latency_ms": 2.0, "tokens_in": None,
        "tokens_out": None, "cost_usd": 0.0, "cost_max_usd": 0.0, "asked_at": WHEN, "wave_id": "w1",
        "retry": None, "p_yes": None, "expected_score": None, "provider_id": None,
    })  # fmt: skip
    tables["scores"].append({
        "audit_id": AUDIT, "request_id": request, "document_id": document, "applicant_id": who,
        "job": job, "document_format": "text", "model": MODEL, "replicate": 0, "call_key": call,
        "parser": "number/2", "outcome": outcome, "reason": None if ok else "refused",
        "score": Decimal(f"{score:.4f}") if ok else None, "reply_wave": "w1",
        "contrast": None, "version": None,
    })  # fmt: skip


def all_tables() -> dict[str, list[dict[str, Any]]]:
    told = estimates() + comparisons()
    results = {"estimates": told, "overlap": overlap(), "patterns": patterns()}
    results["diagnostics"] = diagnostics()
    return people() | typicality() | results | {"population_fit": population_fit()}


def fill(warehouse: Any) -> None:
    """Write the audit into an empty warehouse (`fairscreen.tables.Warehouse`)."""

    def write(name: str, rows: list[dict[str, Any]]) -> None:
        schema = warehouse.schema(name)
        values = [tuple(row[c] for c in schema.names) for row in rows]
        frame = warehouse.spark.createDataFrame(values, schema).coalesce(1)
        warehouse.append(name, frame, transaction=f"small/{name}")

    with TemporaryDirectory() as folder:
        tables = all_tables() | {"corpus_resume": small_corpus.table_rows(Path(folder))}
    with ThreadPoolExecutor(4) as pool:  # ten small tables one after the other take half a minute
        list(pool.map(write, tables, tables.values()))
