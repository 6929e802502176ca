"""Gradient-boosted nuisances (placeholder filled below)."""

from __future__ import annotations

from fairscreen.estimators.nuisance import Learner, Problem


def tuned(problem: Problem, *, seed: int) -> Learner:
    raise NotImplementedError
