"""Durable replies: torn and damaged segments are ignored, whatever the damage."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairscreen.scoring.journal import (
    ShardJournal,
    WaveJournal,
    footer_tally,
    read_segment,
    waves_left,
    write_segment,
)

# A line separator inside a reply must not end its line.
RECORDS = [{"call_key": "a", "reply": "one\u2028\nline"}, {"call_key": "b", "reply": None}]


def test_a_segment_comes_back_as_written(tmp_path: Path) -> None:
    file = tmp_path / "x.jsonl"
    write_segment(file, RECORDS)
    assert read_segment(file) == RECORDS
    assert footer_tally(file).count == 2
    with pytest.raises(FileExistsError):
        write_segment(file, RECORDS)


def test_every_torn_length_is_ignored(tmp_path: Path) -> None:
    file, torn = tmp_path / "x.jsonl", tmp_path / "torn.jsonl"
    write_segment(file, RECORDS)
    data = file.read_bytes()
    for length in range(len(data)):
        torn.write_bytes(data[:length])
        assert read_segment(torn) is None, length
    assert read_segment(tmp_path / "gone.jsonl") is None


@given(st.data())
def test_a_changed_byte_is_noticed(tmp_path_factory: pytest.TempPathFactory, data) -> None:
    folder = tmp_path_factory.mktemp("segments")
    write_segment(folder / "x.jsonl", RECORDS)
    body = bytearray((folder / "x.jsonl").read_bytes())
    at = data.draw(st.integers(0, len(body) - 1))
    flipped = data.draw(st.integers(1, 255))
    body[at] ^= flipped
    (folder / "y.jsonl").write_bytes(bytes(body))
    assert read_segment(folder / "y.jsonl") in (None, RECORDS)


@pytest.mark.parametrize(
    "last", ['{"count": 3}', "[]", '"text"', "3", '{"count": 1, "sha256": null}', ""]
)
def test_a_bad_last_line_is_ignored(tmp_path: Path, last: str) -> None:
    file = tmp_path / "x.jsonl"
    file.write_text(json.dumps(RECORDS[0]) + "\n" + last + "\n")
    assert read_segment(file) is None


def test_attempts_see_each_others_segments(tmp_path: Path) -> None:
    first = ShardJournal(tmp_path, "w", 1)
    assert first.done() == set()
    first.write(RECORDS[:1])
    first.write([])
    first.write(RECORDS[1:])
    second = ShardJournal(tmp_path, "w", 1)
    assert second.done() == {"a", "b"}
    assert ShardJournal(tmp_path, "w", 2).done() == set()
    wave = WaveJournal(tmp_path, "w")
    assert len(wave.segments()) == 2


def test_end_stop_and_delete(tmp_path: Path) -> None:
    wave, shard = WaveJournal(tmp_path, "w"), ShardJournal(tmp_path, "w", 0)
    assert shard.state() == "go"
    wave.end()
    assert shard.state() == "finish"
    wave.stop()  # a person's wish is more urgent
    assert shard.state() == "stop"
    wave.delete()
    assert shard.state() == "go"
    wave.delete()


def test_waves_left_are_those_of_the_prefix(tmp_path: Path) -> None:
    for name in ("demo.2", "demo.1", "demo2.1"):
        WaveJournal(tmp_path, name).create()
    assert [w.wave_id for w in waves_left(tmp_path, "demo.")] == ["demo.1", "demo.2"]
    assert waves_left(tmp_path / "none", "demo.") == []
