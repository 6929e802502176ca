"""Requests and replies to scores: one row per request, whatever its outcome. Transforms only."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as sf

from fairscreen.scoring.parse import parse

_KEYS = (
    "audit_id", "request_id", "document_id", "applicant_id", "job", "document_format", "model",
    "call_key",
)  # fmt: skip
_ROWS = pa.schema(
    [
        *((name, pa.string()) for name in _KEYS),
        ("replicate", pa.int32()),
        ("parser", pa.string()),
        ("outcome", pa.string()),
        ("reason", pa.string()),
        ("score", pa.decimal128(9, 4)),
    ]
)
_DDL = (
    ", ".join(f"{name} STRING" for name in _KEYS)
    + ", replicate INT, parser STRING, outcome STRING, reason STRING, score DECIMAL(9,4)"
)


def scores(requests: DataFrame, replies: DataFrame, parsers: Mapping[str, str]) -> DataFrame:
    """Rows of `scores`. `parsers`: model to parser. A request without a reply is `failed`.

    Identical calls are asked once: their reply fans out to every request with its key.
    """
    named = dict(parsers)
    reply = sf.min(sf.struct("asked_at", "wave_id", "transport", "reply")).alias("r")
    first = replies.groupBy("call_key").agg(reply)
    joined = requests.join(first, "call_key", "left").select(
        *_KEYS, "replicate", "r.transport", "r.reply"
    )

    def work(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            rows = []
            for row in batch.to_pylist():
                parser = named[row["model"]]
                found = parse(parser, row.pop("reply"), row.pop("transport"))
                rows.append(
                    {
                        **row,
                        "parser": parser,
                        "outcome": found.outcome,
                        "reason": found.reason and str(found.reason),
                        "score": found.score,
                    }
                )
            yield pa.RecordBatch.from_pylist(rows, schema=_ROWS)

    return joined.mapInArrow(work, _DDL)
