"""Run an SQL file on a warehouse: tables and views registered, statements split, faults located.

Names of a folder's tables end with the session, so `prepare` gives them anew. A view is a file in
`sql/views` with one SELECT; its name is the file's, and its line `-- Reads:` says what it needs.
Views are temporary: nothing is written to the warehouse.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from fairscreen import resources
from fairscreen.errors import InputError
from fairscreen.tables import Warehouse

T = TypeVar("T")
_READS = re.compile(r"^-- Reads:\s*([^.]*)\.", re.MULTILINE)
_KEY = re.compile(r"^-- One row per:\s*(.+?)\s*$", re.MULTILINE)


@dataclass(frozen=True)
class Statement:
    """One statement of a file, without the comments before it; `line` (from 1) is its first."""

    text: str
    line: int


def split(text: str) -> list[Statement]:
    """The statements of an SQL text, divided at semicolons outside strings and comments.

    Knows '...' and "..." (with backslash escapes), `...`, -- and nested /* */ comments. A file
    with BEGIN ... END blocks is not divided rightly: give such a block a file without others.
    """
    found: list[Statement] = []
    start: int | None = None  # first character of the statement, comments before it left out
    at, size = 0, len(text)
    while at < size:
        char, two = text[at], text[at : at + 2]
        if two == "--":
            at = _end(text.find("\n", at), size)
        elif two == "/*":
            at = _end_of_block(text, at)
        elif char == ";":
            if start is not None:
                found.append(_statement(text, start, at))
            start, at = None, at + 1
        else:
            if start is None and not char.isspace():
                start = at
            at = _end_of_quoted(text, at) if char in "'\"`" else at + 1
    if start is not None:
        found.append(_statement(text, start, size))
    return found


def _statement(text: str, start: int, end: int) -> Statement:
    return Statement(text[start:end].rstrip(), text.count("\n", 0, start) + 1)


def _end(position: int, size: int) -> int:
    return size if position < 0 else position


def _end_of_block(text: str, at: int) -> int:
    depth = 0
    while at < len(text):
        two = text[at : at + 2]
        if two in ("/*", "*/"):
            depth += 1 if two == "/*" else -1
            at += 2
            if depth == 0:
                return at
        else:
            at += 1
    return at


def _end_of_quoted(text: str, at: int) -> int:
    quote, at = text[at], at + 1
    while at < len(text):
        if text[at] == "\\" and quote != "`":
            at += 2
        elif text[at] == quote:
            return at + 1
        else:
            at += 1
    return at


def reads(text: str) -> list[str]:
    """Tables and views that a file of `sql/` names in its line `-- Reads:`."""
    found = _READS.search(text)
    return [name.strip() for name in found.group(1).split(",")] if found else []


def key(text: str) -> list[str]:
    """Columns that a file of `sql/` names in its line `-- One row per:`."""
    found = _KEY.search(text)
    return [name.strip() for name in found.group(1).split(",")] if found else []


def view_files() -> dict[str, Path]:
    """The shipped views by name."""
    return {f.stem: f for f in sorted(resources.path("sql", "views").glob("*.sql"))}


def register_views(spark: SparkSession, known: list[str]) -> list[str]:
    """Make the shipped views, each after what it reads; those whose tables are absent are left."""
    given: list[str] = []
    waiting = {name: file.read_text(encoding="utf-8") for name, file in view_files().items()}
    while ready := [n for n, t in waiting.items() if set(reads(t)) <= {*known, *given}]:
        for name in ready:
            (select,) = split(waiting.pop(name))
            spark.sql(f"CREATE OR REPLACE TEMPORARY VIEW {name} AS {select.text}")
            given.append(name)
    return given


def prepare(spark: SparkSession, warehouse: Warehouse) -> list[str]:
    """Give the warehouse's tables and the views their names in this session; returns them."""
    tables = warehouse.register()
    if not tables:
        raise InputError(
            warehouse.root,
            "holds no table of fairscreen",
            "Run `fairscreen audit` first, or give the right folder with --warehouse.",
        )
    return tables + register_views(spark, tables)


def run_file(
    spark: SparkSession, warehouse: Warehouse, file: str | Path
) -> list[tuple[Statement, DataFrame]]:
    """Run every statement of `file` in turn; the results are read when they are collected.

    Raises InputError where the file cannot be read, is empty, or Spark refuses a statement: with
    the line in the file and the first line of the cause. Collect through `located`, so that a
    fault at reading time is told in the same way.
    """
    try:
        statements = split(Path(file).read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        problem = getattr(error, "strerror", None) or "is not UTF-8 text"
        raise InputError(str(file), problem, "Give the path of an SQL file.") from None
    if not statements:
        raise InputError(str(file), "holds no statement", "Write at least one SELECT.")
    names = prepare(spark, warehouse)
    results: list[tuple[Statement, DataFrame]] = []
    for statement in statements:
        text = statement.text
        results.append((statement, located(file, statement, lambda t=text: spark.sql(t), names)))  # type: ignore[misc]
    return results


def located(
    file: str | Path, statement: Statement, act: Callable[[], T], names: list[str] | None = None
) -> T:
    """`act()`, its Spark error turned into an InputError that names file and line."""
    try:
        return act()
    except PySparkException as error:
        message = str(error).strip()
        first = re.split(r"\n|\s+SQLSTATE:", message)[0].rstrip(" .;")
        inside = re.search(r"line (\d+),? pos", message)
        line = statement.line + (int(inside.group(1)) - 1 if inside else 0)
        remedy = "Correct the statement."
        if "TABLE_OR_VIEW_NOT_FOUND" in message:
            remedy = f"Names in this warehouse: {', '.join(names or [])}."
        raise InputError(f"{file}, line {line}", first, remedy) from None
