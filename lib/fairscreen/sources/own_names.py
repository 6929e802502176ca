"""Names that a user brings: first names and surnames as a CSV, parquet, Stata or Excel table.

First names: columns name, gender (female, male, F, M) and count, and birth_year where the list
tells it; without it every birth year has the same names. Nothing is left out of such a list for
privacy, so no births hide in it.
Surnames: columns name and count and either percentages of the bearers (pct_white, pct_black,
pct_asian_pacific, pct_native, pct_two_or_more, pct_hispanic, or the Census Bureau's names of them;
empty or (S) = not told; or all of them as shares of 1) or, in long form, race, with a row and a
count for each name and race.
Columns are found by name in any order and case; other columns are ignored.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from fairscreen import spelling
from fairscreen.errors import InputError
from fairscreen.sources import census_surnames, name_lists
from fairscreen.sources.census_surnames import ALL_OTHER, PERCENTAGES, SUPPRESSED, Surnames
from fairscreen.sources.name_lists import NameList
from fairscreen.sources.ssa_lines import YEARS

_GENDERS = {"f": "F", "female": "F", "m": "M", "male": "M"}
_ADD_UP = "Add the two rows up, or remove one."
_RACES = {column.removeprefix("pct_"): column for column in PERCENTAGES}
_ROUNDING = 3.0  # percent: six cells of a row, each rounded to a whole percent
_LEAST_SHARES = 0.9  # median sum of the rows of a file that gives shares of 1
_MOST_PEOPLE = 2**31 - 1  # what the tables' whole numbers hold
_NUMBER = re.compile(r"[0-9]{1,3}(\.[0-9]+)?")
Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]


def first_names(path: Path) -> Iterator[pa.Table]:
    """One table with the columns of ssa_names; birth_year is null where the file has none.

    Raises InputError naming file, line and column: no such column, an empty or impossible name,
    gender, count or birth year, a name twice.
    """
    options = {
        "name": ("name", "first_name"), "gender": ("gender", "sex"), "count": ("count", "births"),
        "birth_year": ("birth_year", "year"),
    }  # fmt: skip
    table = name_lists.read(path, options, ("name", "gender", "count"))
    names, counts = table.names(), _counts(table)
    sexes = []
    for at, cell in enumerate(table.cells["gender"]):
        if (cell or "").strip().lower() not in _GENDERS:
            problem = f"{cell or ''!r} is not female or male (F or M)"
            raise table.wrong(at, "gender", problem, "Correct the cell.")
        sexes.append(_GENDERS[cell.strip().lower()])
    years: list[int | None] = [None] * len(names)
    for at, cell in enumerate(table.cells.get("birth_year", ())):
        if (
            not re.fullmatch("[0-9]{4}", (cell or "").strip())
            or not YEARS[0] <= int(cell) <= YEARS[1]
        ):
            problem = f"{cell or ''!r} is not a year between {YEARS[0]} and {YEARS[1]}"
            remedy = "Give every row its year, or leave the column out."
            raise table.wrong(at, "birth_year", problem, remedy)
        years[at] = int(cell)
    shown = [spelling.printed(n) for n in names]
    table.once(
        "name",
        [
            (name, sex) if year is None else (name, sex, year)
            for name, sex, year in zip(shown, sexes, years, strict=True)
        ],
        _ADD_UP,
    )
    yield pa.table(
        {
            "birth_year": pa.array(years, pa.int32()),
            "sex": pa.array(sexes, pa.string()),
            "name": pa.array(names, pa.string()),
            "births": pa.array(counts, pa.int32()),
        }
    )


def _counts(table: NameList) -> list[int]:
    found = []
    for at, cell in enumerate(table.cells["count"]):
        digits = (cell or "").strip()
        if not re.fullmatch("[0-9]+", digits) or not digits.strip("0"):
            problem = f"{cell or ''!r} is not a whole number above 0"
            raise table.wrong(at, "count", problem, "Correct the count, or remove the row.")
        if len(digits.lstrip("0")) > 10 or int(digits) > _MOST_PEOPLE:
            problem = f"{digits[:60]} is above {_MOST_PEOPLE:,}"
            raise table.wrong(at, "count", problem, "Correct the count.")
        found.append(int(digits))
    return found


def surnames(path: Path) -> Surnames:
    """Surnames with percentages by race, from either form.

    Raises InputError naming file, line and column: no such column, an empty or impossible name,
    count, race or percentage, both forms at once, percentages of a row that are not 100 together,
    more bearers than the table's numbers hold, no name that is one, a name twice.
    """
    options = {"name": ("name", "surname"), "count": ("count", "bearers"), "race": ("race",)}
    options |= {ours: (ours, theirs) for ours, theirs in PERCENTAGES.items()}
    table = name_lists.read(path, options, ("name", "count"))
    given = [column for column in PERCENTAGES if column in table.cells]
    if "race" in table.cells:
        if given:
            raise InputError(
                table.path, f"has both {table.titles['race']} and {table.titles[given[0]]}",
                "Leave race out and give one row per name with percentages, or leave the "
                "percentages out and give one row per name and race.",
            )  # fmt: skip
        return _long(table)
    if not given:
        raise InputError(
            table.path, "has neither a column race nor percentages",
            f"Give race, or {', '.join(PERCENTAGES)} (those that are known).",
        )  # fmt: skip
    return _wide(table, given)


def _wide(table: NameList, given: list[str]) -> Surnames:
    names, counts = table.names(), _counts(table)
    pct = np.full((len(names), len(PERCENTAGES)), np.nan)
    hidden = 0
    for column in given:
        at_column = list(PERCENTAGES).index(column)
        for at, cell in enumerate(table.cells[column]):
            text = (cell or "").strip()
            if text in ("", SUPPRESSED):
                hidden += 1
                continue
            if not _NUMBER.fullmatch(text) or float(text) > 100:
                problem = f"{cell!r} is neither a percentage nor empty"
                raise table.wrong(at, column, problem, "Give percent, 0 to 100.")
            pct[at, at_column] = float(text)
    pct, shares = _percent(table, given, pct)
    table.once("name", [(spelling.printed(n),) for n in names], _ADD_UP)
    kept = _kept(table, names)
    columns = {
        "name": pa.array(names, pa.string()),
        "bearers": pa.array(counts, pa.int32()),
        **{c: pa.array(p, mask=np.isnan(p)) for c, p in zip(PERCENTAGES, pct.T, strict=True)},
    }
    rows = pa.table(columns, schema=census_surnames.SCHEMA).filter(pa.array(kept))
    rarer = sum(n for n, keep in zip(counts, kept, strict=True) if not keep)
    return Surnames(rows, int((~kept).sum()), hidden, rarer, shares)


def _percent(table: NameList, given: list[str], pct: Floats) -> tuple[Floats, bool]:
    """Percentages (rows, races), NaN = not told, and whether the file gives shares of 1.

    Shares: no cell above 1, and the rows add up to about 1. The largest cell tells, as one row
    may be above 1 together by rounding. InputError where a row is above 100, or tells everything
    and is below, by more than rounding.
    """
    sums = np.nansum(pct, axis=1)
    shares = not (pct > 1).any()
    if shares and np.median(sums) < _LEAST_SHARES:
        problem = f"the percentages add up to {sums.max():g} at most"
        raise InputError(table.path, problem, "Give percent, 0 to 100, not shares of 1.")
    whole = 1.0 if shares else 100.0
    off = 100 * (sums / whole - 1)
    wrong = (off > _ROUNDING) | (~np.isnan(pct).any(axis=1) & (off < -_ROUNDING))
    if wrong.any():
        at = int(np.flatnonzero(wrong)[0])
        problem = f"the percentages add up to {sums[at]:.2f}"
        remedy = f"They are of one name's bearers: {whole:g} together, or less where one is empty."
        raise table.wrong(at, given[-1], problem, remedy)
    return pct * (100 / whole), shares


def _kept(table: NameList, names: list[str]) -> Flags:
    """Which of the names are no sum of others; InputError where that leaves nothing."""
    kept = np.array([n.upper() != ALL_OTHER for n in names])
    if not kept.any():
        raise table.wrong(0, "name", f"no surname but {ALL_OTHER}", "Give a row for each surname.")
    return kept


def _long(table: NameList) -> Surnames:
    names, counts = table.names(), _counts(table)
    races = []
    for at, cell in enumerate(table.cells["race"]):
        race = (cell or "").strip().lower()
        if race not in _RACES:
            problem = f"{cell or ''!r} is no race of the surname table"
            raise table.wrong(at, "race", problem, f"Use {', '.join(_RACES)}.")
        races.append(race)
    shown = [spelling.printed(n) for n in names]
    table.once("name", list(zip(shown, races, strict=True)), _ADD_UP)
    codes: dict[str, int] = {}
    order: list[str] = []
    for name, text in zip(shown, names, strict=True):
        if name not in codes:
            codes[name] = len(order)
            order.append(text)
    people = np.zeros((len(order), len(_RACES)))
    where = ([codes[n] for n in shown], [list(_RACES).index(r) for r in races])
    people[where] = counts
    total = people.sum(axis=1)
    if (total > _MOST_PEOPLE).any():
        much = int(np.flatnonzero(total > _MOST_PEOPLE)[0])
        last = max(at for at, text in enumerate(shown) if codes[text] == much)
        problem = f"the counts of {order[much]} add up to {total[much]:,.0f}, above "
        raise table.wrong(last, "count", f"{problem}{_MOST_PEOPLE:,}", "Correct the counts.")
    kept = _kept(table, order)
    pct = 100 * people / total[:, None]
    columns = {
        "name": pa.array(order, pa.string()),
        "bearers": pa.array(total.astype(np.int32)),
        **{c: pa.array(p) for c, p in zip(PERCENTAGES, pct.T, strict=True)},
    }
    rows = pa.table(columns, schema=census_surnames.SCHEMA).filter(pa.array(kept))
    return Surnames(rows, int((~kept).sum()), 0, int(total[~kept].sum()))
