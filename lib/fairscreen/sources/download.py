"""A published zip onto this disk: resumed where it stopped, checked, and only then under its name.

Own code, because no kept-up library resumes and checks: pooch, the one in wide use, starts over.

`NAME.part` grows (see `transfer`), is held against the SHA-256 that is known of the file, or else
its members against the zip's own CRCs, and gets its name last, after `NAME.sha256` (the form of
sha256sum) was written. So a file under its name is whole, with its digest beside it.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from filelock import FileLock, Timeout

from fairscreen import progress
from fairscreen.errors import InputError
from fairscreen.sources import archive, http_get
from fairscreen.sources.partial import Partial, write_whole
from fairscreen.sources.transfer import CORRECTED, Expected, Say, transfer

_BLOCK = 1 << 18
_AGAIN = "Run the same command again."


@dataclass(frozen=True)
class Fetched:
    """A file that is here and sound.

    size          bytes.  sha256  64 hex digits.
    checked       what the digest was compared with; None: with nothing, the zip's CRCs hold.
    already_here  nothing was asked of the server.
    resumed_at    bytes that an earlier run had left (0: from the start).
    """

    file: Path
    url: str
    size: int
    sha256: str
    checked: str | None
    already_here: bool = False
    resumed_at: int = 0


def fetch(
    url: str, target: Path, expected: Expected | None = None, *,
    check: Callable[[Path], None] | None = None,
    say: Say = progress.say, sleep: Callable[[float], None] = time.sleep,
) -> Fetched:  # fmt: skip
    """Have the zip at `url` as `target`; its folder is made. A second caller waits for the first.

    `check` raises InputError where the sound zip holds something other than what was asked for.
    Raises InputError: an address or folder that cannot be used, a server that refuses or goes on
    dropping the connection, no room, an answer that is no zip, a wrong SHA-256, a damaged zip, one
    that `check` refuses. The part is kept for the next run, but for the last four: those bytes are
    moved aside as `NAME.rejected`, or never written.
    """
    http_get.check(url)
    _make(target.parent)
    with _alone(target, say):
        here = _already_here(url, target, expected)
        if here is not None:
            return here
        part = Partial(target)
        resumed_at = part.size if part.complete else part.resumable
        transfer(url, target.name, part, expected, say, sleep)
        say(f"{target.name}: {part.size:,} bytes are here, checking them")
        return _accept(url, target, part, expected, resumed_at, check)


@contextmanager
def _alone(target: Path, say: Say) -> Iterator[None]:
    """Hold the file's lock; the system frees it when a process ends in whatever way."""
    lock = FileLock(target.with_name(f".{target.name}.lock"))
    try:
        try:
            lock.acquire(timeout=0)
        except Timeout:
            say(f"{target.name}: another process is fetching it; waiting")
            lock.acquire()
    except OSError as error:  # Timeout is one, too
        raise _no_folder(target.parent, error) from None
    try:
        yield
    finally:
        lock.release()


def _make(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise _no_folder(folder, error) from None


def _no_folder(folder: Path, error: OSError) -> InputError:
    problem = (error.strerror or "cannot be used").lower()
    return InputError(f"--out {folder}", problem, "Give a folder that you can write to.")


def _already_here(url: str, target: Path, expected: Expected | None) -> Fetched | None:
    """The finished file of an earlier run, by its digest; InputError where it is another file."""
    if not target.exists():
        return None
    wanted = expected or _noted(target)
    if wanted is None:
        raise InputError(
            str(target),
            "is there already, and nothing tells whether it is the published file",
            "Move it away, or give its SHA-256 with --sha256, or another folder with --out.",
        )
    sha256 = archive.file_sha256(target, "Give another folder with --out.")
    if sha256 != wanted.sha256:
        raise InputError(
            str(target),
            f"has SHA-256 {sha256}, not {wanted.sha256} ({wanted.origin})",
            "Move it away and run the same command again.",
        )
    _note(target, sha256, Partial(target))
    size = target.stat().st_size
    return Fetched(target, http_get.public(url), size, sha256, wanted.origin, already_here=True)


def _noted(target: Path) -> Expected | None:
    """The digest in `NAME.sha256`."""
    file = _note_of(target)
    try:
        found = re.match(r"[0-9a-f]{64}(?= )", file.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError):
        return None
    return found and Expected(found.group(), f"noted in {file.name}")


def _note(target: Path, sha256: str, part: Partial) -> None:
    with part.writing(None):
        write_whole(_note_of(target), f"{sha256}  {target.name}\n")


def _note_of(target: Path) -> Path:
    return target.with_name(f"{target.name}.sha256")


def _accept(
    url: str, target: Path, part: Partial, expected: Expected | None, resumed_at: int,
    check: Callable[[Path], None] | None,
) -> Fetched:  # fmt: skip
    """Check the finished part, note its digest, and give it its name."""
    size, sha256 = part.size, archive.file_sha256(part.path, _AGAIN)
    if expected is not None and sha256 != expected.sha256:
        aside = _set_aside(target, part)
        raise InputError(
            http_get.public(url),
            f"has SHA-256 {sha256}, not {expected.sha256} ({expected.origin})",
            f"The bytes are in {aside}. {CORRECTED}",
        )
    try:
        if expected is None:
            _test(part.path)
        if check is not None:
            check(part.path)
    except InputError as error:
        aside = _set_aside(target, part)
        where = error.where.replace(str(part.path), http_get.public(url))
        remedy = f"The bytes are in {aside}. {error.remedy}"
        raise InputError(where, error.problem, remedy) from None
    _note(target, sha256, part)
    part.move(target)
    checked = expected.origin if expected else None
    return Fetched(target, http_get.public(url), size, sha256, checked, resumed_at=resumed_at)


def _set_aside(target: Path, part: Partial) -> Path:
    aside = target.with_name(f"{target.name}.rejected")
    part.move(aside)
    return aside


def _test(path: Path) -> None:
    """Read every member against its CRC, in blocks. InputError naming the first that fails."""
    with archive.opened(path, _AGAIN) as zipped:
        files = [info.filename for info in zipped.infolist() if not info.is_dir()]
        if not files:
            raise InputError(str(path), "is a zip without a file in it", _AGAIN)
        for member in files:
            with archive.streamed(zipped, path, member, _AGAIN) as stream:
                while stream.read(_BLOCK):
                    pass
