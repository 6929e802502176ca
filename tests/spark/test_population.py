"""The population station in Spark: three modes on real people, whatever the partitioning."""

from __future__ import annotations

from types import SimpleNamespace

import pandas as pd
import pytest

import population_inputs as inputs
from fairscreen import tables
from fairscreen.errors import InputError
from fairscreen.population import build, joint, known, naming, typicality
from fairscreen.reporting import experience
from fairscreen.stations.applicants import write_typicality

N = 150


@pytest.fixture(scope="module")
def bronze(spark) -> SimpleNamespace:
    """Real rows, few of them: every tenth surveyed person and the most frequent names."""
    frames = {
        "acs": inputs.acs(10),
        "psid": inputs.psid(6000),
        "ssa": inputs.ssa().query("births >= 200"),
        "surnames": inputs.surnames().query("bearers >= 5000"),
    }
    return SimpleNamespace(**{k: spark.createDataFrame(f).cache() for k, f in frames.items()})


# Three ages and two jobs keep the rest small.
SMALL = (
    "population.age_min=29",
    "population.age_max=31",
    "population.jobs={nurses: {title: N, occp: ['3255'], psid_occp: ['3255']}, "
    "accountants: {title: A, occp: ['0800'], psid_occp: ['0800']}}",
    f"population.n_per_job={N}",
)


def _build(bronze: SimpleNamespace, *overrides: str, acs=None) -> SimpleNamespace:
    cfg = inputs.demo(*SMALL, *overrides)
    fitted = build.fit_generator(acs or bronze.acs, bronze.psid, bronze.ssa, bronze.surnames, cfg)
    applicants = build.applicants(fitted.included, fitted.generator, cfg, fitted.vintage)
    return SimpleNamespace(
        applicants=applicants,
        known_propensity=None
        if known.unknown_reason(cfg)
        else known.known_propensity(applicants, fitted.generator, cfg),
        notes=build.notes_of(fitted, cfg),
        fit=build.facts(fitted, cfg),
        quality=build.experience_fit(fitted, cfg),
    )


def _frame(rows) -> pd.DataFrame:
    frame = rows.toArrow().to_pandas()
    return frame.sort_values(list(frame.columns[:3]), ignore_index=True)


def _people() -> pd.DataFrame:
    """Who is in, in plain pandas."""
    rows = inputs.acs(10)
    cfg = inputs.demo().population
    races = [c for codes in cfg.races.values() for c in codes]
    levels = [c for codes in cfg.education.values() for c in codes]
    inside = rows["occp"].isin(["3255", "0800"]) & rows["age"].between(29, 31)
    inside &= rows["esr"].isin(["1", "2"]) & rows["rac1p"].isin(races) & rows["schl"].isin(levels)
    return rows[inside]


def test_balanced(spark, bronze) -> None:
    built = _build(bronze)
    rows = _frame(built.applicants)
    assert list(rows.columns) == list(tables.ddl_columns("applicants"))
    assert rows.groupby(["job", "gender"]).size().tolist() == [N // 2] * 4
    assert rows["applicant_id"].is_unique
    assert (rows["person_key"] == rows["applicant_id"]).all()
    assert rows["survey_weight"].isna().all()
    assert (rows["birth_year"] == 2024 - rows["age"]).all()
    assert (rows["exp_year"] <= rows["age"] - 18).all()
    nullable = {"survey_weight", *(f"surname_p_{race}" for race in naming.FEATURES)}
    assert rows.drop(columns=list(nullable)).notna().all(axis=None)
    known = _frame(built.known_propensity)
    assert set(known["contrast"]) == {"male_vs_female", "white_vs_rest"}
    assert len(known) == 2 * len(rows)
    assert known["p_brz"].between(0, 1).all()
    assert built.fit["surveyed_people"] == {
        job: int((_people()["occp"] == code).sum())
        for job, code in (("nurses", "3255"), ("accountants", "0800"))
    }

    # the same rows whatever the number of partitions
    before = spark.conf.get("spark.sql.leafNodeDefaultParallelism", None)
    spark.conf.set("spark.sql.leafNodeDefaultParallelism", "7")
    try:
        again = _build(bronze, acs=bronze.acs.repartition(7))
        pd.testing.assert_frame_equal(_frame(again.applicants), rows)
        pd.testing.assert_frame_equal(_frame(again.known_propensity), known)
    finally:
        if before is None:
            spark.conf.unset("spark.sql.leafNodeDefaultParallelism")
        else:
            spark.conf.set("spark.sql.leafNodeDefaultParallelism", before)


def test_the_fit_of_experience_comes_back_from_its_table(warehouse, bronze) -> None:
    quality = _build(bronze).quality
    warehouse.replace(
        "experience_fit", warehouse.rows("experience_fit", quality), where="audit_id = 'demo'"
    )
    frame = warehouse.read("experience_fit").where("audit_id = 'demo'").toPandas()
    assert len(frame) == len(quality)
    again = {(r["kind"], r["name"]): r for r in experience.records(frame)}
    for row in quality:
        back = again[row["kind"], row["name"]]
        assert {k: v for k, v in back.items() if v is not None} == {
            k: v for k, v in row.items() if v is not None
        }
    assert set(experience.files(frame, inputs.demo(*SMALL))) == {
        "experience_fit.json", "experience_qq.svg",
    }  # fmt: skip


def test_surveyed_takes_everybody_once(bronze) -> None:
    built = _build(bronze, "population.mode=surveyed")
    rows, people = _frame(built.applicants), _people()
    keys = people["serialno"] + "|" + people["sporder"]
    assert sorted(rows["person_key"]) == sorted(keys)
    row = rows.iloc[0]
    assert row["applicant_id"] == f"{row['job']}-{row['person_key'].replace('|', '-')}"
    theirs = people.set_index(keys).loc[rows["person_key"]]
    assert rows["age"].tolist() == theirs["age"].tolist()
    assert rows["state"].tolist() == theirs["state"].tolist()
    assert rows["survey_weight"].tolist() == theirs["pwgtp"].tolist()
    assert (rows["gender"] == "male").tolist() == (theirs["sex"] == "1").tolist()
    assert (rows["design_weight"].astype(float) == 1).all()
    assert built.known_propensity is None
    assert built.notes[-1] == (
        "No known propensities: mode surveyed takes people from the survey as they are."
    )
    again = _build(bronze, "population.mode=surveyed", acs=bronze.acs.repartition(7))
    pd.testing.assert_frame_equal(_frame(again.applicants), rows)


def test_draws_take_people_by_their_weight(bronze) -> None:
    built = _build(bronze, "population.mode=draws", "population.n_per_job=3000")
    rows, people = _frame(built.applicants), _people()
    assert rows.groupby("job").size().tolist() == [3000, 3000]
    nurses = people[people["occp"] == "3255"]
    share = nurses.set_index(nurses["serialno"] + "|" + nurses["sporder"])["pwgtp"]
    share = share / share.sum()
    got = rows.loc[rows["job"] == "nurses", "person_key"].value_counts()
    z = (got.reindex(share.index, fill_value=0) - 3000 * share) / (3000 * share) ** 0.5
    assert set(got.index) <= set(share.index)
    assert z.abs().max() < 5
    again = _build(
        bronze, "population.mode=draws", "population.n_per_job=3000", acs=bronze.acs.repartition(7)
    )
    pd.testing.assert_frame_equal(_frame(again.applicants), rows)


def test_exclusions_count_everybody_by_first_reason(bronze) -> None:
    people = joint.surveyed(bronze.acs, inputs.demo(*SMALL).population)
    counted = _frame(joint.exclusions(people)).set_index(["job", "reason"])
    rows = inputs.acs(10)
    nurses = rows[rows["occp"] == "3255"]
    assert counted.loc["nurses", "people"].sum() == len(nurses)
    assert counted.loc["nurses", "weighted"].sum() == nurses["pwgtp"].sum()
    assert counted.loc[("nurses", "age"), "people"] == (~nurses["age"].between(29, 31)).sum()
    assert counted.loc[("nurses", "included"), "people"] == (_people()["occp"] == "3255").sum()


def test_reasons_in_their_order(spark) -> None:
    inside = {"vintage": 2024, "serialno": "A", "sporder": "01", "state": "06", "age": 30}
    inside |= {"sex": "1", "rac1p": "1", "schl": "21", "esr": "1", "occp": "3255", "pwgtp": 9}
    cases = [
        ({}, None),
        ({"esr": None}, "not_employed"),
        ({"esr": "6", "age": 70}, "not_employed"),
        ({"age": 28, "rac1p": "9"}, "age"),
        ({"rac1p": "9", "schl": "10"}, "race"),
        ({"schl": "15", "state": "72"}, "below_high_school"),
        ({"schl": None}, "below_high_school"),
        ({"state": "72"}, "state_outside"),
    ]
    rows = [inside | change | {"sporder": f"{i:02d}"} for i, (change, _) in enumerate(cases)]
    acs = spark.createDataFrame(
        rows,
        "vintage int, serialno string, sporder string, state string, age int, sex string, "
        "rac1p string, schl string, esr string, occp string, pwgtp int",
    )
    got = joint.surveyed(acs, inputs.demo(*SMALL).population).orderBy("sporder").collect()
    assert [row["reason"] for row in got] == [reason for _, reason in cases]


def test_wrong_vintages_and_empty_jobs_are_errors(bronze) -> None:
    two = bronze.acs.unionByName(bronze.acs.selectExpr("2018 AS vintage", *bronze.acs.columns[1:]))
    with pytest.raises(InputError) as error:
        joint.surveyed(two, inputs.demo().population)
    assert str(error.value) == (
        "population.vintage: is not set and the warehouse holds several ACS years: 2018, 2024. "
        "Set it to one of them."
    )
    with pytest.raises(InputError, match=r"population\.vintage: 2019 is not in the warehouse"):
        joint.surveyed(bronze.acs, inputs.demo("population.vintage=2019").population)
    ghosts = "population.jobs={ghosts: {title: G, occp: ['0001'], psid_occp: ['0001']}}"
    with pytest.raises(InputError) as error:
        _build(bronze, ghosts)
    assert str(error.value) == (
        "population.jobs.ghosts: nobody of occupation 0001 is in the population (no such person "
        "in the survey). Check the codes of that vintage, the age range and the race and "
        "education maps, or ingest more states."
    )


def test_occupations_are_counted_among_the_employed(bronze: SimpleNamespace, spark) -> None:
    from pyspark.sql import functions as sf

    other = bronze.acs.limit(3).withColumn("vintage", sf.lit(2019))
    found = joint.occupation_counts(
        bronze.acs.unionByName(other), 2024, esr=("1",), ages=(29, 31)
    ).collect()
    people = inputs.acs(10)
    mine = people[(people["esr"] == "1") & people["age"].between(29, 31)]
    expected = mine.groupby("occp")["pwgtp"].agg(["count", "sum"])
    assert {r["occp"]: (r["people"], r["weighted"]) for r in found} == {
        str(code): (int(n), int(w)) for code, (n, w) in zip(
            expected.index, expected.to_numpy(), strict=True
        )
    }  # fmt: skip


def test_hispanic_people_are_a_race_or_left_out(bronze) -> None:
    """joint.surveyed against plain pandas."""
    for how in ("own_group", "excluded"):
        population = inputs.demo(*SMALL, f"population.hispanic={how}").population
        people = joint.surveyed(bronze.acs, population)
        rows = people.where("reason IS NULL").groupBy("race").count().collect()
        cells = inputs.cells(inputs.demo(*SMALL, f"population.hispanic={how}"), 10)
        assert {r["race"]: r["count"] for r in rows} == cells.groupby("race")[
            "people"
        ].sum().to_dict()
        left = people.where("reason = 'hispanic'").count()
        assert (left > 0) == (how == "excluded")


def test_typicality_tables_hold_the_names_that_can_be_drawn(warehouse) -> None:
    cfg = inputs.demo(*SMALL)
    common = inputs.ssa().query("births >= 2000")
    found = typicality.names(
        common, inputs.surnames().query("bearers >= 50000"), cfg.population, years=cfg.birth_years
    )
    for _ in range(2):  # the same audit again replaces its rows
        write_typicality(warehouse, found, "a")
    write_typicality(warehouse, found, "b")
    for table, expected in (
        ("first_name_typicality", found.first_rows),
        ("surname_typicality", found.last_rows),
    ):
        rows = warehouse.read(table).where("audit_id = 'a'").drop("audit_id").toArrow()
        got = rows.to_pandas().sort_values("name", ignore_index=True)
        want = expected.to_pandas().sort_values("name", ignore_index=True)
        pd.testing.assert_frame_equal(got, want, check_dtype=False)
        assert warehouse.read(table).count() == 2 * len(want)
