"""P3 and P4: first name by gender and birth year (SSA), surname by race (Census 2010).

Both are exact by counts: P(first | gender, year) = births / all births of that gender and year
in the file (names with fewer than 5 births are not in it); P(surname | race) is proportional to
bearers times the race's percentage. A suppressed percentage is replaced, for drawing only, by an
equal part of what the published ones leave of 100; the ungrouped feature stays null. Surnames with
fewer than 100 bearers (one American in ten has one) are not in the file and are never drawn.

A list without birth years has the same names in every year; cohort and mean year are then unknown.
The Bureau counts people of Hispanic origin apart: its white, Black and other bearers are not
Hispanic. Where `population.hispanic` is within_races, a Hispanic applicant's surname is drawn from
those all the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from fairscreen import spelling
from fairscreen.errors import InputError
from fairscreen.population import births as counting
from fairscreen.population import grouping
from fairscreen.population.births import Births, naming_years
from fairscreen.population.domain import GENDERS
from fairscreen.settings.population import FirstNames

__all__ = ["FirstNameTable", "SurnameTable", "first_names", "naming_years", "surnames"]

#: Races that the surname file tells, in the order of its columns pct_*.
SURNAME_RACES = ("white", "black", "asian_pacific", "native", "two_or_more", "hispanic")
#: Those of which an applicant's row keeps the share.
FEATURES = ("white", "black", "asian_pacific", "hispanic")
_NOT_A_NAME = "ALL OTHER NAMES"


@dataclass(frozen=True)
class FirstNameTable:
    """Names (N,) with features and groups; M entries in blocks, one per (gender, birth year).

    `cumulative` runs over all blocks, so that one binary search serves any mixture of blocks.
    """

    first_year: int
    names: NDArray[np.object_]
    p_female: NDArray[np.float64]
    mean_year: NDArray[np.float64]  # NaN where the list tells no years
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
    ssa: pd.DataFrame,
    settings: FirstNames,
    *,
    years: tuple[int, int],
    counted: Births | None = None,
) -> FirstNameTable:
    """Tables for births in `years` (first, last) from rows of table ssa_name.

    Shares and mean year are over the cohorts' whole span of years together with `years`; the
    cohort's share is over births within the cohorts only. counted: births.count of the same.
    Raises InputError where a year of `years` has no births of one gender.
    """
    counted = counted or counting.count(ssa, settings, years=years)
    rows, dated = counting.in_years(ssa, naming_years(settings, years))
    code, births = counted.code, rows["births"].to_numpy(dtype=np.int64)
    gender, (first, last) = counting.gender_codes(rows), years
    if dated:
        year = rows["birth_year"].to_numpy(dtype=np.int64)
        keep = (year >= first) & (year <= last)
        code, births, gender, year = code[keep], births[keep], gender[keep], year[keep]
    else:
        n_years = last - first + 1
        year = np.repeat(np.arange(first, last + 1), len(rows))
        code, births, gender = (np.tile(a, n_years) for a in (code, births, gender))
    order = np.lexsort((code, year, gender))
    block = (gender * (last - first + 1) + year - first)[order]
    per_block = np.bincount(block, births[order], minlength=2 * (last - first + 1))
    _require_births(per_block.reshape(2, -1), years, dated=dated)
    ends = np.cumsum(per_block).astype(np.int64)
    bounds = np.stack([ends - per_block.astype(np.int64), ends], axis=-1).reshape(2, -1, 2)
    return FirstNameTable(
        first_year=first,
        names=counted.names,
        p_female=counted.p_female,
        mean_year=counted.mean_year,
        gender_group=grouping.gender_groups(counted.p_female, settings.gender_threshold),
        cohort_group=grouping.majority_groups(counted.cohort_shares(), settings.cohort_threshold),
        cohort_labels=(*settings.cohorts, grouping.NEUTRAL),
        code=code[order].astype(np.int32),
        cumulative=np.cumsum(births[order]),
        bounds=bounds,
    )


def _require_births(births: NDArray[Any], years: tuple[int, int], *, dated: bool) -> None:
    """births (2, Y) by gender and year."""
    empty = births == 0
    if not empty.any():
        return
    at = int(np.flatnonzero(empty.any(axis=0))[0])
    whose = "" if empty[:, at].all() else f"{GENDERS[int(np.flatnonzero(empty[:, at])[0])]} "
    if not dated:
        raise InputError(
            "ssa_name", f"has no {whose}names", "Ingest a list with names of women and of men."
        )
    raise InputError(
        "ssa_name",
        f"has no {whose}births of {years[0] + at}, and the population needs {years[0]} to "
        f"{years[1]}",
        "Ingest an SSA file that covers these years, or change documents.as_of or the ages.",
    )


@dataclass(frozen=True)
class SurnameTable:
    """Surnames (N,) as printed, with published shares (N, 4; NaN = suppressed) and group."""

    names: NDArray[np.object_]
    shares: NDArray[np.float64]  # columns: FEATURES
    group: NDArray[np.int8]
    groups: tuple[str, ...]  # labels of `group`
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
        """P(surname group | race): (R, groups)."""
        bearers = np.diff(self.cumulative, axis=1, prepend=0)
        size = len(self.groups)
        sums = np.stack([np.bincount(self.group, row, minlength=size) for row in bearers])
        return np.asarray(sums / sums.sum(axis=1, keepdims=True))


def surnames(census: pd.DataFrame, races: Sequence[str], *, threshold: float) -> SurnameTable:
    """Tables for the population's races from rows name, bearers, pct_* (NaN = suppressed).

    Raises InputError where a race has no column in the surname file, or nobody in it.
    """
    unknown = [race for race in races if race not in SURNAME_RACES]
    if unknown:
        raise InputError(
            f"population.races.{unknown[0]}",
            "the Census surname file has no such group",
            f"Use the keys {', '.join(SURNAME_RACES)}.",
        )
    rows, pct = published(census)
    bearers = rows["bearers"].to_numpy(dtype=np.float64)
    weights = bearers * spread_suppressed(pct)[:, [SURNAME_RACES.index(r) for r in races]].T / 100
    for race, of_race in zip(races, weights, strict=True):
        told = ~np.isnan(pct[:, SURNAME_RACES.index(race)])
        if not told.any() or not of_race.any():
            raise InputError(
                f"population.races.{race}",
                "the surname file tells nobody's surname who is of this race",
                f"Ingest surnames with pct_{race}, or leave the race out.",
            )
    groups = grouping.surname_groups(races)
    return SurnameTable(
        names=np.array([spelling.printed(n) for n in rows["name"]], dtype=object),
        shares=pct[:, [SURNAME_RACES.index(r) for r in FEATURES]] / 100,
        group=grouping.majority_groups(grouped_shares(pct, groups), threshold),
        groups=groups,
        cumulative=np.cumsum(weights, axis=1),
    )


def published(census: pd.DataFrame) -> tuple[pd.DataFrame, NDArray[np.float64]]:
    """Rows of surnames in alphabetical order, and their percentages (N, 6; NaN = suppressed)."""
    rows = census[census["name"] != _NOT_A_NAME].sort_values("name", kind="stable")
    return rows, rows[[f"pct_{race}" for race in SURNAME_RACES]].to_numpy(dtype=np.float64)


def grouped_shares(pct: NDArray[np.float64], groups: Sequence[str]) -> NDArray[np.float64]:
    """Shares (N, groups - 1) of the races that have a group of surnames."""
    return pct[:, [SURNAME_RACES.index(g) for g in groups[:-1]]] / 100


def spread_suppressed(pct: NDArray[np.float64]) -> NDArray[np.float64]:
    """Percentages (N, 6) with NaN replaced by an equal part of 100 minus the published sum."""
    hidden = np.isnan(pct)
    count = np.maximum(hidden.sum(axis=1), 1)
    return np.where(hidden, (suppressed_sum(pct) / count)[:, None], pct)


def suppressed_sum(pct: NDArray[np.float64]) -> NDArray[np.float64]:
    """What the published percentages leave of 100 (N,), where any is suppressed; else 0.

    Each suppressed percentage is between 0 and this.
    """
    left = np.clip(100 - np.nansum(pct, axis=1), 0, None)
    return np.where(np.isnan(pct).any(axis=1), left, 0.0)
