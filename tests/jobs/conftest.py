"""One small audit that the tests of jobs share: run once, in one warehouse."""

from __future__ import annotations

import json
import threading
from pathlib import Path

import pytest

import small_sources
from small_jobs import CONFIG, main, runs

OVERLAP = "estimation.overlap.min_effective_n"


@pytest.fixture(scope="session")
def place(spark, tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("jobs")


@pytest.fixture(scope="session")
def arguments(place: Path) -> list[str]:
    """An audit of two jobs, 40 applicants each, by the real embedding screener."""
    sources = {
        "acs": [str(small_sources.acs(place))],
        "first_names": str(small_sources.ssa(place)),
        "surnames": str(small_sources.surnames(place)),
        "psid": "bundled:psid_synthetic.zip",
    }
    jobs = {
        "registered_nurses": {"title": "Registered Nurse", "occp": ["3255"], "psid_occp": ["3255"]},
        "accountants": {"title": "Accountant", "occp": ["0800"], "psid_occp": ["0800"]},
    }
    settings = {
        "sources": sources, "population.jobs": jobs, "population.n_per_job": 40,
        "estimation.repeats": 1, "estimation.folds": 2, OVERLAP: 8, "audit_id": "small",
        "estimation.learner": "saturated",  # the default stack is one test's, and six times slower
        # 20 people a group: one of them may carry more of the weight than in a real audit.
        "estimation.overlap.max_unit_share": 0.5,
        "scoring.shards": 2, "scoring.segment_size": 5,
    }  # fmt: skip
    given = [str(CONFIG)]
    for key, value in settings.items():
        given += ["--set", f"{key}={json.dumps(value)}"]
    return [*given, "--warehouse", str(place / "warehouse"), "--out", str(place / "out")]


@pytest.fixture(scope="session")
def stopped(spark, place: Path, arguments: list[str]) -> int:
    """The audit, told to stop (as Ctrl-C tells it) once a wave is there; calls that it kept."""
    from fairscreen.tables import Warehouse

    ended = threading.Event()

    def stop() -> None:
        while not ended.wait(0.005):
            for wave in (place / "warehouse" / "_journal").glob("small.*"):
                (wave / "stop").touch()
                return

    thread = threading.Thread(target=stop, daemon=True)
    thread.start()
    assert main("run_audit")(arguments) == 4
    ended.set()
    thread.join()
    (run,) = runs(place)
    assert (run.info.status, run.data.tags["scoring_state"]) == ("RUNNING", "stopped")
    return Warehouse(spark, str(place / "warehouse")).read("replies").count()


@pytest.fixture(scope="session")
def first(place: Path, arguments: list[str], stopped: int) -> dict:
    assert main("run_audit")(arguments) == 0
    return json.loads((place / "out" / "small" / "summary.json").read_text())
