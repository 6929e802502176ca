"""One wave from the driver's side: the Spark action runs in a thread, people see progress.

A wave's time runs from its first durable answer (planning and starting workers is not asking). When
it is over, the file `end` tells the shards: they finish what they began, and the driver commits and
plans what is left anew.

Ctrl-C (or SIGTERM, which schedulers send before they kill) once writes the `stop` file: shards
write what is answered and return, and it is committed. Twice is what it always was.
"""

from __future__ import annotations

import math
import signal
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, Literal

from fairscreen.errors import InputError, from_worker
from fairscreen.progress import say
from fairscreen.scoring.ask import Asking, Counters, ask_wave
from fairscreen.scoring.journal import WaveJournal
from fairscreen.scoring.progress import Progress

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_EVERY_SECONDS = 10.0


def run_wave(
    planned: DataFrame,
    asking: Asking,
    progress: Progress,
    *,
    shards: int,
    where: Literal["executors", "driver"],
    minutes: float,
) -> list[Counters]:
    """Ask a wave and keep `progress` up to date. Raises what the shards raised.

    minutes: how long after its first answer the wave ends.
    """
    journal = WaveJournal(asking.journal, asking.wave_id)
    journal.create()
    progress.watch(journal)
    with ThreadPoolExecutor(1) as pool, _stop_on_interrupt(journal):
        future = pool.submit(ask_wave, planned, asking, shards=shards, where=where)
        over, told = math.inf, time.monotonic()
        while not wait([future], timeout=min(_EVERY_SECONDS, 60 * minutes)).done:
            now = time.monotonic()
            if now - told >= _EVERY_SECONDS:
                progress.tick()
                told = now
            if over == math.inf and progress.look_at_wave():
                over = now + 60 * minutes
            if now >= over:
                # What the journal does not take, shards find out when they write.
                with suppress(InputError):
                    journal.end()
        try:
            return future.result()
        except Exception as error:
            known = from_worker(error)
            if known is not None:
                raise known from None
            raise
        finally:
            progress.look()  # the journal will be gone once it is committed


@contextmanager
def _stop_on_interrupt(journal: WaveJournal) -> Iterator[None]:
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    signals = (signal.SIGINT, signal.SIGTERM)
    before: dict[int, Any] = {number: signal.getsignal(number) for number in signals}

    def restore() -> None:
        for number, handler in before.items():
            signal.signal(number, handler)

    def stop(number: int, frame: object) -> None:
        restore()
        journal.stop()
        say("stopping: what is being asked is finished and kept (once more breaks off)")

    for number in signals:
        signal.signal(number, stop)
    try:
        yield
    finally:
        restore()
