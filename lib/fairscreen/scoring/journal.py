"""Where replies are durable before they are in a table.

`<root>/<wave>/<shard>/<attempt>-<seq>.jsonl`: a segment holds one reply a line; its last line
holds their tally (count, sums for progress) and the SHA-256 of the bytes before it. A segment is
written once and fsynced: no append, no rename, no lock, so that any file system will do that
driver and executors share. A torn segment has no valid last line and is ignored; its calls are
asked again. Beside the segments stand the marks of the attempts at the shard (see `attempts`).
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import socket
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from fairscreen.errors import FairscreenError, InputError, as_text, from_text
from fairscreen.scoring import attempts
from fairscreen.scoring.calls import State
from fairscreen.scoring.journal_errors import foreign, unreadable, unwritable
from fairscreen.scoring.money import pico
from fairscreen.scoring.plain import whole
from fairscreen.scoring.status import Status, StatusFile
from fairscreen.scoring.tally import Tally, from_footer, tally, to_footer

_SUFFIX = ".jsonl"
_STOP = "stop"
_END = "end"
_FOOTER_BYTES = 16_384  # more than the counts of every HTTP status would take
_VISIBLE_TRIES = 10
# What reading a last line raises that is none of ours.
_TORN = (ValueError, KeyError, TypeError, RecursionError, OverflowError)

Record = dict[str, Any]


def write_segment(file: Path, records: Sequence[Record]) -> None:
    """Write and fsync one segment. Raises FileExistsError where the name is taken."""
    # `whole`: one lone surrogate in one record must not cost all the others.
    body = b"".join(whole(json.dumps(r, ensure_ascii=False)).encode() + b"\n" for r in records)
    footer = {**to_footer(tally(records)), "sha256": hashlib.sha256(body).hexdigest()}
    with open(file, "xb") as out:
        out.write(body + json.dumps(footer).encode() + b"\n")
        out.flush()
        os.fsync(out.fileno())
    _sync_folder(file.parent)


def read_segment(file: Path) -> list[Record] | None:
    """The records of a segment, or None where it is torn, damaged or gone.

    Raises InputError where it cannot be read, or is whole and holds something else: what was paid
    may be in there.
    """
    found = _records(file)
    if found is not None and not all(_is_record(r) for r in found):
        raise foreign(file)
    return found


def _is_record(found: object) -> bool:
    return isinstance(found, dict) and isinstance(found.get("call_key"), str)


def _records(file: Path) -> list[Any] | None:
    try:
        data = file.read_bytes()
        body, footer = _split(data)
        if footer["sha256"] != hashlib.sha256(body).hexdigest():
            return None
        records = [json.loads(line) for line in body.decode().split("\n")[:-1]]
        return records if len(records) == footer["count"] else None
    except FileNotFoundError:
        return None
    except OSError as error:
        raise unreadable(file, error) from None
    except _TORN:
        return None


def _split(data: bytes) -> tuple[bytes, Record]:
    if not data.endswith(b"\n"):
        raise ValueError("torn")
    start = data.rfind(b"\n", 0, len(data) - 1) + 1
    footer = json.loads(data[start:])
    if not isinstance(footer, dict):
        raise ValueError("no footer")
    return data[:start], footer


def footer_count(file: Path) -> int:
    """Replies in a segment by its last line alone; 0 where it is torn."""
    return footer_tally(file).count


def is_whole(file: Path) -> bool:
    """Whether the segment was written to its end. One that is being written is not.

    By its first and last line where these are good. Raises InputError: see `read_segment`.
    """
    try:
        with open(file, "rb") as data:
            first = data.readline()
        if footer_count(file) > 0 and _is_record(json.loads(first)):
            return True
    except (OSError, *_TORN):
        pass  # it says so when it is read
    return read_segment(file) is not None


def footer_tally(file: Path) -> Tally:
    """Sums of a segment by its last line alone (for progress only); empty where it is torn."""
    try:
        with open(file, "rb") as data:
            size = data.seek(0, os.SEEK_END)
            data.seek(max(0, size - _FOOTER_BYTES))
            _, footer = _split(b"\n" + data.read())
        return from_footer(footer)
    except (OSError, *_TORN):
        return Tally()


def _sync_folder(folder: Path) -> None:
    """Make a new name in the folder durable, where the file system can."""
    try:
        handle = os.open(folder, os.O_RDONLY)
    except OSError:
        return
    try:
        os.fsync(handle)
    except OSError:
        pass
    finally:
        os.close(handle)


class WaveJournal:
    """The journal of one wave, as driver and executors see it."""

    def __init__(self, root: str | Path, wave_id: str) -> None:
        self.wave_id = wave_id
        self.folder = Path(root) / wave_id

    def create(self) -> None:
        """Make the folder. InputError where that cannot be."""
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise unwritable(self.folder, error) from None
        _sync_folder(self.folder.parent)

    def require_shared(self, sleep: Callable[[float], None] = time.sleep) -> None:
        """In a worker, before it asks: the folder that the driver made must be there.

        Raises InputError where it is not, also after some seconds: network file systems may show
        it late.
        """
        for _ in range(_VISIBLE_TRIES):
            if self.folder.is_dir():
                return
            sleep(1.0)
        raise InputError(
            f"scoring.journal {self.folder.parent}",
            f"a worker on {socket.gethostname()} does not see the folder that the driver made "
            f"there ({self.wave_id}), so its replies would be lost. Nothing was asked",
            "Set scoring.journal to a folder that the driver and all executors share, or "
            "scoring.where to driver.",
        )

    def segments(self) -> list[Path]:
        """All segments of all shards, torn ones too, by name."""
        return _files(self.folder.glob(f"*/*{_SUFFIX}"))

    def whole(self) -> list[Path]:
        """The segments that can be committed; those that are refused with an error are not."""
        found = []
        for segment in self.segments():
            with contextlib.suppress(InputError):
                if is_whole(segment):
                    found.append(segment)
        return found

    def stop(self, why: FairscreenError | None = None) -> bool:
        """Ask the shards to write what is answered and return. The first `why` is kept.

        False where the file cannot be written; without a `why`, InputError.
        """
        file = self.folder / _STOP
        try:
            self.create()
            with open(file, "x", encoding="utf-8") as out:
                out.write(as_text(why) if why else "")
        except FileExistsError:
            pass
        except (OSError, InputError) as error:
            with contextlib.suppress(OSError):
                file.unlink(missing_ok=True)  # an empty one would be the wish of the user
            if why:
                return False
            if isinstance(error, InputError):
                raise
            raise unwritable(self.folder, error) from None
        return True

    def let_end(self) -> None:
        """Stop what may still ask in this wave, of a run that is gone, and wait for it."""
        self.stop()
        attempts.let_end(self.folder)

    def end(self) -> None:
        """Tell the shards that time is up: they finish what they began and leave the rest."""
        self.create()
        try:
            (self.folder / _END).touch()
        except OSError as error:
            raise unwritable(self.folder, error) from None

    def state(self) -> State:
        """What the files `stop` and `end` tell the shards."""
        if (self.folder / _STOP).exists():
            return "stop"
        return "finish" if (self.folder / _END).exists() else "go"

    def reason(self) -> FairscreenError | None:
        """Why the wave was stopped, where a shard stopped it; None for a wish of the user."""
        file = self.folder / _STOP
        try:
            text = file.read_text(encoding="utf-8")
            return from_text(text) if text else None
        except FileNotFoundError:
            return None
        except (OSError, ValueError, TypeError):
            return InputError(
                f"journal {file}",
                "stopped the wave, and says nothing that can be read",
                "Remove it, and run the same command again.",
            )

    def delete(self, committed: Iterable[Path] = ()) -> bool:
        """Remove these segments, torn ones and the folder; False where a whole one came meanwhile.

        Whoever still asks in the wave finds its mark gone, and stops. InputError for a segment
        that cannot be removed or read, or that holds no replies; the others are gone by then.
        """
        try:
            for segment in committed:
                segment.unlink(missing_ok=True)
            for segment in self.segments():
                if not is_whole(segment):
                    segment.unlink(missing_ok=True)
        except OSError as error:
            raise unwritable(self.folder, error) from None
        try:
            for folder in [f for f in self.folder.iterdir() if f.is_dir()]:
                for file in folder.iterdir():
                    if file.suffix != _SUFFIX:
                        file.unlink(missing_ok=True)
                folder.rmdir()  # not with what is in it: a segment may come at any moment
            for name in (_STOP, _END):
                (self.folder / name).unlink(missing_ok=True)
            self.folder.rmdir()
        except FileNotFoundError:
            return True
        except OSError:
            self.stop()
            return False
        return True


class ShardJournal:
    """One attempt at one shard: reads what earlier attempts left, writes segments of its own.

    `made`: the driver has made the wave's folder, so where it is gone the wave is committed.
    """

    def __init__(self, root: str | Path, wave_id: str, shard: int, *, made: bool = False) -> None:
        self._wave, self._made = WaveJournal(root, wave_id), made
        self.folder = self._wave.folder / str(shard)
        self._attempt = attempts.Attempt(self.folder)
        self._seq = 0
        self._status = StatusFile(self.folder, self._attempt.id)

    def begin(self) -> None:
        """Take the shard over from earlier attempts, before it is read what they left.

        InputError where that cannot be.
        """
        try:
            self.folder.mkdir(parents=not self._made, exist_ok=True)
            _sync_folder(self._wave.folder)
            self._attempt.begin()
        except OSError as error:
            raise unwritable(self.folder, error) from None

    def end(self) -> None:
        self._attempt.end()

    def done(self) -> set[str]:
        """Keys of the calls that are answered in this shard, by any attempt."""
        return {r["call_key"] for s in self._segments() for r in read_segment(s) or ()}

    def spent(self) -> int:
        """Picodollars that the durable replies cost at most; those asked twice are paid twice."""
        found = (r for s in self._segments() for r in read_segment(s) or ())
        return sum(pico(r.get("cost_max_usd") or r.get("cost_usd") or 0.0) for r in found)

    def write(self, records: Sequence[Record]) -> None:
        """Make replies durable; nothing is written for none. InputError where that cannot be."""
        if not records:
            return
        file = self.folder / f"{self._attempt.id}-{self._seq:06d}{_SUFFIX}"
        try:
            # Of a committed wave, too: what is paid is kept, and the next run finds it.
            self._make_folder()
            write_segment(file, records)
        except OSError as error:
            with contextlib.suppress(OSError):  # a torn one takes room
                file.unlink(missing_ok=True)
            raise unwritable(self.folder, error) from None
        self._seq += 1

    def tell(self, status: Status, *, last: bool = False) -> None:
        """Let people know what the shard does: see `status`. Where it cannot be, they do not."""
        with contextlib.suppress(OSError):
            if self._wave.folder.is_dir():  # a late attempt must not bring a deleted wave back
                self._make_folder()
                self._status.tell(status, last=last)

    def state(self) -> State:
        """What the wave's files say; stop where another attempt has taken over."""
        if self.superseded():
            return "stop"
        try:
            return self._wave.state()
        except OSError as error:
            raise unreadable(self._wave.folder, error) from None

    def superseded(self) -> bool:
        try:
            return self._attempt.superseded()
        except OSError as error:
            raise unreadable(self.folder, error) from None

    def stop(self, why: FairscreenError) -> bool:
        return self._wave.stop(why)

    def _make_folder(self) -> None:
        if not self.folder.is_dir():
            self.folder.mkdir(parents=True, exist_ok=True)
            _sync_folder(self._wave.folder)

    def _segments(self) -> list[Path]:
        return _files(self.folder.glob(f"*{_SUFFIX}"))


def _files(found: Iterable[Path]) -> list[Path]:
    """Of these, by name, what is no folder and no link in a circle."""
    return sorted(file for file in found if file.is_file())


def waves_left(root: str | Path, prefix: str) -> list[WaveJournal]:
    """Journals under `root` whose wave id starts with `prefix`, oldest first."""
    folder = Path(root)
    try:
        found = [f for f in folder.iterdir() if f.name.startswith(prefix) and f.is_dir()]
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        raise unreadable(folder, error) from None
    names = (f.name for f in found)
    return [WaveJournal(root, name) for name in sorted(names)]


def records(segments: Iterable[Path]) -> Iterator[tuple[str, Record]]:
    """(segment name, record) of the valid segments."""
    for segment in segments:
        for record in read_segment(segment) or ():
            yield segment.name, record
