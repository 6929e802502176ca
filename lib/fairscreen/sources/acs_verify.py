"""Weighted totals of PUMS person files with design-based errors, as the Bureau verifies them.

The Census Bureau publishes, for every 1-year and 5-year file, the totals and standard errors that
a user must get from it ("PUMS estimates for user verification"). `verify` computes them from zips,
`compare` holds them against the published file. No Spark; memory does not grow with the files.
"""

from __future__ import annotations

import csv
import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from fairscreen.errors import InputError
from fairscreen.population.survey import REPLICATES, successive_difference_error
from fairscreen.sources.acs_layout import survey_name
from fairscreen.sources.acs_reader import batches
from fairscreen.sources.acs_survey import Survey, SurveyFile, survey_files

Z90 = 1.645  # the Bureau's factor for a 90 percent margin of error
NATION = 51  # states and DC: only then is the sum of the files comparable with the row US

Mask = NDArray[np.bool_]
Totals = NDArray[np.int64]


@dataclass(frozen=True)
class VerifyRow:
    """One weighted total. `state` is the FIPS code, or `all` for the sum of what was given.

    period  years of data: 1, or 5 of a 5-year file, whose vintage is the last year.
    estimate, std_error, moe90 in people; null with a `reason` where they cannot be computed:
    `no_relationship_column`, `no_replicate_weights`.
    """

    vintage: int
    period: int
    state: str
    characteristic: str
    estimate: int | None
    std_error: float | None
    moe90: float | None
    status: Literal["ok", "estimate_only", "not_computable"]
    reason: str | None


@dataclass(frozen=True)
class Comparison:
    """One published figure beside ours. `difference` is ours minus published."""

    vintage: int
    period: int
    state: str
    characteristic: str
    figure: Literal["estimate", "std_error", "moe90"]
    ours: float | None
    published: float
    difference: float | None
    status: Literal["equal", "differs", "not_computable"]


_AGES = ((0, 4), (5, 9), (10, 14), (15, 19), (20, 24), (25, 34), (35, 44), (45, 54), (55, 59),
         (60, 64), (65, 74), (75, 84))  # fmt: skip
_RELATIONSHIP = range(1, 5)  # positions below that need the relationship column
# Relationship column: codes of housing units, institutional and noninstitutional quarters.
_QUARTERS = {"RELP": ("0-15", 16, 17), "RELSHIPP": ("20-36", 37, 38)}


def characteristics(relationship_column: str | None) -> list[str]:
    """Labels in the Bureau's order; they name the codes of RELP or RELSHIPP."""
    name = relationship_column or "RELSHIPP"
    housing, inside, outside = _QUARTERS[name]
    codes = (housing, f"{inside}-{outside}", str(inside), str(outside))
    words = ("Housing unit", "GQ", "GQ institutional", "GQ noninstitutional")
    marks = [f" ({name}={c})" if relationship_column else "" for c in codes]
    return [
        "Total population",
        *(f"{w} population{m}" for w, m in zip(words, marks, strict=True)),
        "Total males (SEX=1)",
        "Total females (SEX=2)",
        *(f"Age {low}-{high}" for low, high in _AGES),
        "Age 85 and over",
    ]


def _masks(batch: pa.RecordBatch, relationship_column: str | None) -> Mask:
    """(characteristics, n): who counts for what."""
    age = batch.column("age").to_numpy()
    male = _numpy(pc.equal(batch.column("sex"), "1"))
    nobody = np.zeros(batch.num_rows, dtype=bool)
    quarters = [nobody] * len(_RELATIONSHIP)
    if relationship_column:
        housing, inside, outside = _QUARTERS[relationship_column]
        low, high = (int(c) for c in housing.split("-"))
        code = pc.fill_null(batch.column("relationship").cast(pa.int32()), -1).to_numpy()
        quarters = [
            (code >= low) & (code <= high),
            (code == inside) | (code == outside),
            code == inside,
            code == outside,
        ]
    ages = [(age >= low) & (age <= high) for low, high in _AGES]
    return np.stack([~nobody, *quarters, male, ~male, *ages, age >= 85])


def _numpy(column: pa.Array) -> NDArray[np.bool_]:
    return np.asarray(column.to_numpy(zero_copy_only=False), dtype=bool)


def _weights(batch: pa.RecordBatch) -> Totals:
    """(n, 81): PWGTP, then the replicate weights (zeros where the file has none)."""
    weights = np.zeros((batch.num_rows, 1 + REPLICATES), dtype=np.int64)
    weights[:, 0] = batch.column("pwgtp").to_numpy()
    replicates = batch.column("replicate_weights")
    if replicates.null_count == 0:
        weights[:, 1:] = replicates.flatten().to_numpy().reshape(-1, REPLICATES)
    return weights


def _sums(masks: Mask, weights: Totals) -> Totals:
    """(characteristics, 81). Float products of integers below 2^53 are exact, and much faster."""
    return np.rint(masks.astype(np.float64) @ weights.astype(np.float64)).astype(np.int64)


@dataclass(frozen=True)
class _Cell:
    """Totals of one state in one survey, over the files given; they add."""

    sums: Totals
    has_replicates: bool
    relationship: str | None

    def __add__(self, other: _Cell) -> _Cell:
        same = self.relationship == other.relationship
        return _Cell(
            self.sums + other.sums,
            self.has_replicates and other.has_replicates,
            self.relationship if same else None,
        )


def _member_cells(file: SurveyFile) -> dict[tuple[int, int, str], _Cell]:
    member = file.member
    sums: dict[str, Totals] = {}
    for batch in batches(member, sha256=file.scan.sha256):
        masks, weights = _masks(batch, member.relationship_column), _weights(batch)
        state = batch.column("state")
        for fips in pc.unique(state).to_pylist():
            here = _numpy(pc.equal(state, fips))
            part = _sums(masks[:, here], weights[here])
            sums[fips] = sums[fips] + part if fips in sums else part
    return {
        (*member.survey, fips): _Cell(s, member.has_replicate_weights, member.relationship_column)
        for fips, s in sums.items()
    }


def verify(
    paths: Sequence[str | Path], *, vintage: int | None = None, survey: Survey | None = None
) -> list[VerifyRow]:
    """Totals per survey, state and characteristic; with several states their sum, `all`, first.

    Content given twice counts once. `survey`: what `survey_files` gave for these paths, where the
    caller has it already. Raises InputError for bad files and for people given twice.
    """
    files, _ = survey or survey_files(paths, vintage=vintage)
    cells: dict[tuple[int, int, str], _Cell] = {}
    with ThreadPoolExecutor(max_workers=min(8, os.cpu_count() or 1)) as pool:
        for found in pool.map(_member_cells, files):
            for key, cell in found.items():
                cells[key] = cells[key] + cell if key in cells else cell
    rows: list[VerifyRow] = []
    for each in sorted({(year, period) for year, period, _ in cells}):
        states = sorted(fips for *found, fips in cells if tuple(found) == each)
        if len(states) > 1:
            together = cells[*each, states[0]]
            for fips in states[1:]:
                together = together + cells[*each, fips]
            rows += _rows(each, "all", together)
        for fips in states:
            rows += _rows(each, fips, cells[*each, fips])
    return rows


def _rows(survey: tuple[int, int], state: str, cell: _Cell) -> Iterator[VerifyRow]:
    errors = successive_difference_error(cell.sums[:, 0], cell.sums[:, 1:])
    for i, label in enumerate(characteristics(cell.relationship)):
        if i in _RELATIONSHIP and cell.relationship is None:
            reason = "no_relationship_column"
            yield VerifyRow(*survey, state, label, None, None, None, "not_computable", reason)
            continue
        estimate, error = int(cell.sums[i, 0]), float(errors[i])
        if cell.has_replicates:
            yield VerifyRow(*survey, state, label, estimate, error, Z90 * error, "ok", None)
        else:
            reason = "no_replicate_weights"
            yield VerifyRow(*survey, state, label, estimate, None, None, "estimate_only", reason)


def total(
    people: Iterable[pa.RecordBatch], predicate: Callable[[pa.RecordBatch], Mask]
) -> tuple[int, float | None]:
    """Weighted total and standard error of whoever `predicate` marks, (n,) bool per batch.

    The error is null where any batch has no replicate weights.
    """
    sums, complete = np.zeros(1 + REPLICATES, dtype=np.int64), True
    for batch in people:
        sums += _sums(np.asarray(predicate(batch), dtype=bool)[None, :], _weights(batch))[0]
        complete = complete and batch.column("replicate_weights").null_count == 0
    error = float(successive_difference_error(sums[0], sums[1:]))
    return int(sums[0]), error if complete else None


_FIGURES: dict[str, Literal["estimate", "std_error", "moe90"]] = {
    "est": "estimate", "se": "std_error", "moe": "moe90",
}  # fmt: skip


def compare(rows: Sequence[VerifyRow], official_csv: str | Path) -> list[Comparison]:
    """Every published figure of the states and surveys in `rows`, beside ours.

    Columns are named pums_est_24 in a 1-year file and pums_est_19_to_23 in a 5-year file; `se` and
    `moe` likewise. "-" is the spreadsheet's 0.
    Published figures are whole numbers: estimates must be equal, errors equal when rounded.
    Our `all` is held against `US` only where it sums the 50 states and DC.
    Raises InputError where the file is not the Bureau's or has nothing in common with `rows`.
    """
    file = Path(official_csv)
    where, remedy = str(file), "Give the Bureau's file of PUMS estimates for user verification."
    try:
        text = file.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise InputError(where, "is not UTF-8", remedy) from None
    except OSError as error:
        problem = (error.strerror or "cannot be read").lower()
        raise InputError(where, problem, remedy) from None
    try:
        lines = list(csv.reader(text.splitlines()))
    except csv.Error as error:
        raise InputError(where, f"cannot be split into fields: {error}", remedy) from None
    header = [c.strip().lower() for c in lines[0]] if lines else []
    columns = {
        i: (_survey(m.group(2), m.group(3)), _FIGURES[m.group(1)])
        for i, c in enumerate(header)
        if (m := re.fullmatch(r"pums_(est|se|moe)_(?:(\d\d)_to_)?(\d\d)", c))
    }
    for name in ("st", "characteristic"):
        if name not in header:
            raise InputError(where, f"column {name} is missing", remedy)
    if not columns:
        raise InputError(where, "no column is named like pums_est_24", remedy)
    st, label = header.index("st"), header.index("characteristic")
    ours = {(r.vintage, r.period, r.state, _plain(r.characteristic)): r for r in rows}
    surveys = {(r.vintage, r.period) for r in rows}
    nation = {s for s in surveys if _states(rows, s) == NATION}
    found = []
    for number, line in enumerate(lines[1:], start=2):
        if len(line) != len(header):
            if not "".join(line).strip():
                continue
            problem = f"has {len(line)} fields, the header has {len(header)}"
            raise InputError(f"{where}, line {number}", problem, remedy)
        code = line[st].strip().upper()
        state = "all" if code == "US" else code.zfill(2)
        for i, (survey, figure) in columns.items():
            row = ours.get((*survey, state, _plain(line[label])))
            if row is None or (state == "all" and survey not in nation) or not line[i].strip():
                continue
            published = _number(line[i], f"{where}, line {number}, column {header[i]}", remedy)
            found.append(_compared(row, figure, published))
    if not found:
        years = ", ".join(survey_name(*s) for s in sorted(surveys))
        raise InputError(where, f"holds none of the states given, for {years}", remedy)
    return found


def _survey(first: str | None, last: str) -> tuple[int, int]:
    """Vintage and period of a column named ..._24 or ..._19_to_23."""
    return 2000 + int(last), 1 if first is None else int(last) - int(first) + 1


def _states(rows: Sequence[VerifyRow], survey: tuple[int, int]) -> int:
    return len({r.state for r in rows if (r.vintage, r.period) == survey} - {"all", "72"})


def _plain(label: str) -> str:
    """A label without its codes in parentheses, which differ between vintages."""
    return " ".join(re.sub(r"\(.*?\)", "", label).lower().split())


def _number(text: str, where: str, remedy: str) -> float:
    try:
        return 0.0 if text.strip() == "-" else float(text.replace(",", ""))
    except ValueError:
        raise InputError(where, f"'{text}' is not a number", remedy) from None


def _compared(
    row: VerifyRow, figure: Literal["estimate", "std_error", "moe90"], published: float
) -> Comparison:
    ours = getattr(row, figure)
    key = (row.vintage, row.period, row.state, row.characteristic, figure)
    if ours is None:
        return Comparison(*key, None, published, None, "not_computable")
    near = abs(ours - published) <= 0.5
    if figure == "moe90" and row.std_error is not None:  # published from the rounded error?
        near = near or abs(Z90 * round(row.std_error) - published) <= 0.5
    same = near if figure != "estimate" else ours == published
    return Comparison(
        *key, float(ours), published, ours - published, "equal" if same else "differs"
    )
