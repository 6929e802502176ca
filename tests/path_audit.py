"""A made-up audit of two jobs, three models and one contrast, and its estimator without Spark."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd

from fairscreen.config import Config
from fairscreen.estimators.data import PathData, assign_folds

JOBS = ("registered_nurses", "accountants")
OVERRIDES = [
    "population.jobs={registered_nurses: {title: Nurse, occp: ['3255'], psid_occp: ['3255']},"
    " accountants: {title: Accountant, occp: ['0800'], psid_occp: ['0800']}}",
    "scoring.models={a: {kind: planted}, b: {kind: planted}, silent: {kind: planted}}",
    "estimation.contrasts={male_vs_female: {attribute: gender, x1: [male], x0: [female],"
    " x1_label: men, x0_label: women}}",
    "estimation.repeats=2",
    "estimation.learner=saturated",
    "estimation.bootstrap_draws=50",
    "estimation.roles.redlining=[first_name_gender, region]",
    "estimation.roles.business=[edu_group, exp_year]",
    "estimation.roles.bins={age: [30], exp_year: [5]}",
    "estimation.overlap.min_effective_n=5",
    "estimation.overlap.max_unit_share=0.5",
    "estimation.overlap.max_clipped_share=0.5",
]


def made_people() -> pd.DataFrame:
    """Two jobs with 150 applicants each; names, region, education, experience follow gender."""
    rng = np.random.default_rng(11)
    n = 300
    gender = np.array(["female", "male"])[np.arange(n) % 2]
    male = gender == "male"
    typical = np.where(male, "male", "female")
    named = np.where(rng.random(n) < 0.5, typical, rng.choice(["female", "male", "neutral"], n))
    return pd.DataFrame(
        {
            "applicant_id": [f"p{i:04d}" for i in range(n)],
            "person_key": [f"p{i // 2:04d}" for i in range(n)],  # two draws of one person
            "job": np.array(JOBS)[(np.arange(n) // 2) % 2],
            "gender": gender,
            "race": rng.choice(["white", "black", "asian_pacific"], n, p=[0.5, 0.3, 0.2]),
            "age": rng.integers(18, 45, n),
            "region": rng.choice(["south", "west"], n),
            "first_name_gender": named,
            "edu_group": np.where(rng.random(n) < 0.4 + 0.2 * male, "high", "low"),
            "exp_year": np.round(rng.gamma(3, 2 + male) * 12) / 12,
            # The first two stand for nobody in the population; both have a z_weight.
            "design_weight": [
                Decimal(v if i > 1 else 0) / 8
                for i, v in enumerate(rng.integers(4, 13, n).tolist())
            ],
            "z_weight_gender": [Decimal(v) / 4 for v in rng.integers(3, 6, n).tolist()],
            "z_weight_race": [Decimal(1)] * n,
        }
    )


def made_answers(people: pd.DataFrame) -> pd.DataFrame:
    """Scores of two models, two replicates each; four requests of model a have no score."""
    rng = np.random.default_rng(12)
    base = (
        50
        + 4 * (people["edu_group"] == "high")
        + 3 * (people["first_name_gender"] == "male")
        + people["exp_year"].clip(upper=10)
    )
    rows = []
    for model, tilt in (("a", 0.0), ("b", 2.0)):
        for replicate in (0, 1):
            value = base + tilt * (people["gender"] == "male") + rng.normal(0, 3, len(people))
            for i, (key, v) in enumerate(zip(people["applicant_id"], value, strict=True)):
                lost = model == "a" and (i in (4, 6) or (i == 8 and replicate == 1))
                score = None if lost else Decimal(f"{v:.4f}")
                outcome = "refused" if lost else "ok"
                rows.append((key, "text", model, replicate, outcome, score))
    columns = ["applicant_id", "document_format", "model", "replicate", "outcome", "score"]
    return pd.DataFrame(rows, columns=columns)


def made_tables(spark: Any, people: pd.DataFrame, answers: pd.DataFrame) -> tuple[Any, Any]:
    """Tables `applicants` and `scores`."""
    schema = "applicant_id STRING, document_format STRING, model STRING, replicate INT, "
    schema += "outcome STRING, score DECIMAL(9,4), version STRING"
    exact = ["design_weight", "z_weight_gender", "z_weight_race"]
    frame = spark.createDataFrame(people.astype(dict.fromkeys(exact, str)))
    for column in exact:
        frame = frame.withColumn(column, frame[column].cast("decimal(18,6)"))
    own = answers.assign(version=None)
    # Asked about as somebody else: nothing of the observational estimate may read these.
    other = own.assign(version="x1", outcome="ok", score=Decimal("99.0000"))
    return frame, spark.createDataFrame(pd.concat([own, other]).to_dict("records"), schema)


def averaged(answers: pd.DataFrame, model: str) -> pd.Series:
    """Exact mean of an applicant's scores, half up at eight digits."""
    mine = answers[(answers["model"] == model) & (answers["outcome"] == "ok")]
    return mine.groupby("applicant_id")["score"].agg(lambda s: float(round(sum(s) / len(s), 8)))


def answered(
    people: pd.DataFrame, answers: pd.DataFrame, model: str, job: str | None
) -> pd.DataFrame:
    """The people, by applicant_id, who have a score y; of one job or of all."""
    frame = people.set_index("applicant_id").join(averaged(answers, model).rename("y"), how="inner")
    return frame[frame["job"] == job] if job else frame


def person_rows(
    people: pd.DataFrame, answers: pd.DataFrame, cfg: Config, model: str, job: str | None, *,
    weight: str = "z_weight_gender", cells: bool = True,
) -> PathData:  # fmt: skip
    """PathData of gender straight from the rows, without Spark and with codes of its own."""
    frame = answered(people, answers, model, job)
    text = [frame["race"], (frame["age"] >= 30).astype(str)]
    text = text if job else [frame["job"].map({j: i for i, j in enumerate(JOBS)}), *text]

    def codes(columns):
        return np.stack([pd.factorize(c, sort=True)[0] for c in columns], axis=1)

    options = cfg.estimation
    return PathData.from_rows(
        x=(frame["gender"] == "male").astype(int).to_numpy(),
        z=codes(text),
        r=codes([frame["first_name_gender"], frame["region"]]),
        b=codes([frame["edu_group"], (frame["exp_year"] >= 5).astype(str)]),
        y=frame["y"].to_numpy(),
        fold=assign_folds(cfg.seed, list(frame["person_key"]), options.folds, options.repeats),
        w=frame[weight].astype(float).to_numpy(),
        cells=cells,
    )
