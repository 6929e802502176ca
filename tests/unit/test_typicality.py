"""What privacy hides from names: bounds that hold the truth, and groups that could be others."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import population_inputs as inputs
from fairscreen.errors import InputError
from fairscreen.population import births, grouping, naming, notes, typicality
from fairscreen.settings.population import FirstNames

YEARS = (2000, 2003)
SETTINGS = FirstNames(
    gender_threshold=0.75, cohort_threshold=0.5,
    cohorts={"old": (2000, 2000), "mid": (2001, 2001), "young": (2002, 2003)},
)  # fmt: skip


def _rows(cells: dict[tuple[int, str, str], int]) -> pd.DataFrame:
    columns = ["birth_year", "sex", "name"]
    return pd.DataFrame([(*k, n) for k, n in cells.items()], columns=[*columns, "births"])


# Every year has a name of its own, so that the calendar of the file is known.
_CALENDAR = {(year, sex, f"Calendar{sex}"): 100 for year in range(2000, 2004) for sex in "FM"}


@given(
    st.dictionaries(
        st.tuples(st.integers(*YEARS), st.sampled_from("FM"), st.sampled_from("ABC")),
        st.integers(1, 12),
        min_size=1,
    ),
    st.sampled_from([0.3, 0.5, 0.75, 0.9]),
)
def test_the_truth_lies_within_the_bounds(
    truth: dict[tuple[int, str, str], int], threshold: float
) -> None:
    """The SSA's rule applied to known births: a cell below five is left out."""
    told = births.count(
        _rows(_CALENDAR | {k: n for k, n in truth.items() if n >= 5}), SETTINGS, years=YEARS
    )
    low, high = told.p_female_bounds()
    all_births = births.count(_rows(_CALENDAR | truth), SETTINGS, years=YEARS)
    at = [int(np.flatnonzero(all_births.names == name)[0]) for name in told.names]
    true_share = all_births.p_female[at]
    assert (low <= true_share + 1e-12).all()
    assert (true_share <= high + 1e-12).all()
    gender = grouping.gender_groups(told.p_female, threshold)
    moved = grouping.gender_groups(true_share, threshold) != gender
    assert not (moved & ~told.gender_may_flip(threshold)).any()
    cohort = grouping.majority_groups(told.cohort_shares(), threshold)
    moved = grouping.majority_groups(all_births.cohort_shares()[at], threshold) != cohort
    assert not (moved & ~told.cohort_may_flip(threshold)).any()


def test_missing_cells_of_years_and_states_are_counted() -> None:
    rows = _rows(_CALENDAR | {(2000, "F", "Ann"): 30, (2001, "F", "Ann"): 50})
    told = births.count(rows, SETTINGS, years=YEARS)
    ann = list(told.names).index("Ann")
    assert told.hidden[ann].tolist() == [2 * 4, 4 * 4]
    assert told.hidden_by_cohort[ann].tolist() == [4, 4, 16]
    assert told.p_female[ann] == 1
    low, high = told.p_female_bounds()
    assert (low[ann], high[ann]) == (80 / 96, 1)
    assert not told.gender_may_flip(0.75)[ann]
    assert told.gender_may_flip(0.9)[ann]

    states = rows.assign(hidden_births=0, hidden_if_absent=12)
    states.loc[states["name"] == "Ann", "hidden_births"] = 8
    told = births.count(states, SETTINGS, years=YEARS)
    assert told.hidden[ann].tolist() == [2 * 12 + 2 * 8, 4 * 12]

    own = rows.assign(hidden_births=0, hidden_if_absent=0)
    told = births.count(own, SETTINGS, years=YEARS)
    assert not told.hidden.any()
    assert not told.gender_may_flip(0.75).any()
    assert not told.cohort_may_flip(0.5).any()


def test_a_list_without_years_has_the_same_names_in_every_year() -> None:
    rows = pd.DataFrame(
        {
            "birth_year": [None] * 3, "sex": ["F", "F", "M"], "name": ["ANN", "Kim", "Kim"],
            "births": [60, 40, 100], "hidden_births": 0, "hidden_if_absent": 0,
        }
    )  # fmt: skip
    table = naming.first_names(rows, SETTINGS, years=YEARS)
    u = (np.arange(100) + 0.5) / 100
    for year in (2000, 2003):
        drawn = table.names[table.draw(np.zeros(100, np.int64), np.full(100, year), u)]
        assert pd.Series(drawn).value_counts().to_dict() == {"Ann": 60, "Kim": 40}
    assert np.isnan(table.mean_year).all()
    assert [table.cohort_labels[i] for i in table.cohort_group] == ["neutral"] * 2
    assert [grouping.GENDER_GROUPS[i] for i in table.gender_group] == ["female", "neutral"]
    np.testing.assert_allclose(table.group_shares()[0, :, 0, -1], 0.6)
    only_women = rows[rows["sex"] == "F"]
    with pytest.raises(InputError, match=r"ssa_name: has no male names\. Ingest a list with"):
        naming.first_names(only_women, SETTINGS, years=YEARS)


def test_a_suppressed_share_may_make_another_group() -> None:
    census = pd.DataFrame(
        {
            "name": ["ALPHA", "BETA", "DELTA", "GAMMA"], "bearers": 100,
            "pct_white": [45.0, 30.0, 90.0, 60.0], "pct_black": [np.nan, np.nan, 10.0, np.nan],
            "pct_asian_pacific": [2.0, 10.0, 0.0, 2.0], "pct_native": [1.0, 1.0, 0.0, 1.0],
            "pct_two_or_more": [1.0, 1.0, 0.0, np.nan], "pct_hispanic": [40.0, 1.0, 0.0, 5.0],
            "source_sha256": "aa",
        }
    )  # fmt: skip
    table = naming.surnames(census, ("white", "black"), threshold=0.5)
    assert [table.groups[g] for g in table.group] == ["neutral", "neutral", "white", "white"]
    # Beta's 57% that nobody told could all be Black bearers; Alpha's 11% could not.
    assert typicality.may_flip(census, table, 0.5).tolist() == [False, True] + [False] * 2
    np.testing.assert_allclose(naming.suppressed_sum(naming.published(census)[1]), [11, 57, 0, 32])


@pytest.fixture(scope="module")
def shipped() -> typicality.Names:
    cfg = inputs.demo("population.hispanic=own_group")
    people = inputs.ssa().query("births >= 50")
    return typicality.names(
        people, inputs.surnames(), cfg.population, years=cfg.birth_years
    )  # fmt: skip


def test_rows_are_the_tables_that_draw(shipped: typicality.Names) -> None:
    rows = shipped.first_rows.to_pandas().set_index("name")
    assert rows.index.is_unique
    assert set(rows.index) == set(shipped.first.names[shipped.first.code])
    madison = rows.loc["Madison"]
    people = inputs.ssa().query("births >= 50 and name == 'Madison'")
    by_sex = people.groupby("sex")["births"].sum()
    assert (madison["births_female"], madison["births_male"]) == (by_sex["F"], by_sex["M"])
    assert madison["p_female_low"] <= madison["p_female"] <= madison["p_female_high"]
    assert (madison["gender_group"], madison["cohort_group"]) == ("female", "young")
    young = people[people["birth_year"].between(1998, 2006)]["births"].sum()
    shares = json.loads(madison["cohort_shares"])
    assert shares["young"] == pytest.approx(young / by_sex.sum(), abs=1e-6)
    assert json.loads(madison["cohorts"])["old"] == [1980, 1988]
    assert (madison["first_birth_year"], madison["last_birth_year"]) == (1980, 2006)
    assert (madison["source_kind"], madison["source_sha256"]) == ("ssa_national", "test")
    last = shipped.last_rows.to_pandas().set_index("name")
    assert last.index.is_unique
    garcia = last.loc["Garcia"]
    assert (garcia["surname_group"], garcia["p_hispanic"]) == ("hispanic", 0.9203)
    assert last.loc["Vang"][["p_black", "p_native"]].isna().all()
    assert last.loc["Vang", "p_suppressed"] == pytest.approx(0.001)
    assert shipped.facts["surname_group_may_flip"]["hispanic"] == 0


def test_notes_tell_years_that_no_cohort_covers() -> None:
    cfg = inputs.demo("population.age_max=55", "population.hispanic=excluded")
    assert notes.name_notes(cfg.population, cfg.birth_years, dated=True) == (
        "Applicants are born 1969 to 2006; no cohort of population.first_names covers 1969 to "
        "1979. Births of these years count for no cohort.",
    )
    cfg = inputs.demo()
    assert notes.name_notes(cfg.population, cfg.birth_years, dated=False) == (
        "Hispanic applicants count by their race (population.hispanic: within_races). Surnames by "
        "race are those of people who are not Hispanic, as the Census Bureau counts them.",
        "The list of first names tells no birth years: every year has the same names, and the "
        "cohort of all of them is neutral.",
    )
