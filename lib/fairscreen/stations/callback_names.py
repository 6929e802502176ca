"""Names of paired callbacks out of bronze: small tables for `documents.callback_names`."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as sf

from fairscreen import resources
from fairscreen.documents import callback_names, name_signals
from fairscreen.documents.callback_names import Checked, NameTables
from fairscreen.errors import ConfigError
from fairscreen.population.naming import SURNAME_RACES
from fairscreen.settings.callback_audit import CallbackConfig
from fairscreen.settings.callback_names import CallbackNames
from fairscreen.sources import correspondence, editions
from fairscreen.sources.correspondence import Kind
from fairscreen.stations.callback_sources import CallbackBronze
from fairscreen.tables import Warehouse

_LISTED = ("name", "race", "gender", "source", "mother_education", "cohort")
_IF_ABSENT = 4  # births at most of an absent row of the SSA's national file: fewer than five
TABLE = "name_signals"
_SQL = {
    pa.string(): "STRING", pa.float64(): "DOUBLE", pa.int64(): "BIGINT", pa.bool_(): "BOOLEAN",
}  # fmt: skip


def check(cfg: CallbackConfig) -> None:
    """Lists read whole, and whether they have every group, before Spark starts."""
    names = cfg.names
    wanted = callback_names.groups(cfg.contrasts.values())
    listed = names.source == "list"
    callback_names.require_groups(
        _read(names.first if listed else (), "first"),
        _read(names.surnames if listed else (), "surname"),
        names,
        wanted,
    )


def _read(paths: Sequence[str], kind: Kind) -> pd.DataFrame:
    found = [correspondence.read(resources.resolve(path), kind).to_pandas() for path in paths]
    return pd.concat(found) if found else pd.DataFrame(columns=list(_LISTED))


def choose(warehouse: Warehouse, cfg: CallbackConfig, bronze: CallbackBronze) -> Checked:
    """Pools, rows of name_signals (without audit_id) and notes of an audit."""
    wanted = callback_names.groups(cfg.contrasts.values())
    return callback_names.choose(tables(warehouse, cfg.names, bronze), cfg.names, wanted)


def signals(warehouse: Warehouse, checked: Checked, audit_id: str) -> DataFrame:
    """The rows as table name_signals has them: some hundred, or all names of the Census where
    names.per_group is null."""
    rows = pa.Table.from_pylist(checked.signals, schema=name_signals.SCHEMA)
    ddl = ", ".join(f"{field.name} {_SQL[field.type]}" for field in rows.schema)
    frame = editions.frame(warehouse, [editions.packed(rows)], ddl)
    return frame.withColumn("audit_id", sf.lit(audit_id))


def tables(warehouse: Warehouse, settings: CallbackNames, bronze: CallbackBronze) -> NameTables:
    """The audit's editions, collected: some hundred names of lists, a hundred thousand counted
    names of the SSA, as many surnames."""
    ssa = _of(warehouse.read("ssa_name"), bronze.ssa)
    census = _of(warehouse.read("census_surname"), bronze.census)
    listed = warehouse.read(correspondence.TABLE)
    columns = ["name", "bearers", *(f"pct_{race}" for race in SURNAME_RACES)]
    return NameTables(
        first=_listed(listed, "first", bronze.first),
        surnames=_listed(listed, "surname", bronze.surnames),
        births=collected_births(ssa, settings.birth_years),
        census=census.select(*columns).toPandas(),
    )


def _of(rows: DataFrame, sha256: Sequence[str]) -> DataFrame:
    return rows.where(sf.col("source_sha256").isin(*sha256))


def _listed(rows: DataFrame, kind: Kind, sha256: Sequence[str]) -> pd.DataFrame:
    mine = _of(rows, sha256).where(sf.col("kind") == kind) if sha256 else rows.limit(0)
    return mine.orderBy("source_sha256", "row_number").select(*_LISTED).toPandas()


def collected_births(ssa: DataFrame, years: tuple[int, int]) -> pd.DataFrame:
    """`births_by_name` with the births that privacy may hide: name, female, male, hidden_female,
    hidden_male. Raises ConfigError where the file has none of these years."""
    rows = in_years(ssa, years)
    file = rows.agg(
        sf.count_distinct(sf.coalesce("birth_year", sf.lit(0))).alias("years"),
        sf.max(sf.coalesce("hidden_if_absent", sf.lit(_IF_ABSENT))).alias("if_absent"),
    ).collect()[0]
    if not file["years"]:
        raise ConfigError(
            "names.birth_years", f"names.ssa has no births of {years[0]} to {years[1]}",
            "Give years that the file has.",
        )  # fmt: skip
    found = births_by_name(rows).toPandas()
    for sex in ("female", "male"):
        absent = file["years"] - found.pop(f"years_{sex}")
        found[f"hidden_{sex}"] += file["if_absent"] * absent
    return found


def in_years(ssa: DataFrame, years: tuple[int, int]) -> DataFrame:
    """Rows of ssa_name of these birth years; all of a list that tells no years."""
    year = sf.col("birth_year")
    return ssa.where(year.isNull() | year.between(*years))


def births_by_name(rows: DataFrame) -> DataFrame:
    """Rows of ssa_name summed: name, and of female and male births their number, the years with a
    row (years_) and what states hide beside those rows (hidden_)."""
    sums = []
    for sex, code in (("female", "F"), ("male", "M")):
        mine = sf.col("sex") == code
        hidden = sf.coalesce("hidden_births", sf.lit(0))
        for name, value in ((sex, sf.col("births")), (f"years_{sex}", sf.lit(1)),
                            (f"hidden_{sex}", hidden)):  # fmt: skip
            sums.append(sf.sum(sf.when(mine, value).otherwise(0)).alias(name))
    return rows.groupBy("name").agg(*sums).orderBy("name")
