"""Every job's main on small real input, in the order of an audit, in one warehouse."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from fairscreen import tracking
from fairscreen.config import load
from small_jobs import CONFIG, main, runs


def test_an_audit_ends_with_report_summary_and_run(place: Path, first: dict, stopped: int) -> None:
    assert stopped < 80
    assert (first["asked"], first["reused"]) == (80 - stopped, stopped)
    assert first["outcomes"] == {"minilm": {"ok": 80}}
    assert first["tables"]["applicants"]["rows"] == 80
    assert first["tables"]["scores"]["rows"] == 80
    assert set(first["mlflow_run_ids"]) == {"minilm"}
    report = Path(first["report_path"]).read_text(encoding="utf-8")
    assert "SYNTHETIC" in report
    assert "<script src" not in report
    assert (place / "warehouse" / "_mlflow" / "mlflow.db").exists()


def test_the_model_has_one_run_from_its_first_call_to_its_report(
    place: Path, first: dict, stopped: int
) -> None:
    (run,) = runs(place)
    assert run.info.run_id == first["mlflow_run_ids"]["minilm"]
    assert (run.info.status, run.data.tags["scoring_state"]) == ("FINISHED", "reported")
    assert any(name.startswith("TE.gender.") for name in run.data.metrics)
    client, _ = tracking.connect(load(CONFIG, [f"warehouse={place / 'warehouse'}"]))
    history = client.get_metric_history(run.info.run_id, "scoring.done")
    done = [m.value for m in sorted(history, key=lambda m: m.step)]
    assert sorted(m.step for m in history) == list(range(len(history)))
    assert done == sorted(done)  # the second command goes on where the first was stopped
    assert (done[0], done[-1]) == (0.0, 80.0)
    assert float(stopped) in done
    assert run.data.metrics["scoring.pending"] == 0.0
    assert run.data.metrics["scoring.seconds_left"] == 0.0


def test_half_of_each_gender_and_te_of_gender_computed(spark, place: Path, first: dict) -> None:
    from fairscreen.tables import Warehouse

    warehouse = Warehouse(spark, str(place / "warehouse"))
    counts = warehouse.read("applicants").groupBy("job", "gender").count().collect()
    assert {row["count"] for row in counts} == {20}
    te = warehouse.read("estimates").where(
        "estimand = 'TE' AND method = 'eif' AND attribute = 'gender'"
    )
    rows = te.collect()
    assert {row["slice"] for row in rows} == {"job=registered_nurses", "job=accountants", "all"}
    assert {row["status"] for row in rows} <= {"ok", "flagged"}
    assert all(row["favors_when_positive"] == "men" for row in rows)


def test_again_asks_nothing_and_keeps_every_station(place, arguments, first) -> None:
    assert main("run_audit")(arguments) == 0
    again = json.loads((place / "out" / "small" / "summary.json").read_text())
    assert again["asked"] == 0
    assert again["reused"] == 80
    assert again["kept_stages"] == ["applicants", "render", "score", "estimate", "report"]
    assert again["mlflow_run_ids"] == first["mlflow_run_ids"]


def test_another_estimator_option_asks_nothing(place, arguments, first, capsys) -> None:
    argv = [*arguments, "--set", "estimation.learner=stack", "--json", "-"]
    assert main("estimate")(argv) == 0
    summary = json.loads(capsys.readouterr().out)
    assert summary["asked"] == 0
    assert summary["kept_stages"] == ["applicants", "render", "score"]


def test_single_stations_run_alone(place, arguments, first, capsys) -> None:
    for name in ("build_applicants", "render", "score"):
        assert main(name)([*arguments, "--json", "-"]) == 0
        assert json.loads(capsys.readouterr().out)["asked"] == 0


def test_ingest_again_is_a_no_op(place, first, capsys) -> None:
    argv = ["acs", str(place / "csv_psix.zip"), "--warehouse", str(place / "warehouse")]
    assert main("ingest")([*argv, "--json", "-"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert result["rows"] == 0
    assert result["skipped"] == ["csv_psix.zip/psam_psix.csv"]


def test_verify_acs(capsys) -> None:
    assert main("verify_acs")(["bundled:acs_2018_csv_pwy.zip", "--json", "-"]) == 0
    rows = json.loads(capsys.readouterr().out)["rows"]
    (inside,) = [r for r in rows if r["characteristic"].startswith("GQ institutional")]
    # Published: 7,018 with a standard error of 3 (rounded).
    assert inside["estimate"] == 7018
    assert round(inside["std_error"]) == 3


@pytest.mark.parametrize(("argv", "message"), [
    (["nowhere.yml"],
     "error: nowhere.yml: No such file or directory. Give the path of an audit's YAML file."),
    ([], "error: command line: no audit file was given. "
         "Give one, such as conf/audits/demo.yml."),
    (["--nonsense"], "error: command line: unrecognized arguments: --nonsense. "
                     "See `fairscreen --help`."),
])  # fmt: skip
def test_bad_input_is_one_line_and_exit_2(argv, message, capsys) -> None:
    assert main("run_audit")(argv) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.strip() == message


def test_an_audit_that_rescores_asks_about_every_version_once(place, arguments, first) -> None:
    changes = {
        "audit_id": "rescored", "estimation.approach": "both", "population.n_per_job": 20,
        "scoring.models": {"planted": {"kind": "planted"}}, "estimation.learner": "saturated",
        "estimation.weights": "population",
    }  # fmt: skip
    given = list(arguments)
    for key, value in changes.items():
        given += ["--set", f"{key}={json.dumps(value)}"]
    assert main("run_audit")(given) == 0
    done = json.loads((place / "out" / "rescored" / "summary.json").read_text())
    requests = done["tables"]["requests"]["rows"]
    # Own document and two contrasts of five versions; the placebos are two more for some.
    placebos = requests - 40 * (1 + 2 * 5)
    assert placebos == done["tables"]["versions"]["rows"] - 40 * 2 * 5
    assert 0 < placebos < 40
    assert 40 < done["asked"] < requests
    assert done["asked"] + done["reused"] == requests
    total = [r for r in done["effects"] if (r["slice"], r["estimand"]) == ("all", "TE")]
    assert [r["status"] for r in total] == ["ok", "ok"]
    report = Path(done["report_path"]).read_text(encoding="utf-8")
    assert "Rescoring and the observational estimate side by side" in report
    assert "Placebos: what the screener does" in report
    assert "no surveyed person, and no replicate weight, stands behind one" in report
    assert main("run_audit")(given) == 0
    again = json.loads((place / "out" / "rescored" / "summary.json").read_text())
    assert (again["asked"], again["reused"]) == (0, requests)
