"""One run of an audit at a time.

Taking the lease is a compare-and-swap by Delta: the row of epoch n + 1 is appended under the
transaction name `lease/<audit>/<n + 1>`, which the table accepts once. Of two that try, one
finds its own row and the other does not. Heartbeats are a small file per holder, renewed by a
thread: a Spark job would wait behind the very tasks that it vouches for. Without its file, or
with one older than ten minutes, a lease is free; so is one whose process is known to be gone.
Who takes it removes what holders that were killed left behind.
"""

from __future__ import annotations

import json
import re
import threading
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from fairscreen.errors import InputError
from fairscreen.processes import is_gone, this_process
from fairscreen.tables import Warehouse

STALE_SECONDS = 600.0
RENEW_SECONDS = 60.0
_CONFLICT = re.compile(r"CONCURRENT|Concurrent\w*Exception|ProtocolChanged|METADATA_CHANGED")


@contextmanager
def lease(warehouse: Warehouse, audit_id: str, *, folder: str | None = None) -> Iterator[None]:
    """Hold the audit's lease while the block runs.

    `folder`: `scoring.journal`, which a warehouse that is no folder needs; heartbeats are in
    `_leases` there, else inside the warehouse. Raises InputError naming the holder where
    another run has the lease.
    """
    beats = _folder(warehouse, folder)
    beats.mkdir(parents=True, exist_ok=True)
    token = uuid.uuid4().hex
    beat = beats / f"{audit_id}.{token}"
    beat.touch()  # before the row: a row without a fresh file is a lease that is over
    try:
        _sweep(beats, audit_id, token, _take(warehouse, audit_id, token, beats))
        ended = threading.Event()
        renewing = threading.Thread(target=_renew, args=(beat, ended), daemon=True)
        renewing.start()
        try:
            yield
        finally:
            ended.set()
            renewing.join()
    finally:
        beat.unlink(missing_ok=True)


def _folder(warehouse: Warehouse, given: str | None) -> Path:
    if given:
        return Path(given).expanduser().resolve() / "_leases"
    if not warehouse.is_folder:
        raise InputError(
            f"warehouse {warehouse.root}",
            "is no folder, so a lease's heartbeat has no place",
            "Set scoring.journal to a folder that every run shares.",
        )
    return Path(warehouse.root, "_leases")


def _take(warehouse: Warehouse, audit_id: str, token: str, beats: Path) -> set[str]:
    """Take the lease; the tokens of everybody who had it before. InputError where it is held."""
    newest = max(_owners(warehouse, audit_id), default=None, key=_epoch)
    if newest is not None and _alive(newest[1], audit_id, beats):
        raise _held(audit_id, newest[1], beats)
    epoch = 1 if newest is None else newest[0] + 1
    now = datetime.now(UTC)
    owner = {
        "token": token,
        **this_process(),
        "since": f"{now:%Y-%m-%d %H:%M} UTC",
    }
    row = {
        "audit_id": audit_id,
        "epoch": epoch,
        "owner": json.dumps(owner),
        "taken_at": now,
    }
    try:
        rows = warehouse.rows("leases", [row])
        warehouse.append("leases", rows, transaction=f"lease/{audit_id}/{epoch}")
    except Exception as error:
        if not _CONFLICT.search(str(error)):
            raise
    owners = _owners(warehouse, audit_id)
    holder = max(owners, default=None, key=_epoch)
    if holder is None or holder[1].get("token") != token:
        raise _held(audit_id, holder[1] if holder else {}, beats)
    return {str(owner.get("token")) for _, owner in owners} - {token}


def _owners(warehouse: Warehouse, audit_id: str) -> list[tuple[int, dict[str, object]]]:
    """Everybody who ever took the lease, with the epoch."""
    rows = warehouse.read("leases").where(f"audit_id = '{audit_id}'").collect()
    return [(int(row["epoch"]), json.loads(row["owner"])) for row in rows]


def _epoch(entry: tuple[int, dict[str, object]]) -> int:
    return entry[0]


def _sweep(beats: Path, audit_id: str, mine: str, over: set[str]) -> None:
    """Remove the audit's heartbeats that vouch for nobody: of tokens in `over`, or old ones.

    An old file of no token in the table is of a run that was killed before it took the lease.
    Others that are fresh stay: such a run is about to find the lease taken.
    """
    for file in beats.iterdir():
        audit, _, token = file.name.rpartition(".")
        if audit != audit_id or token == mine:
            continue
        try:
            if token in over or time.time() - file.stat().st_mtime > STALE_SECONDS:
                file.unlink(missing_ok=True)
        except OSError:  # gone meanwhile, or not ours to remove: a file too many does no harm
            continue


def _alive(owner: dict[str, object], audit_id: str, beats: Path) -> bool:
    """Whether the holder's heartbeat is fresh and its process not known to be gone."""
    try:
        age = time.time() - (beats / f"{audit_id}.{owner.get('token')}").stat().st_mtime
    except FileNotFoundError:
        return False
    if age > STALE_SECONDS:
        return False
    return not is_gone(owner)


def _held(audit_id: str, owner: dict[str, object], beats: Path) -> InputError:
    file = beats / f"{audit_id}.{owner.get('token')}"
    return InputError(
        f"audit {audit_id}",
        f"is being run by process {owner.get('process')} on {owner.get('host')} "
        f"since {owner.get('since')}",
        "Wait until it ends. If that process is gone, try again in ten minutes, or delete "
        f"{file} and try at once.",
    )


def _renew(beat: Path, ended: threading.Event) -> None:
    while not ended.wait(RENEW_SECONDS):
        try:
            beat.touch()
        except OSError:  # a file system that is away for a moment: the next beat counts
            continue
