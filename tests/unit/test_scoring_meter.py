"""Sums in the last lines of segments, and what shards say while nothing is durable."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairscreen.scoring.journal import ShardJournal, WaveJournal, footer_tally, read_segment
from fairscreen.scoring.meter import Meter, Reading
from fairscreen.scoring.status import EVERY_SECONDS, STATUS, Status, StatusFile, read_status
from fairscreen.scoring.tally import Tally, tally

ANSWERED = {"call_key": "a", "transport": "answered", "cost_usd": 0.25, "tokens_in": 40,
            "tokens_out": 3, "error_kind": None, "retried": ["429", "429", "timeout"]}  # fmt: skip
FAILED = {"call_key": "b", "transport": "failed", "cost_usd": None, "tokens_in": None,
          "tokens_out": None, "error_kind": "500", "retried": ["500"]}  # fmt: skip
UNNAMED = {"call_key": "c", "transport": "failed"}  # a screener that names no kind
BOTH = Tally(2, {"answered": 1, "failed": 1}, {"500": 1}, {"429": 2, "timeout": 1, "500": 1},
             0.25, 40, 3)  # fmt: skip


def wave(folder: Path) -> WaveJournal:
    journal = WaveJournal(folder, "w")
    journal.create()
    return journal


def test_the_last_line_of_a_segment_holds_the_sums_of_its_replies(tmp_path: Path) -> None:
    shard = ShardJournal(tmp_path, "w", 0)
    shard.write([ANSWERED, FAILED])
    shard.write([UNNAMED])
    first, second = wave(tmp_path).segments()
    assert read_segment(first) == [ANSWERED, FAILED]
    assert footer_tally(first) == tally([ANSWERED, FAILED]) == BOTH
    assert footer_tally(first).errors == {"429": 2, "timeout": 1, "500": 2}
    assert footer_tally(second) == Tally(1, {"failed": 1}, {"other": 1})


record = st.fixed_dictionaries({
    "transport": st.sampled_from(["answered", "refused", "failed"]),
    "cost_usd": st.none() | st.integers(0, 8).map(float),
    "tokens_in": st.none() | st.integers(0, 9), "tokens_out": st.none() | st.integers(0, 9),
    "error_kind": st.sampled_from([None, "429", "reset"]),
    "retried": st.none() | st.lists(st.sampled_from(["429", "500"]), max_size=3),
})  # fmt: skip


@given(st.lists(record), st.lists(record))
def test_tallies_add(a: list, b: list) -> None:
    assert tally(a) + tally(b) == tally([*a, *b])


def test_a_segment_of_an_older_version_counts_its_replies(tmp_path: Path) -> None:
    body = json.dumps(ANSWERED).encode() + b"\n"
    footer = {"count": 1, "sha256": hashlib.sha256(body).hexdigest()}
    file = tmp_path / "old-000000.jsonl"
    file.write_bytes(body + json.dumps(footer).encode() + b"\n")
    assert read_segment(file) == [ANSWERED]
    assert footer_tally(file) == Tally(1)


def test_sums_that_are_none_are_no_segment_to_the_meter(tmp_path: Path) -> None:
    for footer in ({"count": 1, "retried": ["429"]}, {"count": 1, "cost_usd": "much"}, {}, []):
        (tmp_path / "x.jsonl").write_text("{}\n" + json.dumps(footer) + "\n")
        assert footer_tally(tmp_path / "x.jsonl") == Tally()


def test_the_counts_of_every_status_there_is_are_read_back(tmp_path: Path) -> None:
    kinds = [str(status) for status in range(100, 1000)]
    ShardJournal(tmp_path, "w", 0).write([FAILED | {"retried": kinds}])
    assert Meter(wave(tmp_path)).read().errors == {k: 1 + (k == "500") for k in kinds}


def test_a_wave_is_the_sum_of_its_segments_each_read_once(tmp_path: Path) -> None:
    meter = Meter(wave(tmp_path))
    assert meter.read() == Reading()
    shard = ShardJournal(tmp_path, "w", 0)
    shard.write([ANSWERED, FAILED])
    assert meter.read() == meter.read() == Reading(BOTH, BOTH.errors)
    shard.write([ANSWERED])
    ShardJournal(tmp_path, "w", 1).write([FAILED])
    assert meter.read().sums == BOTH + BOTH


def test_the_meter_looks_again_at_a_segment_that_was_being_written(tmp_path: Path) -> None:
    ShardJournal(tmp_path, "w", 0).write([ANSWERED])
    (segment,) = wave(tmp_path).segments()
    whole = segment.read_bytes()
    segment.write_bytes(whole[:10])
    meter = Meter(wave(tmp_path))
    assert meter.read().sums.count == 0
    segment.write_bytes(whole)
    assert meter.read().sums.count == 1


def test_shards_say_what_they_do_before_anything_is_durable(tmp_path: Path) -> None:
    journal = wave(tmp_path)
    meter = Meter(journal)
    ShardJournal(tmp_path, "w", 0).tell(Status(3, 5, {"429": 7}))
    ShardJournal(tmp_path, "w", 1).tell(Status(1, 0, {"500": 1, "429": 1}))
    assert meter.read() == Reading(Tally(), {"429": 8, "500": 1}, 4, 5)
    assert journal.segments() == []


def test_an_error_is_counted_once_though_shard_and_segment_tell_of_it(tmp_path: Path) -> None:
    meter = Meter(wave(tmp_path))
    shard = ShardJournal(tmp_path, "w", 0)
    shard.tell(Status(1, 1, {"429": 2}), last=True)
    shard.write([ANSWERED])  # two 429 and a timeout
    assert meter.read().errors == {"429": 2, "timeout": 1}
    shard.tell(Status(0, 1, {"429": 9, "timeout": 1}), last=True)
    assert meter.read().errors == {"429": 9, "timeout": 1}
    # Another attempt at the shard, after the first was killed: what that one told stays.
    again = ShardJournal(tmp_path, "w", 0)
    again.tell(Status(2, 0, {"429": 1}))
    again.write([FAILED])
    reading = meter.read()
    assert reading.errors == {"429": 10, "timeout": 1, "500": 2}
    assert (reading.under_way, reading.waiting) == (2, 0)


def test_a_status_is_written_every_few_seconds_and_at_the_end(tmp_path: Path) -> None:
    now = 0.0
    file = StatusFile(tmp_path, "a", clock=lambda: now)
    for at, waiting in ((0.0, 1), (EVERY_SECONDS - 0.1, 2)):
        now = at
        file.tell(Status(0, waiting))
    assert read_status(tmp_path / STATUS) == ("a", Status(0, 1))
    now = EVERY_SECONDS
    file.tell(Status(0, 3))
    assert read_status(tmp_path / STATUS) == ("a", Status(0, 3))
    file.tell(Status(), last=True)
    assert read_status(tmp_path / STATUS) == ("a", Status())


@pytest.mark.parametrize("text", [
    "", '{"attempt": "a", "under_w', "[]", "{}", "\udcff",
    '{"attempt": "a", "under_way": 1, "waiting": 1, "errors": [1]}',
])  # fmt: skip
def test_a_torn_status_is_passed_over(tmp_path: Path, text: str) -> None:
    journal = wave(tmp_path)
    shard = ShardJournal(tmp_path, "w", 0)
    shard.tell(Status(1, 1, {"500": 1}))
    meter = Meter(journal)
    assert meter.read().under_way == 1
    (shard.folder / STATUS).write_bytes(text.encode(errors="surrogateescape"))
    assert meter.read() == Reading(Tally(), {"500": 1})
    (shard.folder / STATUS).unlink()
    assert meter.read().under_way == 0


def test_a_status_that_cannot_be_written_stops_nobody(tmp_path: Path) -> None:
    (wave(tmp_path).folder / "0").write_text("no folder")
    ShardJournal(tmp_path, "w", 0).tell(Status(1), last=True)
    ShardJournal(tmp_path, "w", 1).tell(Status(1), last=True)
    assert Meter(wave(tmp_path)).read().under_way == 1


def test_a_status_does_not_bring_a_deleted_wave_back(tmp_path: Path) -> None:
    journal = wave(tmp_path)
    shard = ShardJournal(tmp_path, "w", 0)
    shard.tell(Status(1))
    journal.delete()
    shard.tell(Status(1), last=True)
    assert not journal.folder.exists()
