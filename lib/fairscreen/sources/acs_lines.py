"""One line of a person file: read, decoded and split, or refused by its number."""

from __future__ import annotations

import csv
from typing import IO

from fairscreen.errors import InputError
from fairscreen.sources.archive import CARRIAGE_RETURN

OFFICIAL = "Give the person zip as the Census Bureau ships it (such as csv_pwy.zip)."
MAX_LINE = 1 << 20


def next_line(stream: IO[bytes], where: str, number: int) -> str:
    """The next line, decoded, without its end; "" at the end of the file (or an empty line)."""
    raw = stream.readline(MAX_LINE)
    if len(raw) == MAX_LINE:
        raise too_long(raw, f"{where}, line {number}")
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as error:
        problem = f"byte {error.start + 1} is not UTF-8"
        raise InputError(f"{where}, line {number}", problem, OFFICIAL) from None
    return text if text.strip("\r\n") == "" else text.rstrip("\r\n")


def fields(line: str, where: str) -> list[str]:
    """The fields of one line without its end. InputError where it is no line of CSV."""
    if "\r" in line:
        raise InputError(where, CARRIAGE_RETURN, OFFICIAL)
    try:
        return next(csv.reader([line]), [])
    except csv.Error as error:  # a field beyond the csv module's limit
        raise InputError(where, f"cannot be split into fields: {error}", OFFICIAL) from None


def too_long(raw: bytes, where: str) -> InputError:
    problem = "is longer than a megabyte; this is no person file"
    return InputError(where, CARRIAGE_RETURN if b"\r" in raw else problem, OFFICIAL)
