"""Asking one shard: plain Python, the same in an executor and in the driver."""

from __future__ import annotations

import functools
import os
import signal
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, replace
from pathlib import Path

import pyarrow as pa
import pytest

from fairscreen import errors
from fairscreen.scoring.ask import Asking, Counters, _worker, ask_shard
from fairscreen.scoring.calls import Call, Reply
from fairscreen.scoring.journal import ShardJournal, WaveJournal, read_segment
from fairscreen.scoring.wave import _stop_on_interrupt

STAMP = {"model": "m", "model_version": "1", "wave_id": "w"}


class Recorder:
    """Answers each call with its key, last one first; raises, or does something, at a key."""

    def __init__(self, raise_at: str = "", at: str = "", do: Callable[[], None] = lambda: None):
        self.asked: list[str] = []
        self.raise_at, self.at, self.do = raise_at, at, do

    def ask(self, calls: Sequence[Call]) -> Iterator[tuple[str, Reply]]:
        for call in reversed(calls):
            if call.call_key == self.raise_at:
                raise RuntimeError("killed")
            if call.call_key == self.at:
                self.do()
            self.asked.append(call.call_key)
            yield call.call_key, Reply("answered", call.call_key)


def calls(count: int) -> list[Call]:
    return [Call(f"k{i}") for i in range(count)]


def shard(folder: Path) -> ShardJournal:
    return ShardJournal(folder, "w", 0)


def test_what_is_in_the_journal_is_not_asked(tmp_path: Path) -> None:
    first = Recorder(raise_at="k5")  # asks k3 to k0 in the first group, then k7, k6
    with pytest.raises(RuntimeError, match="killed"):
        ask_shard(calls(10), first, shard(tmp_path), segment_size=4, stamp=STAMP)
    assert sorted(first.asked) == ["k0", "k1", "k2", "k3", "k6", "k7"]
    assert shard(tmp_path).done() == set(first.asked)

    second = Recorder()
    found = ask_shard(calls(10), second, shard(tmp_path), segment_size=4, stamp=STAMP)
    assert sorted(second.asked) == ["k4", "k5", "k8", "k9"]
    assert (found.planned, found.asked, found.skipped, found.stopped) == (10, 4, 6, False)
    assert len(shard(tmp_path).done()) == 10


@pytest.mark.parametrize("end", [False, True])
def test_a_stop_or_end_file_ends_the_shard_after_its_group(tmp_path: Path, end: bool) -> None:
    wave = WaveJournal(tmp_path, "w")
    screener = Recorder(at="k2", do=wave.end if end else wave.stop)
    found = ask_shard(calls(10), screener, shard(tmp_path), segment_size=4, stamp=STAMP)
    assert (found.planned, found.asked, found.left) == (10, 4, 6)
    assert (found.stopped, found.ended) == (not end, end)
    assert shard(tmp_path).done() == {"k0", "k1", "k2", "k3"}


def test_an_end_that_comes_after_the_last_call_left_nothing(tmp_path: Path) -> None:
    screener = Recorder(at="k2", do=WaveJournal(tmp_path, "w").end)
    found = ask_shard(calls(4), screener, shard(tmp_path), segment_size=4, stamp=STAMP)
    assert (found.asked, found.left, found.ended) == (4, 0, False)


def test_a_reply_may_bring_its_own_model_version(tmp_path: Path) -> None:
    class Versions:
        def ask(self, calls: Sequence[Call]) -> Iterator[tuple[str, Reply]]:
            yield "a", Reply("answered", "1", model_version="m-2026-11-01", p_yes=0.25)
            yield "b", Reply("failed")

    ask_shard([Call("a"), Call("b")], Versions(), shard(tmp_path), segment_size=4, stamp=STAMP)
    (segment,) = WaveJournal(tmp_path, "w").segments()
    found = {r["call_key"]: r for r in read_segment(segment) or ()}
    assert {key: r["model_version"] for key, r in found.items()} == {"a": "m-2026-11-01", "b": "1"}
    assert {key: r["p_yes"] for key, r in found.items()} == {"a": 0.25, "b": None}


def batch(*rows: tuple[str, int, str | None]) -> pa.RecordBatch:
    records = [
        {
            "call_key": k,
            "shard": s,
            "content_key": f"c-{k}",
            "prompt_key": "p",
            "resume": r,
            "image": None,
            "media_type": None if r is None else "text/plain",
            "prompt": "Wanted.",
            "payload": None,
        }
        for k, s, r in rows
    ]
    return pa.RecordBatch.from_pylist(records)


def asking(folder: Path, screener: Recorder, needs_text: bool = True) -> Asking:
    return Asking(
        journal=str(folder),
        wave_id="w",
        segment_size=2,
        model="m",
        model_version="1",
        open=functools.partial(lambda s: s, screener),
        needs_text=needs_text,
    )


def test_a_worker_returns_counters_and_no_reply(tmp_path: Path) -> None:
    WaveJournal(tmp_path, "w").create()
    screener = Recorder()
    batches = [batch(("a", 1, "x"), ("b", 1, "y")), batch(("c", 1, "z"))]
    (out,) = _worker(asking(tmp_path, screener))(iter(batches))
    assert out.to_pylist() == [{"shard": 1, **asdict(Counters(planned=3, asked=3))}]
    assert ShardJournal(tmp_path, "w", 1).done() == {"a", "b", "c"}


def test_a_batch_is_asked_to_its_last_row(tmp_path: Path) -> None:
    """Larger than the slices in which rows are made of it, and no multiple of them."""
    WaveJournal(tmp_path, "w").create()
    screener = Recorder()
    large = batch(*((f"k{i}", 0, "x") for i in range(1201)))
    (out,) = _worker(replace(asking(tmp_path, screener), segment_size=1000))([large])
    assert sorted(screener.asked) == sorted(f"k{i}" for i in range(1201))
    assert out.to_pylist()[0]["asked"] == 1201


def test_a_missing_text_reaches_the_driver_by_name(tmp_path: Path) -> None:
    WaveJournal(tmp_path, "w").create()
    work = _worker(asking(tmp_path, Recorder()))
    with pytest.raises(RuntimeError) as raised:
        list(work(iter([batch(("a", 0, None))])))
    found = errors.from_worker(raised.value)
    assert found is not None
    assert found.where == "table contents, content_key c-a"
    # A screener that is sent no text does not miss it.
    assert list(_worker(asking(tmp_path, Recorder(), needs_text=False))([batch(("a", 0, None))]))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_stops_the_wave_once(tmp_path: Path, number: signal.Signals) -> None:
    """What Ctrl-C does in a run is in tests/spark; schedulers send SIGTERM before they kill."""
    before, wave = signal.getsignal(number), WaveJournal(tmp_path, "w")
    with _stop_on_interrupt(wave):
        os.kill(os.getpid(), number)
        assert wave.state() == "stop"
        assert signal.getsignal(number) == before  # the second one is what it always was
    assert wave.reason() is None
    assert signal.getsignal(number) == before
