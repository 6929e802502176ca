"""Which resumes of a corpus an audit takes: so many of each industry."""

from __future__ import annotations

from typing import Literal

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as sf

from fairscreen import random
from fairscreen.errors import InputError

PUBLISHED_N = 100  # JobFair: of each industry


def select_resumes(
    corpus: DataFrame, *, n: int, how: Literal["middle", "sample"], seed: int
) -> DataFrame:
    """`n` resumes of each industry of rows of `corpus_resume`, the columns unchanged.

    middle   as published: ordered by length (words of `text`; ties by resume_id), the middle n;
             where the rest is odd, one more is left out at the short end
    sample   those with the n smallest hashes of (seed, resume_id)
    Raises InputError naming an industry that has fewer.
    Source: JobFair, section on the corpus (within industry sorted by length, extremes left out).
    """
    industry = Window.partitionBy("occupation")
    if how == "middle":
        first = industry.orderBy("text_words", "resume_id")
    else:
        key = random.hash_column(seed, "ranking/corpus", sf.col("resume_id"))
        first = industry.orderBy(key, "resume_id")
    counts = corpus.groupBy("occupation").count().orderBy("occupation").collect()
    for row in counts:
        if row["count"] < n:
            raise InputError(
                f"industry {row['occupation']}",
                f"has {row['count']} resumes, and {n} are asked for",
                "Ask for fewer, or ingest more.",
            )
    ranked = corpus.withColumns(
        {"_at": sf.row_number().over(first), "_of": sf.count("*").over(industry)}
    )
    before = sf.floor((sf.col("_of") - n + 1) / 2) if how == "middle" else sf.lit(0)
    inside = (sf.col("_at") > before) & (sf.col("_at") <= before + n)
    return ranked.where(inside).drop("_at", "_of")
