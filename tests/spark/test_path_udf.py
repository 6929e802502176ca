"""A grouped UDF gives what a direct call gives, however the rows are spread."""

from __future__ import annotations

import pytest

from path_people import N, by_udf, cell_rows, config, directly, furthest, tables


@pytest.mark.parametrize("partitions", [1, 200])
@pytest.mark.parametrize("missing", ["answered", "weighted"])
def test_a_udf_run_is_the_direct_call(spark, partitions: int, missing: str) -> None:
    cfg = config(f"estimation.missing={missing}")
    applicants, scores = (t.repartition(partitions, "applicant_id") for t in tables(spark))
    before = spark.conf.get("spark.sql.shuffle.partitions")
    spark.conf.set("spark.sql.shuffle.partitions", str(partitions))
    try:
        rows = cell_rows(applicants, scores, cfg)
        payload = by_udf(rows, cfg)
    finally:
        spark.conf.set("spark.sql.shuffle.partitions", before)
    direct = directly(rows, cfg)
    assert payload["n"] == direct["n"] < N
    assert furthest(payload, direct) < 1e-12


def test_rows_say_that_men_are_answered_less_often(spark) -> None:
    applicants, scores = tables(spark)
    cfg = config()
    rows = cell_rows(applicants, scores, cfg)
    effects = {e["estimand"]: e for e in by_udf(rows, cfg)["effects"]}
    answers = directly(rows, cfg)["answers"]
    assert (answers.asked_x1, answers.asked_x0) == (N // 2, N // 2)
    assert answers.unequal
    assert {e["status"] for e in effects.values()} == {"flagged"}
    assert all("answers_missing_unequally: men 8" in e["reason"] for e in effects.values())
