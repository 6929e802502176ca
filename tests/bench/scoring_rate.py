"""Calls per second, processor time and memory of the scoring client, beside the openai client.

    python tests/bench/scoring_rate.py [--seconds 90] [--out tests/bench/scoring_rate.txt]

The server is tests/model_server.py in a process of its own, the asking process is a new one for
every line. `limit` is concurrency / latency: what a client reaches that costs nothing. Ours is
`ask_shard` with its journal on disk, and once more `ask_wave`, the Spark action around it, with
two shards that each have half of the concurrency. The openai client is `AsyncOpenAI` under
`asyncio.gather` and a semaphore, with the same texts; it writes nothing. All of it is timed, from
the first call drawn to the last reply durable, so the canaries at the start and the tail count; in
Spark's lines the shuffle of the texts and the start of the workers too.
`CPU ms` is processor time of the asking process per call, the server's is beside it: both share
the machine. `peak MB` is the process's most resident memory.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from importlib.util import find_spec
from itertools import cycle, islice
from pathlib import Path
from typing import Any

import psutil

from fairscreen import config, resources
from fairscreen.documents.pools import load_pools, load_schools
from fairscreen.documents.resume import Profile, render_text
from fairscreen.scoring.ask import Asking, Counters, ask_shard, ask_wave
from fairscreen.scoring.calls import Call
from fairscreen.scoring.journal import ShardJournal, WaveJournal
from fairscreen.scoring.screeners import KINDS

SERVER = Path(__file__).parent.parent / "model_server.py"
SHARDS = 2  # of the Spark action
STAMP = {"model": "openai:m-1", "model_version": "m-1", "wave_id": "w"}
GRID = ((0.5, 64), (0.5, 256), (0.05, 64), (0.05, 256))
SHORT = 10_000  # calls of a line with 50 ms, at most
MEMORY = (10_000, 200_000)
TARGETS = "wanted at 500 ms: share 0.95 or more; processor time a third of openai's or less"


@dataclass(frozen=True)
class Load:
    """One line of the table: who asks, how long an answer takes, how many at once, how many."""

    client: str
    latency: float
    concurrency: int
    count: int

    @property
    def limit(self) -> float:
        return self.concurrency / self.latency if self.latency else float("inf")


@dataclass(frozen=True)
class Found:
    """Seconds from the first call to the last reply; CPU seconds; peak resident bytes."""

    seconds: float
    cpu: float
    peak: int
    server_cpu: float = 0.0


def texts() -> tuple[str, list[str]]:
    """A job description and resumes as an audit sends them (about 450 words)."""
    pools, schools = load_pools("registered_nurses"), load_schools()
    people = [
        Profile(f"a{i}", "registered_nurses", 40 + i, "39", "bachelor", 11.0, "Maria", "Torres")
        for i in range(20)
    ]
    return pools.description, [render_text(p, pools, schools, "2024-12", 7) for p in people]


def calls(count: int) -> Iterator[Call]:
    """One by one, as the engine draws them: no two resumes are the same."""
    job, resumes = texts()
    for i, resume in enumerate(islice(cycle(resumes), count)):
        yield Call(f"{i:032x}", resume=f"Applicant {i}\n{resume}", prompt_key="job", prompt=job)


def prepared(url: str, concurrency: int, shards: int = 1) -> Any:
    params = {
        "model": "m-1", "provider": "openai", "base_url": f"{url}/v1", "key_env": "BENCH_KEY",
        "concurrency": concurrency, "prices": {"tokens_in": 0.15, "tokens_out": 0.6},
    }  # fmt: skip
    return KINDS["chat"].prepare(params, "scoring.models.x.params", shards)


def ask_ours(url: str, load: Load, folder: str) -> None:
    screener = KINDS["chat"].open(prepared(url, load.concurrency))
    size = config.load(resources.path("conf", "audits", "demo.yml")).scoring.segment_size
    journal = ShardJournal(folder, "w", 0)
    counters = ask_shard(calls(load.count), screener, journal, segment_size=size, stamp=STAMP)
    if counters.asked != load.count:
        raise RuntimeError(f"{counters} of {load.count} calls")


def ask_openai(url: str, load: Load, folder: str) -> None:
    import openai

    setup = prepared(url, load.concurrency)["setup"]

    async def one(client: Any, call: Call, places: asyncio.Semaphore) -> str | None:
        async with places:
            prompt = setup.prompt.filled(call.prompt or "", call.resume or "")
            reply = await client.chat.completions.create(
                model="m-1", temperature=0.0, max_tokens=16,
                messages=[
                    {"role": "system", "content": prompt.system},
                    {"role": "user", "content": prompt.user[0].text},
                ],
            )  # fmt: skip
            return reply.choices[0].message.content

    async def run() -> list[str | None]:
        places = asyncio.Semaphore(load.concurrency)
        key = os.environ["BENCH_KEY"]
        async with openai.AsyncOpenAI(base_url=f"{url}/v1", api_key=key) as client:
            return await asyncio.gather(*(one(client, c, places) for c in calls(load.count)))

    if sum(text is not None for text in asyncio.run(run())) != load.count:
        raise RuntimeError(f"openai left calls of {load.count} without an answer")


def child(load: Load, url: str) -> Found:
    """The line itself, in a process that does nothing else. Imports count on neither side."""
    ask = {"ours": ask_ours, "openai": ask_openai}[load.client]
    os.environ["BENCH_KEY"] = "k-0123456789abcdef"
    texts()
    with tempfile.TemporaryDirectory() as folder:
        warm = Load(load.client, 0.0, 4, 4)
        ask(url, warm, f"{folder}/warm")
        began, cpu = time.perf_counter(), time.process_time()
        ask(url, load, f"{folder}/run")
        seconds, cpu = time.perf_counter() - began, time.process_time() - cpu
    return Found(seconds, cpu, peak_rss())


def peak_rss() -> int:
    """Bytes. Not getrusage: a new process inherits its parent's peak there."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return 1024 * int(status.split("VmHWM:")[1].split()[0])


@contextlib.contextmanager
def server(latency: float) -> Iterator[tuple[str, psutil.Process]]:
    process = subprocess.Popen(
        [sys.executable, str(SERVER), "--latency", str(latency)], stdout=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout is not None
        yield process.stdout.readline().strip(), psutil.Process(process.pid)
    finally:
        process.terminate()
        process.wait()


def cpu_of(process: psutil.Process) -> float:
    times = process.cpu_times()
    return float(times.user + times.system)


def measure(load: Load) -> Found:
    with server(load.latency) as (url, process):
        idle = cpu_of(process)
        command = [sys.executable, __file__, "--line", json.dumps(asdict(load)), "--url", url]
        done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
        found = json.loads(done.stdout.splitlines()[-1])
        return Found(**{**found, "server_cpu": cpu_of(process) - idle})


def measure_spark(load: Load) -> Found:
    """The same inside one Spark action: plan rows with their texts, shuffled to two shards."""
    from pyspark.sql import functions as sf

    from fairscreen.session import get_session

    os.environ["BENCH_KEY"] = "k-0123456789abcdef"
    spark = get_session(cores=SHARDS)
    job, resumes = texts()
    some = sf.array(*(sf.lit(r) for r in resumes))

    def ask(url: str, count: int, folder: str) -> list[Counters]:
        setup = prepared(url, load.concurrency, SHARDS)
        opener = KINDS["chat"].open
        size = config.load(resources.path("conf", "audits", "demo.yml")).scoring.segment_size
        asking = Asking(
            journal=folder, wave_id="w", segment_size=size, model="openai:m-1",
            model_version="m-1", open=lambda: opener(setup), needs_text=True,
        )  # fmt: skip
        planned = spark.range(count).select(
            sf.lpad(sf.hex("id"), 32, "0").alias("call_key"),
            (sf.col("id") % SHARDS).cast("int").alias("shard"),
            sf.lit("content").alias("content_key"),
            sf.lit("job").alias("prompt_key"),
            sf.lit(None).cast("string").alias("payload"),
            sf.concat(
                sf.lit("Applicant "), "id", sf.lit("\n"),
                sf.element_at(some, (sf.col("id") % len(resumes) + 1).cast("int")),
            ).alias("resume"),
            sf.lit(job).alias("prompt"),
        )  # fmt: skip
        WaveJournal(folder, "w").create()
        return ask_wave(planned, asking, shards=SHARDS, where="executors")

    with server(load.latency) as (url, process), tempfile.TemporaryDirectory() as folder:
        ask(url, 8, f"{folder}/warm")
        began, idle = time.perf_counter(), cpu_of(process)
        counters = ask(url, load.count, f"{folder}/run")
        seconds = time.perf_counter() - began
        if sum(c.asked for c in counters) != load.count:
            raise RuntimeError(f"{counters} of {load.count} calls")
        return Found(seconds, float("nan"), 0, cpu_of(process) - idle)


def loads(seconds: float) -> list[Load]:
    found = []
    for latency, concurrency in GRID:
        count = round(concurrency / latency * seconds)
        count = count if latency >= 0.5 else min(count, SHORT)
        found += [Load(client, latency, concurrency, count) for client in ("ours", "openai")]
    found += [Load("ours", 0.0, 64, count) for count in MEMORY]
    return found + [Load("spark", x.latency, x.concurrency, x.count) for x in found[:4:2]]


def header() -> list[str]:
    return [
        f"{datetime.now():%Y-%m-%d %H:%M}, {platform.machine()}, {os.cpu_count()} cores, Python "
        f"{platform.python_version()}, load {os.getloadavg()[0]:.1f} before the first line",
        TARGETS,
        "",
        f"{'client':<7}{'latency':>8}{'at once':>8}{'calls':>9}{'s':>7}{'per s':>8}{'limit':>8}"
        f"{'share':>7}{'CPU ms':>8}{'server':>8}{'peak MB':>9}{'load':>6}",
    ]


def line(load: Load, found: Found) -> str:
    rate = load.count / found.seconds
    bound = f"{load.limit:>8,.0f}{rate / load.limit:>7.3f}" if load.latency else f"{'':>15}"
    spark = load.client == "spark"
    own = f"{'':>8}" if spark else f"{1000 * found.cpu / load.count:>8.3f}"
    peak = f"{'':>9}" if spark else f"{found.peak / 1e6:>9.1f}"
    return (
        f"{load.client:<7}{f'{1000 * load.latency:g} ms':>8}{load.concurrency:>8}{load.count:>9,}"
        f"{found.seconds:>7.1f}{rate:>8,.1f}{bound}{own}"
        f"{1000 * found.server_cpu / load.count:>8.3f}{peak}{os.getloadavg()[0]:>6.1f}"
    )


def summary(results: Sequence[tuple[Load, Found]]) -> list[str]:
    """CPU of ours over openai's at the same load, and what 190,000 further calls took in memory."""
    cpu = {(x.client, x.latency, x.concurrency): f.cpu / x.count for x, f in results}
    lines = [""]
    for latency, concurrency in GRID:
        ours, theirs = (cpu.get((c, latency, concurrency)) for c in ("ours", "openai"))
        if ours and theirs:
            lines.append(
                f"processor time per call, ours over openai, {1000 * latency:g} ms, {concurrency} "
                f"at once: {ours / theirs:.2f}"
            )
    peaks = [(x.count, f.peak) for x, f in results if not x.latency]
    if len(peaks) == 2:
        (few, low), (many, high) = peaks
        lines.append(
            f"peak memory at {many:,} calls less that at {few:,}: {(high - low) / 1e6:+.1f} MB"
        )
    return lines


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=90.0, help="of a line with 500 ms")
    parser.add_argument("--only", nargs="+", help="ours, spark, openai, memory")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--line", help=argparse.SUPPRESS)
    parser.add_argument("--url", help=argparse.SUPPRESS)
    args = parser.parse_args(argv)
    if args.line:
        print(json.dumps(asdict(child(Load(**json.loads(args.line)), args.url))))
        return 0
    if find_spec("openai") is None:
        parser.error("the openai client is not there. Run pip install -e .[bench].")
    lines: list[str] = []

    def say(new: Sequence[str]) -> None:
        lines.extend(new)
        print("\n".join(new), flush=True)

    say(header())
    results: list[tuple[Load, Found]] = []
    for load in loads(args.seconds):
        if args.only and (load.client if load.latency else "memory") not in args.only:
            continue
        found = measure_spark(load) if load.client == "spark" else measure(load)
        results.append((load, found))
        say([line(load, found)])
    say(summary(results))
    if args.out:
        args.out.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
