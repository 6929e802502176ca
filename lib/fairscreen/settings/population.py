"""Settings of what an audit stands on and of who applies: `sources`, `population`."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, model_validator

from fairscreen import config_checks
from fairscreen.settings.base import Attribute, Positive, Settings, Share


class Sources(Settings):
    """Upstream files. `bundled:NAME` is a file that ships with fairscreen.

    first_names (`ssa` in older files): the SSA's names.zip or namesbystate.zip as downloaded, or a
    table (CSV, parquet) with columns name, gender, count and, where known, birth_year. surnames:
    the Census Bureau's names.zip of 2010 or 2000, or a table with name, count and percentages
    (pct_white ...) or race.
    """

    acs: tuple[str, ...]
    first_names: str
    surnames: str
    psid: str | tuple[str, ...]  # packages of several waves are joined by person
    psid_crosswalk: str | None = None  # your own table of variables; null = conf/psid_crosswalk.yml

    @model_validator(mode="after")
    def _some(self) -> Sources:
        config_checks.not_empty("acs", self.acs)
        config_checks.not_empty("psid", self.psid)
        return self


class Job(Settings):
    """One occupation: Census codes (text, zero-padded), of the survey's list or another.

    Codes that the survey's list lacks are translated (`population/occupations.py`).
    """

    title: str
    occp: tuple[str, ...]
    # 2010 codes in PSID; null = by the Census crosswalk; empty = experience as in the other jobs
    psid_occp: tuple[str, ...] | None = None
    content: str | None = None  # pools and job description; null = conf/jobs/KEY.yml


class Select(Settings):
    """Jobs taken from the survey: some of its `largest` occupations, or the `occupations` named."""

    largest: int | None = Field(None, ge=1)  # of the employed of the configured ages
    draw: int | None = Field(None, ge=1)  # so many of them at random; null = all
    by: Literal["people", "weight"] = "people"  # surveyed people (the paper's records) or PWGTP
    seed: int | None = None  # of the draw; null = the audit's
    occupations: tuple[str, ...] = ()  # codes or official titles (`fairscreen occupations`)
    content: dict[str, str] = Field({})  # code: YAML file of pools, where none ships

    @model_validator(mode="after")
    def _one_way(self) -> Select:
        config_checks.select(self.largest, self.draw, self.occupations)
        return self


class FirstNames(Settings):
    """Groups of first names: a share above the threshold, else `neutral` (PopResume C.4)."""

    gender_threshold: Share
    cohort_threshold: Share
    cohorts: dict[str, tuple[int, int]]  # label: first and last birth year, inclusive
    # A shift of documents.as_of or of the ages needs other cohorts: years that no cohort covers are
    # told in a note, and cohorts that cover none of the applicants' birth years are refused.

    @model_validator(mode="after")
    def _cohorts(self) -> FirstNames:
        config_checks.cohorts(self.cohorts)
        return self


class MomentTolerance(Settings):
    """How far a moment of the reweighted PSID may lie from the survey's."""

    share: Positive  # shares, absolute
    years: Positive  # mean and SD of age


class Experience(Settings):
    """P2: years of experience from PSID; XGBoost mean, sigma by group, truncated normal.

    `residuals`, `sigma`, `location`, `target`, `calibrate` and `choose_rounds` stand at
    training, residual_sd, as_published, years, false and false in the published preset; see
    population/experience.py.
    """

    waves: tuple[int, ...]
    psid_races: dict[int, str]  # PSID's first mention of race: RAC1P code; others fit no code
    schooling_years: dict[str, int]  # SCHL code: years of schooling as PSID counts them, 0 to 17
    # Lower bounds in years, 0 to 17 and 0 the first, of the bands the surveys meet on.
    schooling_bands: tuple[int, ...]
    match_survey: bool  # reweight PSID to the covariates of the ACS people (density ratio)
    calibrate: bool  # tilt the ratio until the moments meet
    largest_ratio: float = Field(gt=1, allow_inf_nan=False)  # no density ratio is above this
    moment_tolerance: MomentTolerance
    # Lower bounds of the age bands of sigma; who is younger than the first is in the first band.
    age_bands: tuple[int, ...]
    folds: int = Field(ge=2, le=50)  # of PSID families; the ratio's, and of out_of_fold residuals
    residuals: Literal["out_of_fold", "training"]  # what sigma is estimated from
    sigma: Literal["likelihood", "residual_sd"]  # of the truncated normal, or a plain SD
    sigma_prior_n: Positive  # weight of the coarser stratum's sigma, in people
    # mean: the truncated normal's mean is f. as_published: its location is f, its mean is not.
    location: Literal["mean", "as_published"]
    # What the trees learn: years worked, or their share in the years since 18. The spread of years
    # grows with age, so squared errors of years are those of the oldest.
    target: Literal["share", "years"]
    rounds: int = Field(ge=1)  # of boosting
    choose_rounds: bool  # of up to `rounds`, as many as foretell other families best
    max_depth: int = Field(ge=1)
    learning_rate: float = Field(gt=0, le=1, allow_inf_nan=False)
    min_sigma: float = Field(gt=0, le=20, allow_inf_nan=False)  # years

    @model_validator(mode="after")
    def _bands(self) -> Experience:
        config_checks.not_empty("waves", self.waves)
        config_checks.once("waves", [str(wave) for wave in self.waves])
        config_checks.bands("schooling_bands", self.schooling_bands, first=0, low=0, high=17)
        config_checks.bands("age_bands", self.age_bands, first=None, low=0, high=99)
        config_checks.codes("psid_races", self.psid_races.values(), "123456789")
        for code, years in self.schooling_years.items():
            if not 0 <= years <= 17:
                raise ValueError(f"schooling_years gives {code} {years}; PSID counts 0 to 17")
        return self


HISPANIC = "hispanic"


class Population(Settings):
    """Who applies: P1 to P4 of PopResume, section 4.1."""

    mode: Literal["balanced", "draws", "surveyed"]
    # Balanced and draws; `surveyed` takes every surveyed person.
    n_per_job: int = Field(ge=1, le=100_000_000)
    balance: tuple[Attribute, ...]
    # ACS year, the last one of a 5-year file; null = the only one there.
    vintage: int | None = Field(ge=2000, le=2100)
    period: Literal[1, 3, 5] | None  # years of data the ACS file pools; null = the only one there
    age_min: int = Field(ge=16, le=99)
    age_max: int = Field(ge=16, le=99)
    esr: tuple[str, ...]
    jobs: dict[str, Job] = Field({})
    select: Select | None = None  # instead of `jobs`; an audit's file has either
    races: dict[str, tuple[str, ...]]  # race: RAC1P codes
    # Hispanic people (HISP other than 01): within_races = by their RAC1P, as published; own_group =
    # the race `hispanic`, whatever their RAC1P; excluded = no applicants.
    hispanic: Literal["within_races", "own_group", "excluded"]
    education: dict[str, tuple[str, ...]]  # level, lowest first: SCHL codes
    education_groups: dict[str, tuple[str, ...]]  # group, lowest first: levels
    first_names: FirstNames
    surname_threshold: Share
    prior_n: Positive  # generator: weight of the coarser stratum, in surveyed people
    experience: Experience

    @model_validator(mode="after")
    def _consistent(self) -> Population:
        if self.age_min > self.age_max:
            raise ValueError("age_min is above age_max; swap them")
        if self.select and self.jobs:
            raise ValueError("jobs and select are both given; keep one of them")
        for name in ("jobs", "races", "education", "education_groups", "esr"):
            if name != "jobs" or not self.select:
                config_checks.not_empty(name, getattr(self, name))
        config_checks.once("balance", self.balance)
        config_checks.codes("esr", self.esr, "123456")
        config_checks.slugs("races", self.races)
        for race, codes in self.races.items():
            config_checks.not_empty(f"races.{race}", codes)
            config_checks.codes(f"races.{race}", codes, "123456789")
        for level, codes in self.education.items():
            config_checks.not_empty(f"education.{level}", codes)
            config_checks.codes(f"education.{level}", codes, config_checks.SCHL)
        for key, job in self.jobs.items():
            config_checks.not_empty(f"jobs.{key}.occp", job.occp)
            config_checks.four_digits(f"jobs.{key}.occp", job.occp)
            config_checks.four_digits(f"jobs.{key}.psid_occp", job.psid_occp or ())
        if self.hispanic == "own_group" and HISPANIC in self.races:
            raise ValueError(
                "hispanic own_group makes a race of HISP, so races cannot name hispanic; remove it"
            )
        levels = [level for group in self.education_groups.values() for level in group]
        if sorted(levels) != sorted(self.education):
            raise ValueError(
                "education_groups must name every level of education exactly once; "
                f"levels are {', '.join(self.education)}"
            )
        for name, mapped in (("races", self.races), ("education", self.education)):
            flat = [c for cs in mapped.values() for c in cs]
            twice = sorted({c for c in flat if flat.count(c) > 1})
            if twice:
                raise ValueError(f"{name} maps code {twice[0]} twice; keep it once")
        return self

    @property
    def race_labels(self) -> tuple[str, ...]:
        """The values that `race` of an applicant can take, in order."""
        return (*self.races, *((HISPANIC,) if self.hispanic == "own_group" else ()))
