"""Published figures of the ACS 2018 1-year PUMS, from the shipped Wyoming and Vermont files.

State figures: Census Bureau, "2018 1-year PUMS estimates for user verification" (standard errors
rounded). Vermont by PUMA and sex: `survey::svytotal` in R on the same replicate weights, as
printed in tidycensus's article "Working with Census microdata" (docs/articles/pums-data.html of
walkerke/tidycensus at eb567be), an implementation that shares nothing with ours.
"""

from __future__ import annotations

from functools import partial

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
