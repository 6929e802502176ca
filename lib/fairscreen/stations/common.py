"""What every station shares: the run it belongs to, and the ledger that lets it be skipped.

A station's fingerprint is a hash of the settings and inputs that it depends on. Where the ledger
holds the same one, the station's rows are there already and are kept: so an audit that is run
again does no work twice, and another estimator option renders and asks nothing again.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Generic, TypeVar

from pyspark.sql import functions as sf

from fairscreen import __version__
from fairscreen.progress import say
from fairscreen.settings.audit import AuditConfig
from fairscreen.tables import Warehouse

C = TypeVar("C", bound=AuditConfig, covariant=True)


@dataclass(frozen=True)
class Run(Generic[C]):
    """One run of one audit. `command`: what to type to run it again, for the report."""

    cfg: C
    warehouse: Warehouse
    command: str | None = None

    @property
    def mine(self) -> str:
        """SQL condition of this audit's rows (an audit id is a slug: nothing to escape)."""
        return f"audit_id = '{self.cfg.audit_id}'"


@dataclass(frozen=True)
class StationResult:
    """What a station did: seconds, whether its rows were kept, and counts and facts."""

    station: str
    fingerprint: str
    seconds: float
    kept: bool
    detail: dict[str, Any]


@dataclass(frozen=True)
class Begun:
    """An audit whose sources are read: its run, and its stations in order, each given what those
    before it did, by name."""

    run: Run[AuditConfig]
    stations: Mapping[str, Callable[[Mapping[str, StationResult]], StationResult]]


def fingerprint(*parts: Any) -> str:
    """Hash of anything that JSON can hold, and of the package's version."""
    text = json.dumps([__version__, *parts], sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:32]


#: Of every design, in order; a design may lack one.
STATIONS = ("applicants", "render", "score", "estimate", "report")


def run_station(
    run: Run[AuditConfig],
    station: str,
    mark: str,
    work: Callable[[], dict[str, Any]],
    *,
    force: bool = False,
) -> StationResult:
    """Do `work` and record it, unless the ledger holds this fingerprint for the station.

    Before the work, what the ledger says of this station and of all after it is struck out: a run
    that dies half-way must not leave an entry that vouches for rows it has replaced.
    force: work although nothing changed (a file that the work leaves behind was deleted).
    """
    began = time.monotonic()
    ledger = run.warehouse.read("station_runs").where(sf.col("audit_id") == run.cfg.audit_id)
    entries = {row["station"]: row for row in ledger.collect()}
    previous = entries.get(station)
    if previous and previous["fingerprint"] == mark and not force:
        say(f"{station}: unchanged since {previous['finished_at']:%Y-%m-%d %H:%M}, kept")
        detail = json.loads(previous["detail"])
        return StationResult(station, mark, time.monotonic() - began, True, detail)
    say(f"{station}: started")
    later = [name for name in STATIONS[STATIONS.index(station) :] if name in entries]
    if later:
        names = ", ".join(f"'{name}'" for name in later)
        run.warehouse.replace(
            "station_runs",
            run.warehouse.rows("station_runs", []),
            where=f"{run.mine} AND station IN ({names})",
        )
    detail = work()
    for note in detail.get("notes", []):
        say(f"{station}: note: {note}")
    record = {
        "audit_id": run.cfg.audit_id,
        "station": station,
        # A station whose work is not final (calls failed) must not be skipped next time.
        "fingerprint": mark if detail.get("final", True) else f"{mark} unfinished",
        "config_hash": run.cfg.hash(),
        "package_version": __version__,
        "detail": json.dumps(detail, sort_keys=True, default=str),
        "finished_at": datetime.now(UTC),
    }
    run.warehouse.replace(
        "station_runs",
        run.warehouse.rows("station_runs", [record]),
        where=f"{run.mine} AND station = '{station}'",
    )
    seconds = time.monotonic() - began
    say(f"{station}: done in {seconds:.0f} s")
    return StationResult(station, mark, seconds, False, detail)
