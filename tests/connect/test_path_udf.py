"""The estimator's UDFs over Spark Connect: the same numbers, the same errors."""

from __future__ import annotations

import numpy as np
import pytest
from pyspark.sql.connect.session import SparkSession

from fairscreen.audits import population_effects
from fairscreen.audits.cells import asked
from fairscreen.audits.coding import code_lists, ungrouped
from fairscreen.audits.estimated import estimated
from fairscreen.errors import InputError, from_worker
from fairscreen.population.behind import PEOPLE, Behind
from path_people import N, by_udf, cell_rows, config, directly, furthest, tables


def test_the_session_is_a_connect_session(spark) -> None:
    assert isinstance(spark, SparkSession)
    with pytest.raises(Exception, match="sparkContext"):
        _ = spark.sparkContext


@pytest.mark.parametrize(
    ("partitions", "missing", "learner"), [(1, "answered", "stack"), (200, "weighted", "saturated")]
)
def test_a_udf_run_is_the_direct_call(spark, partitions: int, missing: str, learner: str) -> None:
    cfg = config(f"estimation.missing={missing}", f"estimation.learner={learner}")
    applicants, scores = (t.repartition(partitions, "applicant_id") for t in tables(spark))
    spark.conf.set("spark.sql.shuffle.partitions", str(partitions))
    rows = cell_rows(applicants, scores, cfg)
    payload = by_udf(rows, cfg)
    direct = directly(rows, cfg)
    assert payload["n"] == direct["n"] < N
    assert furthest(payload, direct) < 1e-12


def test_an_error_of_a_worker_is_found_again(spark) -> None:
    spark.conf.set("spark.sql.shuffle.partitions", "2")
    applicants, scores = tables(spark)
    cfg = config("estimation.propensity=known", "estimation.learner=glm")  # the cells bring none
    with pytest.raises(Exception, match="known propensities") as caught:
        by_udf(cell_rows(applicants, scores, cfg), cfg)
    error = from_worker(caught.value)
    assert isinstance(error, InputError)
    assert error.where == "arrays p_z, p_rz, p_brz"


def test_sums_under_replicate_weights_are_those_of_pandas(spark) -> None:
    cfg = config("population.mode=draws", "estimation.learner=saturated")
    applicants, scores = tables(spark)
    how = ungrouped(cfg)
    rows = asked(applicants, scores, None, cfg, code_lists(applicants, cfg, how), how)
    found = estimated(rows, cfg, influence=True)
    assert found.phi is not None
    draw = np.random.default_rng(8)
    people = [
        (f"p{i:04d}", "accountants", 100, draw.integers(-5, 200, 80).tolist()) for i in range(N)
    ]
    survey = Behind(spark.createDataFrame(people, PEOPLE), {"accountants": 9_000}, {})
    sums = population_effects.replicate_sums(found.phi, applicants, survey)
    phi = found.phi.toPandas()
    at = [int(key[1:]) for key in phi["applicant_id"]]
    w = phi["w"].to_numpy(dtype=float)
    under = w[:, None] * np.array([people[i][3] for i in at]) / 100
    for case, mine in phi.groupby("case"):
        k = mine.index
        np.testing.assert_allclose(sums[case].sums.weight[1:], under[k].sum(axis=0), rtol=1e-12)
        bie = mine["v_BIE"].to_numpy()
        np.testing.assert_allclose(sums[case].sums.value[1:, 3], under[k].T @ bie, rtol=1e-9)
