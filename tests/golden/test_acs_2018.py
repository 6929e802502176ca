"""`verify-acs` on every ACS file that ships, against published figures and an independent table.

State figures: Census Bureau, "2018 1-year PUMS estimates for user verification" (standard errors
rounded). Vermont by PUMA and sex: `survey::svytotal` in R on the same replicate weights, as
printed in tidycensus's article "Working with Census microdata" (docs/articles/pums-data.html of
walkerke/tidycensus at eb567be), an implementation that shares nothing with ours.
"""

from __future__ import annotations

import csv
import io
import zipfile
from functools import partial

import acs_2018_totals
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from numpy.typing import NDArray

from fairscreen import resources
from fairscreen.sources.acs_reader import batches, inspect
from fairscreen.sources.acs_verify import VerifyRow, total, verify

WYOMING = resources.resolve("bundled:acs_2018_csv_pwy.zip")
VERMONT = resources.resolve("bundled:acs_2018_csv_pvt.zip")
FIVE_JOBS = resources.resolve("bundled:acs_2024_five_jobs.zip")


@pytest.fixture(scope="module")
def rows() -> dict[tuple[str, str], VerifyRow]:
    return {(r.state, r.characteristic): r for r in verify([WYOMING, VERMONT])}


def test_wyoming_institutional_group_quarters(rows: dict[tuple[str, str], VerifyRow]) -> None:
    row = rows["56", "GQ institutional population (RELP=16)"]
    assert row.estimate == 7018
    assert row.std_error is not None
    assert round(row.std_error) == 3


def test_vermont_total_is_controlled(rows: dict[tuple[str, str], VerifyRow]) -> None:
    row = rows["50", "Total population"]
    assert (row.estimate, row.std_error) == (626_299, 0.0)


def test_every_total_and_error_of_an_independent_implementation() -> None:
    """The whole list of the Bureau's verification file; the table covers four more states."""
    assert len(acs_2018_totals.kept()) == 6 * 20
    assert acs_2018_totals.differences([WYOMING, VERMONT]) == (2 * 2 * 20, [])


def test_totals_are_the_population_estimates_of_2018() -> None:
    """Weights are controlled to them: Census Bureau, NST-EST2018-01, July 1, 2018."""
    published = {
        "10": 967_171, "23": 1_338_404, "38": 760_077, "44": 1_057_315, "50": 626_299,
        "56": 577_737,
    }  # fmt: skip
    table = acs_2018_totals.kept()
    totals = {s: v for (s, label), v in table.items() if label == "Total population"}
    assert totals == {state: (total, 0.0) for state, total in published.items()}


def test_the_shipped_file_of_five_jobs_says_why_it_has_no_errors() -> None:
    """98,003 people of 2024; their weighted total is read straight from the CSV."""
    with zipfile.ZipFile(FIVE_JOBS) as bundle:
        text = io.TextIOWrapper(bundle.open(bundle.namelist()[0]))
        people = list(csv.DictReader(text))
    assert len(people) == 98_003
    rows = verify([FIVE_JOBS])
    assert len(rows) == (1 + 49) * 20
    together = {r.characteristic: r for r in rows if r.state == "all"}
    total = together["Total population"]
    assert (total.vintage, total.period) == (2024, 1)
    assert total.estimate == sum(int(p["PWGTP"]) for p in people)
    assert {r.reason for r in rows} == {"no_replicate_weights", "no_relationship_column"}
    assert {r.std_error for r in rows} == {None}
    women = sum(int(p["PWGTP"]) for p in people if p["SEX"] == "2" and p["STATE"] == "11")
    district = {r.characteristic: r.estimate for r in rows if r.state == "11"}
    assert district["Total females (SEX=2)"] == women


def _lives_there(puma: str, sex: str, batch: pa.RecordBatch) -> NDArray[np.bool_]:
    here = pc.and_(pc.equal(batch.column("puma"), puma), pc.equal(batch.column("sex"), sex))
    return np.asarray(here.to_numpy(zero_copy_only=False), dtype=bool)


@pytest.mark.parametrize(
    ("puma", "sex", "estimate", "std_error"),
    [
        ("00100", "1", 108_732, 1122.9765), ("00100", "2", 111_564, 1360.3476),
        ("00200", "1", 73_768, 754.0906), ("00200", "2", 73_416, 808.7364),
        ("00300", "1", 61_601, 490.5432), ("00300", "2", 64_806, 578.3529),
        ("00400", "1", 65_675, 702.0659), ("00400", "2", 66_737, 775.9812),
    ],
)  # fmt: skip
def test_vermont_by_puma_and_sex(puma: str, sex: str, estimate: int, std_error: float) -> None:
    (member,) = inspect(VERMONT)
    got, error = total(batches(member), partial(_lives_there, puma, sex))
    assert got == estimate
    assert error == pytest.approx(std_error, abs=5e-5)


def test_every_surveyed_person_is_read() -> None:
    """Lines of the Bureau's files less the header."""
    counts = [sum(b.num_rows for b in batches(inspect(p)[0])) for p in (WYOMING, VERMONT)]
    assert counts == [5740, 6436]
