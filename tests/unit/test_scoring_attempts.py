"""Two attempts at one shard: the newer one asks, the older one gives way; nothing is lost."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from test_scoring_client import KEY, STAMP, calls, client

from fairscreen.errors import InputError
from fairscreen.processes import this_process
from fairscreen.scoring.ask import Counters, ask_shard
from fairscreen.scoring.attempts import (
    DRAIN_SECONDS,
    SETTLE_SECONDS,
    Attempt,
    let_end,
    running,
)
from fairscreen.scoring.journal import ShardJournal, WaveJournal, records
from model_server import serving


def begun(folder: Path, **process: object) -> Path:
    """The mark of an attempt of some process: by default of this one."""
    attempt = Attempt(folder)
    attempt.begin(sleep=lambda seconds: None)
    mark = folder / f"{attempt.name}.attempt"
    mark.write_text(json.dumps(this_process() | process))
    return mark


def gone() -> int:
    child = subprocess.Popen([sys.executable, "-c", ""])
    child.wait()
    return child.pid


def waited(folder: Path) -> list[float]:
    """For how long a new attempt waits there."""
    slept: list[float] = []
    Attempt(folder).begin(sleep=slept.append)
    return slept


def test_the_newest_attempt_is_the_only_one(tmp_path: Path) -> None:
    attempts = [Attempt(tmp_path) for _ in range(3)]
    for number, attempt in enumerate(attempts):
        attempt.begin(sleep=lambda seconds: None)
        assert [a.superseded() for a in attempts] == [True] * number + [False] * (3 - number)
    attempts[2].end()  # it did its work: those before it are not called back
    assert [a.superseded() for a in attempts] == [True, True, False]


def test_of_two_that_took_one_number_one_gives_way(tmp_path: Path) -> None:
    attempt = Attempt(tmp_path)
    attempt.begin()
    (tmp_path / f"000001-{'0' * 32}.attempt").touch()
    assert not attempt.superseded()
    (tmp_path / f"000001-{'g' * 32}.attempt").touch()
    assert attempt.superseded()


def test_an_attempt_waits_only_for_those_that_may_still_send(tmp_path: Path) -> None:
    assert waited(tmp_path) == []
    for mark in tmp_path.glob("*.attempt"):
        mark.with_suffix(".ended").touch()
    begun(tmp_path, process=gone())
    assert waited(tmp_path) == []  # one ended, one was killed
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    begun(elsewhere, process=gone(), host="elsewhere")  # of another host nothing is known
    assert waited(elsewhere) == [SETTLE_SECONDS]
    here = tmp_path / "here"
    here.mkdir()
    begun(here)
    assert waited(here) == [SETTLE_SECONDS]


@pytest.mark.parametrize(("host", "longest"), [(None, DRAIN_SECONDS), ("else", SETTLE_SECONDS)])
def test_a_stopped_wave_is_waited_for_no_longer_than_it_helps(
    tmp_path: Path, host: str | None, longest: float
) -> None:
    (tmp_path / "0").mkdir()
    mark = begun(tmp_path / "0", **({"host": host} if host else {}))
    now = [0.0]

    def sleep(seconds: float) -> None:
        now[0] += seconds

    let_end(tmp_path, clock=lambda: now[0], sleep=sleep)
    assert longest <= now[0] <= longest + 1
    mark.with_suffix(".ended").touch()
    assert running(tmp_path) == []


def until(true: Callable[[], object]) -> None:
    while not true():
        time.sleep(0.01)


def test_an_attempt_that_lives_on_gives_way_and_what_it_sent_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Spark believes an executor lost; it is not. 4 calls are on its wire when the next begins."""
    monkeypatch.setenv("TEST_MODEL_KEY", KEY)
    count, size = 60, 5
    found: dict[str, Counters] = {}

    def attempt(name: str, screener: object) -> threading.Thread:
        def work() -> None:
            journal = ShardJournal(tmp_path, "w", 0)
            found[name] = ask_shard(calls(count), screener, journal, segment_size=size, stamp=STAMP)

        thread = threading.Thread(target=work)
        thread.start()
        return thread

    wave = WaveJournal(tmp_path, "w")
    with serving() as server:
        server.hold = threading.Event()
        server.hold.set()

        def hold(key: str, attempt: int) -> None:
            if sum(server.counts.values()) == 24:
                server.hold.clear()

        server.on_attempt = hold
        old = attempt("old", client(server, concurrency=4, breaker=size))
        until(lambda: server.under_way == 4)
        sent = len(server.counts)
        new = attempt("new", client(server, concurrency=4, breaker=size))
        until(lambda: server.under_way > 4)  # the new one has read the journal and asks
        server.hold.set()
        old.join()
        new.join()
        counts = list(server.counts.values())
    assert (found["old"].fenced, found["new"].fenced) == (True, False)
    assert found["new"].left == 0
    assert (len(counts), max(counts)) == (count, 2)
    twice = counts.count(2)  # what was not durable, and nothing else: never more than the slots
    assert 4 <= twice == sent - found["new"].skipped <= 4 + 2 * size
    kept = [record["call_key"] for _, record in records(wave.segments())]
    assert len(kept) == sum(counts) == count + twice


def test_an_attempt_whose_wave_is_committed_stops_and_its_replies_wait(tmp_path: Path) -> None:
    wave, shard = WaveJournal(tmp_path, "w"), ShardJournal(tmp_path, "w", 0, made=True)
    wave.create()
    shard.begin()
    shard.write([{"call_key": "a"}])
    assert shard.state() == "go"
    assert wave.delete(wave.segments())
    assert not wave.folder.exists()
    assert shard.state() == "stop"
    shard.write([{"call_key": "b"}])  # was on the wire
    assert [r["call_key"] for _, r in records(wave.segments())] == ["b"]
    # A task that starts only now finds no wave: it must not ask for nobody.
    wave.delete(wave.segments())
    with pytest.raises(InputError, match="cannot be written: No such file or directory"):
        ShardJournal(tmp_path, "w", 0, made=True).begin()


def test_a_segment_that_comes_while_the_wave_is_committed_stays(tmp_path: Path) -> None:
    wave, shard = WaveJournal(tmp_path, "w"), ShardJournal(tmp_path, "w", 0)
    shard.write([{"call_key": "a"}])
    read = wave.segments()
    shard.write([{"call_key": "b"}])
    (shard.folder / "torn-000000.jsonl").write_text('{"call_key": "c"}\n')
    assert not wave.delete(read)
    assert [r["call_key"] for _, r in records(wave.segments())] == ["b"]
    assert len(wave.segments()) == 1
    assert wave.state() == "stop"  # nobody asks here any more
    assert wave.delete(wave.segments())
    assert not wave.folder.exists()


def test_workers_that_do_not_see_the_journal_ask_nothing(tmp_path: Path) -> None:
    wave = WaveJournal(tmp_path, "w")
    with pytest.raises(InputError) as raised:
        wave.require_shared(sleep=lambda seconds: None)
    host = this_process()["host"]
    assert str(raised.value) == (
        f"scoring.journal {tmp_path}: a worker on {host} does not see the folder that the driver "
        "made there (w), so its replies would be lost. Nothing was asked. Set scoring.journal to a "
        "folder that the driver and all executors share, or scoring.where to driver."
    )
    # A network file system may show it late.
    wave.require_shared(sleep=lambda seconds: wave.create())


FULL = """
import resource, sys
from fairscreen.errors import InputError
from fairscreen.scoring.ask import ask_shard
from fairscreen.scoring.calls import Call, Reply
from fairscreen.scoring.journal import ShardJournal

class Screener:
    def ask(self, calls):
        for call in calls:
            yield call.call_key, Reply("answered", "x" * (9000 if call.call_key == "k2" else 9))

    def stream(self, calls, keep, **rest):
        for pair in self.ask(calls):
            keep([pair])
            yield [pair]

if sys.argv[2] == "groups":
    del Screener.stream
resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
try:
    ask_shard([Call(f"k{i}") for i in range(5)], Screener(), ShardJournal(sys.argv[1], "w", 0),
              segment_size=1, stamp={"model": "m", "model_version": "1", "wave_id": "w"})
except InputError as error:
    print("raised", error)
"""


@pytest.mark.parametrize("kind", ["stream", "groups"])
def test_a_disk_that_takes_no_more_is_told_and_what_is_written_is_kept(
    tmp_path: Path, kind: str
) -> None:
    """No file of this process may be larger than 4,096 bytes: the third reply is."""
    command = [sys.executable, "-c", FULL, str(tmp_path), kind]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    wave = WaveJournal(tmp_path, "w")
    said = (
        f"journal {tmp_path}/w/0: cannot be written: File too large. Make room, or give the right "
        "to write there, and run the same command again: what was written is kept."
    )
    if kind == "groups":
        assert done.stdout == f"raised {said}\n"
    else:  # the reason is in the stop file, for which there was room
        assert str(wave.reason()) == said
    assert sorted(r["call_key"] for _, r in records(wave.segments())) == ["k0", "k1"]


NO_ROOM = """
import resource, sys
from fairscreen.errors import InputError
from fairscreen.scoring.journal import WaveJournal

wave = WaveJournal(sys.argv[1], "w")
resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
print(wave.stop(InputError("a", "b", "c.")))
try:
    wave.folder.rmdir()
    wave.folder.parent.rmdir()
    open(wave.folder.parent, "x").close()
    print(wave.stop(InputError("a", "b", "c.")))
    wave.stop()
except InputError as error:
    print("raised", error)
"""


def test_where_there_is_no_room_for_the_reason_it_is_not_lost(tmp_path: Path) -> None:
    root = tmp_path / "journal"
    command = [sys.executable, "-c", NO_ROOM, str(root)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    # An empty file would be somebody's wish to stop: there is none, and who asked is told.
    assert done.stdout == (
        f"False\nFalse\nraised journal {root}/w: cannot be written: Not a directory. Make room, or "
        "give the right to write there, and run the same command again: what was written is kept.\n"
    )
