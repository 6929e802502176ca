"""The scoring station: requests, then waves until nothing is pending, then scores.

What a reply exists for is never asked again, in this audit or another of the same warehouse.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from pyspark.sql import DataFrame
from pyspark.sql import functions as sf

from fairscreen.errors import ConfigError
from fairscreen.scoring import agreement, plan
from fairscreen.scoring.ask import needs_barrier
from fairscreen.scoring.calls import Kind
from fairscreen.scoring.commit import commit_leftovers
from fairscreen.scoring.designs import Groups, groups_of, requests_of
from fairscreen.scoring.notes import no_score
from fairscreen.scoring.parse import Reason
from fairscreen.scoring.progress import Nobody, Recorder
from fairscreen.scoring.scores import scores
from fairscreen.scoring.screeners import KINDS, check
from fairscreen.scoring.waves import Waves
from fairscreen.settings.audit import AuditConfig
from fairscreen.tables import Warehouse

Counts = dict[str, int]


@dataclass(frozen=True)
class ScoreResult:
    """What the station did. `asked`: calls answered in this run; `reused`: all other requests.

    outcomes           model -> outcome -> requests
    outcomes_by_group  model -> "gender=female" -> outcome -> requests (`designs.groups_of`)
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
    cfg: AuditConfig,
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
        needs_barrier(warehouse.spark, cfg.scoring.shards)
    root = journal_root(warehouse, cfg)
    mine = f"audit_id = '{cfg.audit_id}'"
    asked_for = requests_of(warehouse, cfg, prompt_keys, kinds)
    warehouse.replace("requests", asked_for.drop("document_format", "payload"), where=mine)
    commit_leftovers(warehouse, root, cfg.audit_id)
    parsers = _parsers(cfg, kinds)
    again = asked_again(warehouse, cfg, asked_for, retry, kinds)
    waves = Waves(warehouse, cfg, root, kinds, again, recorder or Nobody())
    waves.run(asked_for)

    parsed = scores(asked_for, warehouse.read("replies"), parsers)
    warehouse.replace("scores", parsed, where=mine)
    scored = warehouse.read("scores").where(mine)
    groups = groups_of(warehouse, cfg)
    outcomes, by_group, unanswered, total, notes = _count(scored, groups)
    notes += _compare(warehouse, cfg, scored, groups)
    return ScoreResult(
        asked=waves.asked,
        reused=total - waves.asked,
        outcomes=outcomes,
        outcomes_by_group=by_group,
        cost_usd=waves.cost_usd,
        final=unanswered == 0,
        waves=waves.ids,
        notes=tuple(notes),
    )


def _parsers(cfg: AuditConfig, kinds: Mapping[str, Kind]) -> dict[str, str]:
    return {name: s.parser or kinds[s.kind].parser for name, s in cfg.scoring.models.items()}


def asked_again(
    warehouse: Warehouse,
    cfg: AuditConfig,
    asked_for: DataFrame,
    retry: Sequence[str],
    kinds: Mapping[str, Kind] = KINDS,
) -> DataFrame | None:
    """The calls to ask once more, by the replies as they are at this moment; None for no retry."""
    if not retry:
        return None
    before = warehouse.read("replies", version=warehouse.version("replies"))
    return plan.again(scores(asked_for, before, _parsers(cfg, kinds)), before, retry)


def _compare(
    warehouse: Warehouse, cfg: AuditConfig, scored: DataFrame, groups: Groups
) -> list[str]:
    """Write `parser_agreement` where a model has other parsers; notes of it."""
    also = {name: s.also_parsers for name, s in cfg.scoring.models.items() if s.also_parsers}
    table, mine = "parser_agreement", f"audit_id = '{cfg.audit_id}'"
    if also:
        people = groups.rows.withColumn("audit_id", sf.lit(cfg.audit_id))
        own = scored.where(groups.own)
        rows = agreement.agreement(own, warehouse.read("replies"), people, also)
        warehouse.replace(table, rows, where=mine)
        return agreement.notes([r.asDict() for r in warehouse.read(table).where(mine).collect()])
    if warehouse.exists(table):
        warehouse.replace(table, warehouse.rows(table, []), where=mine)
    return []


def journal_root(warehouse: Warehouse, cfg: AuditConfig) -> Path:
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


def _count(
    scored: DataFrame, groups: Groups
) -> tuple[dict[str, Counts], dict[str, dict[str, Counts]], int, int, list[str]]:
    """Outcomes by model, and by model and group; requests without a reply; requests; notes."""
    names = groups.columns
    grouped = scored.join(groups.rows, groups.key).groupBy(
        "model", *names, "outcome", "reason", groups.own.alias("own")
    )
    outcomes: dict[str, Counts] = {}
    found: dict[str, dict[str, Counts]] = {}
    unanswered = total = 0
    rows = grouped.count().collect()
    order = ("model", *names, "outcome")
    for row in sorted(rows, key=lambda r: tuple(r[name] for name in order)):
        n, outcome = int(row["count"]), row["outcome"]
        total += n
        unanswered += n if row["reason"] == Reason.NO_REPLY else 0
        labels = [f"{name}={row[name]}" for name in names] if row["own"] else []
        by_group = found.setdefault(row["model"], {})
        for counts in (
            outcomes.setdefault(row["model"], {}),
            *(by_group.setdefault(x, {}) for x in labels),
        ):
            counts[outcome] = counts.get(outcome, 0) + n
    told = no_score((r.asDict() for r in rows), names, groups.apart)
    return outcomes, found, unanswered, total, told
