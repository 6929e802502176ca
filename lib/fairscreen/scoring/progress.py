"""How the asking of one model stands, over all waves of a run: for the terminal and for MLflow."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Literal, Protocol

from fairscreen.progress import say
from fairscreen.scoring.journal import WaveJournal
from fairscreen.scoring.meter import Meter, Reading
from fairscreen.scoring.tally import Counts, Tally, added

_RATE_SECONDS = 120.0
_KINDS_SHOWN = 6
Phase = Literal["asking", "done", "stopped", "failed"]


@dataclass(frozen=True)
class Standing:
    """total         calls of the model that were pending when this run began
    sums          of those that have a reply, be it a failure
    errors        kind of error -> attempts that ended so, those of calls still open included
    seconds       since the model's first wave
    rate          replies a second, over the last minutes; None = none yet
    under_way, waiting   calls of the wave: on the wire, and for their turn or another attempt
    max_cost      US dollars that the audit may cost in all; None = no limit
    spent_before  what it had cost when this model's turn came
    """

    total: int
    sums: Tally = field(default_factory=Tally)
    errors: Counts = field(default_factory=dict)
    seconds: float = 0.0
    rate: float | None = None
    under_way: int = 0
    waiting: int = 0
    max_cost: float | None = None
    spent_before: float = 0.0

    @property
    def done(self) -> int:
        # Two attempts at a shard may answer the same call; only one reply will count.
        return min(self.sums.count, self.total)

    @property
    def pending(self) -> int:
        return self.total - self.done

    @property
    def failed(self) -> int:
        return self.sums.outcomes.get("failed", 0)

    @property
    def seconds_left(self) -> float | None:
        """At the present rate; None where there is none."""
        if not self.pending:
            return 0.0
        return self.pending / self.rate if self.rate else None


class Recorder(Protocol):
    """Keeps what progress says. It neither raises nor makes anybody wait."""

    def note(self, model: str, standing: Standing, phase: Phase) -> None: ...


class Nobody:
    """A recorder that keeps nothing."""

    def note(self, model: str, standing: Standing, phase: Phase) -> None:
        pass


class Progress:
    """Follows one model from its first wave to its last."""

    def __init__(
        self,
        model: str,
        total: int,
        recorder: Recorder,
        *,
        max_cost: float | None = None,
        spent_before: float = 0.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._model, self._total, self._recorder, self._clock = model, total, recorder, clock
        self._max_cost, self._spent_before = max_cost, spent_before
        self._began = clock()
        self._points: deque[tuple[float, int]] = deque([(self._began, 0)])
        self._sums = Tally()  # of the waves that are committed
        self._errors: Counts = {}
        self._meter: Meter | None = None
        self._reading = Reading()
        recorder.note(model, Standing(total), "asking")

    def watch(self, journal: WaveJournal) -> None:
        """A wave begins."""
        self._meter = Meter(journal)

    def tick(self) -> None:
        """Look at the wave; say and record how it stands."""
        standing = self.look()
        say(line(self._model, standing))
        self._recorder.note(self._model, standing, "asking")

    def look(self) -> Standing:
        if self._meter is not None:
            self._reading = self._meter.read()
        return self._standing()

    def look_at_wave(self) -> int:
        """Calls of the present wave that have a durable reply."""
        self.look()
        return self._reading.sums.count

    def committed(self, calls: int, cost_usd: float) -> None:
        """The wave is over, and this is what the table has of it."""
        sums = self._sums + self._reading.sums
        self._sums = sums.but(self._sums.count + calls, self._sums.cost_usd + cost_usd)
        self._errors = added(self._errors, self._reading.errors)
        self._meter, self._reading = None, Reading()
        self._recorder.note(self._model, self._standing(), "asking")

    def end(self, phase: Phase) -> None:
        """Say and record the last of it."""
        standing = self._standing()
        if phase == "done":  # what is left then was answered by another model of this audit
            standing = replace(standing, total=standing.done)
        if standing.done or standing.errors:
            say(closing(self._model, standing))
        self._recorder.note(self._model, standing, phase)

    def _standing(self) -> Standing:
        now, reading = self._clock(), self._reading
        sums = self._sums + reading.sums
        self._points.append((now, sums.count))
        while len(self._points) > 2 and self._points[1][0] < now - _RATE_SECONDS:
            self._points.popleft()
        then, before = self._points[0]
        rate = (sums.count - before) / (now - then) if now > then else 0.0
        return Standing(
            self._total,
            sums,
            added(self._errors, reading.errors),
            now - self._began,
            rate or None,
            reading.under_way,
            reading.waiting,
            self._max_cost,
            self._spent_before,
        )


def line(model: str, s: Standing) -> str:
    """One line: done of total, rate and time left (or what the calls do), money, errors."""
    parts = [f"{s.done:,} of {s.total:,} answered"]
    if s.rate and s.seconds_left is not None:
        parts += [f"{s.rate:,.1f} a second", f"about {duration(s.seconds_left)} left"]
    else:
        parts += [f"{s.under_way:,} under way", f"{s.waiting:,} waiting"]
    return f"{model}: {', '.join([*parts, *_money(s)])}{_trouble(s)}"


def closing(model: str, s: Standing) -> str:
    """The last line of a model: totals."""
    all_of = "all " if not s.pending else f"{s.done:,} of "
    parts = [f"{all_of}{s.total:,} calls are answered in {duration(s.seconds)}"]
    parts += [f"{s.done / s.seconds:,.1f} a second"] if s.seconds and s.done else []
    if s.sums.tokens_in or s.sums.tokens_out:
        parts.append(f"{s.sums.tokens_in:,} tokens in and {s.sums.tokens_out:,} out")
    if refused := s.sums.outcomes.get("refused"):
        parts.append(f"{refused:,} refused")
    return f"{model}: {', '.join([*parts, *_money(s)])}{_trouble(s)}"


def metrics(s: Standing) -> dict[str, float]:
    """Name -> value, as MLflow keeps them; what is not known is left out."""
    found = {
        "scoring.done": float(s.done),
        "scoring.pending": float(s.pending),
        "scoring.rate": s.rate or 0.0,
        "scoring.spent_usd": s.sums.cost_usd,
    }
    found |= {f"scoring.errors.{kind}": float(n) for kind, n in s.errors.items()}
    if s.seconds_left is not None:
        found["scoring.seconds_left"] = s.seconds_left
    return found


def duration(seconds: float) -> str:
    """`2:05 h`, or `3:20 min` below an hour."""
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes}:{rest:02d} min"
    return f"{minutes // 60}:{minutes % 60:02d} h"


def dollars(usd: float) -> str:
    return f"${usd:,.2f}" if usd >= 1 or not usd else f"${usd:.4f}"


def _money(s: Standing) -> list[str]:
    if s.max_cost is not None:
        return [f"spent {dollars(s.spent_before + s.sums.cost_usd)} of {dollars(s.max_cost)}"]
    return [f"spent {dollars(s.sums.cost_usd)}"] if s.sums.cost_usd else []


def _trouble(s: Standing) -> str:
    most = sorted(s.errors.items(), key=lambda kind: (-kind[1], kind[0]))
    text = ", ".join(f"{kind} {n:,}" for kind, n in most[:_KINDS_SHOWN])
    if rest := sum(n for _, n in most[_KINDS_SHOWN:]):
        text += f", others {rest:,}"
    failed = f" ({s.failed:,} failed for good)" if s.failed else ""
    return f"; errors: {text}{failed}" if text else ""
