"""Where two parsers read the same reply differently: how often, for whom, and what it moves.

A model's `also_parsers` read the replies that its scores were read from. The scores stay those of
its own parser, and so do the effects; what the others make of them is counted and summed here, by
group. What it moves is said of the raw gap of each contrast, with a paired error: effects are not
estimated again.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf

from fairscreen.estimators.paired_gap import Readings, moved
from fairscreen.scoring.parse import parse
from fairscreen.settings.estimation import Contrast

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
    s, t = sf.col("score"), sf.col("other_score")

    def total(value: Column) -> Column:
        return sf.coalesce(sf.sum(value).cast("double"), sf.lit(0.0))

    # Means and sums of exact decimals: the same on any number of partitions.
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
            sf.count_if(both).alias("both_ok"),
            total(s).alias("sum_score"),
            total(s * s).alias("sum_square"),
            total(t).alias("other_sum_score"),
            total(t * t).alias("other_sum_square"),
            total(sf.when(both, s)).alias("both_sum_score"),
            total(sf.when(both, t)).alias("both_other_sum_score"),
            total(s * t).alias("both_sum_product"),
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
    """One sentence per model, format and other parser, from rows of `parser_agreement`."""
    found = []
    for (model, shown, parser, other), mine in _cases(rows):
        total, differing = (sum(r[k] for r in mine) for k in ("requests", "differ"))
        text = (
            f"{model} ({shown}): {parser} and {other} read {differing:,} of {total:,} replies "
            "differently"
        )
        found.append(text + (f" ({_shares(mine)})." if differing else "."))
    return found


def gap_notes(rows: Sequence[Row], contrasts: Mapping[str, Contrast]) -> list[str]:
    """What the other parser does to the raw gap of each contrast, where it reads any reply
    differently. Rows of `parser_agreement`; those of an older fairscreen have no sums."""
    found = []
    for (model, shown, parser, other), mine in _cases(rows):
        if any(r["both_ok"] is None for r in mine) or not sum(r["differ"] for r in mine):
            continue
        for contrast in contrasts.values():
            arms = [
                sum((_readings(r) for r in mine if r[contrast.attribute] in values), Readings())
                for values in (contrast.x1, contrast.x0)
            ]
            who = f"{contrast.x1_label} minus {contrast.x0_label}"
            found.append(
                f"{model} ({shown}), raw gap of mean scores, {who}: {_told(arms, parser, other)}"
            )
    return found


def _told(arms: Sequence[Readings], parser: str, other: str) -> str:
    gap = moved(*arms)
    if gap.difference is None:
        return f"not computable by both parsers ({gap.reason})."
    error = (
        f"no standard error, {gap.reason}"
        if gap.std_error is None
        else f"standard error {gap.std_error:.2g}, paired by request"
    )
    return (
        f"{gap.first:+.4g} by {parser}, {gap.second:+.4g} by {other}, difference "
        f"{gap.difference:+.4g} ({error}). The effects are those of {parser}."
    )


def _readings(row: Row) -> Readings:
    return Readings(
        row["ok"], row["other_ok"], row["both_ok"], row["sum_score"], row["sum_square"],
        row["other_sum_score"], row["other_sum_square"], row["both_sum_score"],
        row["both_other_sum_score"], row["both_sum_product"],
    )  # fmt: skip


def _cases(rows: Sequence[Row]) -> Iterator[tuple[tuple[str, ...], list[Row]]]:
    """(model, format, parser, other parser) with its rows, in order."""

    def case(row: Row) -> tuple[str, ...]:
        return tuple(row[k] for k in ("model", "document_format", "parser", "other_parser"))

    for key, group in groupby(sorted(rows, key=case), key=case):
        yield key, list(group)


def _shares(rows: Sequence[Row]) -> str:
    parts = []
    for attribute in ("gender", "race"):
        for value in sorted({r[attribute] for r in rows}):
            group = [r for r in rows if r[attribute] == value]
            asked, differing = (sum(r[k] for r in group) for k in ("requests", "differ"))
            parts.append(f"{value} {100 * differing / asked:.1f}%")
    return ", ".join(parts)
