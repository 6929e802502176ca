"""Seconds and memory of one case of the path-specific estimator, from thousands to millions of
people of one job, with the cap on training cells and without.

Run: python tests/bench/path_scale.py [--people 17000 1000000] [--learners saturated stack]
                                      [--caps 0 50000] [--mediators grouped ungrouped] [--out FILE]
People are drawn by numpy in the demo's shape: names, cohort, surname, region, degree and years of
experience in the groups of conf/designs, three repeats of five folds. They are added up to cells
as they are drawn, as Spark would; what is timed is `path_effects` on the cells. Ungrouped: shares
of names, birth years and years of experience stand beside their bins, rounded as in conf/designs,
and hardly two people are alike; one repeat. `levels` are distinct (Z, R, B), which the cap counts.
Every line is a process of its own; `memory` is its peak beyond imports and the cells' own arrays.
The last column says how far the cap moves an effect at most, in standard errors of the uncapped
estimate.
The table of the last run is kept in path_scale.txt.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from fairscreen.estimators.data import PathData
from fairscreen.estimators.path_specific import PathOptions, path_effects
from fairscreen.estimators.results import EFFECTS

Ints = NDArray[np.int64]
# Values of race, age, first-name gender, cohort, surname, region, education, experience, x, fold.
SIZES = (3, 5, 3, 4, 4, 4, 3, 5, 2, 5, 5, 5)
CHUNK = 1_000_000


def choose(rng: np.random.Generator, table: NDArray[np.float64], row: Ints) -> Ints:
    """One value per person from the row of the table that is theirs."""
    bounds = np.cumsum(table / table.sum(axis=1, keepdims=True), axis=1)[:, :-1]
    return (rng.random(len(row))[:, None] > bounds[row]).sum(axis=1)


def people(rng: np.random.Generator, n: int) -> tuple[list[Ints], NDArray[np.float64]]:
    """Codes of n people, in the order of SIZES, and their scores."""
    x = rng.integers(0, 2, n)
    race = rng.choice(3, n, p=[0.75, 0.15, 0.10])
    age = rng.choice(5, n, p=[0.2, 0.22, 0.22, 0.2, 0.16])
    name = choose(rng, np.array([[0.90, 0.03, 0.07], [0.04, 0.88, 0.08]]), x)
    cohort = choose(rng, np.array(
        [[8, 1, 0.2, 3], [6, 3, 0.3, 3], [2, 6, 1, 4], [0.5, 5, 4, 4], [0.2, 2, 7, 4]]
    ), age)  # fmt: skip
    surname = choose(rng, np.array([[8, 0.3, 0.2, 1.5], [5, 3, 0.1, 2], [0.7, 0.1, 8, 1]]), race)
    region = rng.choice(4, n, p=[0.18, 0.21, 0.38, 0.23])
    edu = choose(rng, np.array([[1, 7, 2], [1.5, 6, 2.5]]), x)
    years = choose(rng, np.array(
        [[6, 3, 1, 0.1, 0.1], [3, 4, 2, 1, 0.1], [2, 3, 4, 2, 1], [1, 2, 4, 4, 2], [1, 1, 3, 4, 4]]
    ), age)  # fmt: skip
    y = (
        45 + 2 * x + 4 * edu + 2.5 * years - 1.0 * (name == 0) + 1.0 * (name == 1)
        + 0.5 * (cohort == 0) - 0.5 * (cohort == 2) + 1.0 * (surname == 0) - 1.0 * (surname == 1)
        + 0.5 * (region == 0) - 0.5 * (region == 2) + rng.normal(0, 3, n)
    )  # fmt: skip
    folds = [rng.integers(0, 5, n) for _ in range(3)]
    return [race, age, name, cohort, surname, region, edu, years, x, *folds], y


def cells(n: int, seed: int) -> PathData:
    """Cells of n people, counted chunk by chunk: memory does not grow with n."""
    rng, size = np.random.default_rng(seed), int(np.prod(SIZES))
    count, sums, squares = np.zeros(size, dtype=np.int32), np.zeros(size), np.zeros(size)
    for first in range(0, n, CHUNK):
        codes, y = people(rng, min(CHUNK, n - first))
        at = np.ravel_multi_index(codes, SIZES)
        count += np.bincount(at, minlength=size).astype(np.int32)
        sums += np.bincount(at, weights=y, minlength=size)
        squares += np.bincount(at, weights=y**2, minlength=size)
    some = np.flatnonzero(count)
    code = np.stack(np.unravel_index(some, SIZES), axis=1).astype(np.int64)
    return PathData(
        x=code[:, 8].astype(np.int8), z=code[:, :2], r=code[:, 2:6], b=code[:, 6:8],
        n=count[some].astype(np.int64), w=np.ones(len(some)),
        sum_y=sums[some], sum_yy=squares[some], fold=code[:, 9:],
    )  # fmt: skip


def numbers(n: int, seed: int) -> PathData:
    """Cells of n people with ungrouped mediators."""
    rng = np.random.default_rng(seed)
    (race, age, _, _, _, region, edu, years, x, fold, *_), y = people(rng, n)
    female = np.round(np.where(x == 1, rng.beta(2, 3, n), rng.beta(3, 2, n)) / 0.05)
    born = 2000 - 5 * age - rng.integers(0, 5, n) + rng.integers(-8, 9, n)
    white = np.where(race == 0, 0.8, 0.4) + rng.normal(0, 0.15, n)
    white = np.round(np.clip(white, 0, 1) / 0.05)
    black = np.round((20 - white) * rng.beta(2, 2, n))
    experience = np.minimum(rng.poisson(2 * years + 1), 20)
    y = y - 0.15 * female + 0.02 * (born - 1985) + 0.2 * experience + (white > 10)

    def bins(values: Ints, *cuts: float) -> Ints:
        return np.searchsorted(cuts, values, side="right").astype(np.int64)

    names = [bins(female, 5, 15), bins(born, 1980, 1989, 1998), bins(white, 10), bins(black, 10)]
    return PathData.from_rows(
        x=x, z=np.stack([race, age], 1), y=y, fold=fold,
        r=np.stack([region, *names], 1), r_values=np.stack([female, born, white, black], 1),
        b=np.stack([edu, bins(experience, 2, 5, 10, 15)], 1),
        b_values=experience[:, None].astype(float),
    )  # fmt: skip


def save(n: int, mediators: str, file: str) -> None:
    """Cells of n people to a file: counting them takes memory of its own."""
    data = cells(n, seed=1) if mediators == "grouped" else numbers(n, seed=1)
    names = ("x", "z", "r", "b", "n", "w", "sum_y", "sum_yy", "fold", "r_values", "b_values")
    found = {name: getattr(data, name) for name in names}
    np.savez(file, **{name: array for name, array in found.items() if array is not None})


def one(file: str, learner: str, cap: int) -> dict[str, object]:
    """One case: its cells, seconds, peak memory, effects."""
    with np.load(file) as kept:
        data = PathData(**kept)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start, cpu = time.perf_counter(), time.process_time()
    options = PathOptions(learner=learner, max_training_cells=cap or None)
    result = path_effects(data, options)
    took, used = time.perf_counter() - start, time.process_time() - cpu
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    effects = {e: (result.effects[e].estimate, result.effects[e].std_error) for e in EFFECTS}
    return {
        "cells": len(data), "levels": data.distinct_values(), "seconds": took, "cpu": used,
        "memory": (peak - before) / 1024, "peak": peak / 1024, "effects": effects,
    }  # fmt: skip


def moved(capped: dict, plain: dict | None) -> str:
    """The largest move of an effect by the cap, in standard errors."""
    if plain is None:
        return ""
    moves = [
        abs(capped["effects"][e][0] - plain["effects"][e][0]) / plain["effects"][e][1]
        for e in EFFECTS
        if plain["effects"][e][0] is not None and capped["effects"][e][0] is not None
    ]
    return f"{max(moves):.2f}" if moves else "no effect computable"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--people", nargs="+", type=int, default=[17_000, 100_000, 1_000_000,
                                                                  10_000_000])  # fmt: skip
    parser.add_argument("--learners", nargs="+", default=["saturated", "stack"])
    caps = [0, 50_000, 10_000]
    parser.add_argument("--caps", nargs="+", type=int, default=caps, help="0: none")
    parser.add_argument("--mediators", default="grouped", choices=["grouped", "ungrouped"])
    parser.add_argument("--out", type=Path)
    parser.add_argument("--one", nargs=3, help=argparse.SUPPRESS)
    parser.add_argument("--save", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        file, learner, cap = options.one
        print(json.dumps(one(file, learner, int(cap))))
        return
    if options.save:
        save(int(options.save[0]), *options.save[1:])
        return
    with tempfile.TemporaryDirectory() as folder:
        lines = table(options, Path(folder))
    if options.out:
        options.out.write_text("\n".join(lines) + "\n")


def table(options: argparse.Namespace, folder: Path) -> list[str]:
    """The lines, printed as they come; cells are kept in `folder`."""

    def run(*arguments: object) -> str:
        command = [sys.executable, __file__, *map(str, arguments)]
        return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout

    lines = [
        f"{'people':>11}{'cells':>11}{'levels':>9}{'cap':>8}  {'learner':<10}{'seconds':>9}"
        f"{'cpu s':>8}{'memory MB':>11}{'peak MB':>9}  moved by the cap (SE)"
    ]
    print(lines[0], flush=True)
    for n in options.people:
        run("--save", n, options.mediators, folder / f"{n}.npz")
    for learner in options.learners:
        for n in options.people:
            plain = None
            for cap in options.caps:
                got = json.loads(run("--one", folder / f"{n}.npz", learner, cap))
                if cap == 0:
                    plain = got
                lines.append(
                    f"{n:>11,}{got['cells']:>11,}{got['levels']:>9,}{cap or 'none':>8}  "
                    f"{learner:<10}{got['seconds']:>9.1f}{got['cpu']:>8.1f}{got['memory']:>11,.0f}"
                    f"{got['peak']:>9,.0f}  {moved(got, plain) if cap else ''}".rstrip()
                )
                print(lines[-1], flush=True)
    return lines


if __name__ == "__main__":
    main()
