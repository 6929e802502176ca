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

from fairscreen.errors import ConfigError, InputError, StoppedError
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
from fairscreen.scoring.limits import Breaker
from fairscreen.scoring.models import Decoding, ModelSpec
from fairscreen.scoring.parse import parse
from fairscreen.scoring.plain import label, shown, whole
from fairscreen.scoring.providers import PROVIDERS
from fairscreen.scoring.providers.base import Answer
from fairscreen.scoring.screeners import KINDS
from fairscreen.scoring.secrets import Secret
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


class Row:
    """A breaker after some failures in a row: d denied, ? doubtful, f any other, a answered."""

    def __init__(self, text: str) -> None:
        self.breaker = Breaker(6)
        for letter in text:
            if letter == "a":
                self.breaker.answered()
            else:
                self.breaker.failed(letter == "d", letter == "?")


@pytest.mark.parametrize(
    ("row", "trips", "at_the_end"),
    [("???", False, False), ("??d", False, False), ("?dd", False, False), ("?ddd", True, True),
     ("dd", False, True), ("??????", True, True), ("a???", False, False), ("addd", True, True),
     ("a?????", False, False), ("a??????", True, True), ("a?d?d?", False, False)],
)  # fmt: skip
def test_a_refused_text_is_not_a_refused_key(row: str, trips: bool, at_the_end: bool) -> None:
    breaker = Row(row).breaker
    assert breaker.tripped() is trips
    assert breaker.tripped(exhausted=True) is at_the_end


BLOCKED = {"error": {"message": "Request blocked: 'my licence expired in 2019' is personal data"}}


@pytest.mark.parametrize("concurrency", [1, 2, 32])
@pytest.mark.parametrize("bad", ["[4-6]", "[0-2]", "[5-7]", "4"])
def test_texts_that_a_filter_dislikes_fail_alone(
    bad: str, concurrency: int, tmp_path: Path
) -> None:
    """Three in a row, first, last or amid others; the word "expired" in what it quotes."""

    async def own(request: web.Request, body: str) -> web.StreamResponse | None:
        blocked = re.search(rf"(?:Greg|Jamal) {bad}\b", body)
        return web.json_response(BLOCKED, status=403) if blocked else None

    with serving(own=own) as server:
        _, found, why = shard(server, tmp_path, concurrency=concurrency)
        assert why is None
        assert sum(server.counts.values()) == 8
    failed = {k for k, r in found.items() if r["transport"] == "failed"}
    assert failed == {f"c{i}" for i in range(8) if re.fullmatch(bad, str(i))}
    assert {found[k]["error"] for k in failed} == {"403"}


@pytest.mark.parametrize(
    ("data", "denied", "expired"),
    [
        (BLOCKED, False, False), ({}, False, False), ({"message": "Forbidden"}, False, False),
        ({"error_code": "PERMISSION_DENIED", "message": "no"}, True, False),
        ({"error_code": 403, "message": "Invalid access token."}, True, False),
        ({"error": {"type": "permission_error", "message": "no"}}, True, False),
        ({"error": {"code": "token_expired", "message": "no"}}, True, True),
        ({"message": "Signature expired: 2026", "__type": "OddException"}, True, False),
    ],
)  # fmt: skip
def test_which_403_is_about_the_key(data: Any, denied: bool, expired: bool) -> None:
    answer = PROVIDERS["openai"].read(403, {}, json.dumps(data).encode())
    assert (answer.kind, answer.denied, answer.expired) == ("final", denied, expired)
    assert answer.doubtful is not denied


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ([{"type": "text", "text": "85"}, {"type": "text", "text": "90"}], "85\n90"),
        (["85", {"text": 90}], "85\n90"), ([], ""), (85, "85"), (8.5, "8.5"), (None, ""),
        ([{"type": "thinking", "thinking": "3"}, {"type": "text", "text": "85"}], "85"),
    ],
)  # fmt: skip
def test_content_in_every_form(content: Any, text: str) -> None:
    answer = PROVIDERS["openai"].read(200, {}, json.dumps(openai(content)).encode())
    assert (answer.kind, answer.text) == ("answered", text)
    if isinstance(content, list):
        data = reply("bedrock", {})
        data["output"]["message"]["content"] = content
        assert PROVIDERS["bedrock"].read(200, {}, json.dumps(data).encode()).text == text
        data = reply("anthropic", {}) | {"content": content}
        assert PROVIDERS["anthropic"].read(200, {}, json.dumps(data).encode()).text == text


@pytest.mark.parametrize("content", [True, {"text": "85"}])
def test_content_that_is_no_text_is_no_answer(content: Any) -> None:
    answer = PROVIDERS["openai"].read(200, {}, json.dumps(openai(content)).encode())
    assert (answer.kind, answer.error) == ("retry", "200: the content is no text")


@pytest.mark.parametrize("status", [201, 202, 203, 206])
def test_an_answer_under_another_2xx_is_one(status: int) -> None:
    with serving(own=saying(openai(), status)) as server:
        assert one(server).reply == "85"
    broken = PROVIDERS["openai"].read(status, {}, b"{}")
    assert (broken.kind, broken.unbilled, broken.error) == ("retry", False, f"{status}: no choices")
    within = PROVIDERS["openai"].read(status, {}, b'{"error": {"code": 422, "message": "no"}}')
    assert (within.kind, within.unbilled, within.error_kind) == ("final", False, f"error_{status}")


def test_an_empty_2xx_may_be_billed(tmp_path: Path) -> None:
    with serving(own=saying(b"", 204, only="Greg 3")) as server:
        _, found, _ = shard(server, tmp_path, money=10**12, max_attempts=2, **PRICES)
    assert (found["c3"]["transport"], found["c3"]["attempts"]) == ("failed", 2)
    assert found["c3"]["cost_max_usd"] > 0


RESERVED: list[tuple[dict[str, Any], str]] = [
    *(({name: "x"}, name) for name in (
        "model", "models", "messages", "contents", "input", "prompt", "system", "stream", "n",
        "systemInstruction")),
    ({"messages": None}, "messages"),
    ({"generationConfig": {"contents": []}}, "generationConfig.contents"),
    ({"additionalModelRequestFields": {"system": "x"}}, "additionalModelRequestFields.system"),
    ({"extra_body": {"model": "x"}}, "extra_body.model"),
]  # fmt: skip


@pytest.mark.parametrize(("extra", "name"), RESERVED)
def test_what_is_asked_of_whom_cannot_be_overlaid(extra: dict[str, Any], name: str) -> None:
    params = {"provider": "openai", "model": "m", "decoding": {"extra": extra}}
    with pytest.raises(ConfigError) as raised:
        KINDS["chat"].check(params, "scoring.models.m.params")
    assert str(raised.value).startswith(
        f"scoring.models.m.params.decoding.extra: sets {name}, which is the prompt's, the model's "
    )


def test_other_fields_can() -> None:
    schema = {"type": "json_schema", "json_schema": {"schema": {"properties": {"model": {}}}}}
    for extra in ({"response_format": schema}, {"reasoning": {"effort": "low"}}, {"seed": None}):
        assert Decoding(extra=extra).extra == extra


@pytest.mark.parametrize(
    "escaped", [f"\\u006b{KEY[1:]}", "".join(f"\\u{ord(c):04x}" for c in KEY)], ids=["one", "all"]
)
def test_a_key_is_masked_in_whatever_was_decoded(escaped: str, tmp_path: Path) -> None:
    text = json.dumps(openai("key is KEY", model="m KEY", id="KEY")).replace("KEY", escaped)
    with serving(own=saying(text.encode())) as server:
        found = one(server)
        assert (found.reply, found.model_version, found.provider_id) == (
            "key is ***",
            "m ***",
            "***",
        )
        server.own = saying(json.dumps(openai(f"key is {KEY}")).encode("utf-16"))
        assert one(server).reply == "key is ***"
        said = json.dumps({"error": {"message": "bad KEY", "code": "KEY"}}).replace("KEY", escaped)
        server.own = saying(said.encode(), 422)
        assert one(server).error == "422 ***: bad ***"


def test_what_is_hidden_around_a_key_does_not_hide_it() -> None:
    secret = Secret(KEY)
    split = f"{KEY[:7]}\u200b{KEY[7:]}"
    answer = kept(Answer("answered", text="85", provider_id=split, model_version=KEY), secret)
    assert (answer.provider_id, answer.model_version, answer.text) == ("***", "***", "85")
    assert kept(Answer("answered", text="none", tokens_in=1), Secret("none")).text == "none"


def test_messages_do_not_steer_a_terminal() -> None:
    said = {
        "error": {"message": "a\n\x1b[2J\x1b[31mERROR \u202eevil\u2028x", "code": "c\x1b]0;p\x07"}
    }
    with serving(own=saying(said, 422)) as server:
        assert one(server).error == "422 c]0;p: a [2J[31mERROR evil x"
        server.own = saying({"error": {"message": f"{KEY[:7]}\u200b{KEY[7:]}"}}, 422)
        assert one(server).error == "422: ***"


@pytest.mark.parametrize(
    "address",
    ["http://a..b/v1", f"http://{'a' * 70}.com/v1", "http://[::1/v1", "http://ex\u2100mple/v1",
     "http://h:99999/v1", "http://h:x/v1", "http://h:0/v1", "http:///v1", "http://[zz]/v1",
     "http://.h/v1"],
)  # fmt: skip
def test_what_is_no_address_is_told_before_any_work(address: str) -> None:
    params = {"provider": "openai", "model": "m", "base_url": address}
    with pytest.raises(ConfigError) as raised:
        KINDS["chat"].check(params, "scoring.models.m.params")
    assert str(raised.value).startswith("scoring.models.m.params.base_url: ")


@pytest.mark.parametrize(
    "address",
    ["http://127.0.0.1:8080/v1", "http://[::1]:80/v1", "https://bücher.example", "http://my_host/",
     "https://skills-assessment-model-v2.example/serving-endpoints/key-figures-model-2026",
     "https://gateway.example/v1/0123456789abcdef0123456789abcdef/x/openai"],
)  # fmt: skip
def test_addresses(address: str) -> None:
    spec = {"provider": "openai", "model": "m", "base_url": address}
    assert ModelSpec.model_validate(spec).base_url == address


@pytest.mark.parametrize("part", ["sk-proj-1234567890abcdefgh", "AIzaSyA012345678901234567"])
def test_an_address_holds_no_key(part: str) -> None:
    params = {"provider": "openai", "model": "m", "base_url": f"https://h.example/{part}/v1"}
    with pytest.raises(InputError, match="base_url holds what looks like a key") as raised:
        KINDS["chat"].check(params, "scoring.models.m.params")
    assert part not in str(raised.value)
