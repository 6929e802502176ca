"""Where the overlap rule draws its line: ladders of designs from good overlap to none.

Run: make calibrate-overlap, or
    python tests/bench/overlap_rule.py [--reps 400] [--n 2000 6000] [--samples FILE.npz]
Per sample and effect: the least effective n, the largest unit share and the largest share clipped
of the weight sets that the effect stands on, and whether the 95% interval covers the truth.
The table, below what is written by hand in overlap_rule.txt: coverage by bands of each of the
three where the rule's other parts hold; and what candidates of the rule let through, how well that
covers, and what they refuse without need.
Samples are not those of path_study.py. --samples keeps their numbers, and reads them where it
exists.
"""

from __future__ import annotations

import argparse
import itertools
import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np
from path_batch import USED, Batch
from path_table import below
from scipy.special import ndtri

from fairscreen.estimators.path_specific import PathOptions
from fairscreen.estimators.results import EFFECTS
from path_designs import A, Design, bernoulli, office, rough

STUDY = "overlap-1"
OTHER = (0.2, 0.1, 0.06, 0.04, 0.03, 0.02, 0.012, 0.008, 0.005, 0.002)
RULE = PathOptions()
BARS = {2000: (0.93, 1.0), 6000: (0.935, 0.975)}
ENOUGH = 0.95


def ladders() -> Iterator[Design]:
    """Each family weakens the overlap in its own way, the last rungs hopelessly."""
    for other in OTHER:
        own = 0.8 - other
        yield office(f"names {other:g}", own=own, other=other)
        yield office(f"names, effects that differ {other:g}", own=own, other=other, interact=1.5)
        yield rough(f"names, rough {other:g}", own=own, other=other)
        yield bernoulli(f"names, yes or no {other:g}", own=own, other=other)
    for edu in (1.0, 2.0, 3.0, 4.0, 5.0):
        yield office(f"education {edu:g}", edu=edu)
    for confounded in (0.5, 1.0, 1.5, 2.0, 3.0, 4.0):
        yield office(f"P(X|Z) {confounded:g}", confounded=confounded)
    for men in (0.3, 0.14, 0.07, 0.03, 0.015):
        odds = float(np.log(men / (1 - men)))
        yield office(f"share of x1 {men:g}", odds=odds)
        yield office(f"share of x0 {men:g}", odds=-odds)


@dataclass(frozen=True, eq=False)
class Cell:
    """Samples of one design, n and effect: inside (S,), and the worst of each measure (S,)."""

    design: str
    n: int
    effect: str
    inside: A
    effective: A
    share: A
    clipped: A
    low: A
    off: A  # (estimate - truth) / error

    def stacked(self) -> A:
        """(6, S): the arrays, in the order of the fields."""
        rows = (self.inside, self.effective, self.share, self.clipped, self.low, self.off)
        return np.stack(rows).astype(float)

    def passing(self, rule: tuple[float, float, float]) -> A:
        least, share, clipped = rule
        through = (self.effective >= least) & (self.share <= share) & (self.clipped <= clipped)
        return through & (self.low == 0)


def cells(n: int, reps: int) -> Iterator[Cell]:
    for design in ladders():
        batch, parts = Batch(design), []
        for first in range(0, reps, 20):
            got = batch(design.samples(n, range(first, min(first + 20, reps)), STUDY))
            parts.append((got.estimate, got.error, got.overlap))
        estimate, error, overlap = (np.concatenate(p) for p in zip(*parts, strict=True))
        off = (estimate - design.truth()) / error
        for j, effect in enumerate(EFFECTS):
            used = overlap[:, list(USED[effect])]
            yield Cell(
                design.name, n, effect, np.abs(off[:, j]) <= ndtri(0.975),
                used[:, :, 0].min(axis=1), used[:, :, 1].max(axis=1), used[:, :, 2].max(axis=1),
                used[:, :, 3].max(axis=1), off[:, j],
            )  # fmt: skip


BANDS = {
    "effective": (0, 10, 15, 20, 25, 30, 40, 50, 75, 100, 200, np.inf),
    "share": (0, 0.02, 0.04, 0.06, 0.08, 0.1, 0.12, 0.15, 0.2, 1.01),
    "clipped": (0, 1e-9, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 1.01),
    "low": (0, 0.5, 1.01),
}


def by_measure(found: list[Cell], sizes: list[int]) -> Iterator[str]:
    """Coverage and (standard deviation of the estimate) / (its error) by bands of one measure,
    where the others pass. Of effective n and the share of one person, which say nearly the same,
    neither is asked to pass for the other."""
    found = [c for c in found if c.effect != "TE"]
    for name, edges in BANDS.items():
        least, share, clipped, low = RULE.min_effective_n, RULE.max_unit_share, None, None
        if name in ("effective", "share"):
            least, share = 0.0, 1.0
        if name != "clipped":
            clipped = RULE.max_clipped_share
        if name != "low":
            low = 0
        yield f"{name:<12}" + "".join(f"{f'n = {n}':>10}{'sd/se':>7}{'samples':>9}" for n in sizes)
        for start, end in itertools.pairwise(edges):
            line = f"{f'{start:g} to {end:g}':<12}"
            for n in sizes:
                parts = []
                for c in found:
                    value = getattr(c, name)
                    keep = (value >= start) & (value < end) & (c.effective >= least)
                    keep &= c.share <= share
                    keep &= True if clipped is None else c.clipped <= clipped
                    keep &= True if low is None else c.low == low
                    if c.n == n:
                        parts.append((c.inside[keep], c.off[keep]))
                inside, off = (np.concatenate(p) for p in zip(*parts, strict=True))
                some = len(inside) > 1
                line += f"{inside.mean():>10.1%}{off.std():>7.2f}" if some else f"{'':>17}"
                line += f"{len(inside):>9}"
            yield line
        yield ""


def judged(found: list[Cell], n: int, rule: tuple[float, float, float]) -> str:
    """What a rule does at one n."""
    low, high = BARS[n]
    mine = [c for c in found if c.n == n]
    through = [c.passing(rule) for c in mine]
    pooled = np.concatenate([c.inside[t] for c, t in zip(mine, through, strict=True)])
    # Beside the line: designs of which the rule lets some through and refuses some.
    edge = [c.inside[t] for c, t in zip(mine, through, strict=True) if 0.05 < t.mean() < ENOUGH]
    most = [
        (c.inside[t].mean(), c)
        for c, t in zip(mine, through, strict=True) if t.mean() >= ENOUGH
    ]  # fmt: skip
    missed = [(v, c) for v, c in most if not low <= v <= high]
    worst, cell = min(most, key=lambda v: v[0])
    refused = np.mean([1 - t.mean() for t in through])
    # Without need: refused of designs whose intervals hold, whatever the overlap.
    fine = [low <= c.inside.mean() <= high for c in mine]
    needless = np.mean([1 - t.mean() for t, ok in zip(through, fine, strict=True) if ok])
    at_edge = f"{np.concatenate(edge).mean():7.1%}" if edge else f"{'':7}"
    least, share, clipped = rule
    return (
        f"{n:>6}{least:>6g}{share:>7.0%}{clipped:>7.1%}{pooled.mean():>9.1%}{at_edge:>9}"
        f"{len(missed):>4} of{len(most):>4}{worst:>8.1%}  {f'{cell.design}, {cell.effect}':<36}"
        f"{refused:>8.1%}{needless:>10.1%}"
    )


RULES = [
    (0, 1.0, 1.0),
    *((least, 1.0, 1.0) for least in (10, 20, 30, 50, 100)),
    *((0, share, 1.0) for share in (0.2, 0.15, 0.1, 0.05)),
    *((0, 1.0, clipped) for clipped in (0.1, 0.02, 0.01, 0.001)),
    *((least, 0.15, 0.01) for least in (20, 25, 30)),
    *((least, 0.1, 0.01) for least in (20, 25, 30, 40, 50)),
    *((30, 0.1, clipped) for clipped in (0.05, 0.02, 0.005)),
    *((30, share, 0.01) for share in (0.2, 0.07, 0.05)),
]


def kept(file: Path | None, sizes: list[int], reps: int) -> list[Cell]:
    """The samples' numbers, from the file where it exists."""
    if file is not None and file.exists():
        with np.load(file) as stored:
            return [_cell(key, stored[key]) for key in stored]
    found = [c for n in sizes for c in cells(n, reps)]
    if file is not None:
        np.savez_compressed(file, **{f"{c.design}|{c.n}|{c.effect}": c.stacked() for c in found})
    return found


def _cell(key: str, numbers: A) -> Cell:
    design, n, effect = key.rsplit("|", 2)
    return Cell(design, int(n), effect, numbers[0] == 1, *numbers[1:])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--reps", type=int, default=400)
    parser.add_argument("--n", type=int, nargs="+", default=list(BARS), choices=list(BARS))
    parser.add_argument("--samples", type=Path, help="an .npz file for the samples' numbers")
    parser.add_argument("--out", type=Path, default=Path(__file__).with_suffix(".txt"))
    given = parser.parse_args()
    found = kept(given.samples, given.n, given.reps)
    designs = {c.design for c in found}
    lines = [
        f"{datetime.now():%Y-%m-%d %H:%M}, load {os.getloadavg()[0]:.1f}: {len(designs)} designs, "
        f"{len(found[0].inside)} samples each",
        "",
        *by_measure(found, given.n),
        f"{'n':>6}{'eff.':>6}{'share':>7}{'clip':>7}{'passing':>9}{'at edge':>9}{'missed':>11}"
        f"{'worst':>8}  {'where':<36}{'refused':>8}{'needless':>10}",
        *(judged(found, n, rule) for rule in RULES for n in given.n),
    ]
    below(given.out, "\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
