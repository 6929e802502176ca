"""Published figures of the ACS 2018 1-year PUMS, from the shipped Wyoming and Vermont files.

Sources: Census Bureau, "PUMS estimates for user verification", 2018 1-year (rounded standard
errors), for the two state totals and institutional group quarters; "Accuracy of the PUMS" and
"Variance estimation with replicate weights", 2018, for males of Vermont's PUMA 00100.
"""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from fairscreen import resources
from fairscreen.sources.acs_reader import batches, inspect
from fairscreen.sources.acs_verify import VerifyRow, total, verify

WYOMING = resources.resolve("bundled:acs_2018_csv_pwy.zip")
VERMONT = resources.resolve("bundled:acs_2018_csv_pvt.zip")


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


def test_vermont_males_of_one_puma() -> None:
    def males(batch: pa.RecordBatch) -> object:
        here = pc.equal(batch.column("puma"), "00100")
        return pc.and_(here, pc.equal(batch.column("sex"), "1")).to_numpy(zero_copy_only=False)

    (member,) = inspect(VERMONT)
    estimate, error = total(batches(member), males)
    assert estimate == 108_732
    assert error == pytest.approx(1122.9765, abs=5e-5)


def test_every_surveyed_person_is_read() -> None:
    """Rows of the Bureau's files, counted with `wc -l` less the header."""
    counts = [sum(b.num_rows for b in batches(inspect(p)[0])) for p in (WYOMING, VERMONT)]
    assert counts == [5740, 6436]
