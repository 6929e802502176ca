"""The only place that reads or writes Delta tables. Their schemas live in `sql/ddl`, nowhere else.

A warehouse is a folder (one sub-folder per table) or `catalog.schema` on Databricks. Names of a
folder's tables end with the session, so every session registers them anew (`register`).
Every write is one Delta transaction: a reader sees all of it or nothing.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import StructType

from fairscreen import resources
from fairscreen.errors import InputError

# More records than this go as Arrow columns: a third of the time that tuples take.
_FEW = 2_000
_CATALOG = re.compile(r"^[A-Za-z_]\w*\.[A-Za-z_]\w*$")


def ddl_names() -> list[str]:
    """Names of all tables, from `sql/ddl`."""
    return sorted(f.stem for f in resources.path("sql", "ddl").glob("*.sql"))


def ddl_statements(name: str) -> list[str]:
    """The statements of one table's DDL file, comments removed."""
    file = resources.path("sql", "ddl", f"{name}.sql")
    lines = file.read_text(encoding="utf-8").splitlines()
    text = "\n".join(line for line in lines if not line.startswith("--"))
    return [s.strip() for s in re.split(r";\s*(?:\n|$)", text) if s.strip()]


def ddl_columns(name: str) -> dict[str, str]:
    """Column -> SQL type of one table, from its DDL file: what a transform must yield."""
    create = ddl_statements(name)[0]
    return dict(re.findall(r"^\s+(\w+) ([A-Z]+(?:\([\d, ]+\)|<[A-Z]+>)?)", create, re.MULTILINE))


def _definitions(name: str) -> dict[str, str]:
    """Column -> its whole definition in the DDL file: name, type, NOT NULL, comment."""
    lines = re.findall(r"^\s+(\w+ [A-Z].*?),?$", ddl_statements(name)[0], re.MULTILINE)
    return {line.split()[0]: line for line in lines}


def require_folder(root: str) -> None:
    """InputError where a warehouse given as a path cannot be a folder. Needs no Spark."""
    if "://" in root or (_CATALOG.match(root) and not Path(root).exists()):
        return
    place = Path(root).expanduser().resolve()
    found = next(p for p in (place, *place.parents) if p.exists())
    remedy = "Give --warehouse a folder that you can write to."
    if not found.is_dir():
        raise InputError(f"warehouse {root}", f"{found} is a file, not a folder", remedy)
    if not os.access(found, os.W_OK | os.X_OK):
        raise InputError(f"warehouse {root}", f"{found} cannot be written to", remedy)


class Warehouse:
    """The tables of one warehouse. `root` is a folder or `catalog.schema`."""

    def __init__(self, spark: SparkSession, root: str) -> None:
        self.spark = spark
        require_folder(root)
        self._catalog = root if _CATALOG.match(root) and not Path(root).exists() else None
        if self._catalog:
            self.root = root
        elif "://" in root:
            self.root = root.rstrip("/")
        else:
            self.root = str(Path(root).expanduser().resolve())
        self._ready: set[str] = set()

    @property
    def is_folder(self) -> bool:
        """Whether `root` is a folder that Python can write to (no catalog, no object store)."""
        return self._catalog is None and "://" not in self.root

    def identifier(self, name: str) -> str:
        """How SQL names the table in this session."""
        if name not in ddl_names():
            raise InputError(
                f"table {name}",
                "is not a table of fairscreen",
                f"Tables are: {', '.join(ddl_names())}.",
            )
        if self._catalog:
            return f"{self._catalog}.{name}"
        location = f"{self.root}/{name}".replace("`", "``")
        return f"delta.`{location}`"

    def exists(self, name: str) -> bool:
        if name in self._ready:
            return True
        if self._catalog:
            return self.spark.catalog.tableExists(self.identifier(name))
        if "://" not in self.root:
            return Path(self.root, name, "_delta_log").is_dir()
        try:
            self.spark.sql(f"DESCRIBE DETAIL {self.identifier(name)}").collect()
        except Exception:
            return False
        return True

    def ensure(self, name: str) -> None:
        """Create the table with its constraints, or change an older one to what its DDL says now.

        Columns that came later are added where they may be null: rows that are there hold null in
        them. InputError where a new column may not be null. Constraints may come and go, and a
        column may have become one that can be null.
        """
        if name in self._ready:
            return
        target = self.identifier(name)
        create, *constraints = ddl_statements(name)
        fresh = not self.exists(name)
        if fresh:
            self.spark.sql(_renamed(create, name, target))
        else:
            self._adapt_columns(name, target)
        present = set() if fresh else self._properties(name)
        for statement in constraints:
            found = re.search(r"(ADD|DROP) CONSTRAINT (\w+)", statement)
            if not found:
                continue
            there = f"delta.constraints.{found.group(2).lower()}" in present
            if there == (found.group(1) == "DROP"):
                self.spark.sql(_renamed(statement, name, target))
        self._ready.add(name)

    def _adapt_columns(self, name: str, target: str) -> None:
        there = {field.name.lower(): field for field in self.spark.table(target).schema}
        wanted = _definitions(name)
        must = {c for c, line in wanted.items() if re.match(r"\S+ \S+ NOT NULL\b", line)}
        for column in wanted:
            older = there.get(column.lower())
            if older is not None and not older.nullable and column not in must:
                self.spark.sql(f"ALTER TABLE {target} ALTER COLUMN {column} DROP NOT NULL")
        new = {c: line for c, line in wanted.items() if c.lower() not in there}
        for column in new:
            if column in must:
                raise InputError(
                    f"table {name} in {self.root}",
                    f"was made by an older fairscreen: it lacks column {column}, which every row "
                    "must fill",
                    "Start a new warehouse (--warehouse) and ingest the source files again.",
                )
        if new:
            self.spark.sql(f"ALTER TABLE {target} ADD COLUMNS ({', '.join(new.values())})")

    def _properties(self, name: str) -> set[str]:
        rows = self.spark.sql(f"SHOW TBLPROPERTIES {self.identifier(name)}").collect()
        return {str(row["key"]).lower() for row in rows}

    def schema(self, name: str) -> StructType:
        self.ensure(name)
        return self.spark.table(self.identifier(name)).schema

    def read(self, name: str, *, version: int | None = None) -> DataFrame:
        """The table, now or at a Delta version. A table nobody wrote yet is empty."""
        self.ensure(name)
        if version is None:
            return self.spark.table(self.identifier(name))
        return self.spark.sql(f"SELECT * FROM {self.identifier(name)} VERSION AS OF {int(version)}")

    def version(self, name: str) -> int:
        """Delta version of the table as it is now."""
        self.ensure(name)
        history = self.spark.sql(f"DESCRIBE HISTORY {self.identifier(name)} LIMIT 1").collect()
        return int(history[0]["version"])

    def facts(self, where: str) -> dict[str, dict[str, int]]:
        """Rows (of one audit: `where`) and Delta version, of every table that exists.

        Tables that belong to no audit (no audit_id) are counted whole.
        """
        found = {}
        for name in filter(self.exists, ddl_names()):
            rows = self.read(name)
            if "audit_id" in rows.columns:
                rows = rows.where(where)
            found[name] = {"rows": rows.count(), "version": self.version(name)}
        return found

    def rows(self, name: str, records: Sequence[Mapping[str, object]]) -> DataFrame:
        """A few records made on the driver as a DataFrame of the table's schema.

        Raises ValueError for a NaN: what cannot be computed is null with a reason.
        """
        schema = self.schema(name)
        for record in records:
            for key, value in record.items():
                if isinstance(value, float) and value != value:
                    raise ValueError(f"{name}.{key} is NaN in {dict(record)}")
        if len(records) > _FEW:
            kinds = to_arrow_schema(schema)
            columns = [[r.get(field.name) for r in records] for field in kinds]
            arrays = [pa.array(v, f.type) for v, f in zip(columns, kinds, strict=True)]
            return self.spark.createDataFrame(pa.Table.from_arrays(arrays, schema=kinds), schema)
        values = [tuple(record.get(c) for c in schema.names) for record in records]
        return self.spark.createDataFrame(values, schema)

    def append(self, name: str, rows: DataFrame, *, transaction: str) -> None:
        """Append once: the same `transaction` again writes nothing.

        Never reuse a transaction's name for other rows: Delta drops them without a word.
        """
        self.ensure(name)
        writer = self._conformed(name, rows).write.format("delta").mode("append")
        writer = writer.option("txnAppId", transaction).option("txnVersion", "1")
        self._save(writer, name)

    def replace(self, name: str, rows: DataFrame, *, where: str) -> None:
        """Replace the rows that satisfy `where` by `rows`, in one transaction."""
        self.ensure(name)
        writer = self._conformed(name, rows).write.format("delta").mode("overwrite")
        self._save(writer.option("replaceWhere", where), name)

    def insert_new(self, name: str, rows: DataFrame, *, keys: Sequence[str]) -> None:
        """Insert rows whose keys are not there yet (MERGE); rows that are there stay."""
        self.ensure(name)
        self._conformed(name, rows).createOrReplaceTempView("fairscreen_incoming")
        match = " AND ".join(f"t.{k} = s.{k}" for k in keys)
        self.spark.sql(
            f"MERGE INTO {self.identifier(name)} t USING fairscreen_incoming s ON {match} "
            "WHEN NOT MATCHED THEN INSERT *"
        )
        self.spark.catalog.dropTempView("fairscreen_incoming")

    def _conformed(self, name: str, rows: DataFrame) -> DataFrame:
        """Columns in the table's order and types; a missing or unknown column is an error."""
        schema = self.schema(name)
        missing = [c for c in schema.names if c not in rows.columns]
        extra = [c for c in rows.columns if c not in schema.names]
        if missing or extra:
            raise ValueError(f"rows for {name}: missing {missing}, unknown {extra}")
        return rows.select(*(rows[f.name].cast(f.dataType).alias(f.name) for f in schema.fields))

    def _save(self, writer: object, name: str) -> None:
        if self._catalog:
            writer.saveAsTable(self.identifier(name))  # type: ignore[attr-defined]
        else:
            writer.save(f"{self.root}/{name}")  # type: ignore[attr-defined]

    def register(self, names: Iterable[str] | None = None) -> list[str]:
        """Give every existing table its bare name in this session; the names given."""
        given = []
        for name in names or ddl_names():
            if not self.exists(name):
                continue
            if self._catalog:
                self.spark.sql(f"USE {self._catalog}")
            else:
                location = f"{self.root}/{name}".replace("'", "\\'")
                self.spark.sql(f"DROP TABLE IF EXISTS {name}")
                self.spark.sql(
                    f"CREATE TABLE IF NOT EXISTS {name} USING delta LOCATION '{location}'"
                )
            given.append(name)
        return given


def _renamed(statement: str, name: str, target: str) -> str:
    pattern = rf"(CREATE TABLE IF NOT EXISTS|ALTER TABLE) {name}\b"
    return re.sub(pattern, lambda m: f"{m.group(1)} {target}", statement, count=1)
