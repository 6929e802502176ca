"""The path-specific design: scores of an audit to effects, overlap diagnostics and patterns.

Spark reduces applicants to cells (`cells.py`), each case is estimated by numpy in a grouped pandas
UDF, and what needs all cases at once (families of tests, patterns) runs on the few rows that come
back (`path_rows.py`).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pyspark.sql import DataFrame
from pyspark.sql import functions as sf

from fairscreen.audits import (
    comparisons,
    diagnostic_rows,
    notes,
    path_rows,
    propensities,
    rescoring,
    rescoring_rows,
)
from fairscreen.audits import influence as influences
from fairscreen.audits.answers import case_data, said
from fairscreen.audits.cells import CASE, asked, cases, cells, histogram
from fairscreen.audits.coding import code_lists
from fairscreen.config import Config
from fairscreen.errors import ConfigError, InputError
from fairscreen.estimators.joint import PRIMARY
from fairscreen.estimators.path_specific import PathOptions, path_effects
from fairscreen.estimators.results import EFFECTS, Effect
from fairscreen.estimators.selection import OutcomeRow, Outcomes, outcome_rows

# Cells whose influence comes back to the driver, over all cases: 56 bytes each.
MAX_INFLUENCE_CELLS = 4_000_000
_RESULT = "case INT, kind STRING, payload STRING, cell BIGINT, a ARRAY<DOUBLE>, c ARRAY<DOUBLE>"
_NUMBERS = NDArray[np.float64]


@dataclass(frozen=True)
class AuditResult:
    """Rows of the tables of the same names, and notes for the report."""

    estimates: list[dict[str, Any]]
    overlap: list[dict[str, Any]]
    patterns: list[dict[str, Any]]
    diagnostics: list[dict[str, Any]]
    notes: list[str]


def path_options(cfg: Config) -> PathOptions:
    """The estimator's options that an audit's config asks for."""
    options, overlap = cfg.estimation, cfg.estimation.overlap
    return PathOptions(
        learner=options.learner,
        propensity=options.propensity,
        clip=overlap.clip,
        min_effective_n=overlap.min_effective_n,
        max_unit_share=overlap.max_unit_share,
        max_clipped_share=overlap.max_clipped_share,
        sensitivity_clips=overlap.sensitivity_clips,
        level=options.level,
        bootstrap_draws=options.bootstrap_draws,
        seed=cfg.seed,
        max_training_cells=options.max_training_cells,
    )


def estimate(
    cell_rows: DataFrame,
    cfg: Config,
    *,
    propensity: DataFrame | None = None,
    influence: bool = True,
) -> DataFrame:
    """Results of every case, long form: (case, kind, payload | cell, a, c).

    propensity: classifiers of these cells (`propensities.rows`), taken where everybody is
    answered; else, and without them, a case fits its own.

    kind `effects`: payload is JSON of effects, bootstrap, overlap and covariance.
    kind `influence`: a person of `cell` with score y has phi = a + c y for NDE, BIE, RIE; left
    out for cases of more cells than the driver should hold, and for all without `influence`.
    """
    options, every = path_options(cfg), cases(cfg)
    limit = MAX_INFLUENCE_CELLS // len(every) if influence else 0
    weighted = cfg.estimation.missing == "weighted"
    contrasts = cfg.estimation.contrasts
    labels = {
        c.index: (contrasts[c.contrast].x1_label, contrasts[c.contrast].x0_label) for c in every
    }
    slots = sf.col("case")  # one slot per case: otherwise small groups are packed into one task
    rows = propensities.joined(cell_rows, propensity).select(
        slots.alias("slot"), "case", "cell", "x", "z", "r", "b", "fold",
        "z_units", "r_units", "b_units", "n", "asked", "p_z", "p_rz", "p_brz",
        *propensities.ARRAYS, "quality",
        *(sf.col(c).cast("double").alias(c) for c in ("w", "sum_y", "sum_yy")),
    )  # fmt: skip

    def one_case(frame: pd.DataFrame) -> pd.DataFrame:
        case = int(frame["case"].iloc[0])
        try:
            found = case_data(frame, weighted=weighted)
            if found is None:
                return _frame(case, "effects", [])
            classifiers = propensities.shared(found.frame) if found.whole else None
            result = path_effects(found.data, options, classifiers)
        except InputError as error:
            raise error.marked() from None
        data = found.data

        def listed(effects: Iterable[Effect]) -> list[dict[str, Any]]:
            return [
                said(asdict(e), found.answers, labels[case], weighted=weighted) for e in effects
            ]

        payload: dict[str, Any] = {
            "effects": listed(result.effects.values()),
            "bootstrap": listed(result.bootstrap.values()),
            "overlap": [asdict(row) for row in result.overlap],
            "diagnostics": [asdict(row) for row in result.diagnostics],
            "covariance": None if result.covariance is None else result.covariance.tolist(),
            "shared": classifiers is not None,
            "cells": len(data),
            "values": data.distinct_values(),
            "n": int(data.n.sum()),
            "sum_w": float((data.w * data.n).sum()),
            "theta": None,
        }
        parts = []
        if result.influence is not None and result.c is not None:
            phi = data.n[:, None] * result.influence + data.sum_y[:, None] * result.c
            theta = (data.w @ phi) / payload["sum_w"]
            payload["theta"] = theta.tolist()
            if len(data) <= limit:
                # A person's weight outside is that of the design: what multiplies it goes in here.
                more = found.weight[:, None]
                keep = [EFFECTS.index(e) for e in PRIMARY]
                part = _frame(case, "influence", [None] * len(data))
                part["cell"] = found.cell
                part["a"] = list((more * (result.influence - theta) + theta)[:, keep])
                part["c"] = list((more * result.c)[:, keep])
                parts.append(part)
        parts.append(_frame(case, "effects", [json.dumps(payload, allow_nan=False)]))
        return pd.concat(parts, ignore_index=True)

    placed = rows.repartitionById(len(every), "slot")
    return placed.groupBy("slot", "case").applyInPandas(one_case, _RESULT)


def outcomes(histogram_rows: DataFrame, cfg: Config) -> DataFrame:
    """Raw gaps and scoring rates of every case: (case, kind, payload), kind `outcome`."""
    count = len(cases(cfg))
    rows = histogram_rows.select(
        sf.col("case").alias("slot"), "case", "x", "n",
        sf.col("y").cast("double").alias("y"),
        sf.col("design_weight").cast("double").alias("w"),
    )  # fmt: skip

    def one_case(frame: pd.DataFrame) -> pd.DataFrame:
        case = int(frame["case"].iloc[0])
        x, y = frame["x"].to_numpy(np.int8), frame["y"].to_numpy(np.float64)
        n, w = frame["n"].to_numpy(np.int64), frame["w"].to_numpy(np.float64)
        try:
            found = outcome_items(x=x, y=y, w=w, n=n, cfg=cfg)
        except ValueError as error:
            raise InputError(f"case {case}", str(error), "Correct applicants.").marked() from None
        listed = [asdict(row) for row in found]
        return _frame(case, "outcome", [json.dumps(listed, allow_nan=False)])

    placed = rows.repartitionById(count, "slot")
    return placed.groupBy("slot", "case").applyInPandas(one_case, _RESULT)


def outcome_items(
    *,
    x: NDArray[np.int8],
    y: _NUMBERS,
    w: _NUMBERS,
    n: NDArray[np.int64],
    cfg: Config,
) -> list[OutcomeRow]:
    """Rows of one case from its histogram; x, y, w (design weight), n (C,), see `Outcomes`.

    Weighted rows leave weight 0 out. The last row, `difference_unweighted`, is the sample as
    drawn: every answered applicant of the two groups, whatever the weight.
    """
    least, level = cfg.estimation.overlap.min_effective_n, cfg.estimation.level
    some = w > 0
    weighted = Outcomes(x[some], y[some], w[some], n[some])
    found = outcome_rows(weighted, level=level, min_group=least)
    drawn = Outcomes(x, y, np.ones(len(x)), n)
    plain = outcome_rows(drawn, level=level, min_group=least)[0]
    if not some.all():  # a group that is empty only because its people have no weight
        told = "empty_group: no answered applicant"
        found = [
            replace(r, reason=r.reason.replace(told, f"{told} of design weight above 0"))
            if r.reason
            else r
            for r in found
        ]
    return [*found, replace(plain, method="difference_unweighted")]


def _frame(case: int, kind: str, payloads: Sequence[str | None]) -> pd.DataFrame:
    empty = [None] * len(payloads)
    return pd.DataFrame(
        {
            "case": np.full(len(payloads), case, dtype=np.int32),
            "kind": kind,
            "payload": pd.Series(list(payloads), dtype=object),
            # Never null: pandas would turn the column into doubles and cut the hashes short.
            "cell": np.zeros(len(payloads), dtype=np.int64),
            "a": pd.Series(empty, dtype=object),
            "c": pd.Series(empty, dtype=object),
        }
    )


def run(
    applicants: DataFrame,
    scores: DataFrame,
    known: DataFrame | None,
    cfg: Config,
    *,
    config_hash: str,
    input_versions: Mapping[str, int],
    propensity: DataFrame | None = None,
) -> AuditResult:
    """Everything that the audit says about effects, from its applicants and scores: by the
    observational estimator, by counterfactual rescoring, or by both (`estimation.approach`).

    propensity: what pass 1 found (`propensities.rows`, grouped); None: every case fits its own.

    Raises ConfigError where known propensities are asked for and there are none.
    """
    if cfg.estimation.propensity == "known" and (known is None or known.limit(1).count() == 0):
        raise ConfigError(
            "estimation.propensity", "known propensities exist only for balanced applicants",
            "Set population.mode: balanced, or estimation.propensity: fitted.",
        )  # fmt: skip
    options = cfg.estimation
    codes = code_lists(applicants, cfg)
    everybody = asked(applicants, scores, known, cfg, codes)
    people = everybody.where(sf.col("y").isNotNull())
    found = outcomes(histogram(people), cfg)
    if options.observes:
        found = found.unionByName(estimate(cells(everybody), cfg, propensity=propensity))
    answers = found.toPandas()
    answers = answers.sort_values(["case", "kind"], kind="stable", ignore_index=True)
    observed = dict(_payloads(answers, "effects"))
    influence = answers[answers["kind"] == "influence"].reset_index(drop=True)
    phi = influences.phi(people, influence) if len(influence) else None
    results, values, inside = observed, phi, set(influence["case"])
    context = path_rows.Context(
        cfg=cfg,
        config_hash=config_hash,
        input_versions=json.dumps(dict(input_versions), sort_keys=True),
    )
    said = [
        notes.margin_note(cfg),
        *notes.weight_notes(weight_counts(applicants, cfg), cfg),
        *notes.training_notes(observed, cfg),
        *notes.sharing_notes(observed, propensity is not None),
        *notes.answer_notes(_answer_counts(applicants, scores, cfg), cfg),
    ]
    rescored: list[dict[str, Any]] = []
    if options.rescores:
        rows = rescoring.answered(applicants, scores, cfg)
        measured = rescoring.measure(rows, scores, cfg)
        results, inside = measured.results, set(measured.results)
        values = rescoring.psi(rescoring.by_case(rows, cfg))
        agreed = {}
        if phi is not None:
            agreed = rescoring.agreements(phi, values, _computable(observed), cfg)
        rescored = rescoring_rows.rows(context, measured, observed, agreed)
        said += rescoring_rows.left_out_notes(measured.missing)
    shared = influences.Shared({}, {})
    if values is not None and len(inside) > 1:
        shared = influences.correlations(values, {k: results[k] for k in inside})
    raw = dict(_payloads(answers, "outcome"))
    left = sorted(set(results) - inside)
    estimates, more = path_rows.estimates(
        context, observed, raw, rescored, results, shared.correlation, left
    )
    compared, told = comparisons.rows(context, results, shared)
    return AuditResult(
        estimates=[*estimates, *compared],
        overlap=path_rows.overlap(context, observed),
        patterns=path_rows.patterns(context, estimates),
        diagnostics=diagnostic_rows.rows(context, observed),
        notes=[*said, *more, *told],
    )


def _computable(observed: Mapping[int, Mapping[str, Any]]) -> dict[int, list[str]]:
    """Effects of each case that the observational estimator has a number for."""
    return {
        case: [e["estimand"] for e in result["effects"] if e["estimate"] is not None]
        for case, result in observed.items()
    }


def _payloads(answers: pd.DataFrame, kind: str) -> Iterator[tuple[int, Any]]:
    part = answers[answers["kind"] == kind]
    for case, payload in zip(part["case"].tolist(), part["payload"].tolist(), strict=True):
        yield int(case), json.loads(payload)


def weight_counts(applicants: DataFrame, cfg: Config) -> dict[str, int]:
    """How many applicants there are, and how many have weight 0, by the name of the weight."""
    people = applicants.where(sf.col("job").isin(*cfg.population.jobs))
    attributes = sorted({c.attribute for c in cfg.estimation.contrasts.values()})
    names = ["design_weight", *(f"z_weight_{a}" for a in attributes)]
    zero = [sf.count(sf.when(sf.col(name) == 0, 1)).alias(name) for name in names]
    row = people.agg(sf.count(sf.lit(1)).alias("applicants"), *zero).collect()[0]
    return {name: int(row[name]) for name in ("applicants", *names)}


def _answer_counts(applicants: DataFrame, scores: DataFrame, cfg: Config) -> pd.DataFrame:
    """Requests of own documents by model, format, gender, race and outcome."""
    people = applicants.select("applicant_id", "gender", "race")
    own = scores.where(sf.col("version").isNull() & sf.col("model").isin(*cfg.scoring.models))
    rows = own.join(people, "applicant_id")
    keys = ["model", "document_format", "gender", "race", "outcome"]
    return rows.groupBy(*keys).agg(sf.count("outcome").alias("count")).toPandas()


__all__ = ["CASE", "AuditResult", "estimate", "outcomes", "path_options", "run"]
