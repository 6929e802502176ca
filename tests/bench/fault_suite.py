"""20,000 requests through every fault of the test server, with kills: the table of what came of it.

    python tests/bench/fault_suite.py [--out tests/bench/fault_suite.txt] [--only local|cluster]

Four models (OpenAI, Azure, Anthropic, Gemini) are asked about 5,000 resumes each. About a quarter
of the first attempts go wrong. `local`: local[2,4], two workers and the driver are killed with -9.
`cluster`: a standalone master with two workers, speculation on, an executor besides. Then the run
is started again until it is through, and once more. Everything is counted at the server:

    calls        that the server has seen
    retries      attempts beyond the first that the kept replies count
    lost         calls that were sent again because a kill took them (with the attempts that they
                 had made by then); none was durable
    not durable  calls that the server had seen at the kills, and that were not durable then
    slots        how many calls can have been under way at the kills
"""

from __future__ import annotations

import argparse
import os
import platform
import sys
import tempfile
import time
from datetime import datetime
from pathlib import Path
from typing import Any

TESTS = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS), str(TESTS / "faults")]

from cluster import EAGER, HOSTS, Cluster, standalone  # noqa: E402
from harness import Account, Gate, Story, settle, until  # noqa: E402
from scoring_run import Order  # noqa: E402

from model_server import HEALS, ModelServer, serving  # noqa: E402

DOCUMENTS = 5_000
SHARES = {
    **dict.fromkeys(HEALS, 0.012), "hang": 0.001, "slow": 0.02, "wrong_type": 0.02, "gzip": 0.02,
    "refusal": 0.02, "filter_400": 0.01, "422": 0.002,
}  # fmt: skip
PROVIDERS = ("openai", "azure_openai", "anthropic", "gemini")


def order(folder: Path, server: ModelServer, documents: int) -> Order:
    def params(provider: str) -> dict[str, Any]:
        where = {"provider": provider, "model": f"m-{provider}", "weights": "w"}
        limits = {"concurrency": 64, "timeout": 5.0, "breaker": 100, "max_attempts": 12}
        more = {"api_version": "2024-10-21"} if provider == "azure_openai" else {}
        return {**where, **limits, **more, "base_url": server.base_url(provider)}

    return Order(
        warehouse=str(folder / "warehouse"),
        out=str(folder / "result.json"),
        server=server.url,
        documents=documents,
        models={name: params(name) for name in PROVIDERS},
        scoring={"shards": 2, "segment_size": 50},
    )


def killed(story: Story, gate: Gate, cluster: Cluster | None) -> dict[str, Any]:
    """The story of a row of the table; what the last run wrote."""
    third = story.order.documents * 2 // 5
    command = cluster.submit(**EAGER) if cluster else None

    def reach(calls: int, run: Any) -> None:
        gate.let(calls)
        until(
            lambda: gate.closed() and story.settled(),
            "calls to be under way",
            lambda: run.poll() is None,
        )

    with story.run(command) as run:
        for _ in range(2):
            reach(third, run)
            story.kill_worker()
        if cluster:
            reach(third, run)
            story.kill_executor(cluster.executor(HOSTS[1]))
        reach(third * 3, run)
        story.kill_driver(run)
    gate.open()
    with story.run(command, scores=2) as run:
        return story.result(run)


def line(name: str, account: Account, story: Story, found: dict[str, Any], seconds: float) -> str:
    rows = ", ".join(f"{outcome} {n:,}" for outcome, n in sorted(account.rows.items()))
    kills = ", ".join(cut.what for cut in story.cuts)
    first, second = found["runs"]
    lost = sum(account.again.values())
    ceiling = account.requests + account.retries + account.not_durable
    played = ", ".join(f"{fault} {n}" for fault, n in sorted(story.server.seen.items()))
    assert account.server_calls <= ceiling
    assert second["asked"] == 0
    assert second["calls"] == first["calls"]
    return "\n".join(
        [
            f"{name}, {seconds:,.0f} s",
            f"  killed with -9        {kills}",
            f"  requests              {account.requests:,}",
            f"  rows                  {sum(account.rows.values()):,}: {rows}",
            f"  replies               {account.replies:,}, one of each call",
            f"  calls at the server   {account.server_calls:,}",
            f"    at most             {ceiling:,} = requests + {account.retries:,} retries + "
            f"{account.not_durable:,} not durable at the kills",
            f"    lost at the kills   {len(account.again):,} calls, sent {lost:,} times; "
            f"slots allow {account.bound:,}",
            "    durable, yet again  0",
            f"  after the driver's kill asked {first['asked']:,}; a further run asks "
            f"{second['asked']}, the server sees {second['calls'] - first['calls']}",
            f"  played by the server  {played}",
        ]
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--out", type=Path)
    parser.add_argument("--documents", type=int, default=DOCUMENTS)
    parser.add_argument("--only", choices=("local", "cluster"))
    args = parser.parse_args()
    load = os.getloadavg()[0]
    text = [
        f"{datetime.now():%Y-%m-%d}, {platform.machine()}, {os.cpu_count()} cores, load {load:.1f} "
        "before the start"
    ]
    for name in ("local", "cluster"):
        if args.only not in (None, name):
            continue
        began = time.monotonic()
        with (
            tempfile.TemporaryDirectory() as made,
            serving(faults=SHARES, wait=0.2) as server,
        ):
            folder = Path(made)
            story = Story(folder, server, order(folder, server, args.documents))
            gate = Gate(server)
            if name == "local":
                found = killed(story, gate, None)
            else:
                story.barrier = True
                with standalone(folder) as cluster:
                    found = killed(story, gate, cluster)
            account = settle(story, found)
        where = "local[2,4]" if name == "local" else "standalone, two workers, spark.speculation on"
        text.append(line(where, account, story, found, time.monotonic() - began))
        print("\n\n".join(text), flush=True)
    if args.out:
        args.out.write_text("\n\n".join(text) + "\n")


if __name__ == "__main__":
    main()
