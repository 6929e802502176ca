"""Ask one wave. `ask_shard` is plain Python and runs alike in an executor and in the driver.

Asking is one Spark action that returns counters and nothing else: it is never part of a query
that may be evaluated twice. Replies go to the journal. A call that is in flight when its process
is killed may be asked twice, once per kill; one that is durable never is.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, fields
from datetime import UTC, datetime
from itertools import groupby, islice
from typing import TYPE_CHECKING, Any, Literal

import pyarrow as pa

from fairscreen.errors import FairscreenError, InputError, StoppedError
from fairscreen.scoring.calls import Call, Reply, Screener, State, Streaming
from fairscreen.scoring.images import image
from fairscreen.scoring.journal import Record, ShardJournal
from fairscreen.scoring.money import Purse
from fairscreen.scoring.providers.base import Image
from fairscreen.scoring.status import Status

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


@dataclass
class Counters:
    """What one attempt at a shard did. Every field is an int or a bool: see `COUNTERS`.

    asked    were answered now; `skipped` were in the journal
    stopped  calls are left because the wave was stopped
    ended    calls are left because the wave's time was up
    out_of_money    calls are left because the next one did not fit into the shard's share
    spent_pico      picodollars that the shard has cost at most, earlier attempts at it included
    unclaimed_pico  those of them that belong to calls without a reply
    """

    planned: int = 0
    asked: int = 0
    skipped: int = 0
    stopped: bool = False
    ended: bool = False
    out_of_money: bool = False
    spent_pico: int = 0
    unclaimed_pico: int = 0

    @property
    def left(self) -> int:
        return self.planned - self.asked - self.skipped

    @property
    def excused(self) -> bool:
        """Calls may be left without a reply: the next wave asks them."""
        return self.ended or self.out_of_money

    def note(self, state: State) -> None:
        """Say why calls are left, if any are."""
        self.stopped = self.left > 0 and state == "stop"
        self.ended = self.left > 0 and state == "finish"

    def pay(self, purse: Purse) -> None:
        self.out_of_money = self.left > 0 and purse.exhausted
        self.spent_pico, self.unclaimed_pico = purse.spent, purse.unclaimed


_SLICE = 500
_FLAGS = {f.name: isinstance(f.default, bool) for f in fields(Counters)}
COUNTERS = ", ".join(
    ["shard INT", *(f"{n} {'BOOLEAN' if flag else 'BIGINT'}" for n, flag in _FLAGS.items())]
)
_COUNTERS = pa.schema(
    [("shard", pa.int32())]
    + [(n, pa.bool_() if flag else pa.int64()) for n, flag in _FLAGS.items()]
)


def ask_shard(
    calls: Iterable[Call],
    screener: Screener | Streaming,
    segments: ShardJournal,
    *,
    segment_size: int,
    stamp: Mapping[str, str],
    money: int | None = None,
) -> Counters:
    """Ask the calls of one shard that its journal lacks, `segment_size` at a time.

    Every reply is written with `stamp` (model, wave_id, and model_version where the reply brings
    none). Where the screener raises, what it answered before is written first. A file `stop` or
    `end` in the wave's folder ends the shard, between two groups. A streaming screener that gives
    up (a bad key, a dead service) stops the whole wave: the reason goes into the stop file, and the
    driver raises it once everything is committed.
    money: picodollars that all attempts at the shard may cost together; None = no limit.
    """
    if isinstance(screener, Streaming):
        purse = None if money is None else Purse(money, segments.spent())
        return _ask_stream(calls, screener, segments, segment_size, stamp, purse)
    counters = Counters()
    done = segments.done()
    stream = iter(calls)
    state: State = "go"
    while group := list(islice(stream, segment_size)):
        counters.planned += len(group)
        pending = [call for call in group if call.call_key not in done]
        counters.skipped += len(group) - len(pending)
        state = state if state != "go" else segments.state()
        if state != "go":
            continue
        segments.tell(Status(under_way=len(pending)))
        answered: list[Record] = []
        try:
            for key, reply in screener.ask(pending) if pending else ():
                answered.append(_record(key, reply, stamp))
        finally:
            segments.write(answered)
            counters.asked += len(answered)
    counters.note(state)
    segments.tell(Status(), last=True)
    return counters


def _ask_stream(
    calls: Iterable[Call],
    screener: Streaming,
    segments: ShardJournal,
    segment_size: int,
    stamp: Mapping[str, str],
    purse: Purse | None,
) -> Counters:
    counters, done, source = Counters(), segments.done(), iter(calls)

    def pending() -> Iterator[Call]:
        for call in source:
            counters.planned += 1
            if call.call_key not in done:
                yield call
            else:
                counters.skipped += 1

    def keep(group: list[tuple[str, Reply]]) -> None:
        segments.write([_record(key, reply, stamp) for key, reply in group])

    try:
        for group in screener.stream(
            pending(), segment_size=segment_size, watch=segments, keep=keep, purse=purse
        ):
            counters.asked += len(group)
    except (InputError, StoppedError) as why:
        segments.stop(why)
    counters.planned += sum(1 for _ in source)
    counters.note(segments.state())
    if purse:
        counters.pay(purse)
    return counters


def _record(key: str, reply: Reply, stamp: Mapping[str, str]) -> Record:
    at = reply.asked_at or datetime.now(UTC).isoformat()
    version = reply.model_version or stamp["model_version"]
    # A flat record: asdict would copy every value deeply, a tenth of what a call costs.
    fields = {"call_key": key, **vars(reply), **stamp, "model_version": version}
    return {**fields, "asked_at": at}


@dataclass(frozen=True)
class Asking:
    """All that a worker needs; goes to it inside the closure."""

    journal: str
    wave_id: str
    segment_size: int
    model: str  # as the screener calls itself, not as the audit does
    model_version: str
    open: Callable[[], Screener | Streaming]
    needs_text: bool
    money: int | None = None  # picodollars of one shard; in the driver of all of them

    def shard(self, shard: int, rows: Iterable[dict[str, Any]], money: int | None) -> Counters:
        return ask_shard(
            (self._call(row) for row in rows),
            self.open(),
            ShardJournal(self.journal, self.wave_id, shard),
            segment_size=self.segment_size,
            stamp={
                "model": self.model,
                "model_version": self.model_version,
                "wave_id": self.wave_id,
            },
            money=money,
        )

    def _call(self, row: dict[str, Any]) -> Call:
        resume: str | Image | None = row["resume"]
        if row.get("image") is not None:  # who plans texts only leaves the column out
            resume = image(row["media_type"], row["image"], row["content_key"])
        if self.needs_text and (resume is None or row["prompt"] is None):
            missing = row["content_key"] if resume is None else row["prompt_key"]
            raise InputError(
                f"table contents, content_key {missing}",
                "a text that is to be sent is not there",
                "Run `fairscreen render` with the same config, then score again.",
            )
        return Call(
            call_key=row["call_key"],
            resume=resume,
            prompt_key=row["prompt_key"],
            prompt=row["prompt"],
            payload=row["payload"],
        )


def require_no_speculation(spark: SparkSession) -> None:
    """Speculative tasks ask every slow call twice: refuse, naming the setting."""
    try:
        value = spark.conf.get("spark.speculation", "false")
    except Exception:  # serverless Spark refuses to show the setting, and does not speculate
        return
    if str(value).lower() == "true":
        raise InputError(
            "spark.speculation",
            "is on, so slow calls would be asked twice",
            "Set spark.speculation to false, or set scoring.where to driver.",
        )


def ask_wave(
    planned: DataFrame, asking: Asking, *, shards: int, where: Literal["executors", "driver"]
) -> list[Counters]:
    """Ask the rows of one wave: columns of `waves`, and those of `plan.with_texts`. One action."""
    if where == "driver":
        ordered = planned.sort("shard").toLocalIterator()
        rows = (row.asDict() for row in ordered)
        return _in_turn(asking, rows)
    counted = planned.repartitionById(shards, "shard").mapInArrow(_worker(asking), COUNTERS)
    return [Counters(**{name: r[name] for name in _FLAGS}) for r in counted.collect()]


def _rows(batch: pa.RecordBatch) -> Iterator[dict[str, Any]]:
    """In slices: a whole batch of texts as Python objects takes memory, and time on end."""
    for start in range(0, batch.num_rows, _SLICE):
        yield from batch.slice(start, _SLICE).to_pylist()


def _in_turn(asking: Asking, rows: Iterator[dict[str, Any]]) -> list[Counters]:
    """Shard by shard in this process: each may use all the money that is left."""
    found: list[Counters] = []
    for shard, group in groupby(rows, key=lambda r: int(r["shard"])):
        spent = sum(c.spent_pico for c in found)
        left = None if asking.money is None else max(0, asking.money - spent)
        found.append(asking.shard(shard, group, left))
    return found


def _worker(
    asking: Asking,
) -> Callable[[Iterable[pa.RecordBatch]], Iterable[pa.RecordBatch]]:
    def work(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        # One process asks with one thread: the pools of numeric libraries would fight for cores.
        os.environ.setdefault("OMP_NUM_THREADS", "1")
        rows = (row for batch in batches for row in _rows(batch))
        try:
            # A partition is one shard; a shard in two partitions would be asked twice.
            for shard, group in groupby(rows, key=lambda r: int(r["shard"])):
                c = asking.shard(shard, group, asking.money)
                row = {"shard": shard, **asdict(c)}
                yield pa.RecordBatch.from_pylist([row], schema=_COUNTERS)
        except InputError as error:
            raise error.marked() from None
        except FairscreenError as error:
            raise RuntimeError(str(error)) from None

    return work
