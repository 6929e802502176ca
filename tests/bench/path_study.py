"""How well the path-specific intervals hold: designs with a known truth, thousands of samples.

Run: make study-paths, or
    python tests/bench/path_study.py coverage [--designs null rough] [--n 2000] [--reps 4000]
    python tests/bench/path_study.py linear | stack | causes | samplings [--reps 400]
    python tests/bench/path_study.py table
Finished blocks (a design and an n; a sample where samples are slow) are appended to --log and not
made again; `table` writes path_study.txt from it, below what is written there by hand. Samples are
seeded by (design, n, repetition).
`coverage` uses the saturated learner on counted samples (path_batch.py); the first samples of
each block are held against `path_effects`. `linear` and `stack` are `path_effects` itself.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import sys
import time
from collections.abc import Iterable
from datetime import datetime
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np
import path_samplings
from path_batch import PROPENSITIES, Batch, Estimated, true_nuisances
from path_table import below, summarised, table

from fairscreen.estimators.data import PathData
from fairscreen.estimators.path_specific import FLAG_SHARE, PathOptions, path_effects
from fairscreen.estimators.results import PathResult
from path_designs import DESIGNS, A, Counted, Design, Linear, rng_of

STUDY = "study-1"  # other studies (the calibration of the overlap rule) draw other samples
SIZES = (400, 2000, 6000, 17000)
SATURATED = PathOptions(learner="saturated", bootstrap_draws=0, sensitivity_clips=())
STACK = PathOptions(learner="stack", bootstrap_draws=0, sensitivity_clips=())
CHECKED = 2  # samples of a block that path_effects sees, too
PARTS = ("coverage", "linear", "stack", "causes", "samplings", "table")
# Designs whose intervals are too narrow or too wide, and what is put in place of what is fitted.
EXPLAINED = ("rough", "interaction", "linear")
FITTED = ("fitted", "true propensities", "true regressions")
# (design, n) of the default stack: one discrete, one smooth linear.
STACKED = (("coarsened", 2000), ("linear_continuous", 2000))


def batch_size(design: Design) -> int:
    """Samples at once: as many as the processor's cache likes."""
    return max(2, 12_000 // design.grouped(design.law[0]).size)


def numbers(result: PathResult, data: PathData) -> tuple[A, A, A]:
    """Estimates, errors, whether let through (5,), whatever the overlap rule says."""
    if result.influence is None or result.c is None or result.covariance is None:
        raise RuntimeError(result.summary())
    phi = result.influence * data.n[:, None] + result.c * data.sum_y[:, None]
    ok = [e.status != "not_computable" for e in result.effects.values()]
    return phi.sum(axis=0) / data.n.sum(), np.sqrt(np.diag(result.covariance)), np.array(ok)


def check(design: Design, drawn: Counted, got: Estimated) -> None:
    """The batch's first samples are what the library finds."""
    ok = got.passing(SATURATED)
    for s in range(min(CHECKED, len(drawn.n))):
        data = design.cells(Counted(drawn.n[s], drawn.y[s], drawn.yy[s]))
        result = path_effects(data, SATURATED)
        estimate, error, through = numbers(result, data)
        np.testing.assert_allclose(got.error[s], error, rtol=1e-6)
        np.testing.assert_allclose(got.estimate[s], estimate, atol=1e-6 * error.max())
        if not (ok[s] == through).all():
            raise AssertionError(f"{design.name}: {result.summary()}")


def coverage(design: Design, n: int, reps: int, folder: Path) -> dict[str, Any]:
    """One block: `reps` samples of n people; their numbers go to a file of `folder`."""
    batch, parts = Batch(design), []
    size = batch_size(design)
    for first in range(0, reps, size):
        drawn = design.samples(n, range(first, min(first + size, reps)), STUDY)
        got = batch(drawn)
        if first == 0:
            check(design, drawn, got)
        flagged = np.abs(got.moved) > FLAG_SHARE * got.error
        parts.append((got.estimate, got.error, got.passing(SATURATED), flagged, got.overlap))
    estimate, error, ok, flagged, overlap = (np.concatenate(p) for p in zip(*parts, strict=True))
    np.savez(
        folder / f"{design.name}-{n}.npz", estimate=estimate, error=error, ok=ok, overlap=overlap
    )
    return {
        "rows": summarised(design.truth(), estimate, error, ok, flagged),
        "raw": design.raw_truth().tolist() if design.coarse_r is not None else None,
    }


def causes(name: str, n: int, nuisances: str, reps: int) -> dict[str, Any]:
    """A block with some nuisances given, to find out what an interval suffers from."""
    design, parts = DESIGNS[name](), []
    true = true_nuisances(design)
    names = {
        "fitted": (),
        "true propensities": PROPENSITIES,
        "true regressions": tuple(k for k in true if k not in PROPENSITIES),
    }[nuisances]
    batch, size = Batch(design), batch_size(design)
    for first in range(0, reps, size):
        drawn = design.samples(n, range(first, min(first + size, reps)), STUDY)
        got = batch(drawn, {k: true[k] for k in names})
        parts.append((got.estimate, got.error, got.passing(SATURATED)))
    estimate, error, ok = (np.concatenate(p) for p in zip(*parts, strict=True))
    return {"rows": summarised(design.truth(), estimate, error, ok, 0 * ok)}


def slow(name: str, n: int, rep: int, options: PathOptions) -> dict[str, Any]:
    """One sample of a design through path_effects."""
    design, rng = DESIGNS[name](), rng_of(name, n, rep, STUDY)
    data = (
        design.rows(n, rng) if isinstance(design, Linear) else design.cells(design.sample(n, rng))
    )
    estimate, error, ok = numbers(path_effects(data, options), data)
    return {"estimate": estimate.tolist(), "error": error.tolist(), "ok": ok.tolist()}


def samplings(sampling: str, n: int, reps: int) -> dict[str, Any]:
    """One way to spend n requests."""
    people: float = n
    if sampling.startswith("rescoring"):
        scorer = sampling.split()[1]
        estimate, error, people = path_samplings.rescoring(scorer, n, range(reps), STUDY)
        ok = np.ones_like(estimate)
    else:
        estimate, error, ok = path_samplings.observational(sampling, n, range(reps), STUDY)
    truth = path_samplings.truth()
    return {"rows": summarised(truth, estimate, error, ok, 0 * ok), "people": people}


class Log:
    """Finished blocks, one JSON line each."""

    def __init__(self, file: Path) -> None:
        self.file = file
        file.parent.mkdir(parents=True, exist_ok=True)
        lines = file.read_text().splitlines() if file.exists() else []
        self.blocks: list[dict[str, Any]] = [json.loads(line) for line in lines]

    def has(self, **key: Any) -> bool:
        return any(all(b.get(k) == v for k, v in key.items()) for b in self.blocks)

    def add(self, found: dict[str, Any], seconds: float, **key: Any) -> None:
        load = os.getloadavg()[0]
        when = f"{datetime.now():%Y-%m-%d %H:%M}"
        block = {**key, **found, "seconds": seconds, "load": load, "when": when}
        with self.file.open("a") as out:
            out.write(json.dumps(block) + "\n")
        print(when, *key.values(), f"{seconds:.1f} s, load {load:.1f}", flush=True)


def jobs(given: argparse.Namespace) -> Iterable[tuple[dict[str, Any], Any]]:
    """What is to be done: the key of a block, and what makes it."""
    reps = given.reps
    if given.part == "coverage":
        for n in given.n or SIZES:
            for name in given.designs or DESIGNS:
                design = DESIGNS[name]()
                if isinstance(design, Design):
                    key = {"part": "coverage", "design": name, "n": n, "reps": reps or 4000}
                    yield (
                        key,
                        lambda d=design, k=key: coverage(d, k["n"], k["reps"], given.log.parent),
                    )
    elif given.part in ("linear", "stack"):
        pairs = [("linear_continuous", n) for n in given.n or SIZES]
        pairs = list(STACKED) if given.part == "stack" else pairs
        options = STACK if given.part == "stack" else SATURATED
        for name, n in pairs:
            if given.designs and name not in given.designs:
                continue
            for rep in range(reps or 400):
                key = {"part": given.part, "design": name, "n": n, "rep": rep}
                yield key, lambda k=key: slow(k["design"], k["n"], k["rep"], options)
    elif given.part == "causes":
        for name, nuisances in itertools.product(given.designs or EXPLAINED, FITTED):
            for n in given.n or [6000]:
                key = {"part": "causes", "design": name, "n": n, "nuisances": nuisances}
                key |= {"reps": reps or 1000}
                yield key, lambda k=key: causes(k["design"], k["n"], k["nuisances"], k["reps"])
    else:
        for n in given.n or SIZES[1:]:
            for sampling in path_samplings.SAMPLINGS:
                key = {"part": "samplings", "design": sampling, "n": n, "reps": reps or 1000}
                yield key, lambda k=key: samplings(k["design"], k["n"], k["reps"])


def main() -> None:
    here = Path(__file__).resolve()
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("part", choices=PARTS)
    parser.add_argument("--n", type=int, nargs="+")
    parser.add_argument("--reps", type=int)
    parser.add_argument("--designs", nargs="+", choices=list(DESIGNS))
    parser.add_argument("--log", type=Path, default=here.parents[2] / "var/path_study/log.jsonl")
    parser.add_argument("--out", type=Path, default=here.with_suffix(".txt"))
    given = parser.parse_args()
    log = Log(given.log)
    if given.part == "table":
        below(given.out, table(log.blocks))
        return
    for key, make in jobs(given):
        if not log.has(**key):
            start = time.perf_counter()
            log.add(make(), time.perf_counter() - start, **key)


if __name__ == "__main__":
    main()
