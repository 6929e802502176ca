"""Text that comes from a server, made fit to keep and to show.

A lone surrogate (`"\\ud800"` in JSON) is no character: no UTF-8 file and no table can hold one.
Each becomes U+FFFD, the character for what cannot be represented, so that the rest of the text
stays and no digit of an escape is read as a score.
"""

from __future__ import annotations

import re
import unicodedata

_LONE = re.compile("[\ud800-\udfff]")
_HIDDEN = {"Cc", "Cf", "Zl", "Zp"}  # Zl, Zp: a new line to some readers and none to others
_LABEL_CHARS = 200


def whole(text: str) -> str:
    """`text` with U+FFFD in the place of each lone surrogate."""
    if text.isascii():
        return text
    return _LONE.sub("\ufffd", text)


def shown(text: str) -> str:
    """`text` without what steers a terminal or turns text around: control characters but newline
    and tab, and format characters such as bidi overrides. Whole."""
    if text.isprintable():  # which a lone surrogate is not
        return text
    return "".join(c for c in whole(text) if c in "\n\t" or unicodedata.category(c) not in _HIDDEN)


def label(text: str) -> str:
    """A name that a server gave, on one line and not endless."""
    if len(text) <= _LABEL_CHARS and text.isprintable():
        return text
    return " ".join(shown(text[:_LABEL_CHARS]).split())
