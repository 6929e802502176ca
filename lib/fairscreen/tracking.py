"""MLflow: one run per model of an audit, with metrics named alike across runs.

A metric is `ESTIMAND.attribute.contrast.slice.field`, for instance
`TE.gender.male_vs_female.job_registered_nurses.estimate`; fields are estimate, std_error, ci_low,
ci_high, p_value, p_holm. Methods other than the influence function's (`eif`), formats other than
`text` stand between slice and field. Only what was computed is a metric; the rest, with
its reason, is in the artifact estimates.csv and counted in the tag `not_computable`.

A model that is asked has its run from then on (`scoring_runs`): the tag `scoring_state` says how
its asking stands, and the report goes into that run, whose state is then `reported`.

No run is ever active: everything goes through a client, so that two audits in one process cannot
write into each other's run. Four first uses of one SQLite file at once killed three of them, so
opening the store and creating the experiment hold a file lock.
"""

from __future__ import annotations

import json
import logging
import os
import re
import shlex
import shutil
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd
from filelock import FileLock

from fairscreen import __version__
from fairscreen.reporting.export import to_csv
from fairscreen.settings.audit import AuditConfig

if TYPE_CHECKING:
    from mlflow import MlflowClient

EXPERIMENT = "fairscreen"
FIELDS = ("estimate", "std_error", "ci_low", "ci_high", "p_value", "p_holm")
STATE = "scoring_state"  # tag: how the asking stands, or that the report is in
OPEN_STATES = ("asking", "stopped", "failed", "done")
REPORTED = "reported"
_PARAM_LIMIT = 6000  # characters; MLflow refuses longer values
_BATCH = 100  # parameters and tags per call; metrics may be 1,000
_PLAIN = re.compile(r"[^A-Za-z0-9_\-]+")


def store(cfg: AuditConfig) -> tuple[str, str | None]:
    """(tracking URI, artifact location of a new experiment).

    `cfg.mlflow_uri` where given; else SQLite in the folder `_mlflow` of the warehouse (of `out`,
    where the warehouse is no folder). SQLite keeps its artifacts in the same folder; for a server
    the location is None: the server decides.
    """
    uri = cfg.mlflow_uri
    if uri is None:
        local = "://" not in cfg.warehouse and not re.fullmatch(r"\w+\.\w+", cfg.warehouse)
        inside = Path(cfg.warehouse if local else cfg.out).expanduser().resolve()
        uri = f"sqlite:///{inside / '_mlflow' / 'mlflow.db'}"
    database = _database(uri)
    if database is None:
        return uri, None
    # Absolute: MLflow would store a relative place as seen from today's folder.
    return f"sqlite:///{database}", (database.parent / "artifacts").as_uri()


def open_command(cfg: AuditConfig) -> str:
    """The shell command that opens MLflow on this audit's runs, or says where they are."""
    uri, _ = store(cfg)
    if _database(uri) is None:
        return f"open {uri}"  # a server has its own page
    return f"{shlex.quote(_mlflow())} ui --backend-store-uri {shlex.quote(uri)}"


def _mlflow() -> str:
    """The command's name, or its path where the environment is not activated."""
    if shutil.which("mlflow"):
        return "mlflow"
    beside = Path(sys.executable).parent / "mlflow"
    return str(beside) if beside.exists() else "mlflow"


def log_audit_run(
    cfg: AuditConfig, *, model: str, estimates: pd.DataFrame, outcomes: pd.DataFrame,
    input_versions: Mapping[str, int], warehouse_root: str, report_path: str | Path | None,
    summary: Mapping[str, Any], simulated: bool, kept: pd.DataFrame | None = None,
    **tables: pd.DataFrame,
) -> str:  # fmt: skip
    """Log one model's part of an audit into its MLflow run and finish that; the run's id.

    It is the run that its scoring opened and that no report went into yet, else a new one.

    estimates, outcomes (asked and kinds of outcomes, by group) and further tables, for instance
    overlap: rows of all models; those of others are left out. kept: those estimates that become
    metrics, where that is not all of them. input_versions: Delta version of each
    table read. report_path: may be None where the report names its own run; `attach` it then.
    """
    client, experiment = connect(cfg)
    frames = {"estimates": estimates, **tables, "outcomes": outcomes}
    own = {name: _of(frame, model) for name, frame in frames.items()}
    not_computable = int((own["estimates"]["status"] == "not_computable").sum())
    tags = run_tags(cfg, model, warehouse_root)
    tags |= {"simulated": str(simulated).lower(), "not_computable": str(not_computable)}
    run_id = open_run(client, experiment, tags, state=REPORTED)
    try:
        _log_parameters(client, run_id, parameters(cfg, model))
        told = own["estimates"] if kept is None else _of(kept, model)
        _log_metrics(client, run_id, metrics(told) | _counts(own["outcomes"]))
        _log_inputs(client, run_id, warehouse_root, input_versions)
        for name, frame in own.items():
            client.log_text(run_id, to_csv(frame), f"{name}.csv")
        client.log_text(run_id, json.dumps(summary, indent=2, default=str), "summary.json")
        if report_path is not None:
            client.log_artifact(run_id, str(report_path))
    except BaseException:
        client.set_terminated(run_id, status="FAILED")
        raise
    client.set_terminated(run_id)
    return run_id


def attach(cfg: AuditConfig, run_id: str, file: str | Path) -> None:
    """Add a file, such as the finished report, to a run that was logged."""
    client, _ = connect(cfg)
    client.log_artifact(run_id, str(file))


def run_tags(cfg: AuditConfig, model: str, warehouse_root: str) -> dict[str, str]:
    """What every run of an audit's model is found and read by."""
    screener = cfg.scoring.models.get(model)
    return {
        "audit_id": cfg.audit_id,
        "design": cfg.design,
        "model": model,
        "model_kind": screener.kind if screener else "unknown",
        "warehouse": warehouse_root,
        "config_hash": cfg.hash(),
        "package_version": __version__,
        "mlflow.user": "fairscreen",
        "mlflow.note.content": cfg.title,
    }


def open_run(client: MlflowClient, experiment: str, tags: Mapping[str, str], *, state: str) -> str:
    """The id of the model's run that waits for its report, or of a new one; it is running now.

    tags: of `run_tags`, with which the run is tagged anew. state: its `scoring_state` from now on.
    """
    from mlflow.entities import RunTag

    found = _unreported(client, experiment, tags)
    if found is None:
        new = dict(tags) if state == REPORTED else {**tags, STATE: state}
        name = f"{tags['audit_id']} {tags['model']}"
        return str(client.create_run(experiment, tags=new, run_name=name).info.run_id)
    client.update_run(found, status="RUNNING")
    client.log_batch(found, tags=[RunTag(k, v) for k, v in {**tags, STATE: state}.items()])
    return found


def _unreported(client: MlflowClient, experiment: str, tags: Mapping[str, str]) -> str | None:
    # Ids of audits and names of models hold no quote. A warehouse may: it is compared here.
    wanted = f"tags.audit_id = '{tags['audit_id']}' AND tags.model = '{tags['model']}'"
    runs = client.search_runs([experiment], wanted, order_by=["attributes.start_time DESC"])
    for run in runs:
        own = run.data.tags
        if own.get(STATE) in OPEN_STATES and own.get("warehouse") == tags["warehouse"]:
            return str(run.info.run_id)
    return None


def parameters(cfg: AuditConfig, model: str) -> dict[str, str]:
    """Flat settings of the design's sections, the model's own, seed and hash."""
    shared = set(AuditConfig.model_fields) - {"seed"}
    data = cfg.model_dump(mode="json", exclude=shared)
    screener = cfg.scoring.models.get(model)
    if screener is not None:
        data["screener"] = screener.model_dump(mode="json")
    flat = dict(_flat(data))
    flat |= {"config_hash": cfg.hash(), "package_version": __version__, "design": cfg.design}
    return {k: v[:_PARAM_LIMIT] for k, v in flat.items()}


def metrics(estimates: pd.DataFrame) -> dict[str, float]:
    """Metrics of one model's rows of `estimates` (n,): finite numbers only, by name."""
    found: dict[str, float] = {}
    for row in estimates.to_dict("records"):
        if row["status"] == "not_computable":
            continue
        parts = [row["estimand"], row["attribute"], row["contrast"], row["slice"]]
        parts += [row["method"]] if row["method"] != "eif" else []
        parts += [row["document_format"]] if row["document_format"] != "text" else []
        name = ".".join(_PLAIN.sub("_", str(p)).strip("_") for p in parts)
        for field in FIELDS:
            if pd.notna(row.get(field)):
                found[f"{name}.{field}"] = float(row[field])
    return found


def _counts(outcomes: pd.DataFrame) -> dict[str, float]:
    kinds = [k for k in ("asked", "ok", "refused", "unparseable", "failed") if k in outcomes]
    return {f"requests.{k}": float(outcomes[k].sum()) for k in kinds}


def _of(frame: pd.DataFrame, model: str) -> pd.DataFrame:
    return frame[frame["model"] == model] if "model" in frame else frame


def _flat(data: Any, at: str = "") -> Iterator[tuple[str, str]]:
    if isinstance(data, dict):
        for key, value in data.items():
            yield from _flat(value, f"{at}.{key}".lstrip("."))
    elif isinstance(data, list):
        yield _name(at), json.dumps(data)
    else:
        yield _name(at), str(data)


def _name(text: str) -> str:
    # MLflow allows letters, digits and _ - . space : / in a name.
    return re.sub(r"[^\w\-. :/]", "_", text)[:250]


def _database(uri: str) -> Path | None:
    if not uri.startswith("sqlite:///"):
        return None
    return Path(uri.removeprefix("sqlite:///")).expanduser().resolve()


@contextmanager
def _alone(database: Path | None) -> Iterator[None]:
    if database is None:
        yield
        return
    database.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(f"{database}.lock", timeout=120):
        yield


def connect(cfg: AuditConfig) -> tuple[MlflowClient, str]:
    """A client and the id of the experiment, created with its artifact location if new."""
    # Before the import: MLflow reads it once. The import takes seconds, so it waits until here.
    os.environ["MLFLOW_DISABLE_TELEMETRY"] = "true"
    for name in ("alembic", "mlflow.store.db.utils"):  # 60 lines at the first use of a store
        logging.getLogger(name).setLevel(logging.WARNING)
    from mlflow import MlflowClient
    from mlflow.exceptions import MlflowException

    uri, location = store(cfg)
    name = EXPERIMENT if not uri.startswith("databricks") else f"/Shared/{EXPERIMENT}"
    with _alone(_database(uri)):
        client = MlflowClient(tracking_uri=uri)
        found = client.get_experiment_by_name(name)
        if found is None:
            try:
                return client, str(client.create_experiment(name, artifact_location=location))
            except MlflowException:  # a server: somebody else was first
                found = client.get_experiment_by_name(name)
                if found is None:
                    raise
        return client, str(found.experiment_id)


def _log_parameters(client: MlflowClient, run_id: str, values: Mapping[str, str]) -> None:
    from mlflow.entities import Param

    items = [Param(k, v) for k, v in values.items()]
    for at in range(0, len(items), _BATCH):
        client.log_batch(run_id, params=items[at : at + _BATCH])


def _log_metrics(client: MlflowClient, run_id: str, values: Mapping[str, float]) -> None:
    from mlflow.entities import Metric

    now = int(time.time() * 1000)
    items = [Metric(k, v, now, 0) for k, v in values.items()]
    for at in range(0, len(items), 10 * _BATCH):
        client.log_batch(run_id, metrics=items[at : at + 10 * _BATCH])


def _log_inputs(
    client: MlflowClient, run_id: str, root: str, input_versions: Mapping[str, int]
) -> None:
    from mlflow.data.delta_dataset_source import DeltaDatasetSource
    from mlflow.entities import Dataset, DatasetInput, InputTag

    catalog = re.fullmatch(r"\w+\.\w+", root) is not None and not Path(root).exists()
    inputs = []
    for table, version in sorted(input_versions.items()):
        # By path: MLflow asks a live Spark session about a table's name.
        source = DeltaDatasetSource(
            path=f"{root}.{table}" if catalog else f"{root}/{table}", delta_table_version=version
        )
        # MLflow leaves version 0 out of the source's JSON; the digest and the tag keep it.
        dataset = Dataset(
            name=table,
            digest=f"v{version}",
            source_type=source._get_source_type(),
            source=source.to_json(),
        )
        tags = [InputTag("mlflow.data.context", "audit"), InputTag("delta_version", str(version))]
        inputs.append(DatasetInput(dataset=dataset, tags=tags))
    if inputs:
        client.log_inputs(run_id, inputs)
