"""JSON lines as a table: one object per line, or one array of objects. NaN is null, as writers of
tables mean it."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pandas as pd

from fairscreen.errors import InputError
from fairscreen.sources.text_encoding import encoding


def read_lines(path: Path, *, row: str, remedy: str) -> pd.DataFrame:
    """One row per object, a column for every field that one of them has; None where it has not.

    The index says where a row stands: `line`, or `row` of an array. row: what one object is of,
    and remedy: what to do about a file that cannot be read, for messages. Raises InputError.
    """
    said = path.read_bytes().decode(encoding(path, remedy))
    whole = said.lstrip().startswith("[")
    noun = "row" if whole else "line"
    # Not splitlines: a text may hold U+2028.
    parts = [(None, said)] if whole else list(enumerate(said.split("\n"), start=1))
    records: list[tuple[int, Any]] = []
    for number, part in parts:
        if not part.strip():
            continue
        try:
            value = json.loads(part, object_pairs_hook=_object, parse_constant=lambda _: None)
        except (ValueError, RecursionError) as error:
            at = getattr(error, "lineno", 1) if number is None else number
            deep = isinstance(error, RecursionError)
            why = "nested too deeply" if deep else str(error).split(": line ")[0]
            raise InputError(
                f"{path}, line {at}", f"is no JSON ({why})",
                "Correct it; one object stands on one line, or all of them in one array.",
            ) from None  # fmt: skip
        records += enumerate(value, start=1) if number is None else [(number, value)]
    for number, value in records:
        if not isinstance(value, dict):
            problem = f"is JSON, but no object with the fields of a {row}"
            raise InputError(f"{path}, {noun} {number}", problem, 'Write {"NAME": "VALUE", ...}.')
    if not any(value for _, value in records):
        raise InputError(str(path), "holds no rows", f"Give a file with one object per {row}.")
    names = list(Counter(name for _, value in records for name in value))
    frame = pd.DataFrame(
        {name: [value.get(name) for _, value in records] for name in names}, dtype=object
    )
    frame.index = pd.Index([number for number, _ in records], name=noun, dtype="int64")
    return frame


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    names = [name for name, _ in pairs]
    if twice := [name for name, n in Counter(names).items() if n > 1]:
        raise ValueError(f"the field {twice[0]} stands there twice")
    return dict(pairs)
