"""Which levels an interval may have."""

from __future__ import annotations

from fairscreen.errors import InputError

#: Above it an interval says nothing, and near 1 its ends are no longer finite.
HIGHEST_LEVEL = 0.9999


def check_level(level: float) -> None:
    """InputError where the option --level is no level, or one above HIGHEST_LEVEL."""
    remedy = "Give a number between 0 and 1, such as 0.95."
    if not 0 < level < 1:
        raise InputError("--level", f"{level:g} is no level", remedy)
    if level > HIGHEST_LEVEL:
        problem = f"{level!r} is above {HIGHEST_LEVEL}, the highest level of an interval"
        raise InputError("--level", problem, "Give a lower one, such as 0.95.")
