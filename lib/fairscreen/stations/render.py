"""Applicants to documents: rendered once, contents stored once."""

from __future__ import annotations

from typing import Any

from fairscreen.documents import render
from fairscreen.stations.common import Run, StationResult, fingerprint, run_station


def run(run: Run, applicants: StationResult) -> StationResult:
    """Rows of `documents` of this audit, and the `contents` that were not there yet."""
    cfg, warehouse = run.cfg, run.warehouse

    def work() -> dict[str, Any]:
        rendered = render.render(warehouse.read("applicants").where(run.mine), cfg)
        warehouse.insert_new("contents", render.contents(rendered), keys=["content_key"])
        warehouse.replace("documents", rendered.drop("text"), where=run.mine)
        prompts = [
            {"content_key": key, "media_type": "text/plain; charset=utf-8", "text": text}
            for _, key, text in render.job_descriptions(cfg)
        ]
        warehouse.insert_new("contents", warehouse.rows("contents", prompts), keys=["content_key"])
        return {"rows": warehouse.read("documents").where(run.mine).count()}

    settings = cfg.model_dump(mode="json", include={"documents", "seed"})
    mark = fingerprint(applicants.fingerprint, settings, render.content_hash(cfg))
    return run_station(run, "render", mark, work)
