"""Bronze to applicants: who applies, who was left out and why, propensities that are known."""

from __future__ import annotations

from typing import Any

from pyspark.sql import functions as sf

from fairscreen.population import build
from fairscreen.stations.common import Run, StationResult, fingerprint, run_station
from fairscreen.stations.ingest import Bronze


def run(run: Run, bronze: Bronze) -> StationResult:
    """Rows of `applicants`, `exclusions` and `known_propensity` of this audit."""
    cfg, warehouse = run.cfg, run.warehouse
    settings = cfg.model_dump(mode="json", include={"seed", "population", "documents"})
    design = cfg.estimation.model_dump(mode="json", include={"contrasts", "roles"})

    def work() -> dict[str, Any]:
        source = {
            kind: warehouse.read(table).where(sf.col("source_sha256").isin(*bronze.sha256[kind]))
            for kind, table in {
                "acs": "acs_person", "psid": "psid_person",
                "ssa": "ssa_name", "surnames": "census_surname",
            }.items()
        }  # fmt: skip
        built = build.build(source["acs"], source["psid"], source["ssa"], source["surnames"], cfg)
        warehouse.replace("exclusions", built.exclusions, where=run.mine)
        warehouse.replace("applicants", built.applicants, where=run.mine)
        known = built.known_propensity
        if known is None:  # rows of an earlier mode must not stay
            known = warehouse.rows("known_propensity", [])
        warehouse.replace("known_propensity", known, where=run.mine)
        return {
            "rows": warehouse.read("applicants").where(run.mine).count(),
            "notes": list(built.notes),
            "fit": built.fit,
            "synthetic": list(bronze.synthetic),
        }

    mark = fingerprint(settings, design, bronze.sha256)
    return run_station(run, "applicants", mark, work)
