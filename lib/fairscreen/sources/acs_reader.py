"""Read ACS PUMS person files as the Census Bureau ships them, streamed from the zip.

`scan` is the cheap pass of the driver, `batches` the full parse with every check. Arrow parses;
it says little about what is wrong. So whatever Arrow or a check refuses is read once more, slowly,
by `acs_diagnose`, which finds the line and the column.
"""

from __future__ import annotations

import codecs
import hashlib
import io
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pacsv

from fairscreen.errors import InputError
from fairscreen.sources import acs_keys, archive
from fairscreen.sources.acs_keys import Scan, UnclearError
from fairscreen.sources.acs_layout import (
    CODES,
    KEY_FIELDS,
    NO_PUMA,
    NUMBERS,
    PUMA_PAIR,
    RANGES,
    REPLICATES,
    SCHEMA,
    person_keys,
)
from fairscreen.sources.acs_member import Member, inspect

__all__ = ["Member", "RefusedError", "Scan", "batches", "inspect", "scan", "year_fits"]

_BLOCK = 4 << 20
_HEAD = 1 << 18  # bytes that the cheap pass checks in full


class RefusedError(Exception):
    """Arrow or a check refused the content; `acs_diagnose` finds out where."""


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
    """One pass over the bytes: hash, the zip's checksum, people, states, survey years.

    Of a plain file only the columns of the keys are looked at, and the first lines in full: what
    a spreadsheet or a wrong file spoils shows there, before Spark starts. The rest of the checks
    is left to `batches`. A file that is not plain (quotes, an unusual key) is parsed whole here.
    Raises InputError naming file, member, line and column.
    """
    names = member.names()
    columns = [member.columns.index(names[f]) for f in KEY_FIELDS]
    with _diagnosed(member):
        try:
            with _stream(member) as stream:
                return acs_keys.read(stream, columns, lambda top: _check_top(member, top))
        except UnclearError:
            return _whole(member)


def _check_top(member: Member, lines: bytes) -> None:
    cut = lines.rfind(b"\n", 0, _HEAD) + 1 or len(lines)
    for batch in _parsed(member, _Tee(io.BytesIO(lines[:cut])), _columns(member)):
        _check_codes(member, batch)


def _whole(member: Member) -> Scan:
    names = member.names()
    rows, states, years, keys = 0, set[str](), set[int](), []
    with _stream(member) as stream:
        tee = _Tee(stream)
        for batch in _parsed(member, tee, _columns(member)):
            _check_codes(member, batch)
            serial, order, state = (batch.column(names[f]) for f in KEY_FIELDS)
            keys.append(person_keys(serial, order))
            states.update(pc.unique(state).to_pylist())
            years.update(_years(serial))
            rows += batch.num_rows
        sha = tee.finish()
    return Scan(sha, rows, frozenset(states), frozenset(years), np.sort(np.concatenate(keys)))


def batches(
    member: Member, *, sha256: str | None = None, batch_bytes: int = _BLOCK
) -> Iterator[pa.RecordBatch]:
    """The people of a member as record batches with the columns of table acs_person.

    `sha256` of the member where `scan` already gave it; else one more pass over the bytes.
    Raises InputError naming file, member, line and column; also where the bytes are no longer
    those of `sha256`.
    """
    digest = sha256 or scan(member).sha256
    with _diagnosed(member), _stream(member) as stream:
        tee = _Tee(stream)
        for batch in _parsed(member, tee, _columns(member), batch_bytes):
            _check_codes(member, batch)
            if not all(year_fits(member, year) for year in _years(batch.column("SERIALNO"))):
                raise RefusedError("SERIALNO")
            yield _as_table(member, batch, digest)
        if tee.finish() != digest:
            raise InputError(member.where, "changed while it was read", "Run the command again.")


def _columns(member: Member) -> list[str]:
    replicates = REPLICATES if member.has_replicate_weights else ()
    names = [n for n in member.names().values() if n in member.columns]
    pair = PUMA_PAIR if member.has_puma_pair else ()
    return [*names, *pair, *NUMBERS.values(), *replicates]


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
            yield _one_puma(batch) if member.has_puma_pair else batch


def _one_puma(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Column PUMA from PUMA10 and PUMA20, of which exactly one applies to each person."""
    old, new = (batch.column(c) for c in PUMA_PAIR)
    none = [pc.is_in(c, value_set=pa.array(NO_PUMA)) for c in (old, new)]
    if pc.all(pc.xor(*none)).as_py() is False:
        raise RefusedError(PUMA_PAIR[0])
    return batch.append_column("PUMA", pc.if_else(none[0], new, old))


def _check_codes(member: Member, batch: pa.RecordBatch) -> None:
    names = member.names()
    for code in CODES:
        name = names.get(code.field)
        if name not in code.names or name not in batch.schema.names:
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


def _years(serial: pa.Array) -> list[int]:
    """Survey years that the serial numbers begin with; those of 7 digits have none."""
    dated = serial.filter(pc.greater(pc.utf8_length(serial), 7))
    return [int(y) for y in pc.unique(pc.utf8_slice_codeunits(dated, 0, 4)).to_pylist()]


def year_fits(member: Member, year: int) -> bool:
    """Whether a person of this survey year belongs to the file's years."""
    return member.vintage - member.period < year <= member.vintage


def _as_table(member: Member, batch: pa.RecordBatch, sha256: str) -> pa.RecordBatch:
    n = batch.num_rows
    values: dict[str, pa.Array] = {f: batch.column(name) for f, name in member.names().items()}
    values |= {f: batch.column(name) for f, name in NUMBERS.items()}
    values["vintage"] = pa.repeat(pa.scalar(member.vintage, pa.int32()), n)
    values["period"] = pa.repeat(pa.scalar(member.period, pa.int32()), n)
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
