"""A server that answers what no provider's page describes: it costs its own calls and no others.

What is asked of a real server on loopback: nothing is lost, nothing breaks off, nothing is shown.
"""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from test_scoring_client import KEY, STAMP, ask, calls, client

from fairscreen.errors import StoppedError
from fairscreen.scoring.ask import Counters, ask_shard
from fairscreen.scoring.calls import Reply
from fairscreen.scoring.commit import _ROWS
from fairscreen.scoring.giving_up import at_once
from fairscreen.scoring.journal import (
    Record,
    ShardJournal,
    WaveJournal,
    read_segment,
    records,
    write_segment,
)
from fairscreen.scoring.parse import parse
from fairscreen.scoring.plain import label, shown, whole
from fairscreen.scoring.providers import PROVIDERS
from fairscreen.scoring.providers.base import Answer
from fairscreen.scoring.screeners import KINDS
from fairscreen.scoring.wire import kept, repeats
from model_server import ModelServer, reply, serving

Own = Callable[[web.Request, str], Awaitable[web.StreamResponse | None]]
PRICES = {"prices": {"tokens_in": 1.0, "tokens_out": 2.0}}


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEST_MODEL_KEY", KEY)


def openai(content: Any = "85", **fields: Any) -> dict[str, Any]:
    message = {"role": "assistant", "content": content}
    usage = {"prompt_tokens": 10, "completion_tokens": 2}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    return {"id": "x", "model": "sm", "choices": [choice], "usage": usage, **fields}


def saying(
    data: Any, status: int = 200, only: str = "", headers: dict[str, str] | None = None
) -> Own:
    """Answers calls whose body holds `only` with this; bytes are sent as they are."""

    async def own(_: web.Request, body: str) -> web.StreamResponse | None:
        if only not in body:
            return None
        raw = data if isinstance(data, bytes) else json.dumps(data).encode()
        return web.Response(
            body=raw, status=status, headers=headers, content_type="application/json"
        )

    return own


def shard(
    server: ModelServer, folder: Path, count: int = 8, *, money: int | None = None, **params: Any
) -> tuple[Counters, dict[str, Record], Any]:
    """Counters, records by call and reason of one shard, four calls a segment."""
    screener = client(server, params.pop("provider", "openai"), **params)
    journal = ShardJournal(folder, "w", 0)
    stop = folder / "w" / "stop"
    stop.unlink(missing_ok=True)
    counters = ask_shard(calls(count), screener, journal, segment_size=4, stamp=STAMP, money=money)
    wave = WaveJournal(folder, "w")
    return counters, {r["call_key"]: r for _, r in records(wave.segments())}, wave.reason()


def one(server: ModelServer, **params: Any) -> Reply:
    (found,) = ask(client(server, breaker=99, **params), 1).values()
    return found


SURROGATES: list[tuple[Any, int]] = [
    (openai("85 \ud800"), 200), (openai(model="m\udc80", id="\udfff"), 200),
    ({"error": {"message": "bad \ud800", "code": "x\ud801"}}, 422),
]  # fmt: skip


@pytest.mark.parametrize(("data", "status"), SURROGATES)
def test_half_a_character_costs_nothing_else(data: Any, status: int, tmp_path: Path) -> None:
    import pyarrow as pa

    with serving(own=saying(data, status, only="Greg 3")) as server:
        counters, found, why = shard(server, tmp_path)
        assert (counters.asked, len(found), why) == (8, 8, None)
        again, _, _ = shard(server, tmp_path)
        assert (again.asked, again.skipped) == (0, 8)
    row = {n: v for n, v in found["c3"].items() if n in _ROWS.names}
    row["asked_at"] = datetime.fromisoformat(row["asked_at"])
    stored = pa.RecordBatch.from_pylist([row], schema=_ROWS).to_pylist()[0]
    assert "\ufffd" in f"{stored['reply']}{stored['model_version']}{stored['error']}"
    if data is SURROGATES[0][0]:
        assert stored["reply"] == "85 \ufffd"
        assert parse(KINDS["chat"].parser, stored["reply"], "answered").score == 85


def test_a_header_that_is_no_text_is_kept_as_one(tmp_path: Path) -> None:
    answer = PROVIDERS["bedrock"].read(
        200, {"x-amzn-requestid": "q\udcff\x1b[2J"}, json.dumps(reply("bedrock", {})).encode()
    )
    assert kept(answer, None).provider_id == "q\ufffd[2J"


def test_a_segment_is_written_whatever_its_records_hold(tmp_path: Path) -> None:
    write_segment(tmp_path / "s", [{"call_key": "a", "reply": "é\ud800"}, {"call_key": "b"}])
    assert read_segment(tmp_path / "s") == [
        {"call_key": "a", "reply": "é\ufffd"},
        {"call_key": "b"},
    ]


def test_texts_fit_to_keep_and_to_show() -> None:
    for text in ("", "85", "Müller 😀 \u202e", "a\x00b"):
        assert whole(text) == text
    assert whole("a\ud83d") == "a\ufffd"
    steering = "a\x1b]0;pwn\x07b\u202e\x9bc\u2028\u2066d\n\te é"
    assert shown(steering) == "a]0;pwnbcd\n\te é"
    assert label("m\n1\x1b[0m" + "x" * 999) == "m 1[0m" + "x" * 193
    assert label("gpt-5") == "gpt-5"


UNBELIEVABLE: list[Any] = [
    10**19, 10**400, 10**9 + 1, -1, "5", 5.0, True, None,
]  # fmt: skip


@pytest.mark.parametrize("tokens", UNBELIEVABLE)
def test_a_count_that_cannot_be_costs_the_worst_price(tokens: Any, tmp_path: Path) -> None:
    usage = {"prompt_tokens": tokens, "completion_tokens": 2}
    with serving(own=saying(openai(usage=usage), only="Greg 3")) as server:
        counters, found, _ = shard(server, tmp_path, money=10**12, **PRICES)
    assert (counters.asked, counters.spent_pico < 10**12) == (8, True)
    odd, other = found["c3"], found["c4"]
    assert (odd["tokens_in"], odd["cost_usd"]) == (None, None)
    assert odd["cost_max_usd"] > 2 * other["cost_max_usd"]


@pytest.mark.parametrize(
    ("provider", "usage", "counts"),
    [
        ("anthropic", {"input_tokens": "900", "cache_read_input_tokens": 0, "output_tokens": 2},
         (None, 2)),
        ("anthropic", {"cache_creation_input_tokens": 0, "output_tokens": 2}, (None, 2)),
        ("anthropic", {"input_tokens": 9, "cache_read_input_tokens": "x", "output_tokens": 2},
         (None, 2)),
        ("anthropic", {"input_tokens": 9, "cache_read_input_tokens": None, "output_tokens": 2},
         (9, 2)),
        ("gemini", {"promptTokenCount": 9, "candidatesTokenCount": "7", "thoughtsTokenCount": 0},
         (9, None)),
        ("gemini", {"promptTokenCount": 9, "thoughtsTokenCount": 3}, (9, None)),
        ("gemini", {"promptTokenCount": 9, "candidatesTokenCount": 7}, (9, 7)),
        ("openai", {"prompt_tokens": 0, "completion_tokens": 0}, (None, None)),
        ("bedrock", {"inputTokens": 0, "outputTokens": 3}, (None, 3)),
        ("openai_embeddings", {"prompt_tokens": 0}, (None, None)),
    ],
)  # fmt: skip
def test_a_part_of_a_count_is_no_count(
    provider: str, usage: dict[str, Any], counts: tuple[int | None, int | None]
) -> None:
    kind = {"openai_embeddings": "embeddings"}.get(provider, provider)
    data = reply(kind, {"input": ["a", "b"]})
    data["usageMetadata" if provider == "gemini" else "usage"] = usage
    answer = kept(PROVIDERS[provider].read(200, {}, json.dumps(data).encode()), None)
    assert answer.kind == "answered"
    assert (answer.tokens_in, answer.tokens_out) == counts


@pytest.mark.parametrize(
    "top", [5, True, {"a": 1}, [5], [{"token": "85", "logprob": -(10**400)}], "abc"]
)
def test_odd_probabilities_are_left_out(top: Any) -> None:
    said = {"content": [{"token": "85", "logprob": -(10**400), "top_logprobs": top}]}
    data = openai()
    data["choices"][0]["logprobs"] = said
    answer = PROVIDERS["openai"].read(200, {}, json.dumps(data).encode())
    assert (answer.kind, answer.text, answer.expected_score) == ("answered", "85", None)


@pytest.mark.parametrize("indices", [(0.0, 1.0), (False, True), (-1, -2), ("0", "1"), ([], {})])
def test_vectors_without_a_place_are_no_vectors(indices: tuple[Any, Any]) -> None:
    data = {"data": [{"index": i, "embedding": [1.0, 0.0]} for i in indices]}
    answer = PROVIDERS["openai_embeddings"].read(200, {}, json.dumps(data).encode())
    assert answer.error_kind == "malformed_200"


def test_a_reader_that_stumbles_costs_its_own_call(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever an adapter does not foresee is an answer that cannot be read."""
    with serving() as server:
        read = PROVIDERS["openai"].read

        def stumbling(status: int, headers: Any, body: bytes) -> Answer:
            if b'"odd"' in body:
                raise OverflowError("int too large")
            return read(status, headers, body)

        monkeypatch.setattr(PROVIDERS["openai"], "read", stumbling)
        server.own = saying(openai("odd"), only="Greg 3")
        _, found, why = shard(server, tmp_path)
    assert why is None
    assert {r["transport"] for k, r in found.items() if k != "c3"} == {"answered"}
    odd = found["c3"]
    assert (odd["transport"], odd["attempts"], odd["error_kind"]) == ("failed", 4, "malformed_200")
    assert odd["error"] == "200: the response cannot be read (OverflowError)"


def test_a_wait_longer_than_a_call_may_take_stops_the_wave(tmp_path: Path) -> None:
    slow = saying({"error": {"message": "daily limit"}}, 429, "Greg 3", {"Retry-After": "86400"})
    with serving(own=slow) as server:
        counters, found, why = shard(server, tmp_path, concurrency=1)
        assert (counters.planned, counters.asked, counters.stopped) == (8, 3, True)
        assert sorted(found) == ["c0", "c1", "c2"]
        assert isinstance(why, StoppedError)
        told = re.sub(r"\d{4}-\d\d-\d\d \d\d:\d\d", "DAY", str(why))
        assert told == (
            "model x: the server asks to wait 86,400 s (429: daily limit), more than the "
            "max_seconds of a call, 3,000 s. What was answered is kept. Run the same command after "
            "DAY UTC to go on, or raise max_seconds to wait in the job."
        )
        server.own = None
        again, found, why = shard(server, tmp_path)
        assert (again.asked, again.skipped, why) == (5, 3, None)


@pytest.mark.parametrize(
    ("wait", "when"),
    [(3000.0, None), (None, None), (3001.0, "after 2026-01-01 00:51 UTC"), (1e29, "after that"),
     (31_536_000.0, "after 2027-01-01 00:00 UTC")],
)  # fmt: skip
def test_when_to_go_on(wait: float | None, when: str | None) -> None:
    with serving() as server:
        setup = client(server).setup
    now = datetime(2026, 1, 1, tzinfo=UTC)
    limited = Answer("rate_limited", error="429", retry_after=wait)
    found = at_once(setup, limited, now)
    assert (found is None) if when is None else (f"Run the same command {when} to" in str(found))
    # Of a single call that the server cannot answer now, a long wait says nothing about the others.
    assert at_once(setup, Answer("retry", error="503", retry_after=wait), now) is None


def zipped(megabytes: int) -> bytes:
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    return b"".join([*(packer.compress(b" " * 2**20) for _ in range(megabytes)), packer.flush()])


async def endless(request: web.Request, _: str) -> web.StreamResponse:
    response = web.StreamResponse()
    response.enable_chunked_encoding()
    await response.prepare(request)
    while True:  # until the client hangs up
        await response.write(b" " * 2**16)


@pytest.mark.parametrize(
    "own",
    [saying(zipped(64), headers={"Content-Encoding": "gzip"}), endless],
    ids=["zip", "endless"],
)
def test_a_response_without_end_is_not_read_to_it(own: Own) -> None:
    with serving(own=own) as server:
        found = one(server)
        assert sum(server.counts.values()) == 1
    assert (found.transport, found.error_kind) == ("failed", "too_large")
    assert found.error == "200: the response is larger than 16 MB"


def test_a_long_answer_is_read() -> None:
    data = openai()
    data["padding"] = "x" * (15 * 2**20)
    packed = zlib.compressobj(1, zlib.DEFLATED, 31)
    raw = packed.compress(json.dumps(data).encode()) + packed.flush()
    with serving(own=saying(raw, headers={"Content-Encoding": "gzip"})) as server:
        assert one(server).reply == "85"


def test_what_a_message_repeats_is_looked_for_in_bounds() -> None:
    """Of a message what is shown, of a long document nothing, of an image a few runs."""
    resume = "Jamal Washington\n" + "\n".join(f"word{i} and more" for i in range(300))
    assert repeats("got Jamal Washington", resume)
    assert not repeats("x" * 221 + resume, resume)  # beyond what is shown
    assert not repeats("temperature is not supported", resume)
    assert repeats("temperature is not supported", resume * 50)
    image = "iVBORw0KGgo" + "Ab3/x+9Qz" * 50_000
    assert repeats(f"no image: data:image/png;base64,{image[:60]}", image)
    assert not repeats("422 invalid: image is too large for this model", image)
    assert not repeats(f"request {'0123456789abcdef' * 4} failed", image)
