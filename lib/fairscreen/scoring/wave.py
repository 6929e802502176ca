"""One wave from the driver's side: the Spark action runs in a thread, people see progress.

Ctrl-C once writes the `stop` file: shards write what is answered and return, and it is
committed. Ctrl-C twice is what it always was.
"""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Literal

from fairscreen.errors import from_worker
from fairscreen.progress import say
from fairscreen.scoring.ask import Asking, Counters, ask_wave
from fairscreen.scoring.journal import Meter, WaveJournal

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_EVERY_SECONDS = 10.0


def run_wave(
    planned: DataFrame,
    asking: Asking,
    *,
    label: str,
    total: int,
    shards: int,
    where: Literal["executors", "driver"],
) -> list[Counters]:
    """Ask a wave and say how far it is, read from the journal. Raises what the shards raised."""
    journal = WaveJournal(asking.journal, asking.wave_id)
    journal.create()
    meter, began = Meter(journal), time.monotonic()
    with ThreadPoolExecutor(1) as pool, _stop_on_interrupt(journal):
        future = pool.submit(ask_wave, planned, asking, shards=shards, where=where)
        while not wait([future], timeout=_EVERY_SECONDS).done:
            say(progress(label, meter.done(), total, time.monotonic() - began))
        try:
            return future.result()
        except Exception as error:
            known = from_worker(error)
            if known is not None:
                raise known from None
            raise


def progress(label: str, done: int, total: int, seconds: float) -> str:
    """One line: done, rate, time left (unknown until the first segment is written)."""
    text = f"{label}: {done:,} of {total:,} answered"
    if not done or seconds <= 0:
        return text
    rate = done / seconds
    minutes, rest = divmod(round((total - done) / rate), 60)
    return f"{text}, {rate:,.1f} a second, about {minutes}:{rest:02d} min left"


@contextmanager
def _stop_on_interrupt(journal: WaveJournal) -> Iterator[None]:
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before: Any = signal.getsignal(signal.SIGINT)

    def stop(number: int, frame: object) -> None:
        signal.signal(signal.SIGINT, before)
        journal.stop()
        say("stopping: what is being asked is finished and kept (Ctrl-C again breaks off)")

    signal.signal(signal.SIGINT, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
