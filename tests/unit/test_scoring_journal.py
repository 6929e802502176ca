"""Durable replies: torn and damaged segments are ignored, whatever the damage."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairscreen.errors import InputError
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
    "last",
    ['{"count": 3}', "[]", '"text"', "3", '{"count": 1, "sha256": null}', "", "[" * 200_000,
     '{"count": 1e999}'],
    ids=range(8),
)  # fmt: skip
def test_a_bad_last_line_is_ignored(tmp_path: Path, last: str) -> None:
    file = tmp_path / "x.jsonl"
    file.write_text(json.dumps(RECORDS[0]) + "\n" + last + "\n")
    assert read_segment(file) is None
    assert footer_tally(file).count in (0, 1, 3)  # a last line alone may be believed


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


def _odd(folder: Path) -> None:
    """What somebody, or a file system, may leave in a shard's folder."""
    (folder / "notes.attempt").write_text("mine")
    (folder / "000001-x.attempt").mkdir()
    (folder / "a-000000.jsonl").mkdir()
    os.symlink("loop.jsonl", folder / "loop.jsonl")
    (folder / "deep.jsonl").write_bytes(b"{}\n" + b"[" * 200_000 + b"\n")
    (folder / "status").mkdir()


def test_what_is_no_segment_and_no_mark_is_passed_over(tmp_path: Path) -> None:
    wave, shard = WaveJournal(tmp_path, "w"), ShardJournal(tmp_path, "w", 0)
    shard.folder.mkdir(parents=True)
    _odd(shard.folder)
    shard.begin()
    shard.write(RECORDS)
    assert (shard.state(), shard.done()) == ("go", {"a", "b"})
    shard.end()
    (whole,) = wave.whole()
    assert read_segment(whole) == RECORDS
    assert not wave.delete([whole])  # folders that are not ours stay
    assert (wave.whole(), wave.reason()) == ([], None)


@pytest.mark.parametrize("records", [[{"a": 1}], [1], [None], [{"call_key": 5}]])
def test_a_segment_of_something_else_is_kept_and_told(tmp_path: Path, records: list) -> None:
    wave, shard = WaveJournal(tmp_path, "w"), ShardJournal(tmp_path, "w", 0)
    shard.write(RECORDS)
    body = b"".join(json.dumps(r).encode() + b"\n" for r in records)
    footer = {"count": len(records), "sha256": hashlib.sha256(body).hexdigest()}
    odd = shard.folder / "x-0.jsonl"
    odd.write_bytes(body + json.dumps(footer).encode() + b"\n")
    told = rf"journal {odd}: holds no replies\. Move it elsewhere, and run the same command again\."
    with pytest.raises(InputError, match=told):
        shard.done()
    (whole,) = wave.whole()
    with pytest.raises(InputError, match=told):
        wave.delete([whole])
    assert wave.segments() == [odd]


UNREADABLE = """
import os, sys
from fairscreen.errors import InputError
from fairscreen.scoring.journal import ShardJournal, WaveJournal

if os.getuid() == 0:
    os.setuid(65534)
wave = WaveJournal(sys.argv[1], "w")
print([s.name for s in wave.whole()])
for ask in (ShardJournal(sys.argv[1], "w", 0).done, wave.delete, lambda: wave.delete(wave.whole())):
    try:
        print(ask())
    except InputError as error:
        print(error)
"""


def test_a_file_without_the_right_to_read_it_is_named(tmp_path: Path) -> None:
    for folder in (tmp_path, *tmp_path.parents):  # pytest's own folders are for their owner alone
        mode = folder.stat().st_mode
        if not mode & 0o001:
            os.chmod(folder, mode | 0o055)
    shard = ShardJournal(tmp_path, "w", 0)
    for record in RECORDS:
        shard.write([record])
    first, second = WaveJournal(tmp_path, "w").segments()
    os.chmod(first, 0)
    os.chmod(shard.folder, 0o555)
    done = subprocess.run(
        [sys.executable, "-c", UNREADABLE, str(tmp_path)], capture_output=True, text=True
    )
    os.chmod(shard.folder, 0o755)
    cannot_read = (
        f"journal {first}: cannot be read: Permission denied. Give the right to read it and run "
        "the same command again, or remove it: the calls in it are then asked again."
    )
    cannot_remove = (
        f"journal {tmp_path}/w: cannot be written: Permission denied. Make room, or give the "
        "right to write there, and run the same command again: what was written is kept."
    )
    assert done.stdout.splitlines() == [
        f"['{second.name}']", cannot_read, cannot_read, cannot_remove,
    ]  # fmt: skip


@pytest.mark.parametrize("odd", ["folder", "binary", "marker"])
def test_a_stop_file_that_says_nothing_is_named(tmp_path: Path, odd: str) -> None:
    wave = WaveJournal(tmp_path, "w")
    wave.create()
    stop = wave.folder / "stop"
    if odd == "folder":
        stop.mkdir()
    else:
        stop.write_bytes(b"\xff\xfe" if odd == "binary" else b'@@fairscreen{"a": 1}@@')
    assert wave.state() == "stop"
    assert str(wave.reason()) == (
        f"journal {stop}: stopped the wave, and says nothing that can be read. Remove it, and run "
        "the same command again."
    )
    assert wave.delete()


def test_an_end_that_cannot_be_told_is_an_input_error(tmp_path: Path) -> None:
    wave = WaveJournal(tmp_path, "w")
    wave.folder.write_text("a file in the folder's place")
    with pytest.raises(InputError, match="cannot be written"):
        wave.end()
    with pytest.raises(InputError, match="cannot be written"):
        wave.stop()
    assert not wave.stop(InputError("a", "b", "c."))
