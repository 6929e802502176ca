"""Stata set-up file: `infix ER30001 2 - 5 long V1191 46 - 50 ... using FILE, clear ;`.

A storage type may stand before a name. There is no record length but the header's.
"""

from __future__ import annotations

import re

from fairscreen.errors import InputError
from fairscreen.sources.setup_files import REMEDY, Parts, blanked, places

_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
_INFIX = re.compile(r"^[ \t]*infix\b(.*?)\busing\b", re.DOTALL | re.MULTILINE | re.IGNORECASE)
_LABEL = re.compile(
    r"^[ \t]*label[ \t]+var(?:iable)?[ \t]+(\w+)[ \t]+\"([^\"]*)\"", re.MULTILINE | re.IGNORECASE
)
_ITEM = re.compile(
    r"\s*(?:(?:byte|int|long|float|double|str\d*)\s+)?"
    r"(?P<name>[A-Za-z_]\w*)\s+(?P<first>\d+)(?:\s*-\s*(?P<last>\d+))?(?=\s|$)"
)


def take_apart(text: str, where: str) -> Parts:
    """See `setup_files.parse`. Raises InputError: no infix, a part of it that is no column."""
    body = blanked(text, _COMMENT)
    statement = _INFIX.search(body)
    if not statement:
        raise InputError(where, "has no infix ... using statement", REMEDY)
    labels = {n.upper(): " ".join(t.split()) for n, t in _LABEL.findall(body)}
    found = places(body, statement.start(1), statement.end(1), _ITEM, "infix", where)
    return Parts("infix", found, labels)
