"""Requests and replies to scores: one row per request, whatever its outcome. Transforms only."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as sf

from fairscreen.scoring.parse import Try, settle

_KEYS = (
    "audit_id", "request_id", "document_id", "applicant_id", "job", "document_format", "model",
    "call_key", "contrast", "version",
)  # fmt: skip
_ROWS = pa.schema(
    [
        *((name, pa.string()) for name in _KEYS),
        ("replicate", pa.int32()),
        ("parser", pa.string()),
        ("outcome", pa.string()),
        ("reason", pa.string()),
        ("score", pa.decimal128(9, 4)),
        ("reply_wave", pa.string()),
    ]
)
_DDL = (
    ", ".join(f"{name} STRING" for name in _KEYS)
    + ", replicate INT, parser STRING, outcome STRING, reason STRING, score DECIMAL(9,4), "
    + "reply_wave STRING"
)


def scores(requests: DataFrame, replies: DataFrame, parsers: Mapping[str, str]) -> DataFrame:
    """Rows of `scores`. `parsers`: model to parser. A request without a reply is `failed`.

    Identical calls are asked once: their reply fans out to every request with its key. Where a
    call has several replies, `parse.settle` takes one.
    """
    named = dict(parsers)
    joined = requests.join(_tries(replies), "call_key", "left").select(*_KEYS, "replicate", "tries")

    def work(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            rows = []
            for row in batch.to_pylist():
                parser = named[row["model"]]
                waves, tries = _read(row.pop("tries") or ())
                found, at = settle(parser, tries)
                rows.append(
                    {
                        **row,
                        "parser": parser,
                        "outcome": found.outcome,
                        "reason": found.reason and str(found.reason),
                        "score": found.score,
                        "reply_wave": None if at is None else waves[at],
                    }
                )
            yield pa.RecordBatch.from_pylist(rows, schema=_ROWS)

    return joined.mapInArrow(work, _DDL)


def _tries(replies: DataFrame) -> DataFrame:
    """call_key and `tries`, all its replies in the order that `settle` wants."""
    number = sf.coalesce("retry", sf.lit(0)).alias("retry")
    one = sf.struct(number, "asked_at", "wave_id", "transport", "reply", "finish_reason")
    ordered = sf.sort_array(sf.collect_list(one))
    kept = ("retry", "wave_id", "transport", "reply", "finish_reason")
    tries = sf.transform(ordered, lambda t: sf.struct(*(t[name].alias(name) for name in kept)))
    return replies.groupBy("call_key").agg(tries.alias("tries"))


def _read(tries: Iterable[dict[str, Any]]) -> tuple[list[str], list[Try]]:
    waves, found = [], []
    for one in tries:
        waves.append(one.pop("wave_id"))
        found.append(Try(**one))
    return waves, found
