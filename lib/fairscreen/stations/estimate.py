"""Scores to estimates, diagnostics and patterns."""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as sf

from fairscreen.audits import coding, path_specific, population_effects, propensities, ungrouped
from fairscreen.audits.estimated import fitted
from fairscreen.audits.propensities import GROUPED, UNGROUPED
from fairscreen.config import Config
from fairscreen.population.behind import Behind, behind
from fairscreen.scoring.agreement import gap_notes
from fairscreen.stations.common import Run, StationResult, fingerprint, run_station
from fairscreen.stations.ingest import Bronze, source_names

INPUTS = ("applicants", "documents", "scores", "known_propensity")


def run(run: Run[Config], bronze: Bronze, score: StationResult) -> StationResult:
    """Rows of `propensity`, `estimates`, `overlap`, `diagnostics`, `patterns` of this audit."""
    cfg, warehouse = run.cfg, run.warehouse

    def work() -> dict[str, Any]:
        versions = {name: warehouse.version(name) for name in INPUTS}
        table = {
            name: warehouse.read(name, version=versions[name]).where(run.mine) for name in INPUTS
        }
        weighs = cfg.estimation.weights == "population"
        if weighs:
            versions["acs_person"] = warehouse.version("acs_person")
        propensity = _propensity(run, table)
        result = path_specific.run(
            table["applicants"], table["scores"], table["known_propensity"], cfg,
            config_hash=cfg.hash(), input_versions=versions, propensity=propensity[GROUPED],
        )  # fmt: skip
        fine = ungrouped.Ungrouped([], [], [])
        if cfg.estimation.observes:
            fine = ungrouped.run(
                table["applicants"], table["scores"], cfg,
                config_hash=cfg.hash(), input_versions=versions, propensity=propensity[UNGROUPED],
            )  # fmt: skip
        whole = population_effects.PopulationEffects([], [], [])
        if weighs:
            whole = population_effects.run(
                table["applicants"], table["scores"], _behind(run, bronze, versions["acs_person"]),
                cfg, config_hash=cfg.hash(), input_versions=versions,
            )  # fmt: skip
        estimates = [*result.estimates, *fine.estimates, *whole.estimates]
        for name, records in (
            ("estimates", estimates),
            ("overlap", [*result.overlap, *fine.overlap, *whole.overlap]),
            ("patterns", result.patterns),
            ("diagnostics", result.diagnostics),
        ):
            warehouse.replace(name, warehouse.rows(name, records), where=run.mine)
        notes = [*result.notes, *fine.notes, *whole.notes, *_parser_notes(run)]
        return {"rows": len(estimates), "input_versions": versions, "notes": notes}

    settings = cfg.model_dump(mode="json", include={"estimation", "seed"})
    return run_station(run, "estimate", fingerprint(score.fingerprint, settings), work)


def _behind(run: Run[Config], bronze: Bronze, version: int) -> Behind:
    """The survey behind the audit's applicants."""
    mine = sf.col("source_sha256").isin(*bronze.sha256["acs"])
    acs = run.warehouse.read("acs_person", version=version).where(mine)
    return behind(acs, run.cfg.population, source_names(run.warehouse, bronze.sha256["acs"]))


def _propensity(run: Run[Config], table: Mapping[str, DataFrame]) -> dict[str, DataFrame | None]:
    """Pass 1, written and read back: rows of `propensity` by resolution; none where nothing is
    estimated by propensities."""
    cfg, warehouse = run.cfg, run.warehouse
    people = table["applicants"], table["scores"]
    found = []
    if cfg.estimation.observes:
        options = path_specific.path_options(cfg)
        found.append(propensities.rows(*people, table["known_propensity"], cfg, options))
        if (how := coding.ungrouped(cfg)) is not None:
            fine = fitted(cfg)
            options = path_specific.path_options(fine)
            found.append(propensities.rows(*people, None, fine, options, how))
    if not found:
        warehouse.replace("propensity", warehouse.rows("propensity", []), where=run.mine)
        return {GROUPED: None, UNGROUPED: None}
    both = reduce(lambda one, two: one.unionByName(two), found)
    warehouse.replace("propensity", both, where=run.mine)
    mine = warehouse.read("propensity").where(run.mine)
    return {name: mine.where(sf.col("resolution") == name) for name in (GROUPED, UNGROUPED)}


def _parser_notes(run: Run[Config]) -> list[str]:
    """Where parsers disagree, what that does to the gap of each contrast."""
    if not any(model.also_parsers for model in run.cfg.scoring.models.values()):
        return []
    rows = run.warehouse.read("parser_agreement").where(run.mine).collect()
    return gap_notes([r.asDict() for r in rows], run.cfg.estimation.contrasts)
