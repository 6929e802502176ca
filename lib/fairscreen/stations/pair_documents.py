"""Postings and names to documents: postings chosen, names checked, profiles in pairs."""

from __future__ import annotations

from fairscreen.settings.callback_audit import CallbackConfig
from fairscreen.stations.callback_sources import CallbackBronze
from fairscreen.stations.common import Run, StationResult


def check(cfg: CallbackConfig) -> None:
    """What can be refused before Spark starts."""
    raise NotImplementedError


def run(run: Run[CallbackConfig], bronze: CallbackBronze) -> StationResult:
    raise NotImplementedError
