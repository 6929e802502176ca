"""SPSS set-up file: `FILE HANDLE ... LRECL = n .`, `DATA LIST FILE = PSID FIXED / ER30001 2 - 5`.

A command ends with a full stop at the end of a line. A format such as `(F4)` may follow the
columns; one with decimals would move the decimal point of numbers that lack one, and is refused.
"""

from __future__ import annotations

import re

from fairscreen.errors import InputError
from fairscreen.sources.setup_files import REMEDY, Parts, line_of, places

_LRECL = re.compile(r"\bLRECL\s*=\s*(\d+)", re.IGNORECASE)
_LIST = re.compile(
    r"^[ \t]*DATA[ \t]+LIST\b(?:\"[^\"]*\"|'[^']*'|[^/\"'])*?\bFIXED\b[^/]*/1?",
    re.IGNORECASE | re.MULTILINE,
)
_STOP = re.compile(r"\.[ \t\r]*$", re.MULTILINE)
_LABELS = re.compile(r"^[ \t]*VARIABLE[ \t]+LABELS\b", re.IGNORECASE | re.MULTILINE)
_LABEL = re.compile(r"([A-Za-z_]\w*)\s+(?:\"([^\"]*)\"|'([^']*)')")
_ITEM = re.compile(
    r"\s*(?P<name>[A-Za-z_]\w*)\s+(?P<first>\d+)(?:\s*-\s*(?P<last>\d+))?"
    r"(?:\s*\(\s*F\s*\d*(?:\.0*)?\s*\))?(?=\s|$|\.)",
    re.IGNORECASE,
)


def take_apart(text: str, where: str) -> Parts:
    """See `setup_files.parse`. Raises InputError: no DATA LIST, a part of it that is no column."""
    statement = _LIST.search(text)
    stop = _STOP.search(text, statement.end()) if statement else None
    if not statement or not stop:
        what = "no DATA LIST ... FIXED / command" if not statement else "a DATA LIST without end"
        raise InputError(where, f"has {what}", REMEDY)
    begin = _LABELS.search(text, stop.end())
    pairs = _LABEL.findall(text, begin.end()) if begin else []
    labels: dict[str, str] = {}
    for name, double, single in pairs:
        labels.setdefault(name.upper(), " ".join((double or single).split()))
    lrecl = _LRECL.search(text)
    return Parts(
        "DATA LIST",
        places(text, statement.end(), stop.start(), _ITEM, "DATA LIST", where),
        labels,
        (int(lrecl[1]), line_of(text, lrecl.start())) if lrecl else None,
    )
