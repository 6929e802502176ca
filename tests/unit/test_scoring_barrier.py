"""When a wave runs as a barrier stage. That Spark then copies no task: tests/faults, on a cluster.

The settings cannot be changed in a running session: here only their values are read.
"""

from __future__ import annotations

import pytest

from fairscreen.errors import InputError
from fairscreen.scoring.ask import needs_barrier

ON = {"spark.speculation": "true"}


class Context:
    def __init__(self, cores: int, settings: dict[str, str]) -> None:
        self.defaultParallelism, self.settings = cores, settings

    def getConf(self) -> Context:  # noqa: N802
        return self

    def getAll(self) -> list[tuple[str, str]]:  # noqa: N802
        return list(self.settings.items())


class Session:
    def __init__(self, cores: int | None, conf: dict[str, str]) -> None:
        self.conf = conf
        if cores is not None:  # Connect has none
            self.sparkContext = Context(cores, conf)


@pytest.mark.parametrize("value", ["false", "False", None])
def test_without_speculation_there_is_no_barrier(value: str | None) -> None:
    conf = {} if value is None else {"spark.speculation": value}
    assert not needs_barrier(Session(1, conf), shards=8)
    assert not needs_barrier(Session(None, conf), shards=8)


def test_a_barrier_where_every_shard_has_a_slot() -> None:
    assert needs_barrier(Session(8, ON), shards=8)
    assert needs_barrier(Session(16, ON | {"spark.task.cpus": "2"}), shards=8)


@pytest.mark.parametrize(
    ("cores", "more", "found", "fewer"),
    [
        (7, {}, "only 7", "scoring.shards to at most 7, "),
        (8, {"spark.task.cpus": "2"}, "only 4", "scoring.shards to at most 4, "),
        (8, {"spark.dynamicAllocation.enabled": "true"}, "an unknown number of", ""),
        (8, {"spark.default.parallelism": "8"}, "an unknown number of", ""),
        (None, {}, "an unknown number of", ""),
    ],
)
def test_speculation_is_refused_otherwise(
    cores: int | None, more: dict[str, str], found: str, fewer: str
) -> None:
    with pytest.raises(InputError) as raised:
        needs_barrier(Session(cores, ON | more), shards=8)
    assert str(raised.value) == (
        f"spark.speculation: is on, and 8 shards on {found} task slots cannot all run at once, as "
        "they must so that slow calls are not asked twice. Set spark.speculation to false, "
        f"{fewer}or scoring.where to driver."
    )
