"""Years worked since 18: found out when it was asked, and brought up to date."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from fairscreen.sources import psid
from fairscreen.sources.psid_crosswalk import load_crosswalk
from fairscreen.sources.psid_experience import Asked, Status, trace, up_to_date, years
from psid_files import couple, package, person

WALK = load_crosswalk()


def status(state: str, working: float | None = None, code: float | None = None) -> Status:
    """One person: `adult`, `other`, `absent`, or `gone` (no interview, unknown)."""
    return Status(
        np.array([state == "adult"]),
        np.array([state == "other"]),
        np.array([state == "absent"]),
        np.array([np.nan if working is None else working]),
        None if code is None else np.array([code]),
    )


def follow(*states: Status, first: int = 2011) -> tuple[float | None, float]:
    """Wave of asking and years worked since, at the last of biennial waves."""
    waves = {first + 2 * i: s for i, s in enumerate(states)}
    last = trace(waves)[max(waves)]
    asked = float(last.wave[0])
    return (None if np.isnan(asked) else asked), float(last.since[0])


ADULT, OTHER, NONE, GONE = "adult", "other", "absent", "gone"


@pytest.mark.parametrize(
    ("states", "asked", "since"),
    [
        # A child of the family in 2011, reference person from 2013; always at work.
        ([(OTHER, 0), (ADULT, 1), (ADULT, 1), (ADULT, 1, 3)], 2013, 4),
        # Married into the study in 2015.
        ([(NONE,), (NONE,), (ADULT, 1), (ADULT, 1, 3)], 2015, 2),
        # Reference person from the start: asked then or before; the time since then is added.
        ([(ADULT, 1), (ADULT, 1), (ADULT, 1), (ADULT, 1, 3)], None, 6),
        # Not interviewed in between: not asked again. Work unknown at one end counts as the other.
        ([(OTHER, 0), (ADULT, 1), (NONE,), (ADULT, 1, 3)], 2013, 4),
        ([(OTHER, 0), (ADULT, 1), (GONE,), (ADULT, 1, 3)], 2013, 4),
        # Back to the parents, and out again.
        ([(ADULT, 1), (OTHER, 1), (ADULT, 1), (ADULT, 1, 3)], 2015, 2),
        # Half of an interval counts for each end at work.
        ([(OTHER, 1), (ADULT, 1), (ADULT, 0), (ADULT, 1, 3)], 2013, 2),
        ([(OTHER, 1), (ADULT, 0), (ADULT, 0), (ADULT, 1, 3)], 2013, 1),
        # The number changed: asked again.
        ([(OTHER, 1), (ADULT, 1, 3), (ADULT, 1, 3), (ADULT, 1, 9)], 2017, 0),
        ([(OTHER, 1), (ADULT, 1, 3), (ADULT, 1, 3), (ADULT, 1, 3)], 2013, 4),
        # "Don't know" is repeated like any other answer; a blank says nothing of a change.
        ([(OTHER, 1), (ADULT, 1, 98), (ADULT, 1, 98), (ADULT, 1, 98)], 2013, 4),
        ([(OTHER, 1), (ADULT, 1, 98), (ADULT, 1, 98), (ADULT, 1, 3)], 2017, 0),
        ([(OTHER, 1), (ADULT, 1, 3), (ADULT, 1, np.nan), (ADULT, 1, 3)], 2013, 4),
        ([(ADULT, 1, 2), (ADULT, 1, 4), (ADULT, 1, 4), (ADULT, 1, 4)], 2013, 4),
    ],
)
def test_the_wave_of_asking_and_the_years_since(states, asked: int | None, since: float):
    assert follow(*(status(*s) for s in states)) == (asked, since)


def test_somebody_who_is_no_adult_now_has_no_wave_of_asking():
    found = trace(
        {2017: status(OTHER, 1), 2019: status(ADULT, 1, 3.0), 2021: status(OTHER, 1, np.nan)}
    )
    assert found[2019].wave.tolist() == [2019]
    assert np.isnan(found[2021].wave).all()


def test_codes_that_stand_for_years():
    age = np.array([40.0, 40.0, 17.0, np.nan, 40.0])
    asked = Asked(np.array([2011.0, np.nan, 2021.0, 2011.0, 2021.0]), np.zeros(5))
    code = np.array([96.0, 96.0, 96.0, 96.0, 95.0])
    got = years(code, age, asked, 2021, WALK)
    # At 30; unknown: at 40; not below none; age unknown; less than one.
    np.testing.assert_array_equal(got, [12, 22, 0, np.nan, 0])


def test_never_above_all_years_since_18():
    answered = np.array([5.0, 5.0, 30.0, 5.0, np.nan])
    age = np.array([40.0, 26.0, 40.0, np.nan, 40.0])
    asked = Asked(np.full(5, 2011.0), np.full(5, 10.0))
    np.testing.assert_array_equal(up_to_date(answered, age, asked), [15, 8, 30, 15, np.nan])


HISTORY = {"ER34302": 3, "ER34303": 30, "ER34317": 7, "ER34502": 1, "ER34503": 10, "ER34516": 1}


def test_an_extract_with_earlier_waves(tmp_path: Path):
    """Child of a family in 2015, reference person from 2017: the answer of 2017 is repeated."""
    man = person(1, seq=(1, 1), rel=(10, 10), ER76961=5, ER81189=5, **HISTORY)
    found = psid.read(package(tmp_path / "J1.zip", [man]))
    columns = ("wave", "years_worked", "years_worked_answered", "years_worked_asked")
    rows = [tuple(row[c] for c in columns) for row in found.rows.to_pylist()]
    assert rows == [(2019, 7, 5, 2017), (2021, 9, 5, 2017)]
    assert psid.notes(found, "J1.zip")[3] == (
        "Years worked: 2 answers, 2 of them brought up to date. 0 were asked in the earliest wave "
        "of the extract or before: what came before that wave is missing from them. 1 of 1 people "
        "in two waves in a row gave the same number in both."
    )


@pytest.mark.parametrize(
    ("employment", "added"),
    [(1, 2), (2, 2), (3, 1), (6, 1), (0, 2), (9, 2), (None, 2)],  # not known: like the other end
)
def test_employment_of_an_earlier_wave(tmp_path: Path, employment: int | None, added: int):
    man = person(1, seq=(1, 0), rel=(10, 0), ER76961=5, **{**HISTORY, "ER34516": employment})
    found = psid.read(package(tmp_path / "J1.zip", [man])).rows
    assert found["years_worked"].to_pylist() == [5 + added]


def test_a_wave_may_keep_the_numbers_of_the_psid(tmp_path: Path):
    waves = {
        year: wave.model_copy(update={"years_worked_carried_forward": False})
        for year, wave in WALK.waves.items()
    }
    man = person(1, seq=(1, 1), rel=(10, 10), ER76961=5, ER81189=5, **HISTORY)
    path = package(tmp_path / "J1.zip", [man])
    rows = psid.read(path, WALK.model_copy(update={"waves": waves})).rows
    assert rows["years_worked"].to_pylist() == rows["years_worked_answered"].to_pylist() == [5, 5]
    assert rows["years_worked_asked"].to_pylist() == [2017, 2017]


def test_without_earlier_waves_the_time_between_the_waves_is_known(tmp_path: Path):
    people = [person(1, seq=(1, 1), rel=(10, 10), ER81189=18)]
    found = psid.read(package(tmp_path / "J1.zip", people)).rows
    assert found["years_worked"].to_pylist() == [18, 20]
    assert found["years_worked_asked"].to_pylist() == [None, None]
    assert psid.read(package(tmp_path / "J2.zip", couple())).rows.num_rows == 3
