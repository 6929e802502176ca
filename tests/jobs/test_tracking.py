"""A real MLflow run in an SQLite file of its own."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pandas as pd
import pytest

import small_audit
from fairscreen import resources, tracking
from fairscreen.config import load
from fairscreen.reporting import callbacks


def _config(folder: Path):
    return load(
        resources.path("conf", "audits", "demo.yml"),
        [f"warehouse={folder / 'warehouse'}", f"out={folder / 'out'}"],
    )


@pytest.fixture(scope="module")
def logged(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tracking")
    cfg = _config(folder)
    report = folder / "report.html"
    report.write_text("<p>report</p>")
    estimates = pd.DataFrame(small_audit.estimates())
    other = estimates.assign(model="other", estimate=99.0)
    outcomes = pd.DataFrame(
        [{"model": "minilm", "job": "=cmd()", "asked": 8, "ok": 7, "refused": 1}]
    )
    run_id = tracking.log_audit_run(
        cfg, model="minilm", estimates=pd.concat([estimates, other], ignore_index=True),
        overlap=pd.DataFrame(small_audit.overlap()),
        patterns=pd.DataFrame(small_audit.patterns()), outcomes=outcomes,
        input_versions={"applicants": 0, "scores": 3}, warehouse_root=str(folder / "warehouse"),
        report_path=None, summary={"audit_id": "demo"}, simulated=False,
    )  # fmt: skip
    tracking.attach(cfg, run_id, report)
    client, _ = tracking.connect(cfg)
    return folder, cfg, client, client.get_run(run_id), estimates


def test_metrics_are_the_computed_numbers_of_this_model(logged):
    _, _, _, run, estimates = logged
    computed = estimates[estimates.status == "ok"]
    named = {k: v for k, v in run.data.metrics.items() if k.endswith(".estimate")}
    assert sorted(named.values()) == sorted(computed.estimate)
    nurses = estimates[
        (estimates.slice == "job=registered_nurses")
        & (estimates.contrast == "male_vs_female")
        & (estimates.estimand == "RIE")
    ].iloc[0]
    name = "RIE.gender.male_vs_female.job_registered_nurses"
    for field in tracking.FIELDS:
        assert run.data.metrics[f"{name}.{field}"] == nurses[field]
    assert "selection_rate_ratio.gender.male_vs_female.all.four_fifths.estimate" in named
    assert not any(k.startswith("RIE.gender.male_vs_female.job_constr") for k in named)
    assert run.data.metrics["requests.refused"] == 1.0


def test_run_is_finished_tagged_and_knows_its_inputs(logged):
    folder, cfg, _, run, _ = logged
    assert run.info.status == "FINISHED"
    assert run.data.tags["audit_id"] == "demo"
    assert run.data.tags["simulated"] == "false"
    assert run.data.tags["not_computable"] == "6"
    assert run.data.params["config_hash"] == cfg.hash()
    assert run.data.params["estimation.overlap.clip"] == "0.001"
    assert run.data.params["population.jobs.registered_nurses.occp"] == '["3255"]'
    inputs = {i.dataset.name: i for i in run.inputs.dataset_inputs}
    assert set(inputs) == {"applicants", "scores"}
    source = json.loads(inputs["scores"].dataset.source)
    assert source == {"path": str(folder / "warehouse" / "scores"), "delta_table_version": 3}
    assert {t.key: t.value for t in inputs["applicants"].tags}["delta_version"] == "0"


def test_artifacts_lie_beside_the_database_and_hold_no_formula(logged):
    folder, _, client, run, _ = logged
    names = {f.path for f in client.list_artifacts(run.info.run_id)}
    assert names == {
        "estimates.csv", "overlap.csv", "patterns.csv", "outcomes.csv", "summary.json",
        "report.html",
    }  # fmt: skip
    root = folder / "warehouse" / "_mlflow" / "artifacts" / run.info.run_id / "artifacts"
    assert "'=cmd()" in (root / "outcomes.csv").read_text()
    kept = pd.read_csv(root / "estimates.csv")
    assert set(kept.model) == {"minilm"}
    assert kept.reason.notna().sum() == 6


def test_a_panel_is_in_every_run_and_metrics_are_those_that_are_kept(tmp_path):
    models = "scoring.models={one: {kind: planted_callbacks}, two: {kind: planted_callbacks}}"
    cfg = load(
        resources.path("conf", "audits", "callbacks.yml"),
        [f"warehouse={tmp_path / 'w'}", f"out={tmp_path / 'out'}", models, "panel={}"],
    )
    row = {
        "attribute": "race", "contrast": "race", "document_format": "text",
        "estimand": "callback_gap_pp", "method": "cluster_posting_names", "std_error": 0.5,
        "ci_low": 0.0, "ci_high": 2.0, "p_value": 0.04, "p_holm": None, "status": "ok",
        "reason": None,
    }  # fmt: skip
    rows = pd.DataFrame(
        [
            {**row, "model": "one", "slice": "all", "estimate": 1.0},
            {**row, "model": "one", "slice": "company=A & B", "estimate": 7.0},
            {**row, "model": "two", "slice": "all", "estimate": 3.0},
            {**row, "model": "panel", "slice": "all", "estimand": "gap_trend_pp_per_year",
             "method": "reml_knapp_hartung", "estimate": -0.5},
        ]
    )  # fmt: skip
    kept = rows[callbacks.pooled(rows)]
    assert kept["slice"].eq("all").all()
    client, _ = tracking.connect(cfg)
    for model, gap in (("one", 1.0), ("two", 3.0)):
        run_id = tracking.log_audit_run(
            cfg, model=model, estimates=rows, outcomes=pd.DataFrame({"model": [], "asked": []}),
            panel=rows[rows["model"] == "panel"].drop(columns="model"), kept=kept,
            input_versions={}, warehouse_root=str(tmp_path / "w"), report_path=None, summary={},
            simulated=True,
        )  # fmt: skip
        run = client.get_run(run_id)
        found = {k: v for k, v in run.data.metrics.items() if k.endswith(".estimate")}
        assert found == {"callback_gap_pp.race.race.all.cluster_posting_names.estimate": gap}
        root = tmp_path / "w" / "_mlflow" / "artifacts" / run_id / "artifacts"
        assert pd.read_csv(root / "panel.csv")["estimate"].tolist() == [-0.5]
        assert len(pd.read_csv(root / "estimates.csv")) == (2 if model == "one" else 1)


def test_where_the_store_is(tmp_path):
    cfg = _config(tmp_path)
    database = tmp_path / "warehouse" / "_mlflow" / "mlflow.db"
    assert tracking.store(cfg) == (
        f"sqlite:///{database}",
        (database.parent / "artifacts").as_uri(),
    )
    command, *options = tracking.open_command(cfg).split()
    assert shutil.which(command)  # it can be pasted, environment activated or not
    assert options == ["ui", "--backend-store-uri", f"sqlite:///{database}"]
    catalog = cfg.model_copy(update={"warehouse": "main.audits"})
    assert tracking.store(catalog)[0] == f"sqlite:///{tmp_path / 'out' / '_mlflow' / 'mlflow.db'}"
    server = cfg.model_copy(update={"mlflow_uri": "http://127.0.0.1:5000"})
    assert tracking.store(server) == ("http://127.0.0.1:5000", None)
