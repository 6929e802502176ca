"""Applicants and resumes per second per core, at several sizes of one audit.

What is timed is what an audit does: applicants drawn and written, resumes rendered and written
(contents and documents), into Delta tables on local disk. The fit of the generator does not
depend on N and is timed apart. The named reference of the ratio is the same code at the smallest
size, in the same run: rows per second must not fall.

    python tests/bench/population_rate.py --n 100000 1000000 --out tests/bench/population_rate.txt
"""

from __future__ import annotations

import argparse
import os
import platform
import tempfile
import time
from collections.abc import Callable, Sequence
from datetime import date
from functools import partial
from pathlib import Path
from typing import Any

from pyspark.sql import functions as sf

from fairscreen import config, resources
from fairscreen.population import build
from fairscreen.session import get_session
from fairscreen.stations import ingest, render
from fairscreen.stations.common import Run, StationResult
from fairscreen.tables import Warehouse

BRONZE = {
    "acs": "acs_person", "psid": "psid_person", "ssa": "ssa_name", "surnames": "census_surname",
}  # fmt: skip


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--n", type=int, nargs="+", default=[100_000, 1_000_000])
    parser.add_argument("--cores", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--out", type=Path)
    args = parser.parse_args(argv)
    with tempfile.TemporaryDirectory() as folder:
        lines = measure(sorted(args.n), args.cores, folder)
    text = "\n".join(lines) + "\n"
    print(text)
    if args.out:
        args.out.write_text(text, encoding="utf-8")
    return 0


def measure(sizes: Sequence[int], cores: int, folder: str) -> list[str]:
    warehouse = Warehouse(get_session(cores=cores), folder)
    demo = resources.path("conf", "audits", "demo.yml")
    bronze = ingest.run(warehouse, config.load(demo).sources)
    source = {
        kind: warehouse.read(table).where(sf.col("source_sha256").isin(*bronze.sha256[kind]))
        for kind, table in BRONZE.items()
    }
    lines = [
        f"{date.today()}, {platform.machine()}, {cores} cores, load {os.getloadavg()[0]:.1f} "
        "before the first size",
        "",
        f"{'applicants':>11} {'fit s':>7} {'draw s':>7} {'per s, core':>12} "
        f"{'render s':>9} {'per s, core':>12} {'load':>5}",
    ]
    rates: list[tuple[float, float]] = []
    for n in [sizes[0] // 10, *sizes]:  # the first one warms the JVM up and is not shown
        cfg = config.load(demo, [f"audit_id=rate{n}", f"population.n_per_job={n // 5}"])
        run = Run(cfg, warehouse)
        fit_s, fitted = timed(partial(build.fit_generator, *source.values(), cfg))
        drawn = build.applicants(fitted.included, fitted.generator, cfg, fitted.vintage)
        draw_s, _ = timed(partial(warehouse.replace, "applicants", drawn, where=run.mine))
        plan = StationResult("applicants", f"rate{n}", draw_s, False, {})
        render_s, result = timed(partial(render.run, run, plan))
        if result.detail["rows"] != n:
            raise RuntimeError(f"{result.detail['rows']} documents of {n} applicants")
        if n < sizes[0]:
            continue
        rates.append((n / draw_s / cores, n / render_s / cores))
        lines.append(
            f"{n:>11,} {fit_s:>7.1f} {draw_s:>7.1f} {rates[-1][0]:>12,.0f} "
            f"{render_s:>9.1f} {rates[-1][1]:>12,.0f} {os.getloadavg()[0]:>5.1f}"
        )
    draw, resumes = (rates[-1][k] / rates[0][k] for k in (0, 1))
    lines += [
        "",
        f"rows per second at {sizes[-1]:,} over those at {sizes[0]:,}: "
        f"applicants {draw:.2f}, resumes {resumes:.2f}",
    ]
    return lines


def timed(work: Callable[[], Any]) -> tuple[float, Any]:
    began = time.perf_counter()
    result = work()
    return time.perf_counter() - began, result


if __name__ == "__main__":
    raise SystemExit(main())
