"""Tables of a paired-callback audit to report, summary and the MLflow run of each model."""

from __future__ import annotations

from collections.abc import Mapping

from fairscreen.settings.callback_audit import CallbackConfig
from fairscreen.stations.callback_sources import CallbackBronze
from fairscreen.stations.common import Run, StationResult


def run(
    run: Run[CallbackConfig], bronze: CallbackBronze, done: Mapping[str, StationResult]
) -> StationResult:
    raise NotImplementedError
