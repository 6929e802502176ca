"""Table population_fit from Spark: replicate sums and applicants of every mode, against pandas."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import population_inputs as inputs
from fairscreen import tables
from fairscreen.population import drawing, fit, joint
from fairscreen.population.behind import behind
from fairscreen.population.survey import successive_difference_error

SMALL = (
    "population.age_min=29",
    "population.age_max=31",
    "population.jobs={nurses: {title: N, occp: ['3255'], psid_occp: ['3255']}, "
    "accountants: {title: A, occp: ['0800'], psid_occp: ['0800']}}",
    "population.n_per_job=120",
)
FILES = {"one": "one.zip", "two": "two.zip"}


def survey() -> pd.DataFrame:
    """Every fifth person of the file, with made-up replicate weights; `one` and `two` halve it."""
    rows = inputs.acs(5)
    rows = rows[rows["age"].between(28, 32) & rows["occp"].isin(["3255", "0800"])].copy()
    rng = np.random.default_rng(5)
    weights = np.rint(rows["pwgtp"].to_numpy()[:, None] * rng.uniform(-0.1, 2.1, (len(rows), 80)))
    rows["replicate_weights"] = list(weights.astype(np.int32))
    rows["source_sha256"] = np.where(np.arange(len(rows)) % 2 == 0, "one", "two")
    return rows


def included(rows: pd.DataFrame) -> pd.DataFrame:
    """Who is in, in plain pandas."""
    settings = inputs.demo(*SMALL).population
    race = {code: key for key, codes in settings.races.items() for code in codes}
    level = {code: key for key, codes in settings.education.items() for code in codes}
    rows = rows.assign(
        race=rows["rac1p"].map(race),
        edu_level=rows["schl"].map(level),
        gender=rows["sex"].map({"1": "male", "2": "female"}),
        job=rows["occp"].map({"3255": "nurses", "0800": "accountants"}),
    )
    return rows[rows["age"].between(29, 31) & rows["esr"].isin(["1", "2"])].dropna(
        subset=["race", "edu_level"]
    )


def compare(spark, rows: pd.DataFrame, mode: str) -> pd.DataFrame:
    cfg, generator = inputs.generator(*SMALL)
    cfg = inputs.demo(*SMALL, f"population.mode={mode}")
    acs = spark.createDataFrame(rows)
    people = joint.surveyed(acs, cfg.population).where("reason IS NULL").drop("reason")
    applicants = drawing.applicants(people, generator, cfg, 2024)
    table = fit.population_fit(acs, inputs.cells(cfg, 5), applicants, generator, cfg, FILES)
    written = fit.as_table(table)
    assert written.column_names == list(tables.ddl_columns("population_fit"))
    assert not any(np.isnan(v) for v in written["z"].drop_null().to_pylist())
    return table.set_index(["job", "value"])


@pytest.mark.parametrize("mode", ["surveyed", "draws", "balanced"])
def test_every_mode_against_pandas(spark, mode) -> None:
    rows = survey()
    table, people = compare(spark, rows, mode), included(rows)
    for job, mine in people.groupby("job"):
        weights = np.stack(mine["replicate_weights"].to_list()).astype(float)
        for column in ("gender", "race", "edu_level", "state"):
            for value, at in mine.groupby(column).indices.items():
                row = table.loc[(job, f"{column}={value}")]
                share = mine["pwgtp"].iloc[at].sum() / mine["pwgtp"].sum()
                assert row["survey_people"] == len(at)
                assert row["survey_share"] == pytest.approx(share)
                if share < 1:
                    error = successive_difference_error(
                        share, weights[at].sum(axis=0) / weights.sum(axis=0)
                    )
                    assert row["survey_std_error"] == pytest.approx(float(error))
                    assert row["status"] == "ok"
        total = table.loc[job].query("margin == 'gender'")["applicants"].sum()
        men = table.loc[(job, "gender=male")]
        if mode == "surveyed":  # everybody once, unweighted, as published
            assert total == len(mine)
            assert men["applicants_share"] == pytest.approx((mine["sex"] == "1").mean())
        else:
            assert total == 120
        if mode == "balanced":
            assert men["applicants"] == 60
            assert men["applicants_share"] == pytest.approx(men["generator_share"], abs=0.1)


def test_the_survey_behind_the_applicants_is_who_is_in(spark) -> None:
    rows = survey()
    rows["replicate_weights"] = rows["replicate_weights"].map(lambda w: w.tolist())
    rows.loc[rows["occp"] == "0800", "replicate_weights"] = None
    found = behind(spark.createDataFrame(rows), inputs.demo(*SMALL).population, FILES)
    people = included(rows)
    assert found.workforce == people.groupby("job")["pwgtp"].sum().to_dict()
    assert found.lacking == {"nurses": None, "accountants": "no replicate weights in one.zip, "
                             "two.zip"}  # fmt: skip
    listed = found.people.toPandas().set_index("person_key")
    keys = people["serialno"] + "|" + people["sporder"]
    assert sorted(listed.index) == sorted(keys)
    (first,) = keys[people["job"] == "nurses"].iloc[:1]
    expected = people["replicate_weights"][keys == first].iloc[0]
    assert list(listed.loc[first, "replicate_weights"]) == expected


def test_missing_replicate_weights_are_told_by_file(spark) -> None:
    rows = survey()
    without = rows["replicate_weights"].where(rows["occp"] == "3255", None)
    mixed = rows["occp"].eq("3255") & rows["source_sha256"].eq("two")
    for gone, nurses in (
        (without, None),
        (without.mask(mixed, None), "replicate weights of some people only: none in two.zip"),
    ):
        frame = rows.assign(replicate_weights=gone.map(lambda w: None if w is None else w.tolist()))
        table = compare(spark, frame, "balanced")
        accountants = table.loc[("accountants", "gender=male")]
        assert accountants["reason"] == "no replicate weights in one.zip, two.zip"
        assert np.isnan(accountants["survey_std_error"])
        found = table.loc[("nurses", "gender=male")]
        assert (None if pd.isna(found["reason"]) else found["reason"]) == nurses
        assert np.isnan(found["z"]) == (nurses is not None)
