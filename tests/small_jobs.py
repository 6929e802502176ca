"""Mains of jobs/*.py, and what the tests of a small audit by them share."""

from __future__ import annotations

import importlib.util
from pathlib import Path

from fairscreen import resources, tracking
from fairscreen.config import load

ROOT = resources.path("conf").parent
CONFIG = resources.path("conf", "audits", "demo.yml")


def main(name: str):
    """The main of jobs/NAME.py."""
    spec = importlib.util.spec_from_file_location(f"job_{name}", ROOT / "jobs" / f"{name}.py")
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.main


def runs(place: Path, model: str = "minilm") -> list:
    """MLflow runs of the audit's model."""
    cfg = load(CONFIG, [f"warehouse={place / 'warehouse'}"])
    client, experiment = tracking.connect(cfg)
    wanted = f"tags.audit_id = 'small' AND tags.model = '{model}'"
    return client.search_runs([experiment], wanted)
