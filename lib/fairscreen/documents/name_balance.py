"""First names of several races that are alike in class: matched sets of one name of each race.

Names that tell race tell class as well (Fryer & Levitt 2004; Gaddis 2017). Within a gender each
name of the race with the fewest names is matched to one of every other race, by value, so that as
many as can be are matched within the caliper and, of those matchings, the differences together are
least (an assignment problem). Names without a match are left out: what stays has as many names of
each race, whose values differ by the caliper at most.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from fairscreen.documents.name_signals import Name
from fairscreen.errors import ConfigError

Array = NDArray[np.float64]
Ints = NDArray[np.int64]
_ONE_RACE = "balance: {gender} names are of one race, so nothing was balanced."


def matched(values: Mapping[str, Array], caliper: float) -> dict[str, Ints]:
    """Indices (k,) into each race's values (n,): position i of all races is one matched set.

    caliper: largest difference to the name of the race with the fewest, in standard deviations
    within races, pooled; where those are 0, only equal values match. Two other races then differ
    by twice that at most.
    """
    fewest = min(values, key=lambda race: (len(values[race]), race))
    reach = caliper * within_deviation(values)
    partner: dict[str, Ints] = {fewest: np.arange(len(values[fewest]))}
    for race, others in values.items():
        if race != fewest:
            partner[race] = _assigned(values[fewest], others, reach)
    whole = np.all([found >= 0 for found in partner.values()], axis=0)
    return {race: found[whole] for race, found in partner.items()}


def _assigned(one: Array, other: Array, reach: float) -> Ints:
    """For each of `one` (n,) an index into `other`, no index twice; -1 = none within reach."""
    found = np.full(len(one), -1)
    if not len(one) or not len(other):
        return found
    apart = np.abs(one[:, None] - other[None, :])
    allowed = apart <= reach * (1 + 1e-12)
    # A pair beyond reach costs more than all pairs within it: it is taken last, and then dropped.
    cost = np.where(allowed, apart, (reach + 1) * (min(apart.shape) + 1))
    rows, columns = linear_sum_assignment(cost)
    kept = allowed[rows, columns]
    found[rows[kept]] = columns[kept]
    return found


def within_deviation(values: Mapping[str, Array]) -> float:
    """Standard deviation within races: root of the mean variance of those with two names or more;
    0 where there are none."""
    variances = [float(v.var(ddof=1)) for v in values.values() if len(v) > 1]
    return float(np.sqrt(np.mean(variances))) if variances else 0.0


def balanced(names: Sequence[Name], column: str, caliper: float) -> tuple[list[Name], list[str]]:
    """The first names with what cannot be matched left out, and notes for readers.

    Names that are not used already stay as they are. Raises ConfigError where no list tells the
    column.
    """
    used = [name for name in names if name.used]
    if all(_value(name, column) is None for name in used):
        raise ConfigError(
            "names.balance",
            f"no name that can be used has a {column}",
            f"Give lists with a column {column}, or set names.balance: null.",
        )
    notes, out = [], list(names)
    for gender in sorted({name.gender for name in used}):
        mine = [i for i, name in enumerate(names) if name.used and name.gender == gender]
        races = sorted({names[i].race for i in mine})
        if len(races) < 2:
            notes.append(_ONE_RACE.format(gender=gender))
            continue
        told = [i for i in mine if _value(names[i], column) is not None]
        for i in set(mine) - set(told):
            out[i] = replace(names[i], reasons=(f"no_class: its {column} is not known",))
        at = {race: [i for i in told if names[i].race == race] for race in races}
        values = {r: np.array([_value(names[i], column) for i in at[r]], float) for r in races}
        kept = matched(values, caliper)
        for race in races:
            for place in set(range(len(at[race]))) - set(kept[race].tolist()):
                reason = f"unmatched_class: no name of every other race is as close in {column}"
                out[at[race][place]] = replace(names[at[race][place]], reasons=(reason,))
        notes.append(_note(gender, column, values, kept))
    return out, notes


def _value(name: Name, column: str) -> float | None:
    return name.mother_education if column == "mother_education" else name.cohort


def _note(gender: str, column: str, values: Mapping[str, Array], kept: Mapping[str, Ints]) -> str:
    said = []
    for race, all_of_race in values.items():
        some = all_of_race[kept[race]]
        after = f"{some.mean():.2f}" if len(some) else "none"
        before = f"{all_of_race.mean():.2f}" if len(all_of_race) else "none"
        said.append(
            f"{race} {before} before, {after} after ({len(some)} of {len(all_of_race)} names)"
        )
    return f"balance: mean {column} of {gender} names: {'; '.join(said)}."
