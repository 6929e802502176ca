"""What a reader must be told about a population: thin surveys, thin PSID, missing values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fairscreen.population import generator as gen
from fairscreen.population.domain import GENDERS
from fairscreen.settings.population import Population

FEW_SURVEYED = 100  # people of a job; fewer, and their own mix is mostly chance
FEW_PSID = 30  # PSID rows of a job; fewer, and its experience is mostly that of other jobs


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
    thin = [j for j, n in counts.items() if 0 < n < FEW_PSID]
    if thin:
        notes.append(
            f"Fewer than {FEW_PSID} PSID rows in {', '.join(thin)}: experience there leans on "
            "other jobs."
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
    notes, labels = [], {"gender": GENDERS, "race": tuple(population.races)}
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
