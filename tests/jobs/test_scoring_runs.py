"""Progress of scoring in a real MLflow store: one run per model, from first call to report."""

from __future__ import annotations

import pandas as pd
import pytest

import small_audit
from fairscreen import resources, tracking
from fairscreen.config import load
from fairscreen.scoring.progress import Standing
from fairscreen.scoring.tally import Tally
from fairscreen.scoring_runs import ScoringRuns


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    return tmp_path_factory.mktemp("runs")


@pytest.fixture(scope="module")
def config(place):
    def made(audit: str, **more: str):
        settings = {"warehouse": place / "warehouse", "out": place / "out", "audit_id": audit}
        given = [f"{k}={v}" for k, v in {**settings, **more}.items()]
        return load(resources.path("conf", "audits", "demo.yml"), given)

    return made


def standing(done: int, total: int, **errors: int) -> Standing:
    return Standing(total, Tally(done, cost_usd=0.5 * done), errors, 10.0, 4.0 if done else None)


def report(cfg, root: str) -> str:
    return tracking.log_audit_run(
        cfg, model="minilm", estimates=pd.DataFrame(small_audit.estimates()),
        overlap=pd.DataFrame(small_audit.overlap()),
        patterns=pd.DataFrame(small_audit.patterns()), outcomes=pd.DataFrame(),
        input_versions={}, warehouse_root=root, report_path=None, summary={}, simulated=False,
    )  # fmt: skip


def runs_of(cfg) -> list:
    client, experiment = tracking.connect(cfg)
    return client.search_runs([experiment], f"tags.audit_id = '{cfg.audit_id}'")


def history(cfg, run, name: str) -> list[tuple[int, float]]:
    client, _ = tracking.connect(cfg)
    return sorted((m.step, m.value) for m in client.get_metric_history(run.info.run_id, name))


def test_a_run_is_open_while_its_model_is_asked_and_takes_the_report(config) -> None:
    cfg = config("whole")
    with ScoringRuns(cfg, "w") as runs:
        runs.note("minilm", Standing(100), "asking")
        runs.note("minilm", standing(40, 100, timeout=2), "asking")
        runs.note("minilm", standing(100, 100, timeout=3), "done")
    (run,) = runs_of(cfg)
    assert (run.info.status, run.data.tags["scoring_state"]) == ("FINISHED", "done")
    assert run.data.tags["config_hash"] == cfg.hash()
    assert run.data.tags["model_kind"] == "embedding"
    assert history(cfg, run, "scoring.done") == [(0, 0.0), (1, 40.0), (2, 100.0)]
    assert history(cfg, run, "scoring.pending") == [(0, 100.0), (1, 60.0), (2, 0.0)]
    assert history(cfg, run, "scoring.spent_usd") == [(0, 0.0), (1, 20.0), (2, 50.0)]
    assert history(cfg, run, "scoring.errors.timeout") == [(1, 2.0), (2, 3.0)]
    assert history(cfg, run, "scoring.seconds_left") == [(1, 15.0), (2, 0.0)]

    assert report(cfg, "w") == run.info.run_id
    (run,) = runs_of(cfg)
    assert (run.info.status, run.data.tags["scoring_state"]) == ("FINISHED", "reported")
    assert run.data.params["config_hash"] == cfg.hash()
    assert run.data.metrics["scoring.done"] == 100.0
    assert run.data.tags["not_computable"] == "6"
    # Nothing was asked since: another report is another run.
    assert report(cfg, "w") != run.info.run_id
    assert len(runs_of(cfg)) == 2


@pytest.mark.parametrize("ended", ["killed", "stopped", "failed"])
def test_what_was_cut_off_goes_on_in_the_same_run(config, ended: str) -> None:
    cfg = config(ended)
    with ScoringRuns(cfg, "w") as runs:
        runs.note("minilm", Standing(100), "asking")
        runs.note("minilm", standing(40, 100, reset=5), "asking")
        if ended != "killed":
            runs.note("minilm", standing(41, 100, reset=5), ended)
    (run,) = runs_of(cfg)
    state = "asking" if ended == "killed" else ended
    status = "FAILED" if ended == "failed" else "RUNNING"
    assert (run.info.status, run.data.tags["scoring_state"]) == (status, state)

    # 55 are in the table: what was answered after the last note counts too.
    with ScoringRuns(config(ended, title="changed"), "w") as runs:
        runs.note("minilm", Standing(45), "asking")
        runs.note("minilm", standing(45, 45, reset=1), "done")
    (again,) = runs_of(cfg)
    assert again.info.run_id == run.info.run_id
    assert (again.info.status, again.data.tags["scoring_state"]) == ("FINISHED", "done")
    assert again.data.tags["mlflow.note.content"] == "changed"
    steps, done = zip(*history(cfg, run, "scoring.done"), strict=True)
    assert steps == tuple(range(len(steps)))
    assert done[-2:] == (55.0, 100.0)
    assert history(cfg, run, "scoring.errors.reset")[-1][1] == 6.0
    assert history(cfg, run, "scoring.spent_usd")[-1][1] == {"killed": 42.5}.get(ended, 43.0)
    assert report(cfg, "w") == run.info.run_id


def test_runs_of_another_model_audit_or_warehouse_are_left_alone(config) -> None:
    cfg = config("alone")
    with ScoringRuns(cfg, "w") as runs:
        for model in ("minilm", "other"):
            runs.note(model, standing(1, 2), "stopped")
    mine, other = sorted(runs_of(cfg), key=lambda run: run.data.tags["model"])
    elsewhere = report(cfg, "another warehouse")
    assert elsewhere not in {mine.info.run_id, other.info.run_id}
    assert report(cfg, "w") == mine.info.run_id
    states = {run.info.run_id: run.data.tags.get("scoring_state") for run in runs_of(cfg)}
    assert states == {mine.info.run_id: "reported", other.info.run_id: "stopped", elsewhere: None}


def test_without_calls_there_is_no_run(config, place) -> None:
    cfg = config("none", mlflow_uri=f"sqlite:///{place / 'unused' / 'mlflow.db'}")
    with ScoringRuns(cfg, "w"):
        pass
    assert not (place / "unused").exists()


def test_a_store_that_cannot_be_written_is_told_once_and_nothing_waits(
    config, place, capsys
) -> None:
    (place / "file").write_text("")
    cfg = config("nowhere", mlflow_uri=f"sqlite:///{place / 'file' / 'mlflow.db'}")
    with ScoringRuns(cfg, "w") as runs:
        for done in range(20):
            runs.note("minilm", standing(done, 20), "asking")
        runs.note("minilm", standing(20, 20), "done")
    said = [text for text in capsys.readouterr().err.splitlines() if "MLflow" in text]
    assert len(said) == 1
    assert said[0].endswith("scoring goes on, its progress may be missing there")


def test_notes_that_could_not_be_logged_are_logged_later(config, place) -> None:
    """The folder of the store cannot be made at first; then what stood in its place is gone."""
    cfg = config("later", mlflow_uri=f"sqlite:///{place / 'later' / 'mlflow.db'}")
    (place / "later").write_text("")
    with ScoringRuns(cfg, "w") as runs:
        runs.note("minilm", Standing(2), "asking")
        while not runs._failed:
            runs._thread.join(0.01)
        (place / "later").unlink()
        runs.note("minilm", standing(2, 2), "done")
    (run,) = runs_of(cfg)
    assert history(cfg, run, "scoring.done") == [(0, 0.0), (1, 2.0)]
    assert run.data.tags["scoring_state"] == "done"
