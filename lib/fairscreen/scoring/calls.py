"""What goes to a screener and what comes back: the types that every part of scoring shares.

A `Kind` of screener says what its answers depend on (`identity`, part of every call key), which
parts it is sent, and how its replies are parsed. A screener that works by itself is asked group by
group (`Screener`); one that waits for others keeps many calls under way (`Streaming`).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Protocol, runtime_checkable

from fairscreen.errors import ConfigError
from fairscreen.scoring.providers.base import Image
from fairscreen.scoring.status import Status

if TYPE_CHECKING:
    from fairscreen.scoring.money import Purse, Terms

Params = Mapping[str, Any]
Transport = Literal["answered", "refused", "failed"]
State = Literal["go", "finish", "stop"]


@dataclass(frozen=True)
class Call:
    """One call as planned, with what is sent. `payload` is what else is sent (JSON)."""

    call_key: str
    resume: str | Image | None = None
    prompt_key: str = ""
    prompt: str | None = None
    payload: str | None = None


@dataclass(frozen=True)
class Reply:
    """What a call brought: the columns of `replies` that the screener knows, and, for tallies
    alone, `error_kind` and `retried`.

    reply           as it came, but U+FFFD for each half of a character and *** for the key
    finish_reason   as the provider says it; `scoring.parse` knows which mean cut off or filtered
    p_yes           P(yes) / (P(yes) + P(no)) of the answer's first token, 0 to 1
    expected_score  mean score under the probabilities of the answer's tokens, in the prompt's units
    model_version   as reported with this reply; None = the kind's `version`
    provider_id     the provider's id of the request
    cost_max_usd    US dollars that the call cost at most, attempts without an answer included
    asked_at        when the reply was there, ISO 8601 in UTC; None = when it is written
    error_kind      of a call that failed: a word (`Answer.error_kind`); None = other
    retried         kinds of error that ended the attempts before the last; None = there was one
    """

    transport: Transport
    reply: str | None = None
    finish_reason: str | None = None
    error: str | None = None
    attempts: int = 1
    latency_ms: float | None = None
    tokens_in: int | None = None
    tokens_out: int | None = None
    cost_usd: float | None = None
    p_yes: float | None = None
    expected_score: float | None = None
    model_version: str | None = None
    provider_id: str | None = None
    cost_max_usd: float | None = None
    asked_at: str | None = None
    error_kind: str | None = None
    retried: Sequence[str] | None = None


class Screener(Protocol):
    """A model that is ready to be asked, inside one worker process."""

    def ask(self, calls: Sequence[Call]) -> Iterator[tuple[str, Reply]]:
        """(call_key, reply) for each call, in any order, each as soon as it is there."""
        ...


class Watch(Protocol):
    """Says, whenever it is looked at, whether a shard goes on; is told what the shard does."""

    def state(self) -> State:
        """go; finish: time is up, start no further call, but bring those that were sent to their
        last word; stop: what waits for its turn is not sent, only what is on the wire is awaited.
        """
        ...

    def tell(self, status: Status, *, last: bool = False) -> None:
        """To be called as often as the watch is looked at, and with `last` at the end."""
        ...


class Unwatched:
    """A watch that never ends anything."""

    def state(self) -> State:
        return "go"

    def tell(self, status: Status, *, last: bool = False) -> None:
        pass


@runtime_checkable
class Streaming(Protocol):
    """A screener that keeps many calls under way over the whole shard, not group by group."""

    def stream(
        self,
        calls: Iterator[Call],
        *,
        segment_size: int,
        watch: Watch,
        keep: Callable[[list[tuple[str, Reply]]], None],
        purse: Purse | None = None,
    ) -> Iterator[list[tuple[str, Reply]]]:
        """Replies in groups, about `segment_size` each, each group after `keep` has made it
        durable: until then its calls hold their slots. `keep` runs in another thread, one group at
        a time, while other calls go on. Calls are drawn one by one, as slots get free. `watch` says
        when to end before the calls do, and so does an empty `purse`. Raises InputError or
        StoppedError, after the last group, where it makes no sense to go on."""
        ...


def _unprepared(params: Params, where: str, shards: int) -> Params:
    return params


def _free(params: Params) -> None:
    return None


def _reads_text_only(params: Params, where: str, document: str) -> None:
    raise ConfigError(
        f"{where}.kind",
        f"this kind reads text only, and {document}",
        "Take the image format out of documents.formats, or ask a chat model that reads images.",
    )


@dataclass(frozen=True)
class Kind:
    """One kind of screener.

    check     params -> None; ConfigError (with `where`) or MissingPartError, before any work
    model     params -> how it calls itself; the column `model` of `replies`
    identity  params -> what its answers depend on besides what is sent; JSON-able
    prepare   params, `where`, number of shards at once -> what goes to the workers in their
              place; runs in the driver, which alone knows keys and files
    open      prepared params -> a screener; runs in the worker, may be cached per process
    parser    name of the parser in `scoring.parse`
    version   params -> the model version written to `replies` where a reply brings none
    terms     params -> what its calls need and cost; None: it works here, for nothing
    sends     "documents" (resume and job description) or "applicant" (structural features)
    check_images  params, `where`, words that name an image document -> None; ConfigError where
              this model cannot be shown it. Asked only where documents are images.
    """

    name: str
    model: Callable[[Params], str]
    check: Callable[[Params, str], None]
    identity: Callable[[Params], dict[str, Any]]
    open: Callable[[Params], Screener | Streaming]
    parser: str
    version: Callable[[Params], str]
    sends: Literal["documents", "applicant"]
    prepare: Callable[[Params, str, int], Params] = _unprepared
    terms: Callable[[Params], Terms | None] = _free
    check_images: Callable[[Params, str, str], None] = _reads_text_only


def canonical(value: Any) -> str:
    """Canonical JSON: sorted keys, no spaces, text as it is (UTF-8)."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def call_key(sent: str) -> str:
    """Key of a call: first 128 bits of SHA-256 of the canonical JSON sent, 32 hex digits."""
    return hashlib.sha256(sent.encode()).hexdigest()[:32]
