"""One aiohttp client that asks the calls of a shard, many at a time, and loses none.

A call holds a slot from its first attempt until its segment is durable. There are `concurrency`
places on the wire and, beside them, room for what is answered and not yet durable: the segment that
is being written and the one that gathers meanwhile, or the row of failures that the breaker looks
at. So the wire stays full while a disk takes its time, and what a kill can cost is bounded: only
calls that hold a slot can be asked twice, once per kill, at most
concurrency + max(2 * segment_size, breaker) of a shard.

Everything runs in one event loop inside a plain generator, but for the writing of a segment: that
has a thread, because a disk may take longer than an answer.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Sequence
from datetime import UTC, datetime
from functools import partial

from fairscreen.errors import StoppedError
from fairscreen.scoring import giving_up
from fairscreen.scoring.attempts import POLL_SECONDS
from fairscreen.scoring.calls import Call, Reply, Unwatched, Watch
from fairscreen.scoring.limits import (
    Breaker,
    Budget,
    Concurrency,
    worst_tokens,
)
from fairscreen.scoring.money import Purse
from fairscreen.scoring.providers import PROVIDERS
from fairscreen.scoring.providers.base import Answer, HttpRequest, Image
from fairscreen.scoring.status import Status
from fairscreen.scoring.tally import OTHER
from fairscreen.scoring.till import Till
from fairscreen.scoring.turns import Turns
from fairscreen.scoring.wire import Setup, Wire

_FLUSH_SECONDS = 2.0

Group = list[tuple[str, Reply]]
Keep = Callable[[Group], None]


class Client:
    """The screener. Time and waiting are injected, so that tests need not wait."""

    def __init__(
        self,
        setup: Setup,
        *,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self.setup, self.clock, self.sleep = setup, clock, sleep

    def stream(
        self,
        calls: Iterator[Call],
        *,
        segment_size: int,
        watch: Watch,
        keep: Keep,
        purse: Purse | None = None,
    ) -> Iterator[Group]:
        with asyncio.Runner() as runner:
            run = _Run(self, calls, segment_size, watch, keep, purse)
            try:
                while group := runner.run(run.group()):
                    yield group
            finally:
                runner.run(run.close())
                watch.tell(Status(errors=run.errors), last=True)

    def ask(self, calls: Sequence[Call]) -> Iterator[tuple[str, Reply]]:
        """The same for a few calls at hand."""
        size = max(1, len(calls))
        for group in self.stream(
            iter(calls), segment_size=size, watch=Unwatched(), keep=lambda group: None
        ):
            yield from group


class _Run:
    """One shard being asked: the state between two groups."""

    def __init__(
        self,
        client: Client,
        calls: Iterator[Call],
        segment_size: int,
        watch: Watch,
        keep: Keep,
        purse: Purse | None,
    ) -> None:
        self.setup, self.clock, self.sleep = client.setup, client.clock, client.sleep
        t = self.setup.transport
        self.calls, self.segment_size, self.watch, self.keep = calls, segment_size, watch, keep
        self.room = t.concurrency + max(2 * segment_size, t.breaker)
        self.concurrency, self.breaker = Concurrency(t.concurrency), Breaker(t.breaker)
        self.budget = Budget(t.max_attempts, t.max_seconds)
        self.turns = Turns(self.concurrency, t, self.clock, self.sleep)
        self.connections = Wire(self.setup)
        self.till = Till(self.setup, purse)
        self.next_call: Call | None = None  # waits until it can be paid
        self.provider = PROVIDERS[self.setup.spec.provider]
        self.wake = asyncio.Event()
        self.tasks: set[asyncio.Task[None]] = set()
        self.sending: set[asyncio.Task[None]] = set()
        self.unsent: set[asyncio.Task[None]] = set()  # calls that wait for their first attempt
        self.ready: Group = []
        self.written: Group = []  # or being written
        self.writing: asyncio.Future[None] | None = None
        self.ready_since = 0.0
        self.held: Group = []  # failures in a row: final once the model answers again
        self.fed = False  # no further call is started
        self.finishing = self.stopping = False
        self.looked_at = float("-inf")
        self.last_failure: Answer | None = None
        self.errors: Counter[str] = Counter()  # kind -> attempts that ended so
        self.given_up = 0  # calls in a row after which the breaker tripped
        self.halt: StoppedError | None = None  # one answer was enough to end it
        self.fault: BaseException | None = None
        self.rewriting = False  # a segment could not be written

    async def group(self) -> Group:
        """The next replies that are durable; empty at the end."""
        while True:
            self._look()
            self._start_calls()
            if self.writing is None:
                if not self._is_due() and not self.tasks:
                    self.ready = self._end()
                    if not self.ready:
                        return []
                if self._is_due():
                    self._write()
            elif self.writing.done():
                error = self.writing.exception()
                group, self.written, self.writing = self.written, [], None
                if error is None:
                    return group
                self._unwritten(group, error)
                continue
            self.wake.clear()
            timer = asyncio.get_running_loop().call_later(POLL_SECONDS, self.wake.set)
            await self.wake.wait()
            timer.cancel()

    def _write(self) -> None:
        self.written, self.ready = self.ready, []
        loop = asyncio.get_running_loop()
        self.writing = loop.run_in_executor(None, self.keep, self.written)
        self.writing.add_done_callback(lambda _: self.wake.set())

    def _unwritten(self, group: Group, error: BaseException) -> None:
        """A segment did not become durable: what is on the wire is awaited, since it is paid, and
        then everything is written once more. Raises where that fails, too."""
        self.ready = group + self.ready
        if self.rewriting:
            self.till.drop([*self.ready, *self.held])
            raise error
        self.rewriting = True
        self._fail(error)

    def _fail(self, error: BaseException) -> None:
        """Start nothing more; raise this once all is drained and written."""
        self.fault = self.fault or error
        self._feed_no_more(self.tasks - self.sending)

    def _slots(self) -> int:
        return len(self.tasks) + len(self.ready) + len(self.held) + len(self.written)

    def _is_due(self) -> bool:
        if self.rewriting:
            return bool(self.ready) and not self.tasks
        return bool(self.ready) and (
            len(self.ready) >= self.segment_size
            or not self.tasks
            or self.stopping  # somebody may be waiting to read what is durable
            or self._slots() >= self.room
            or self.clock() - self.ready_since >= _FLUSH_SECONDS
        )

    def _end(self) -> Group:
        """Nothing is under way or ready any more."""
        if self.fault:
            self.till.drop(self.held)
            raise self.fault
        if self.halt:
            self.till.drop(self.held)
            raise self.halt
        ended = self.stopping or self.finishing or self.till.exhausted
        if self.breaker.tripped(exhausted=not ended):
            self.given_up = self.given_up or self.breaker.row
        if self.given_up:
            self.till.drop(self.held)
            raise giving_up.refused(self.setup, self.last_failure, self.given_up)
        # A stop leaves the last failures open, and so does the end of a wave in which the model
        # has not answered yet: the next one asks them.
        is_open = self.stopping or (ended and not self.breaker.proven)
        if is_open:
            self.till.drop(self.held)
        group, self.held = ([] if is_open else self.held), []
        return group

    def _look(self) -> None:
        now = self.clock()
        if now - self.looked_at < POLL_SECONDS:
            return
        self.looked_at = now
        sent = len(self.sending)
        self.watch.tell(Status(sent, len(self.tasks) - sent, self.errors))
        if self.stopping:
            return
        try:
            state = self.watch.state()
        except Exception as error:
            self._fail(error)
            return
        if state == "stop":
            self.stopping = True
            self._feed_no_more(self.tasks - self.sending)
        elif state == "finish" and not self.finishing:
            self.finishing = True
            self._feed_no_more(self.unsent)

    def _feed_no_more(self, unwanted: set[asyncio.Task[None]]) -> None:
        """Start no further call and drop these; the others are waited for."""
        self.fed = True
        for task in unwanted:
            task.cancel()

    def _start_calls(self) -> None:
        while not self.fed:
            allowed = self.concurrency.allowed
            if not self.breaker.proven:
                allowed = min(allowed, self.breaker.canaries)
            if len(self.tasks) >= allowed or self._slots() >= self.room:
                return
            try:
                call = self.next_call or next(self.calls, None)
                self.next_call = None
                if call and not self.till.starts(call):
                    self.next_call, self.fed = call, self.till.exhausted
                    return
            except Exception as error:  # what is under way is kept first
                self.fault, call = error, None
            if call is None:
                self.fed = True
                return
            task = asyncio.get_running_loop().create_task(self._ask(call))
            self.tasks.add(task)
            self.unsent.add(task)
            task.add_done_callback(partial(self._ended, call.call_key))

    def _ended(self, call_key: str, task: asyncio.Task[None]) -> None:
        self.till.leave(call_key)
        self.tasks.discard(task)
        self.unsent.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            self._fail(error)
        self._start_calls()
        if not self.tasks or (self.writing is None and self._is_due()):
            self.wake.set()

    async def _ask(self, call: Call) -> None:
        """One call to its last word, however many attempts that takes."""
        spec, task = self.setup.spec, asyncio.current_task()
        assert task is not None
        resume, image_tokens = call.resume or "", 0
        chars = self.setup.prompt.chars(call.prompt or "", resume)
        if isinstance(resume, Image):
            resume, image_tokens = resume.data, spec.image_tokens
        weight = worst_tokens(chars, spec.decoding.max_tokens, image_tokens)
        attempt = counted = 0
        retried: list[str] = []
        first = float("inf")
        while True:
            await self.turns.take(weight)
            sent = self.clock()
            first = min(first, sent)
            attempt += 1
            self.sending.add(task)
            self.unsent.discard(task)
            try:
                answer = await self.connections.send(self._request(call), resume)
            except asyncio.CancelledError:  # it may be billed
                self.till.failed(call, Answer("retry"))
                raise
            finally:
                self.sending.discard(task)
                self.turns.leave()
            if answer.kind not in {"answered", "refused"}:
                self.errors[answer.error_kind or OTHER] += 1
            if halt := giving_up.at_once(self.setup, answer, datetime.now(UTC)):
                self.halt = self.halt or halt
                self._feed_no_more(self.tasks - self.sending)
                return  # no last word: the next run asks it
            now = self.clock()
            counted += answer.kind != "rate_limited"
            if answer.kind not in {"answered", "refused"}:
                self.till.failed(call, answer)
            if answer.overloaded:
                self.concurrency.overloaded(sent, now)
            if answer.kind == "rate_limited":
                self.turns.pause(now + (answer.retry_after or 0.0))
            pause = self.budget.wait(
                answer, call.call_key, attempt=attempt, counted=counted, seconds=now - first
            )
            if pause is None:
                self._settle(call, answer, attempt, 1000 * (now - sent), retried)
                return
            retried.append(answer.error_kind or OTHER)
            if self.stopping or self.given_up or self.fault or self.halt:
                return  # no last word: the next run asks it
            await self.sleep(pause)
            if not await self.till.again(call):
                return  # no last word, for want of money

    def _settle(
        self, call: Call, answer: Answer, attempts: int, milliseconds: float, retried: list[str]
    ) -> None:
        known = answer.kind in {"answered", "refused"}
        reply = Reply(
            "answered" if answer.kind == "answered" else "refused" if known else "failed",
            reply=answer.text,
            finish_reason=answer.finish_reason,
            error=answer.error,
            attempts=attempts,
            latency_ms=round(milliseconds, 3),
            tokens_in=answer.tokens_in,
            tokens_out=answer.tokens_out,
            cost_usd=self.setup.spec.cost_usd(answer.tokens_in, answer.tokens_out),
            cost_max_usd=self.till.settle(call, answer),
            p_yes=answer.p_yes,
            expected_score=answer.expected_score,
            model_version=answer.model_version,
            provider_id=answer.provider_id,
            # Now, not when its segment is written: failures may be held back for long.
            asked_at=datetime.now(UTC).isoformat(),
            error_kind=None if known else answer.error_kind,
            retried=retried or None,
        )
        if not known:
            self.last_failure = answer
            self.held.append((call.call_key, reply))
            self.breaker.failed(answer.denied, answer.doubtful)
            if self.breaker.tripped() and not self.given_up:
                self.given_up = self.breaker.row
                self._feed_no_more(self.tasks - self.sending)
            return
        self.concurrency.answered()
        self.breaker.answered()
        if not self.ready:
            self.ready_since = self.clock()
        self.ready += [*self.held, (call.call_key, reply)]
        self.held = []

    def _request(self, call: Call) -> HttpRequest:
        prompt = self.setup.prompt.filled(call.prompt or "", call.resume or "")
        return self.provider.request(self.setup.spec, prompt, self.setup.secret)

    async def close(self) -> None:
        self.fed = True
        for task in self.tasks:
            task.cancel()
        await asyncio.gather(*self.tasks, return_exceptions=True)
        await self.connections.close()
