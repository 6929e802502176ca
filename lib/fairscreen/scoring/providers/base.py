"""What every provider's adapter shares: prompt parts in, an answer or a classified error out.

An adapter is two pure functions: `request` builds the HTTP request of one call, `read` says what
came back. Neither sends anything; the client does. Errors fall into three classes: `retry` (it may
heal), `rate_limited` (it heals by waiting) and `final` (asking again brings the same). `denied`
marks the final ones that every further call would meet too: key, permission, credit, address.
A 403 is `doubtful` where nothing in it is about access: a filter in front of the model may have
disliked this call's text, and the next call's not.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, Protocol

from fairscreen.scoring.models import ModelSpec
from fairscreen.scoring.providers.waiting import retry_after
from fairscreen.scoring.secrets import Secret

# 408, 409, 425: the server asks for another try. 424: Bedrock, the model failed. 52x: Cloudflare.
RETRYABLE = {408, 409, 424, 425, 500, 502, 503, 504, 520, 521, 522, 523, 524, 529}
OVERLOADED = {429, 503, 529}
DENIED = {401, 402, 404}
# With these, and with any 2xx, the model may have worked: Azure bills 400 (its filter) and 408.
MAYBE_BILLED = {400, 408, 424, 499, 504, 524}
_MOST_TOKENS = 10**9  # no call has more; what is above is no count, and would not fit into a column
_MESSAGE_CHARS = 4000
_CODE_CHARS = 500
_ACCESS = re.compile(
    r"api.?key|(?:access|security|invalid) token|credential|permission|unauthori[sz]ed"
    r"|not authori[sz]ed|authenticat|access.?denied|unrecognizedclient|signature"
)
# What every provider takes.
IMAGE_TYPES = ("image/png", "image/jpeg", "image/gif", "image/webp")


@dataclass(frozen=True)
class Text:
    text: str


@dataclass(frozen=True)
class Image:
    """`media_type` is one of IMAGE_TYPES; `data` is base64."""

    media_type: str
    data: str


@dataclass(frozen=True)
class Prompt:
    """What one call says: system text (or none) and the parts of the user's turn."""

    system: str | None
    user: tuple[Text | Image, ...]


@dataclass(frozen=True)
class HttpRequest:
    """A POST. Headers hold the key: the type never prints them."""

    url: str
    headers: Mapping[str, str] = field(repr=False)
    body: bytes = field(repr=False)


@dataclass(frozen=True)
class Answer:
    """What one attempt brought.

    kind         answered, refused, retry, rate_limited, final
    error        what went wrong: status and the provider's own code, without key or resume
    error_kind   the same in a word, to be counted: the status, or quota, error_200,
                 malformed_200, too_large, timeout, reset, connection, address
    retry_after  seconds that the provider asks to wait, None = it does not say
    denied       every further call would fail alike
    doubtful     so it would, or this call's text is to blame: others will tell
    expired      so it would, and the key was good until now: this call is not to blame
    overloaded   the server says it is too much: fewer at a time
    unbilled     the provider did no work that it could bill: see `scoring.money`
    """

    kind: Literal["answered", "refused", "retry", "rate_limited", "final"]
    text: str | None = None
    finish_reason: str | None = None
    tokens_in: int | None = None
    tokens_out: int | None = None
    model_version: str | None = None
    provider_id: str | None = None
    p_yes: float | None = None
    expected_score: float | None = None
    error: str | None = None
    error_kind: str | None = None
    retry_after: float | None = None
    denied: bool = False
    doubtful: bool = False
    expired: bool = False
    overloaded: bool = False
    unbilled: bool = False


class Provider(Protocol):
    """The two functions of an adapter; a module with them will do. `headers` finds the names of a
    response in lower case."""

    def request(self, spec: ModelSpec, prompt: Prompt, secret: Secret | None) -> HttpRequest: ...

    def read(self, status: int, headers: Mapping[str, str], body: bytes) -> Answer: ...


def post(url: str, headers: Mapping[str, str], body: Mapping[str, Any]) -> HttpRequest:
    data = json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode()
    return HttpRequest(url, {"content-type": "application/json", **headers}, data)


def url(base: str, *parts: str) -> str:
    return "/".join([base.rstrip("/"), *parts])


def key(secret: Secret | None) -> str:
    return (secret.reveal() if secret else None) or ""


def merged(body: dict[str, Any], extra: Mapping[str, Any]) -> dict[str, Any]:
    """`body` with `extra` laid over it, map by map; null takes a field away."""
    out = dict(body)
    for name, value in extra.items():
        old = out.get(name)
        if value is None:
            out.pop(name, None)
        elif isinstance(value, Mapping) and isinstance(old, dict):
            out[name] = merged(old, value)
        else:
            out[name] = value
    return out


def decoded(status: int, headers: Mapping[str, str], body: bytes) -> dict[str, Any] | Answer:
    """The body of a 200 as a JSON object, or the Answer that the response is instead. Gateways
    have been seen to answer with other numbers of the 2xx: the body decides.

    A 200 that is no JSON (a proxy's page, a body cut short) is tried again; so is one that holds
    an error, unless its code says that it cannot heal (OpenRouter answers so).
    """
    if not 200 <= status < 300:
        return failure(status, headers, body)
    data = _json(body)
    if not isinstance(data, dict):
        return malformed("the body is no JSON object", status)
    error = data.get("error")
    if error:
        code = error.get("code") if isinstance(error, dict) else None
        code = code if isinstance(code, int) and 400 <= code < 600 else 500
        return failure(code, headers, body, shown=status)
    return data


def failure(
    status: int, headers: Mapping[str, str], body: bytes, *, shown: int | None = None
) -> Answer:
    """A response that is no answer, classified. `shown`: the status on the wire, where it is
    another one (an error inside a 200)."""
    found = _classified(status, headers, body, shown or status)
    return replace(found, unbilled=not maybe_billed(shown or status))


def maybe_billed(status: int) -> bool:
    return 200 <= status < 300 or status in MAYBE_BILLED


def _classified(status: int, headers: Mapping[str, str], body: bytes, shown: int) -> Answer:
    data = _json(body)
    error = _named(_error_object(data), headers)
    words = " ".join(str(error.get(n, ""))[:_CODE_CHARS] for n in ("code", "type", "status"))
    words = words.lower()
    shown_text = _describe(shown, error, status)
    kind = f"error_{shown}" if 200 <= shown < 300 else str(status)
    refusal = _refusal(status, error, words)
    if refusal:
        return Answer("refused", finish_reason=refusal, error=shown_text)
    overloaded = status in OVERLOADED or "overloaded" in words
    wait = retry_after(headers, error)
    broke = _out_of_money(error, words)
    if status == 429 and not broke:
        return Answer(
            "rate_limited", error=shown_text, error_kind=kind, retry_after=wait, overloaded=True
        )
    heals = status in RETRYABLE or (status >= 500 and status != 501) or "overloaded" in words
    if heals and status != 429:
        return Answer(
            "retry", error=shown_text, error_kind=kind, retry_after=wait, overloaded=overloaded
        )
    expired, wrong_key = _expired(status, error, words), _key_invalid(error)
    denied = status in DENIED or 300 <= status < 400 or broke or expired or wrong_key
    denied = denied or (status == 403 and _about_access(error, words))
    return Answer(
        "final",
        error=shown_text,
        error_kind="quota" if broke else kind,
        denied=denied,
        doubtful=status == 403 and not denied,
        expired=expired,
    )


def malformed(what: str, status: int = 200) -> Answer:
    """A 2xx that holds no answer: it is tried again."""
    return Answer("retry", error=f"{status}: {what}", error_kind=f"malformed_{status}")


def count(value: Any) -> int | None:
    """A number of tokens, or None for anything that is none."""
    return value if type(value) is int and 0 <= value <= _MOST_TOKENS else None


def total(main: Any, *others: Any) -> int | None:
    """A number of tokens that is told in parts; None unless the main one and all others that are
    there can be read: a part alone would be less than what is billed."""
    counts = [count(main), *(count(n) for n in others if n is not None)]
    known = [n for n in counts if n is not None]
    return sum(known) if len(known) == len(counts) else None


def obj(value: Any, *path: str | int) -> Any:
    """`value[path...]`, or None where a step does not exist: responses are not ours to trust."""
    for step in path:
        if isinstance(step, int):
            if not isinstance(value, list) or not -len(value) <= step < len(value):
                return None
            value = value[step]
        else:
            if not isinstance(value, dict):
                return None
            value = value.get(step)
    return value


def text_or_none(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def content_text(content: Any) -> str | None:
    """The text of a message's content: a text, a number, or a list of blocks, each on a line of its
    own, for two numbers must not become one. "" for null; None for anything else."""
    if isinstance(content, list):
        texts = (content_text(obj(b, "text") if isinstance(b, dict) else b) for b in content)
        return "\n".join(t for t in texts if t)
    if isinstance(content, str):
        return content
    if content is None:
        return ""
    is_number = isinstance(content, (int, float)) and not isinstance(content, bool)
    return json.dumps(content) if is_number else None


def _json(body: bytes) -> Any:
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return None


def _error_object(data: Any) -> dict[str, Any]:
    """The provider's error as one flat object. Gemini may wrap it in a list, Bedrock and FastAPI
    servers put the message at the top."""
    if isinstance(data, list) and data:
        data = data[0]
    if not isinstance(data, dict):
        return {}
    error = data.get("error")
    if isinstance(error, dict):
        return error
    if isinstance(error, str):
        return {"message": error}
    names = ("message", "code", "type", "__type", "object", "error_code")
    return {k: data[k] for k in names if k in data}


def _named(error: dict[str, Any], headers: Mapping[str, str]) -> dict[str, Any]:
    """AWS names the error in a header: `ExpiredTokenException:http://internal...`."""
    name = headers.get("x-amzn-errortype", "").split(":")[0].split("#")[-1]
    return {"__type": name, **error} if name else error


def _expired(status: int, error: Mapping[str, Any], words: str) -> bool:
    """A token or key that was good and has run out. A signature that is too old is a wrong clock,
    which another token does not set."""
    codes = f"{words} {str(error.get('__type', ''))[:_CODE_CHARS]}".lower()
    message = str(error.get("message", ""))[:_MESSAGE_CHARS].lower()
    if "signature" in codes or "signature" in message:
        return False
    if "expired" in codes:
        return status in {401, 403} or "expiredtoken" in codes
    # Of a 403 the words alone do not count: a filter may quote a resume in which a licence expired.
    return "expired" in message and (status == 401 or _key_invalid(error))


def _about_access(error: Mapping[str, Any], words: str) -> bool:
    """Whether a 403 says that the key may not do this, and not that a text was disliked."""
    names = (error.get("__type", ""), error.get("error_code", ""), error.get("message", ""))
    said = " ".join([words, *(str(n)[:_CODE_CHARS] for n in names)]).lower()
    return bool(_ACCESS.search(said))


def _key_invalid(error: Mapping[str, Any]) -> bool:
    """Gemini says 400 to a wrong key, and why in the details."""
    details = error.get("details")
    reasons = [obj(d, "reason") for d in details] if isinstance(details, list) else []
    return "API_KEY_INVALID" in reasons


def _describe(shown: int, error: Mapping[str, Any], status: int) -> str:
    """`429 rate_limit_exceeded: message`, long: the client masks keys in it before it cuts it
    short. The message is left out where it is about the key."""
    codes = []
    for name in ("code", "type", "status", "__type"):
        value = error.get(name)
        if isinstance(value, (str, int)) and value not in codes and value != shown:
            codes.append(value if isinstance(value, int) else value[:_CODE_CHARS])
    text = " ".join([str(shown), *(str(c) for c in codes)])
    message = error.get("message")
    if isinstance(message, str) and message and status not in {401, 403}:
        text += ": " + re.sub(r"\s+", " ", message[:_MESSAGE_CHARS])
    return text


def _refusal(status: int, error: Mapping[str, Any], words: str) -> str | None:
    """The name of a content filter that stopped the request, or None.

    Azure: 400 with code content_filter. OpenAI: content_policy_violation. OpenRouter: 403 with
    the flagged reasons.
    """
    if status == 400 and ("content_filter" in words or "content_policy" in words):
        return "content_filter"
    if status == 403 and obj(error, "metadata", "reasons"):
        return "moderation"
    return None


def _out_of_money(error: Mapping[str, Any], words: str) -> bool:
    """Limits that waiting does not lift within a run: OpenAI's quota and balance, Anthropic's
    spend limit."""
    marks = ("insufficient_quota", "credit_balance", "billing", "spend_limit")
    return any(m in words or m in str(obj(error, "details", "error_code") or "") for m in marks)
