"""Spark and Python draw the same numbers."""

from __future__ import annotations

from fairscreen import random

# As in tests/unit/test_random.py.
GOLDEN_TEXT = [-1820358297262345205, 3950044019610066344]
GOLDEN_INT = [4457600466043323347, -3666406606261159740, 1420664859523014635]


def test_spark_hashes_as_python_does(spark) -> None:
    text = spark.createDataFrame([("a",), ("é",)], "k string").coalesce(1)
    whole = spark.createDataFrame([(0,), (-1,), (2**40,)], "k bigint").coalesce(1)
    for frame, golden in ((text, GOLDEN_TEXT), (whole, GOLDEN_INT)):
        rows = frame.select(random.hash_column(7, "age", frame["k"]).alias("h")).collect()
        assert [row["h"] for row in rows] == golden
