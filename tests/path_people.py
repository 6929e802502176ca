"""A small made-up job for the estimator in Spark: applicants, scores, config, the direct call."""

from __future__ import annotations

import json
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import numpy as np

from fairscreen import resources
from fairscreen.audits import path_specific
from fairscreen.audits.answers import case_data
from fairscreen.audits.cells import asked, cells
from fairscreen.audits.coding import code_lists, ungrouped
from fairscreen.config import Config, load
from fairscreen.estimators.path_specific import path_effects

N = 600


def config(*more: str) -> Config:
    """One job, one model, one contrast, the default learner, mediators with numbers."""
    return load(resources.path("conf", "audits", "demo.yml"), [
        "population.jobs={accountants: {title: Accountant, occp: ['0800'], psid_occp: ['0800']}}",
        "scoring.models={m: {kind: planted}}",
        "estimation.contrasts={male_vs_female: {attribute: gender, x1: [male], x0: [female],"
        " x1_label: men, x0_label: women}}",
        "estimation.repeats=1",
        "estimation.bootstrap_draws=20",
        "estimation.roles.ungrouped.redlining=[first_name_p_female, region]",
        "estimation.roles.ungrouped.business=[edu_level]",
        "estimation.overlap.min_effective_n=5",
        "estimation.overlap.max_unit_share=0.5",
        "estimation.overlap.max_clipped_share=0.5",
        *more,
    ])  # fmt: skip


def tables(
    spark: Any, models: Sequence[str] = ("m",), complete: Sequence[str] = ()
) -> tuple[Any, Any]:
    """Applicants and their scores; men are answered less often, but for the `complete` models."""
    rng = np.random.default_rng(3)
    people, answers = [], []
    for i in range(N):
        male = i % 2
        name = float(rng.beta(2, 3) if male else rng.beta(3, 2))
        master, region = rng.random() < 0.3 + 0.2 * male, str(rng.choice(["south", "west"]))
        key = f"p{i:04d}"
        score = 50 + 2 * male - 5 * name + 4 * master + rng.normal(0, 3)
        people.append((
            key, key, "accountants", "male" if male else "female",
            str(rng.choice(["white", "black"])), int(rng.integers(18, 45)), name, region,
            "master" if master else "bachelor", Decimal(1), Decimal(int(rng.integers(3, 6))) / 4,
        ))  # fmt: skip
        answered = rng.random() < 0.98 - 0.15 * male
        for k, model in enumerate(models):
            ok = answered or model in complete
            value = Decimal(f"{score + k * (male + 2 * master):.4f}") if ok else None
            answers.append((key, "text", model, "ok" if ok else "refused", value))
    applicants = spark.createDataFrame(
        people,
        "applicant_id STRING, person_key STRING, job STRING, gender STRING, race STRING, age INT, "
        "first_name_p_female DOUBLE, region STRING, edu_level STRING, "
        "design_weight DECIMAL(18,6), z_weight_gender DECIMAL(18,6)",
    )
    scores = spark.createDataFrame(
        answers,
        "applicant_id STRING, document_format STRING, model STRING, outcome STRING, "
        "score DECIMAL(9,4)",
    )
    return applicants, scores.selectExpr("*", "string(NULL) AS version")


def cell_rows(applicants: Any, scores: Any, cfg: Config) -> Any:
    """Cells of the only case, with numbers beside bins."""
    how = ungrouped(cfg)
    return cells(asked(applicants, scores, None, cfg, code_lists(applicants, cfg, how), how))


def by_udf(rows: Any, cfg: Config) -> dict[str, Any]:
    """The payload of the only case."""
    (payload,) = payloads(rows, cfg, None)
    return payload


def payloads(rows: Any, cfg: Config, propensity: Any) -> list[dict[str, Any]]:
    """The payloads of all cases, in their order."""
    found = path_specific.estimate(rows, cfg, propensity=propensity).toPandas()
    found = found[found["kind"] == "effects"].sort_values("case")
    return [json.loads(payload) for payload in found["payload"]]


def directly(rows: Any, cfg: Config, case: int = 0) -> dict[str, Any]:
    """The estimator called here, on the same cells."""
    frame = rows.where(f"case = {case}").toPandas()
    frame = frame.astype(dict.fromkeys(("w", "sum_y", "sum_yy"), float))
    found = case_data(frame, weighted=cfg.estimation.missing == "weighted")
    assert found is not None
    result = path_effects(found.data, path_specific.path_options(cfg))
    return {"result": result, "answers": found.answers, "n": int(found.data.n.sum())}


def furthest(payload: dict[str, Any], direct: dict[str, Any]) -> float:
    """The largest difference of a number of the two, over effects, intervals and covariance."""
    result, gaps = direct["result"], []
    for kind in ("effects", "bootstrap"):
        for effect in payload[kind]:
            other = getattr(result, kind)[effect["estimand"]]
            for name in ("estimate", "std_error", "ci_low", "ci_high", "p_value"):
                gaps.append(abs(effect[name] - getattr(other, name)))
    gaps += list(np.abs(np.array(payload["covariance"]) - result.covariance).ravel())
    return float(max(gaps))
