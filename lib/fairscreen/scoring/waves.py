"""The waves of one run: plan, ask and commit, one after the other, model by model.

A wave ends when its calls are answered or its time is over. What is left is then planned anew over
all shards, so that a shard that was slow, or unlucky with its calls, does not keep the others
waiting; and so on until nothing is pending.

Under `scoring.max_cost` a wave starts with what is left of it, split over its shards for good: they
cannot ask each other. Where shards end for want of money, the rest of all shares is split anew, in
the end over one. Only when that one cannot pay its next call either does the run stop.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NoReturn

from pyspark.sql import DataFrame
from pyspark.sql import functions as sf

from fairscreen.errors import FairscreenError, StoppedError, from_text
from fairscreen.progress import say
from fairscreen.scoring import plan
from fairscreen.scoring.ask import Asking, Counters
from fairscreen.scoring.calls import Kind
from fairscreen.scoring.cap import Cap, Share, worst_prices
from fairscreen.scoring.commit import commit
from fairscreen.scoring.journal import WaveJournal
from fairscreen.scoring.money import Terms, dollars, shards_for
from fairscreen.scoring.progress import Phase, Progress, Recorder
from fairscreen.scoring.wave import run_wave
from fairscreen.settings.audit import AuditConfig
from fairscreen.settings.scoring import Scoring
from fairscreen.tables import Warehouse

_IDLE_WAVES = 3  # waves in a row without an answer after which it makes no sense to go on


def shards_of(scoring: Scoring, terms: Terms | None) -> int:
    """Over how many shards a model's waves are split: each must have one of its `concurrency`.
    In the driver they run in turn."""
    if terms is None or scoring.where == "driver":
        return scoring.shards
    return min(scoring.shards, terms.concurrency)


class Waves:
    """`again`: calls that are asked once more though they have a reply (see `plan.pending`)."""

    def __init__(
        self, warehouse: Warehouse, cfg: AuditConfig, root: Path, kinds: Mapping[str, Kind],
        again: DataFrame | None, recorder: Recorder,
    ) -> None:  # fmt: skip
        self.warehouse, self.cfg, self.root, self.kinds = warehouse, cfg, root, kinds
        self.again, self.recorder = again, recorder
        most = cfg.scoring.max_cost
        self.cap = None if most is None else Cap(warehouse, cfg.audit_id, most)
        self.asked = 0
        self.cost_usd = 0.0
        self.ids: list[str] = []

    def run(self, asked_for: DataFrame) -> None:
        counts = self._pending(asked_for).groupBy("model").count().collect()
        left = {row["model"]: int(row["count"]) for row in counts}
        for model in self.cfg.scoring.models:
            if total := left.get(model, 0):
                progress = self._progress(model, total)
                phase: Phase = "failed"
                try:
                    self._model(asked_for, model, total, progress)
                    phase = "done"
                except (StoppedError, KeyboardInterrupt):
                    phase = "stopped"
                    raise
                finally:
                    progress.end(phase)

    def _progress(self, model: str, total: int) -> Progress:
        if self.cap is None:
            return Progress(model, total, self.recorder)
        spent = dollars(self.cap.spent())
        return Progress(model, total, self.recorder, max_cost=self.cap.max_cost, spent_before=spent)

    def _model(self, asked_for: DataFrame, model: str, total: int, progress: Progress) -> None:
        """All waves of one model."""
        worst = self._worst_prices(asked_for, model)
        done = idle = 0
        while done < total:
            share = self._share(model, worst, total - done, alone=idle > 0)
            counters, answered = self._wave(asked_for, model, total - done, share, progress)
            if not counters:  # another model of this audit asked the same calls
                return
            done += answered
            if any(c.out_of_money for c in counters) and self._is_one_purse(share):
                self._stop_for_money(model, total - done)
            idle = 0 if answered else idle + 1
            if idle == _IDLE_WAVES:
                raise StoppedError(
                    f"audit {self.cfg.audit_id}: {idle} waves in a row ended without one answer "
                    f"of {model}, {total - done:,} of its calls are pending. What was answered is "
                    "kept. Look at the workers' logs, or raise scoring.wave_minutes; the same "
                    "command goes on."
                )

    def _pending(self, asked_for: DataFrame) -> DataFrame:
        return plan.pending(asked_for, self.warehouse.read("replies"), self.again)

    def _worst_prices(self, asked_for: DataFrame, model: str) -> tuple[int, int] | None:
        """See `cap.worst_prices`, of the pending calls; None where calls cost nothing."""
        terms = self._terms(model)
        if self.cap is None or terms is None:
            return None
        mine = self._pending(asked_for).where(sf.col("model") == model)
        return worst_prices(mine, self.warehouse.read("contents"), terms)

    def _share(self, model: str, worst: tuple[int, int] | None, pending: int, alone: bool) -> Share:
        scoring, terms = self.cfg.scoring, self._terms(model)
        most = shards_of(scoring, terms)
        if self.cap is None or worst is None or terms is None:
            return Share(most)
        cheapest, dearest = worst
        left = max(0, self.cap.left())
        if left < cheapest:
            self._stop_for_money(model, pending)
        shards = 1 if alone else most
        if scoring.where == "driver":
            return Share(shards, left)
        shards = shards_for(left, dearest, slots=terms.concurrency, shards=shards)
        return Share(shards, left // shards)

    def _is_one_purse(self, share: Share) -> bool:
        return share.shards == 1 or self.cfg.scoring.where == "driver"

    def _terms(self, model: str) -> Terms | None:
        screener = self.cfg.scoring.models[model]
        return self.kinds[screener.kind].terms(screener.params)

    def _stop_for_money(self, model: str, pending: int) -> NoReturn:
        assert self.cap is not None
        spent = dollars(self.cap.spent())
        raise StoppedError(
            f"audit {self.cfg.audit_id}: scoring.max_cost, ${self.cap.max_cost:,.6g}, does not pay "
            f"for another call of {model}; spent are at most ${spent:,.6g}. {self.asked:,} calls "
            f"were answered in this run and are kept, {pending:,} of {model} are pending. Raise "
            "scoring.max_cost and run the same command again to go on."
        )

    def _wave(
        self, asked_for: DataFrame, model: str, left: int, share: Share, progress: Progress
    ) -> tuple[list[Counters], int]:
        """One wave of the model's pending calls: the counters of its shards (none: there were no
        calls), and how many calls it answered."""
        cfg, warehouse = self.cfg, self.warehouse
        wave_id = plan.new_wave_id(cfg.audit_id)
        wave = plan.plan(self._pending(asked_for), cfg, model, wave_id, share.shards)
        warehouse.append("waves", wave, transaction=f"waves/{wave_id}")
        planned = warehouse.read("waves").where(sf.col("wave_id") == wave_id)
        size = min(left, cfg.scoring.wave_size)
        say(f"{model}: asking {size:,} calls" + (f" of {left:,}" if left > size else ""))
        asking = self._asking(model, wave_id, share)
        if asking.needs_text:
            planned = plan.with_texts(planned, warehouse.read("contents"))
        else:
            planned = plan.without_texts(planned)
        journal = WaveJournal(self.root, wave_id)
        counters = run_wave(
            planned,
            asking,
            progress,
            shards=share.shards,
            where=cfg.scoring.where,
            minutes=cfg.scoring.wave_minutes,
        )
        why = journal.reason()  # the commit deletes the journal
        why = why or next((from_text(c.untold) for c in counters if c.untold), None)
        if self.cap:  # first: a commit may fail, and leaves a journal that says nothing of them
            self.cap.keep_unclaimed(wave_id, model, counters)
        committed = commit(warehouse, journal)
        progress.committed(committed.calls, committed.cost_usd)
        size = sum(c.planned for c in counters)
        if size:
            self.ids.append(wave_id)
        self.asked += committed.calls
        self.cost_usd += committed.cost_usd
        if why:
            raise why
        self._judge(model, committed.calls, size, counters)
        return counters, committed.calls

    def _judge(self, model: str, answered: int, size: int, counters: Sequence[Counters]) -> None:
        """Calls are left only for a reason; raises where one of them ends the run."""
        if any(c.stopped for c in counters):
            raise StoppedError(
                f"audit {self.cfg.audit_id}: stopped on request, {answered:,} of the wave's "
                f"{size:,} calls of {model} are answered and kept. Run the same command again to "
                "go on."
            )
        if answered != size and not any(c.excused for c in counters):
            raise FairscreenError(
                f"audit {self.cfg.audit_id}: {model} answered {answered:,} of {size:,} calls and "
                "left the others without a reply. This is a fault of the screener's code."
            )

    def _asking(self, model: str, wave_id: str, share: Share) -> Asking:
        screener, scoring = self.cfg.scoring.models[model], self.cfg.scoring
        kind, params = self.kinds[screener.kind], dict(screener.params)
        # In the driver shards run one after the other: each has the whole of the limits.
        at_once = share.shards if scoring.where == "executors" else 1
        prepared = kind.prepare(params, f"scoring.models.{model}.params", at_once)
        opener = kind.open
        return Asking(
            journal=str(self.root),
            wave_id=wave_id,
            segment_size=self.cfg.scoring.segment_size,
            model=kind.model(params),
            model_version=kind.version(params),
            open=lambda: opener(prepared),
            needs_text=kind.sends == "documents",
            money=share.money,
        )
