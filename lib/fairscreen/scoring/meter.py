"""How far a wave is, as its driver sees it: sums of its segments, and what its shards say."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from fairscreen.scoring.journal import WaveJournal, footer_tally
from fairscreen.scoring.status import STATUS, read_status
from fairscreen.scoring.tally import Counts, Tally, added, largest


@dataclass(frozen=True)
class Reading:
    """sums       of the replies that are durable
    errors     kind of error -> attempts that ended so, those of calls still open included
    under_way  calls on the wire; `waiting`: calls that wait for their turn or another attempt
    """

    sums: Tally = field(default_factory=Tally)
    errors: Counts = field(default_factory=dict)
    under_way: int = 0
    waiting: int = 0


class Meter:
    """Reads a wave again and again; each segment's last line once."""

    def __init__(self, wave: WaveJournal) -> None:
        self._wave = wave
        self._sums = Tally()
        self._read: set[Path] = set()
        # By shard and attempt: what its segments count, and what it last said itself. Both count
        # the same errors, the one as far as they are durable, the other as of some seconds ago.
        self._durable: dict[tuple[Path, str], Counts] = {}
        self._told: dict[tuple[Path, str], Counts] = {}

    def read(self) -> Reading:
        for segment in self._wave.segments():
            if segment not in self._read:
                self._add(segment)
        under_way = waiting = 0
        for file in self._wave.folder.glob(f"*/{STATUS}"):
            if found := read_status(file):
                attempt, status = found
                self._told[file.parent, attempt] = status.errors
                under_way += status.under_way
                waiting += status.waiting
        attempts = self._durable.keys() | self._told.keys()
        errors = added(
            *(largest(self._durable.get(a, {}), self._told.get(a, {})) for a in attempts)
        )
        return Reading(self._sums, errors, under_way, waiting)

    def _add(self, segment: Path) -> None:
        sums = footer_tally(segment)
        if not sums.count:  # being written: it is looked at again
            return
        self._read.add(segment)
        self._sums += sums
        key = segment.parent, segment.name.rsplit("-", 1)[0]
        self._durable[key] = added(self._durable.get(key, {}), sums.errors)
