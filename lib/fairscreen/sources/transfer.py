"""From a server into `NAME.part`: resumed by Range and If-Range, tried again with growing waits."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from http.client import HTTPResponse

from fairscreen.errors import InputError
from fairscreen.sources import http_get
from fairscreen.sources.http_get import DroppedError
from fairscreen.sources.partial import Described, Partial

TRIES = 5  # in a row that bring less than _WORTH bytes
SAY_SECONDS = 5.0
CORRECTED = (
    "Run the same command again; if the publisher has put out a corrected file, give the "
    "SHA-256 of that one with --sha256."
)
_WORTH = 1 << 20
_BLOCK = 1 << 18
_ZIP = (b"PK\x03\x04", b"PK\x05\x06")
_RANGE = re.compile(r"bytes (\d+)-\d+/(\d+)")

Say = Callable[[str], None]


@dataclass(frozen=True)
class Expected:
    """What a file must be. `sha256`: 64 hex digits; `origin`: who says so, for messages."""

    sha256: str
    origin: str
    size: int | None = None  # bytes


def transfer(
    url: str, name: str, part: Partial, expected: Expected | None,
    say: Say, sleep: Callable[[float], None],
) -> None:  # fmt: skip
    """Try until every byte of `url` is in `part`. `name`: what progress calls the file.

    Raises InputError after TRIES tries in a row that brought next to nothing, and at once for a
    server that refuses, an answer that is no zip or not of the expected size, and a full disk.
    """
    failed = 0
    while not part.complete:
        before = part.size
        try:
            return _try(url, name, part, expected, say)
        except DroppedError as error:
            if error.restart:
                part.discard()
            failed = 1 if part.size - before >= _WORTH else failed + 1
            if failed >= TRIES:
                raise _given_up(url, part, str(error)) from None
            wait = max(2.0 ** (failed - 1), error.wait)
            say(f"{name}: {error}; try {failed + 1} of {TRIES} in {wait:.0f} s")
            sleep(wait)
    return None


def _try(url: str, name: str, part: Partial, expected: Expected | None, say: Say) -> None:
    start, told = part.resumable, part.described
    validator = told.validator if told else None
    with http_get.get(url, start=start, validator=validator) as response:
        if response.status == 206 and not start:
            problem = "answers with a part of the file (206), though the whole was asked for"
            raise InputError(http_get.public(url), problem, http_get.BROWSER)
        if response.status == 206:
            if told is None or not _same(response, start, told):
                raise DroppedError("the file changed at the server", restart=True)
            say(f"{name}: going on after {start:,} bytes")
            head = b""
        else:
            told = _described(response)
            head = _head(response, url)
            if expected and expected.size and told.length not in (None, expected.size):
                raise InputError(
                    http_get.public(url),
                    f"is {told.length:,} bytes long, not {expected.size:,} ({expected.origin})",
                    CORRECTED,
                )
            if start:
                say(f"{name}: starting over, the server sends the file from its first byte")
            part.begin(told)
        part.append(_watched(_blocks(response, head), name, part.size, told.length, say))
    if told.length is None:  # only now known, for a run that is stopped before the checks
        part.describe(Described(part.size, told.etag, told.last_modified))
    elif part.size != told.length:
        raise DroppedError(f"the connection ended after {part.size:,} of {told.length:,} bytes")


def _described(response: HTTPResponse) -> Described:
    length = response.headers.get("Content-Length", "")
    return Described(
        int(length) if length.isdecimal() else None,
        response.headers.get("ETag"),
        response.headers.get("Last-Modified"),
    )


def _same(response: HTTPResponse, start: int, told: Described) -> bool:
    """Whether a 206 goes on with the file that the part is of: some servers ignore If-Range."""
    found = _RANGE.fullmatch(response.headers.get("Content-Range", ""))
    etag = response.headers.get("ETag")
    return (
        found is not None
        and int(found.group(1)) == start
        and told.length in (None, int(found.group(2)))
        and etag in (None, told.etag)
    )


def _head(response: HTTPResponse, url: str) -> bytes:
    """The first four bytes. InputError unless a zip's: a 200 can be a page that says no."""
    head = response.read(4)
    if len(head) < 4:
        raise DroppedError("the connection ended before the first bytes")
    if head not in _ZIP:
        page = "html" in response.headers.get("Content-Type", "").lower() or head[:1] == b"<"
        problem = (
            "answers with a web page, not with the file (a log-in page of your network, or the "
            "publisher's guard against programs)"
            if page
            else "answers with something that is not a zip"
        )
        raise InputError(http_get.public(url), problem, http_get.BROWSER)
    return head


def _blocks(response: HTTPResponse, head: bytes) -> Iterator[bytes]:
    if head:
        yield head
    while block := response.read1(_BLOCK):
        yield block


def _watched(
    blocks: Iterator[bytes], name: str, start: int, length: int | None, say: Say
) -> Iterator[bytes]:
    """The same blocks, with a line of progress every SAY_SECONDS."""
    size, began = start, time.monotonic()
    last = began
    for block in blocks:
        yield block
        size += len(block)
        now = time.monotonic()
        if now - last >= SAY_SECONDS:
            last = now
            rate = (size - start) / 1e6 / (now - began)
            of = f"{size / length:.0%}, " if length else ""
            total = f" of {length / 1e6:,.1f}" if length else ""
            say(f"{name}: {of}{size / 1e6:,.1f}{total} MB, {rate:.1f} MB/s")


def _given_up(url: str, part: Partial, reason: str) -> InputError:
    kept, told = part.resumable, part.described
    total = f" of {told.length:,}" if told and told.length else ""
    remedy = (
        f"{kept:,}{total} bytes are kept: run the same command again, it goes on there."
        if kept
        else "Nothing is kept: run the same command again when the server can be reached."
    )
    return InputError(http_get.public(url), f"{reason}; {TRIES} tries failed", remedy)
