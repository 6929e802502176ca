"""Axes, groups and counts of the population station."""

from __future__ import annotations

import numpy as np
import pytest

import population_inputs as inputs
from fairscreen.errors import InputError
from fairscreen.population import domain, grouping, joint
from fairscreen.population import notes as noted


def test_axes_of_the_demo() -> None:
    axes = domain.from_settings(inputs.demo().population)
    assert axes.shape_z == (2, 3, 27)
    assert [int((axes.band_of_age == k).sum()) for k in range(axes.n_bands)] == [7, 5, 5, 5, 5]
    assert axes.groups[axes.group_of_level[axes.levels.index("associate")]] == "medium"
    texas = axes.states.index("48")
    assert domain.REGIONS[axes.region_of_state[texas]] == "south"


def test_bands_that_no_age_reaches_are_left_out() -> None:
    cfg = inputs.demo("population.age_min=16", "population.age_max=29")
    axes = domain.from_settings(cfg.population)
    assert axes.n_bands == 2  # below 25, with 16 and 17 in it, and 25 to 29
    assert axes.band_of_age.tolist() == [0] * 9 + [1] * 5


@pytest.mark.parametrize(
    ("share", "threshold", "group"),
    [
        (0.76, 0.75, "female"),
        (0.75, 0.75, "neutral"),
        (0.25, 0.75, "neutral"),
        (0.24, 0.75, "male"),
        (0.6, 0.3, "female"),  # above a threshold below one half on both sides: the larger wins
        (0.4, 0.3, "male"),
    ],
)
def test_gender_groups(share: float, threshold: float, group: str) -> None:
    index = grouping.gender_groups(np.array([share]), threshold)
    assert grouping.GENDER_GROUPS[index[0]] == group


def test_majority_groups_ignore_suppressed_shares() -> None:
    shares = np.array([[0.51, 0.2, np.nan], [0.5, 0.2, np.nan], [np.nan, np.nan, 0.9]])
    assert grouping.majority_groups(shares, 0.5).tolist() == [0, 3, 2]


def test_a_job_with_nobody_is_an_error_with_counts() -> None:
    population = inputs.demo().population
    counts = [(job, "included", 5) for job in population.jobs if job != "accountants"]
    joint.require_people([*counts, ("accountants", "included", 1)], population)
    counts += [("accountants", "race", 2), ("accountants", "age", 3)]
    with pytest.raises(InputError) as error:
        joint.require_people(counts, population)
    assert str(error.value) == (
        "population.jobs.accountants: nobody of occupation 0800 is in the population (3 age, "
        "2 race). Check the codes of that vintage, the age range and the race and education maps, "
        "or ingest more states."
    )


@pytest.mark.parametrize(
    ("jobs", "message"),
    [
        ("nurses: {title: N, occp: ['3255', '3255'], psid_occp: ['3255']}",
         "population.jobs.nurses.occp: 3255 is listed twice. List it once."),
        ("nurses: {title: N, occp: ['3255'], psid_occp: []}, "
         "others: {title: O, occp: ['0800', '3255'], psid_occp: []}",
         "population.jobs: occupation 3255 belongs to two jobs, nurses and others. Keep it in "
         "one."),
    ],
)  # fmt: skip
def test_an_occupation_stands_once(jobs: str, message: str) -> None:
    with pytest.raises(InputError) as error:
        joint.occupations(inputs.demo(f"population.jobs={{{jobs}}}").population)
    assert str(error.value) == message


def test_notes_name_jobs_that_psid_does_not_know() -> None:
    jobs = (
        "population.jobs={nurses: {title: N, occp: ['3255'], psid_occp: ['3255']}, "
        "ghosts: {title: G, occp: ['0001'], psid_occp: ['0001', '0002']}, "
        "new: {title: W, occp: ['0002'], psid_occp: []}}"
    )
    rows = {"nurses": 29, "ghosts": 0, "new": 0}
    facts = {"psid_synthetic": False, "psid_rows_by_job": rows, "moments_outside": []}
    facts["psid_effective_n_by_job"] = {"nurses": 28.6, "ghosts": 0.0, "new": 0.0}
    assert noted.fit_notes(inputs.demo(jobs).population, facts) == (
        "Job ghosts: nobody in PSID, of the waves and ages in use, has its psid_occp (0001, 0002), "
        "so its years of experience are drawn from people in other jobs.",
        "Job new: its psid_occp is empty, so its years of experience are drawn from people in "
        "other jobs.",
        "Fewer than 30 effective PSID people (weights counted) in nurses (29): experience there "
        "leans on other jobs.",
    )
    facts = {"psid_synthetic": False, "psid_rows_by_job": {"nurses": 30},
             "psid_effective_n_by_job": {"nurses": 30.0}}  # fmt: skip
    facts["moments_outside"] = ["race black (0.03 against 0.11)", "age mean (30 against 33)"]
    assert noted.fit_notes(inputs.demo(jobs).population, facts) == (
        "PSID after weighting differs from the survey beyond "
        "population.experience.moment_tolerance in race black (0.03 against 0.11), age mean (30 "
        "against 33): years of experience lean on the model there.",
    )


def test_notes_name_values_a_balanced_job_lacks_and_jobs_with_few_people() -> None:
    jobs = (
        "population.jobs={laborers: {title: L, occp: ['6260'], psid_occp: ['6260']}, "
        "nurses: {title: N, occp: ['3255'], psid_occp: ['3255']}}"
    )
    shape = domain.from_settings(inputs.demo().population).shape_z
    full = np.full(shape, 1 / np.prod(shape))
    men = full.copy()
    men[0] = 0  # no women
    men[:, 2] = 0  # and the third race is missing
    shares, surveyed = {"laborers": men, "nurses": full}, {"laborers": 10, "nurses": 100}

    def notes(*overrides: str) -> tuple[str, ...]:
        population = inputs.demo(jobs, "population.n_per_job=400", *overrides).population
        return noted.survey_notes(population, shares, surveyed)

    few = "Only 10 surveyed people stand behind the 400 applicants of laborers."
    assert notes("population.mode=balanced", "population.balance=[gender, race]") == (
        "Job laborers: nobody surveyed has gender female, so its applicants are all male, although "
        "population.balance says gender.",
        "Job laborers: nobody surveyed has race asian_pacific, so its applicants are all white or "
        "black, although population.balance says race.",
        few,
    )
    assert len(notes("population.mode=balanced", "population.balance=[gender]")) == 2
    assert notes("population.mode=draws") == (few,)
    assert notes("population.mode=surveyed") == ()
