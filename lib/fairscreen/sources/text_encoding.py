"""How a text file is encoded, where nobody says."""

from __future__ import annotations

import codecs
from pathlib import Path

from fairscreen.errors import InputError


def encoding(file: Path, remedy: str, data: bytes | None = None) -> str:
    """By its byte order mark, as UTF-8, else as Windows-1252.

    remedy: what to do about a file that cannot be read; data: its bytes, where they are at hand.
    Raises InputError for a file that cannot be read or is neither.
    """
    try:
        data = file.read_bytes() if data is None else data
    except OSError as error:
        problem = (error.strerror or "cannot be read").lower()
        raise InputError(str(file), problem, remedy) from None
    marked = data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    for name in ("utf-16",) if marked else ("utf-8-sig", "cp1252"):
        try:
            data.decode(name)
        except UnicodeDecodeError:
            continue
        return name
    raise InputError(str(file), "is no text of a known encoding", "Save it anew in UTF-8.")
