"""Zips as their publishers ship them: opened, hashed and streamed; nothing is ever unpacked."""

from __future__ import annotations

import hashlib
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import IO

from fairscreen.errors import InputError

# What is wrong with a text of which one "line" is many: a file with CR-only line ends.
CARRIAGE_RETURN = (
    "holds a carriage return (CR) inside the line; lines must end in LF or CRLF, not in CR alone"
)
_BLOCK = 1 << 20
_DAMAGE = (zipfile.BadZipFile, zlib.error, EOFError)


def file_sha256(path: Path, remedy: str) -> str:
    """SHA-256 (64 hex digits) of a file's bytes. Raises InputError where it cannot be read."""
    digest = hashlib.sha256()
    try:
        with path.open("rb") as file:
            while block := file.read(_BLOCK):
                digest.update(block)
    except OSError as error:
        raise InputError(str(path), (error.strerror or "cannot be read").lower(), remedy) from None
    return digest.hexdigest()


@contextmanager
def opened(path: Path, remedy: str) -> Iterator[zipfile.ZipFile]:
    """The zip, open for reading. Raises InputError: no such file, not a zip, damaged."""
    try:
        archive = zipfile.ZipFile(path)
    except OSError as error:
        raise InputError(str(path), (error.strerror or "cannot be read").lower(), remedy) from None
    except zipfile.BadZipFile:
        raise InputError(str(path), "is not a zip, or is cut off at its end", remedy) from None
    with archive:
        yield archive


def members(archive: zipfile.ZipFile) -> list[str]:
    """Names of the files inside, without folders and the resource forks that macOS adds."""
    return [
        info.filename
        for info in archive.infolist()
        if not info.is_dir() and not basename(info.filename).startswith("._")
    ]


def basename(member: str) -> str:
    return PurePosixPath(member.replace("\\", "/")).name


@contextmanager
def streamed(archive: zipfile.ZipFile, path: Path, member: str, remedy: str) -> Iterator[IO[bytes]]:
    """One member as a stream. Damage found while it is read becomes an InputError, too."""
    where = f"{path}, member {member}"
    try:
        try:
            stream = archive.open(member)
        except RuntimeError:  # NotImplementedError is one of them
            problem = "cannot be unpacked (a password, or an unknown compression)"
            raise InputError(where, problem, remedy) from None
        with stream:
            yield stream
    except _DAMAGE:
        raise InputError(where, "is damaged: its bytes fail the zip's own check", remedy) from None
