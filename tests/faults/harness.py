"""What fault tests share: runs that are killed, a server that holds its answers, the accounts."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
from scoring_run import ROOT, WANTED, Order, config, key, resume

from fairscreen.scoring import attempts
from fairscreen.scoring.journal import WaveJournal, records, waves_left
from fairscreen.scoring.providers import PROVIDERS
from fairscreen.scoring.screeners import KINDS
from model_server import ModelServer, body_key

PATIENCE_SECONDS = 600.0  # of a broken test; nothing here is measured


def until(true: Callable[[], Any], what: str, alive: Callable[[], bool] = lambda: True) -> Any:
    """Wait for it; fails where what it is waited for has died."""
    end = time.monotonic() + PATIENCE_SECONDS
    while not (found := true()):
        assert alive(), f"the run ended before {what}"
        assert time.monotonic() < end, f"waited in vain for {what}"
        time.sleep(0.05)
    return found


class Gate:
    """Lets so many calls through to their answers; all later ones wait until it opens again."""

    def __init__(self, server: ModelServer) -> None:
        self.server, self.calls, self.at = server, 0, 0
        server.hold = threading.Event()
        server.on_attempt = self._count

    def _count(self, body: str, attempt: int) -> None:
        self.calls += 1
        if self.at and self.calls >= self.at:
            self.server.hold.clear()

    def let(self, calls: int) -> None:
        self.at = self.calls + calls
        self.server.hold.set()

    def open(self) -> None:
        self.at = 0
        self.server.hold.set()

    def closed(self) -> bool:
        return not self.server.hold.is_set()


@dataclass(frozen=True)
class Cut:
    """Attempts that were cut off.

    shards   how many shards can have lost their slots by it
    durable  call keys known to be durable then
    sent     body hash -> calls that the server had seen by then
    """

    what: str
    shards: int
    durable: frozenset[str]
    sent: Counter[str]


@dataclass
class Story:
    """Runs over one warehouse, and what was killed. barrier: one cut ends all shards' attempts."""

    folder: Path
    server: ModelServer
    order: Order
    barrier: bool = False
    cuts: list[Cut] = field(default_factory=list)

    @property
    def journal(self) -> Path:
        return Path(self.order.warehouse, "_journal")

    @contextmanager
    def run(self, command: list[str] | None = None, **changed: Any) -> Iterator[subprocess.Popen]:
        """A scoring run; killed at the end of the block if it has not ended by then."""
        order = Order(**{**vars(self.order), **changed})
        file = order.write(self.folder / "order.json")
        python = [*(command or [sys.executable]), str(ROOT / "tests/faults/scoring_run.py")]
        with open(self.folder / "run.log", "ab") as log:
            process = subprocess.Popen(
                [*python, str(file)], stdout=log, stderr=log, cwd=ROOT, env=environment()
            )
        try:
            yield process
        except AssertionError as error:
            error.add_note((self.folder / "run.log").read_text()[-4000:])
            raise
        finally:
            for pid in [process.pid, *descendants(process.pid)]:
                kill(pid)
            process.wait()

    def result(self, process: subprocess.Popen) -> dict[str, Any]:
        assert process.wait() == 0, (self.folder / "run.log").read_text()[-4000:]
        return json.loads(Path(self.order.out).read_text())

    def wave(self) -> WaveJournal | None:
        """The wave that is being asked."""
        return next(iter(waves_left(self.journal, "")), None)

    def running(self) -> list[Path]:
        wave = self.wave()
        return attempts.running(wave.folder) if wave else []

    def durable(self) -> frozenset[str]:
        found = set(committed(Path(self.order.warehouse)))
        for wave in waves_left(self.journal, ""):
            found |= {record["call_key"] for _, record in records(wave.segments())}
        return frozenset(found)

    def settled(self) -> bool:
        """Something is durable in the wave, and something is under way."""
        wave = self.wave()
        return bool(wave and any(records(wave.segments())) and self.server.under_way)

    def cut(self, what: str, shards: int) -> None:
        sent = Counter(self.server.counts)
        self.cuts.append(Cut(what, shards, self.durable(), sent))

    def kill_worker(self) -> None:
        """kill -9 of the Python process that asks a shard, stopped first so that it can be told
        what was durable."""
        newest = {mark.parent: mark for mark in self.running()}
        pid = process_of(newest[min(newest)])
        os.kill(pid, signal.SIGSTOP)
        self.cut("worker", self.order.scoring["shards"] if self.barrier else 1)
        kill(pid)

    def kill_executor(self, java: int) -> None:
        """kill -9 of an executor with its Python workers."""
        pythons = [pid for pid in descendants(java) if "java" not in command_of(pid)]
        for pid in pythons:
            os.kill(pid, signal.SIGSTOP)
        self.cut("executor", self.order.scoring["shards"])
        for pid in [java, *pythons]:
            kill(pid)

    def kill_driver(self, process: subprocess.Popen) -> None:
        """kill -9 of the driver's Python and of its JVM. Its workers are left to themselves."""
        below = {pid: command_of(pid) for pid in descendants(process.pid)}
        own = [pid for pid, line in below.items() if "java" in line or "scoring_run" in line]
        for pid in [process.pid, *own]:
            kill(pid)
        process.wait()
        until(lambda: not self.running(), "the workers of a dead driver to end")
        until(lambda: not self.server.under_way, "the server to notice")
        self.cut("driver", self.order.scoring["shards"])


def committed(warehouse: Path) -> set[str]:
    """Call keys in the table `replies`, read without Spark."""
    found: set[str] = set()
    for version in sorted((warehouse / "replies/_delta_log").glob("*.json")):
        for line in version.read_text().splitlines():
            if "add" in (action := json.loads(line)):
                file = warehouse / "replies" / action["add"]["path"]
                found |= set(pq.read_table(file, columns=["call_key"])["call_key"].to_pylist())
    return found


def environment() -> dict[str, str]:
    """For child processes: this Python, this source tree."""
    paths = [str(ROOT / "lib"), str(ROOT / "tests"), os.environ.get("PYTHONPATH", "")]
    python = {"PYSPARK_PYTHON": sys.executable, "PYSPARK_DRIVER_PYTHON": sys.executable}
    loopback = "127.0.0.1,127.0.0.2,127.0.0.3,localhost"
    return {**os.environ, **python, "PYTHONPATH": ":".join(paths), "NO_PROXY": loopback}


def processes() -> dict[int, int]:
    """Process number -> its parent's."""
    found = {}
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                stat = (folder / "stat").read_text()
            except OSError:
                continue
            found[int(folder.name)] = int(stat.rpartition(")")[2].split()[1])
    return found


def descendants(pid: int) -> list[int]:
    parents = processes()
    found, last = [], [pid]
    while last:
        last = [child for child, parent in parents.items() if parent in last]
        found += last
    return found


def command_of(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode()
    except OSError:
        return ""


def process_of(attempt: Path) -> int:
    return int(json.loads(attempt.read_text())["process"])


def kill(pid: int) -> None:
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


@dataclass(frozen=True)
class Account:
    """Of all runs of a story. again: calls sent more often than their replies say.

    retries      attempts beyond the first that the kept replies count
    again        call key -> sent so many times more: lost with what was killed
    bound        how many calls can have held a slot at the cuts
    not_durable  calls that the server had seen at the cuts and that were not durable then
    """

    requests: int
    rows: Counter[str]
    replies: int
    server_calls: int
    retries: int
    again: dict[str, int]
    bound: int
    not_durable: int


def slots(order: Order) -> int:
    """Calls of one shard that can be under way or answered and not yet durable: the client's."""
    return max(
        p["concurrency"] // order.scoring["shards"]
        + max(2 * order.scoring["segment_size"], p["breaker"])
        for p in order.models.values()
    )


def bodies(order: Order) -> dict[tuple[str, str], str]:
    """(model, content key) -> hash of the body that the server must see."""
    found = {}
    for name, screener in config(order).scoring.models.items():
        setup = KINDS["chat"].prepare(screener.params, name, 1)["setup"]
        provider = PROVIDERS[setup.spec.provider]
        for n in range(order.documents):
            prompt = setup.prompt.filled(WANTED, resume(n))
            sent = provider.request(setup.spec, prompt, setup.secret)
            found[name, key(resume(n))] = body_key(sent.body)
    return found


def settle(story: Story, found: dict[str, Any]) -> Account:
    """The accounts, with everything asserted that must hold whatever was killed."""
    requests = {r["request_id"]: r for r in found["requests"]}
    scores = Counter(r["request_id"] for r in found["scores"])
    assert scores == Counter(dict.fromkeys(requests, 1))  # every request has exactly one row
    calls = {r["call_key"] for r in requests.values()}
    attempts_of = {r["call_key"]: int(r["attempts"]) for r in found["replies"]}
    assert len(found["replies"]) == len(attempts_of) == len(calls)  # every reply is written once
    assert set(attempts_of) == calls

    sent_as, counts = bodies(story.order), story.server.counts
    again = {}
    for row in requests.values():
        more = counts[sent_as[row["model"], row["content_key"]]] - attempts_of[row["call_key"]]
        assert more >= 0, row
        if more:
            again[row["call_key"]] = more
    for call in again:  # nothing that was durable before the first kill, nor at all later ones
        assert any(call not in cut.durable for cut in story.cuts), call
    bound = slots(story.order) * sum(cut.shards for cut in story.cuts)
    assert len(again) <= bound
    total = sum(counts.values())
    retries = sum(attempts_of.values()) - len(calls)
    assert total == len(calls) + retries + sum(again.values())  # no call of anything else
    rows = Counter(str(r["outcome"]) for r in found["scores"])
    body_of = {r["call_key"]: sent_as[r["model"], r["content_key"]] for r in requests.values()}
    open_calls = sum(
        cut.sent[body] for cut in story.cuts for c, body in body_of.items() if c not in cut.durable
    )
    return Account(len(requests), rows, len(attempts_of), total, retries, again, bound, open_calls)
