"""Progress of scoring as metrics of the model's MLflow run, from its first call on.

A run is opened when a model's asking starts, or taken up again where an earlier command was
stopped or killed: metrics and their steps go on from where they were. The report goes into the
same run (`tracking.log_audit_run`).

Scoring never waits for MLflow. A thread of its own does what it does; while MLflow is slow, notes
gather and are logged together, and where it cannot be reached, this is said once and scoring
goes on.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING

from fairscreen import tracking
from fairscreen.progress import say
from fairscreen.scoring.progress import Phase, Standing, metrics
from fairscreen.settings.audit import AuditConfig

if TYPE_CHECKING:
    from mlflow import MlflowClient

# What the last notes may take: a local store is only ever slow because the machine is.
LOCAL_SECONDS, SERVER_SECONDS = 120.0, 10.0
_NOTES = 1000
_METRICS = 1000  # of one call; MLflow takes no more
_SUMS = ("scoring.done", "scoring.spent_usd", "scoring.errors.")
_CALLS = "scoring_calls"  # tag: calls that were pending when the run was opened
_STATUS = {"done": "FINISHED", "failed": "FAILED"}  # a run that was stopped goes on: RUNNING


@dataclass(frozen=True)
class _Note:
    model: str
    standing: Standing
    phase: Phase
    at: int  # milliseconds since 1970


@dataclass
class _Run:
    """A run that is open: the step of its next metrics, and what earlier commands added up."""

    id: str
    step: int
    before: Mapping[str, float]


class ScoringRuns:
    """A `scoring.progress.Recorder`. `close` it at the end; a context manager does."""

    def __init__(self, cfg: AuditConfig, warehouse_root: str) -> None:
        self._cfg, self._root = cfg, warehouse_root
        self._notes: deque[_Note] = deque(maxlen=_NOTES)
        self._changed = threading.Condition()
        self._closing = self._failed = self._abandoned = False
        self._runs: dict[str, _Run] = {}
        self._thread: threading.Thread | None = None

    def note(self, model: str, standing: Standing, phase: Phase) -> None:
        with self._changed:
            self._notes.append(_Note(model, standing, phase, int(time.time() * 1000)))
            self._changed.notify()
        if self._thread is None:  # nothing is asked: MLflow is not even imported
            self._thread = threading.Thread(target=self._work, name="mlflow", daemon=True)
            self._thread.start()

    def close(self) -> None:
        """Wait for the last notes, not for long where a server keeps them."""
        if self._thread is None:
            return
        with self._changed:
            self._closing = True
            self._changed.notify()
        local = tracking.store(self._cfg)[0].startswith("sqlite:")
        self._thread.join(LOCAL_SECONDS if local else SERVER_SECONDS)
        if self._thread.is_alive():
            self._abandoned = True
            self._say("is slow")

    def __enter__(self) -> ScoringRuns:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _say(self, what: str) -> None:
        if not self._failed:
            say(f"MLflow {what}: scoring goes on, its progress may be missing there")
        self._failed = True

    def _work(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._notes or self._closing)
                notes = list(self._notes)
                self._notes.clear()
            if not notes:
                return
            try:
                client, experiment = tracking.connect(self._cfg)
                while notes:
                    self._log(client, experiment, notes)
            except Exception as error:  # whatever MLflow, a driver or a network raises
                self._say(f"cannot be written ({type(error).__name__})")
                with self._changed:
                    if self._closing:
                        return
                    room = _NOTES - len(self._notes)
                    self._notes.extendleft(reversed(notes[-room:] if room else []))
                    self._changed.wait()  # for the next note, to try again

    def _log(self, client: MlflowClient, experiment: str, notes: list[_Note]) -> None:
        """Log the notes of the first model; they are taken off the list once they are logged."""
        if self._abandoned:
            raise TimeoutError
        model, group = next(groupby(notes, key=lambda note: note.model))
        mine = list(group)
        run = self._runs.get(model)
        if run is None:
            run = self._runs[model] = self._open(client, experiment, model, mine[0].standing)
        _log_notes(client, run, mine)
        phase = mine[-1].phase
        if phase != "asking" and not self._abandoned:
            client.set_tag(run.id, tracking.STATE, phase)
            if phase in _STATUS:
                client.set_terminated(run.id, _STATUS[phase])
            del self._runs[model]
        del notes[: len(mine)]

    def _open(self, client: MlflowClient, experiment: str, model: str, first: Standing) -> _Run:
        tags = tracking.run_tags(self._cfg, model, self._root)
        run_id = tracking.open_run(client, experiment, tags, state="asking")
        if self._abandoned:  # the report may have made a run of its own meanwhile
            client.delete_run(run_id)
            raise TimeoutError
        run = client.get_run(run_id)
        history = client.get_metric_history(run_id, "scoring.done")
        step = max((metric.step + 1 for metric in history), default=0)
        before = {k: v for k, v in run.data.metrics.items() if k.startswith(_SUMS)}
        if before:
            # What a killed command asked after its last note is known by what is left now.
            asked = int(run.data.tags.get(_CALLS, 0)) - first.total
            before["scoring.done"] = max(float(asked), before.get("scoring.done", 0.0))
        calls = int(before.get("scoring.done", 0)) + first.total
        client.set_tag(run_id, _CALLS, str(calls))
        return _Run(run_id, step, before)


def _log_notes(client: MlflowClient, run: _Run, notes: list[_Note]) -> None:
    from mlflow.entities import Metric

    logged = []
    for note in notes:
        values = dict(run.before)
        for name, value in metrics(note.standing).items():
            values[name] = value + run.before.get(name, 0.0)
        logged += [Metric(name, value, note.at, run.step) for name, value in values.items()]
        run.step += 1
    for at in range(0, len(logged), _METRICS):
        client.log_batch(run.id, metrics=logged[at : at + _METRICS])
