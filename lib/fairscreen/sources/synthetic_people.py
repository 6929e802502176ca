"""The model behind the synthetic PSID extract: families, people, and what they answer.

The shape follows what the PSID documents of itself: samples and the ranges of their 1968
interview numbers, person numbers, the oversample of poor families of 1968, about 9,500 families
in 2019 and fewer in 2021, an answer on years worked that is carried forward. All else is made up;
`synthetic_psid` says so in the package.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fairscreen.population.geography import STATES
from fairscreen.random import uniforms
from fairscreen.sources import synthetic_jobs

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]

SEED = "synthetic PSID 2"
FIRST, LAST = 2019, 2021
#: Families in both waves, in the first only, in the second only (children who moved out).
BOTH, GONE, SPLIT_OFF = 8_640, 930, 570
FAMILIES = BOTH + GONE + SPLIT_OFF
#: As in a public set-up file of a cart of these two waves.
RECORDS = 28_477
_RACES = (1, 2, 3, 4, 5, 7)


class Sample(NamedTuple):
    """Share of families, 1968 interview numbers, race mix, Hispanic share, weights from - to."""

    share: float
    ids: tuple[int, int]
    races: tuple[float, ...]
    hispanic: float
    weight: tuple[int, int]


SAMPLES = (
    Sample(0.47, (1, 2930), (0.87, 0.06, 0.01, 0.02, 0.005, 0.035), 0.06, (14_000, 48_000)),
    Sample(0.37, (5001, 6872), (0.07, 0.88, 0.005, 0.005, 0.0, 0.04), 0.04, (1_500, 9_500)),
    Sample(0.07, (3001, 3511), (0.55, 0.03, 0.01, 0.22, 0.01, 0.18), 0.62, (8_000, 30_000)),
    Sample(0.09, (4001, 4851), (0.45, 0.08, 0.01, 0.33, 0.01, 0.12), 0.50, (12_000, 50_000)),
)

#: States by population in millions, rounded; the rest count as one million each.
_MILLIONS = {
    "06": 39, "48": 29, "12": 22, "36": 20, "42": 13, "17": 13, "39": 12, "13": 11, "37": 11,
    "26": 10, "34": 9, "51": 9, "53": 8, "04": 7, "25": 7, "47": 7, "18": 7, "29": 6, "24": 6,
    "55": 6, "08": 6, "27": 6, "45": 5, "01": 5, "22": 5, "21": 5, "41": 4, "40": 4, "09": 4,
    "49": 3, "19": 3, "32": 3, "05": 3, "28": 3, "20": 3, "35": 2, "31": 2, "16": 2, "54": 2,
}  # fmt: skip


def draw(purpose: str, keys: Sequence[str]) -> Floats:
    return uniforms(SEED, f"psid/{purpose}", keys)


def pick(values: Sequence[int], draws: Floats, weights: Sequence[float] | None = None) -> Ints:
    edges = np.cumsum(weights if weights is not None else np.ones(len(values)))
    place = np.searchsorted(edges / edges[-1], draws, side="right")
    return np.asarray(values, dtype=np.int64)[np.minimum(place, len(values) - 1)]


@dataclass(frozen=True)
class Families:
    """One entry per family, arrays (FAMILIES,)."""

    keys: tuple[str, ...]
    sample: Ints
    person_1968: Ints
    couple: Flags
    parent: Ints  # of a split-off: the family of 2019; else -1

    def there(self, year: int) -> Flags:
        at = np.arange(FAMILIES)
        return at < BOTH + GONE if year == FIRST else (at < BOTH) | (at >= BOTH + GONE)


class Adults:
    """Reference persons, or spouses: one per family, arrays (FAMILIES,)."""

    def __init__(self, role: str, male: Flags, born: Ints, entered: Flags, families: Families):
        """`entered`: became reference person or spouse in the last wave only."""
        self.male, self.born = male, born
        self.keys = [f"{role}/{f}" for f in range(FAMILIES)]
        samples = families.sample
        self.race, self.hispanic = (np.zeros(FAMILIES, dtype=np.int64) for _ in range(2))
        race, hispanic = self.u("race"), self.u("hispanic")
        for number, sample in enumerate(SAMPLES):
            here = samples == number
            self.race[here] = pick(_RACES, race[here], sample.races)
            is_hispanic = hispanic[here] < sample.hispanic
            self.hispanic[here] = np.where(is_hispanic, 1 + (race[here] * 3), 0)
        self.job, self.school, self.shift = self._jobs("job")
        self.new_job, _, _ = self._jobs("new job")
        start = np.floor(18 + 13 * self.u("start") * np.sqrt(self.u("start"))).astype(np.int64)
        asked = np.minimum(born + start, FIRST)
        asked = asked + ((asked % 2 == 0) & (asked > 1997))  # every other year since 1997
        self.asked = np.where(entered, LAST, asked)

    def u(self, purpose: str) -> Floats:
        return draw(purpose, self.keys)

    def _jobs(self, purpose: str) -> tuple[Ints, Ints, Floats]:
        """Codes, years of schooling and the job's shift of the share of years worked."""
        jobs = list(synthetic_jobs.FIVE.values())
        jobs += [job for job, _ in synthetic_jobs.OTHERS.values()]
        share = np.empty((len(jobs), FAMILIES))
        for row, job in enumerate(jobs):
            share[row] = np.where(self.male, job.men, job.women)
            for race, factor in job.by_race.items():
                share[row] *= np.where(
                    self.hispanic > 0 if race == 0 else self.race == race, factor, 1
                )
        edges = np.cumsum(share, axis=0)
        group = (edges < self.u(purpose) * edges[-1]).sum(axis=0)
        code, school = (np.zeros(FAMILIES, dtype=np.int64) for _ in range(2))
        shift = np.zeros(FAMILIES)
        within, learned = self.u(f"{purpose}/code"), self.u("school")
        lists: list[tuple[int, ...]] = [(c,) for c in synthetic_jobs.FIVE]
        lists += [tuple(map(int, codes.split())) for _, codes in synthetic_jobs.OTHERS.values()]
        for row, (job, codes) in enumerate(zip(jobs, lists, strict=True)):
            here = group == row
            code[here] = pick(codes, within[here])
            low, high = job.school
            school[here] = low + learned[here] * (high - low + 1)
            shift[here] = job.shift
        return code, school, shift

    def age(self, year: int) -> Ints:
        return year - self.born

    def steady(self, year: int) -> Floats:
        """Chance to be at work in a wave, (FAMILIES,)."""
        rare = self.u("rare") < np.where(self.male, 0.2, 0.32)
        chance = np.where(rare, 0.6, np.where(self.male, 0.95, 0.92)) + self.shift
        age = self.age(year)
        chance = chance * np.where(age > 70, 0.15, np.where(age > 62, 0.45, 1.0))
        return np.asarray(np.where(age < 18, 0.3, chance))

    def at_work(self, year: int) -> Flags:
        return self.u(f"at work {year}") < self.steady(year)

    def asked_years(self) -> Ints:
        """Years worked since 18, whole, at the wave of asking."""
        adult = np.maximum(self.asked - self.born - 18, 0).astype(float)
        rare = self.u("rare") < np.where(self.male, 0.2, 0.32)
        share = np.where(rare, 0.6, 0.95) + self.shift - 0.02 * (self.race == 2)
        noise = sum((self.u(f"worked/{i}") for i in range(3)), np.zeros(FAMILIES)) - 1.5
        years = share * adult - 0.4 * np.maximum(self.school - 13, 0) + noise * (0.8 + 0.15 * adult)
        return np.asarray(np.clip(np.floor(years + 0.5), 0, adult), dtype=np.int64)

    def answers(self, year: int) -> dict[str, Ints]:
        """Codes by item of the crosswalk, missing codes among them."""
        moved = (year == LAST) & (self.u("moved") < 0.12)
        job = np.where(moved, self.new_job, self.job)
        at_work = self.at_work(year)
        # Asked once and repeated: the same number, and the same missing code, in every wave.
        worked = self.asked_years()
        adult = np.maximum(self.asked - self.born - 18, 0)
        special = self.u("special")
        told = np.where((worked == adult) & (adult > 0) & (special < 0.3), 96, worked)
        told = np.where((adult == 0) & (special < 0.5), 95, told)
        part = np.where(self.male, 1.0, 0.92) - 0.3 * self.u("part time") ** 2
        full = np.floor(worked * part + 0.5).astype(np.int64)
        tenure = np.floor(np.minimum(self.age(year) - 17, 40) * self.u("tenure") ** 3)
        codes: dict[str, tuple[Ints | Floats, Sequence[int], float, str]] = {
            "age": (self.age(year), (999,), 0.003, str(year)),
            "sex": (np.where(self.male, 1, 2), (), 0.0, str(year)),
            "race": (self.race, (9,), 0.007, ""),
            "hispanic": (self.hispanic, (9,), 0.003, ""),
            "education": (np.minimum(self.school, self.age(year) - 6), (99,), 0.010, ""),
            "occupation": (np.where(at_work, job, 0), (9999,), 0.010, str(year)),
            "years_worked": (told, (98, 99), 0.025, ""),
            "years_full_time": (full, (98, 99), 0.025, ""),
            "tenure": (
                np.where(at_work, np.where(moved, 1, tenure), 0),
                (98, 99),
                0.015,
                str(year),
            ),
        }
        out = {}
        for item, (values, missing, share, when) in codes.items():
            u = self.u(f"missing {item} {when}")
            gone = (u < share) & (np.asarray(values) > 0)
            code = pick(missing, u / share) if missing else 0
            out[item] = np.where(gone, code, values).astype(np.int64)
        return out


def families(age: Ints) -> Families:
    """`age`: of the reference persons in the first wave."""
    keys = family_keys()
    sample = pick(range(len(SAMPLES)), draw("sample", keys), [s.share for s in SAMPLES])
    low = np.array([s.ids[0] for s in SAMPLES])[sample]
    size = np.array([s.ids[1] - s.ids[0] + 1 for s in SAMPLES])[sample]
    ids = low + np.floor(draw("1968", keys) * size).astype(np.int64)
    couple = draw("couple", keys) < 0.505
    parent = np.full(FAMILIES, -1, dtype=np.int64)
    homes = np.flatnonzero((age[:BOTH] >= 42) & (age[:BOTH] <= 66))
    parent[BOTH + GONE :] = homes[:SPLIT_OFF]
    moved = parent >= 0
    ids[moved], sample[moved] = ids[parent[moved]], sample[parent[moved]]
    return Families(keys, sample, ids, couple, parent)


def family_keys() -> tuple[str, ...]:
    return tuple(f"family/{f}" for f in range(FAMILIES))


def states(keys: Sequence[str]) -> Ints:
    """FIPS codes (n,); 0 = abroad, few."""
    codes = sorted(STATES)
    home = pick([int(s) for s in codes], draw("state", keys), [_MILLIONS.get(s, 1) for s in codes])
    return np.where(draw("abroad", keys) < 0.003, 0, home)
