"""Ungrouped mediators: a screener that reads raw names shows no effect beside them."""

from __future__ import annotations

from decimal import Decimal

import numpy as np
import pandas as pd
import pytest

from fairscreen import resources
from fairscreen.audits import path_specific, ungrouped
from fairscreen.audits.cells import cells, coded
from fairscreen.audits.coding import code_lists
from fairscreen.audits.coding import ungrouped as resolution
from fairscreen.config import load
from fairscreen.estimators.data import PathData, assign_folds
from fairscreen.estimators.path_specific import path_effects

N = 6_000
OVERRIDES = [
    "population.jobs={accountants: {title: Accountant, occp: ['0800'], psid_occp: ['0800']}}",
    "scoring.models={raw: {kind: planted}, silent: {kind: planted}}",
    "estimation.contrasts={male_vs_female: {attribute: gender, x1: [male], x0: [female],"
    " x1_label: men, x0_label: women}}",
    "estimation.repeats=1",
    "estimation.learner=saturated",
    "estimation.bootstrap_draws=0",
    "estimation.roles.redlining=[first_name_gender]",
    "estimation.roles.business=[edu_group]",
    "estimation.roles.bins={age: [30]}",
    "estimation.roles.ungrouped.redlining=[first_name_p_female, surname_p_white]",
    "estimation.roles.ungrouped.business=[edu_level]",
    "estimation.roles.ungrouped.numbers={first_name_p_female: {step: 0.05, bins: [0.25, 0.75]},"
    " surname_p_white: {step: 0.1, bins: [0.5]}}",
]


@pytest.fixture(scope="module")
def cfg():
    return load(resources.path("conf", "audits", "demo.yml"), OVERRIDES)


@pytest.fixture(scope="module")
def people() -> pd.DataFrame:
    """Names follow gender; the score knows the name's typicality and the degree, not the gender.

    Every seventh surname is suppressed; the score is 3 points lower then.
    """
    rng = np.random.default_rng(6)
    male = np.arange(N) % 2 == 1
    typical = np.where(male, rng.beta(2.0, 3.0, N), rng.beta(3.0, 2.0, N))
    master = rng.random(N) < 0.3 + 0.2 * male
    suppressed = np.arange(N) % 7 == 0
    score = 50 - 12 * typical + 5 * master - 3 * suppressed + rng.normal(0, 3, N)
    white = rng.beta(3.0, 1.5, N)
    return pd.DataFrame(
        {
            "applicant_id": [f"p{i:05d}" for i in range(N)],
            "person_key": [f"p{i:05d}" for i in range(N)],
            "job": "accountants",
            "gender": np.where(male, "male", "female"),
            "race": "white",
            "age": rng.integers(18, 45, N),
            "first_name_gender": np.select(
                [typical < 0.25, typical >= 0.75], ["male", "female"], "neutral"
            ),
            "first_name_p_female": typical,
            "surname_p_white": [
                None if s else float(v) for s, v in zip(suppressed, white, strict=True)
            ],
            "edu_level": np.where(master, "master", "bachelor"),
            "edu_group": np.where(master, "high", "medium"),
            "design_weight": [Decimal(1)] * N,
            "z_weight_gender": [Decimal(1)] * N,
            "score": [Decimal(f"{v:.4f}") for v in score],
        }
    )


@pytest.fixture(scope="module")
def tables(spark, people):
    plain = people.drop(columns=["score"]).astype({"design_weight": str, "z_weight_gender": str})
    plain["surname_p_white"] = plain["surname_p_white"].astype(float)
    applicants = spark.createDataFrame(plain)
    applicants = applicants.replace(float("nan"), None, ["surname_p_white"])
    for column in ("design_weight", "z_weight_gender"):
        applicants = applicants.withColumn(column, applicants[column].cast("decimal(18,6)"))
    rows = [
        (a, "text", "raw", "ok", s)
        for a, s in zip(people["applicant_id"], people["score"], strict=True)
    ]
    schema = "applicant_id STRING, document_format STRING, model STRING, outcome STRING, "
    scores = spark.createDataFrame(rows, schema + "score DECIMAL(9,4)")
    return applicants, scores.selectExpr("*", "string(NULL) AS version")


@pytest.fixture(scope="module")
def result(tables, cfg):
    return ungrouped.run(*tables, cfg, config_hash="h", input_versions={"scores": 3})


def by_effect(rows, method: str, model: str = "raw"):
    return {r["estimand"]: r for r in rows if (r["method"], r["model"]) == (method, model)}


def test_groups_invent_an_effect_and_raw_features_do_not(tables, result, cfg) -> None:
    grouped = path_specific.run(*tables, None, cfg, config_hash="h", input_versions={})
    coarse = by_effect(grouped.estimates, "eif")
    fine = by_effect(result.estimates, ungrouped.METHOD)
    assert coarse["NDE"]["estimate"] > 4 * coarse["NDE"]["std_error"]
    assert fine["NDE"]["ci_low"] < 0 < fine["NDE"]["ci_high"]
    # What the groups lose of the names comes back: 12 points x 0.2 of typicality; 5 x 0.2.
    assert fine["RIE"]["ci_low"] < 2.4 < fine["RIE"]["ci_high"]
    assert fine["BIE"]["ci_low"] < 1 < fine["BIE"]["ci_high"]
    assert coarse["RIE"]["ci_high"] < 2.4


def test_rows_say_what_they_are(result, cfg) -> None:
    rows, notes = result.estimates, result.notes
    fine = by_effect(rows, ungrouped.METHOD)
    assert fine["NDE"]["title"].startswith("Falsification: effect not through the ungrouped")
    assert all(r["family"] is None for r in rows)
    silent = by_effect(rows, ungrouped.METHOD, "silent")
    assert {r["reason"] for r in silent.values()} == {
        "no_answer: no applicant of this case has a score"
    }
    (note,) = notes
    assert "first_name_p_female to 0.05, surname_p_white to 0.1" in note
    assert "6,000 scores make" in note


def test_effects_are_those_of_the_estimator_on_people(tables, result, people, cfg) -> None:
    p = people["surname_p_white"].astype(float)
    absent = p.isna().astype(int)
    white = np.floor(p / 0.1 + 0.5)
    white = white.fillna(white.median())
    typical = np.floor(people["first_name_p_female"] / 0.05 + 0.5)
    level = (people["edu_level"] == "master").astype(int)
    thirds = pd.cut(people["first_name_p_female"], [-1, 0.25, 0.75, 2], right=False, labels=False)
    half = np.where(absent == 1, 2, (p >= 0.5).astype(int))
    data = PathData.from_rows(
        x=(people["gender"] == "male").astype(int).to_numpy(),
        z=np.stack([np.zeros(N, dtype=int), (people["age"] >= 30).astype(int)], axis=1),
        r=np.stack([absent, thirds, half], axis=1),
        b=level.to_numpy(),
        y=people["score"].astype(float).to_numpy(),
        fold=assign_folds(cfg.seed, list(people["person_key"]), cfg.estimation.folds, 1),
        r_values=np.stack([typical, white], axis=1),
    )
    direct = path_effects(data, path_specific.path_options(cfg))
    assert {r["method"] for r in result.overlap} == {ungrouped.METHOD}
    weights = {r["weight_set"]: r["effective_n"] for r in result.overlap}
    assert weights == pytest.approx({r.weight_set: r.effective_n for r in direct.overlap})
    fine = by_effect(result.estimates, ungrouped.METHOD)
    for name, effect in direct.effects.items():
        assert fine[name]["estimate"] == pytest.approx(effect.estimate, abs=1e-9)
        assert fine[name]["std_error"] == pytest.approx(effect.std_error, abs=1e-9)


def test_cells_hold_rounded_numbers_and_missing_is_a_category(tables, people, cfg) -> None:
    how = resolution(cfg)
    rows = coded(*tables, None, cfg, code_lists(tables[0], cfg, how), how)
    got = cells(rows).toPandas()
    assert int(got["n"].sum()) == N
    assert len(got) < N
    units = np.stack(list(got["r_units"]))
    flags = np.stack(list(got["r"]))[:, 0]
    assert set(units[:, 0]) <= set(range(21))
    assert ((units[:, 1] == -1) == (flags == 1)).all()
    assert got.loc[flags == 1, "n"].sum() == people["surname_p_white"].isna().sum()


def test_no_roles_no_rows(tables) -> None:
    none = [
        "estimation.roles.ungrouped.redlining=[]", "estimation.roles.ungrouped.business=[]",
    ]  # fmt: skip
    cfg = load(resources.path("conf", "audits", "demo.yml"), [*OVERRIDES, *none])
    found = ungrouped.run(*tables, cfg, config_hash="h", input_versions={})
    assert found == ungrouped.Ungrouped([], [], [])
