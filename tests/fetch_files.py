"""Small zips, and a download of one of them into a folder of the test's own."""

from __future__ import annotations

import hashlib
import io
import os
import zipfile
from collections.abc import Callable
from pathlib import Path

from fairscreen.sources.download import Fetched, fetch
from fairscreen.sources.transfer import Expected
from http_server import Server


def zipped(text: bytes = b"SERIALNO,SPORDER\n", name: str = "psam_p56.csv") -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_STORED) as file:
        file.writestr(zipfile.ZipInfo(name), text * 20_000)
    return packed.getvalue()


DATA = zipped()
SIZE = len(DATA)
SHA = hashlib.sha256(DATA).hexdigest()
EXPECTED = Expected(SHA, "given by the test")
NAMES = zipped(b"Mary,F,7065\n", "yob1880.txt")


class Fetching:
    """`fetch` into one folder without real waiting; what it said and how long it would wait."""

    def __init__(self, folder: Path) -> None:
        self.target = folder / "sources" / "x.zip"
        self.said: list[str] = []
        self.waits: list[float] = []

    def __call__(self, server: Server, expected: Expected | None = None) -> Fetched:
        url = f"{server.url}/x.zip"
        return fetch(url, self.target, expected, say=self.said.append, sleep=self.waits.append)

    def names(self) -> set[str]:
        return {f.name for f in self.target.parent.iterdir() if not f.name.endswith(".lock")}

    @property
    def part(self) -> int:
        return (self.target.parent / "x.zip.part").stat().st_size


def ranges(server: Server) -> list[str | None]:
    return [asked[1] for asked in server.asked]


def write_until(size: int, error: BaseException) -> Callable[[int, bytes], int]:
    """An os.write that takes `size` bytes in all and then fails."""
    write, left = os.write, [size]

    def limited(file: int, data: bytes) -> int:
        if not left[0]:
            raise error
        done = write(file, data[: left[0]])
        left[0] -= done
        return done

    return limited
