"""Where two parsers read the same reply differently: how often, for whom, and what it moves.

A model's `also_parsers` read the replies that its scores were read from. The scores stay those of
its own parser; what the others make of them is counted here, by group.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as sf

from fairscreen.scoring.parse import parse

Row = Mapping[str, Any]
_PAIRS = pa.schema(
    [
        ("applicant_id", pa.string()),
        ("model", pa.string()),
        ("document_format", pa.string()),
        ("parser", pa.string()),
        ("other_parser", pa.string()),
        ("differ", pa.bool_()),
        ("score", pa.decimal128(9, 4)),
        ("other_score", pa.decimal128(9, 4)),
    ]
)
_DDL = (
    "applicant_id STRING, model STRING, document_format STRING, parser STRING, "
    "other_parser STRING, differ BOOLEAN, score DECIMAL(9,4), other_score DECIMAL(9,4)"
)


def agreement(
    scores: DataFrame, replies: DataFrame, applicants: DataFrame, also: Mapping[str, Sequence[str]]
) -> DataFrame:
    """Rows of `parser_agreement`.

    scores, applicants: this audit's rows of both tables. also: model to the parsers that its own
    is compared with.
    """
    others = {model: tuple(names) for model, names in also.items() if names}
    texts = replies.selectExpr(
        "call_key", "wave_id AS reply_wave", "transport", "reply", "finish_reason"
    )
    read = scores.where(sf.col("model").isin(*others)).join(
        texts, ["call_key", "reply_wave"], "left"
    )

    def work(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            rows = [pair for row in batch.to_pylist() for pair in pairs(row, others[row["model"]])]
            yield pa.RecordBatch.from_pylist(rows, schema=_PAIRS)

    columns = ("applicant_id", "model", "document_format", "parser", "outcome", "score")
    people = applicants.select("audit_id", "applicant_id", "gender", "race")
    both = sf.col("score").isNotNull() & sf.col("other_score").isNotNull()
    # Means of exact decimals: the same on any number of partitions.
    return (
        read.select(*columns, "transport", "reply", "finish_reason")
        .mapInArrow(work, _DDL)
        .join(people, "applicant_id")
        .groupBy("audit_id", "model", "document_format", "parser", "other_parser", "gender", "race")
        .agg(
            sf.count("*").alias("requests"),
            sf.count_if("differ").alias("differ"),
            sf.count_if(both & sf.col("differ")).alias("differ_in_score"),
            sf.count("score").alias("ok"),
            sf.count("other_score").alias("other_ok"),
            sf.avg("score").cast("double").alias("mean_score"),
            sf.avg("other_score").cast("double").alias("other_mean_score"),
        )
    )


def pairs(row: Row, others: Sequence[str]) -> Iterator[dict[str, Any]]:
    """One request, as its own parser read it (outcome, score), beside each other parser."""
    for name in others:
        other = parse(name, row["reply"], row["transport"], row["finish_reason"])
        yield {
            "applicant_id": row["applicant_id"],
            "model": row["model"],
            "document_format": row["document_format"],
            "parser": row["parser"],
            "other_parser": name,
            "differ": (row["outcome"], row["score"]) != (other.outcome, other.score),
            "score": row["score"],
            "other_score": other.score,
        }


def notes(rows: Sequence[Row]) -> list[str]:
    """One sentence per model, format and other parser, from rows of `parser_agreement`.

    The gaps are those that an outcome audit shows: men minus women of the mean score, each parser
    over the replies that it can read.
    """

    def case(row: Row) -> tuple[str, ...]:
        return tuple(row[k] for k in ("model", "document_format", "parser", "other_parser"))

    found = []
    for (model, shown, parser, other), group in groupby(sorted(rows, key=case), key=case):
        mine = list(group)
        total, differing = (sum(r[k] for r in mine) for k in ("requests", "differ"))
        text = (
            f"{model} ({shown}): {parser} and {other} read {differing:,} of {total:,} replies "
            "differently"
        )
        if differing:
            text += f" ({_shares(mine)}){_gaps(mine)}"
        found.append(text + ".")
    return found


def _shares(rows: Sequence[Row]) -> str:
    parts = []
    for attribute in ("gender", "race"):
        for value in sorted({r[attribute] for r in rows}):
            group = [r for r in rows if r[attribute] == value]
            asked, differing = (sum(r[k] for r in group) for k in ("requests", "differ"))
            parts.append(f"{value} {100 * differing / asked:.1f}%")
    return ", ".join(parts)


def _gaps(rows: Sequence[Row]) -> str:
    first, second = _gap(rows, "mean_score", "ok"), _gap(rows, "other_mean_score", "other_ok")
    if first is None or second is None:
        return ""
    return f"; mean score of men minus women {first:+.4g} by the first, {second:+.4g} by the second"


def _gap(rows: Sequence[Row], mean: str, count: str) -> float | None:
    means = []
    for gender in ("male", "female"):
        read = [r for r in rows if r["gender"] == gender and r[count]]
        if not read:
            return None
        means.append(sum(r[mean] * r[count] for r in read) / sum(r[count] for r in read))
    return float(means[0] - means[1])
