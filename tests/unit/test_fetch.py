"""Downloads from a server on loopback: resumed, checked, and under their name only when sound."""

from __future__ import annotations

import errno
import shutil

import pytest

from fairscreen.errors import InputError
from fairscreen.sources import http_get, partial, transfer
from fairscreen.sources.download import fetch
from fairscreen.sources.transfer import TRIES, Expected
from fetch_files import DATA, EXPECTED, SHA, SIZE, Fetching, ranges, write_until, zipped
from http_server import serving

pytestmark = pytest.mark.usefixtures("no_proxy")


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
    assert ranges(server) == [None, "bytes=100000-", "bytes=150000-"]
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
    assert ranges(server)[TRIES:] == ["bytes=5000-"]
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
    assert ranges(server) == [None, "bytes=100000-"]


@pytest.mark.parametrize("blind", [False, True], ids=["if-range", "if-range ignored"])
def test_a_file_that_changed_meanwhile_is_not_mixed(blind, fetching: Fetching) -> None:
    with serving(zipped(b"SERIALNO,XPORDER\n"), drops=[100_000] + [0] * 4) as server:
        with pytest.raises(InputError):
            fetching(server)
        assert fetching.part == 100_000
        server.data, server.etag, server.blind = DATA, '"two"', blind
        done = fetching(server)
    assert done.sha256 == SHA
    assert ranges(server)[-1] == (None if blind else "bytes=100000-")


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
    assert ranges(server) == [None, None]


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


def test_a_disk_that_fills_up_keeps_the_part(fetching: Fetching) -> None:
    with serving(DATA) as server:
        with pytest.MonkeyPatch.context() as patch:
            full = OSError(errno.ENOSPC, "No space left on device")
            patch.setattr(partial.os, "write", write_until(70_000, full))
            with pytest.raises(InputError) as caught:
                fetching(server, EXPECTED)
        problem = f"{fetching.target.parent}: has no room: the file needs {SIZE - 70_000:,} more"
        assert str(caught.value).startswith(problem)
        assert "70,000 bytes are kept in x.zip.part." in str(caught.value)
        assert fetching.part == 70_000
        fetching(server, EXPECTED)
    assert ranges(server) == [None, "bytes=70000-"]
    assert fetching.waits == []  # a full disk is no dropped connection


def test_a_failing_write_names_the_folder(fetching: Fetching, monkeypatch) -> None:
    broken = OSError(errno.EIO, "Input/output error")
    monkeypatch.setattr(partial.os, "write", write_until(10, broken))
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


def test_a_file_that_is_nozipped(fetching: Fetching) -> None:
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
