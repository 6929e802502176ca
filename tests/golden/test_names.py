"""Published facts about names, out of the shipped files and the tables that draw from them.

Surnames: Census Bureau, "Frequently Occurring Surnames from the 2010 Census" (top names with their
shares; 87 percent of those named Washington are Black, 98 percent of those named Yoder are white
and not Hispanic) and its release of December 2016. First names: the highest counts of a year as
the SSA's national files have them (Linda and James 1947, Michael 1957).
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from fairscreen import resources
from fairscreen.population import naming
from fairscreen.sources import names


@pytest.fixture(scope="module")
def census():
    found = names.read_surnames(resources.resolve("bundled:census_2010_surnames.zip"))
    return found.rows.to_pandas()


@pytest.mark.parametrize(
    ("name", "bearers", "column", "percent"),
    [
        ("SMITH", 2_442_977, "pct_white", 70.90),
        ("SMITH", 2_442_977, "pct_black", 23.11),
        ("JOHNSON", 1_932_812, "pct_black", 34.63),
        ("GARCIA", 1_166_120, "pct_hispanic", 92.03),
        ("WASHINGTON", 177_386, "pct_black", 87.53),
        ("YODER", 56_410, "pct_white", 97.77),
    ],
)
def test_surnames_of_2010(census, name: str, bearers: int, column: str, percent: float) -> None:
    row = census[census["name"] == name].iloc[0]
    assert (row["bearers"], row[column]) == (bearers, percent)


def test_groups_and_shares_of_the_table_that_draws(census) -> None:
    table = naming.surnames(census, ("white", "hispanic"), threshold=0.5)
    at = {name: int(np.flatnonzero(table.names == name)[0]) for name in ("Smith", "Garcia")}
    assert {name: table.groups[table.group[i]] for name, i in at.items()} == {
        "Smith": "white",
        "Garcia": "hispanic",
    }
    assert table.shares[at["Smith"]][0] == pytest.approx(0.709)
    # P(Garcia | Hispanic) is its Hispanic bearers among all that the file tells.
    drawn = np.diff(table.cumulative[1], prepend=0)
    assert drawn[at["Garcia"]] == pytest.approx(1_166_120 * 0.9203)
    # A quarter of Hispanic people share 26 surnames.
    assert np.sort(drawn)[-26:].sum() / drawn.sum() == pytest.approx(0.25, abs=0.03)


def test_first_names_of_the_ssa() -> None:
    years: list[pa.Table] = []
    for part in names.read_first_names(resources.resolve("bundled:ssa_national_names.zip")):
        year = part["birth_year"][0].as_py()
        if year in (1947, 1957):
            years.append(part)
        if year == 1957:
            break
    rows = pa.concat_tables(years).to_pandas()
    births = rows.set_index(["birth_year", "sex", "name"])["births"]
    top = births.groupby(level=["birth_year", "sex"]).max()
    assert births[1947, "F", "Linda"] == top[1947, "F"] == pytest.approx(99_693, rel=1e-3)
    assert births[1947, "M", "James"] == top[1947, "M"] == pytest.approx(94_764, rel=1e-3)
    assert births[1957, "M", "Michael"] == top[1957, "M"] == pytest.approx(92_718, rel=1e-3)
