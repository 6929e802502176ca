"""One GET of a file, whole or from a byte on, over http or https only.

Proxies are those of the environment (`https_proxy`, `no_proxy`). A name and password in an address
are sent to that server alone, never to one it redirects to, and appear in no message.
"""

from __future__ import annotations

import base64
import http.client
import ssl
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from email.message import Message
from http import HTTPStatus
from typing import IO
from urllib.error import HTTPError
from urllib.parse import SplitResult, unquote, urlsplit

from fairscreen import __version__
from fairscreen.errors import InputError

TIMEOUT = 60.0  # seconds without a byte
LONGEST_WAIT = 60.0  # seconds that a server's Retry-After is followed
LONGEST_TEXT = 100  # characters of a server's text that a message quotes
BROWSER = (
    "Open the address in a browser, save the file and go on with that one, "
    "or fetch from another server with --from."
)
_PASSING = {408, 425, 429, 500, 502, 503, 504}


class DroppedError(Exception):
    """A failure that a later try may not see. `wait`: seconds that the server asked for."""

    def __init__(self, reason: str, *, wait: float = 0.0, restart: bool = False) -> None:
        super().__init__(reason)
        self.wait, self.restart = wait, restart


def public(url: str) -> str:
    """The address as it may be printed: without name, password and query."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"


def check(url: str) -> None:
    """InputError unless this is the address of a file or folder over http or https."""
    remedy = "Give an address such as https://mirror.example.org/census."
    try:
        parts = urlsplit(url)
        host = (parts.hostname or "").encode("idna")
        usable = parts.scheme in ("http", "https") and host and parts.port != 0
    except ValueError:  # a port that is none, brackets that do not close, an empty label
        raise InputError("address", "cannot be read", remedy) from None
    if not usable:
        raise InputError(public(url), "is no address that begins with http:// or https://", remedy)
    if parts.query or parts.fragment or not url.isascii() or not url.isprintable() or " " in url:
        raise InputError(public(url), "holds ?, #, a blank or a letter beyond ASCII", remedy)


@contextmanager
def get(
    url: str, *, start: int = 0, validator: str | None = None
) -> Iterator[http.client.HTTPResponse]:
    """The answer to a GET: status 200, or 206 where `start` was asked for and can be had.

    Raises DroppedError for what a later try may not see, here and while the answer is read; else
    InputError that names the address.
    """
    parts = urlsplit(url)
    request = urllib.request.Request(_bare(parts))
    request.add_header("User-Agent", f"fairscreen/{__version__}")
    request.add_header("Accept-Encoding", "identity")  # bytes as they are, or Range means others
    if start:
        request.add_header("Range", f"bytes={start}-")
        request.add_header("If-Range", validator or "")
    if parts.username is not None:
        pair = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
        token = base64.b64encode(pair.encode()).decode()
        request.add_unredirected_header("Authorization", f"Basic {token}")
    try:
        with urllib.request.build_opener(_Redirects).open(request, timeout=TIMEOUT) as response:
            yield response
    except HTTPError as error:
        with error:
            raise _refused(public(url), error) from None
    except (OSError, http.client.HTTPException) as error:
        raise _failed(public(url), error) from None


def _bare(parts: SplitResult) -> str:
    return parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()


class _Redirects(urllib.request.HTTPRedirectHandler):
    def redirect_request(
        self, req: urllib.request.Request, fp: IO[bytes], code: int, msg: str,
        headers: http.client.HTTPMessage, newurl: str,
    ) -> urllib.request.Request | None:  # fmt: skip
        if urlsplit(newurl).scheme not in ("http", "https"):  # urllib itself would follow ftp
            raise InputError(
                public(req.full_url), "redirects to an address that is not http or https", BROWSER
            )
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def _refused(address: str, error: HTTPError) -> Exception:
    code = error.code
    phrase = HTTPStatus(code).phrase if code in HTTPStatus._value2member_map_ else ""
    answer = f"{code} {phrase}".strip()
    if code == 416:
        return DroppedError("the server's file is not longer than what is here", restart=True)
    if code in _PASSING:
        return DroppedError(f"the server answers {answer}", wait=_retry_after(error.headers))
    if code in (404, 410):
        remedy = "Check year, period and state; a release of this year may not be out yet."
        return InputError(address, f"there is no such file ({answer})", remedy)
    if 300 <= code < 400:
        problem = "redirects in a circle, or to an address that is not http or https"
        return InputError(address, problem, BROWSER)
    return InputError(address, f"the server refuses ({answer})", BROWSER)


def _retry_after(headers: Message) -> float:
    text = headers.get("Retry-After", "")
    return min(float(text), LONGEST_WAIT) if text.isdecimal() else 0.0


def _failed(address: str, error: Exception) -> Exception:
    reason = getattr(error, "reason", error)
    if isinstance(reason, ssl.SSLCertVerificationError):
        return InputError(
            address,
            f"its certificate is not trusted ({reason.verify_message})",
            "If your network's proxy signs anew, name its certificate in SSL_CERT_FILE.",
        )
    if isinstance(reason, TimeoutError):
        return DroppedError(f"nothing came for {TIMEOUT:.0f} s")
    if isinstance(reason, http.client.IncompleteRead):
        return DroppedError("the connection ended early")
    text = getattr(reason, "strerror", None) or str(reason) or type(reason).__name__
    if isinstance(reason, http.client.BadStatusLine):
        text = f"the server's answer does not begin as HTTP does: {text}"
    return DroppedError(printable(text.rstrip(".")))


def printable(text: str) -> str:
    """Text of a server as it may be printed: nothing that a terminal obeys, and not much of it."""
    safe = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
    return safe if len(safe) <= LONGEST_TEXT else f"{safe[:LONGEST_TEXT]}..."
