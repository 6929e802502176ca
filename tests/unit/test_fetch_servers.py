"""Downloads beside other things: odd servers, two at once, files that are there, proxies."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairscreen.errors import InputError
from fairscreen.sources import http_get, partial, transfer
from fairscreen.sources.download import Fetched, fetch
from fetch_files import DATA, EXPECTED, SIZE, Fetching
from http_server import Server, serving

pytestmark = pytest.mark.usefixtures("no_proxy")


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
