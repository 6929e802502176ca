"""Speed of `ingest acs` beside DuckDB's `read_csv` of the same columns, in one run.

    python tests/bench/acs_ingest.py [FOLDER] [--rows N] [--rounds N] [--keep FOLDER]

FOLDER holds ACS person zips (default: the two that ship). They are copied until N rows are there,
every copy with SERIALNOs of its own, because an ingest skips content that it has seen. Ours reads
the zips into Delta, with every check; DuckDB reads the same files unzipped into one Parquet file,
once with types guessed (`read_csv('*.csv')`) and once with all 286 columns declared, which saves it
the look at every file. Start-up counts on neither side. `ratio` is DuckDB's time over ours, of the
best round; processor time tells more where the machine has other work. What was measured is kept
beside this file in acs_ingest.txt.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import platform
import tempfile
import time
import zipfile
from collections.abc import Callable
from datetime import date
from pathlib import Path

import duckdb
import psutil
import pyarrow
import pyspark

from fairscreen import resources
from fairscreen.session import get_session
from fairscreen.sources.acs_pums import ingest_acs
from fairscreen.tables import Warehouse

WEIGHTS = ["PWGTP", *(f"PWGTP{r}" for r in range(1, 81))]
TEXT = ["SERIALNO", "SPORDER", "ST", "PUMA", "SEX", "RAC1P", "HISP", "SCHL", "ESR", "OCCP", "RELP"]


def person_files(folder: Path | None) -> list[Path]:
    if folder is None:
        return [resources.resolve(f"bundled:acs_2018_csv_p{s}.zip") for s in ("wy", "vt")]
    return sorted(folder.glob("csv_p*.zip"))


def copies(originals: list[Path], rows: int, target: Path) -> list[Path]:
    """Zips of at least `rows` people in all: households numbered anew in every copy."""
    texts = []
    for path in originals:
        with zipfile.ZipFile(path) as bundle:
            member = next(n for n in bundle.namelist() if n.endswith(".csv"))
            texts.append((path.stem, member, bundle.read(member).decode().splitlines()))
    made: list[Path] = []
    done = 0
    while done < rows:
        stem, member, lines = texts[len(made) % len(texts)]
        households: dict[str, int] = {}
        fresh = [lines[0]]
        for line in lines[1:]:
            kind, serial, rest = line.split(",", 2)
            number = households.setdefault(serial, len(households)) + 100_000 * len(made)
            fresh.append(f"{kind},{serial[:6]}{number % 10**7:07d},{rest}")
        made.append(target / f"{stem}_{len(made):03d}.zip")
        with zipfile.ZipFile(made[-1], "w", zipfile.ZIP_DEFLATED) as bundle:
            bundle.writestr(member, "\n".join(fresh) + "\n")
        done += len(lines) - 1
    return made


def processor_seconds() -> float:
    """Processor time of this process and all below it: Spark's JVM and its Python workers."""
    me = psutil.Process()
    total = 0.0
    for process in (me, *me.children(recursive=True)):
        with contextlib.suppress(psutil.Error):
            used = process.cpu_times()
            total += used.user + used.system + used.children_user + used.children_system
    return total


def timed(work: Callable[[], int]) -> tuple[float, float, float, int]:
    """Seconds, processor seconds, machine load before, rows."""
    load, before, start = os.getloadavg()[0], processor_seconds(), time.perf_counter()
    rows = work()
    return time.perf_counter() - start, processor_seconds() - before, load, rows


class Ours:
    """`ingest_acs` into a fresh Delta table, in a session that has ingested before."""

    def __init__(self, zips: list[Path], work: Path) -> None:
        self.spark, self.zips, self.work = get_session(), zips, work
        ingest_acs(Warehouse(self.spark, str(work / "warm")), zips[:4])

    def run(self, number: int) -> tuple[float, float, float, int]:
        warehouse = Warehouse(self.spark, str(self.work / f"warehouse{number}"))
        warehouse.ensure("acs_person")
        warehouse.ensure("source_file")
        return timed(lambda: ingest_acs(warehouse, self.zips).rows)


class Duck:
    """The same columns of the unzipped files into one Parquet file, on as many threads."""

    def __init__(self, zips: list[Path], work: Path) -> None:
        self.work, self.plain = work, work / "plain"
        self.plain.mkdir()
        for path in zips:
            with zipfile.ZipFile(path) as bundle:
                content = bundle.read(bundle.namelist()[0])
            (self.plain / f"{path.stem}.csv").write_bytes(content)
        self.header = content[: content.index(b"\n")].decode().split(",")

    def run(self, how: str) -> tuple[float, float, float, int]:
        types = {**dict.fromkeys(TEXT, "VARCHAR"), **dict.fromkeys(["AGEP", *WEIGHTS], "INTEGER")}
        declared = {c: types.get(c.upper(), "VARCHAR") for c in self.header}
        options = {
            "guessed": "",
            "declared": f", header = true, auto_detect = false, delim = ',', columns = {declared}",
        }
        source = f"read_csv('{self.plain}/*.csv'{options[how]})"
        target = f"{self.work}/duck.parquet"
        engine = duckdb.connect()
        engine.execute("SET threads = 2")
        copy = f"COPY (SELECT {', '.join(types)} FROM {source}) TO '{target}' (FORMAT parquet)"
        return timed(lambda: int(engine.execute(copy).fetchall()[0][0]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", nargs="?", type=Path, help="ACS person zips")
    parser.add_argument("--rows", type=int, default=500_000)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--keep", type=Path, help="make the copies here once, and keep them")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        work = Path(temporary)
        folder = args.keep or work / "zips"
        folder.mkdir(exist_ok=True)
        zips = sorted(folder.glob("*.zip")) or copies(person_files(args.folder), args.rows, folder)
        duck, ingest = Duck(zips, work), Ours(zips, work)
        runs: dict[str, list[tuple[float, float, float, int]]] = {}
        for number in range(args.rounds):
            runs.setdefault("DuckDB, types guessed", []).append(duck.run("guessed"))
            runs.setdefault("DuckDB, all columns declared", []).append(duck.run("declared"))
            runs.setdefault("fairscreen", []).append(ingest.run(number))
        ingest.spark.stop()
    rows = {run[3] for found in runs.values() for run in found}
    if len(rows) != 1:
        raise SystemExit(f"rows differ: {rows}")
    print(
        f"{date.today()}  Python {platform.python_version()}, pyspark {pyspark.__version__}, "
        f"pyarrow {pyarrow.__version__}, duckdb {duckdb.__version__}, {os.cpu_count()} cores; "
        f"{len(zips)} zips, {rows.pop():,} rows, {args.rounds} rounds in turn"
    )
    print(f"{'':30} {'best s':>7} {'processor s':>12} {'ratio':>6} {'(processor)':>12}  loads")
    best = {name: min(found) for name, found in runs.items()}
    seconds, processor = best["fairscreen"][:2]
    for name, found in runs.items():
        loads = ", ".join(f"{run[2]:.1f}" for run in found)
        print(
            f"{name:30} {best[name][0]:7.1f} {best[name][1]:12.1f} {best[name][0] / seconds:6.2f} "
            f"{best[name][1] / processor:12.2f}  {loads}"
        )


if __name__ == "__main__":
    main()
