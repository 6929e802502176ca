"""What a reader must be told about a population: thin surveys, thin PSID, missing values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fairscreen.population import generator as gen
from fairscreen.population.domain import GENDERS
from fairscreen.settings.population import Population

FEW_SURVEYED = 100  # people of a job; fewer, and their own mix is mostly chance
FEW_PSID = 30  # effective PSID people of a job; fewer, and other jobs stand behind its experience


def fit_notes(population: Population, facts: Mapping[str, Any]) -> tuple[str, ...]:
    """facts: those of the experience model."""
    notes = []
    if facts["psid_synthetic"]:
        notes.append("Years of experience come from a synthetic PSID extract, not from PSID data.")
    counts = facts["psid_rows_by_job"]
    for job in (j for j, n in counts.items() if not n):
        codes = population.jobs[job].psid_occp
        why = (
            f"nobody in PSID, of the waves and ages in use, has its psid_occp ({', '.join(codes)})"
            if codes
            else "its psid_occp is empty"
        )
        notes.append(
            f"Job {job}: {why}, so its years of experience are drawn from people in other jobs."
        )
    effective = facts["psid_effective_n_by_job"]
    thin = [f"{j} ({effective[j]:.0f})" for j, n in counts.items() if n and effective[j] < FEW_PSID]
    if thin:
        notes.append(
            f"Fewer than {FEW_PSID} effective PSID people (weights counted) in "
            f"{', '.join(thin)}: experience there leans on other jobs."
        )
    if outside := facts["moments_outside"]:
        notes.append(
            "PSID after weighting differs from the survey beyond "
            f"population.experience.moment_tolerance in {', '.join(outside)}: years of experience "
            "lean on the model there."
        )
    return tuple(notes)


def survey_notes(
    population: Population, shares: Mapping[str, gen.Array], surveyed: Mapping[str, int]
) -> tuple[str, ...]:
    """Values that a balanced job lacks, and jobs that few surveyed people stand behind.

    shares: (G, R, A) of each job's surveyed population; surveyed: its people. Surveyed mode has
    no notes: there the applicants are the surveyed people.
    """
    if population.mode == "surveyed":
        return ()
    notes, labels = [], {"gender": GENDERS, "race": population.race_labels}
    for job in population.jobs:  # in the order of the config, not of the counted rows
        n = surveyed[job]
        for axis, (attribute, values) in enumerate(labels.items()):
            if population.mode != "balanced" or attribute not in population.balance:
                continue
            there = shares[job].sum(axis=tuple(a for a in range(3) if a != axis)) > 0
            gone = [v for v, occurs in zip(values, there, strict=True) if not occurs]
            if gone:
                have = [v for v, occurs in zip(values, there, strict=True) if occurs]
                notes.append(
                    f"Job {job}: nobody surveyed has {attribute} {' or '.join(gone)}, so its "
                    f"applicants are all {' or '.join(have)}, although population.balance says "
                    f"{attribute}."
                )
        if n < FEW_SURVEYED:
            notes.append(
                f"Only {n} surveyed {'person stands' if n == 1 else 'people stand'} behind the "
                f"{population.n_per_job:,} applicants of {job}."
            )
    return tuple(notes)


def name_notes(population: Population, years: tuple[int, int], *, dated: bool) -> tuple[str, ...]:
    """years: first and last birth year of applicants; dated: whether first names have years."""
    notes = []
    if population.hispanic == "within_races":
        notes.append(
            "Hispanic applicants count by their race (population.hispanic: within_races). Surnames "
            "by race are those of people who are not Hispanic, as the Census Bureau counts them."
        )
    if not dated:
        notes.append(
            "The list of first names tells no birth years: every year has the same names, and the "
            "cohort of all of them is neutral."
        )
    covered = {
        year for low, high in population.first_names.cohorts.values()
        for year in range(low, high + 1)
    }  # fmt: skip
    bare = [year for year in range(years[0], years[1] + 1) if year not in covered]
    if bare and dated:
        notes.append(
            f"Applicants are born {years[0]} to {years[1]}; no cohort of population.first_names "
            f"covers {_spans(bare)}. Births of these years count for no cohort."
        )
    return tuple(notes)


def _spans(years: list[int]) -> str:
    """`1970 to 1979, 1990`."""
    starts = [y for y in years if y - 1 not in years]
    ends = [y for y in years if y + 1 not in years]
    pairs = zip(starts, ends, strict=True)
    return ", ".join(f"{a} to {b}" if a < b else str(a) for a, b in pairs)
