"""Scores of a paired-callback audit to estimates and diagnostics."""

from __future__ import annotations

from fairscreen.settings.callback_audit import CallbackConfig
from fairscreen.stations.common import Run, StationResult


def run(run: Run[CallbackConfig], score: StationResult) -> StationResult:
    raise NotImplementedError
