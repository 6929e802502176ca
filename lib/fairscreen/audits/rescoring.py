"""Counterfactual rescoring of an audit: scores of versions to effects, agreement and placebos.

A case has an applicant where every version that it needs has a score. Spark groups them to cells
of equal scores and weight, numpy estimates each case in a grouped pandas UDF (`estimators/
rescoring.py`). The weight is that of the observational estimate: the population's Z.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import reduce
from typing import Any

import numpy as np
import pandas as pd
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf

from fairscreen.audits.cells import CASE, POOLED, Case, case_index, cases
from fairscreen.audits.influence import VALUES
from fairscreen.config import Config
from fairscreen.estimators.joint import FROM_PRIMARY, PRIMARY
from fairscreen.estimators.rescoring import (
    PLACEBO_NAME,
    PLACEBO_REPEAT,
    VERSIONS,
    Rescored,
    agreement,
    moments,
    placebo,
    rescored_effects,
)
from fairscreen.estimators.results import CONTRASTS, EFFECTS, FUNCTIONALS
from fairscreen.scoring.screeners import KINDS

PLACEBOS = (PLACEBO_REPEAT, PLACEBO_NAME)
# Version behind each functional.
_BEHIND = dict(zip(FUNCTIONALS, ("x1", "x0", "x1_w_x0", "b_x0_r_x1", "b_x1_r_x0"), strict=True))
_ANSWER = "case INT, payload STRING"
_PLACEBO_KEY = ("model", "document_format", "slice", "version")


@dataclass(frozen=True)
class Measured:
    """What rescoring says, by `Case.index`; `missing` and `placebos` by their own columns.

    results   effects, covariance, theta, n, sum_w
    missing   model, document_format, contrast, gender, race; applicants, incomplete, and how many
              lack the score of each version
    placebos  model, document_format, slice, version and the fields of `Placebo`
    """

    results: dict[int, dict[str, Any]]
    missing: pd.DataFrame
    placebos: list[dict[str, Any]]


def told(cfg: Config, case: Case) -> bool:
    """Whether X itself is shown (a photo) or told (a simulated screener): then E_W has a version
    of its own, else it is that of E_0."""
    return case.photo or case.model in _told_models(cfg)


def _told_models(cfg: Config) -> list[str]:
    return [m for m, s in cfg.scoring.models.items() if KINDS[s.kind].sends == "applicant"]


def answered(applicants: DataFrame, scores: DataFrame, cfg: Config) -> DataFrame:
    """One row per model, format, contrast and applicant: gender, race, job, w, the scores of the
    versions (VERSIONS, null = none), `complete`. Where X is not told, x1_w_x0 is x0."""
    contrasts, jobs = cfg.estimation.contrasts, cfg.population.jobs
    scored = [
        sf.max(sf.when((sf.col("version") == v) & (sf.col("outcome") == "ok"), sf.col("score")))
        for v in VERSIONS
    ]
    rows = (
        scores.where(sf.col("version").isin(*VERSIONS))
        .where(sf.col("model").isin(*cfg.scoring.models))
        .where(sf.col("document_format").isin(*cfg.documents.formats))
        .where(sf.col("contrast").isin(*contrasts))
        .groupBy("model", "document_format", "contrast", "applicant_id")
        .agg(*(s.alias(v) for s, v in zip(scored, VERSIONS, strict=True)))
    )
    is_told = sf.col("document_format").contains("photo")
    for model in _told_models(cfg):
        is_told = is_told | (sf.col("model") == model)
    rows = rows.withColumn("x1_w_x0", sf.when(is_told, sf.col("x1_w_x0")).otherwise(sf.col("x0")))
    there = reduce(Column.__and__, (sf.col(v).isNotNull() for v in VERSIONS))
    weight = sf.create_map(
        *(c for k, v in contrasts.items() for c in (sf.lit(k), sf.col(f"z_weight_{v.attribute}")))
    )
    people = applicants.where(sf.col("job").isin(*jobs)).select(
        "applicant_id", "job", "gender", "race", weight.alias("weights")
    )
    rows = rows.join(people, "applicant_id").withColumn("complete", there)
    return rows.withColumn("w", sf.col("weights")[sf.col("contrast")]).drop("weights")


def by_case(answered_rows: DataFrame, cfg: Config) -> DataFrame:
    """Complete applicants of weight above 0, once for each case that they belong to."""
    slices = [sf.concat(sf.lit("job="), sf.col("job"))]
    if len(cfg.population.jobs) > 1:
        slices.append(sf.lit(POOLED))
    rows = answered_rows.where("complete AND w > 0")
    rows = rows.withColumn("slice", sf.explode(sf.array(*slices)))
    rows = rows.withColumn("case", case_index(cfg))
    return rows.select(*CASE, "applicant_id", "w", *VERSIONS)


def psi(case_rows: DataFrame) -> DataFrame:
    """case, slice, applicant_id, w and VALUES: the effects of each applicant's own scores."""
    scored = {f: sf.col(v).cast("double") for f, v in _BEHIND.items()}
    values = []
    for name, column in zip(PRIMARY, VALUES, strict=True):
        factors = CONTRASTS[EFFECTS.index(name)]
        terms = [
            scored[f] * float(k) for f, k in zip(FUNCTIONALS, factors, strict=True) if k
        ]  # fmt: skip
        values.append(reduce(Column.__add__, terms).alias(column))
    return case_rows.select("case", "slice", "applicant_id", "w", *values)


def measure(answered_rows: DataFrame, scores: DataFrame, cfg: Config) -> Measured:
    """Effects of every case, who is left out, and the placebos."""
    return Measured(
        _effects(by_case(answered_rows, cfg), cfg),
        _missing(answered_rows),
        _placebos(scores, cfg),
    )


def _effects(case_rows: DataFrame, cfg: Config) -> dict[int, dict[str, Any]]:
    known = {case.index: told(cfg, case) for case in cases(cfg)}
    level, seed = cfg.estimation.level, cfg.seed
    cells = case_rows.groupBy("case", "w", *VERSIONS).agg(sf.count("*").alias("n"))
    cells = cells.select(
        "case", "n", *(sf.col(c).cast("double").alias(c) for c in ("w", *VERSIONS))
    )

    def one_case(frame: pd.DataFrame) -> pd.DataFrame:
        case = int(frame["case"].iloc[0])
        frame = frame.sort_values(["w", *VERSIONS], kind="stable")
        shown = VERSIONS if known[case] else VERSIONS[:4]
        data = Rescored(
            frame[list(shown)].to_numpy(np.float64), frame["n"].to_numpy(np.int64),
            frame["w"].to_numpy(np.float64),
        )  # fmt: skip
        theta, covariance, _ = moments(data.psi, data.n, data.w, None)
        found = rescored_effects(data, level=level, seed=f"{seed}/{case}")
        return _answer(case, {
            "effects": [asdict(e) for e in found.values()],
            "theta": theta.tolist(), "covariance": covariance.tolist(),
            "n": int(data.n.sum()), "sum_w": float(data.n @ data.w),
        })  # fmt: skip

    return dict(_by_case(cells, one_case, len(known)))


def agreements(
    observed: DataFrame, rescored: DataFrame, computable: Mapping[int, Sequence[str]], cfg: Config
) -> dict[int, dict[str, Any]]:
    """`Agreement` of every case, by Case.index: of all effects, and `wald` of the primary ones.

    observed, rescored: case, applicant_id, w, VALUES, as `influence.phi` and `psi` give them;
    those who are in both are compared. computable: effects that the observational estimate has.
    """
    names = {case: tuple(found) for case, found in computable.items() if found}
    if not names:
        return {}
    theirs = rescored.select("case", "applicant_id", *(sf.col(v).alias(f"r{v}") for v in VALUES))
    keys = ("w", *VALUES, *(f"r{v}" for v in VALUES))
    both = observed.where(sf.col("case").isin(*names)).join(theirs, ["case", "applicant_id"])
    both = both.withColumn("w", sf.col("w").cast("double"))
    cells = both.groupBy("case", *keys).agg(sf.count("*").alias("n"))

    def one_case(frame: pd.DataFrame) -> pd.DataFrame:
        case = int(frame["case"].iloc[0])
        frame = frame.sort_values(list(keys), kind="stable")
        phi, psi = (
            frame[[p + v for v in VALUES]].to_numpy(np.float64) @ FROM_PRIMARY.T for p in ("", "r")
        )
        n, w = frame["n"].to_numpy(np.int64), frame["w"].to_numpy(np.float64)

        def of(effects: tuple[str, ...]) -> dict[str, Any]:
            at = [EFFECTS.index(e) for e in effects]
            return asdict(agreement(phi=phi[:, at], psi=psi[:, at], n=n, w=w, names=effects))

        primary = tuple(e for e in PRIMARY if e in names[case])
        wald = of(primary) | {"names": primary} if primary else None
        return _answer(case, of(names[case]) | {"wald": wald})

    return dict(_by_case(cells, one_case, len(cases(cfg))))


def _missing(answered_rows: DataFrame) -> pd.DataFrame:
    keys = ["model", "document_format", "contrast", "gender", "race"]
    lacking = [sf.count_if(sf.col(v).isNull()).alias(v) for v in VERSIONS]
    incomplete = sf.count_if(~sf.col("complete")).alias("incomplete")
    counted = answered_rows.groupBy(*keys).agg(
        sf.count("*").alias("applicants"), incomplete, *lacking
    )
    found: pd.DataFrame = counted.toPandas()
    return found.sort_values(keys, ignore_index=True)


def _placebos(scores: DataFrame, cfg: Config) -> list[dict[str, Any]]:
    def score(of: Column) -> Column:
        return sf.max(sf.when(of & (sf.col("outcome") == "ok"), sf.col("score")))

    version = sf.col("version")
    rows = (
        scores.where(version.isNull() | version.isin(*PLACEBOS))
        .where(sf.col("model").isin(*cfg.scoring.models))
        .where(sf.col("document_format").isin(*cfg.documents.formats))
        .groupBy("model", "document_format", "job", "applicant_id")
        .agg(score(version.isNull()).alias("first"), *(score(version == p).alias(p)
                                                       for p in PLACEBOS))
    )  # fmt: skip
    slices = [sf.concat(sf.lit("job="), sf.col("job"))]
    if len(cfg.population.jobs) > 1:
        slices.append(sf.lit(POOLED))
    pairs = sf.array(
        *(sf.struct(sf.lit(p).alias("version"), sf.col(p).alias("second")) for p in PLACEBOS)
    )
    rows = rows.withColumn("slice", sf.explode(sf.array(*slices)))
    rows = rows.withColumn("pair", sf.explode(pairs)).select("*", "pair.*")
    cells = (
        rows.where("first IS NOT NULL AND second IS NOT NULL")
        .groupBy(*_PLACEBO_KEY, "first", "second")
        .agg(sf.count("*").alias("n"))
        .withColumns({c: sf.col(c).cast("double") for c in ("first", "second")})
    )
    level, seed = cfg.estimation.level, cfg.seed

    def one(frame: pd.DataFrame) -> pd.DataFrame:
        key = {name: str(frame[name].iloc[0]) for name in _PLACEBO_KEY}
        frame = frame.sort_values(["first", "second"], kind="stable")
        first, second = (frame[c].to_numpy(np.float64) for c in ("first", "second"))
        where = "/".join(key.values())
        found = placebo(
            first, second, frame["n"].to_numpy(np.int64), level=level, seed=f"{seed}/{where}"
        )
        return _answer(0, key | asdict(found))

    answers = cells.groupBy(*_PLACEBO_KEY).applyInPandas(one, _ANSWER).collect()
    listed = [json.loads(row["payload"]) for row in answers]
    return sorted(listed, key=lambda row: [row[name] for name in _PLACEBO_KEY])


def _by_case(
    cells: DataFrame, work: Callable[[pd.DataFrame], pd.DataFrame], slots: int
) -> list[tuple[int, dict[str, Any]]]:
    """`work` on the cells of each case; one slot per case, else small groups share one task."""
    placed = cells.withColumn("slot", sf.col("case")).repartitionById(slots, "slot")
    answers = placed.groupBy("slot", "case").applyInPandas(work, _ANSWER).collect()
    return [(int(row["case"]), json.loads(row["payload"])) for row in answers]


def _answer(case: int, payload: Mapping[str, Any]) -> pd.DataFrame:
    text = json.dumps(payload, allow_nan=False)
    return pd.DataFrame({"case": np.array([case], dtype=np.int32), "payload": [text]})
