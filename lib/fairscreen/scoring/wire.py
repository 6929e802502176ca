"""One attempt on the wire: an HTTP request sent, whatever comes of it made an Answer.

No exception of the network gets past here, and no message with a key or a piece of the resume in
it. aiohttp is imported when the first request is sent: what imports fairscreen does not load an
HTTP client.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol

from fairscreen.scoring.models import ModelSpec
from fairscreen.scoring.plain import label, shown, whole
from fairscreen.scoring.providers import PROVIDERS
from fairscreen.scoring.providers.base import (
    Answer,
    HttpRequest,
    Image,
    Prompt,
    malformed,
    maybe_billed,
)
from fairscreen.scoring.secrets import Secret, masked

if TYPE_CHECKING:
    import aiohttp

_ERROR_CHARS = 200
_WITHHELD = "(its message repeats the resume)"
_LINE, _RUN = 5, 20  # characters of a resume that give it away: a whole line, or any run
_LONG_TEXT = 200_000  # above, an error message is withheld unread: a page has 3,000
_BASE64, _BASE64_RUN = re.compile(r"[A-Za-z0-9+/]{200}"), re.compile(r"[A-Za-z0-9+/=]{20,}")
# Decompressed. The largest answers are two embeddings, some 8,000 numbers of 25 characters.
_BODY_BYTES = 16 * 2**20


@dataclass(frozen=True)
class Transport:
    """How one shard asks: its share of concurrency and limits, and how long it tries.

    timeout      seconds of one attempt, body included
    breaker      failed calls in a row after which the shard stops
    trust_env    take the proxy from HTTP_PROXY, HTTPS_PROXY and NO_PROXY
    """

    concurrency: int
    rpm: float | None
    tpm: float | None
    timeout: float
    max_attempts: int
    max_seconds: float
    breaker: int
    trust_env: bool = False


class Template(Protocol):
    """What a call says, but for job description and resume."""

    def filled(self, job_description: str, resume: str | Image) -> Prompt: ...

    def chars(self, job_description: str, resume: str | Image) -> int:
        """Characters that are sent, about; an image has none."""
        ...


@dataclass(frozen=True)
class Setup:
    """All that a worker needs to ask one model; goes to it inside the closure.

    `name`: as the audit calls the model; `key_source`: where its key came from, for messages.
    """

    name: str
    spec: ModelSpec
    prompt: Template
    secret: Secret | None
    key_source: str
    transport: Transport


class Wire:
    """The connections of one shard."""

    def __init__(self, setup: Setup) -> None:
        self._setup = setup
        self._read = PROVIDERS[setup.spec.provider].read
        self._session: aiohttp.ClientSession | None = None

    async def send(self, request: HttpRequest, resume: str) -> Answer:
        """`resume`: what was sent of a person (of an image its base64), which no error message is
        to repeat."""
        answer = kept(await self._sent(request), self._setup.secret)
        return answer if answer.error is None else self._shown(answer, answer.error, resume)

    async def _sent(self, request: HttpRequest) -> Answer:
        import aiohttp

        t = self._setup.transport
        if self._session is None:
            self._session = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(limit=0),
                cookie_jar=aiohttp.DummyCookieJar(),
                timeout=aiohttp.ClientTimeout(total=t.timeout),
                trust_env=t.trust_env,
            )
        try:
            # A redirect would carry the key to another address.
            async with self._session.post(
                request.url, data=request.body, headers=request.headers, allow_redirects=False
            ) as response:
                body = await _body(response)
                return self._answer(response.status, response.headers, body)
        except TimeoutError:
            text = f"no answer within {t.timeout:g} s"
            return Answer("retry", error=text, error_kind="timeout", overloaded=True)
        except (aiohttp.InvalidURL, UnicodeError):  # UnicodeError: a host that is no name
            text = f"{request.url} is no address"
            return Answer("final", error=text, error_kind="address", denied=True, unbilled=True)
        except (aiohttp.ClientError, OSError) as error:
            text, kind = f"{type(error).__name__}: {error}", "reset"
            if isinstance(error, aiohttp.ClientConnectorError):
                # What cannot be reached never began; what began and broke off is a reset.
                kind = "connection"
                if not isinstance(error, aiohttp.ClientSSLError):
                    why = type(error.os_error).__name__
                    text = f"no server answers at {error.host}:{error.port} ({why})"
            return Answer("retry", error=text, error_kind=kind, unbilled=kind == "connection")

    def _answer(self, status: int, headers: Mapping[str, str], body: bytes | None) -> Answer:
        """What a whole response says (`body` None: too long). An adapter that stumbles over it has
        met a form that nobody foresaw: no answer, and the other calls go on."""
        if body is None:
            text = f"{status}: the response is larger than {_BODY_BYTES // 2**20} MB"
            billed = maybe_billed(status)
            return Answer("final", error=text, error_kind="too_large", unbilled=not billed)
        try:
            return self._read(status, headers, body)
        except Exception as error:
            found = malformed(f"the response cannot be read ({type(error).__name__})", status)
            return replace(found, unbilled=not maybe_billed(status))

    async def close(self) -> None:
        if self._session is not None:
            await self._session.close()

    def _shown(self, answer: Answer, error: str, resume: str) -> Answer:
        """The answer with an error that may be logged and kept, even where a server repeats what it
        was sent. Masked before it is cut short: half a key is no longer known as one."""
        mask = self._setup.secret.mask if self._setup.secret else masked
        text = mask(" ".join(shown(error).split()))[: _ERROR_CHARS + _RUN]
        if repeats(text, resume):
            code, _, message = text.partition(": ")
            text = f"{code}: {_WITHHELD}" if message and not repeats(code, resume) else _WITHHELD
        return replace(answer, error=text[:_ERROR_CHARS])


async def _body(response: aiohttp.ClientResponse) -> bytes | None:
    """The body, decompressed; None, and nothing more is read, where it is too long."""
    parts, size = [], 0
    async for part in response.content.iter_any():
        size += len(part)
        if size > _BODY_BYTES:
            response.close()
            return None
        parts.append(part)
    return b"".join(parts)


def kept(answer: Answer, secret: Secret | None) -> Answer:
    """The answer as it may be kept: without the key, in characters that files and tables hold, and
    with no count of tokens that cannot be, for it would be taken as a price."""
    new: dict[str, Any] = {}
    for name in ("text", "finish_reason", "model_version", "provider_id"):
        if old := getattr(answer, name):
            # What is hidden goes first: a key may stand around it.
            text = whole(old) if name == "text" else shown(old)
            text = secret.out_of(text) if secret else text
            text = text if name == "text" else label(text)
            if text != old:
                new[name] = text
    if answer.kind == "answered" and answer.tokens_in == 0:  # but something was sent
        new |= {"tokens_in": None, "tokens_out": answer.tokens_out or None}
    return replace(answer, **new) if new else answer


def repeats(message: str, resume: str) -> bool:
    """Whether a message holds a line of the resume, or as many characters on end as no two texts
    share by chance. Servers that check what they are sent like to quote it.

    What is done is bounded by what is shown of a message; of an image (its base64) a few runs are
    looked for, and for a text of more than 200,000 characters the answer is yes.
    """
    said = " ".join(message.split())[: _ERROR_CHARS + _RUN]
    if _BASE64.match(resume):
        runs = _BASE64_RUN.findall(said)
        return any(r[at : at + _RUN] in resume for r in runs for at in range(0, len(r) - 19, _RUN))
    if len(resume) > _LONG_TEXT:
        return True
    if any(len(t) >= _LINE and t in said for line in resume.split("\n") if (t := line.strip())):
        return True
    whole_text = " ".join(resume.split())
    return any(said[at : at + _RUN] in whole_text for at in range(max(0, len(said) - _RUN) + 1))
