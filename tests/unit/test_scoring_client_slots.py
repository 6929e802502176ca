"""The client of a shard: slots, the end of a wave, memory, limits and faults of our own."""

from __future__ import annotations

import asyncio
import itertools
import threading
import tracemalloc
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from test_scoring_client import KEY, STAMP, _key, ask, calls, client, forget, nap  # noqa: F401

from fairscreen.errors import InputError
from fairscreen.scoring.ask import ask_shard
from fairscreen.scoring.calls import Call, Reply, State, Unwatched
from fairscreen.scoring.client import Client
from fairscreen.scoring.journal import ShardJournal, WaveJournal
from model_server import serving


def test_stop_finishes_what_is_on_the_wire_and_asks_nothing_else(tmp_path: Path) -> None:
    wave, hold = WaveJournal(tmp_path, "w"), threading.Event()
    with serving(hold=hold) as server:
        hold.set()

        def stop(key: str, attempt: int) -> None:
            if sum(server.counts.values()) == 30:
                hold.clear()
                wave.stop()
                threading.Timer(1.2, hold.set).start()  # longer than the file is looked for

        server.on_attempt = stop
        journal = ShardJournal(tmp_path, "w", 0)
        screener = client(server, concurrency=8, timeout=30.0)
        counters = ask_shard(calls(1000), screener, journal, segment_size=10, stamp=STAMP)
        asked = sum(server.counts.values())
    assert counters.stopped
    assert counters.planned == 1000
    assert 30 <= asked <= 30 + 8
    assert counters.asked == len(journal.done()) == asked
    assert wave.reason() is None


class Over(Unwatched):
    """A watch whose time is up when the test says so."""

    over = False

    def state(self) -> State:
        return "finish" if self.over else "go"


def test_the_end_of_a_wave_brings_what_was_sent_to_its_last_word() -> None:
    """Every call is turned away twice. Time is up when 20 were sent: they are answered, and no
    more than could be on the wire before the watch was looked at."""
    watch, ticks = Over(), itertools.count()
    with serving(script={"*": ["429", "429_seconds"]}) as server:

        def end(key: str, attempt: int) -> None:
            watch.over = watch.over or len(server.counts) == 20

        server.on_attempt = end
        setup = client(server, concurrency=8, max_seconds=86_400.0).setup
        screener = Client(setup, clock=lambda: float(next(ticks)), sleep=nap)
        groups = list(screener.stream(calls(500), segment_size=10, watch=watch, keep=forget))
        asked = Counter(server.counts)
    assert set(asked.values()) == {3}
    assert sum(len(group) for group in groups) == len(asked)
    assert 20 <= len(asked) <= 20 + 8


@pytest.mark.parametrize(("concurrency", "segment_size"), [(1, 1), (4, 50), (32, 3), (7, 1000)])
def test_any_sizes_go_through(concurrency: int, segment_size: int, tmp_path: Path) -> None:
    with serving() as server:
        journal = ShardJournal(tmp_path, "w", 0)
        screener = client(server, concurrency=concurrency)
        done = ask_shard(calls(60), screener, journal, segment_size=segment_size, stamp=STAMP)
        assert (done.asked, sum(server.counts.values())) == (60, 60)
        assert server.most <= concurrency


def test_calls_are_drawn_as_slots_get_free() -> None:
    """What is drawn and not yet durable is bounded, so memory is."""
    drawn = itertools.count()
    confirmed = most = 0

    def source() -> Iterator[Call]:
        for call in calls(600):
            nonlocal most
            most = max(most, next(drawn) + 1 - confirmed)
            yield call

    def keep(group: list[tuple[str, Reply]]) -> None:
        nonlocal confirmed
        confirmed += len(group)

    with serving() as server:
        screener = client(server, concurrency=8, breaker=3)
        groups = list(screener.stream(source(), segment_size=20, watch=Unwatched(), keep=keep))
    assert confirmed == sum(map(len, groups)) == 600
    assert most <= 8 + 2 * 20


def test_the_wire_stays_full_while_a_segment_is_written() -> None:
    """Until the first segment is durable every slot is used, and no call more is sent."""
    full, durable, at_release = threading.Event(), [0], []
    with serving() as server:

        def attempt(key: str, number: int) -> None:
            if sum(server.counts.values()) == 8 + 2 * 20:
                full.set()

        def keep(group: list[tuple[str, Reply]]) -> None:
            if not durable[0]:
                assert full.wait(60), "the wire ran dry"
                at_release.append(sum(server.counts.values()))
            durable[0] += len(group)

        server.on_attempt = attempt
        screener = client(server, concurrency=8, breaker=3)
        for group in screener.stream(calls(200), segment_size=20, watch=Unwatched(), keep=keep):
            assert len(group) <= durable[0]
    assert (at_release, durable) == ([48], [200])


def test_what_cannot_be_made_durable_ends_the_shard() -> None:
    def keep(group: object) -> None:
        raise OSError(28, "No space left on device")

    with serving() as server:
        screener = client(server, concurrency=8, breaker=3)
        with pytest.raises(OSError, match="No space"):
            list(screener.stream(calls(200), segment_size=20, watch=Unwatched(), keep=keep))
        assert sum(server.counts.values()) <= 8 + 2 * 20


def test_memory_does_not_grow_with_the_calls() -> None:
    def peak(count: int) -> int:
        with serving() as server:
            screener = client(server, concurrency=16)
            groups = screener.stream(calls(count), segment_size=20, watch=Unwatched(), keep=forget)
            server.counts.clear()
            tracemalloc.start()
            seen = 0
            for group in groups:
                seen += len(group)
                server.counts.clear()
            top = tracemalloc.get_traced_memory()[1]
            tracemalloc.stop()
        assert seen == count
        return top

    peak(50)  # imports and caches
    assert peak(500) < 1.5 * peak(100)


def test_what_is_under_way_is_kept_when_the_source_breaks(tmp_path: Path) -> None:
    def source() -> Iterator[Call]:
        yield from calls(20)
        raise InputError("table contents", "a text is not there", "Render.")

    with serving() as server:
        journal = ShardJournal(tmp_path, "w", 0)
        done = ask_shard(source(), client(server), journal, segment_size=50, stamp=STAMP)
    assert len(journal.done()) == done.asked == 20
    assert str(WaveJournal(tmp_path, "w").reason()).startswith("table contents: a text")


def test_a_fault_of_ours_is_raised_after_what_is_answered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serving() as server:
        screener = client(server, concurrency=1)
        build = screener.setup.prompt.filled
        monkeypatch.setattr(
            type(screener.setup.prompt),
            "filled",
            lambda self, job, resume: 1 / 0 if resume.endswith(" 5") else build(job, resume),
        )
        journal = ShardJournal(tmp_path, "w", 0)
        with pytest.raises(ZeroDivisionError):
            ask_shard(calls(20), screener, journal, segment_size=50, stamp=STAMP)
    assert journal.done() == {f"c{i}" for i in range(5)}


def test_limits_slow_a_shard_down_by_its_own_clock() -> None:
    """600 requests a minute, 150 calls: the clock of the test says 14.9 s at the least."""
    now = 0.0

    async def sleep(seconds: float) -> None:
        nonlocal now
        now += seconds
        await asyncio.sleep(0)

    with serving() as server:
        setup = client(server, rpm=600, concurrency=4).setup
        screener = Client(setup, clock=lambda: now, sleep=sleep)
        assert len(list(screener.ask(list(calls(150))))) == 150
    assert now >= 149 * 0.1 - 1e-6


def test_costs_and_probabilities_come_along() -> None:
    with serving() as server:
        prices = {"tokens_in": 10.0, "tokens_out": 100.0}
        screener = client(server, prices=prices, decoding={"logprobs": 2})
        for reply in ask(screener, 4).values():
            assert reply.tokens_in is not None
            assert reply.cost_usd == pytest.approx((10 * reply.tokens_in + 100 * 2) / 1e6)
            assert reply.expected_score == pytest.approx(0.6 * float(reply.reply or "nan"))
            assert (reply.model_version, reply.provider_id) == ("server-model/fp_1", "chatcmpl-1")
