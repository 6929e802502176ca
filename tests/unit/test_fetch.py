"""Downloads from a server on loopback: resumed, checked, and under their name only when sound."""

from __future__ import annotations

import errno
import hashlib
import io
import json
import os
import shutil
import socket
import threading
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairscreen import cli
from fairscreen.errors import InputError
from fairscreen.sources import catalogue, http_get, partial, transfer
from fairscreen.sources.download import Fetched, fetch
from fairscreen.sources.transfer import TRIES, Expected
from http_server import Server, serving


def _zip(text: bytes = b"SERIALNO,SPORDER\n", name: str = "psam_p56.csv") -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_STORED) as file:
        file.writestr(zipfile.ZipInfo(name), text * 20_000)
    return packed.getvalue()


DATA = _zip()
SIZE = len(DATA)
SHA = hashlib.sha256(DATA).hexdigest()
EXPECTED = Expected(SHA, "given by the test")
NAMES = _zip(b"Mary,F,7065\n", "yob1880.txt")


@pytest.fixture(autouse=True)
def _no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("no_proxy", "127.0.0.1,localhost")


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


@pytest.fixture
def fetching(tmp_path: Path) -> Fetching:
    return Fetching(tmp_path)


def _ranges(server: Server) -> list[str | None]:
    return [asked[1] for asked in server.asked]


def test_a_file_gets_its_name_and_its_digest(fetching: Fetching) -> None:
    with serving(DATA) as server:
        done = fetching(server, EXPECTED)
    assert fetching.target.read_bytes() == DATA
    assert fetching.names() == {"x.zip", "x.zip.sha256"}
    note = fetching.target.with_name("x.zip.sha256").read_text()
    assert note == f"{SHA}  x.zip\n"  # as sha256sum writes and reads it
    assert (done.size, done.sha256, done.checked) == (SIZE, SHA, "given by the test")
    assert not done.already_here
    assert server.asked == [("/x.zip", None, None)]


def test_without_a_known_digest_the_zip_itself_is_tested(fetching: Fetching) -> None:
    with serving(DATA) as server:
        done = fetching(server)
    assert (done.checked, done.sha256) == (None, SHA)


def test_a_dropped_connection_goes_on_where_it_was(fetching: Fetching) -> None:
    with serving(DATA, drops=[100_000, 50_000]) as server:
        done = fetching(server, EXPECTED)
    assert _ranges(server) == [None, "bytes=100000-", "bytes=150000-"]
    assert fetching.target.read_bytes() == DATA
    assert done.sha256 == SHA
    assert fetching.waits == [1.0, 2.0]
    ended = f"x.zip: the connection ended after 100,000 of {SIZE:,} bytes; try 2 of 5 in 1 s"
    assert fetching.said[0] == ended


def test_dropped_every_time_keeps_the_part_and_the_next_run_resumes(fetching: Fetching) -> None:
    with serving(DATA, drops=[1_000] * TRIES) as server:
        with pytest.raises(InputError) as caught:
            fetching(server, EXPECTED)
        assert str(caught.value) == (
            f"{server.url}/x.zip: the connection ended after 5,000 of {SIZE:,} bytes; 5 tries "
            f"failed. 5,000 of {SIZE:,} bytes are kept: run the same command again, it goes on "
            "there."
        )
        assert fetching.names() == {"x.zip.part", "x.zip.part.json"}
        assert fetching.part == 5_000
        assert fetching.waits == [1.0, 2.0, 4.0, 8.0]
        done = fetching(server, EXPECTED)
    assert _ranges(server)[TRIES:] == ["bytes=5000-"]
    assert done.resumed_at == 5_000
    assert fetching.target.read_bytes() == DATA


def test_tries_that_bring_something_are_not_counted(fetching: Fetching, monkeypatch) -> None:
    monkeypatch.setattr(transfer, "_WORTH", 10_000)
    with serving(DATA, drops=[20_000] * (TRIES + 3)) as server:
        fetching(server, EXPECTED)
    assert fetching.target.read_bytes() == DATA
    assert set(fetching.waits) == {1.0}


@pytest.mark.parametrize("how", [
    {"ranges": False},
    {"etag": None},  # nothing tells whether the file changed meanwhile
    {"etag": 'W/"weak"'},
])  # fmt: skip
def test_a_server_that_cannot_resume_sends_it_all_again(how, fetching: Fetching) -> None:
    with serving(DATA, drops=[100_000], **how) as server:
        fetching(server, EXPECTED)
    assert len(server.asked) == 2
    assert fetching.target.read_bytes() == DATA


def test_nothing_is_promised_where_the_server_cannot_resume(fetching: Fetching) -> None:
    with (
        serving(DATA, etag=None, drops=[1_000] * TRIES) as server,
        pytest.raises(InputError, match="Nothing is kept: run the same command again"),
    ):
        fetching(server, EXPECTED)


def test_the_date_of_the_file_is_enough_to_resume(fetching: Fetching) -> None:
    date = "Tue, 29 Oct 2019 17:06:00 GMT"
    with serving(DATA, etag='W/"weak"', modified=date, drops=[100_000]) as server:
        fetching(server, EXPECTED)
    assert _ranges(server) == [None, "bytes=100000-"]


@pytest.mark.parametrize("blind", [False, True], ids=["if-range", "if-range ignored"])
def test_a_file_that_changed_meanwhile_is_not_mixed(blind, fetching: Fetching) -> None:
    with serving(_zip(b"SERIALNO,XPORDER\n"), drops=[100_000] + [0] * 4) as server:
        with pytest.raises(InputError):
            fetching(server)
        assert fetching.part == 100_000
        server.data, server.etag, server.blind = DATA, '"two"', blind
        done = fetching(server)
    assert done.sha256 == SHA
    assert _ranges(server)[-1] == (None if blind else "bytes=100000-")


def test_a_shorter_file_than_the_part(fetching: Fetching) -> None:
    with serving(DATA, drops=[SIZE - 1, 0, 0, 0, 0]) as server:
        with pytest.raises(InputError):
            fetching(server)
        server.data = server.data[: SIZE // 2]  # same ETag: a broken server answers 416
        with pytest.raises(InputError, match="is not a zip, or is cut off"):
            fetching(server)


def test_a_wrong_digest_never_gets_the_name(fetching: Fetching) -> None:
    with serving(DATA) as server:
        with pytest.raises(InputError) as caught:
            fetching(server, Expected("0" * 64, "recorded"))
        aside = fetching.target.with_name("x.zip.rejected")
        assert str(caught.value).startswith(
            f"{server.url}/x.zip: has SHA-256 {SHA}, not {'0' * 64} (recorded). "
            f"The bytes are in {aside}. Run the same command again; if the publisher"
        )
        assert fetching.names() == {"x.zip.rejected"}
        fetching(server, EXPECTED)  # starts anew
    assert _ranges(server) == [None, None]


def test_a_wrong_size_is_told_before_the_download(fetching: Fetching) -> None:
    with serving(DATA) as server, pytest.raises(InputError, match=f"is {SIZE:,} bytes long, not 7"):
        fetching(server, Expected(SHA, "recorded", 7))
    assert fetching.names() == set()


def test_less_than_was_announced(fetching: Fetching) -> None:
    with (
        serving(DATA, length=SIZE + 10) as server,
        pytest.raises(InputError, match=f"ended after {SIZE:,} of {SIZE + 10:,} bytes"),
    ):
        fetching(server, EXPECTED)
    assert "x.zip" not in fetching.names()


def test_no_length_announced(fetching: Fetching) -> None:
    with serving(DATA, length=0) as server:
        assert fetching(server).size == SIZE


def test_no_room_is_told_before_the_first_byte(fetching: Fetching, monkeypatch) -> None:
    usage = shutil.disk_usage("/")
    monkeypatch.setattr(partial.shutil, "disk_usage", lambda _: usage._replace(free=1_000))
    with serving(DATA) as server, pytest.raises(InputError) as caught:
        fetching(server, EXPECTED)
    assert str(caught.value) == (
        f"{fetching.target.parent}: has no room: the file needs {SIZE:,} more bytes, 1,000 are "
        "free. Free some and run the same command again, or give another folder with --out. "
        "0 bytes are kept in x.zip.part."
    )


def _write_until(size: int, error: BaseException) -> Callable[[int, bytes], int]:
    """An os.write that takes `size` bytes in all and then fails."""
    write, left = os.write, [size]

    def limited(file: int, data: bytes) -> int:
        if not left[0]:
            raise error
        done = write(file, data[: left[0]])
        left[0] -= done
        return done

    return limited


def test_a_disk_that_fills_up_keeps_the_part(fetching: Fetching) -> None:
    with serving(DATA) as server:
        with pytest.MonkeyPatch.context() as patch:
            full = OSError(errno.ENOSPC, "No space left on device")
            patch.setattr(partial.os, "write", _write_until(70_000, full))
            with pytest.raises(InputError) as caught:
                fetching(server, EXPECTED)
        problem = f"{fetching.target.parent}: has no room: the file needs {SIZE - 70_000:,} more"
        assert str(caught.value).startswith(problem)
        assert "70,000 bytes are kept in x.zip.part." in str(caught.value)
        assert fetching.part == 70_000
        fetching(server, EXPECTED)
    assert _ranges(server) == [None, "bytes=70000-"]
    assert fetching.waits == []  # a full disk is no dropped connection


def test_a_failing_write_names_the_folder(fetching: Fetching, monkeypatch) -> None:
    broken = OSError(errno.EIO, "Input/output error")
    monkeypatch.setattr(partial.os, "write", _write_until(10, broken))
    with serving(DATA) as server, pytest.raises(InputError, match="sources: input/output error"):
        fetching(server, EXPECTED)


def test_a_part_that_cannot_be_opened_is_no_dropped_connection(fetching: Fetching) -> None:
    fetching.target.with_name("x.zip.part").mkdir(parents=True)
    with serving(DATA) as server, pytest.raises(InputError, match=r"is a directory\. Give another"):
        fetching(server)
    assert fetching.waits == []


@pytest.mark.parametrize(("code", "words"), [
    (404, r"there is no such file \(404 Not Found\). Check year, period and state"),
    (403, r"the server refuses \(403 Forbidden\). Open the address in a browser"),
    (302, "redirects in a circle, or to an address that is not http or https"),
    (599, r"the server refuses \(599\)"),
])  # fmt: skip
def test_a_refusal_is_final(code, words, fetching: Fetching) -> None:
    headers = {"Location": "/x.zip"} if code == 302 else {}
    refusing = serving(DATA, status=[(code, headers)] * 20)
    with refusing as server, pytest.raises(InputError, match=words):
        fetching(server)
    assert fetching.names() == set()
    assert fetching.waits == []


def test_a_server_in_need_of_a_pause_gets_it(fetching: Fetching) -> None:
    busy = [(503, {"Retry-After": "7"}), (429, {"Retry-After": "86400"}), (500, {})]
    with serving(DATA, status=busy) as server:
        fetching(server, EXPECTED)
    assert fetching.waits == [7.0, http_get.LONGEST_WAIT, 4.0]


@pytest.mark.parametrize("location", ["ftp://example.org/x.zip", "file:///etc/passwd"])
def test_redirects_lead_nowhere_but_to_http(location, fetching: Fetching) -> None:
    redirecting, words = serving(DATA, status=[(302, {"Location": location})]), "not http or https"
    with redirecting as server, pytest.raises(InputError, match=words):
        fetching(server)


@pytest.mark.parametrize("how", [
    {"data": b"<!DOCTYPE html><title>Request Rejected</title>", "content_type": "text/html"},
    {"data": b"<html>log in</html>"},
])  # fmt: skip
def test_a_web_page_with_status_200_is_no_file(how, fetching: Fetching) -> None:
    with serving(**how) as server, pytest.raises(InputError, match="answers with a web page"):
        fetching(server, EXPECTED)
    assert fetching.names() == set()


def test_a_web_page_in_the_middle_keeps_the_part(fetching: Fetching) -> None:
    with serving(DATA, drops=[100_000]) as server:

        def portal(_: float) -> None:
            server.data, server.ranges = b"<html>log in</html>", False

        with pytest.raises(InputError, match="answers with a web page"):
            fetch(f"{server.url}/x.zip", fetching.target, say=print, sleep=portal)
    assert fetching.part == 100_000


def test_a_file_that_is_no_zip(fetching: Fetching) -> None:
    with (
        serving(b"SERIALNO,ST\n1,56\n") as server,
        pytest.raises(InputError, match=r"x\.zip: answers with something that is not a zip"),
    ):
        fetching(server)
    assert fetching.names() == set()


def test_a_damaged_member_is_found_and_set_aside(fetching: Fetching) -> None:
    damaged = bytearray(DATA)
    damaged[SIZE // 2] ^= 1
    with serving(bytes(damaged)) as server, pytest.raises(InputError) as caught:
        fetching(server)
    assert str(caught.value) == (
        f"{server.url}/x.zip, member psam_p56.csv: is damaged: its bytes fail the zip's own "
        f"check. The bytes are in {fetching.target}.rejected. Run the same command again."
    )
    assert fetching.names() == {"x.zip.rejected"}


@pytest.mark.parametrize("raw", [
    b"\x00\x01\x1b[31mgarbage" + b"x" * 500 + b"\r\n\r\n",
    b"HTTP/1.1 503 \x1b[31mRed\x07\r\nContent-Length: 0\r\n\r\n",
    b"HTTP/1.1 403 \x1b]0;title\x07\r\nContent-Length: 0\r\n\r\n",
], ids=["status line", "passing", "final"])  # fmt: skip
def test_what_a_server_writes_is_not_obeyed(raw: bytes, fetching: Fetching) -> None:
    with serving(DATA, raw=raw) as server, pytest.raises(InputError) as caught:
        fetching(server)
    told = [str(caught.value), *fetching.said]
    assert all(text.isprintable() and len(text) < 350 for text in told), told
    if raw.startswith(b"\x00"):
        words = r"does not begin as HTTP does: \x00\x01\x1b[31mgarbagexxx"
        assert all(words in text and "..." in text for text in told)


def test_a_part_that_nobody_asked_for_is_called_that(fetching: Fetching) -> None:
    raw = b"HTTP/1.1 206 Partial Content\r\nContent-Range: bytes 0-3/99\r\n\r\nPK\x03\x04"
    with serving(DATA, raw=raw) as server, pytest.raises(InputError) as caught:
        fetching(server)
    assert str(caught.value) == (
        f"{server.url}/x.zip: answers with a part of the file (206), though the whole was asked "
        f"for. {http_get.BROWSER}"
    )
    assert fetching.waits == []


def test_two_at_once_download_once(fetching: Fetching) -> None:
    done: list[Fetched] = []
    with serving(DATA, hold=threading.Event()) as server:
        assert server.hold

        def say(text: str) -> None:
            fetching.said.append(text)
            if "waiting" in text:
                server.hold.set()  # the second has found the first at work

        def one() -> None:
            done.append(fetch(f"{server.url}/x.zip", fetching.target, EXPECTED, say=say))

        threads = [threading.Thread(target=one) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(20)
    assert sorted(f.already_here for f in done) == [False, True]
    assert len(server.asked) == 1


def test_what_is_there_is_not_asked_for_again(fetching: Fetching) -> None:
    with serving(DATA) as server:
        fetching(server)
        again = fetching(server)  # by x.zip.sha256
        known = fetching(server, EXPECTED)
    assert len(server.asked) == 1
    assert again.already_here
    assert again.checked == "noted in x.zip.sha256"
    assert known.already_here
    assert known.checked == "given by the test"


def test_a_file_brought_by_a_browser_is_taken_by_its_digest(fetching: Fetching) -> None:
    fetching.target.parent.mkdir()
    fetching.target.write_bytes(DATA)
    with serving(DATA) as server:
        with pytest.raises(InputError, match="is there already, and nothing tells"):
            fetching(server)
        assert fetching(server, EXPECTED).already_here
    assert fetching.names() == {"x.zip", "x.zip.sha256"}
    assert server.asked == []


def test_another_file_of_that_name_is_never_replaced(fetching: Fetching) -> None:
    fetching.target.parent.mkdir()
    fetching.target.write_bytes(b"mine")
    with serving(DATA) as server, pytest.raises(InputError, match="Move it away"):
        fetching(server, EXPECTED)
    assert fetching.target.read_bytes() == b"mine"


def test_a_run_stopped_before_its_checks_needs_no_server(fetching: Fetching, monkeypatch) -> None:
    with serving(DATA) as server, monkeypatch.context() as patch:
        patch.setattr("fairscreen.sources.download._accept", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            fetching(server, EXPECTED)
    assert fetching(server, EXPECTED).resumed_at == SIZE  # the server is gone


def test_nobody_listens(fetching: Fetching) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # not listening: connections are refused
        server = Server(DATA, port=taken.getsockname()[1])
        with pytest.raises(InputError, match=r"refused; 5 tries failed\. Nothing is kept"):
            fetching(server)


def test_a_password_goes_to_its_server_only_and_is_not_printed(fetching: Fetching) -> None:
    with serving(DATA) as other:
        elsewhere = {"Location": f"http://localhost:{other.port}/x.zip?token=secret"}
        with serving(DATA, status=[(503, {}), (302, elsewhere)]) as server:
            url = f"http://user:se%63ret@127.0.0.1:{server.port}/x.zip"
            waits, said = fetching.waits, fetching.said
            done = fetch(url, fetching.target, say=said.append, sleep=waits.append)
            server.status = [(404, {})]
            with pytest.raises(InputError) as caught:
                fetch(url, fetching.target.with_name("y.zip"), say=said.append)
    assert {asked[2] for asked in server.asked} == {"Basic dXNlcjpzZWNyZXQ="}
    assert [asked[2] for asked in other.asked] == [None]
    assert done.url == f"{server.url}/x.zip"
    told = [done.url, str(caught.value), *fetching.said]
    told += [f.read_text() for f in fetching.target.parent.glob("*.sha256")]
    assert not [text for text in told if "user" in text or "secret" in text or "63ret" in text]


def test_the_proxy_of_the_environment_is_used(fetching: Fetching, monkeypatch) -> None:
    with serving(DATA) as proxy:
        monkeypatch.setenv("http_proxy", proxy.url)
        fetch("http://publisher.invalid/x.zip", fetching.target, EXPECTED, say=print)
    assert [asked[0] for asked in proxy.asked] == ["http://publisher.invalid/x.zip"]


def test_progress_now_and_then(fetching: Fetching, monkeypatch) -> None:
    ticks = iter(range(0, 10_000, 2))  # two seconds at every look
    monkeypatch.setattr(transfer.time, "monotonic", lambda: float(next(ticks)))
    blocks: Iterator[bytes] = iter([b"." * 1_000_000] * 6)
    list(transfer._watched(blocks, "x.zip", 4_000_000, 20_000_000, fetching.said.append))
    assert fetching.said == [
        "x.zip: 35%, 7.0 of 20.0 MB, 0.5 MB/s",
        "x.zip: 50%, 10.0 of 20.0 MB, 0.5 MB/s",
    ]


@given(st.one_of(st.binary(max_size=60), st.builds(
    lambda d: json.dumps(d).encode(), st.dictionaries(
        st.sampled_from(["length", "etag", "last_modified", "other"]),
        st.one_of(st.none(), st.integers(), st.text(max_size=5), st.lists(st.integers())),
    ),
)))  # fmt: skip
def test_a_note_that_is_not_ours_is_no_note(tmp_path_factory, note: bytes) -> None:
    part = partial.Partial(tmp_path_factory.getbasetemp() / "note.zip")
    part.path.write_bytes(b"PK")
    part.path.with_name("note.zip.part.json").write_bytes(note)
    described = part.described
    assert described is None or json.loads(note) == {
        "length": described.length,
        "etag": described.etag,
        "last_modified": described.last_modified,
    }
    assert part.resumable in (0, 2)


# The command and the catalogue.


def _run(argv: list[str], capsys: pytest.CaptureFixture[str]) -> tuple[int, str, str]:
    code = cli.main(["fetch", *argv])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def test_the_command_names_what_comes_next(tmp_path: Path, capsys) -> None:
    with serving(DATA) as server:
        argv = ["acs", "--year", "2016", "--state", "WY", "--state", "vt", "--state", "wy"]
        code, out, _ = _run(
            [*argv, "--from", server.url, "--out", str(tmp_path), "--json", "-"], capsys
        )
        server.data = NAMES
        _, text, _ = _run(["names", "--from", f"{server.url}/n/", "--out", str(tmp_path)], capsys)
    assert code == 0
    assert [asked[0] for asked in server.asked] == [
        "/2016/1-Year/csv_pwy.zip", "/2016/1-Year/csv_pvt.zip", "/n/names.zip",
    ]  # fmt: skip
    result = json.loads(out)
    files = [str(tmp_path / f"acs_2016_1yr_csv_p{state}.zip") for state in ("wy", "vt")]
    assert [file["file"] for file in result["files"]] == files
    assert [file["sha256"] for file in result["files"]] == [SHA, SHA]
    assert result["next"] == [
        f"fairscreen verify-acs {files[0]} {files[1]} --vintage 2016",
        f"fairscreen ingest acs {files[0]} {files[1]} --vintage 2016",
    ]
    names = tmp_path / "ssa_national_names.zip"
    assert text.splitlines() == [
        f"{names}: {len(NAMES):,} bytes, SHA-256 {hashlib.sha256(NAMES).hexdigest()}; no SHA-256 "
        "is known to compare with, the zip's own checks hold",
        f"next: fairscreen ingest ssa {names}",
    ]


_ACS = ["acs", "--state", "wy", "--year"]
_OF_2018 = _zip(b"serialno,SPORDER\n2018HU0000001,01\n")


@pytest.mark.parametrize(("argv", "data", "words"), [
    ([*_ACS, "2019"], _OF_2018, "psam_p56.csv: holds people of 2018, not of 2019 as asked for"),
    ([*_ACS, "2023", "--period", "5"], _OF_2018, "holds people of 2018, not of 2019 to 2023"),
    ([*_ACS, "2015"], _zip(name="ss16pwy.csv"), "holds people of 2016, not of 2015 as asked for"),
    ([*_ACS, "2019"], NAMES, "holds no person file (psam_p*.csv); its first file is 'yob1880.txt'"),
    ([*_ACS, "2019"], _zip(name="psam_h56.csv"), "holds no person file"),
    ([*_ACS, "2019"], _zip(b"a,b\n"), "psam_p56.csv, line 1: column SERIALNO is missing"),
    (["names"], DATA, "is a zip, but holds no first names (yobYYYY.txt)"),
])  # fmt: skip
def test_a_sound_zip_of_something_else_gets_no_name(argv, data, words, tmp_path, capsys) -> None:
    with serving(data) as server:
        code, _, err = _run([*argv, "--from", server.url, "--out", str(tmp_path)], capsys)
    assert code == 2
    line = err.strip().splitlines()[-1]
    assert words in line
    assert line.startswith(f"error: {server.url}/")
    assert line.endswith("Check the address; with --from, that of the folder.")
    assert [f.suffix for f in tmp_path.iterdir() if f.suffix != ".lock"] == [".rejected"]


@pytest.mark.parametrize(("argv", "data"), [
    ([*_ACS, "2018"], _OF_2018),
    ([*_ACS, "2022", "--period", "5"], _OF_2018),
    ([*_ACS, "2016"], _zip(name="ss16pwy.csv")),
    (["names"], NAMES),
    (["surnames"], _zip(name="Names_2010Census.csv")),
])  # fmt: skip
def test_what_was_asked_for_gets_its_name(argv, data, tmp_path, capsys) -> None:
    argv = [*argv, "--out", str(tmp_path), "--sha256", hashlib.sha256(data).hexdigest()]
    with serving(data) as server:
        code, _, err = _run([*argv, "--from", server.url], capsys)
    assert code == 0, err
    assert len(list(tmp_path.glob("*.zip"))) == 1


def test_ctrl_c_keeps_the_part(tmp_path: Path, monkeypatch, capsys) -> None:
    monkeypatch.setattr(partial.os, "write", _write_until(50_000, KeyboardInterrupt()))
    with serving(NAMES) as server:
        argv = ["names", "--from", server.url, "--out", str(tmp_path)]
        assert _run(argv, capsys)[0] == 4
        assert (tmp_path / "ssa_national_names.zip.part").stat().st_size == 50_000
        monkeypatch.undo()
        assert _run(argv, capsys)[0] == 0
    assert _ranges(server) == [None, "bytes=50000-"]


@pytest.mark.parametrize(("argv", "words"), [
    (["acs", "--year", "2020"], "--year 2020: the Bureau released no standard 1-year file"),
    (["acs", "--year", "2004"], "--year 2004: there is no 1-year person file"),
    (["acs", "--year", "2008", "--period", "5"], "The 5-year files begin with 2009."),
    (["acs", "--year", "2018", "--state", "xx"], "--state xx: is no state"),
    (["acs", "--year", "2018", "--sha256", SHA, "--state", "wy", "--state", "vt"], "one digest"),
    (["names", "--sha256", "abc"], "--sha256: is not 64 hex digits"),
    (["names", "--from", "ftp://example.org"], "ftp://example.org: is no address that begins"),
    (["names", "--from", "https://u:pw@example.org:99999"], "address: cannot be read"),
    (["names", "--from", "https://u:pw@example..org"], "address: cannot be read"),
    (["names", "--from", "https://u:pw@example.org/?a"], "https://example.org/: holds ?, #"),
    (["names", "--out", "/dev/null/x"], "--out /dev/null/x: not a directory"),
    (["psid"], "choose SAS, Stata or SPSS statements"),
    (["psid"], "forbids passing them on. Register at https://psidonline.isr.umich.edu"),
    (["nsfg"], "invalid choice: 'nsfg'"),
])  # fmt: skip
def test_what_cannot_be_fetched_is_one_line(argv, words, capsys) -> None:
    code, out, err = _run(argv, capsys)
    assert (code, out) == (2, "")
    (line,) = err.strip().splitlines()
    assert words in line
    assert "pw" not in line


@pytest.mark.parametrize(("year", "period", "states", "address"), [
    (2006, 1, ["wy"], "pums/2006/csv_pwy.zip"),
    (2007, 1, [], "pums/2007/1-Year/csv_pus.zip"),
    (2020, 5, ["PR"], "pums/2020/5-Year/csv_ppr.zip"),
    (2024, 1, ["dc"], "pums/2024/1-Year/csv_pdc.zip"),
])  # fmt: skip
def test_addresses_of_person_files(year, period, states, address) -> None:
    (item,) = catalogue.acs(year, period, states)
    assert item.url == f"https://www2.census.gov/programs-surveys/acs/data/{address}"


def test_recorded_digests_are_of_files_in_the_catalogue() -> None:
    names = {i.file for i in catalogue.acs(2018, 1, catalogue.AREAS)}
    names.add(catalogue.single("surnames").file)
    assert set(catalogue.load().recorded) <= names
    assert catalogue.single("names").expected is None  # the SSA replaces it every year


def test_the_shipped_person_files_are_as_recorded() -> None:
    from fairscreen import resources

    for item in catalogue.acs(2018, 1, ["wy", "vt"]):
        shipped = resources.path("conf", "data", item.file.replace("_1yr", ""))
        assert item.expected
        assert hashlib.sha256(shipped.read_bytes()).hexdigest() == item.expected.sha256
        assert shipped.stat().st_size == item.expected.size
