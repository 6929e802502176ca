"""Ask one wave. `ask_shard` is plain Python and runs alike in an executor and in the driver.

Asking is one Spark action that returns counters and nothing else: it is never part of a query
that may be evaluated twice. Replies go to the journal.

**What holds.** A reply is *durable* once its segment is whole on the journal's disk.
- Rows, exactly once: every request has one row in `scores`, every durable reply one in `replies`,
  whatever was killed, retried, lost or run again. Nothing durable is asked again.
- Calls, at least once: a call is sent once and, by the rules of `limits`, again after an attempt
  that failed. Beyond that only calls that held a slot of an attempt at a shard when it was cut off
  are sent again: at most its slots per shard and cut (chat models: concurrency / shards +
  max(2 * segment_size, breaker), see `client`; others: segment_size).
- What cuts off an attempt: kill -9 of its worker, executor or driver, a failed task, and Spark
  starting the shard anew while it lives (`attempts`). In a barrier stage, which is how waves run
  where `spark.speculation` is on, one cut ends the attempts of all shards.
- Ctrl-C, SIGTERM, a bad key, a cap: nothing is sent twice, since shards drain.
**What does not.** A disk that loses what was fsynced, a journal folder that somebody removes, a
file system that shows new files later than `attempts.SETTLE_SECONDS`; two audits that ask the same
call at the same time; what a provider charges for answers that never arrived.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, fields
from datetime import UTC, datetime
from itertools import groupby, islice
from typing import TYPE_CHECKING, Any, Literal

import pyarrow as pa

from fairscreen.errors import FairscreenError, InputError, StoppedError, as_text
from fairscreen.scoring.calls import Call, Reply, Screener, State, Streaming
from fairscreen.scoring.images import image
from fairscreen.scoring.journal import Record, ShardJournal, WaveJournal
from fairscreen.scoring.money import Purse
from fairscreen.scoring.providers.base import Image
from fairscreen.scoring.status import Status

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


@dataclass
class Counters:
    """What one attempt at a shard did. Every field is an int, a bool or a text: see `COUNTERS`.

    asked    were answered now; `skipped` were in the journal
    stopped  calls are left because the wave was stopped
    ended    calls are left because the wave's time was up
    out_of_money    calls are left because the next one did not fit into the shard's share
    spent_pico      picodollars that the shard has cost at most, earlier attempts at it included
    unclaimed_pico  those of them that belong to calls without a reply
    fenced   another attempt has taken over: it and not this one answers for the shard
    untold   why the shard stopped, where the journal did not take it (see `WaveJournal.stop`)
    """

    planned: int = 0
    asked: int = 0
    skipped: int = 0
    stopped: bool = False
    ended: bool = False
    out_of_money: bool = False
    spent_pico: int = 0
    unclaimed_pico: int = 0
    fenced: bool = False
    untold: str = ""

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
_TYPES: Mapping[type, tuple[str, pa.DataType]] = {
    bool: ("BOOLEAN", pa.bool_()),
    int: ("BIGINT", pa.int64()),
    str: ("STRING", pa.string()),
}
_FIELDS = {f.name: _TYPES[type(f.default)] for f in fields(Counters)}
COUNTERS = ", ".join(["shard INT", *(f"{name} {sql}" for name, (sql, _) in _FIELDS.items())])
_COUNTERS = pa.schema(
    [("shard", pa.int32()), *((name, arrow) for name, (_, arrow) in _FIELDS.items())]
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
    up (a bad key, a dead service, a full disk) stops the whole wave: the reason goes into the stop
    file, or else into the counters, and the driver raises it once everything is committed.
    money: picodollars that all attempts at the shard may cost together; None = no limit.
    """
    segments.begin()
    try:
        if isinstance(screener, Streaming):
            purse = None if money is None else Purse(money, segments.spent())
            counters = _ask_stream(calls, screener, segments, segment_size, stamp, purse)
        else:
            counters = _ask_groups(calls, screener, segments, segment_size, stamp)
        counters.fenced = segments.superseded()
        return counters
    finally:
        segments.end()


def _ask_groups(
    calls: Iterable[Call],
    screener: Screener,
    segments: ShardJournal,
    segment_size: int,
    stamp: Mapping[str, str],
) -> Counters:
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
        counters.untold = "" if segments.stop(why) else as_text(why)
    counters.planned += sum(1 for _ in source)
    counters.note("stop" if counters.untold else segments.state())
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
            ShardJournal(self.journal, self.wave_id, shard, made=True),
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


def needs_barrier(spark: SparkSession, shards: int) -> bool:
    """Whether a wave must run as a barrier stage: where Spark speculates, it spares these.

    A speculative copy of a slow shard would supersede it, and ask what it has on the wire again.
    Raises InputError where speculation is on and the shards do not all have a slot at once.
    """
    try:
        value = spark.conf.get("spark.speculation", "false")
    except Exception:  # serverless Spark refuses to show the setting, and does not speculate
        return False
    if str(value).lower() != "true":
        return False
    slots = _slots(spark)
    if slots is not None and slots >= shards:
        return True
    found = "an unknown number of" if slots is None else f"only {slots}"
    fewer = "" if slots is None else f"scoring.shards to at most {slots}, "
    raise InputError(
        "spark.speculation",
        f"is on, and {shards} shards on {found} task slots cannot all run at once, as they must "
        "so that slow calls are not asked twice",
        f"Set spark.speculation to false, {fewer}or scoring.where to driver.",
    )


def _slots(spark: SparkSession) -> int | None:
    """Tasks that can run at once; None where Spark does not say (Connect) or it varies."""
    try:
        context = spark.sparkContext
        settings = dict(context.getConf().getAll())
    except Exception:
        return None
    varies = settings.get("spark.dynamicAllocation.enabled", "false").lower() == "true"
    if varies or "spark.default.parallelism" in settings:  # then it is no longer a number of cores
        return None
    return context.defaultParallelism // int(settings.get("spark.task.cpus", "1"))


def ask_wave(
    planned: DataFrame, asking: Asking, *, shards: int, where: Literal["executors", "driver"]
) -> list[Counters]:
    """Ask the rows of one wave: columns of `waves`, and those of `plan.with_texts`. One action."""
    if where == "driver":
        ordered = planned.sort("shard").toLocalIterator()
        rows = (row.asDict() for row in ordered)
        return _in_turn(asking, rows)
    barrier = needs_barrier(planned.sparkSession, shards)
    by_shard = planned.repartitionById(shards, "shard")
    counted = by_shard.mapInArrow(_worker(asking), COUNTERS, barrier)
    if barrier:  # Spark tries a failed barrier stage again only where another stage follows it
        counted = counted.repartition(1)
    return [Counters(**{name: r[name] for name in _FIELDS}) for r in counted.collect()]


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
        if found[-1].untold:  # no file tells the others
            break
    return found


def _worker(
    asking: Asking,
) -> Callable[[Iterable[pa.RecordBatch]], Iterable[pa.RecordBatch]]:
    def work(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        # One process asks with one thread: the pools of numeric libraries would fight for cores.
        os.environ.setdefault("OMP_NUM_THREADS", "1")
        rows = (row for batch in batches for row in _rows(batch))
        try:
            WaveJournal(asking.journal, asking.wave_id).require_shared()
            # A partition is one shard; a shard in two partitions would be asked twice.
            for shard, group in groupby(rows, key=lambda r: int(r["shard"])):
                c = asking.shard(shard, group, asking.money)
                if c.fenced:  # as a result it would be taken for the whole shard's
                    raise StoppedError(f"shard {shard}: another attempt has taken over")
                row = {"shard": shard, **asdict(c)}
                yield pa.RecordBatch.from_pylist([row], schema=_COUNTERS)
        except InputError as error:
            raise error.marked() from None
        except FairscreenError as error:
            raise RuntimeError(str(error)) from None

    return work
