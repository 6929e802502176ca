"""Hispanic people as a race of their own, and other mappings of race, from survey to propensity."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import population_inputs as inputs
from fairscreen.errors import InputError
from fairscreen.population import domain, grouping, harmonise, naming, propensity
from fairscreen.population.mapping import mapping_rows

OWN = (
    "population.hispanic=own_group",
    "estimation.contrasts={c: {attribute: race, x1: [white], x0: [hispanic], x1_label: w, "
    "x0_label: h}}",
)
MORE = (
    "population.races={white: ['1'], black: ['2'], native: ['3', '4', '5'], asian_pacific: "
    "['6', '7'], two_or_more: ['9']}",
    "estimation.contrasts={c: {attribute: race, x1: [white], x0: [native, two_or_more], "
    "x1_label: w, x0_label: o}}",
)


@pytest.mark.parametrize(
    ("overrides", "groups"),
    [
        (OWN, ("white", "black", "asian_pacific", "hispanic", "neutral")),
        (MORE, ("white", "black", "asian_pacific", "native", "two_or_more", "neutral")),
    ],
    ids=["hispanic", "five races"],
)
def test_applicants_of_more_races_have_names_groups_and_known_propensities(
    overrides: tuple[str, ...], groups: tuple[str, ...]
) -> None:
    cfg, g = inputs.generator(*overrides)
    assert g.domain.races == cfg.population.race_labels
    assert g.surnames.groups == groups
    rows = inputs.simulate(cfg, g, "registered_nurses", 20_000)
    assert set(rows["race"]) == set(cfg.population.race_labels)
    assert set(rows["surname_race"]) <= set(groups)
    # The group of a surname is that of its race far more often than of any other.
    for race in set(groups) & set(rows["race"]) - {"two_or_more"}:
        share = (rows.loc[rows["race"] == race, "surname_race"] == race).mean()
        others = (rows.loc[rows["race"] != race, "surname_race"] == race).mean()
        assert share > 1.4 * others
    tables = propensity.densities(g, cfg.estimation)
    roles = (cfg.estimation.roles.redlining, cfg.estimation.roles.business)
    codes = {
        c: rows[c].map({v: i for i, v in enumerate(values)}).to_numpy()
        for c, values in tables.labels.items()
    }
    codes["age"] = rows["age"].to_numpy() - tables.age_min
    codes["exp_year"] = np.searchsorted(tables.cuts, rows["exp_year"], side="right")
    contrast = cfg.estimation.contrasts["c"]
    p_z, p_rz, _ = propensity.known(tables, "registered_nurses", contrast, roles, codes)
    is_x1 = rows["race"].isin(contrast.x1).to_numpy()
    inside = is_x1 | rows["race"].isin(contrast.x0).to_numpy()
    for p in (p_z, p_rz):
        np.testing.assert_array_equal(np.isnan(p), ~inside)
        error = np.sqrt((p[inside] * (1 - p[inside])).sum())
        assert abs(is_x1[inside].sum() - p[inside].sum()) < 4 * error
    # Surnames tell race: knowing them moves the propensity.
    assert np.abs(p_rz - p_z)[inside].mean() > 0.05


def test_own_group_takes_hispanic_people_out_of_every_other_race() -> None:
    people = inputs.acs()
    before = inputs.cells(inputs.demo())
    after = inputs.cells(inputs.demo("population.hispanic=own_group"))
    gone = inputs.cells(inputs.demo("population.hispanic=excluded"))
    assert set(gone["race"]) == {"white", "black", "asian_pacific"}
    of_race = [frame.groupby("race")["people"].sum() for frame in (before, after, gone)]
    assert (of_race[1][of_race[2].index] == of_race[2]).all()
    assert (of_race[2] < of_race[0]).all()
    # More than the difference: somebody of some other race was in no race before.
    assert of_race[1]["hispanic"] > (of_race[0] - of_race[2]).sum()
    assert (people["hisp"] != "01").any()


def test_psid_answers_of_hispanic_people_count_for_their_group() -> None:
    cfg = inputs.demo("population.hispanic=own_group")
    axes = domain.from_settings(cfg.population)
    psid = inputs.psid()
    classes = harmonise.job_classes(cfg.population)
    mine = harmonise.of_psid(psid, cfg.population, axes, classes)
    hispanic = (psid["hispanic"] == True).to_numpy()  # noqa: E712 (null is not true)
    assert (mine.race[hispanic] == axes.races.index("hispanic")).all()
    plain = harmonise.of_psid(psid, inputs.demo().population, axes, classes)
    np.testing.assert_array_equal(mine.race[~hispanic], plain.race[~hispanic])


def test_surnames_of_each_group_follow_its_bearers() -> None:
    races = ("white", "hispanic")
    table = naming.surnames(inputs.surnames(), races, threshold=0.5)
    n = 20_000
    u = (np.arange(n) + 0.5) / n
    drawn = table.names[table.draw(np.full(n, 1), u)]
    got = pd.Series(drawn).value_counts(normalize=True)
    census = inputs.surnames().query("name != 'ALL OTHER NAMES'")
    pct = census.filter(like="pct_").to_numpy()
    people = census["bearers"].to_numpy() * naming.spread_suppressed(pct)[:, 5]
    expected = pd.Series(people / people.sum(), index=census["name"].str.capitalize())
    for name in ("Garcia", "Rodriguez", "Smith"):
        assert got[name] == pytest.approx(expected[name], abs=2 / n)
    shares = table.group_shares()
    assert shares.shape == (2, 5)
    assert shares[1, table.groups.index("hispanic")] > 0.8
    garcia = int(np.flatnonzero(table.names == "Garcia")[0])
    assert table.groups[table.group[garcia]] == "hispanic"
    assert table.shares[garcia].tolist() == pytest.approx([0.0538, 0.0045, 0.0141, 0.9203])
    default = naming.surnames(inputs.surnames(), ("white",), threshold=0.5)
    assert default.groups == grouping.SURNAME_GROUPS
    assert default.groups[default.group[garcia]] == "neutral"


def test_a_race_that_a_surname_file_does_not_tell_is_an_error() -> None:
    census = inputs.surnames().assign(pct_native=np.nan)
    with pytest.raises(InputError) as error:
        naming.surnames(census, ("white", "native"), threshold=0.5)
    assert str(error.value) == (
        "population.races.native: the surname file tells nobody's surname who is of this race. "
        "Ingest surnames with pct_native, or leave the race out."
    )


def test_the_mapping_is_told_in_the_bureaus_words() -> None:
    rows = mapping_rows(inputs.demo().population)
    told = {(r.attribute, r.value): (r.codes, r.labels) for r in rows}
    assert told["race", "asian_pacific"] == (
        "RAC1P 6, 7",
        "Asian alone; Native Hawaiian and Other Pacific Islander alone",
    )
    assert told["race", None][0] == "RAC1P 3, 4, 5, 8, 9"
    assert told["Hispanic origin", "by race"] == (
        "HISP 02 to 24",
        "Mexican to All Other Spanish/Hispanic/Latino",
    )
    assert told["education", "high_school"] == (
        "SCHL 16, 17",
        "Regular high school diploma; GED or alternative credential",
    )
    assert told["education", None] == (
        "SCHL 01 to 15",
        "No schooling completed to 12th grade, no diploma",
    )
    assert told["education group", "low"][1] == "high school, some college"
    assert told["job", "Software Developer"] == ("OCCP 1021", "Software Developers")
    assert len(rows) == 3 + 1 + 1 + 7 + 1 + 3 + 5
    own = mapping_rows(inputs.demo("population.hispanic=own_group").population)
    assert own[4].value == "race hispanic, whatever RAC1P"
    assert mapping_rows(inputs.demo("population.hispanic=excluded").population)[4].value is None
