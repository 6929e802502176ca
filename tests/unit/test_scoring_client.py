"""The client against a real server that misbehaves: exactly one reply per call, whatever happens.

Waiting is cut short (never left out), and no test looks at a clock.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from fairscreen.errors import InputError, StoppedError
from fairscreen.scoring.ask import ask_shard
from fairscreen.scoring.calls import Call, Reply
from fairscreen.scoring.client import Client
from fairscreen.scoring.journal import ShardJournal, WaveJournal, records
from fairscreen.scoring.meter import Meter
from fairscreen.scoring.parse import parse
from fairscreen.scoring.screeners import KINDS
from fairscreen.scoring.status import STATUS, Status, read_status
from model_server import FINAL, HARMLESS, HEALS, ModelServer, serving

STAMP = {"model": "m", "model_version": "1", "wave_id": "w"}
KEY = "k-0123456789abcdef"
# A timeout that no busy machine reaches: tests of hangs set their own.
FAST: dict[str, Any] = {"timeout": 60.0, "max_attempts": 4, "max_seconds": 3000.0}

# How the client counts what the server did to it.
KINDS_OF_ERRORS = {
    **dict.fromkeys(["429", "429_seconds", "429_date", "429_reset"], "429"), "html_502": "502",
    **dict.fromkeys(["malformed", "html_200", "empty_choices"], "malformed_200"),
    "hang": "timeout", "truncated": "reset",
}  # fmt: skip


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEST_MODEL_KEY", KEY)


async def nap(seconds: float) -> None:
    await asyncio.sleep(min(seconds, 0.002))


def client(server: ModelServer, provider: str = "openai", **params: Any) -> Client:
    where = {"base_url": server.base_url(provider), "key_env": "TEST_MODEL_KEY"}
    full = {"model": "m-1", "provider": provider, **where, **FAST, **params}
    if provider == "bedrock":
        full["region"] = "us-east-1"
    kind = "embedding_api" if provider == "openai_embeddings" else "chat"
    prepared = KINDS[kind].prepare(full, "scoring.models.x.params", 1)
    return Client(prepared["setup"], sleep=nap)


def forget(group: object) -> None:
    """Makes nothing durable."""


def calls(count: int, start: int = 0) -> Iterator[Call]:
    for i in range(start, start + count):
        yield Call(f"c{i}", resume=f"Resume of {'Greg' if i % 2 else 'Jamal'} {i}", prompt="A job")


def ask(screener: Client, count: int) -> dict[str, Reply]:
    found = list(screener.ask(list(calls(count))))
    assert sorted(key for key, _ in found) == sorted(c.call_key for c in calls(count))
    return dict(found)


@pytest.mark.parametrize("provider", ["openai", "azure_openai", "anthropic", "gemini", "bedrock"])
def test_every_chat_dialect_end_to_end(provider: str) -> None:
    with serving() as server:
        replies = ask(client(server, provider), 6)
        assert all(KEY in key for key in server.keys)
        assert sorted(server.counts.values()) == [1] * 6
    assert {(r.transport, r.attempts, r.error) for r in replies.values()} == {("answered", 1, None)}
    # The scorer's answers differ by applicant: each call got its own.
    assert len({r.reply for r in replies.values()}) > 3
    assert all((r.reply or "").isdigit() and r.tokens_out == 2 for r in replies.values())


def test_embeddings_end_to_end() -> None:
    with serving(script={"*": ["500", "empty_choices"]}) as server:
        replies = ask(client(server, "openai_embeddings"), 4)
    for reply in replies.values():
        found = parse(KINDS["embedding_api"].parser, reply.reply, reply.transport)
        assert found.score is not None
        assert (reply.attempts, reply.tokens_out) == (3, 0)
    assert len({reply.reply for reply in replies.values()}) == 4


def test_a_reply_has_the_time_when_it_was_there_not_when_it_was_written(tmp_path: Path) -> None:
    """Six calls one after the other, all in one segment; the first two are turned away."""
    arrived: list[datetime] = []
    with serving(on_attempt=lambda key, attempt: arrived.append(datetime.now(UTC))) as server:
        server.fault = lambda key, attempt: "422" if len(arrived) <= 2 else "ok"  # type: ignore[method-assign]
        screener = client(server, concurrency=1)
        ask_shard(calls(6), screener, ShardJournal(tmp_path, "w", 0), segment_size=6, stamp=STAMP)
    (segment,) = WaveJournal(tmp_path, "w").segments()
    kept = [r for _, r in records([segment])]
    assert [r["transport"] for r in kept] == ["failed"] * 2 + ["answered"] * 4
    at = [datetime.fromisoformat(r["asked_at"]) for r in kept]
    for i, (asked, there) in enumerate(zip(arrived, at, strict=True)):
        assert asked <= there
        assert i == 5 or there <= arrived[i + 1]


@pytest.mark.parametrize("fault", HEALS)
def test_what_heals_is_asked_again(fault: str) -> None:
    """The first two attempts of each call go wrong, the third is answered."""
    with serving(script={"*": [fault, fault]}) as server:
        replies = ask(client(server, timeout=3.0 if fault == "hang" else 60.0), 5)
        assert {(r.transport, r.attempts, r.error) for r in replies.values()} == {
            ("answered", 3, None)
        }
        kind = KINDS_OF_ERRORS.get(fault, fault)
        assert [r.retried for r in replies.values()] == [[kind, kind]] * 5
        assert sorted(server.counts.values()) == [3] * 5


@pytest.mark.parametrize("fault", HARMLESS)
def test_what_is_only_odd_is_an_answer(fault: str) -> None:
    with serving(faults={fault: 1.0}) as server:
        replies = ask(client(server), 5)
    assert {(r.transport, r.attempts) for r in replies.values()} == {("answered", 1)}


@pytest.mark.parametrize("fault", ["refusal", "filter_400"])
def test_refusals_are_final(fault: str) -> None:
    with serving(faults={fault: 1.0}) as server:
        replies = ask(client(server), 5)
        assert sum(server.counts.values()) == 5
    assert {(r.transport, r.attempts) for r in replies.values()} == {("refused", 1)}


def test_a_fault_mix_loses_nothing_and_asks_no_more_than_it_must(tmp_path: Path) -> None:
    mix = dict.fromkeys([f for f in HEALS if f != "hang"], 0.03)
    mix |= dict.fromkeys(HARMLESS, 0.05) | {"refusal": 0.05, "422": 0.03}
    with serving(faults=mix) as server:
        journal = ShardJournal(tmp_path, "w", 0)
        screener = client(server, concurrency=32)
        counters = ask_shard(calls(400), screener, journal, segment_size=50, stamp=STAMP)
        kept = [r for _, r in records(WaveJournal(tmp_path, "w").segments())]
        assert (counters.planned, counters.asked, counters.stopped) == (400, 400, False)
        assert sorted(r["call_key"] for r in kept) == sorted(c.call_key for c in calls(400))
        assert sum(server.counts.values()) == sum(r["attempts"] for r in kept)
        assert server.most <= 32
        transports = Counter(r["transport"] for r in kept)
        assert transports["refused"] > 5
        assert transports["failed"] > 5
        played = Counter[str]()
        for fault, n in server.seen.items():
            if fault in HEALS or fault in FINAL:
                played[KINDS_OF_ERRORS.get(fault, fault)] += n
        # Every error is counted once, by its kind: in the segments, and by the shard itself.
        reading = Meter(WaveJournal(tmp_path, "w")).read()
        assert reading.sums.errors == reading.errors == played
        found = read_status(journal.folder / STATUS)
        assert found is not None
        assert found[1] == Status(errors=played)
        failed = {r["error"].split(" ")[0] for r in kept if r["transport"] == "failed"}
        assert failed == {"422"}
        # A second attempt at the shard asks nothing.
        before = sum(server.counts.values())
        again = ask_shard(calls(400), screener, journal, segment_size=50, stamp=STAMP)
        assert (again.asked, again.skipped, sum(server.counts.values())) == (0, 400, before)


def test_a_key_that_runs_out_stops_the_wave_and_costs_no_call(tmp_path: Path) -> None:
    """Calls that were turned away for it are not failures, though others were answered after."""
    with serving() as server:
        # Some that were on their way are answered after the first is turned away.
        server.fault = lambda key, attempt: (  # type: ignore[method-assign]
            "expired" if len(server.counts) > 20 and len(server.counts) % 3 else "ok"
        )
        journal = ShardJournal(tmp_path, "w", 0)
        screener = client(server, concurrency=8)
        counters = ask_shard(calls(60), screener, journal, segment_size=5, stamp=STAMP)
        assert (counters.planned, counters.stopped) == (60, True)
        assert 20 <= counters.asked < sum(server.counts.values()) <= 21 + 8
        kept = [r for _, r in records(WaveJournal(tmp_path, "w").segments())]
        assert {r["transport"] for r in kept} == {"answered"}
        why = WaveJournal(tmp_path, "w").reason()
        assert isinstance(why, StoppedError)
        assert str(why) == (
            "model x: the key in TEST_MODEL_KEY has expired (401 token_expired). What was answered "
            "is kept. Renew it and run the same command again to go on."
        )
        del server.fault  # a fresh key
        again = ask_shard(calls(60), screener, ShardJournal(tmp_path, "v", 0), segment_size=5,
                          stamp=STAMP)  # fmt: skip
        assert (again.asked, again.stopped) == (60, False)


def test_half_a_key_at_the_end_of_a_long_message_is_masked_too() -> None:
    with serving(faults={"422": 1.0}) as server:
        for length in range(120, 200, 7):
            server.echo = "x" * length + f" {KEY} " + "y" * 300
            (reply,) = ask(client(server, breaker=99), 1).values()
            assert KEY[:4] not in (reply.error or "")
            assert len(reply.error or "") == 200


def test_a_server_that_quotes_the_resume_is_not_quoted() -> None:
    resume = "Jamal Washington\nNurse, 7 years at St. Mary's in Casper\nSkills"
    quotes = (
        "input: {'content': 'Jamal Washington'}", "got Nurse, 7 years at St. Mary's in Casper",
        "got Nurse, 7 years at St. M", "Skills is no field", f"too long: {resume!r}", resume,
    )  # fmt: skip
    with serving(faults={"422": 1.0}) as server:
        screener = client(server, breaker=99)
        for server.echo in quotes:
            ((_, reply),) = screener.ask([Call("c", resume=resume, prompt="A job for a nurse")])
            assert reply.error == "422 unprocessable: (its message repeats the resume)"
        server.echo = "A job for a nurse is no field"
        ((_, reply),) = screener.ask([Call("c", resume=resume, prompt="A job for a nurse")])
        assert reply.error == "422 unprocessable: A job for a nurse is no field"


def test_a_call_that_never_heals_fails_alone() -> None:
    with serving(faults={"500": 0.1}, heal_after=99) as server:
        replies = ask(client(server, max_attempts=2), 60)
    failed = [r for r in replies.values() if r.transport == "failed"]
    assert {(r.attempts, r.error) for r in failed} <= {(2, "500 server_error: as switched on")}
    assert len(failed) < 10


@pytest.mark.parametrize("fault", [f for f in FINAL if f not in {"400", "422"}])
def test_a_bad_key_stops_after_three_calls(fault: str, tmp_path: Path) -> None:
    with serving(faults={fault: 1.0}) as server:
        screener = client(server, concurrency=32)
        with pytest.raises(InputError) as raised:
            list(screener.ask(list(calls(1000))))
        assert sum(server.counts.values()) == 3
        found = raised.value
        assert found.where == "model x"
        assert found.problem.startswith("m-1 turned 3 calls in a row away: ")
        assert KEY not in str(found)
        if fault == "401":
            assert str(found) == (
                "model x: m-1 turned 3 calls in a row away: 401 invalid_api_key. Check the key in "
                "TEST_MODEL_KEY, and that it may use this model."
            )

        # In a shard: nothing is kept as failed, the whole wave stops, and the driver is told why.
        journal = ShardJournal(tmp_path, "w", 0)
        counters = ask_shard(calls(1000), screener, journal, segment_size=50, stamp=STAMP)
        assert (counters.planned, counters.asked, counters.stopped) == (1000, 0, True)
        wave = WaveJournal(tmp_path, "w")
        assert wave.segments() == []
        assert isinstance(wave.reason(), InputError)
        assert str(wave.reason()) == str(found)
        other = ask_shard(calls(9), screener, ShardJournal(tmp_path, "w", 1), segment_size=5,
                          stamp=STAMP)  # fmt: skip
        assert (other.planned, other.asked, other.stopped) == (9, 0, True)
        assert sum(server.counts.values()) == 6


def test_settings_that_the_model_does_not_take_stop_it_too() -> None:
    with serving(faults={"400": 1.0}) as server:
        with pytest.raises(InputError, match="Check the model's decoding settings"):
            list(client(server).ask(list(calls(100))))
        assert sum(server.counts.values()) == 3


def test_a_dead_service_stops_and_says_so(tmp_path: Path) -> None:
    with serving() as server:
        pass
    screener = client(server, max_attempts=2)
    counters = ask_shard(calls(99), screener, ShardJournal(tmp_path, "w", 0), segment_size=9,
                         stamp=STAMP)  # fmt: skip
    assert (counters.planned, counters.asked, counters.stopped) == (99, 0, True)
    why = WaveJournal(tmp_path, "w").reason()
    assert isinstance(why, StoppedError)
    assert str(why).startswith(
        "model x: 3 calls of m-1 in a row failed, the last with: no server answers at 127.0.0.1:"
    )
    assert str(why).endswith(
        "). Check base_url, and that the server runs. What was answered is kept. Run the same "
        "command again to go on."
    )


def test_a_key_that_is_revoked_on_the_way(tmp_path: Path) -> None:
    with serving() as server:

        def revoke(key: str, attempt: int) -> None:
            if sum(server.counts.values()) == 40:
                server.faults = {"401": 1.0}

        server.on_attempt = revoke
        journal = ShardJournal(tmp_path, "w", 0)
        screener = client(server, concurrency=4)
        counters = ask_shard(calls(1000), screener, journal, segment_size=10, stamp=STAMP)
        assert counters.stopped
        assert counters.asked == len(journal.done()) == 39
        assert sum(server.counts.values()) <= 39 + 3 + 4
        # With the key mended, the rest is asked and nothing else.
        server.faults, server.on_attempt = {}, None
        (tmp_path / "w" / "stop").unlink()
        before = Counter(server.counts)
        rest = ask_shard(calls(60), screener, journal, segment_size=10, stamp=STAMP)
        assert (rest.asked, rest.skipped) == (21, 39)
        assert sum((server.counts - before).values()) == 21
