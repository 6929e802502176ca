"""The cheap pass finds what the full parse finds, or leaves the file to it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from acs_files import person, text, write
from fairscreen.errors import InputError
from fairscreen.sources import acs_reader
from fairscreen.sources.acs_keys import Scan
from fairscreen.sources.acs_reader import inspect, scan

serials = st.one_of(
    st.builds("{}{}{:07d}".format, st.integers(2018, 2022), st.sampled_from(["HU", "GQ"]),
              st.integers(0, 9_999_999)),
    st.builds("2017{:09d}".format, st.integers(0, 999_999_999)),
)  # fmt: skip
orders = st.integers(1, 20).map("{:02d}".format)
states = st.sampled_from(["01", "56", "72"])
layouts = st.permutations(["RT", "SERIALNO", "SPORDER", "ST", "PUMA", "AGEP"])


def same(one: Scan, other: Scan) -> bool:
    return (one.sha256, one.rows, one.states, one.years) == (
        other.sha256, other.rows, other.states, other.years,
    ) and np.array_equal(one.keys, other.keys)  # fmt: skip


@given(
    people=st.lists(st.tuples(serials, orders, states), min_size=1, max_size=20),
    layout=layouts, end=st.sampled_from(["\n", "\r\n", "\n\n"]), last=st.booleans(),
    blanks=st.booleans(), block=st.integers(1, 3000),
)  # fmt: skip
def test_the_same_as_the_full_parse(
    tmp_path_factory: pytest.TempPathFactory, people: list[tuple[str, str, str]],
    layout: list[str], end: str, last: bool, blanks: bool, block: int,
) -> None:  # fmt: skip
    rows = [person(SERIALNO=s, SPORDER=o, ST=f, AGEP="7") for s, o, f in people]
    rest = [c for c in rows[0] if c not in layout]
    content = text([{c: row[c] for c in (*layout, *rest)} for row in rows], end=end)
    content = content if last else content.rstrip()
    content += end * 3 if blanks else ""
    path = write(tmp_path_factory.mktemp("k") / "a.zip", {"psam_p56.csv": content})
    (member,) = inspect(path)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("fairscreen.sources.acs_keys._BLOCK", block)
        patch.setattr(acs_reader, "_whole", _never)
        quick = scan(member)
    assert same(quick, acs_reader._whole(member))


def _never(member: object) -> Scan:
    raise AssertionError("parsed whole")


@pytest.mark.parametrize(
    "rows",
    [
        [{f'"{k}"': f'"{v}"' for k, v in person().items()}],
        [person(SERIALNO="0000012"), person()],
        [{"A": "x" * 90, **person()}],
    ],
    ids=["quoted", "two forms of SERIALNO", "keys far on"],
)
def test_what_is_not_plain_is_parsed_whole(tmp_path: Path, rows: list[dict[str, str]]) -> None:
    path = write(tmp_path / "a.zip", {"psam_p56.csv": text(rows)})
    (member,) = inspect(path, vintage=2018)
    assert same(scan(member), acs_reader._whole(member))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(acs_reader, "_whole", _never)
        with pytest.raises(AssertionError, match="whole"):
            scan(member)


def test_the_first_lines_are_checked_in_full_and_the_rest_by_the_workers(tmp_path: Path) -> None:
    many = [person(SERIALNO=f"2018HU{i:07d}") for i in range(3000)]
    early = [*many[:5], person(SERIALNO="2018HU0009999", AGEP="old"), *many[5:]]
    late = [*many, person(SERIALNO="2018HU0009999", AGEP="old")]
    path = write(tmp_path / "a.zip", {"psam_p56.csv": text(early)})
    with pytest.raises(InputError, match="line 7, column AGEP: 'old' is not a whole number"):
        scan(inspect(path)[0])
    write(path, {"psam_p56.csv": text(late)})
    (member,) = inspect(path)
    seen = scan(member)
    assert seen.rows == 3001
    with pytest.raises(InputError, match="line 3002, column AGEP: 'old' is not a whole number"):
        list(acs_reader.batches(member, sha256=seen.sha256))


def test_a_file_that_changes_between_the_passes_is_refused(tmp_path: Path) -> None:
    path = write(tmp_path / "a.zip", {"psam_p56.csv": text([person()])})
    (member,) = inspect(path)
    seen = scan(member)
    write(path, {"psam_p56.csv": text([person(AGEP="34")])})
    with pytest.raises(InputError) as caught:
        list(acs_reader.batches(member, sha256=seen.sha256))
    assert str(caught.value) == (
        f"{path}, psam_p56.csv: changed while it was read. Run the command again."
    )
