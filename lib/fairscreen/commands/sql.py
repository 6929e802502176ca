"""`fairscreen sql FILE`: an SQL file on the warehouse, tables and views registered."""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Sequence
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

from fairscreen.commands import options
from fairscreen.errors import InputError

_EPILOG = """\
examples:
  fairscreen sql sql/questions/not_computable.sql
  fairscreen sql sql/questions/walk_back.sql --json rows.json    whole texts, full precision
  fairscreen sql my.sql --warehouse var/warehouse
Tables are those of sql/ddl, views those of sql/views; statements end with a semicolon.
"""
_WIDTH = 48  # characters of a cell on screen; --json has the whole text


def register(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = commands.add_parser(
        "sql", help="ask the warehouse", epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    parser.add_argument("file", metavar="FILE", help="SQL file, one or several statements")
    parser.add_argument(
        "--rows", type=int, default=1000, metavar="N", help="rows shown per statement (1000)"
    )
    options.add_warehouse(parser)
    options.add_json(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    options.check_json(args.json)
    if not Path(args.file).is_file():  # told before Spark starts
        raise InputError(args.file, "No such file", "Give the path of an SQL file.")
    if args.rows < 1:
        raise InputError("--rows", f"{args.rows} is below 1", "Give a whole number from 1.")
    root = options.existing_warehouse(args)
    from fairscreen import sql
    from fairscreen.session import get_session
    from fairscreen.tables import Warehouse

    spark = get_session()
    warehouse = Warehouse(spark, root)
    results, texts = [], []
    for statement, frame in sql.run_file(spark, warehouse, args.file):
        if not frame.columns:
            continue
        wanted = frame if args.json else frame.limit(args.rows + 1)
        found = sql.located(args.file, statement, wanted.collect)
        rows = [{k: plain(v) for k, v in row.asDict(recursive=True).items()} for row in found]
        results.append({"line": statement.line, "columns": frame.columns, "rows": rows})
        if len(rows) > args.rows:
            print(f"line {statement.line}: first {args.rows} rows; --rows N shows more",
                  file=sys.stderr)  # fmt: skip
        texts.append(as_table(frame.columns, rows[: args.rows]))
    options.emit({"file": args.file, "statements": results}, "\n\n".join(texts), args.json)
    return 0


def plain(value: Any) -> Any:
    """A value as JSON has it: decimals as numbers, times as ISO text, no NaN (null)."""
    if isinstance(value, Decimal):
        return float(value)
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, date | datetime):
        return value.isoformat()
    if isinstance(value, bytes | bytearray):
        return value.hex()
    if isinstance(value, list | tuple):
        return [plain(v) for v in value]
    if isinstance(value, dict):
        return {str(k): plain(v) for k, v in value.items()}
    return value


def as_table(columns: Sequence[str], rows: Sequence[dict[str, Any]]) -> str:
    """Rows as an aligned table: numbers to the right, six digits, long texts cut."""
    cells = [[_cell(row[c]) for c in columns] for row in rows]
    numeric = [
        any(_is_number(row[c]) for row in rows)
        and all(row[c] is None or _is_number(row[c]) for row in rows)
        for c in columns
    ]
    widths = [max([len(c), *(len(row[i]) for row in cells)]) for i, c in enumerate(columns)]

    def line(parts: Sequence[str]) -> str:
        aligned = [
            p.rjust(w) if right else p.ljust(w)
            for p, w, right in zip(parts, widths, numeric, strict=True)
        ]
        return "  ".join(aligned).rstrip()

    body = [line(columns), line(["-" * w for w in widths]), *(line(row) for row in cells)]
    return "\n".join([*body, f"({len(rows)} row{'' if len(rows) == 1 else 's'})"])


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _cell(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return str(value).lower()
    text = f"{value:.6g}" if isinstance(value, float) else str(value)
    # One line per row, and no control character of a reply reaches the terminal.
    text = "".join(c if c.isprintable() else " " for c in text)
    return text if len(text) <= _WIDTH else text[: _WIDTH - 1] + "…"
