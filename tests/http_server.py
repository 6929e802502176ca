"""A server on loopback that can drop, refuse, redirect and lie, for tests of downloads."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass
class Server:
    """What to serve and how; what was asked. Any path gets `data`.

    etag, modified  as in the header; None: not sent.  ranges  honour Range, with If-Range.
    blind           honour Range and ignore If-Range.
    drops           bytes of body after which an answer ends, one for each request; then whole ones.
    status          (code, headers) instead of the file, one for each request; then the file.
    length          Content-Length to claim; None: the true one; 0: none is sent.
    raw             bytes in place of every answer, status line included.
    asked           (path, Range or None, Authorization or None) of each request.
    """

    data: bytes
    etag: str | None = '"one"'
    modified: str | None = None
    ranges: bool = True
    blind: bool = False
    drops: list[int] = field(default_factory=list)
    status: list[tuple[int, dict[str, str]]] = field(default_factory=list)
    length: int | None = None
    content_type: str = "application/zip"
    asked: list[tuple[str, str | None, str | None]] = field(default_factory=list)
    raw: bytes = b""
    hold: threading.Event | None = None  # half of the body waits for it
    port: int = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"


@contextmanager
def serving(data: bytes, **how: object) -> Iterator[Server]:
    server = Server(data, **how)  # type: ignore[arg-type]

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            _answer(server, self)

        def log_message(self, *_: object) -> None:
            pass

    listening = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.port = listening.server_port
    thread = threading.Thread(target=listening.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield server
    finally:
        listening.shutdown()
        listening.server_close()
        thread.join()


def _answer(server: Server, request: BaseHTTPRequestHandler) -> None:
    asked = request.headers
    server.asked.append((request.path, asked["Range"], asked["Authorization"]))
    if server.raw:
        request.wfile.write(server.raw)
        request.close_connection = True
        return
    if server.status:
        code, headers = server.status.pop(0)
        request.send_response(code)
        for name, value in headers.items():
            request.send_header(name, value)
        request.end_headers()
        request.wfile.write(b"<html>no</html>")
        return
    size, start = len(server.data), 0
    if asked["Range"] and server.ranges:
        same = asked["If-Range"] in (server.etag, server.modified)
        start = (
            int(asked["Range"].removeprefix("bytes=").rstrip("-")) if same or server.blind else 0
        )
    if start >= size > 0:
        request.send_error(416)
        return
    request.send_response(206 if start else 200)
    if start:
        request.send_header("Content-Range", f"bytes {start}-{size - 1}/{size}")
    if server.length != 0:
        request.send_header("Content-Length", str(server.length or size - start))
    request.send_header("Content-Type", server.content_type)
    for name, value in (("ETag", server.etag), ("Last-Modified", server.modified)):
        if value:
            request.send_header(name, value)
    request.end_headers()
    body = server.data[start:]
    if server.drops:
        body = body[: server.drops.pop(0)]
    half = len(body) // 2
    request.wfile.write(body[:half])
    if server.hold:
        server.hold.wait(10)
    request.wfile.write(body[half:])
