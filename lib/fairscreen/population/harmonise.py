"""Where PSID and the survey (ACS) meet: one coding of the covariates of P2, and what it loses.

covariate  ACS                  PSID                      met on, and what is lost
gender     SEX                  sex                       the same two values
race       RAC1P                first mention             the audit's races. ACS counts people of
                                (psid_races)              several races apart (RAC1P 9), PSID puts
                                                          them under their first mention
age        AGEP                 age at the interview      years
region     STATE                state of the family       four Census regions: PSID has too few
                                                          people in one state; abroad is none
schooling  SCHL, as years       years completed, at       years for the mean, bands of years for
           (schooling_years)    most 17                   the ratio (schooling_bands). PSID does not
                                                          tell some college from an associate's
                                                          degree, nor one higher degree from another
job        OCCP (2018 codes)    2010 codes (psid_occp)    classes of 2010 codes: where one code is
                                                          several jobs of the audit, its people
                                                          inform every one of them

Names in brackets are settings of `population.experience` and of `population.jobs`. A value that
belongs to none of the audit's is -1.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from fairscreen.errors import InputError
from fairscreen.population.domain import GENDERS, REGIONS, Domain
from fairscreen.population.geography import STATES
from fairscreen.settings.population import HISPANIC, Population

Array = NDArray[np.float64]
Index = NDArray[np.int64]
Mask = NDArray[np.bool_]

_REGION_OF_STATE = {fips: REGIONS.index(state.region) for fips, state in STATES.items()}


@dataclass(frozen=True)
class Covariates:
    """What P2 regresses on, (n,) each; -1 = not one of the audit's values."""

    gender: Index
    race: Index
    age: Index  # years
    region: Index
    schooling: Array  # years, at most 17
    schooling_band: Index
    job: Index  # class of PSID codes

    def matrix(self, domain: Domain, n_classes: int) -> Array:
        """(n, k): gender, age, schooling, and one indicator per race, region and class of jobs."""
        columns: list[NDArray[Any]] = [self.gender, self.age, self.schooling]
        for values, size in (
            (self.race, len(domain.races)), (self.region, len(REGIONS)), (self.job, n_classes),
        ):  # fmt: skip
            columns += [values == i for i in range(size)]
        return np.column_stack([c.astype(np.float64) for c in columns])

    def take(self, rows: Mask) -> Covariates:
        """The same of some rows."""
        return Covariates(**{name: values[rows] for name, values in vars(self).items()})


@dataclass(frozen=True)
class JobClasses:
    """PSID codes grouped by the jobs of the audit that they stand for.

    members (C, J): whether the people of a class inform a job. With one PSID code per job, and
    none shared, classes are jobs.
    """

    of_code: dict[str, int]
    members: Mask

    def informs(self, job: Index) -> Mask:
        """(n, J): the jobs that rows of class `job` (n,) inform; none where it is -1."""
        return np.asarray(self.members[job] & (job >= 0)[:, None])


def job_classes(population: Population) -> JobClasses:
    """The classes of an audit's PSID codes, in the order of their first job."""
    jobs: dict[str, tuple[int, ...]] = {}
    for i, job in enumerate(population.jobs.values()):
        for code in dict.fromkeys(job.psid_occp or ()):
            jobs[code] = (*jobs.get(code, ()), i)
    kinds = sorted(set(jobs.values()))
    members = np.zeros((len(kinds), len(population.jobs)), dtype=bool)
    for number, kind in enumerate(kinds):
        members[number, list(kind)] = True
    return JobClasses({code: kinds.index(kind) for code, kind in jobs.items()}, members)


def of_psid(
    rows: pd.DataFrame, population: Population, domain: Domain, classes: JobClasses
) -> Covariates:
    """Covariates of rows of table psid_person that have gender, age and education."""
    races = population.experience.psid_races
    index = {r: i for i, r in enumerate(domain.races)}
    race_of = {code: index[r] for r, codes in population.races.items() for code in codes}
    race = rows["race_code"].map(races).map(race_of)
    if population.hispanic == "own_group":
        race = race.mask(rows["hispanic"].eq(True), index[HISPANIC])
    years = rows["education_years"].to_numpy(dtype=np.float64)
    return Covariates(
        gender=coded(rows["gender"].map({g: i for i, g in enumerate(GENDERS)})),
        race=coded(race),
        age=coded(rows["age"]),
        region=coded(rows["state"].map(_REGION_OF_STATE)),
        schooling=years,
        schooling_band=_band(years, population),
        job=coded(rows["occp_2010"].map(classes.of_code)),
    )


def of_survey(cells: pd.DataFrame, population: Population, domain: Domain) -> Covariates:
    """Covariates of surveyed people counted by gender, race, age, state and edu_level.

    The job is left at -1: the two surveys meet on everything else (`matching`).
    """
    level = cells["edu_level"].map({name: i for i, name in enumerate(domain.levels)})
    years = level_years(population)[level.to_numpy(dtype=np.int64)]
    return Covariates(
        gender=coded(cells["gender"].map({g: i for i, g in enumerate(GENDERS)})),
        race=coded(cells["race"].map({r: i for i, r in enumerate(domain.races)})),
        age=coded(cells["age"]),
        region=coded(cells["state"].map(_REGION_OF_STATE)),
        schooling=years,
        schooling_band=_band(years, population),
        job=np.full(len(cells), -1, dtype=np.int64),
    )


def counted(survey: Covariates, weight: Array) -> tuple[Covariates, Array]:
    """Distinct rows of covariates, sorted, with the sum of their weights: few, in any survey."""
    columns = vars(survey)
    distinct, at = np.unique(np.column_stack(list(columns.values())), axis=0, return_inverse=True)
    found = {
        name: distinct[:, i].astype(values.dtype)
        for i, (name, values) in enumerate(columns.items())
    }
    sums = np.bincount(at.ravel(), weights=weight)
    return Covariates(**found), np.asarray(sums, dtype=np.float64)


def level_years(population: Population) -> Array:
    """Years of schooling (E,) of each level of education, as PSID counts them: mean of its codes.

    Raises InputError for a code that `schooling_years` lacks.
    """
    known = population.experience.schooling_years
    for level, codes in population.education.items():
        for code in codes:
            if code not in known:
                raise InputError(
                    "population.experience.schooling_years",
                    f"lacks SCHL code {code} of education level {level}",
                    f"Give the years of schooling of {code}, as PSID counts them (0 to 17).",
                )
    return np.array(
        [np.mean([known[c] for c in codes]) for codes in population.education.values()],
        dtype=np.float64,
    )


def band_labels(population: Population) -> tuple[str, ...]:
    """Names of the bands of schooling, for instance `12` and `13-15`; the last is open."""
    lower = population.experience.schooling_bands
    closed = [f"{a}" if b == a + 1 else f"{a}-{b - 1}" for a, b in pairwise(lower)]
    return (*closed, f"{lower[-1]}+")


def coded(values: pd.Series[Any]) -> Index:
    """Missing becomes -1: no indicator set."""
    return np.asarray(values.astype("float64").fillna(-1), dtype=np.int64)


def _band(years: Array, population: Population) -> Index:
    lower = np.array(population.experience.schooling_bands)
    return np.asarray(np.searchsorted(lower, years, side="right") - 1, dtype=np.int64)
