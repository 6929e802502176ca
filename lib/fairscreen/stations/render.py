"""Applicants to documents: rendered once, contents stored once."""

from __future__ import annotations

from typing import Any

from fairscreen.config import Config
from fairscreen.documents import render
from fairscreen.documents.keys import MEDIA_TYPE_TEXT
from fairscreen.documents.pools import load_schools
from fairscreen.stations.common import Run, StationResult, fingerprint, run_station


def run(run: Run[Config], applicants: StationResult) -> StationResult:
    """Rows of `documents` of this audit (applicants and their versions), and the `contents` that
    were not there yet."""
    cfg, warehouse = run.cfg, run.warehouse

    def work() -> dict[str, Any]:
        versions = None
        if cfg.estimation.rescores:
            versions = warehouse.read("versions").where(run.mine)
        rendered = render.render(warehouse.read("applicants").where(run.mine), cfg, versions)
        warehouse.insert_new("contents", render.contents(rendered), keys=["content_key"])
        warehouse.replace("documents", render.documents(rendered), where=run.mine)
        prompts = [
            {"content_key": key, "media_type": MEDIA_TYPE_TEXT, "text": text}
            for _, key, text in render.job_descriptions(cfg)
        ]
        warehouse.insert_new("contents", warehouse.rows("contents", prompts), keys=["content_key"])
        return {"rows": warehouse.read("documents").where(run.mine).count()}

    settings = cfg.model_dump(mode="json", include={"documents", "seed"})
    pools = {job: pool.model_dump(mode="json") for job, pool in render.job_contents(cfg).items()}
    pools["schools"] = load_schools().model_dump(mode="json")
    mark = fingerprint(applicants.fingerprint, settings, pools)
    return run_station(run, "render", mark, work)
