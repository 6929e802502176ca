"""When somebody else's lease still holds. Taking one needs Delta: tests/spark/test_score.py."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from fairscreen.lease import STALE_SECONDS, _alive, _sweep
from fairscreen.processes import this_process


def owner(process: int, host: str | None = None) -> dict[str, object]:
    found = this_process() | {"token": "t", "process": process}
    return found | ({"host": host} if host else {})


def ended_process() -> int:
    child = subprocess.Popen([sys.executable, "-c", ""])
    child.wait()
    return child.pid


@pytest.fixture
def beat(tmp_path: Path) -> Path:
    file = tmp_path / "demo.t"
    file.touch()
    return file


def test_a_fresh_heartbeat_of_a_living_process_holds(beat: Path) -> None:
    assert _alive(owner(os.getpid()), "demo", beat.parent)


def test_a_process_that_is_gone_holds_nothing(beat: Path) -> None:
    assert not _alive(owner(ended_process()), "demo", beat.parent)
    # On another host a process number says nothing: its heartbeat decides.
    assert _alive(owner(ended_process(), host="elsewhere"), "demo", beat.parent)


def test_an_old_or_missing_heartbeat_holds_nothing(beat: Path) -> None:
    old = time.time() - STALE_SECONDS - 1
    os.utime(beat, (old, old))
    assert not _alive(owner(os.getpid()), "demo", beat.parent)
    beat.unlink()
    assert not _alive(owner(os.getpid()), "demo", beat.parent)


def test_who_takes_the_lease_removes_what_killed_runs_left(tmp_path: Path) -> None:
    for name in (
        "demo.mine",
        "demo.killed",
        "demo.rival",
        "demo.never",
        "demo.x.killed",
        "other.a",
    ):
        (tmp_path / name).touch()
    old = time.time() - STALE_SECONDS - 1
    for name in ("demo.never", "demo.mine", "other.a"):  # `never` was killed before its row
        os.utime(tmp_path / name, (old, old))
    _sweep(tmp_path, "demo", "mine", {"killed", "gone"})
    assert sorted(f.name for f in tmp_path.iterdir()) == [
        "demo.mine",
        "demo.rival",  # fresh, and about to find the lease taken
        "demo.x.killed",  # of the audit `demo.x`
        "other.a",
    ]
