"""P1: the surveyed people of the audit's jobs, and why the others stay outside.

Source: PopResume, section 4.1 (employed, age range, three races, seven education levels); every
limit is config (`population`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf

from fairscreen.errors import InputError
from fairscreen.population.geography import STATES
from fairscreen.population.mapping import NOT_HISPANIC
from fairscreen.settings.population import HISPANIC, Population
from fairscreen.sources.acs_layout import survey_name

#: Why a surveyed person of one of the jobs is not an applicant, in the order of checking.
REASONS = ("not_employed", "age", "race", "hispanic", "below_high_school", "state_outside")


Survey = tuple[int, int]  # vintage (the last year) and period (years of data)


def survey_of(acs: DataFrame, population: Population) -> Survey:
    """The ACS survey in use; InputError as `choose_survey`."""
    rows = acs.select("vintage", _period(acs).alias("period")).distinct().collect()
    there = ((int(row["vintage"]), int(row["period"])) for row in rows)
    return choose_survey(there, population.vintage, population.period)


def choose_survey(there: Iterable[Survey], vintage: int | None, period: int | None) -> Survey:
    """The survey in use; InputError where it is absent, or several are there and none chosen."""
    found = sorted(set(there))
    years = sorted({year for year, _ in found})
    listed = ", ".join(str(v) for v in years)
    if not found:
        raise InputError("acs_person", "holds no people", "Run `fairscreen ingest` first.")
    if vintage is not None and vintage not in years:
        raise InputError(
            "population.vintage",
            f"{vintage} is not in the warehouse, which holds {listed}",
            "Ingest a file of that year, or choose one of those.",
        )
    fitting = [s for s in found if vintage in (None, s[0])]
    chosen = [s for s in fitting if period in (None, s[1])]
    if not chosen:
        raise InputError(
            "population.period",
            f"{period} is not in the warehouse, which holds "
            + ", ".join(survey_name(*s) for s in fitting),
            "Ingest such a file, or choose one of those.",
        )
    if len({year for year, _ in chosen}) > 1:
        raise InputError(
            "population.vintage",
            f"is not set and the warehouse holds several ACS years: {listed}",
            "Set it to one of them.",
        )
    if len(chosen) > 1:
        raise InputError(
            "population.period",
            "is not set and the warehouse holds several ACS files of one year: "
            + ", ".join(f"{year} ({years}-year)" for year, years in chosen),
            f"Set it to {' or '.join(str(years) for _, years in chosen)}.",
        )
    return chosen[0]


def _within(acs: DataFrame, survey: Survey) -> Column:
    return (sf.col("vintage") == survey[0]) & (_period(acs) == survey[1])


def _period(acs: DataFrame) -> Column:
    """Rows written before the column existed are of 1 year."""
    known = sf.col("period") if "period" in acs.columns else sf.lit(None)
    return sf.coalesce(known, sf.lit(1))


def occupations(population: Population) -> dict[str, tuple[str, ...]]:
    """ACS codes by job. InputError where a code is in two jobs, or twice in one."""
    owner: dict[str, str] = {}
    for key, job in population.jobs.items():
        for code in job.occp:
            if owner.get(code) == key:
                where, problem = f"population.jobs.{key}.occp", f"{code} is listed twice"
                raise InputError(where, problem, "List it once.")
            if code in owner:
                raise InputError(
                    "population.jobs",
                    f"occupation {code} belongs to two jobs, {owner[code]} and {key}",
                    "Keep it in one.",
                )
            owner[code] = key
    return {key: job.occp for key, job in population.jobs.items()}


def surveyed(acs: DataFrame, population: Population, *, also: Sequence[str] = ()) -> DataFrame:
    """Everybody of the configured jobs in one survey, with `reason` null for who is in.

    One row per person: person_key ("SERIALNO|SPORDER"), vintage, serialno, sporder, job, gender,
    race, age, state, edu_level, pwgtp, reason, and columns `also` as they are. `race` and
    `edu_level` are null where the config maps no value to the person's code; such people carry a
    reason. Who is Hispanic is another race, or left out, where the config says so; somebody whose
    HISP is not known is not.
    """
    survey = survey_of(acs, population)
    jobs = occupations(population)
    flat = [code for codes in jobs.values() for code in codes]
    people = acs.where(_within(acs, survey) & sf.col("occp").isin(flat))
    race = _mapped("rac1p", population.races)
    hispanic = sf.col("hisp") != NOT_HISPANIC  # null where the file does not tell
    if population.hispanic == "own_group":
        race = sf.when(hispanic, sf.lit(HISPANIC)).otherwise(race)
    level = _mapped("schl", population.education)
    outside = {
        "not_employed": ~sf.coalesce(sf.col("esr").isin(list(population.esr)), sf.lit(False)),
        "age": ~sf.col("age").between(population.age_min, population.age_max),
        "race": race.isNull(),
        "hispanic": hispanic if population.hispanic == "excluded" else sf.lit(False),
        "below_high_school": level.isNull(),
        "state_outside": ~sf.col("state").isin(sorted(STATES)),
    }
    return people.select(
        sf.concat_ws("|", "serialno", "sporder").alias("person_key"),
        "vintage",
        "serialno",
        "sporder",
        _mapped("occp", jobs).alias("job"),
        sf.when(sf.col("sex") == "1", "male").otherwise("female").alias("gender"),
        race.alias("race"),
        "age",
        "state",
        level.alias("edu_level"),
        "pwgtp",
        *also,
        sf.coalesce(*(sf.when(outside[r], sf.lit(r)) for r in REASONS)).alias("reason"),
    )


def occupation_counts(
    acs: DataFrame, vintage: int, *, period: int = 1, esr: Sequence[str], ages: tuple[int, int]
) -> DataFrame:
    """Everybody employed of these ages, by occupation: occp, people, weighted (sum PWGTP)."""
    employed = sf.col("esr").isin(list(esr)) & sf.col("age").between(*ages)
    people = acs.where(_within(acs, (vintage, period)) & employed & sf.col("occp").isNotNull())
    return people.groupBy("occp").agg(
        sf.count(sf.lit(1)).alias("people"), sf.sum("pwgtp").cast("bigint").alias("weighted")
    )


def exclusions(people: DataFrame) -> DataFrame:
    """Counts by job and reason ('included' is one): job, reason, people, weighted (sum PWGTP)."""
    reason = sf.coalesce("reason", sf.lit("included")).alias("reason")
    return people.groupBy("job", reason).agg(
        sf.count(sf.lit(1)).alias("people"), sf.sum("pwgtp").cast("bigint").alias("weighted")
    )


def require_people(counts: Sequence[tuple[str, str, int]], population: Population) -> None:
    """InputError naming the first job of the config with nobody in it; counts: job, reason, n."""
    for job, settings in population.jobs.items():
        mine = {reason: n for name, reason, n in counts if name == job}
        if mine.get("included"):
            continue
        others = ", ".join(f"{n} {reason}" for reason, n in sorted(mine.items()))
        raise InputError(
            f"population.jobs.{job}",
            f"nobody of occupation {', '.join(settings.occp)} is in the population"
            + (f" ({others})" if others else " (no such person in the survey)"),
            "Check the codes of that vintage, the age range and the race and education maps, "
            "or ingest more states.",
        )


def _mapped(column: str, values: Mapping[str, Sequence[str]]) -> Column:
    """The key whose codes hold the column's value; null where none does."""
    cases = [sf.when(sf.col(column).isin(list(codes)), sf.lit(k)) for k, codes in values.items()]
    return sf.coalesce(*cases)
