"""Names of correspondence studies against the SSA's births and the Census, from the shipped files.

Figures: the SSA's national files, births 1965 to 2004; the Census Bureau's surnames of 2010, where
Washington and Jefferson have the largest shares of Black bearers among the common ones.
"""

from __future__ import annotations

import pandas as pd
import pyarrow as pa
import pytest
import yaml

from fairscreen import resources
from fairscreen.documents import callback_names
from fairscreen.documents.callback_names import Checked, NameTables
from fairscreen.settings.callback_names import CallbackNames
from fairscreen.settings.pairs import Contrast
from fairscreen.sources import correspondence, names

DESIGN = yaml.safe_load(resources.path("conf", "designs", "paired_callback.yml").read_text())
WANTED = callback_names.groups(Contrast.model_validate(c) for c in DESIGN["contrasts"].values())
KRW = "Kline, Rose & Walters 2022"


@pytest.fixture(scope="module")
def tables() -> NameTables:
    parts = names.read_first_names(resources.resolve("bundled:ssa_national_names.zip"))
    rows = pa.concat_tables(p for p in parts if 1965 <= p["birth_year"][0].as_py() <= 2004)
    by_sex = rows.group_by(["name", "sex"]).aggregate([("births", "sum"), ("births", "count")])
    births = by_sex.to_pandas().pivot_table(
        index="name", columns="sex", values=["births_sum", "births_count"], fill_value=0
    )
    counted = pd.DataFrame({"name": births.index})
    for sex, code in (("female", "F"), ("male", "M")):
        counted[sex] = births["births_sum", code].to_numpy(dtype="int64")
        missing = 40 - births["births_count", code].to_numpy(dtype="int64")
        counted[f"hidden_{sex}"] = 4 * missing
    census = names.read_surnames(resources.resolve("bundled:census_2010_surnames.zip"))
    lists = {
        kind: correspondence.read(resources.resolve(path), kind).to_pandas()
        for kind, path in (
            ("first", "bundled:correspondence_first_names.csv"),
            ("surname", "bundled:correspondence_surnames.csv"),
        )
    }
    return NameTables(lists["first"], lists["surname"], counted, census.rows.to_pandas())


def choose(tables: NameTables, **changes: object) -> Checked:
    settings = CallbackNames.model_validate(DESIGN["names"] | changes)
    return callback_names.choose(tables, settings, WANTED)


def test_lists_as_published(tables: NameTables) -> None:
    both, krw = choose(tables), choose(tables, sources=[KRW])
    assert both.pools.first == krw.pools.first  # the 36 are among the 76
    assert {len(pool) for pool in both.pools.first.values()} == {19}
    boston = choose(tables, sources=["Bertrand & Mullainathan 2004"])
    assert {len(pool) for pool in boston.pools.first.values()} == {9}
    assert [len(both.pools.surnames[race].names) for race in ("white", "black")] == [9, 5]
    assert len(both.signals) == 76 + 14


@pytest.mark.parametrize(
    ("name", "gender", "mine", "others"),
    [
        ("Lakisha", "female", 12_238, 12), ("Latonya", "female", 20_549, 67),
        ("Jamal", "male", 26_066, 266),
    ],
)  # fmt: skip
def test_gender_of_first_names(
    tables: NameTables, name: str, gender: str, mine: int, others: int
) -> None:
    row = next(r for r in choose(tables).signals if (r["name"], r["gender"]) == (name, gender))
    assert (row["share"], row["bearers"]) == (mine / (mine + others), mine + others)
    assert row["share_low"] <= row["share"] <= row["share_high"]
    assert row["race"] == "black"


def test_every_listed_first_name_tells_its_gender(tables: NameTables) -> None:
    """All 76 are in the SSA's files; the weakest is Kenya, nine in ten of whom are girls."""
    first = [r for r in choose(tables).signals if r["kind"] == "first"]
    weakest = min(first, key=lambda r: r["share"])
    assert (weakest["name"], weakest["share"]) == ("Kenya", pytest.approx(0.903, abs=5e-4))
    assert not any(r["weak"] for r in first)


def test_most_black_surnames_of_the_study_are_borne_by_as_many_others(tables: NameTables) -> None:
    checked = choose(tables)
    share = {r["name"]: r["share"] for r in checked.signals if r["kind"] == "surname"}
    assert share["Washington"] == pytest.approx(0.8753)
    assert share["O'Brien"] == pytest.approx(0.9385)  # OBRIEN in the Census
    assert {r["name"] for r in checked.signals if r["weak"]} == {
        "Jackson", "Jones", "Murray", "Robinson", "Williams",
    }  # fmt: skip
    note = next(n for n in checked.notes if n.startswith("Weak black surnames"))
    assert "Jackson (53.0%), Jones (38.5%), Robinson (44.9%), Williams (47.7%)" in note
    strong = choose(tables, drop_weak=True)
    assert strong.pools.surnames["black"].names == ("Washington",)


def test_surnames_by_census_share(tables: NameTables) -> None:
    """Half of the bearers Black: Jackson, Washington and Jefferson among them; at three quarters
    Jefferson (74.24%) is not."""
    half = choose(tables, surnames=[], typicality=0.51).pools.surnames["black"]
    assert {"Jackson", "Washington", "Jefferson"} <= set(half.names)
    weight = dict(zip(half.names, half.weights, strict=True))
    assert weight["Washington"] == round(177_386 * 0.8753)
    assert weight["Jefferson"] == round(55_179 * 0.7424)
    assert len(half.names) == DESIGN["names"]["per_group"]
    assert "Jefferson" not in choose(tables, surnames=[]).pools.surnames["black"].names


def test_names_of_the_population(tables: NameTables) -> None:
    pools = choose(tables, source="population").pools
    assert pools.first["white", "male"] == pools.first["black", "male"]
    assert {"Michael", "James"} <= set(pools.first["white", "male"])
    assert {len(pool) for pool in pools.first.values()} == {200}
    assert max(pools.surnames["white"].weights) == pools.surnames["white"].weights[
        pools.surnames["white"].names.index("Miller")
    ]  # fmt: skip
