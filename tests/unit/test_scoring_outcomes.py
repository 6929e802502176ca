"""What is kept of a call, whatever became of it: the columns of `replies`, by outcome."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest
from test_scoring_client import KEY, STAMP, calls, client

from fairscreen.scoring.ask import ask_shard
from fairscreen.scoring.journal import Record, ShardJournal, WaveJournal, records
from fairscreen.scoring.parse import parse
from model_server import serving

PRICES = {"tokens_in": 1.0, "tokens_out": 2.0}
ALWAYS = {"call_key", "model", "model_version", "transport", "attempts", "latency_ms", "asked_at",
          "wave_id", "cost_max_usd"}  # fmt: skip
OF_AN_ANSWER = {"reply", "finish_reason", "tokens_in", "tokens_out", "cost_usd", "provider_id"}


def kept(folder: Path, faults: list[str], parser: str) -> tuple[Record, str]:
    """The record of a call after these faults, and its outcome; a second call is answered, so that
    the first failed alone."""
    with serving() as server:
        server.fault = lambda key, attempt: (  # type: ignore[method-assign]
            [*faults, "ok"][attempt - 1] if len(server.counts) == 1 else "ok"
        )
        screener = client(server, prices=PRICES, max_attempts=2, concurrency=1)
        journal = ShardJournal(folder, "w", 0)
        ask_shard(calls(2), screener, journal, segment_size=2, stamp=STAMP)
    found = [r for _, r in records(WaveJournal(folder, "w").segments())]
    (record,) = (r for r in found if r["call_key"] == "c0")
    read = parse(parser, record["reply"], record["transport"], record["finish_reason"])
    return record, read.outcome


@pytest.mark.parametrize(
    ("faults", "parser", "outcome", "also", "version"),
    [
        (["500"], "score_0_100/2", "ok", OF_AN_ANSWER, "server-model/fp_1"),
        (["500"], "yes_no_one_word/2", "unparseable", OF_AN_ANSWER, "server-model/fp_1"),
        (["500", "refusal"], "score_0_100/2", "refused", OF_AN_ANSWER, "server-model/fp_1"),
        # A filter before the model, and a call that brought nothing: the error says what came.
        (["500", "filter_400"], "score_0_100/2", "refused", {"finish_reason", "error"}, "1"),
        (["500", "500"], "score_0_100/2", "failed", {"error"}, "1"),
    ],
)
def test_every_outcome_keeps_what_there_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, faults: list[str], parser: str, outcome: str,
    also: set[str], version: str,
) -> None:  # fmt: skip
    monkeypatch.setenv("TEST_MODEL_KEY", KEY)
    before = datetime.now(UTC)
    record, found = kept(tmp_path, faults, parser)
    assert found == outcome
    sums = (record.pop("error_kind"), record.pop("retried"))  # for tallies, no columns
    assert sums == ("500" if outcome == "failed" else None, ["500"])
    assert {name for name, value in record.items() if value is not None} == ALWAYS | also
    assert (record["attempts"], record["model_version"]) == (2, version)
    assert before <= datetime.fromisoformat(record["asked_at"]) <= datetime.now(UTC)
