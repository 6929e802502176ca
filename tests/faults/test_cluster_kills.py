"""kill -9 of an executor of a standalone cluster that speculates: counted at the server."""

from __future__ import annotations

from pathlib import Path

from cluster import EAGER, HOSTS, standalone
from harness import Gate, Story, settle, until
from scoring_run import Order

from model_server import serving

COUNT = 300
# Nothing that lowers the concurrency: both shards are known to ask once more than one's share is
# under way.
FAULTS = {"500": 0.05, "reset": 0.05, "truncated": 0.03, "gzip": 0.1}
SHARE = 8


def test_an_executor_is_killed_while_spark_speculates(tmp_path: Path) -> None:
    with serving(faults=FAULTS) as server, standalone(tmp_path) as cluster:
        own = {"provider": "anthropic", "model": "m-1", "base_url": server.url}
        story = Story(
            tmp_path,
            server,
            Order(
                warehouse=str(tmp_path / "warehouse"),
                out=str(tmp_path / "result.json"),
                server=server.url,
                documents=COUNT,
                models={"m": {**own, "concurrency": 2 * SHARE, "breaker": 10}},
                scoring={"shards": 2, "segment_size": 10},
                scores=2,
                too_many_shards=3,
            ),
            barrier=True,
        )
        gate = Gate(server)
        gate.let(80)
        with story.run(cluster.submit(**EAGER)) as run:
            until(
                lambda: gate.closed() and story.settled() and server.under_way > SHARE,
                "both shards to have calls under way",
                lambda: run.poll() is None,
            )
            story.kill_executor(cluster.executor(HOSTS[1]))
            gate.open()
            found = story.result(run)
        account = settle(story, found)
    assert found["refused"] == (
        "spark.speculation: is on, and 3 shards on only 2 task slots cannot all run at once, as "
        "they must so that slow calls are not asked twice. Set spark.speculation to false, "
        "scoring.shards to at most 2, or scoring.where to driver."
    )
    assert account.rows == {"ok": COUNT}
    assert len(account.again) > 0
    first, second = found["runs"]
    assert (first["asked"], second["asked"], second["reused"]) == (COUNT, 0, COUNT)
    assert second["calls"] == first["calls"] == account.server_calls
