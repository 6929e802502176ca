"""Turns of one shard's attempts: a place on the wire, and the shard's share of the limits."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Sequence

from fairscreen.scoring.limits import Concurrency, Pace, reserve
from fairscreen.scoring.wire import Transport


class Turns:
    """Who may send. Each `take` that returns is followed by one `leave`."""

    def __init__(
        self,
        concurrency: Concurrency,
        transport: Transport,
        clock: Callable[[], float],
        sleep: Callable[[float], Awaitable[None]],
    ) -> None:
        self._concurrency, self._clock, self._sleep = concurrency, clock, sleep
        self._rpm = Pace(transport.rpm) if transport.rpm else None
        self._tpm = Pace(transport.tpm) if transport.tpm else None
        self._waiting: deque[asyncio.Future[None]] = deque()  # for a place on the wire
        self._wire = 0
        self._paused_until = float("-inf")

    async def take(self, weight: int) -> None:
        """Wait for a place on the wire and for the shard's share; take the place.

        weight: tokens that the attempt may need.
        """
        while self._wire >= self._concurrency.allowed:
            place: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._waiting.append(place)
            try:
                await place
            except asyncio.CancelledError:
                self._hand_on()  # the place may have been given to this one a moment ago
                raise
        self._wire += 1
        try:
            paces = [(p, w) for p, w in ((self._rpm, 1.0), (self._tpm, float(weight))) if p]
            at = self._at(paces)
            while at > self._clock():
                await self._sleep(at - self._clock())
                if self._paused_until > self._clock():
                    at = self._at(paces)
        except BaseException:
            self.leave()
            raise

    def leave(self) -> None:
        self._wire -= 1
        self._hand_on()

    def pause(self, until: float) -> None:
        """Nothing is sent before, whoever waits."""
        self._paused_until = max(self._paused_until, until)

    def _at(self, paces: Sequence[tuple[Pace, float]]) -> float:
        return reserve(paces, max(self._clock(), self._paused_until))

    def _hand_on(self) -> None:
        free = self._concurrency.allowed - self._wire
        while free > 0 and self._waiting:
            place = self._waiting.popleft()
            if not place.done():
                place.set_result(None)
                free -= 1
