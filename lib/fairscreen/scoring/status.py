"""What a shard does at the moment: a small file beside its segments, for people only.

Where every call is being tried again, no segment is written and only the shard knows why nothing
moves. The file is overwritten every few seconds, never fsynced, and no decision rests on it: a
torn one is passed over, one that cannot be written is not missed, and all go with the wave.
"""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from fairscreen.scoring.tally import Counts, counts

STATUS = "status"
EVERY_SECONDS = 5.0


@dataclass(frozen=True)
class Status:
    """under_way  calls that are on the wire, or being answered
    waiting    calls that wait for their turn, or for another attempt
    errors     kind of error -> attempts that ended so since this attempt at the shard began
    """

    under_way: int = 0
    waiting: int = 0
    errors: Counts = field(default_factory=dict)


class StatusFile:
    """The file of one attempt at one shard."""

    def __init__(
        self, folder: Path, attempt: str, *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._folder, self._attempt, self._clock = folder, attempt, clock
        self._told_at = float("-inf")

    def tell(self, status: Status, *, last: bool = False) -> None:
        """Overwrite the file, if a few seconds have passed since it was written, or `last`."""
        now = self._clock()
        if not last and now - self._told_at < EVERY_SECONDS:
            return
        self._told_at = now
        text = json.dumps({"attempt": self._attempt, **vars(status)})
        with contextlib.suppress(OSError):
            (self._folder / STATUS).write_text(text, encoding="utf-8")


def read_status(file: Path) -> tuple[str, Status] | None:
    """(attempt, status) in a file; None where it is gone, torn or none."""
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
        status = Status(int(found["under_way"]), int(found["waiting"]), counts(found["errors"]))
        return str(found["attempt"]), status
    except (OSError, ValueError, KeyError, TypeError, RecursionError, OverflowError):
        return None
