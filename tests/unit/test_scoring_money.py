"""What is billed never passes the cap, whatever goes wrong: prices, bounds, purse, client."""

from __future__ import annotations

import asyncio
import itertools
import json
import math
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fairscreen.config import load
from fairscreen.errors import ConfigError, FairscreenError, InputError, from_text
from fairscreen.scoring import money, screeners
from fairscreen.scoring.ask import Asking, _in_turn, ask_shard
from fairscreen.scoring.calls import Call, Reply, Unwatched
from fairscreen.scoring.client import Client
from fairscreen.scoring.journal import ShardJournal, WaveJournal, records
from fairscreen.scoring.models import ModelSpec
from fairscreen.scoring.money import Purse, Tariff, dollars, pico, shards_for, worst_tokens_in
from fairscreen.scoring.providers.base import Image, Prompt, Text
from fairscreen.scoring.screeners import KINDS
from model_server import ModelServer, serving

STAMP = {"model": "m", "model_version": "1", "wave_id": "w"}
# What the server does not bill: it did no work, or says so with its status.
UNBILLED = {"429", "429_seconds", "500", "502", "503", "529", "html_502", "401", "422"}
FAULTS = ("429", "500", "503", "reset", "truncated", "malformed", "html_200", "empty_choices",
          "error_200", "422", "refusal", "filter_400")  # fmt: skip


def spec(**params: Any) -> ModelSpec:
    return ModelSpec.model_validate({"provider": "openai", "model": "m-1", **params})


def test_money_is_counted_in_whole_units_and_never_too_low() -> None:
    assert pico(0.15) == 150_000_000_000
    assert pico(1e-13) == 1
    assert dollars(pico(12.345678)) == 12.345678
    tariff = Tariff.of(spec(prices={"tokens_in": 0.0375, "tokens_out": 0.15}))
    assert tariff is not None
    assert (tariff.tokens_in, tariff.tokens_out) == (37_500, 150_000)
    assert tariff.cost(2_000_000, 1_000_000) == pico(2 * 0.0375 + 0.15)
    assert tariff.cost(10, None) is None
    assert Tariff.of(spec()) is None


@pytest.mark.parametrize("text", ["", "Nurse", "สวัสดี", "\N{PILE OF POO}" * 5, "\u2603 \u2603\n"])
def test_bytes_bound_the_tokens_where_characters_do_not(text: str) -> None:
    found = worst_tokens_in(Prompt("Be fair.", (Text(text),)))
    assert found == 256 + 8 + len(text.encode())
    assert found - 256 >= len(text)
    assert worst_tokens_in(Prompt(None, (Text(text), Image("image/png", "x" * 9)))) == (
        256 + len(text.encode()) + 50_000
    )


def test_the_worst_price_counts_extra_fields_and_the_longest_answer() -> None:
    prices = {"tokens_in": 1.0, "tokens_out": 10.0}
    extra = {"tools": [{"name": "give_score"}]}
    tariff = Tariff.of(spec(prices=prices, decoding={"max_tokens": 7, "extra": extra}))
    assert tariff is not None
    prompt = Prompt(None, (Text("abcd"),))
    sent = len(json.dumps(extra, separators=(",", ":")))
    assert tariff.worst(prompt, 3) == (256 + 4 + 3 + sent) * 10**6 + 7 * 10**7


def test_a_purse_reserves_only_what_it_has() -> None:
    purse = Purse(100, spent=10)
    assert purse.reserve(60)
    assert not purse.reserve(31)
    assert purse.reserve(30)
    purse.settle(60, 5)
    assert (purse.spent, purse.reserved) == (15, 30)
    assert purse.reserve(55)
    assert not purse.reserve(1)


@pytest.mark.parametrize(
    ("left", "worst", "slots", "shards", "expected"),
    [
        (1000, 1, 8, 4, 4),
        (1000, 0, 8, 4, 4),
        (24, 1, 8, 4, 3),  # eight calls to a share
        (7, 1, 8, 4, 1),  # not even the slots of the job
        (0, 1, 8, 4, 1),
        (33, 1, 32, 8, 4),
    ],
)
def test_a_share_holds_some_calls(
    left: int, worst: int, slots: int, shards: int, expected: int
) -> None:
    assert shards_for(left, worst, slots=slots, shards=shards) == expected


PARAMS = {"provider": "openai", "model": "m-1", "base_url": "http://127.0.0.1:9/v1"}


def config(params: dict[str, Any], cap: str = "5"):
    return load(
        "conf/audits/demo.yml",
        [
            f"scoring.models={json.dumps({'m': {'kind': 'chat', 'params': PARAMS | params}})}",
            f"scoring.max_cost={cap}",
        ],
    )


def test_a_cap_needs_prices_and_answers_of_bounded_length() -> None:
    screeners.check(config({}, "null"))
    with pytest.raises(ConfigError) as raised:
        screeners.check(config({}))
    assert str(raised.value) == (
        "scoring.models.m.params.prices: are not known, and scoring.max_cost is set. Give "
        "{tokens_in: 0.15, tokens_out: 0.60} (US dollars per million tokens; 0 for a server of "
        "your own), or take max_cost away."
    )
    free = {"prices": {"tokens_in": 0, "tokens_out": 0}}
    screeners.check(config(free))
    more = free | {"decoding": {"extra": {"generationConfig": {"candidateCount": 4}}}}
    with pytest.raises(ConfigError, match="sets candidateCount, so that scoring"):
        screeners.check(config(more))
    # Screeners of this machine cost nothing.
    screeners.check(load("conf/audits/planted.yml", ["scoring.max_cost=0"]))


async def nap(seconds: float) -> None:
    await asyncio.sleep(min(seconds, 0.002))


def client(server: ModelServer, **params: Any) -> Client:
    where = {"base_url": server.base_url("openai"), "key_env": "TEST_MODEL_KEY"}
    full = {"model": "m-1", "provider": "openai", "timeout": 60.0, "max_attempts": 3, **where}
    prepared = KINDS["chat"].prepare({**full, "breaker": 9999, **params}, "scoring.models.x", 1)
    # Time that the test makes: no call is given up for its age.
    return Client(prepared["setup"], clock=itertools.count().__next__, sleep=nap)


def calls(count: int) -> Iterator[Call]:
    for i in range(count):
        yield Call(f"c{i}", resume=f"Resume {i} " + "words " * (i % 40), prompt="A job")


class Till:
    """The server's own: bills every attempt that it did not turn away."""

    def __init__(self, server: ModelServer, prices: dict[str, float]) -> None:
        self.server, self.prices, self.bill = server, prices, 0.0
        server.on_answer = self._charge

    def _charge(self, fault: str, tokens_in: int, tokens_out: int) -> None:
        if fault not in UNBILLED:
            self.bill += self.prices["tokens_in"] * tokens_in / 1e6
            self.bill += self.prices["tokens_out"] * tokens_out / 1e6


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEST_MODEL_KEY", "k-0123456789abcdef")


@pytest.mark.parametrize("case", range(12))
def test_the_servers_bill_never_passes_the_cap(case: int, tmp_path: Path) -> None:
    """Prices, faults, sizes and caps by lot; runs until all is answered, the cap raised each time.

    At every end: bill <= cap, bill <= what the journal and the counters say; nothing is asked
    twice that was answered.
    """
    rng = np.random.default_rng(case)
    prices = {"tokens_in": float(10 ** rng.uniform(-2, 2)), "tokens_out": float(rng.uniform(0, 50))}
    mix = {name: float(rng.uniform(0, 0.08)) for name in rng.permutation(FAULTS)[:7]}
    with serving(faults=mix, latency=float(rng.choice([0, 0, 0.005]))) as server:
        till = Till(server, prices)
        screener = client(
            server, prices=prices, concurrency=int(rng.choice([1, 4, 16])),
            decoding={"max_tokens": int(rng.integers(2, 40))},
        )  # fmt: skip
        tariff = Tariff.of(screener.setup.spec)
        assert tariff is not None
        one = tariff.worst(screener.setup.prompt.filled("A job", "Resume 1 " + "words " * 40))
        cap, answered, unclaimed, runs = int(one * rng.uniform(0.5, 12)), 0, 0, 0
        while True:
            journal = ShardJournal(tmp_path, "w", 0)
            done = ask_shard(calls(60), screener, journal, segment_size=int(rng.integers(1, 30)),
                             stamp=STAMP, money=cap - unclaimed)  # fmt: skip
            kept = [r for _, r in records(WaveJournal(tmp_path, "w").segments())]
            unclaimed += done.unclaimed_pico
            told = sum(pico(r["cost_max_usd"]) for r in kept) + unclaimed
            assert till.bill <= dollars(cap) + 1e-12
            assert till.bill <= dollars(told) + 1e-12
            assert told <= cap
            assert len(kept) == len({r["call_key"] for r in kept}) == answered + done.asked
            answered, runs = len(kept), runs + 1
            assert done.out_of_money == (done.left > 0)
            if not done.left:
                break
            cap += int(one * rng.uniform(1, 40))
        assert answered == 60
        assert runs > 1
        assert set(Counter(r["call_key"] for r in kept).values()) == {1}


def test_answers_may_be_cheaper_than_their_bound_and_then_more_fit(tmp_path: Path) -> None:
    """The cap pays for three calls at their worst at once, and for many more one after another."""
    prices = {"tokens_in": 1.0, "tokens_out": 1.0}
    with serving() as server:
        screener = client(server, prices=prices, concurrency=16, decoding={"max_tokens": 1000})
        tariff = Tariff.of(screener.setup.spec)
        assert tariff is not None
        most = 3 * tariff.worst(screener.setup.prompt.filled("A job", "Resume 59" + "words " * 40))
        done = ask_shard(calls(60), screener, ShardJournal(tmp_path, "w", 0), segment_size=9,
                         stamp=STAMP, money=most)  # fmt: skip
        assert server.most <= 4  # some calls are shorter than the longest
    assert done.out_of_money
    assert 3 < done.asked < 60
    assert done.spent_pico <= most


def test_a_timeout_stays_spent_and_what_was_turned_away_does_not(tmp_path: Path) -> None:
    prices = {"tokens_in": 1.0, "tokens_out": 1.0}
    for fault, lost in (("truncated", 1), ("500", 0), ("429", 0), ("empty_choices", 1)):
        with serving(script={"*": [fault]}) as server:
            screener = client(server, prices=prices, concurrency=1)
            journal = ShardJournal(tmp_path, fault, 0)
            done = ask_shard(calls(1), screener, journal, segment_size=9, stamp=STAMP, money=10**15)
        ((_, kept),) = records(WaveJournal(tmp_path, fault).segments())
        tariff = Tariff.of(screener.setup.spec)
        assert tariff is not None
        (call,) = calls(1)
        worst = tariff.worst(screener.setup.prompt.filled(call.prompt or "", call.resume or ""))
        assert kept["attempts"] == 2
        assert done.spent_pico == pico(kept["cost_max_usd"])
        assert pico(kept["cost_max_usd"]) == pico(kept["cost_usd"]) + lost * worst


@pytest.mark.parametrize("fault", ["filter_400", "refusal"])
def test_a_refusal_costs_what_is_reported_or_else_its_worst(fault: str) -> None:
    """Azure bills what its filter turns away, and does not say how much."""
    prices = {"tokens_in": 1.0, "tokens_out": 1.0}
    with serving(faults={fault: 1.0}) as server:
        screener = client(server, prices=prices)
        (call,) = calls(1)
        ((_, reply),) = screener.ask([call])
    tariff = Tariff.of(screener.setup.spec)
    assert tariff is not None
    worst = tariff.worst(screener.setup.prompt.filled(call.prompt or "", call.resume or ""))
    assert reply.transport == "refused"
    assert (reply.cost_usd is None) == (fault == "filter_400")
    expected = dollars(worst) if reply.cost_usd is None else reply.cost_usd
    assert reply.cost_max_usd == pytest.approx(expected)


def test_without_a_cap_the_bound_is_told_all_the_same_and_without_prices_nothing_is() -> None:
    with serving(script={"*": ["malformed"]}) as server:
        ((_, priced),) = client(server, prices={"tokens_in": 1, "tokens_out": 1}).ask(
            list(calls(1))
        )
        server.counts.clear()
        ((_, unpriced),) = client(server).ask(list(calls(1)))
    assert priced.cost_usd is not None
    assert priced.cost_max_usd is not None
    assert priced.cost_max_usd > priced.cost_usd
    assert (unpriced.cost_usd, unpriced.cost_max_usd) == (None, None)


def test_a_reply_dearer_than_its_bound_raises_the_bound(tmp_path: Path) -> None:
    """A server that ignores max_tokens passes the cap by no more than what was under way."""
    prices = {"tokens_in": 0.0, "tokens_out": 1.0}
    with serving(tokens_out=100) as server:
        till = Till(server, prices)
        screener = client(server, prices=prices, concurrency=1, decoding={"max_tokens": 10})
        done = ask_shard(calls(60), screener, ShardJournal(tmp_path, "w", 0), segment_size=9,
                         stamp=STAMP, money=pico(1000e-6))  # fmt: skip
    assert done.asked == 10
    assert till.bill == pytest.approx(1000e-6)
    assert math.isclose(dollars(done.spent_pico), till.bill)
    assert money.scaled(10, 1.05) == 11


def test_a_kill_adds_at_most_what_was_under_way(tmp_path: Path) -> None:
    """The shard's process dies with calls on the wire; the next attempt knows the durable ones."""
    prices = {"tokens_in": 1.0, "tokens_out": 1.0}
    with serving(latency=0.01) as server:
        till = Till(server, prices)
        screener = client(server, prices=prices, concurrency=8)
        tariff = Tariff.of(screener.setup.spec)
        assert tariff is not None
        worst = tariff.worst(screener.setup.prompt.filled("A job", "Resume 59 " + "words " * 40))
        cap = 4 * worst
        first = ShardJournal(tmp_path, "w", 0)

        def keep(group: list[tuple[str, Reply]]) -> None:
            first.write([{"call_key": key, **vars(reply)} for key, reply in group])

        groups = screener.stream(calls(60), segment_size=5, watch=Unwatched(), keep=keep,
                                 purse=Purse(cap))  # fmt: skip
        next(groups)
        groups.close()
        durable = first.spent()
        assert durable > 0
        done = ask_shard(calls(60), screener, ShardJournal(tmp_path, "w", 0), segment_size=5,
                         stamp=STAMP, money=cap)  # fmt: skip
    assert done.out_of_money
    assert durable < done.spent_pico <= cap
    assert till.bill <= dollars(cap + (8 + 2 * 5) * worst)


class Failing(ShardJournal):
    """A journal whose disk takes `good` segments, then none; `stop`: nor a reason."""

    def __init__(self, folder: Path, good: int, more: int = 0, stop: bool = False) -> None:
        super().__init__(folder, "w", 0)
        self.good, self.more, self.takes_stop, self.tries = good, more, not stop, 0

    def write(self, records: Any) -> None:
        self.tries += 1
        if self.tries > self.good and self.tries != self.more:
            raise InputError("journal", "cannot be written: No space left on device", "Make room.")
        super().write(records)

    def stop(self, why: FairscreenError) -> bool:
        return self.takes_stop and super().stop(why)


@pytest.mark.parametrize("stop", [False, True])
def test_what_a_full_disk_loses_is_counted(tmp_path: Path, stop: bool) -> None:
    """No room from the third segment on: all that was asked is durable or noted, to the cent."""
    prices = {"tokens_in": 1.0, "tokens_out": 1.0}
    with serving(latency=0.01) as server:
        till = Till(server, prices)
        screener = client(server, prices=prices, concurrency=8)
        journal = Failing(tmp_path, good=2, stop=stop)
        done = ask_shard(calls(200), screener, journal, segment_size=5, stamp=STAMP,
                         money=pico(1.0))  # fmt: skip
    assert journal.tries == 4  # the third, and once more when the wire was dry
    durable = journal.spent()
    assert 0 < done.asked < sum(server.counts.values()) <= done.asked + 8 + 2 * 25
    assert done.unclaimed_pico > 0
    assert done.spent_pico == durable + done.unclaimed_pico
    assert done.spent_pico == pico(round(till.bill, 12))
    why = from_text(done.untold) if stop else WaveJournal(tmp_path, "w").reason()
    assert str(why) == "journal: cannot be written: No space left on device. Make room."
    assert done.stopped


def test_what_a_disk_takes_after_all_is_not_lost(tmp_path: Path) -> None:
    with serving(latency=0.01) as server:
        screener = client(server, concurrency=8)
        journal = Failing(tmp_path, good=2, more=4)
        done = ask_shard(calls(200), screener, journal, segment_size=5, stamp=STAMP)
        assert len(journal.done()) == done.asked == sum(server.counts.values()) < 200
    assert str(WaveJournal(tmp_path, "w").reason()).startswith("journal: cannot be written")


def test_a_journal_that_cannot_be_looked_at_loses_nothing(tmp_path: Path) -> None:
    class Blind(ShardJournal):
        def state(self) -> Any:
            if self.done():
                raise InputError("journal", "cannot be read", "Give the right.")
            return super().state()

    journal = Blind(tmp_path, "w", 0)
    prices = {"tokens_in": 1.0, "tokens_out": 1.0}
    with serving(latency=0.05) as server:
        till = Till(server, prices)
        screener = client(server, prices=prices, concurrency=4)
        with pytest.raises(InputError, match="cannot be read"):
            ask_shard(calls(200), screener, journal, segment_size=5, stamp=STAMP, money=pico(1.0))
        assert len(journal.done()) == sum(server.counts.values()) < 200
    assert journal.spent() == pico(round(till.bill, 12))
    assert str(WaveJournal(tmp_path, "w").reason()).startswith("journal: cannot be read")


def test_in_the_driver_each_shard_may_use_all_that_is_left(tmp_path: Path) -> None:
    """Money for seven calls, three shards of four, one after the other."""
    prices = {"tokens_in": 0.0, "tokens_out": 1.0}
    WaveJournal(tmp_path, "w").create()
    with serving(tokens_out=10) as server:
        screener = client(server, prices=prices, decoding={"max_tokens": 10})
        asking = Asking(
            journal=str(tmp_path), wave_id="w", segment_size=2, model="m", model_version="1",
            open=lambda: screener, needs_text=True, money=pico(75e-6),
        )  # fmt: skip
        rows = (
            {**vars(call), "shard": i // 4, "content_key": "c"} for i, call in enumerate(calls(12))
        )
        found = _in_turn(asking, rows)
    assert [c.asked for c in found] == [4, 3, 0]
    assert [c.out_of_money for c in found] == [False, True, True]
    assert sum(c.spent_pico for c in found) == pico(70e-6)
