"""Which process this is, and whether another one is known to be gone."""

from __future__ import annotations

import os
import socket
from collections.abc import Mapping
from pathlib import Path


def this_process() -> dict[str, object]:
    """host, process and namespace (of process numbers) of this process; JSON-able."""
    return {"host": socket.gethostname(), "process": os.getpid(), "namespace": _namespace()}


def is_here(process: Mapping[str, object]) -> bool:
    """Whether its number means something here: same host, same namespace of numbers."""
    here = this_process()
    return all(process.get(name) == here[name] for name in ("host", "namespace"))


def is_gone(process: Mapping[str, object]) -> bool:
    """Whether the process is known to have ended. Of another host nothing is known."""
    return is_here(process) and _ended(int(str(process.get("process"))))


def _ended(number: int) -> bool:
    try:
        os.kill(number, 0)
    except ProcessLookupError:
        return True
    except OSError:  # somebody else's process
        return False
    try:  # one that nobody has waited for yet still has its number
        return Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except (OSError, IndexError):
        return False


def _namespace() -> str:
    """Two containers with one host name have two."""
    try:
        return os.readlink("/proc/self/ns/pid")
    except OSError:
        return "host"
