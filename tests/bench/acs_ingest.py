"""Speed of `ingest acs` beside DuckDB's `read_csv` of the same columns, in one run.

    python tests/bench/acs_ingest.py [FOLDER] [--rows N] [--keep FOLDER]

FOLDER holds ACS person zips (default: the two that ship). They are copied until N rows are there,
every copy with SERIALNOs of its own, because an ingest skips content that it has seen. Ours reads
the zips into Delta, with every check; DuckDB reads the same files unzipped into one Parquet file.
Start-up counts on neither side: a first small ingest warms the session. Figures that were
measured are kept beside this file in acs_ingest.txt.
"""

from __future__ import annotations

import argparse
import os
import platform
import shutil
import sys
import tempfile
import time
import zipfile
from datetime import date
from pathlib import Path

from fairscreen import resources

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


def ours(zips: list[Path], work: Path) -> tuple[float, int]:
    from fairscreen.session import get_session
    from fairscreen.sources.acs_pums import ingest_acs
    from fairscreen.tables import Warehouse

    spark = get_session()
    ingest_acs(Warehouse(spark, str(work / "warm")), zips[:1])
    warehouse = Warehouse(spark, str(work / "warehouse"))
    warehouse.ensure("acs_person")
    warehouse.ensure("source_file")
    start = time.perf_counter()
    done = ingest_acs(warehouse, zips)
    return time.perf_counter() - start, done.rows


def duckdb(zips: list[Path], work: Path) -> tuple[float, int]:
    import duckdb

    plain = work / "plain"
    plain.mkdir()
    for path in zips:
        with zipfile.ZipFile(path) as bundle:
            name = bundle.namelist()[0]
            (plain / f"{path.stem}.csv").write_bytes(bundle.read(name))
    engine = duckdb.connect()
    engine.execute("SET threads = 2")
    types = {**dict.fromkeys(TEXT, "VARCHAR"), **dict.fromkeys(["AGEP", *WEIGHTS], "INTEGER")}
    read = f"read_csv('{plain}/*.csv', header = true, types = {types})"
    engine.execute(f"SELECT count(*) FROM {read} LIMIT 1") if len(zips) == 1 else None
    columns = ", ".join(types)
    start = time.perf_counter()
    engine.execute(f"COPY (SELECT {columns} FROM {read}) TO '{work}/duck.parquet' (FORMAT parquet)")
    seconds = time.perf_counter() - start
    rows = engine.execute(f"SELECT count(*) FROM '{work}/duck.parquet'").fetchone()
    assert rows is not None
    return seconds, int(rows[0])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", nargs="?", type=Path, help="ACS person zips")
    parser.add_argument("--rows", type=int, default=500_000)
    parser.add_argument("--keep", type=Path, help="make the copies here once, and keep them")
    args = parser.parse_args()
    import duckdb as engine
    import pyarrow
    import pyspark

    with tempfile.TemporaryDirectory() as temporary:
        work = Path(temporary)
        folder = args.keep or work / "zips"
        folder.mkdir(exist_ok=True)
        zips = sorted(folder.glob("*.zip")) or copies(person_files(args.folder), args.rows, folder)
        load = os.getloadavg()[0]
        duck, rows = duckdb(zips, work)
        shutil.rmtree(work / "plain")
        between = os.getloadavg()[0]
        spark, same = ours(zips, work)
        assert rows == same, (rows, same)
    print(
        f"{date.today()}  Python {platform.python_version()}, pyspark {pyspark.__version__}, "
        f"pyarrow {pyarrow.__version__}, duckdb {engine.__version__}, {os.cpu_count()} cores\n"
        f"{len(zips)} zips, {rows:,} rows: DuckDB {duck:.1f} s (machine load {load:.1f}), "
        f"fairscreen {spark:.1f} s (machine load {between:.1f}), ratio {duck / spark:.2f}"
    )
    sys.exit(0)


if __name__ == "__main__":
    main()
