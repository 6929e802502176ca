"""How typical names are: the tables that names are drawn from, as rows for readers.

One row for each name that the audit can draw, with the counts and shares its group stands on, the
thresholds, and whether what privacy hides (the SSA's floor of five births, the Bureau's suppressed
percentages) could put it into another group.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray

from fairscreen.population import births as counting
from fairscreen.population import grouping, naming, rows
from fairscreen.population.births import Births
from fairscreen.population.naming import FirstNameTable, SurnameTable
from fairscreen.settings.population import Population

FIRST, LAST = "first_name_typicality", "surname_typicality"


@dataclass(frozen=True)
class Names:
    """Name tables of an audit, and the same as rows of the two typicality tables (no audit_id)."""

    first: FirstNameTable
    last: SurnameTable
    first_rows: pa.Table
    last_rows: pa.Table
    facts: dict[str, Any]
    dated: bool  # whether the list of first names tells birth years


def names(
    ssa: pd.DataFrame, census: pd.DataFrame, settings: Population, *, years: tuple[int, int]
) -> Names:
    """From rows of tables ssa_name and census_surname; InputError as naming raises it."""
    counted = counting.count(ssa, settings.first_names, years=years)
    first = naming.first_names(ssa, settings.first_names, years=years, counted=counted)
    threshold = settings.surname_threshold
    last = naming.surnames(census, settings.race_labels, threshold=threshold)
    gender_flips = counted.gender_may_flip(settings.first_names.gender_threshold)
    cohort_flips = counted.cohort_may_flip(settings.first_names.cohort_threshold)
    surname_flips = may_flip(census, last, threshold)
    drawn = np.bincount(first.code, np.diff(first.cumulative, prepend=0), len(first.names))
    of_race = np.diff(last.cumulative, axis=1, prepend=0)
    return Names(
        first=first,
        last=last,
        first_rows=_first_rows(ssa, counted, first, settings, gender_flips, cohort_flips),
        last_rows=_last_rows(census, last, threshold, surname_flips),
        facts={
            "first_names": int((drawn > 0).sum()),
            "surnames": int((of_race > 0).any(axis=0).sum()),
            # Shares of the births, and of the bearers of each race, that names are drawn from.
            "gender_group_may_flip": float(drawn[gender_flips].sum() / drawn.sum()),
            "cohort_group_may_flip": float(drawn[cohort_flips].sum() / drawn.sum()),
            "surname_group_may_flip": {
                race: float(bearers[surname_flips].sum() / bearers.sum())
                for race, bearers in zip(settings.race_labels, of_race, strict=True)
            },
        },
        dated=counted.dated,
    )


def may_flip(census: pd.DataFrame, table: SurnameTable, threshold: float) -> NDArray[np.bool_]:
    """Whether the group of a surname (N,) could be another, were suppressed shares known.

    Each suppressed share may be as large as all that the published ones leave.
    """
    _, pct = naming.published(census)
    shares = naming.grouped_shares(pct, table.groups)
    left = naming.suppressed_sum(pct) / 100
    flips = np.zeros(len(shares), dtype=bool)
    for column in range(shares.shape[1]):
        most = shares.copy()
        hidden = np.isnan(most[:, column])
        most[hidden, column] = left[hidden]
        flips |= grouping.majority_groups(most, threshold) != table.group
    return flips


def _first_rows(
    ssa: pd.DataFrame, counted: Births, table: FirstNameTable, settings: Population,
    gender_flips: NDArray[np.bool_], cohort_flips: NDArray[np.bool_],
) -> pa.Table:  # fmt: skip
    own = settings.first_names
    at = np.unique(table.code)
    low, high = counted.p_female_bounds()
    cohorts = {label: list(bounds) for label, bounds in own.cohorts.items()}
    dated = counted.dated
    columns = {
        "name": table.names[at],
        "births_female": counted.births[at, 0],
        "births_male": counted.births[at, 1],
        "hidden_female": counted.hidden[at, 0],
        "hidden_male": counted.hidden[at, 1],
        "p_female": table.p_female[at],
        "p_female_low": low[at],
        "p_female_high": high[at],
        "mean_birth_year": table.mean_year[at],
        "cohort_shares": _json_rows(own.cohorts, counted.cohort_shares()[at]) if dated else None,
        "gender_group": _labels(grouping.GENDER_GROUPS, table.gender_group[at]),
        "cohort_group": _labels(table.cohort_labels, table.cohort_group[at]),
        "gender_may_flip": gender_flips[at],
        "cohort_may_flip": cohort_flips[at] if dated else None,
        "gender_threshold": own.gender_threshold,
        "cohort_threshold": own.cohort_threshold,
        "cohorts": json.dumps(cohorts),
        "first_birth_year": counted.first_year if dated else None,
        "last_birth_year": counted.last_year if dated else None,
        **_source(ssa, "ssa_national"),
    }
    return _table(FIRST, columns, len(at))


def _last_rows(
    census: pd.DataFrame, table: SurnameTable, threshold: float, flips: NDArray[np.bool_]
) -> pa.Table:
    people, pct = naming.published(census)
    at = np.flatnonzero((np.diff(table.cumulative, axis=1, prepend=0) > 0).any(axis=0))
    columns = {
        "name": table.names[at],
        "bearers": people["bearers"].to_numpy(dtype=np.int32)[at],
        **{f"p_{r}": pct[at, i] / 100 for i, r in enumerate(naming.SURNAME_RACES)},
        "p_suppressed": naming.suppressed_sum(pct)[at] / 100,
        "surname_group": _labels(table.groups, table.group[at]),
        "may_flip": flips[at],
        "surname_threshold": threshold,
        **_source(census, "census"),
    }
    return _table(LAST, columns, len(at))


def _json_rows(labels: Iterable[str], shares: NDArray[np.float64]) -> list[str]:
    """One JSON object for each row of shares; json.dumps takes a second for 60,000 rows."""
    fields = (f"{json.dumps(label)}: ".replace("%", "%%") + "%.6f" for label in labels)
    form = "{" + ", ".join(fields) + "}"
    return [form % tuple(row) for row in shares.tolist()]


def _source(frame: pd.DataFrame, older: str) -> dict[str, str]:
    """Where the names come from; a row of an older warehouse does not tell the kind."""
    kind = frame["source_kind"].iloc[0] if "source_kind" in frame else None
    return {"source_kind": kind or older, "source_sha256": str(frame["source_sha256"].iloc[0])}


def _labels(labels: tuple[str, ...], index: NDArray[np.int8]) -> NDArray[np.object_]:
    return np.array(labels, dtype=object)[index]


def _table(name: str, columns: dict[str, Any], n: int) -> pa.Table:
    """Columns of one table of sql/ddl, without audit_id; a single value stands in every row."""
    schema = rows.arrow_schema(name)
    schema = schema.remove(schema.get_field_index("audit_id"))

    def array(field: pa.Field) -> pa.Array:
        value = columns[field.name]
        if value is None:
            return pa.nulls(n, field.type)
        if isinstance(value, str | int | float):
            return pa.repeat(pa.scalar(value, field.type), n)
        return pa.array(value, field.type, from_pandas=True)

    return pa.table([array(field) for field in schema], schema=schema)
