"""Columns of applicants as integer codes: the resolution at which an audit holds its mediators.

Two resolutions stand beside each other. *Grouped* is the paper's: name groups, education groups,
bins of experience. *Ungrouped* keeps low-dimensional features of the raw values as numbers,
rounded to a step: a name of 0.62 and one of 0.97 are both "female" when grouped, and what a
screener makes of the difference is then no effect through the name.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf

from fairscreen.config import Config
from fairscreen.errors import ConfigError

CONFOUNDERS = ("gender", "race", "age")
#: The unit of a number that is missing; numbers themselves are 0 or more.
MISSING = -1
# Numbers of `applicants` that can be null: their absence is a category of its own.
_NULLABLE = (
    "first_name_mean_year",
    "surname_p_white", "surname_p_black", "surname_p_asian_pacific", "surname_p_hispanic",
)  # fmt: skip
_MAX_CODES = 1_000


@dataclass(frozen=True)
class Resolution:
    """Which columns are mediators, and how finely a cell holds them.

    bins: cut points of the numbers. steps: the numbers that are kept as such, beside their bins,
    rounded to multiples of the step; none when grouped. field: where the config says so.
    """

    redlining: tuple[str, ...]
    business: tuple[str, ...]
    bins: Mapping[str, Sequence[float]]
    steps: Mapping[str, float]
    field: str

    @property
    def mediators(self) -> tuple[str, ...]:
        return (*self.redlining, *self.business)


def grouped(cfg: Config) -> Resolution:
    """The roles of the config, numbers in bins."""
    roles = cfg.estimation.roles
    return Resolution(roles.redlining, roles.business, roles.bins, {}, "estimation.roles")


def ungrouped(cfg: Config) -> Resolution | None:
    """Features of the raw values, or None where the config names none."""
    found = cfg.estimation.roles.ungrouped
    if not found.redlining and not found.business:
        return None
    bins = {**cfg.estimation.roles.bins, **{k: v.bins for k, v in found.numbers.items()}}
    steps = {k: v.step for k, v in found.numbers.items()}
    where = "estimation.roles.ungrouped"
    return Resolution(found.redlining, found.business, bins, steps, where)


def code_lists(
    applicants: DataFrame, cfg: Config, how: Resolution | None = None
) -> dict[str, list[str]]:
    """Sorted values of every column that is coded by value: a code is a place in its list.

    how: the resolution, default grouped. Raises ConfigError for a role that is no column, and for
    one with too many values to group.
    """
    how = how or grouped(cfg)
    used = [*CONFOUNDERS, *how.mediators]
    for column in used:
        if column not in applicants.columns:
            raise ConfigError(
                f"{how.field}, {column}",
                "is not a column of applicants",
                f"Columns are: {', '.join(applicants.columns)}.",
            )
    plain = [c for c in dict.fromkeys(used) if c not in how.bins]
    row = applicants.select(
        *(sf.sort_array(sf.collect_set(sf.col(c).cast("string"))).alias(c) for c in plain)
    ).first()
    lists = {c: list(row[c]) if row else [] for c in plain}
    for column, values in lists.items():
        if len(values) > _MAX_CODES:
            raise ConfigError(
                f"estimation.roles.bins, {column}",
                f"is missing: the column has {len(values):,} values",
                f"Give cut points, or use a grouped column (at most {_MAX_CODES:,} values).",
            )
    lists["job"] = list(cfg.population.jobs)
    return lists


def codes_of(columns: Sequence[str], how: Resolution, lists: Mapping[str, Sequence[str]]) -> Column:
    """Codes of one role, array of BIGINT: values, what is missing, then the bins of numbers that
    are kept (`units_of`, in the same order)."""
    kept = [c for c in columns if c in how.steps]
    plain = [c for c in columns if c not in how.steps]
    absent = [sf.col(c).isNull().cast("bigint") for c in kept if c in _NULLABLE]
    parts = [*(_code(c, how, lists) for c in plain), *absent]
    return array_of([*parts, *(_code(c, how, lists) for c in kept)])


def units_of(columns: Sequence[str], how: Resolution) -> Column:
    """Numbers of one role in steps, array of BIGINT; MISSING where there is none."""
    units = []
    for column in columns:
        if (step := how.steps.get(column)) is not None:
            rounded = sf.floor(sf.col(column) / sf.lit(step) + 0.5).cast("bigint")
            units.append(sf.coalesce(rounded, sf.lit(MISSING)))
    return array_of(units)


def array_of(columns: Sequence[Column]) -> Column:
    """Array of BIGINT, also where there is no column."""
    return sf.array(*columns).cast("array<bigint>")


def _code(column: str, how: Resolution, lists: Mapping[str, Sequence[str]]) -> Column:
    """Integer code of a column: its bin, or its place in the list; missing is a code too."""
    value = sf.col(column)
    cuts = how.bins.get(column)
    if cuts is not None:
        steps = [(value >= cut).cast("bigint") for cut in sorted(cuts)]
        total = reduce(lambda a, b: a + b, steps, sf.lit(0).cast("bigint"))
        return sf.when(value.isNull(), len(cuts) + 1).otherwise(total).cast("bigint")
    listed = _texts(lists[column])
    place = sf.array_position(listed, value.cast("string")) - 1
    return sf.when(value.isNull(), len(lists[column])).otherwise(place).cast("bigint")


def _texts(values: Sequence[str]) -> Column:
    return sf.array(*(sf.lit(v) for v in values)).cast("array<string>")
