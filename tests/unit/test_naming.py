"""Name tables and groups on the full SSA and Census files that ship with the package."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import population_inputs as inputs
from fairscreen.errors import InputError
from fairscreen.population import grouping, naming

SETTINGS = inputs.demo().population.first_names


@pytest.fixture(scope="module")
def first() -> naming.FirstNameTable:
    return naming.first_names(inputs.ssa(), SETTINGS, years=(1980, 2006))


@pytest.fixture(scope="module")
def last() -> naming.SurnameTable:
    return naming.surnames(inputs.surnames(), inputs.demo().population.race_labels, threshold=0.5)


def _at(table: naming.FirstNameTable | naming.SurnameTable, name: str) -> int:
    return int(np.flatnonzero(table.names == name)[0])


@pytest.mark.parametrize(
    ("name", "gender", "cohort"),
    [
        ("Mary", "female", "neutral"),
        ("James", "male", "neutral"),
        ("Jordan", "neutral", "neutral"),
        ("Jennifer", "female", "old"),
        ("Aiden", "male", "young"),
        ("Madison", "female", "young"),
    ],
)
def test_groups_of_real_first_names(
    first: naming.FirstNameTable, name: str, gender: str, cohort: str
) -> None:
    at = _at(first, name)
    assert grouping.GENDER_GROUPS[first.gender_group[at]] == gender
    assert first.cohort_labels[first.cohort_group[at]] == cohort


def test_features_are_shares_of_all_births(first: naming.FirstNameTable) -> None:
    rows = inputs.ssa()
    jordan = rows[rows["name"] == "Jordan"]
    births = jordan["births"].sum()
    at = _at(first, "Jordan")
    female = jordan.loc[jordan["sex"] == "F", "births"].sum()
    assert first.p_female[at] == pytest.approx(female / births)
    mean = (jordan["births"] * jordan["birth_year"]).sum() / births
    assert first.mean_year[at] == pytest.approx(mean)


def test_first_names_follow_births_of_that_gender_and_year(first: naming.FirstNameTable) -> None:
    n = 40_000
    u = (np.arange(n) + 0.5) / n  # a grid of uniforms: shares are exact to 1 / n
    for gender in (0, 1):
        drawn = first.draw(np.full(n, gender), np.full(n, 1990), u)
        rows = inputs.ssa().query("birth_year == 1990")
        rows = rows[rows["sex"] == "FM"[gender]].set_index("name")["births"]
        top = rows.sort_values().tail(50)
        got = pd.Series(first.names[drawn]).value_counts(normalize=True)
        expected = top / rows.sum()
        np.testing.assert_allclose(got.reindex(top.index), expected, atol=2 / n)
        assert set(got.index) <= set(rows.index)


def test_group_shares_equal_a_plain_sum(first: naming.FirstNameTable) -> None:
    shares = first.group_shares()
    np.testing.assert_allclose(shares.sum(axis=(2, 3)), 1)
    rows = inputs.ssa().query("birth_year == 2000 and sex == 'F'")
    at = pd.Series(np.arange(len(first.names)), index=first.names)[rows["name"]].to_numpy()
    mine = (first.gender_group[at] == 2) & (first.cohort_group[at] == 2)
    expected = rows["births"][mine].sum() / rows["births"].sum()
    assert expected > 0.01
    assert shares[0, 2000 - 1980, 2, 2] == pytest.approx(expected)


def test_a_birth_year_without_names_is_an_error() -> None:
    with pytest.raises(InputError) as error:
        naming.first_names(inputs.ssa(), SETTINGS, years=(1980, 2008))
    assert str(error.value) == (
        "ssa_name: has no births of 2007, and the population needs 1980 to 2008. Ingest an SSA "
        "file that covers these years, or change documents.as_of or the ages."
    )


def test_a_birth_year_with_names_of_one_gender_is_an_error() -> None:
    rows = inputs.ssa().query("birth_year < 1985 and (sex == 'F' or birth_year != 1982)")
    with pytest.raises(InputError, match="has no male births of 1982, and the population needs"):
        naming.first_names(rows, SETTINGS, years=(1980, 1984))


def test_surname_groups_features_and_suppressed_cells(last: naming.SurnameTable) -> None:
    group = {
        name: grouping.SURNAME_GROUPS[last.group[_at(last, name)]]
        for name in ("Mueller", "Washington", "Nguyen", "Williams", "Garcia", "Null", "True", "Nan")
    }
    assert group["Mueller"] == "white"
    assert group["Washington"] == "black"
    assert group["Nguyen"] == "asian_pacific"
    assert group["Williams"] == "neutral"  # 45.75% white, 47.68% Black
    assert group["Garcia"] == "neutral"
    assert last.shares[_at(last, "Williams")].tolist() == pytest.approx(
        [0.4575, 0.4768, 0.0046, 0.0249]
    )
    assert "All other names" not in set(last.names)


def test_suppressed_percentages_share_what_is_left() -> None:
    pct = np.array([[90.0, np.nan, 4.0, np.nan, 1.0, 2.0], [50, 20, 10, 10, 5, 5]])
    filled = naming.spread_suppressed(pct)
    assert filled.tolist() == [[90, 1.5, 4, 1.5, 1, 2], [50, 20, 10, 10, 5, 5]]


def test_surnames_follow_bearers_of_that_race(last: naming.SurnameTable) -> None:
    n = 20_000
    u = (np.arange(n) + 0.5) / n
    drawn = last.draw(np.full(n, 1), u)
    got = pd.Series(last.names[drawn]).value_counts(normalize=True)
    census = inputs.surnames().query("name != 'ALL OTHER NAMES'")
    pct = census.filter(like="pct_").to_numpy()
    black = census["bearers"].to_numpy() * naming.spread_suppressed(pct)[:, 1]
    expected = pd.Series(black / black.sum(), index=census["name"].str.capitalize())
    for name in ("Williams", "Johnson", "Washington"):
        assert got[name] == pytest.approx(expected[name], abs=2 / n)
    shares = last.group_shares()
    np.testing.assert_allclose(shares.sum(axis=1), 1)
    drawn_black = (last.group[drawn] == 1).mean()
    assert shares[1, 1] == pytest.approx(drawn_black, abs=2e-3)


def test_a_race_that_the_census_file_lacks_is_an_error() -> None:
    with pytest.raises(InputError, match=r"population\.races\.other: the Census surname file has"):
        naming.surnames(inputs.surnames(), {"white": (), "other": ()}, threshold=0.5)
