"""P3 and P4: first name by gender and birth year (SSA), surname by race (Census 2010).

Both are exact by counts: P(first | gender, year) = births / all births of that gender and year
in the file (names with fewer than 5 births are not in it); P(surname | race) is proportional to
bearers times the race's percentage. A suppressed percentage is replaced, for drawing only, by an
equal part of what the published ones leave of 100; the ungrouped feature stays null.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from fairscreen.errors import InputError
from fairscreen.population import grouping
from fairscreen.settings.population import FirstNames

_PCT = ("white", "black", "asian_pacific", "native", "two_or_more", "hispanic")
_NOT_A_NAME = "ALL OTHER NAMES"


@dataclass(frozen=True)
class FirstNameTable:
    """Names (N,) with features and groups; M entries in blocks, one per (gender, birth year).

    `cumulative` runs over all blocks, so that one binary search serves any mixture of blocks.
    """

    first_year: int
    names: NDArray[np.object_]
    p_female: NDArray[np.float64]
    mean_year: NDArray[np.float64]
    gender_group: NDArray[np.int8]
    cohort_group: NDArray[np.int8]
    cohort_labels: tuple[str, ...]
    code: NDArray[np.int32]  # (M,) index into names
    cumulative: NDArray[np.int64]  # (M,)
    bounds: NDArray[np.int64]  # (G, Y, 2) births before and after the block

    def draw(
        self, gender: NDArray[np.int64], year: NDArray[np.int64], u: NDArray[np.float64]
    ) -> NDArray[np.int32]:
        """Index of a first name (n,) by inverse distribution function in alphabetical order."""
        low, high = np.moveaxis(self.bounds[gender, year - self.first_year], -1, 0)
        target = low + np.floor(u * (high - low)).astype(np.int64)
        return np.asarray(self.code[np.searchsorted(self.cumulative, target, side="right")])

    def group_shares(self) -> NDArray[np.float64]:
        """P(gender group, cohort group | gender, year): (G, Y, 3, cohorts + 1)."""
        n_gender, n_cohort = len(grouping.GENDER_GROUPS), len(self.cohort_labels)
        shape = (*self.bounds.shape[:2], n_gender, n_cohort)
        births = np.diff(self.cumulative, prepend=0)
        ends = self.bounds[..., 1].ravel()
        block = np.searchsorted(ends, self.cumulative, side="left")
        cell = self.gender_group[self.code].astype(np.int64) * n_cohort
        cell += self.cohort_group[self.code]
        size = n_gender * n_cohort
        sums = np.bincount(block * size + cell, births, minlength=len(ends) * size)
        table = sums.reshape(shape)
        return np.asarray(table / table.sum(axis=(2, 3), keepdims=True))


def first_names(
    ssa: pd.DataFrame, settings: FirstNames, *, years: tuple[int, int]
) -> FirstNameTable:
    """Tables for births in `years` (first, last) from rows birth_year, sex (F, M), name, births.

    Shares and mean year are over the cohorts' whole span of years together with `years`; the
    cohort's share is over births within the cohorts only.
    Raises InputError where a year of `years` has no births of one gender.
    """
    span = naming_years(settings, years)
    rows = ssa[ssa["birth_year"].between(*span)]
    code, names = pd.factorize(rows["name"].to_numpy(dtype=object), sort=True)
    year = rows["birth_year"].to_numpy(dtype=np.int64)
    births = rows["births"].to_numpy(dtype=np.int64)
    gender = (rows["sex"].to_numpy() == "M").astype(np.int64)

    total = np.bincount(code, births, minlength=len(names))
    female = np.bincount(code, births * (gender == 0), minlength=len(names))
    mean_year = np.bincount(code, births * year, minlength=len(names)) / total
    by_cohort = np.stack(
        [
            np.bincount(code, births * ((year >= low) & (year <= high)), minlength=len(names))
            for low, high in settings.cohorts.values()
        ],
        axis=1,
    )
    within = by_cohort.sum(axis=1, keepdims=True)
    shares = np.divide(by_cohort, within, out=np.zeros_like(by_cohort), where=within > 0)

    first, last = years
    keep = (year >= first) & (year <= last)
    order = np.lexsort((code[keep], year[keep], gender[keep]))
    block = (gender[keep] * (last - first + 1) + year[keep] - first)[order]
    per_block = np.bincount(block, births[keep][order], minlength=2 * (last - first + 1))
    empty = np.flatnonzero(per_block == 0)
    if len(empty):
        missing = first + int(empty[0]) % (last - first + 1)
        raise InputError(
            "ssa_name",
            f"has no births of {missing}, and the population needs {first} to {last}",
            "Ingest an SSA file that covers these years, or change documents.as_of or the ages.",
        )
    ends = np.cumsum(per_block).astype(np.int64)
    bounds = np.stack([ends - per_block.astype(np.int64), ends], axis=-1).reshape(2, -1, 2)
    return FirstNameTable(
        first_year=first,
        names=np.asarray(names, dtype=object),
        p_female=female / total,
        mean_year=mean_year,
        gender_group=grouping.gender_groups(female / total, settings.gender_threshold),
        cohort_group=grouping.majority_groups(shares, settings.cohort_threshold),
        cohort_labels=(*settings.cohorts, grouping.NEUTRAL),
        code=code[keep][order].astype(np.int32),
        cumulative=np.cumsum(births[keep][order]),
        bounds=bounds,
    )


def naming_years(settings: FirstNames, years: tuple[int, int]) -> tuple[int, int]:
    """First and last birth year that name features stand on."""
    lows = [low for low, _ in settings.cohorts.values()]
    highs = [high for _, high in settings.cohorts.values()]
    return min([*lows, years[0]]), max([*highs, years[1]])


@dataclass(frozen=True)
class SurnameTable:
    """Surnames (N,) as printed, with published shares (N, 3; NaN = suppressed) and group."""

    names: NDArray[np.object_]
    shares: NDArray[np.float64]  # columns: white, black, asian_pacific
    group: NDArray[np.int8]
    cumulative: NDArray[np.float64]  # (R, N) bearers of the race, summed in alphabetical order

    def draw(self, race: NDArray[np.int64], u: NDArray[np.float64]) -> NDArray[np.int64]:
        """Index of a surname (n,) by inverse distribution function in alphabetical order."""
        found = np.empty(len(race), dtype=np.int64)
        for r, cumulative in enumerate(self.cumulative):
            mine = race == r
            target = u[mine] * cumulative[-1]
            found[mine] = np.searchsorted(cumulative, target, side="right")
        return np.minimum(found, len(self.names) - 1)

    def group_shares(self) -> NDArray[np.float64]:
        """P(surname group | race): (R, 4)."""
        bearers = np.diff(self.cumulative, axis=1, prepend=0)
        size = len(grouping.SURNAME_GROUPS)
        sums = np.stack([np.bincount(self.group, row, minlength=size) for row in bearers])
        return np.asarray(sums / sums.sum(axis=1, keepdims=True))


def surnames(
    census: pd.DataFrame, races: Mapping[str, object], *, threshold: float
) -> SurnameTable:
    """Tables for the config's races from rows name, bearers, pct_* (NaN = suppressed).

    Raises InputError where a race has no column in the Census file.
    """
    unknown = [race for race in races if race not in _PCT]
    if unknown:
        raise InputError(
            f"population.races.{unknown[0]}",
            "the Census surname file has no such group",
            f"Use the keys {', '.join(_PCT)}.",
        )
    rows = census[census["name"] != _NOT_A_NAME].sort_values("name", kind="stable")
    pct = rows[[f"pct_{c}" for c in _PCT]].to_numpy(dtype=np.float64)
    filled = spread_suppressed(pct)
    columns = [_PCT.index(race) for race in races]
    weights = rows["bearers"].to_numpy(dtype=np.float64) * filled[:, columns].T / 100
    published = pct[:, :3] / 100
    return SurnameTable(
        names=np.array([printed(n) for n in rows["name"]], dtype=object),
        shares=published,
        group=grouping.majority_groups(published, threshold),
        cumulative=np.cumsum(weights, axis=1),
    )


def spread_suppressed(pct: NDArray[np.float64]) -> NDArray[np.float64]:
    """Percentages (N, 6) with NaN replaced by an equal part of 100 minus the published sum."""
    hidden = np.isnan(pct)
    left = np.clip(100 - np.nansum(pct, axis=1), 0, None)
    count = np.maximum(hidden.sum(axis=1), 1)
    return np.where(hidden, (left / count)[:, None], pct)


def printed(name: str) -> str:
    """A surname of the Census file (capitals only) as a resume shows it: Smith, McDonald.

    Only `Mc` is certain enough to be followed by a capital; Mac, De and Van stay plain.
    """
    if name.startswith("MC") and len(name) > 3:
        return "Mc" + name[2:].capitalize()
    return name.capitalize()
