"""What an estimate rests on: losses of nuisances, balance after weighting, spread of the splits.

None of these decides anything; the overlap rules do (`overlap.py`). They say where to look.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from fairscreen.estimators.data import Floats, Ints, PathData, totals
from fairscreen.estimators.functionals import SCORES, functional_means, strata_of
from fairscreen.estimators.nuisance import Nuisances
from fairscreen.estimators.results import CONTRASTS, EFFECTS, Diagnostic

# What each weight set makes alike: its people, weighted, and those of the stage before it (of the
# first stage: everybody).
_ALIKE = {
    "E1:Y": "z", "E0:Y": "z", "E_W:mu3": "z", "E_W:Y": "zrb", "E_B:mu2": "z", "E_B:mu3": "zr",
    "E_B:Y": "zrb", "E_R:mu2": "z", "E_R:Y": "zr",
}  # fmt: skip


def diagnostics(
    data: PathData, nuisances: Sequence[Nuisances], clip: float, normalize: bool
) -> tuple[Diagnostic, ...]:
    """All rows: `loss`, `skill`, `stack_weight`, `balance`, `split_sd`; see `Diagnostic`.

    Losses and weights are averaged over the repeats, as phi is. Nuisances that were given without
    their quality have no such rows.
    """
    return (
        *_of_nuisances(nuisances),
        *_balance(data, nuisances, clip),
        *_splits(data, nuisances, clip, normalize),
    )


def _of_nuisances(nuisances: Sequence[Nuisances]) -> Iterator[Diagnostic]:
    for same in zip(*(nu.quality for nu in nuisances), strict=True):
        name = same[0].name
        loss = float(np.mean([q.loss for q in same]))
        baseline = float(np.mean([q.baseline for q in same]))
        yield Diagnostic("loss", name, loss)
        if baseline > 0:
            yield Diagnostic("skill", name, 1 - loss / baseline)
        else:
            yield Diagnostic("skill", name, None, "its target does not vary")
        for learner in same[0].weights:
            weight = float(np.mean([q.weights[learner] for q in same]))
            yield Diagnostic("stack_weight", f"{name}/{learner}", weight)


def _balance(data: PathData, nuisances: Sequence[Nuisances], clip: float) -> Iterator[Diagnostic]:
    """Per weight set and column, the largest standardised difference over its levels (and of its
    number, where it has one); weights as clipped, averaged over the repeats."""
    strata = [strata_of(data, nu) for nu in nuisances]
    people = strata[0].by_level(strata[0].people)
    cell = np.zeros(len(people), dtype=np.int64)  # one of each level
    cell[strata[0].level] = strata[0].first
    scores = [
        {name: score(s.x, nu.clipped(clip)).stages for name, score in SCORES.items()}
        for s, nu in zip(strata, nuisances, strict=True)
    ]
    for functional in SCORES:
        target = people
        for stages in zip(*(one[functional] for one in scores), strict=True):
            weighted = [
                s.by_level(s.people * stage.weight) for s, stage in zip(strata, stages, strict=True)
            ]
            weight = np.mean(weighted, axis=0)
            for role in _ALIKE[stages[0].name]:
                codes: Ints = getattr(data, role)[cell]
                values: Floats | None = getattr(data, f"{role}_values")
                numbers = None if values is None else values[cell]
                for k, found in enumerate(_columns(codes, numbers, [people, weight, target])):
                    name = f"{stages[0].name}/{role}{k}"
                    why = None if found is not None else "nobody carries a weight"
                    yield Diagnostic("balance", name, found, why)
            target = weight


def _columns(codes: Ints, values: Floats | None, parts: Sequence[Floats]) -> Iterator[float | None]:
    """For each column of codes (U, k), whose last ones may have numbers (U, m): how far the second
    and third of parts (people, weighed, target; each (U,)) differ."""
    people = parts[0]
    if not parts[1].sum() > 0 or not parts[2].sum() > 0:
        yield from [None] * codes.shape[1]
        return
    first = codes.shape[1] - (0 if values is None else values.shape[1])
    for k, column in enumerate(codes.T):
        levels, at = np.unique(column, return_inverse=True)
        share, mine, theirs = (totals(at, p, len(levels)) / p.sum() for p in parts)
        largest = _largest(mine - theirs, share * (1 - share))
        if values is not None and k >= first:
            number = values[:, k - first]
            mean, mine, theirs = (float(p @ number / p.sum()) for p in parts)
            variance = float(people @ (number - mean) ** 2 / people.sum())
            largest = max(largest, _largest(np.array([mine - theirs]), np.array([variance])))
        yield largest


def _largest(difference: Floats, variance: Floats) -> float:
    """Largest |difference| in standard deviations; what does not vary does not differ."""
    some = variance > 1e-12
    if not some.any():
        return 0.0
    return float((np.abs(difference[some]) / np.sqrt(variance[some])).max())


def _splits(
    data: PathData, nuisances: Sequence[Nuisances], clip: float, normalize: bool
) -> Iterator[Diagnostic]:
    if len(nuisances) < 2:
        for name in EFFECTS:
            yield Diagnostic("split_sd", name, None, "one repeat: there is nothing to compare")
        return
    found = [CONTRASTS @ functional_means(data, [nu], clip, normalize) for nu in nuisances]
    for name, spread in zip(EFFECTS, np.std(found, axis=0, ddof=1).tolist(), strict=True):
        yield Diagnostic("split_sd", name, spread)
