"""Births by first name: what the groups of first names stand on, and what privacy keeps from them.

The SSA leaves out a name with fewer than five births of a year and sex: a missing cell hides 0 to
4 births, in a file of states that many in each state. So a name whose other sex fell below the
floor has a share of 0 or 1 in the file, while its true share lies within bounds that follow from
the number of missing cells. A list of the user's own hides nothing.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from fairscreen import spelling
from fairscreen.population import grouping
from fairscreen.settings.population import FirstNames

_IF_ABSENT = 4  # of the SSA's national file: fewer than five
Counts = NDArray[np.int64]
Shares = NDArray[np.float64]
Flags = NDArray[np.bool_]


@dataclass(frozen=True)
class Births:
    """Names (N,) and their births in the years on which name features stand.

    Columns of (N, 2) are female, male. hidden: births at most that the file leaves out. Without
    birth years (`dated` false) cohorts hold nothing and the mean year is NaN.
    """

    names: NDArray[np.object_]  # as printed, in the order of the file's spelling
    code: Counts  # (n,) index into names of the rows of `in_years`
    first_year: int
    last_year: int
    dated: bool
    births: Counts  # (N, 2)
    hidden: Counts  # (N, 2)
    by_cohort: Counts  # (N, C), both sexes
    hidden_by_cohort: Counts  # (N, C)
    mean_year: Shares  # (N,)

    @property
    def p_female(self) -> Shares:
        """Share of births in the file that are female (N,)."""
        return np.asarray(self.births[:, 0] / self.births.sum(axis=1))

    def p_female_bounds(self) -> tuple[Shares, Shares]:
        """Least and greatest share of all births that can be female (N,)."""
        female, male = self.births.T
        low = female / (female + male + self.hidden[:, 1])
        high = (female + self.hidden[:, 0]) / (female + self.hidden[:, 0] + male)
        return np.asarray(low), np.asarray(high)

    def cohort_shares(self) -> Shares:
        """Share of each cohort (N, C) in the births within cohorts; 0 where there are none."""
        within = self.by_cohort.sum(axis=1, keepdims=True)
        out = np.zeros(self.by_cohort.shape)
        return np.asarray(np.divide(self.by_cohort, within, out=out, where=within > 0))

    def gender_may_flip(self, threshold: float) -> Flags:
        """Whether a share within the bounds would put the name into another gender group (N,)."""
        group = grouping.gender_groups(self.p_female, threshold)
        ends = [grouping.gender_groups(p, threshold) for p in self.p_female_bounds()]
        return np.asarray((ends[0] != group) | (ends[1] != group))

    def cohort_may_flip(self, threshold: float) -> Flags:
        """The same for the cohort group (N,): hidden births of one cohort and none of the others.

        The group's own share is least when every other cohort's hidden births happened.
        """
        known, hidden = self.by_cohort, self.hidden_by_cohort
        group = grouping.majority_groups(self.cohort_shares(), threshold)
        flips = np.zeros(len(known), dtype=bool)
        for c in range(known.shape[1]):
            most = known.copy()
            most[:, c] += hidden[:, c]
            least = known + hidden
            least[:, c] = known[:, c]
            for counts in (most, least):
                total = np.maximum(counts.sum(axis=1, keepdims=True), 1)
                flips |= grouping.majority_groups(counts / total, threshold) != group
        return flips


def naming_years(settings: FirstNames, years: tuple[int, int]) -> tuple[int, int]:
    """First and last birth year that name features stand on: cohorts and applicants together."""
    lows = [low for low, _ in settings.cohorts.values()]
    highs = [high for _, high in settings.cohorts.values()]
    return min([*lows, years[0]]), max([*highs, years[1]])


def count(ssa: pd.DataFrame, settings: FirstNames, *, years: tuple[int, int]) -> Births:
    """Births by name from rows of table ssa_name (birth_year, sex, name, births, hidden_...)."""
    first, last = naming_years(settings, years)
    rows, dated = in_years(ssa, (first, last))
    code, spelled = pd.factorize(rows["name"].to_numpy(dtype=object), sort=True)
    births = rows["births"].to_numpy(dtype=np.int64)
    gender = gender_codes(rows)
    year = rows["birth_year"].to_numpy(dtype=np.int64) if dated else np.zeros(len(rows), np.int64)
    beside, if_absent = _hidden(rows)
    n, calendar = len(spelled), np.unique(year)
    cell = code * 2 + gender

    def per_cell(values: Counts) -> Counts:
        return np.bincount(cell, values, minlength=2 * n).reshape(n, 2).astype(np.int64)

    missing = len(calendar) - per_cell(np.ones(len(rows), np.int64))
    by_cohort, hidden_by_cohort = [], []
    for low, high in settings.cohorts.values():
        mine = ((year >= low) & (year <= high)).astype(np.int64)
        by_cohort.append(per_cell(births * mine).sum(axis=1))
        cells = 2 * int(((calendar >= low) & (calendar <= high)).sum())
        absent = cells - per_cell(mine).sum(axis=1)
        hidden_by_cohort.append(if_absent * absent + per_cell(beside * mine).sum(axis=1))
    total = per_cell(births)
    mean = np.bincount(code, births * year, minlength=n) / total.sum(axis=1)
    return Births(
        names=np.array([spelling.printed(str(name)) for name in spelled], dtype=object),
        code=np.asarray(code, dtype=np.int64),
        first_year=first,
        last_year=last,
        dated=dated,
        births=total,
        hidden=if_absent * missing + per_cell(beside),
        by_cohort=np.stack(by_cohort, axis=1),
        hidden_by_cohort=np.stack(hidden_by_cohort, axis=1),
        mean_year=mean if dated else np.full(n, np.nan),
    )


def in_years(ssa: pd.DataFrame, span: tuple[int, int]) -> tuple[pd.DataFrame, bool]:
    """The rows of these years, and whether the file tells years: all rows of one that does not."""
    if len(ssa) and ssa["birth_year"].isna().all():
        return ssa, False
    return ssa[ssa["birth_year"].between(*span)], True


def gender_codes(rows: pd.DataFrame) -> Counts:
    """0 female, 1 male (n,)."""
    return np.asarray((rows["sex"].to_numpy() == "M").astype(np.int64))


def _hidden(rows: pd.DataFrame) -> tuple[Counts, int]:
    """Births that may hide beside each row (n,), and in place of an absent one.

    Rows of an older warehouse hold null in both columns: they are the SSA's national file.
    """
    if "hidden_births" not in rows:
        return np.zeros(len(rows), dtype=np.int64), _IF_ABSENT
    beside = rows["hidden_births"].fillna(0).to_numpy(dtype=np.int64)
    absent = rows["hidden_if_absent"].fillna(_IF_ABSENT).to_numpy(dtype=np.int64)
    return beside, int(absent.max(initial=0))
