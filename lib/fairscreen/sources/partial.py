"""A download in progress: `NAME.part`, and `NAME.part.json` with what the server said of the file.

The note tells whether the bytes so far can be gone on with: it is removed before the part is
emptied and written after, so that a note never describes the bytes of another file.
"""

from __future__ import annotations

import errno
import json
import os
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from fairscreen.errors import InputError

_FULL = (errno.ENOSPC, errno.EDQUOT)


@dataclass(frozen=True)
class Described:
    """What a server says of a file; None where it says nothing. `length`: of the whole, bytes."""

    length: int | None
    etag: str | None
    last_modified: str | None

    @property
    def validator(self) -> str | None:
        """What If-Range may carry: a strong ETag, else the date of the last change."""
        return self.etag if self.etag and not self.etag.startswith("W/") else self.last_modified


class Partial:
    """The part of `target` that is here. Every failing write is an InputError; the part stays."""

    def __init__(self, target: Path) -> None:
        self.path = target.with_name(f"{target.name}.part")
        self._note = target.with_name(f"{target.name}.part.json")

    @property
    def size(self) -> int:
        return self.path.stat().st_size if self.path.exists() else 0

    @property
    def described(self) -> Described | None:
        """The note; None where there is none that can be read."""
        try:
            found = Described(**json.loads(self._note.read_text(encoding="utf-8")))
        except (OSError, ValueError, TypeError):
            return None
        sound = isinstance(found.length, int | None) and all(
            isinstance(text, str | None) for text in (found.etag, found.last_modified)
        )
        return found if sound else None

    @property
    def resumable(self) -> int:
        """Bytes to go on from; 0 where the server's file could change without our noticing."""
        described = self.described
        if described is None or described.validator is None:
            return 0
        return self.size if described.length is None or self.size < described.length else 0

    @property
    def complete(self) -> bool:
        described = self.described
        return described is not None and self.size > 0 and described.length == self.size

    def begin(self, described: Described) -> None:
        """Start with nothing."""
        with self.writing(None):
            self._note.unlink(missing_ok=True)
            self.path.write_bytes(b"")
        self.describe(described)

    def describe(self, described: Described) -> None:
        with self.writing(None):
            write_whole(self._note, json.dumps(asdict(described)) + "\n")

    def append(self, blocks: Iterable[bytes]) -> None:
        """Write what comes; whatever `blocks` raises passes through and leaves the bytes so far.

        Raises InputError at once where the disk has not the room for what is to come.
        """
        described = self.described
        length = described.length if described else None
        folder = self.path.parent
        if length is not None and (free := shutil.disk_usage(folder).free) < length - self.size:
            raise _full(folder, length - self.size, free, self)
        with self.writing(length):
            file = os.open(self.path, os.O_WRONLY | os.O_APPEND)
        try:
            for block in blocks:
                with self.writing(length):
                    _write(file, block)
        finally:
            with self.writing(length):
                os.close(file)

    def discard(self) -> None:
        with self.writing(None):
            self._note.unlink(missing_ok=True)
            self.path.unlink(missing_ok=True)

    def move(self, target: Path) -> None:
        """The finished part under its own name, on disk before the name is."""
        with self.writing(None):
            sync(self.path)
            self.path.replace(target)
            sync(target.parent)
            self._note.unlink(missing_ok=True)

    @contextmanager
    def writing(self, length: int | None) -> Iterator[None]:
        """A failing write as InputError. `length`: of the whole file, where it is known."""
        try:
            yield
        except OSError as error:
            folder = self.path.parent
            if error.errno in _FULL:
                needed = None if length is None else max(length - self.size, 0)
                raise _full(folder, needed, shutil.disk_usage(folder).free, self) from None
            problem = (error.strerror or "cannot be written").lower()
            raise InputError(str(folder), problem, "Give another folder with --out.") from None


def write_whole(file: Path, text: str) -> None:
    """A small file, whole or not at all."""
    beside = file.with_name(f"{file.name}.tmp")
    beside.write_text(text, encoding="utf-8")
    sync(beside)
    beside.replace(file)


def sync(path: Path) -> None:
    """Have the file's bytes, or the folder's names, on disk."""
    file = os.open(path, os.O_RDONLY)
    try:
        os.fsync(file)
    finally:
        os.close(file)


def _write(file: int, block: bytes) -> None:
    rest = memoryview(block)
    while rest:  # a disk that is nearly full takes a part
        rest = rest[os.write(file, rest) :]


def _full(folder: Path, needed: int | None, free: int, part: Partial) -> InputError:
    more = "more room" if needed is None else f"{needed:,} more bytes"
    return InputError(
        str(folder),
        f"has no room: the file needs {more}, {free:,} are free",
        f"Free some and run the same command again, or give another folder with --out. "
        f"{part.size:,} bytes are kept in {part.path.name}.",
    )
