"""SAS set-up file: `ATTRIB ... LABEL=`, `INFILE ... LRECL = n ;`, `INPUT ER30001 2 - 5 ... ;`."""

from __future__ import annotations

import re

from fairscreen.errors import InputError
from fairscreen.sources.setup_files import REMEDY, Parts, blanked, line_of, places

_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
_LABEL = re.compile(r"(\w+)\s+(?:FORMAT\s*=\s*[\w.$]+\s+)?LABEL\s*=\s*\"([^\"]*)\"", re.IGNORECASE)
_LRECL = re.compile(r"\bLRECL\s*=\s*(\d+)", re.IGNORECASE)
_INPUT = re.compile(r"^[ \t]*INPUT\b([^;]*);", re.IGNORECASE | re.MULTILINE)
_ITEM = re.compile(r"\s*(?P<name>[A-Za-z_]\w*)\s+(?P<first>\d+)(?:\s*-\s*(?P<last>\d+))?(?=\s|$)")


def take_apart(text: str, where: str) -> Parts:
    """See `setup_files.parse`. Raises InputError: no INPUT, a part of it that is no column."""
    body = blanked(text, _COMMENT)
    statement = _INPUT.search(body)
    if not statement:
        raise InputError(where, "has no INPUT statement", REMEDY)
    # Not "up to the next semicolon": labels hold semicolons.
    labels = {n.upper(): " ".join(t.split()) for n, t in _LABEL.findall(body[: statement.start()])}
    lrecl = _LRECL.search(body)
    return Parts(
        "INPUT",
        places(body, statement.start(1), statement.end(1), _ITEM, "INPUT", where),
        labels,
        (int(lrecl[1]), line_of(body, lrecl.start())) if lrecl else None,
    )
