"""PSID's "years worked since 18": the wave in which it was asked, and the number up to date.

The PSID asks for it when a person becomes reference person or spouse and repeats the answer in
every later wave, unchanged. Taken as it stands, somebody asked at 24 has, at 44, the experience
of 24. `conf/psid_crosswalk.yml` says where that is documented and which waves it concerns.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fairscreen.sources.psid_crosswalk import Crosswalk

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]


@dataclass(frozen=True)
class Status:
    """One wave, arrays (records,). Not in the family unit: neither `adult` nor `other`.

    adult   reference person or spouse or partner.  other   somebody else in the family unit.
    absent  known not to belong to any family of the study.
    working 1 or 0, NaN = unknown.
    code    the answer as the PSID gives it, "don't know" among them; NaN = blank. Earlier waves
            have none at all.
    """

    adult: Flags
    other: Flags
    absent: Flags
    working: Array
    code: Array | None = None


@dataclass(frozen=True)
class Asked:
    """One wave, arrays (records,).

    wave   the wave of asking; NaN = unknown: the earliest wave in which the person is seen as
           reference person or spouse, or one before it.
    since  the years worked since then, or since that earliest wave.
    """

    wave: Array
    since: Array


def trace(statuses: dict[int, Status]) -> dict[int, Asked]:
    """Follow everybody through the waves, in order; the waves with codes get an answer.

    A person is asked in the wave in which they turn up as reference person or spouse after a wave
    in which they were somebody else in the family or not in the study. A wave without the family
    (no interview) is passed over. A code that differs from the one of the wave before was
    asked again. An interval counts by half for each end at which the person worked; an end that
    is unknown counts like the other one, and an interval unknown at both ends counts as worked.
    """
    years = sorted(statuses)
    size = len(statuses[years[0]].adult)
    asked, base, total = (np.full(size, np.nan), np.zeros(size), np.zeros(size))
    last_code = np.full(size, np.nan)
    was_adult, was_other, was_absent = (np.zeros(size, dtype=bool) for _ in range(3))
    before: Status | None = None
    out: dict[int, Asked] = {}
    for at, year in enumerate(years):
        now = statuses[year]
        if before is not None:
            total = total + (year - years[at - 1]) * _share(before.working, now.working)
        begins = now.adult & ~was_adult & (was_other | was_absent)
        if now.code is not None:
            differs = ~np.isnan(now.code) & ~np.isnan(last_code) & (now.code != last_code)
            begins |= now.adult & differs
            last_code = np.where(now.adult & ~np.isnan(now.code), now.code, last_code)
        asked = np.where(begins, float(year), asked)
        base = np.where(begins | (now.adult & ~was_adult), total, base)
        if now.code is not None:
            out[year] = Asked(np.where(now.adult, asked, np.nan), total - base)
        seen = now.adult | now.other
        was_adult, was_other = (
            np.where(seen, now.adult, was_adult),
            np.where(seen, now.other, was_other),
        )
        was_absent |= now.absent
        before = now
    return out


def _share(start: Array, end: Array) -> Array:
    """Share of an interval that was worked, from both ends; unknown at both = worked."""
    known = np.stack([start, end])
    count = (~np.isnan(known)).sum(axis=0)
    return np.where(count > 0, np.nansum(known, axis=0) / np.maximum(count, 1), 1.0)


def years(code: Array, age: Array, asked: Asked, year: int, crosswalk: Crosswalk) -> Array:
    """Years worked as answered (n,): codes that stand for a number become that number.

    "All years since 18" is the age at the answer less 18; where the wave of asking is unknown,
    the age now less 18.
    """
    codes = crosswalk.years_codes
    then = age - np.where(np.isnan(asked.wave), 0.0, year - asked.wave)
    value = np.where(np.isin(code, codes.less_than_one), 0.0, code)
    return np.where(np.isin(code, codes.all_since_18), np.maximum(then - 18, 0), value)


def up_to_date(answered: Array, age: Array, asked: Asked) -> Array:
    """The answer plus the years worked since it was given, at most age less 18 (n,).

    Where the wave of asking is unknown: plus those since the earliest wave, which are certain to
    be missing. Unknown age: no bound.
    """
    most = np.where(np.isnan(age), np.inf, np.maximum(age - 18, answered))
    return np.minimum(np.rint(answered + asked.since), most)
