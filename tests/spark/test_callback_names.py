"""Names of paired callbacks in the warehouse: lists once, births summed as in pandas, signals."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import yaml

from fairscreen import resources
from fairscreen.documents import callback_names as pure
from fairscreen.errors import ConfigError, InputError
from fairscreen.settings.callback_names import CallbackNames
from fairscreen.sources import correspondence, ledger
from fairscreen.stations import callback_names, callback_sources
from fairscreen.stations.callback_sources import CallbackBronze
from fairscreen.tables import Warehouse

DESIGN = yaml.safe_load(resources.path("conf", "designs", "paired_callback.yml").read_text())
FOUR = tuple((race, gender) for race in ("black", "white") for gender in ("female", "male"))
STATES = "AK,F,1990,Jamal,6\nAK,M,1990,Jamal,60\nAK,M,1991,Jamal,70\nAK,M,1960,Jamal,500\n"


@pytest.fixture
def inputs(tmp_path: Path) -> dict[str, Any]:
    """One file with both kinds of names, a state's births, a list of surnames."""
    both = tmp_path / "both.csv"
    both.write_text(
        "first_name,surname,race,gender\nJamal,Washington,Black,M\nLamar,Jefferson,black,M\n"
        "Ebony,Jones,black,F\nKenya,Smalls,black,F\nGreg,Ryan,white,M\nTodd,Walsh,white,M\n"
        "Emily,Baker,white,F\nAnne,Kelly,white,F\n"
    )
    (tmp_path / "AK.TXT").write_text(STATES)
    census = tmp_path / "surnames.csv"
    census.write_text(
        "name,count,race\nWashington,875,black\nWashington,125,white\nRyan,9,white\nRyan,1,black\n"
    )
    return {
        "first": [str(both)], "surnames": [str(both)], "ssa": str(tmp_path / "AK.TXT"),
        "census": str(census),
    }  # fmt: skip


def test_from_files_to_pools_and_signals(warehouse: Warehouse, inputs: dict[str, Any]) -> None:
    settings = CallbackNames.model_validate(DESIGN["names"] | inputs)
    results = callback_sources.ingest_names(warehouse, settings)
    again = callback_sources.ingest_names(warehouse, settings)
    assert [r.rows for r in results.values()] == [8, 8, 4, 2]
    assert [r.rows for r in again.values()] == [0, 0, 0, 0]
    assert warehouse.read("correspondence_name").count() == 16
    assert ledger.known(warehouse, "correspondence_first") == set(results["first"].sha256)
    bronze = CallbackBronze(
        postings=(), notes=(), **{kind: r.sha256 for kind, r in results.items()}
    )
    tables = callback_names.tables(warehouse, settings, bronze)
    assert tables.first["name"].tolist()[:2] == ["Jamal", "Lamar"]  # in the file's order
    assert set(tables.first["race"]) == {"black", "white"}
    assert tables.births.to_dict("records") == [
        {"name": "Jamal", "female": 6, "male": 130, "hidden_female": 4, "hidden_male": 0}
    ]
    checked = pure.choose(tables, settings, FOUR)
    assert checked.pools.first["black", "male"] == ("Jamal", "Lamar")
    frame = callback_names.signals(warehouse, checked, "a1")
    warehouse.replace("name_signals", frame, where="audit_id = 'a1'")
    rows = {r["name"]: r for r in warehouse.read("name_signals").collect()}
    assert len(rows) == len(checked.signals) == 16
    assert rows["Jamal"]["share"] == 130 / 136
    assert rows["Jamal"]["share_low"] == 130 / 140
    assert rows["Washington"]["share"] == 0.875
    assert (rows["Baker"]["share"], rows["Baker"]["weak"], rows["Baker"]["used"]) == (
        None,
        None,
        True,
    )
    ssa = warehouse.read("ssa_name")
    with pytest.raises(ConfigError, match=r"names\.ssa has no births of 1900 to 1910"):
        callback_names.collected_births(ssa, (1900, 1910))


def test_births_are_summed_as_in_pandas(spark) -> None:
    rows = [
        (1990, "F", "A", 10, 8), (1991, "F", "A", 20, 4), (1991, "M", "A", 5, 12),
        (1992, "M", "B", 7, None), (1993, "F", "B", 9, None), (1989, "F", "A", 99, 0),
    ]  # fmt: skip
    columns = "birth_year INT, sex STRING, name STRING, births INT, hidden_births INT"
    frame = spark.createDataFrame([(*r, 16) for r in rows], f"{columns}, hidden_if_absent INT")
    found = callback_names.collected_births(frame, (1990, 1993)).set_index("name")
    data = pd.DataFrame(rows, columns=["year", "sex", "name", "births", "hidden"])
    data = data[data.year >= 1990].fillna({"hidden": 0})
    for name in "AB":
        for sex, column in (("F", "female"), ("M", "male")):
            mine = data[(data.name == name) & (data.sex == sex)]
            assert found.loc[name, column] == mine.births.sum()
            hidden = mine.hidden.sum() + 16 * (4 - len(mine))
            assert found.loc[name, f"hidden_{column}"] == hidden
    undated = frame.selectExpr("CAST(NULL AS INT) AS birth_year", "sex", "name", "births",
                               "0 AS hidden_births", "0 AS hidden_if_absent")  # fmt: skip
    whole = callback_names.collected_births(undated, (1990, 1993)).set_index("name")
    assert (whole.loc["A", "female"], whole.loc["A", "hidden_male"]) == (129, 0)


def test_a_bad_list_writes_nothing(warehouse: Warehouse, tmp_path: Path) -> None:
    bad = tmp_path / "bad.csv"
    bad.write_text("name,race,gender\nAnn,white,F\nBo,white,X\n")
    with pytest.raises(InputError, match="line 3, gender: 'X' is not female or male"):
        correspondence.ingest(warehouse, bad, "first")
    assert warehouse.read("correspondence_name").count() == 0
    assert not ledger.known(warehouse, "correspondence_first")
