"""kill -9 of workers and of the driver, under local[2,4]: counted at the server."""

from __future__ import annotations

from pathlib import Path

from harness import Gate, Story, settle, until
from scoring_run import Order

from model_server import serving

COUNT = 400
FAULTS = {"429": 0.05, "500": 0.05, "reset": 0.03, "truncated": 0.03, "gzip": 0.1, "slow": 0.1}


def test_two_workers_and_the_driver_are_killed(tmp_path: Path) -> None:
    with serving(faults=FAULTS) as server:
        own = {"provider": "openai", "model": "m-1", "base_url": f"{server.url}/v1"}
        story = Story(
            tmp_path,
            server,
            Order(
                warehouse=str(tmp_path / "warehouse"),
                out=str(tmp_path / "result.json"),
                server=server.url,
                documents=COUNT,
                models={"m": {**own, "concurrency": 16, "breaker": 10}},
                scoring={"shards": 2, "segment_size": 10},
            ),
        )
        gate = Gate(server)
        with story.run() as run:
            for kill in (story.kill_worker, story.kill_worker, lambda: story.kill_driver(run)):
                gate.let(80)
                until(
                    lambda: gate.closed() and story.settled(),
                    "calls to be under way",
                    lambda: run.poll() is None,
                )
                kill()
        assert len(story.durable()) < COUNT  # it was killed in the middle

        gate.open()
        with story.run(scores=2) as run:
            found = story.result(run)
        account = settle(story, found)
    assert account.rows == {"ok": COUNT}
    assert len(account.again) > 0  # else nothing was under way, and this showed nothing
    first, second = found["runs"]
    assert first["asked"] == COUNT - len(story.cuts[-1].durable)
    assert (second["asked"], second["reused"]) == (0, COUNT)
    assert second["calls"] == first["calls"] == account.server_calls
    assert not list(story.journal.iterdir())
