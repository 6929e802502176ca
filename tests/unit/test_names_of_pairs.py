"""Which names profiles of paired callbacks may bear, what they tell, and who is left out."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from fairscreen import resources
from fairscreen.config import load
from fairscreen.documents import callback_names, name_balance, name_signals
from fairscreen.documents.callback_names import Checked, NameTables
from fairscreen.documents.name_pools import Surnames
from fairscreen.errors import ConfigError
from fairscreen.population.naming import SURNAME_RACES
from fairscreen.settings.callback_names import CallbackNames
from fairscreen.settings.pairs import Contrast
from fairscreen.stations.callback_names import check

DESIGN = yaml.safe_load(resources.path("conf", "designs", "paired_callback.yml").read_text())
FOUR = tuple((race, gender) for race in ("black", "white") for gender in ("female", "male"))
LISTED = ("name", "race", "gender", "source", "mother_education", "cohort")
FIRST = [
    ("Aa", "black", "female", "s"), ("Ab", "black", "female", "t"), ("Ac", "black", "male", "s"),
    ("Ad", "black", "male", "s"), ("Ba", "white", "female", "s"), ("Bb", "white", "female", "s"),
    ("Bc", "white", "male", "s"), ("Bd", "white", "male", "s"),
]  # fmt: skip
LAST = [("Xa", "black"), ("O'Xb", "white")]
# name, female, male, hidden_female, hidden_male
BIRTHS = [
    ("Aa", 90, 10, 0, 0), ("Ab", 60, 40, 0, 0), ("Ac", 0, 100, 60, 0), ("Ad", 5, 95, 0, 0),
    ("Ba", 100, 0, 0, 0), ("Bb", 80, 20, 0, 0), ("Bc", 10, 990, 0, 0), ("Popular", 5000, 50, 0, 0),
    ("Other", 400, 0, 0, 160), ("Third", 300, 99, 0, 0),
]  # fmt: skip
# name, bearers, and percent white, black, Asian and Pacific, native, two or more, Hispanic
CENSUS = [
    ("XA", 1000, 10, 88, 1, 0.5, 0.5, 0), ("OXB", 2000, 96, 1, 1, None, None, 1),
    ("XC", 500, 1, 95, 1, 1, 1, 1), ("XD", 9000, 60, 30, 1, 2, 3, 4),
    ("XE", 300, 0, 99, 0, 0, 1, 0), ("XF", 100, 93, None, None, 1, 1, 1),
    ("XG", 700, 90, 2, 2, 2, 2, 2),
]  # fmt: skip


def listed(rows: Sequence[tuple[Any, ...]]) -> pd.DataFrame:
    return pd.DataFrame(
        [(*row, *[None] * (len(LISTED) - len(row))) for row in rows], columns=list(LISTED)
    )


def surnames(rows: Sequence[tuple[str, str]]) -> pd.DataFrame:
    return listed([(name, race, None, "s") for name, race in rows])


def choose(
    *, first: Sequence[tuple[Any, ...]] = FIRST, last: Sequence[tuple[str, str]] = LAST,
    wanted: Sequence[tuple[str, str]] = FOUR, **changes: Any,
) -> Checked:  # fmt: skip
    births = ["name", "female", "male", "hidden_female", "hidden_male"]
    census = ["name", "bearers", *(f"pct_{race}" for race in SURNAME_RACES)]
    tables = NameTables(
        first=listed(first),
        surnames=surnames(last),
        births=pd.DataFrame(BIRTHS, columns=births),
        census=pd.DataFrame(CENSUS, columns=census).astype(dict.fromkeys(census[2:], float)),
    )
    settings = CallbackNames.model_validate(DESIGN["names"] | changes)
    return callback_names.choose(tables, settings, wanted)


def signals(checked: Checked) -> dict[tuple[object, ...], dict[str, object]]:
    return {(r["name"], r["race"], r["gender"]): r for r in checked.signals}


def test_groups_are_the_arms_of_every_contrast() -> None:
    made = [Contrast.model_validate(c) for c in DESIGN["contrasts"].values()]
    assert callback_names.groups(made) == FOUR
    both = Contrast(
        favored={"race": "white", "gender": "male"}, other={"race": "asian", "gender": "female"}
    )
    assert callback_names.groups([both]) == (("asian", "female"), ("white", "male"))


def test_lists_are_used_as_they_are_and_checked() -> None:
    checked = choose()
    assert checked.pools.first == {
        ("black", "female"): ("Aa", "Ab"), ("black", "male"): ("Ac", "Ad"),
        ("white", "female"): ("Ba", "Bb"), ("white", "male"): ("Bc", "Bd"),
    }  # fmt: skip
    assert checked.pools.surnames == {
        "black": Surnames(("Xa",), (1,)), "white": Surnames(("O'Xb",), (1,)),
    }  # fmt: skip
    rows = signals(checked)
    assert len(rows) == len(checked.signals) == 10
    assert rows["Aa", "black", "female"] == {
        "kind": "first", "race": "black", "gender": "female", "name": "Aa", "source": "s",
        "signal": "gender", "share": 0.9, "share_low": 0.9, "share_high": 0.9, "bearers": 100,
        "weak": False, "used": True, "mother_education": None, "cohort": None, "reason": None,
    }  # fmt: skip
    assert (rows["Ab", "black", "female"]["share"], rows["Ab", "black", "female"]["weak"]) == (
        0.6,
        True,
    )
    hidden = rows["Ac", "black", "male"]  # up to 60 girls of this name are not in the file
    assert (hidden["share"], hidden["share_low"], hidden["share_high"]) == (1.0, 100 / 160, 1.0)
    unknown = rows["Bd", "white", "male"]
    assert (unknown["share"], unknown["bearers"], unknown["weak"]) == (None, None, None)
    assert unknown["used"]
    assert unknown["reason"] == name_signals.NOT_IN_SSA
    xb = rows["O'Xb", "white", "none"]  # OXB in the Census
    assert (xb["signal"], xb["share"], xb["bearers"]) == ("race", 0.96, 2000)
    assert set(checked.signals[0]) == set(name_signals.SCHEMA.names)


def test_notes_name_the_weak_and_what_is_not_known() -> None:
    assert choose().notes == [
        "The race that a first name tells is not checked: the SSA tells no race, and the Census "
        "Bureau's shares by race are of surnames. It is as the lists say.",
        "Weak black female first names, less than 75% of whose births are female: Ab (60.0%); used "
        "all the same (names.drop_weak).",
        "What privacy keeps from the file may decide whether black male first names are weak: Ac.",
        "Not checked, white male first names: Bd.",
        "Few surnames (black 1, white 1): they are a sample too, and a small one, beyond the "
        "headline interval, which takes full names that share a surname for independent.",
    ]
    assert "which clusters by first names" in choose(surname_of="pair").notes[-1]


def test_a_suppressed_share_is_not_zero() -> None:
    rows = signals(choose(last=[("Xf", "black"), ("O'Xb", "white"), ("None", "white")]))
    xf = rows["Xf", "black", "none"]
    assert (xf["share"], xf["weak"], xf["bearers"]) == (None, None, 100)
    # Two suppressed cells are 4% together.
    assert (xf["share_low"], xf["share_high"]) == pytest.approx((0.0, 0.04))
    assert xf["reason"] == name_signals.SUPPRESSED
    assert rows["None", "white", "none"]["reason"] == name_signals.NOT_IN_CENSUS


def test_a_race_that_the_census_lacks_is_not_known_or_refused() -> None:
    first = [(name, "romani" if race == "black" else race, *rest) for name, race, *rest in FIRST]
    wanted = [("romani" if race == "black" else race, gender) for race, gender in FOUR]
    rows = signals(choose(first=first, last=[("Xa", "romani"), ("Xb", "white")], wanted=wanted))
    assert rows["Xa", "romani", "none"]["share"] is None
    assert rows["Xa", "romani", "none"]["reason"] == name_signals.RACE_NOT_IN_CENSUS
    with pytest.raises(ConfigError) as caught:
        choose(first=first, surnames=[], wanted=wanted)
    assert str(caught.value) == (
        "contrasts: the surname file counts no race romani, so it gives no surnames of it. Name "
        "lists that have it in names.surnames, or take white, black, asian_pacific, native, "
        "two_or_more, hispanic."
    )
    assert name_signals.census_race("asian") == "asian_pacific"
    asked = signals(choose(last=[("Xa", "black"), ("Xb", "white"), ("Xc", "asian")]))
    assert ("Xc", "asian", "none") not in asked  # no contrast asks for it


def test_a_name_of_two_sources_is_one_and_of_two_groups_none() -> None:
    more = [
        ("Aa", "black", "female", "t"), ("AB", "white", "female", "t"),
        ("Ae", "black", "female", "t"), ("Ad", "asian", "male", "t"), ("Af", "black", "male", "s"),
    ]  # fmt: skip
    checked = choose(first=[*FIRST, *more])
    assert checked.pools.first["black", "female"] == ("Aa", "Ae")
    assert checked.pools.first["black", "male"] == ("Ac", "Af")
    rows = signals(checked)
    assert rows["Aa", "black", "female"]["source"] == "s; t"
    told = rows["Ab", "black", "female"]
    assert (told["used"], told["reason"]) == (False, "two_groups: listed for white female too")
    assert not rows["Ab", "white", "female"]["used"]
    assert "Listed for two groups, so they tell none and are left out: Ab, Ad." in checked.notes
    # Of one study alone it tells one group.
    alone = choose(first=[*FIRST, *more, ("Ag", "black", "female", "s")], sources=["s"])
    assert alone.pools.first["black", "female"] == ("Aa", "Ag")
    assert alone.pools.first["black", "male"] == ("Ac", "Ad", "Af")


def test_the_census_gives_surnames_in_proportion_to_bearers_of_the_race() -> None:
    checked = choose(surnames=[], typicality=0.87)
    assert checked.pools.surnames == {
        "black": Surnames(("Xa", "Xc", "Xe"), (880, 475, 297)),
        "white": Surnames(("Oxb", "Xf", "Xg"), (1920, 93, 630)),
    }
    black = 10 + 880 + 20 + 475 + 2700 + 297 + 14 - 10  # without the suppressed share
    note = next(n for n in checked.notes if "black surnames" in n)
    assert note == (
        "3 black surnames at typicality 0.87; first Xa, Xc, Xe. They are borne by "
        f"{(880 + 475 + 297) / black:.1%} of the people of this race."
    )
    two = choose(surnames=[], typicality=0.87, per_group=2)
    assert two.pools.surnames["black"] == Surnames(("Xa", "Xc"), (880, 475))
    with pytest.raises(ConfigError, match=r"names.typicality: 0 surname\(s\) of black left of 0"):
        choose(surnames=[], typicality=0.995)


def test_names_of_the_population_tell_race_by_surname_alone() -> None:
    checked = choose(first=[], last=[], source="population", typicality=0.75, per_group=3)
    women = ("Other", "Popular", "Third")  # others are typical too, and borne by fewer
    assert checked.pools.first["black", "female"] == checked.pools.first["white", "female"] == women
    assert checked.pools.first["black", "male"] == ("Ac", "Ad", "Bc")
    rows = signals(checked)
    assert rows["Popular", "none", "female"]["source"] == "SSA"
    assert len([r for r in checked.signals if r["kind"] == "first"]) == 6
    with pytest.raises(ConfigError) as caught:
        choose(first=[], last=[], source="population", typicality=0.995)
    assert str(caught.value) == (
        "names.typicality: 1 first name(s) of male left of 1. A group needs 2 first names: give "
        "more, or loosen what leaves them out (names.drop_weak, balance, caliper, typicality)."
    )


def test_weak_names_are_left_out_on_demand_and_two_must_stay() -> None:
    more = [("Ba", "black", "female", "u"), ("Popular", "black", "female", "s")]
    checked = choose(first=[*FIRST, *more[1:]], drop_weak=True)
    assert checked.pools.first["black", "female"] == ("Aa", "Popular")
    dropped = signals(checked)["Ab", "black", "female"]
    assert (dropped["used"], dropped["weak"]) == (False, True)
    assert dropped["reason"] == "weak: its share is below 0.75"
    assert any("Ab (60.0%); left out." in note for note in checked.notes)
    # A name that is not known is not weak.
    assert "Bd" in checked.pools.first["white", "male"]
    with pytest.raises(ConfigError) as caught:
        choose(drop_weak=True)
    assert str(caught.value) == (
        "names.first: 1 first name(s) of black female left of 2 (weak: 1). A group needs 2 first "
        "names: give more, or loosen what leaves them out (names.drop_weak, balance, caliper, "
        "typicality)."
    )


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"first": FIRST[2:]}, "names.first: no first name of black female in the lists; they have "
         "black male, white female, white male. Name a list that has it, or change contrasts."),
        ({"sources": ["x"]}, "names.sources: no list has names of 'x'; they have s, t. Correct the "
         "setting; it is the text of the lists' column source."),
        ({"last": LAST[:1]}, "names.surnames: no surname of white in the lists; they have black. "
         "Name a list that has it, or set names.surnames: [] for the Census Bureau's."),
        ({"balance": "cohort"}, "names.balance: no name that can be used has a cohort. Give lists "
         "with a column cohort, or set names.balance: null."),
    ],
)  # fmt: skip
def test_what_lists_lack_is_named(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        choose(**changes)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"birth_years": [2000, 1999]}, "birth_years: the first year is after the last; swap them"),
        ({"first": []}, "first is empty; give at least one"),
        ({"sources": ["a", "a"]}, "sources names a twice; keep it once"),
        ({"source": "population", "balance": "cohort"}, "balance: the SSA does not tell the class "
         "of names; set source: list, or balance: null"),
        ({"typicality": 0.5}, "Input should be greater than 0.5"),
        ({"per_group": 1}, "Input should be greater than or equal to 2"),
    ],
)  # fmt: skip
def test_settings_that_contradict_each_other(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        CallbackNames.model_validate(DESIGN["names"] | changes)


def test_lists_are_held_against_contrasts_before_spark(tmp_path: Path) -> None:
    audit = tmp_path / "audit.yml"
    audit.write_text(
        "audit_id: a\ndesign: paired_callback\nscoring: {models: {m: {kind: planted}}}\n"
    )
    check(load(audit))
    with pytest.raises(ConfigError) as caught:
        check(load(audit, ["contrasts.race.other.race=asian"]))
    assert str(caught.value) == (
        "names.first: no first name of asian female in the lists; they have black female, black "
        "male, white female, white male. Name a list that has it, or change contrasts."
    )


# --- class


def test_a_planted_difference_of_class_vanishes() -> None:
    """Mothers of Black names have 2 years less of schooling on average; the matched ones do not."""
    rng = np.random.default_rng(3)
    planted = [
        (f"{race}{gender}{i}".replace("0", "o"), race, gender, "s", float(value), None)
        for gender in ("female", "male")
        for race, mean in (("black", 11.0), ("white", 13.0))
        for i, value in enumerate(rng.normal(mean, 1.5, 80))
    ]
    rows = choose(first=planted, balance="mother_education").signals
    for gender in ("female", "male"):
        values = {
            race: np.array([
                r["mother_education"] for r in rows
                if r["used"] and (r["race"], r["gender"]) == (race, gender)
            ])
            for race in ("black", "white")
        }  # fmt: skip
        before = [r[4] for r in planted if r[2] == gender]
        assert abs(np.mean(before[:80]) - np.mean(before[80:])) > 1.5
        assert len(values["black"]) == len(values["white"]) >= 30
        deviation = np.mean([v.std(ddof=1) for v in values.values()])
        assert abs(values["black"].mean() - values["white"].mean()) < 0.1 * deviation
    unmatched = [r for r in rows if not r["used"] and r["kind"] == "first"]
    assert {str(r["reason"]).split(":")[0] for r in unmatched} == {"unmatched_class"}


def test_balance_tells_means_and_leaves_out_what_tells_no_class() -> None:
    values = {"Aa": 10, "Ab": 12, "Ae": None, "Ba": 12.1, "Bb": 10.1, "Bg": 16}
    women = [
        (name, "black" if name[0] == "A" else "white", "female", "s", value, None)
        for name, value in values.items()
    ]
    men = [(*row, 10.0, None) for row in FIRST if row[2] == "male"]
    checked = choose(first=[*women, *men], balance="mother_education")
    assert checked.pools.first["black", "female"] == ("Aa", "Ab")
    assert checked.pools.first["white", "female"] == ("Ba", "Bb")
    rows = signals(checked)
    assert str(rows["Ae", "black", "female"]["reason"]).startswith("no_class")
    assert str(rows["Bg", "white", "female"]["reason"]).startswith("unmatched_class")
    assert [n for n in checked.notes if n.startswith("balance")] == [
        "balance: mean mother_education of female names: black 11.00 before, 11.00 after (2 of 2 "
        "names); white 12.73 before, 11.10 after (2 of 3 names).",
        "balance: mean mother_education of male names: black 10.00 before, 10.00 after (2 of 2 "
        "names); white 10.00 before, 10.00 after (2 of 2 names).",
    ]
    far = [(*row[:4], 9.0 if row[1] == "black" else 15.0, None) for row in FIRST]
    with pytest.raises(ConfigError, match=r"0 first name\(s\) of black female left of 2 \(unm"):
        choose(first=far, balance="mother_education")


def test_sources_that_differ_in_class_tell_none() -> None:
    rows = pd.concat([listed([("Aa", "black", "female", s, value)]) for s, value in
                      (("s", 12.0), ("t", 0.8))])  # fmt: skip
    assert callback_names._merged(rows, "first")[0].mother_education is None
    assert callback_names._merged(rows[:1], "first")[0].mother_education == 12.0


_VALUES = st.lists(st.integers(0, 30).map(float), min_size=1, max_size=7).map(np.array)


@given(st.lists(_VALUES, min_size=2, max_size=2), st.sampled_from([0.1, 0.5, 2.0]))
def test_matching_is_the_best_there_is(values: list[np.ndarray], caliper: float) -> None:
    """As many pairs within the caliper as any matching has, held against all of them."""
    named = {"a": values[0], "b": values[1]}
    kept = name_balance.matched(named, caliper)
    reach = caliper * name_balance.within_deviation(named) * (1 + 1e-12)
    one, two = (values[i][kept[race]] for i, race in enumerate("ab"))
    assert all(len(set(k.tolist())) == len(k) for k in kept.values())
    assert (np.abs(one - two) <= reach).all()
    assert len(kept["a"]) == len(kept["b"]) == _most(values[0], values[1], reach)


def _most(one: np.ndarray, two: np.ndarray, reach: float) -> int:
    """Largest number of pairs within reach: on a line, from the left, each takes the first."""
    pairs, left = 0, sorted(two.tolist())
    for value in sorted(one.tolist()):
        left = [other for other in left if other >= value - reach]
        if left and left[0] <= value + reach:
            left, pairs = left[1:], pairs + 1
    return pairs


def test_three_races_are_matched_to_the_one_with_the_fewest() -> None:
    values = {
        "a": np.array([1.0, 2.0, 9.0]), "b": np.array([9.1, 1.1]), "c": np.array([1.2, 5.0, 8.9]),
    }  # fmt: skip
    kept = name_balance.matched(values, 0.2)
    assert {race: values[race][at].tolist() for race, at in kept.items()} == {
        "a": [9.0, 1.0], "b": [9.1, 1.1], "c": [8.9, 1.2],
    }  # fmt: skip
