"""PSID and ACS in one coding, and PSID codes that are several jobs."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import population_inputs as inputs
from fairscreen.errors import InputError
from fairscreen.population import domain, experience, harmonise

CFG = inputs.demo()
AXES = domain.from_settings(CFG.population)
CELLS = inputs.cells(CFG, 20)
SHARED = (
    "population.jobs={developers: {title: D, occp: ['1021'], psid_occp: ['1020']}, "
    "testers: {title: Q, occp: ['1022'], psid_occp: ['1020', '4700']}, "
    "nurses: {title: N, occp: ['3255'], psid_occp: ['3255']}}"
)


def test_psid_codes_become_the_audits_values() -> None:
    rows = pd.DataFrame(
        {
            "gender": ["male", "female", "female"],
            "race_code": [4, 7, None],
            "age": [30, 18, 44],
            "state": ["06", None, "72"],  # Puerto Rico is in no region
            "education_years": [17, 11, 14],
            "occp_2010": ["3255", "9999", None],
        }
    )
    classes = harmonise.job_classes(CFG.population)
    found = harmonise.of_psid(rows, CFG.population, AXES, classes)
    assert found.gender.tolist() == [1, 0, 0]
    assert found.race.tolist() == [AXES.races.index("asian_pacific"), -1, -1]
    assert found.region.tolist() == [3, -1, -1]
    assert found.schooling.tolist() == [17, 11, 14]
    assert [harmonise.band_labels(CFG.population)[b] for b in found.schooling_band] == [
        "17+", "0-11", "13-15",
    ]  # fmt: skip
    assert found.job.tolist() == [0, -1, -1]


def test_both_surveys_meet_on_bands_of_schooling() -> None:
    cells = pd.DataFrame(
        {"gender": "male", "race": "white", "age": 30, "state": "06", "edu_level": AXES.levels}
    )
    found = harmonise.of_survey(cells, CFG.population, AXES)
    assert found.schooling.tolist() == [12, 13, 14, 16, 17, 17, 17]
    labels = harmonise.band_labels(CFG.population)
    assert [labels[b] for b in found.schooling_band] == [
        "12", "13-15", "13-15", "16", "17+", "17+", "17+",
    ]  # fmt: skip


def test_counting_keeps_every_weight() -> None:
    survey = harmonise.of_survey(CELLS, CFG.population, AXES)
    weight = CELLS["weight"].to_numpy(dtype=float)
    few, sums = harmonise.counted(survey, weight)
    assert sums.sum() == weight.sum()
    assert len(sums) < len(weight)
    assert np.average(few.age, weights=sums) == pytest.approx(
        np.average(CELLS["age"], weights=weight)
    )
    men = sums[few.gender == 1].sum()
    assert men == CELLS.loc[CELLS["gender"] == "male", "weight"].sum()


def test_a_code_that_is_two_jobs_informs_both() -> None:
    population = inputs.demo(SHARED).population
    classes = harmonise.job_classes(population)
    assert classes.members.tolist() == [
        [True, True, False],  # 1020
        [False, True, False],  # 4700
        [False, False, True],  # 3255
    ]
    job = np.array([classes.of_code["1020"], classes.of_code["4700"], -1])
    assert classes.informs(job).tolist() == [
        [True, True, False], [False, True, False], [False, False, False],
    ]  # fmt: skip
    rows = inputs.psid()
    fitted = experience.fit(rows, population, domain.from_settings(population), CELLS)
    counts = fitted.facts["psid_rows_by_job"]
    assert counts["testers"] > counts["developers"] > 0

    only = SHARED.replace("['1020', '4700']", "['1020']")
    population = inputs.demo(only).population
    fitted = experience.fit(rows, population, domain.from_settings(population), CELLS)
    assert fitted.facts["psid_rows_by_job"]["testers"] == counts["developers"]
    np.testing.assert_array_equal(fitted.mean[0], fitted.mean[1])
    np.testing.assert_array_equal(fitted.sigma[0], fitted.sigma[1])
    assert not np.array_equal(fitted.mean[0], fitted.mean[2])


def test_a_job_of_two_codes_is_their_mixture() -> None:
    """People of code 1020 have worked 2 years more than those of 4700: the job lies between."""
    rows = inputs.psid(6000)
    more = rows["occp_2010"] == "1020"
    rows = rows.assign(
        years_worked=np.minimum(rows["years_worked"] + 2 * more, (rows["age"] - 18).clip(lower=0))
    )
    population = inputs.demo(SHARED).population
    mean = experience.fit(rows, population, domain.from_settings(population), CELLS).mean
    old = mean[:, :, :, 12:22]  # ages 30 to 39, away from the bounds
    assert 0.4 < (old[0] - old[1]).mean() < 1.6


def test_a_schooling_code_without_years_is_refused() -> None:
    levels = dict(CFG.population.education) | {"doctorate": ("24", "25")}
    population = CFG.population.model_copy(update={"education": levels})
    with pytest.raises(InputError) as error:
        harmonise.level_years(population)
    assert str(error.value) == (
        "population.experience.schooling_years: lacks SCHL code 25 of education level doctorate. "
        "Give the years of schooling of 25, as PSID counts them (0 to 17)."
    )


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("schooling_bands=[12, 12]", "schooling_bands does not increase; sort its bounds"),
        ("psid_races={1: '1', 2: '0'}", "psid_races has no code 0; codes are 1 to 9"),
        ("schooling_years={'16': 18}", "schooling_years gives 16 18; PSID counts 0 to 17"),
    ],
)
def test_mappings_are_checked(override: str, message: str) -> None:
    with pytest.raises(Exception, match=message):
        inputs.demo(f"population.experience.{override}")
