"""SSA baby names by state: `namesbystate.zip` with one `XX.TXT` for each state, or one such file.

Lines are `AK,F,1910,Mary,14`: state, sex, birth year, name, births, without a header, from 1910
on. States are summed. In every state names with fewer than five births of a year and sex are left
out, so up to four births per state may hide beside or instead of a row: `hidden_births` counts
them. Source: Social Security Administration, state-specific data, public domain.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from fairscreen.errors import InputError
from fairscreen.sources import archive, ssa_lines

REMEDY = "Download namesbystate.zip (state-specific data) from the SSA's baby names page again."
MEMBER = re.compile(r"([A-Z]{2})\.txt", re.IGNORECASE)
_COLUMNS = {
    "state": pa.string(), "sex": pa.string(), "birth_year": pa.int32(), "name": pa.string(),
    "births": pa.int32(),
}  # fmt: skip


def read(path: Path) -> Iterator[pa.Table]:
    """One table for each birth year: columns of ssa_names, hidden_births, hidden_if_absent.

    Raises InputError: not a zip, damaged, no `XX.TXT` inside, a state twice, a line that is wrong
    (see ssa_lines.parse).
    """
    parts = [
        ssa_lines.parse(data, _COLUMNS, where, form="AK,F,1910,Mary,14", remedy=REMEDY, state=state)
        for state, where, data in _files(path)
    ]
    key = ["birth_year", "sex", "name"]
    rows = pa.concat_tables(parts).group_by(key, use_threads=False)
    summed = rows.aggregate([("births", "sum"), ("births", "count")]).sort_by(
        [(column, "ascending") for column in key]
    )
    least = ssa_lines.MIN_BIRTHS - 1
    missing = np.int32(len(parts)) - summed["births_count"].to_numpy().astype(np.int32)
    table = pa.table(
        {
            **{column: summed[column].combine_chunks() for column in key},
            "births": pc.cast(summed["births_sum"], pa.int32()),
            "hidden_births": pa.array(missing * least, pa.int32()),
            "hidden_if_absent": pa.array(np.full(len(missing), len(parts) * least), pa.int32()),
        }
    )
    _, starts = np.unique(table["birth_year"].to_numpy(), return_index=True)
    for at, end in zip(starts, [*starts[1:], len(table)], strict=True):
        yield table.slice(int(at), int(end - at))


def inspect(path: Path) -> None:
    """Whether the file opens and which states it holds; InputError as `read`. Reads no names."""
    if path.suffix.lower() == ".zip":
        with archive.opened(path, REMEDY) as names:
            _states(names.namelist(), path)


def _files(path: Path) -> Iterator[tuple[str, str, bytes]]:
    """(state, name for messages, content) of the zip's files, or of the one file."""
    if found := MEMBER.fullmatch(path.name):
        try:
            yield found.group(1).upper(), str(path), path.read_bytes()
        except OSError as error:
            problem = (error.strerror or "cannot be read").lower()
            raise InputError(str(path), problem, REMEDY) from None
        return
    with archive.opened(path, REMEDY) as names:
        for state, member in sorted(_states(names.namelist(), path).items()):
            with archive.streamed(names, path, member, REMEDY) as stream:
                yield state, f"{path}, member {member}", stream.read()


def _states(members: list[str], path: Path) -> dict[str, str]:
    states: dict[str, str] = {}
    for member in members:
        if not (found := MEMBER.fullmatch(archive.basename(member))):
            continue
        state = found.group(1).upper()
        if state in states:
            problem = f"holds state {state} twice ({states[state]} and {member})"
            raise InputError(str(path), problem, REMEDY)
        states[state] = member
    if not states:
        raise InputError(str(path), "holds no XX.TXT of a state", REMEDY)
    return states
