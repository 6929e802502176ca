"""Which of several attempts at one shard may send: always the newest, and no other.

Spark starts a shard anew when its process died, and sometimes when it only believes so: an
executor that cannot be reached goes on asking, and so may the tasks of a stage that Spark gave up.
Nobody can take a network away from such an attempt, so attempts give way by themselves:

- An attempt puts a file `<number>-<uuid>.attempt` into the shard's folder, its number one above
  all that are there, and looks again. Of two that took one number the greater uuid is the newer.
- A running attempt looks every `POLL_SECONDS`, before it starts a call. Where it sees a newer one,
  or its own file no more (the wave was committed), it sends nothing else; what is on the wire it
  awaits and writes.
- An attempt that finds earlier ones which have not ended waits until they must have looked, and
  only then reads what is durable. One that is paused meanwhile looks before it sends.

Numbers and not times: clocks of two hosts differ. This holds on a file system that shows a new
file to everybody within `SETTLE_SECONDS`.
"""

from __future__ import annotations

import contextlib
import json
import re
import time
import uuid
from collections.abc import Callable
from pathlib import Path

from fairscreen.processes import is_gone, is_here, this_process

POLL_SECONDS = 0.5  # how often a running attempt looks
SETTLE_SECONDS = 2.0
DRAIN_SECONDS = 60.0  # how long an attempt of this host may take to bring what is on the wire
_BEGAN, _ENDED = ".attempt", ".ended"
_NAME = re.compile(r"[0-9]{6,18}-[0-9a-z]{32}")


class Attempt:
    """One attempt at the shard of `folder`, which exists once it has begun."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.id = folder, uuid.uuid4().hex
        self.name: str | None = None  # of its file, without the ending

    def begin(self, sleep: Callable[[float], None] = time.sleep) -> None:
        """Say so, and wait where an earlier attempt may still send. OSError where it cannot."""
        number = 1 + max((int(n.partition("-")[0]) for n in _names(self.folder)), default=0)
        self.name = f"{number:06d}-{self.id}"
        with open(self.folder / f"{self.name}{_BEGAN}", "x", encoding="utf-8") as out:
            json.dump(this_process(), out)
        if any(file.stem < self.name for file in running(self.folder)):
            sleep(SETTLE_SECONDS)

    def superseded(self) -> bool:
        """Whether a newer attempt has begun, or the wave is committed."""
        if self.name is None:
            return False
        names = _names(self.folder)
        return self.name not in names or max(names) > self.name

    def end(self) -> None:
        """Nothing more will be sent or written."""
        # Where the folder is gone or full it only costs a later attempt a wait.
        with contextlib.suppress(OSError):
            (self.folder / f"{self.name}{_ENDED}").touch()


def _names(folder: Path) -> set[str]:
    """Names of all attempts that ever began here."""
    try:
        return {file.stem for file in folder.iterdir() if _is_mark(file)}
    except FileNotFoundError:
        return set()


def _is_mark(file: Path) -> bool:
    return file.suffix == _BEGAN and _NAME.fullmatch(file.stem) is not None


def running(folder: Path) -> list[Path]:
    """Files of the attempts in this folder, or one below, not known to have ended or died."""
    return [
        file
        for file in sorted([*folder.glob(f"*{_BEGAN}"), *folder.glob(f"*/*{_BEGAN}")])
        if _is_mark(file) and not file.with_suffix(_ENDED).exists() and not is_gone(_process(file))
    ]


def let_end(
    folder: Path,
    clock: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], None] = time.sleep,
) -> None:
    """Wait for a stopped wave's attempts: of this host until they end, of others until they looked.

    What one of another host has on the wire comes later, as a segment that the next run finds.
    """
    began = clock()
    while left := running(folder):
        here = any(is_here(_process(file)) for file in left)
        if clock() - began >= (DRAIN_SECONDS if here else SETTLE_SECONDS):
            return
        sleep(POLL_SECONDS / 2)


def _process(file: Path) -> dict[str, object]:
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):  # gone, or being written
        return {}
    return found if isinstance(found, dict) else {}
