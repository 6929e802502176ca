"""Read ACS PUMS person files as the Census Bureau ships them, streamed from the zip.

Arrow parses; it says little about what is wrong. So whatever Arrow or a check refuses is read a
second time, slowly, by `acs_diagnose`, which finds the line and the column.
"""

from __future__ import annotations

import codecs
import hashlib
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pacsv
from numpy.typing import NDArray

from fairscreen.errors import InputError
from fairscreen.sources import archive
from fairscreen.sources.acs_layout import (
    CODES,
    KEY_FIELDS,
    NUMBERS,
    RANGES,
    REPLICATES,
    SCHEMA,
    person_keys,
    serial_year,
)
from fairscreen.sources.acs_lines import OFFICIAL, fields, next_line

_BLOCK = 4 << 20


@dataclass(frozen=True)
class Member:
    """One person CSV inside a zip, as its header and first row show it.

    columns        header in file order, upper case.
    state_column   ST or STATE. relationship_column  RELP, RELSHIPP or None.
    vintage        survey year. vintage_given  it was given, not read from SERIALNO.
    size           uncompressed bytes.
    """

    path: str
    member: str
    columns: tuple[str, ...]
    state_column: str
    relationship_column: str | None
    has_replicate_weights: bool
    vintage: int
    vintage_given: bool
    size: int

    @property
    def label(self) -> str:
        """FILE/MEMBER without folders, for results and notes."""
        return f"{Path(self.path).name}/{self.member}"

    @property
    def where(self) -> str:
        return f"{self.path}, {self.member}"

    def names(self) -> dict[str, str]:
        """Table field: header column, for the text columns that this file has."""
        pairs = {c.field: next((n for n in c.names if n in self.columns), None) for c in CODES}
        return {field: name for field, name in pairs.items() if name}


@dataclass(frozen=True)
class Scan:
    """What one pass over a member's bytes gives.

    sha256  of the uncompressed bytes. rows  people. states  FIPS codes.
    keys    (rows,) int64, sorted: (SERIALNO, SPORDER) packed, see `person_keys`.
    """

    sha256: str
    rows: int
    states: frozenset[str]
    keys: NDArray[np.int64]


class RefusedError(Exception):
    """Arrow or a check refused the content; `acs_diagnose` finds out where."""


def inspect(path: str | Path, *, vintage: int | None = None) -> list[Member]:
    """The person CSVs of a zip, in name order; reads each one's header and first row only.

    `vintage` overrides the survey year that SERIALNO begins with.
    Raises InputError naming file, member, line or column.
    """
    file = Path(path).expanduser().absolute()
    if file.is_dir():
        raise InputError(str(file), "is a folder", "Give the zip files in it.")
    if not file.exists():
        raise InputError(str(file), "does not exist", "Check the path; give the Bureau's zip.")
    with file.open("rb") as stream:
        magic = stream.read(4)
    if magic[:2] != b"PK":
        raise InputError(str(file), "is not a zip", OFFICIAL)
    damaged = "Download the file again."
    found = []
    with archive.opened(file, damaged) as bundle:
        names = sorted(n for n in archive.members(bundle) if n.lower().endswith(".csv"))
        if not names:
            raise InputError(str(file), "holds no CSV file", OFFICIAL)
        twice = [n for n, count in Counter(names).items() if count > 1]
        if twice:
            raise InputError(f"{file}, {twice[0]}", "is in the zip twice", OFFICIAL)
        for name in names:
            if bundle.getinfo(name).flag_bits & 1:
                raise InputError(f"{file}, {name}", "is encrypted", OFFICIAL)
            with archive.streamed(bundle, file, name, damaged) as stream:
                size = bundle.getinfo(name).file_size
                found.append(_inspect_member(str(file), name, stream, size, vintage))
    return found


def _inspect_member(
    path: str, name: str, stream: IO[bytes], size: int, vintage: int | None
) -> Member:
    where = f"{path}, {name}"
    header = next_line(stream, where, 1).removeprefix("\ufeff")
    if not header.strip():
        raise _no_header(where, stream)
    columns = tuple(c.strip().upper() for c in fields(header, f"{where}, line 1"))
    if len(columns) == 1:
        other = {";": "semicolons", "\t": "tabs", "|": "vertical bars"}
        for mark, words in other.items():
            if mark in header:
                problem = f"the header is separated by {words}, not by commas"
                raise InputError(f"{where}, line 1", problem, OFFICIAL)
    _check_header(where, archive.basename(name), columns)
    line, number = "", 1
    while not line.strip():
        number += 1
        line = next_line(stream, where, number)
        if not line:
            problem = "holds a header and no people"
            raise InputError(where, problem, "Give a complete person file.")
    row = fields(line, f"{where}, line {number}")
    serial = columns.index("SERIALNO")
    serialno = row[serial] if serial < len(row) else ""
    year = vintage or serial_year(serialno)
    if year is None:
        raise InputError(
            f"{where}, line {number}, column SERIALNO",
            f"'{serialno}' does not begin with the survey year",
            "Give the year of the file with --vintage.",
        )
    return Member(
        path=path,
        member=name,
        columns=columns,
        state_column="ST" if "ST" in columns else "STATE",
        relationship_column=next((c for c in ("RELP", "RELSHIPP") if c in columns), None),
        has_replicate_weights=REPLICATES[0] in columns,
        vintage=year,
        vintage_given=vintage is not None,
        size=size,
    )


def _no_header(where: str, stream: IO[bytes]) -> InputError:
    """Line 1 holds nothing: because the file does, or because blank lines stand on top."""
    number, line = 1, "\n"
    while line and not line.strip():
        number += 1
        line = next_line(stream, where, number)
    if not line:
        return InputError(where, "is empty", OFFICIAL)
    problem = f"is blank; the header must stand there, and the first text is in line {number}"
    return InputError(f"{where}, line 1", problem, OFFICIAL)


def _check_header(where: str, name: str, columns: Sequence[str]) -> None:
    housing = name.lower().startswith("psam_h") or ("WGTP" in columns and "PWGTP" not in columns)
    if housing:
        problem = "this is a housing file; people are in the person file"
        raise InputError(where, problem, OFFICIAL)
    twice = [c for c, count in Counter(columns).items() if count > 1]
    if twice:
        problem = "the header names this column twice"
        raise InputError(f"{where}, line 1, column {twice[0] or '(no name)'}", problem, OFFICIAL)
    needed = [c.names for c in CODES if c.required] + [(n,) for n in NUMBERS.values()]
    for names in needed:
        if not set(names) & set(columns):
            wanted = " or ".join(names)
            raise InputError(where, f"column {wanted} is missing", OFFICIAL)
        if len(set(names) & set(columns)) > 1:
            problem = f"columns {' and '.join(names)} are both there; only one can be the state"
            raise InputError(where, problem, OFFICIAL)
    present = [c for c in REPLICATES if c in columns]
    if present and len(present) < len(REPLICATES):
        missing = next(c for c in REPLICATES if c not in columns)
        problem = f"has {len(present)} of the 80 replicate weights; {missing} is missing"
        raise InputError(where, problem, "Give all 80 or none of them.")


class _Tee:
    """A byte stream that hashes what passes and checks that it is UTF-8."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream, self._sha = stream, hashlib.sha256()
        self._decoder, self._whole = codecs.getincrementaldecoder("utf-8")(), True
        self.closed = False

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        block = self._stream.read(size)
        self._sha.update(block)
        if not (self._whole and block.isascii()):
            self._decoder.decode(block, final=not block)
            self._whole = self._decoder.getstate()[0] == b""
        return block

    def finish(self) -> str:
        """Read what is left (the zip's checksum is compared at the very end); the hash."""
        while self.read(_BLOCK):
            pass
        return self._sha.hexdigest()

    def close(self) -> None:
        self.closed = True


def scan(member: Member) -> Scan:
    """One pass over the bytes: hash, encoding, checksum, people and states.

    All columns are parsed, so that a fault anywhere is found here, before Spark starts: a task
    that fails fills the user's screen with stack traces whatever the error says.
    """
    names = member.names()
    rows, states, keys = 0, set[str](), []
    with _diagnosed(member), _stream(member) as stream:
        tee = _Tee(stream)
        for batch in _parsed(member, tee, _columns(member)):
            _check_codes(member, batch)
            serial, order, state = (batch.column(names[f]) for f in KEY_FIELDS)
            keys.append(person_keys(serial, order))
            states.update(pc.unique(state).to_pylist())
            rows += batch.num_rows
        sha = tee.finish()
    return Scan(sha, rows, frozenset(states), np.sort(np.concatenate(keys)))


def batches(
    member: Member, *, sha256: str | None = None, batch_bytes: int = _BLOCK
) -> Iterator[pa.RecordBatch]:
    """The people of a member as record batches with the columns of table acs_person.

    `sha256` of the member where `scan` already gave it; else one more pass over the bytes.
    Raises InputError naming file, member, line and column.
    """
    digest = sha256 or scan(member).sha256
    with _diagnosed(member), _stream(member) as stream:
        for batch in _parsed(member, _Tee(stream), _columns(member), batch_bytes):
            _check_codes(member, batch)
            yield _as_table(member, batch, member.names(), digest)


def _columns(member: Member) -> list[str]:
    replicates = REPLICATES if member.has_replicate_weights else ()
    return [*member.names().values(), *NUMBERS.values(), *replicates]


@contextmanager
def _stream(member: Member) -> Iterator[IO[bytes]]:
    path, again = Path(member.path), "Download the file again."
    with (
        archive.opened(path, again) as bundle,
        archive.streamed(bundle, path, member.member, again) as stream,
    ):
        yield stream


@contextmanager
def _diagnosed(member: Member) -> Iterator[None]:
    try:
        yield
    except (pa.ArrowInvalid, UnicodeDecodeError, RefusedError) as error:
        from fairscreen.sources.acs_diagnose import diagnose

        raise diagnose(member, str(error)) from None


def _parsed(
    member: Member, source: _Tee, columns: Sequence[str], block: int = _BLOCK
) -> Iterator[pa.RecordBatch]:
    numbers = {*NUMBERS.values(), *REPLICATES}
    reader = pacsv.open_csv(
        source,
        read_options=pacsv.ReadOptions(
            column_names=member.columns, skip_rows=1, block_size=block, use_threads=False
        ),
        convert_options=pacsv.ConvertOptions(
            include_columns=list(columns),
            column_types={c: pa.int32() if c in numbers else pa.string() for c in columns},
            null_values=[""],
            strings_can_be_null=True,
            check_utf8=True,
        ),
    )
    for batch in reader:
        if batch.num_rows:
            yield batch


def _check_codes(member: Member, batch: pa.RecordBatch) -> None:
    names = member.names()
    for code in CODES:
        name = names.get(code.field)
        if name is None or name not in batch.schema.names:
            continue
        column = batch.column(name)
        good = pc.match_substring_regex(column, f"^(?:{code.pattern})$")
        if (column.null_count and not code.empty) or pc.all(good).as_py() is False:
            raise RefusedError(name)
    for name in (*NUMBERS.values(), *REPLICATES):
        if name in batch.schema.names and batch.column(name).null_count:
            raise RefusedError(name)
    for name, (least, most) in RANGES.items():
        if name in batch.schema.names:
            found = pc.min_max(batch.column(name)).as_py()
            if found["min"] < least or found["max"] > most:
                raise RefusedError(name)
    serial = batch.column("SERIALNO")
    dated = serial.filter(pc.greater(pc.utf8_length(serial), 7))
    for year in pc.unique(pc.utf8_slice_codeunits(dated, 0, 4)).to_pylist():
        if not year_fits(member, int(year)):
            raise RefusedError("SERIALNO")


def year_fits(member: Member, year: int) -> bool:
    """Whether a row of this year belongs: pooled files only where the vintage was given."""
    return member.vintage - (4 if member.vintage_given else 0) <= year <= member.vintage


def _as_table(
    member: Member, batch: pa.RecordBatch, names: dict[str, str], sha256: str
) -> pa.RecordBatch:
    n = batch.num_rows
    values: dict[str, pa.Array] = {f: batch.column(name) for f, name in names.items()}
    values |= {f: batch.column(name) for f, name in NUMBERS.items()}
    values["vintage"] = pa.repeat(pa.scalar(member.vintage, pa.int32()), n)
    values["source_sha256"] = pa.repeat(sha256, n)
    if member.has_replicate_weights:
        grid = np.column_stack([batch.column(c).to_numpy() for c in REPLICATES])
        offsets = pa.array(np.arange(n + 1, dtype=np.int32) * len(REPLICATES))
        flat = pa.array(grid.reshape(-1))
        values["replicate_weights"] = pa.ListArray.from_arrays(offsets, flat)
    arrays = [
        values[f.name].cast(f.type) if f.name in values else pa.nulls(n, f.type) for f in SCHEMA
    ]
    return pa.RecordBatch.from_arrays(arrays, schema=SCHEMA)
