"""The scoring station: requests, then plan, ask and commit until nothing is pending, then scores.

What a reply exists for is never asked again, in this audit or another of the same warehouse.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from pyspark.sql import DataFrame
from pyspark.sql import functions as sf

from fairscreen.config import Config
from fairscreen.errors import ConfigError, FairscreenError, StoppedError
from fairscreen.progress import say
from fairscreen.scoring import agreement, plan
from fairscreen.scoring.ask import Asking, require_no_speculation
from fairscreen.scoring.calls import Kind
from fairscreen.scoring.commit import commit, commit_leftovers
from fairscreen.scoring.journal import WaveJournal
from fairscreen.scoring.notes import no_score
from fairscreen.scoring.parse import Reason
from fairscreen.scoring.progress import Nobody, Phase, Progress, Recorder
from fairscreen.scoring.requests import requests
from fairscreen.scoring.scores import scores
from fairscreen.scoring.screeners import KINDS, check
from fairscreen.scoring.wave import run_wave
from fairscreen.tables import Warehouse

Counts = dict[str, int]


@dataclass(frozen=True)
class ScoreResult:
    """What the station did. `asked`: calls answered in this run; `reused`: all other requests.

    outcomes           model -> outcome -> requests
    outcomes_by_group  model -> "gender=female" -> outcome -> requests
    final              every request has a reply, be it a failure: failures are final until a retry
    notes              requests without a score by reason and group; where parsers disagree
    """

    asked: int
    reused: int
    outcomes: dict[str, Counts]
    outcomes_by_group: dict[str, dict[str, Counts]]
    cost_usd: float = 0.0
    final: bool = True
    waves: list[str] = field(default_factory=list)
    notes: tuple[str, ...] = ()


def score(
    warehouse: Warehouse,
    cfg: Config,
    *,
    prompt_keys: Mapping[str, str] | None = None,
    kinds: Mapping[str, Kind] = KINDS,
    retry: Sequence[str] = (),
    recorder: Recorder | None = None,
) -> ScoreResult:
    """Score this audit's documents by its models, under the audit's lease.

    `prompt_keys`: job to content key of its job description (default: as rendered).
    `retry`: calls that have one of these outcomes now (failed, refused, unparseable) are asked once
    more. What was answered before stays, and an ok is never replaced: see `parse.settle`. After a
    kill the same retry again asks those that still have such an outcome, whatever the killed run
    committed. `recorder`: is told how the asking of each model stands.
    Raises ConfigError or MissingPartError before any work; StoppedError (exit 4) after Ctrl-C,
    with everything kept.
    """
    check(cfg, kinds)
    if cfg.scoring.where == "executors":
        require_no_speculation(warehouse.spark)
    root = journal_root(warehouse, cfg)
    mine = f"audit_id = '{cfg.audit_id}'"
    applicants = warehouse.read("applicants").where(mine)
    documents = warehouse.read("documents").where(mine)
    if prompt_keys is None:
        from fairscreen.documents.render import job_descriptions

        prompt_keys = {job: key for job, key, _ in job_descriptions(cfg)}
    asked_for = requests(documents, applicants, cfg, prompt_keys, kinds)
    warehouse.replace("requests", asked_for.drop("document_format", "payload"), where=mine)
    commit_leftovers(warehouse, root, cfg.audit_id)
    parsers = {name: s.parser or kinds[s.kind].parser for name, s in cfg.scoring.models.items()}
    again = _again(warehouse, asked_for, parsers, retry) if retry else None
    waves = _Waves(warehouse, cfg, root, kinds, again, recorder or Nobody())
    waves.run(asked_for)

    parsed = scores(asked_for, warehouse.read("replies"), parsers)
    warehouse.replace("scores", parsed, where=mine)
    scored = warehouse.read("scores").where(mine)
    outcomes, groups, unanswered, total, notes = _count(scored, applicants)
    notes += _compare(warehouse, cfg, scored, applicants)
    return ScoreResult(
        asked=waves.asked,
        reused=total - waves.asked,
        outcomes=outcomes,
        outcomes_by_group=groups,
        cost_usd=waves.cost_usd,
        final=unanswered == 0,
        waves=waves.ids,
        notes=tuple(notes),
    )


def _again(
    warehouse: Warehouse, asked_for: DataFrame, parsers: Mapping[str, str], retry: Sequence[str]
) -> DataFrame:
    """The calls to ask once more, read from the replies as they are at this moment."""
    before = warehouse.read("replies", version=warehouse.version("replies"))
    return plan.again(scores(asked_for, before, parsers), before, retry)


def _compare(
    warehouse: Warehouse, cfg: Config, scored: DataFrame, applicants: DataFrame
) -> list[str]:
    """Write `parser_agreement` where a model has other parsers; notes of it."""
    also = {name: s.also_parsers for name, s in cfg.scoring.models.items() if s.also_parsers}
    table, mine = "parser_agreement", f"audit_id = '{cfg.audit_id}'"
    if also:
        rows = agreement.agreement(scored, warehouse.read("replies"), applicants, also)
        warehouse.replace(table, rows, where=mine)
        return agreement.notes([r.asDict() for r in warehouse.read(table).where(mine).collect()])
    if warehouse.exists(table):
        warehouse.replace(table, warehouse.rows(table, []), where=mine)
    return []


def journal_root(warehouse: Warehouse, cfg: Config) -> Path:
    """Folder of the journals: `scoring.journal`, else beside the tables.

    Raises ConfigError where the warehouse is no folder that Python can write to.
    """
    if cfg.scoring.journal:
        return Path(cfg.scoring.journal).expanduser().resolve()
    if not warehouse.is_folder:
        raise ConfigError(
            "scoring.journal",
            f"is not set, and the warehouse {warehouse.root} is no folder",
            "Give a folder that driver and executors share (Databricks: a path under /Volumes).",
        )
    return Path(warehouse.root, "_journal")


class _Waves:
    """The waves of one run: plan, ask and commit, one after the other, model by model."""

    def __init__(
        self, warehouse: Warehouse, cfg: Config, root: Path, kinds: Mapping[str, Kind],
        again: DataFrame | None, recorder: Recorder,
    ) -> None:  # fmt: skip
        self.warehouse, self.cfg, self.root, self.kinds = warehouse, cfg, root, kinds
        self.again, self.recorder = again, recorder
        self.asked = 0
        self.cost_usd = 0.0
        self.ids: list[str] = []

    def run(self, asked_for: DataFrame) -> None:
        counts = self._pending(asked_for).groupBy("model").count().collect()
        left = {row["model"]: int(row["count"]) for row in counts}
        for model in self.cfg.scoring.models:
            if total := left.get(model, 0):
                self._model(asked_for, model, total)

    def _model(self, asked_for: DataFrame, model: str, total: int) -> None:
        """All waves of one model."""
        progress, done = Progress(model, total, self.recorder), 0
        phase: Phase = "failed"
        try:
            while done < total:
                answered = self._wave(asked_for, model, total - done, progress)
                if not answered:  # another model of this audit asked the same calls
                    break
                done += answered
            phase = "done"
        except (StoppedError, KeyboardInterrupt):
            phase = "stopped"
            raise
        finally:
            progress.end(phase)

    def _pending(self, asked_for: DataFrame) -> DataFrame:
        return plan.pending(asked_for, self.warehouse.read("replies"), self.again)

    def _wave(self, asked_for: DataFrame, model: str, left: int, progress: Progress) -> int:
        """One wave of the model's pending calls; how many it answered."""
        cfg, warehouse = self.cfg, self.warehouse
        wave_id = plan.new_wave_id(cfg.audit_id)
        wave = plan.plan(self._pending(asked_for), cfg, model, wave_id)
        warehouse.append("waves", wave, transaction=f"waves/{wave_id}")
        planned = warehouse.read("waves").where(sf.col("wave_id") == wave_id)
        size = min(left, cfg.scoring.wave_size)
        say(f"{model}: asking {size:,} calls" + (f" of {left:,}" if left > size else ""))
        asking = self._asking(model, wave_id)
        if asking.needs_text:
            planned = plan.with_texts(planned, warehouse.read("contents"))
        else:
            planned = planned.selectExpr("*", "string(NULL) AS resume", "string(NULL) AS prompt")
        journal = WaveJournal(self.root, wave_id)
        counters = run_wave(
            planned,
            asking,
            progress,
            shards=cfg.scoring.shards,
            where=cfg.scoring.where,
        )
        why = journal.reason()  # the commit deletes the journal
        committed = commit(warehouse, journal)
        progress.committed(committed.calls, committed.cost_usd)
        answered, size = committed.calls, sum(c.planned for c in counters)
        if size:
            self.ids.append(wave_id)
        self.asked += answered
        self.cost_usd += committed.cost_usd
        if why:
            raise why
        if any(c.stopped for c in counters):
            raise StoppedError(
                f"audit {cfg.audit_id}: stopped on request, {answered:,} of the wave's {size:,} "
                f"calls of {model} are answered and kept. Run the same command again to go on."
            )
        if answered != size:
            raise FairscreenError(
                f"audit {cfg.audit_id}: {model} answered {answered:,} of {size:,} calls and left "
                "the others without a reply. This is a fault of the screener's code."
            )
        return answered

    def _asking(self, model: str, wave_id: str) -> Asking:
        screener, scoring = self.cfg.scoring.models[model], self.cfg.scoring
        kind, params = self.kinds[screener.kind], dict(screener.params)
        # In the driver shards run one after the other: each has the whole of the limits.
        at_once = scoring.shards if scoring.where == "executors" else 1
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
        )


def _count(
    scored: DataFrame, applicants: DataFrame
) -> tuple[dict[str, Counts], dict[str, dict[str, Counts]], int, int, list[str]]:
    """Outcomes by model, and by model and group; requests without a reply; requests; notes."""
    people = applicants.select("applicant_id", "gender", "race")
    grouped = scored.join(people, "applicant_id").groupBy(
        "model", "gender", "race", "outcome", "reason"
    )
    outcomes: dict[str, Counts] = {}
    groups: dict[str, dict[str, Counts]] = {}
    unanswered = total = 0
    rows = grouped.count().collect()
    for row in sorted(rows, key=lambda r: (r["model"], r["gender"], r["race"], r["outcome"])):
        n, outcome = int(row["count"]), row["outcome"]
        total += n
        unanswered += n if row["reason"] == Reason.NO_REPLY else 0
        labels = (f"gender={row['gender']}", f"race={row['race']}")
        by_group = groups.setdefault(row["model"], {})
        for counts in (
            outcomes.setdefault(row["model"], {}),
            *(by_group.setdefault(x, {}) for x in labels),
        ):
            counts[outcome] = counts.get(outcome, 0) + n
    return outcomes, groups, unanswered, total, no_score(r.asDict() for r in rows)
