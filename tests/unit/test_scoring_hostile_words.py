"""Servers that mislead by words: 403s of filters, contents in every form, keys and addresses."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from test_scoring_client import KEY
from test_scoring_hostile import PRICES, _key, one, openai, saying, shard  # noqa: F401

from fairscreen.errors import ConfigError, InputError
from fairscreen.scoring.limits import Breaker
from fairscreen.scoring.models import Decoding, ModelSpec
from fairscreen.scoring.providers import PROVIDERS
from fairscreen.scoring.providers.base import Answer
from fairscreen.scoring.screeners import KINDS
from fairscreen.scoring.secrets import Secret
from fairscreen.scoring.wire import kept
from model_server import reply, serving


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
