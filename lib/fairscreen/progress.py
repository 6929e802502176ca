"""Progress and notices for people: standard error, with the time since the process began."""

from __future__ import annotations

import sys
import time

_START = time.monotonic()


def say(text: str) -> None:
    """One line of progress. Never a resume, a reply or a secret."""
    minutes, seconds = divmod(int(time.monotonic() - _START), 60)
    print(f"[{minutes:02d}:{seconds:02d}] {text}", file=sys.stderr, flush=True)
