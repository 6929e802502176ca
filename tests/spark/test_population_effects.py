"""Population effects of an audit with replicate weights, against pandas."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

from fairscreen import resources
from fairscreen.audits import path_specific as audit
from fairscreen.audits import population_effects as whole
from fairscreen.config import load
from fairscreen.estimators.path_specific import path_effects
from fairscreen.estimators.results import EFFECTS
from fairscreen.population.behind import PEOPLE, Behind
from fairscreen.tables import ddl_columns
from path_audit import (
    JOBS,
    OVERRIDES,
    answered,
    made_answers,
    made_people,
    made_tables,
    person_rows,
)

WORKFORCE = {"registered_nurses": 24_000, "accountants": 9_000}


@pytest.fixture(scope="module")
def people() -> pd.DataFrame:
    """The made-up applicants, two of each surveyed person, with his PWGTP."""
    people = made_people()
    weights = np.random.default_rng(31).integers(20, 300, people["person_key"].nunique())
    return people.assign(survey_weight=weights[pd.factorize(people["person_key"])[0]])


@pytest.fixture(scope="module")
def answers(people) -> pd.DataFrame:
    return made_answers(people)


@pytest.fixture(scope="module")
def surveyed(people) -> pd.DataFrame:
    """Who stands behind them, with 80 replicate weights; one person more, whom nobody drew."""
    one = people.drop_duplicates("person_key")
    draw = np.random.default_rng(32)
    pwgtp = np.append(one["survey_weight"], 50)
    wide = np.rint(pwgtp[:, None] * draw.choice([-0.05, 0.3, 1.0, 1.7], (len(pwgtp), 80)))
    return pd.DataFrame({
        "person_key": [*one["person_key"], "p9999"], "job": [*one["job"], JOBS[0]],
        "pwgtp": pwgtp, "replicate_weights": [[int(v) for v in row] for row in wide],
    })  # fmt: skip


@pytest.fixture(scope="module")
def tables(spark, people, answers):
    return made_tables(spark, people, answers)


def config(mode: str):
    more = [f"population.mode={mode}", "estimation.weights=population"]
    return load(resources.path("conf", "audits", "demo.yml"), [*OVERRIDES, *more])


def run(spark, tables, surveyed, mode: str, partitions: int = 2) -> whole.PopulationEffects:
    behind = spark.createDataFrame(list(surveyed.itertuples(index=False, name=None)), PEOPLE)
    none = dict.fromkeys(JOBS)
    survey = Behind(behind.repartition(partitions, "pwgtp"), WORKFORCE, none)
    applicants, scores = (t.repartition(partitions) for t in tables)
    return whole.run(
        applicants, scores, survey, config(mode), config_hash="h", input_versions={"scores": 3}
    )


def by_effect(found: whole.PopulationEffects, model: str, piece: str, method: str) -> dict:
    rows = [r for r in found.estimates if (r["model"], r["slice"], r["method"]) == (
        model, piece, method)]  # fmt: skip
    return {r["estimand"]: r for r in rows}


@pytest.mark.parametrize("mode", ["surveyed", "draws"])
def test_effects_and_both_errors_against_pandas(
    spark, tables, people, answers, surveyed, mode
) -> None:
    found = run(spark, tables, surveyed, mode)
    cfg = config(mode)
    theirs = surveyed.set_index("person_key")
    if mode == "surveyed":
        share = people["survey_weight"].astype(float)
        size = share.groupby(people["job"]).transform("sum")
    else:
        share = pd.Series(1.0, people.index)
        size = people.groupby("job")["gender"].transform("size").astype(float)
    weighs = people.assign(weighs=share * people["job"].map(WORKFORCE) / size)
    for model, job in (("a", None), ("b", "accountants")):
        piece = f"job={job}" if job else "all"
        rows = person_rows(weighs, answers, cfg, model, job, weight="weighs", cells=False)
        direct = path_effects(rows, audit.path_options(cfg))
        assert direct.influence is not None
        assert direct.c is not None
        frame = answered(weighs, answers, model, job)
        phi = direct.influence + direct.c * frame["y"].to_numpy()[:, None]
        w, who = frame["weighs"].to_numpy(), frame["person_key"]
        full = np.array([theirs["pwgtp"][k] for k in who])
        theta = np.average(phi, axis=0, weights=w)
        squares = np.zeros(5)
        for r in range(80):
            v = w * np.array([theirs["replicate_weights"][k][r] for k in who]) / full
            squares += (v @ phi / v.sum() - theta) ** 2
        by_eif = by_effect(found, model, piece, "eif_population")
        by_design = by_effect(found, model, piece, "replicate_weights")
        for j, name in enumerate(EFFECTS):
            effect, one, two = direct.effects[name], by_eif[name], by_design[name]
            assert one["estimate"] == pytest.approx(effect.estimate, abs=1e-8)
            assert one["std_error"] == pytest.approx(effect.std_error, rel=1e-8)
            assert two["estimate"] == one["estimate"] == pytest.approx(theta[j], abs=1e-8)
            assert two["std_error"] == pytest.approx(np.sqrt(4 / 80 * squares[j]), rel=1e-7)
            assert (one["n"], two["n"]) == (len(frame), len(frame))
    # The population's effects are others than those of the applicants as they are.
    if mode == "surveyed":
        sample = audit.run(*tables, None, cfg, config_hash="h", input_versions={})
        (te,) = (r for r in sample.estimates if (r["model"], r["slice"]) == ("b", "all")
                 and (r["estimand"], r["method"]) == ("TE", "eif"))  # fmt: skip
        mine = by_effect(found, "b", "all", "eif_population")["TE"]
        assert abs(te["estimate"] - mine["estimate"]) > 0.05


def test_rows_say_what_they_are_and_do_not_depend_on_partitions(spark, tables, surveyed) -> None:
    found = run(spark, tables, surveyed, "surveyed")
    again = run(spark, tables, surveyed, "surveyed", partitions=5)
    assert json.dumps(again.estimates) == json.dumps(found.estimates)
    assert again.overlap == found.overlap
    assert {r["method"] for r in found.estimates} == {"eif_population", "replicate_weights"}
    assert {r["method"] for r in found.overlap} == {"eif_population"}
    for name, records in (("estimates", found.estimates), ("overlap", found.overlap)):
        assert all(set(r) == set(ddl_columns(name)) for r in records)
    assert len(found.estimates) == 3 * 3 * 2 * 5  # models, slices, methods, effects
    silent = by_effect(found, "silent", "all", "replicate_weights")
    assert all(r["reason"].startswith("no_answer") for r in silent.values())
    (note,) = found.notes
    assert "33,000 people over all jobs" in note


def test_people_without_replicate_weights_are_counted(spark, tables, surveyed) -> None:
    known = surveyed[surveyed["person_key"] != "p0000"]
    found = run(spark, tables, known, "draws")
    rows = by_effect(found, "b", "all", "replicate_weights")
    assert {r["reason"] for r in rows.values()} == {
        "replicate weights are known of 298 of 300 applicants"
    }
    assert by_effect(found, "b", "all", "eif_population")["TE"]["estimate"] is not None
