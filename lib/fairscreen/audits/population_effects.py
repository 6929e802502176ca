"""Effects in the population that the applicants stand for, with the error of the survey's design.

Beside the headline, whose effects are those of the applicants as they are. Weights: a surveyed
person weighs his PWGTP; a draw, which was made by PWGTP, and an applicant of a balanced design,
with his design weight, weigh what makes their job's weights sum to its workforce. Nuisances are
fitted anew under these weights (survey weights may depend on anything).

The design-based error takes every replicate weight: an applicant weighs w_r / w of what he
weighed, normalisers are recomputed, nuisances are kept, and the spread is that of successive
differences (`estimators/replicates.py`). It holds the sampling of draws as well: it is the total.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf

from fairscreen.audits import path_rows
from fairscreen.audits.cells import Case, asked, cases
from fairscreen.audits.coding import code_lists
from fairscreen.audits.estimated import effects_of, estimated
from fairscreen.audits.influence import VALUES
from fairscreen.audits.path_rows import Context
from fairscreen.config import Config
from fairscreen.estimators.data import totals
from fairscreen.estimators.joint import FROM_PRIMARY
from fairscreen.estimators.replicates import DesignBased, ReplicateSums, design_based
from fairscreen.estimators.results import EFFECTS
from fairscreen.population.behind import Behind
from fairscreen.population.survey import REPLICATES

METHOD = "eif_population"
REPLICATED = "replicate_weights"
NO_SURVEY = (
    "applicants of population.mode balanced are drawn from a model of the survey: no surveyed "
    "person, and no replicate weight, stands behind one"
)
TOO_MANY = "the cells are too many to compare applicant by applicant"
# Surveyed people are summed in so many parts, by a hash of the person: each part fits a worker,
# and what is summed in which order does not depend on the partitions.
_PARTS = 8
_SUMS = "part INT, case INT, applicants BIGINT, weight ARRAY<DOUBLE>, value ARRAY<DOUBLE>"


@dataclass(frozen=True)
class PopulationEffects:
    """Rows of the tables of the same names, and notes for the report."""

    estimates: list[dict[str, Any]]
    overlap: list[dict[str, Any]]
    notes: list[str]


def run(
    applicants: DataFrame,
    scores: DataFrame,
    survey: Behind,
    cfg: Config,
    *,
    config_hash: str,
    input_versions: Mapping[str, int],
) -> PopulationEffects:
    """Rows for every case; outside every family of tests."""
    people = weighted(applicants, survey.workforce, cfg)
    rows = asked(people, scores, None, cfg, code_lists(people, cfg))
    replicated = cfg.population.mode != "balanced"
    found = estimated(rows, cfg, influence=replicated)
    context = Context(cfg, config_hash, json.dumps(dict(input_versions), sort_keys=True))
    sums: dict[int, Summed] = {}
    if replicated and found.phi is not None and None in survey.lacking.values():
        sums = replicate_sums(found.phi, applicants, survey)
    estimates = []
    for case in cases(cfg):
        result = found.results.get(case.index)
        why = unreplicated(case, survey, cfg)
        estimates += effect_rows(context, case, result, sums.get(case.index), why)
    overlap = path_rows.overlap(context, found.results, METHOD)
    return PopulationEffects(estimates, overlap, [note(cfg, survey)])


def weighted(applicants: DataFrame, workforce: Mapping[str, int], cfg: Config) -> DataFrame:
    """The applicants with what each weighs in the population in place of their z_weights.

    Weights are positive multiples of people; those of a job sum to its workforce.
    """
    base = {
        "surveyed": sf.col("survey_weight").cast("decimal(18,6)"),
        "draws": sf.lit(1).cast("decimal(18,6)"),
        "balanced": sf.col("design_weight"),
    }[cfg.population.mode]
    jobs = list(cfg.population.jobs)
    mine = applicants.where(sf.col("job").isin(*jobs)).withColumn("base", base)
    totals = mine.groupBy("job").agg(sf.sum("base").alias("base"), sf.count("*").alias("n"))
    counted = {r["job"]: (Decimal(r["base"]), int(r["n"])) for r in totals.collect()}
    per_head = sum(workforce[job] for job in counted) / sum(n for _, n in counted.values())
    factors = [
        part
        for job, (total, _) in sorted(counted.items())
        for part in (
            sf.lit(job),
            sf.lit(workforce[job] / float(total) / per_head if total else 0.0),
        )
    ]
    weight = sf.col("base").cast("double") * sf.create_map(*factors)[sf.col("job")]
    names = [name for name in applicants.columns if name.startswith("z_weight_")]
    return mine.withColumns(dict.fromkeys(names, weight)).drop("base")


@dataclass(frozen=True, eq=False)
class Summed:
    """Sums of one case over its applicants; `applicants`: how many have replicate weights."""

    sums: ReplicateSums
    applicants: int


def replicate_sums(phi: DataFrame, applicants: DataFrame, survey: Behind) -> dict[int, Summed]:
    """Sums of phi (EFFECTS) under the weight and its replicates, by Case.index.

    phi: case, applicant_id, w, VALUES, as `influence.phi` gives them.
    """
    keys = applicants.select("applicant_id", "person_key")
    theirs = phi.select("case", "applicant_id", "w", *VALUES).join(keys, "applicant_id")
    behind = survey.people.where("replicate_weights IS NOT NULL AND pwgtp > 0")
    behind = behind.select("person_key", "pwgtp", "replicate_weights")
    left, right = (
        frame.withColumn("part", _part(sf.col("person_key"))) for frame in (theirs, behind)
    )
    grouped = left.groupBy("part").cogroup(right.groupBy("part"))
    answers = grouped.applyInPandas(_sums_of_part, _SUMS).toPandas()
    found: dict[int, Summed] = {}
    answers = answers.sort_values(["case", "part"])
    columns = (answers[c].tolist() for c in ("case", "applicants", "weight", "value"))
    for case, people, weight, flat in zip(*columns, strict=True):
        value = np.asarray(flat).reshape(1 + REPLICATES, len(EFFECTS))
        more = Summed(ReplicateSums(np.asarray(weight), value), people)
        if (had := found.get(case)) is not None:
            more = Summed(had.sums + more.sums, had.applicants + more.applicants)
        found[case] = more
    return found


def _part(person: Column) -> Column:
    return sf.pmod(sf.xxhash64(person), sf.lit(_PARTS)).cast("int")


def _sums_of_part(theirs: pd.DataFrame, behind: pd.DataFrame) -> pd.DataFrame:
    """Rows of _SUMS, one per case: sums over one part of the surveyed people."""
    behind = behind.drop_duplicates("person_key").sort_values("person_key", ignore_index=True)
    place = pd.Index(behind["person_key"])
    theirs = theirs.sort_values(["case", "person_key", "applicant_id"], ignore_index=True)
    theirs = theirs.assign(at=place.get_indexer(theirs["person_key"]))
    theirs = theirs[theirs["at"] >= 0]
    found: dict[str, list[Any]] = defaultdict(list)
    for _, mine in theirs.groupby("case", sort=True):
        # All draws of a person have his ratios: what is held is bounded by the survey, not by N.
        people, at = np.unique(mine["at"].to_numpy(np.int64), return_inverse=True)
        ratio = np.stack(behind["replicate_weights"].iloc[people].to_list()).astype(np.float64)
        ratio /= behind["pwgtp"].to_numpy(np.float64)[people, None]
        w = mine["w"].to_numpy(np.float64)
        phi = mine[list(VALUES)].to_numpy(np.float64) @ FROM_PRIMARY.T
        weight = totals(at, w, len(people))
        mean = np.stack([totals(at, w * v, len(people)) / weight for v in phi.T], axis=1)
        sums = ReplicateSums.of(phi=mean, w=weight, replicates=weight[:, None] * ratio)
        found["part"].append(int(mine["part"].iloc[0]))
        found["case"].append(int(mine["case"].iloc[0]))
        found["applicants"].append(len(mine))
        found["weight"].append(sums.weight)
        found["value"].append(sums.value.ravel())
    columns = ("part", "case", "applicants", "weight", "value")
    return pd.DataFrame({name: found[name] for name in columns})


def unreplicated(case: Case, survey: Behind, cfg: Config) -> str | None:
    """Why a case has no replicate weights, or None."""
    if cfg.population.mode == "balanced":
        return NO_SURVEY
    jobs = cfg.population.jobs if case.pooled else [case.slice.removeprefix("job=")]
    reasons = dict.fromkeys(why for job in jobs if (why := survey.lacking.get(job)))
    return "; ".join(reasons) or None


def effect_rows(
    context: Context, case: Case, result: Mapping[str, Any] | None, summed: Summed | None,
    why: str | None,
) -> list[dict[str, Any]]:  # fmt: skip
    """Five rows with the error of the influence function, five with that of the design.

    why: the reason that there are no replicate weights.
    """
    effects = effects_of(result)
    rows = [_row(context, case, METHOD, effect, ", in the population") for effect in effects]
    if why is None and (summed is None or summed.applicants != effects[0]["n"]):
        have = summed.applicants if summed else 0
        why = TOO_MANY if summed is None else (
            f"replicate weights are known of {have:,} of {effects[0]['n']:,} applicants"
        )  # fmt: skip
    designed: Sequence[DesignBased | None] = [None] * len(EFFECTS)
    if why is None and summed is not None:
        designed = design_based(summed.sums, level=context.cfg.estimation.level)
    said = ", in the population; total error, of survey and draws, by replicate weights"
    for effect, mine in zip(effects, designed, strict=True):
        rows.append(_row(context, case, REPLICATED, _designed(effect, mine, why), said))
    return rows


def _designed(
    effect: Mapping[str, Any], mine: DesignBased | None, why: str | None
) -> dict[str, Any]:
    """The effect with its design-based error; where either has no number, with the reason."""
    if effect["status"] == "not_computable":
        return dict(effect)
    reason = why or (mine and mine.reason)
    if mine is None or reason:
        return {"estimand": effect["estimand"], "n": effect["n"], "status": "not_computable",
                "reason": reason}  # fmt: skip
    numbers = {k: v for k, v in asdict(mine).items() if k != "reason"}
    return {**effect, **numbers, "estimate": effect["estimate"]}


def _row(
    context: Context, case: Case, method: str, effect: Mapping[str, Any], said: str
) -> dict[str, Any]:
    row = context.row(case, "path_specific", method=method, **effect)
    return row | {"title": row["title"] + said}


def note(cfg: Config, survey: Behind) -> str:
    """Whom the weights stand for, and what the design-based error holds."""
    people = {
        "surveyed": "surveyed people weigh their PWGTP",
        "draws": "draws stand for equal parts of their job's workforce",
        "balanced": "applicants weigh their design weight, scaled to their job's workforce",
    }[cfg.population.mode]
    total = sum(survey.workforce.get(job, 0) for job in cfg.population.jobs)
    text = (
        f"Population effects (method {METHOD}): {people}, {total:,} people over all jobs. "
        "Pooled, a job counts as many people as it has."
    )
    if cfg.population.mode == "balanced":
        return f"{text} Method {REPLICATED}: {NO_SURVEY}."
    return (
        f"{text} Method {REPLICATED} holds the sampling of people and of draws: take its error "
        f"instead of that of {METHOD}, never both. Errors of the PSID and of the name tables are "
        "in neither."
    )
