"""Bronze to applicants: who applies, who was left out and why, propensities that are known.

And how typical the names are that applicants can have; and, where the audit rescores, the same
applicants as somebody of another gender or race.
"""

from __future__ import annotations

from typing import Any

from pyspark.sql import functions as sf

from fairscreen.config import Config
from fairscreen.population import build, fit, known, rows, typicality, versions
from fairscreen.population.jobs import Chosen
from fairscreen.sources import editions
from fairscreen.stations.common import Run, StationResult, fingerprint, run_station
from fairscreen.stations.ingest import Bronze, source_names
from fairscreen.tables import Warehouse


def run(run: Run[Config], bronze: Bronze, chosen: Chosen) -> StationResult:
    """This audit's applicants and their versions, what their fit stands on, known propensities, the
    name tables.

    The config's jobs are those of `chosen`; what else it holds is for the record.
    """
    cfg, warehouse = run.cfg, run.warehouse
    settings = cfg.model_dump(mode="json", include={"seed", "population", "documents"})
    # Ungrouped roles read columns that are there anyway.
    named: dict[str, Any] = {"contrasts": True, "roles": {"redlining", "business", "bins"}}
    if cfg.estimation.rescores:
        named["placebo_share"] = True
    design = cfg.estimation.model_dump(mode="json", include=named)

    def work() -> dict[str, Any]:
        source = {
            kind: warehouse.read(table).where(sf.col("source_sha256").isin(*bronze.sha256[kind]))
            for kind, table in {
                "acs": "acs_person", "psid": "psid_person",
                "ssa": "ssa_name", "surnames": "census_surname",
            }.items()
        }  # fmt: skip
        fitted = build.fit_generator(
            source["acs"], source["psid"], source["ssa"], source["surnames"], cfg
        )
        warehouse.replace("exclusions", build.exclusions(fitted, cfg), where=run.mine)
        quality = warehouse.rows("experience_fit", build.experience_fit(fitted, cfg))
        warehouse.replace("experience_fit", quality, where=run.mine)
        drawn = build.applicants(fitted.included, fitted.generator, cfg, fitted.vintage)
        warehouse.replace("applicants", drawn, where=run.mine)
        # From the table, not from the plan behind it: nobody is drawn twice.
        written = warehouse.read("applicants").where(run.mine)
        if known.unknown_reason(cfg):
            propensities = warehouse.rows("known_propensity", [])  # nothing of an earlier mode
        else:
            propensities = known.known_propensity(written, fitted.generator, cfg)
        warehouse.replace("known_propensity", propensities, where=run.mine)
        if cfg.estimation.rescores:
            others = versions.versions(written, fitted.generator, cfg)
        else:
            others = warehouse.rows("versions", [])  # nothing of an earlier approach
        warehouse.replace("versions", others, where=run.mine)
        write_typicality(warehouse, fitted.names, cfg.audit_id)
        files = source_names(warehouse, bronze.sha256["acs"])
        compared = fit.population_fit(
            source["acs"], fitted.cells, written, fitted.generator, cfg, files
        )
        table = warehouse.spark.createDataFrame(fit.as_table(compared))
        warehouse.replace("population_fit", table, where=run.mine)
        return {
            "rows": written.count(),
            "notes": [*chosen.notes, *build.notes_of(fitted, cfg)],
            "fit": build.facts(fitted, cfg)
            | {"generator_largest_difference": fit.largest_difference(compared)},
            "selection": chosen.detail,
            "synthetic": list(bronze.synthetic),
        }

    mark = fingerprint(settings, design, bronze.sha256, chosen.notes, chosen.detail)
    return run_station(run, "applicants", mark, work)


def write_typicality(warehouse: Warehouse, names: typicality.Names, audit_id: str) -> None:
    """Replace the audit's rows of the two typicality tables."""
    for table, found in (
        (typicality.FIRST, names.first_rows), (typicality.LAST, names.last_rows),
    ):  # fmt: skip
        schema = rows.spark_schema(table).removeprefix("audit_id STRING, ")
        frame = editions.frame(warehouse, [editions.packed(found)], schema)
        mine = frame.withColumn("audit_id", sf.lit(audit_id))
        warehouse.replace(table, mine, where=f"audit_id = '{audit_id}'")
