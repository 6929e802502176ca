"""The adapters: what is sent, and what is made of every kind of response."""

from __future__ import annotations

import base64
import copy
import json
import sys
from typing import Any

import fixtures_providers as recorded
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairscreen.errors import MissingPartError
from fairscreen.scoring.models import Decoding, ModelSpec
from fairscreen.scoring.providers import PROVIDERS
from fairscreen.scoring.providers.base import Answer, Image, Prompt, Text
from fairscreen.scoring.secrets import Secret

PNG = base64.b64encode(b"\x89PNG").decode()
PLAIN = Prompt("Be fair.", (Text("Rate {this}."),))
BOTH = Prompt(None, (Text("Rate the page."), Image("image/png", PNG)))
KEY = Secret("k-12345")
FULL = Decoding(temperature=0, seed=7, max_tokens=16, reasoning="off", logprobs=5)
ADDRESS = {"azure_openai": "https://r.openai.azure.com", "bedrock": "https://b.example"}


def spec(provider: str, **more: Any) -> ModelSpec:
    base = {"base_url": ADDRESS[provider]} if provider in ADDRESS else {}
    fields = {"provider": provider, "model": "m:1", "decoding": FULL, **base, **more}
    return ModelSpec.model_validate(fields)


def sent(provider: str, prompt: Prompt = PLAIN, **more: Any) -> tuple[str, dict[str, str], Any]:
    request = PROVIDERS[provider].request(spec(provider, **more), prompt, KEY)
    assert request.headers["content-type"] == "application/json"
    assert "k-12345" not in repr(request)
    assert b"k-12345" not in request.body
    assert "k-12345" not in request.url
    rest = {k: v for k, v in request.headers.items() if k != "content-type"}
    return request.url, rest, json.loads(request.body)


def read(provider: str, data: Any, status: int = 200, **headers: str) -> Answer:
    body = data if isinstance(data, bytes) else json.dumps(data).encode()
    names = {name.replace("_", "-"): value for name, value in headers.items()}
    return PROVIDERS[provider].read(status, names, body)


def test_openai_request() -> None:
    messages = [
        {"role": "system", "content": "Be fair."},
        {"role": "user", "content": "Rate {this}."},
    ]
    assert sent("openai") == (
        "https://api.openai.com/v1/chat/completions",
        {"authorization": "Bearer k-12345"},
        {"model": "m:1", "messages": messages, "temperature": 0.0, "seed": 7, "max_tokens": 16,
         "reasoning_effort": "none", "logprobs": True, "top_logprobs": 5},
    )  # fmt: skip


def test_what_a_model_does_not_take_is_not_sent() -> None:
    few = Decoding(temperature=None, max_tokens=9, max_tokens_field="max_completion_tokens")
    _, _, body = sent("openai", decoding=few)
    assert set(body) == {"model", "messages", "max_completion_tokens"}
    own = Decoding(seed=7, extra={"seed": None, "reasoning": {"enabled": False}})
    _, _, body = sent("openai", decoding=own)
    assert "seed" not in body
    assert body["reasoning"] == {"enabled": False}


def test_azure_request() -> None:
    address, headers, body = sent("azure_openai", api_version="2024-10-21", model="my dep")
    path = "openai/deployments/my%20dep/chat/completions?api-version=2024-10-21"
    assert address == f"https://r.openai.azure.com/{path}"
    assert headers == {"api-key": "k-12345"}
    assert "model" not in body
    address, _, body = sent("azure_openai")
    assert address == "https://r.openai.azure.com/openai/v1/chat/completions"
    assert body["model"] == "m:1"


def test_anthropic_request() -> None:
    assert sent("anthropic", BOTH) == (
        "https://api.anthropic.com/v1/messages",
        {"x-api-key": "k-12345", "anthropic-version": "2023-06-01"},
        {"model": "m:1", "max_tokens": 16, "temperature": 0.0, "thinking": {"type": "disabled"},
         "messages": [{"role": "user", "content": [
             {"type": "text", "text": "Rate the page."},
             {"type": "image", "source":
                 {"type": "base64", "media_type": "image/png", "data": PNG}}]}]},
    )  # fmt: skip
    assert sent("anthropic")[2]["system"] == "Be fair."
    least = sent("anthropic", decoding=Decoding(temperature=None, reasoning="minimal"))[2]
    assert least["output_config"] == {"effort": "low"}
    assert not {"temperature", "thinking"} & set(least)


def test_gemini_request() -> None:
    assert sent("gemini", BOTH, model="gemini-2.5-flash") == (
        "https://generativelanguage.googleapis.com/v1beta/models/gemini-2.5-flash:generateContent",
        {"x-goog-api-key": "k-12345"},
        {"contents": [{"role": "user", "parts": [
            {"text": "Rate the page."}, {"inlineData": {"mimeType": "image/png", "data": PNG}}]}],
         "generationConfig": {"maxOutputTokens": 16, "candidateCount": 1, "temperature": 0.0,
                              "seed": 7, "thinkingConfig": {"thinkingBudget": 0},
                              "responseLogprobs": True, "logprobs": 5}},
    )  # fmt: skip
    assert sent("gemini")[2]["systemInstruction"] == {"parts": [{"text": "Be fair."}]}


def test_bedrock_request() -> None:
    more: dict[str, Any] = {"base_url": None, "region": "us-east-1"}
    assert sent("bedrock", BOTH, **more) == (
        "https://bedrock-runtime.us-east-1.amazonaws.com/model/m%3A1/converse",
        {"authorization": "Bearer k-12345"},
        {"inferenceConfig": {"maxTokens": 16, "temperature": 0.0},
         "messages": [{"role": "user", "content": [
             {"text": "Rate the page."},
             {"image": {"format": "png", "source": {"bytes": PNG}}}]}]},
    )  # fmt: skip
    assert sent("bedrock", **more)[2]["system"] == [{"text": "Be fair."}]


AWS = Secret({"AWS_ACCESS_KEY_ID": "AKIDEXAMPLE", "AWS_SECRET_ACCESS_KEY": "wJalr/bPx"})


def test_bedrock_is_signed_by_botocore() -> None:
    here = spec("bedrock", base_url=None, region="eu-west-1")
    headers = PROVIDERS["bedrock"].request(here, PLAIN, AWS).headers
    start = "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/"
    assert headers["authorization"].startswith(start)
    assert "/eu-west-1/bedrock/aws4_request" in headers["authorization"]
    assert "wJalr" not in repr(headers)


def test_bedrock_without_botocore_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "botocore.auth", None)
    with pytest.raises(MissingPartError, match=r"Run `pip install fairscreen\[bedrock\]`"):
        PROVIDERS["bedrock"].request(spec("bedrock", region="eu-west-1"), PLAIN, AWS)


def test_openai_image_is_a_data_url() -> None:
    content = sent("openai", BOTH)[2]["messages"][0]["content"]
    assert content[1] == {
        "type": "image_url",
        "image_url": {"url": f"data:image/png;base64,{PNG}"},
    }


def test_openai_answer() -> None:
    answer = read("openai", recorded.OPENAI)
    expected = (72 * 0.5 + 80 * 0.25) / 0.75
    assert answer.expected_score == pytest.approx(expected)
    assert answer == Answer(
        "answered", text="72", finish_reason="stop", tokens_in=812, tokens_out=1,
        model_version="gpt-4o-mini-2024-07-18/fp_44", provider_id="chatcmpl-B9",
        expected_score=answer.expected_score,
    )  # fmt: skip


def test_anthropic_answer() -> None:
    assert read("anthropic", recorded.ANTHROPIC) == Answer(
        "answered", text="72", finish_reason="end_turn", tokens_in=812, tokens_out=5,
        model_version="claude-haiku-4-5-20251001", provider_id="msg_01",
    )  # fmt: skip


def test_gemini_answer() -> None:
    answer = read("gemini", recorded.GEMINI)
    assert answer.p_yes == pytest.approx(0.8)
    assert answer == Answer(
        "answered", text="yes", finish_reason="STOP", tokens_in=812, tokens_out=31,
        model_version="gemini-2.5-flash-lite", provider_id="r-7", p_yes=answer.p_yes,
    )  # fmt: skip


def test_bedrock_answer() -> None:
    assert read("bedrock", recorded.BEDROCK, x_amzn_requestid="q1") == Answer(
        "answered", text="72", finish_reason="end_turn", tokens_in=812, tokens_out=2,
        provider_id="q1",
    )  # fmt: skip


def test_embeddings() -> None:
    pair = Prompt(None, (Text("resume"), Text("job")))
    few = Decoding(extra={"dimensions": 64})
    assert sent("openai_embeddings", pair, decoding=few) == (
        "https://api.openai.com/v1/embeddings",
        {"authorization": "Bearer k-12345"},
        {"model": "m:1", "input": ["resume", "job"], "encoding_format": "float", "dimensions": 64},
    )
    answer = read("openai_embeddings", recorded.EMBEDDINGS)
    assert answer == Answer(
        "answered", text='{"cosine": 0.6, "windows": 1}', tokens_in=8, tokens_out=0,
        model_version="text-embedding-3-small",
    )  # fmt: skip
    for vectors in ([[1.0]], [[1.0], [1.0, 2.0]], [[0.0], [0.0]], [["x"], [1.0]], [[1.0], None]):
        data = [{"index": i, "embedding": v} for i, v in enumerate(vectors)]
        assert read("openai_embeddings", {"data": data}).kind == "retry"


def changed(data: dict[str, Any], *path: Any, to: Any) -> dict[str, Any]:
    out = copy.deepcopy(data)
    at: Any = out
    for step in path[:-1]:
        at = at[step]
    at[path[-1]] = to
    return out


FIRST = ("choices", 0)


@pytest.mark.parametrize(
    ("provider", "data", "reason"),
    [
        ("openai", changed(recorded.OPENAI, *FIRST, "message",
                           to={"content": None, "refusal": "I can't."}), "stop"),
        ("openai", changed(recorded.OPENAI, *FIRST, "finish_reason", to="content_filter"),
         "content_filter"),
        ("anthropic", changed(recorded.ANTHROPIC, "stop_reason", to="refusal"), "refusal"),
        ("anthropic", {"content": [], "stop_reason": "refusal", "usage": {}}, "refusal"),
        ("gemini", {"promptFeedback": {"blockReason": "SAFETY"}}, "prompt SAFETY"),
        ("gemini", {"candidates": [{"finishReason": "PROHIBITED_CONTENT"}]}, "PROHIBITED_CONTENT"),
        ("bedrock", changed(recorded.BEDROCK, "stopReason", to="guardrail_intervened"),
         "guardrail_intervened"),
    ],
)  # fmt: skip
def test_refusals(provider: str, data: Any, reason: str) -> None:
    answer = read(provider, data)
    assert (answer.kind, answer.finish_reason) == ("refused", reason)


def test_refusals_in_an_error() -> None:
    azure = read("azure_openai", recorded.AZURE_FILTERED, 400)
    assert (azure.kind, azure.finish_reason) == ("refused", "content_filter")
    flagged = read("openai", recorded.OPENROUTER_FLAGGED, 403)
    assert (flagged.kind, flagged.finish_reason) == ("refused", "moderation")


def test_an_empty_answer_is_an_answer() -> None:
    """Cut off before its first word, as a model that reasons in secret is: the parser's case."""
    cut = changed(recorded.OPENAI, *FIRST, "finish_reason", to="length")
    answer = read("openai", changed(cut, *FIRST, "message", to={"content": ""}))
    assert (answer.kind, answer.text, answer.finish_reason) == ("answered", "", "length")


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize(
    "body",
    [b"", b"<html>", b"{'choices': [", b"[]", b"3", b"null", b'{"choices": []}', b"{}",
     b'{"candidates": [], "content": []}', b'{"choices": [null]}', b'{"candidates": [{}]}',
     b'{"error": {"code": 502, "message": "down"}}', b'{"error": "down"}', b"[" * 100_000],
)  # fmt: skip
def test_a_200_without_an_answer_is_tried_again(provider: str, body: bytes) -> None:
    answer = read(provider, body)
    assert answer.kind == "retry"
    assert (answer.error or "").startswith("200")


ERROR = {"error": {"code": "x", "message": "y"}}


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize(
    ("status", "kind", "denied", "overloaded"),
    [
        (400, "final", False, False), (401, "final", True, False), (402, "final", True, False),
        (403, "final", False, False), (404, "final", True, False), (405, "final", False, False),
        (413, "final", False, False), (415, "final", False, False), (422, "final", False, False),
        (301, "final", True, False), (307, "final", True, False), (501, "final", False, False),
        (408, "retry", False, False), (409, "retry", False, False), (424, "retry", False, False),
        (500, "retry", False, False), (502, "retry", False, False), (504, "retry", False, False),
        (503, "retry", False, True), (529, "retry", False, True), (524, "retry", False, False),
        (429, "rate_limited", False, True),
    ],
)  # fmt: skip
def test_statuses(provider: str, status: int, kind: str, denied: bool, overloaded: bool) -> None:
    for body in (ERROR, b"<html>Bad gateway</html>", {"detail": [{"msg": "no"}]}):
        answer = read(provider, body, status)
        assert (answer.kind, answer.denied, answer.overloaded) == (kind, denied, overloaded)
        assert (answer.error or "").startswith(str(status))


@pytest.mark.parametrize(
    ("provider", "data", "status", "kind", "error"),
    [
        ("openai", recorded.OPENAI_ERROR, 401, "final",
         "401 invalid_api_key invalid_request_error"),
        ("anthropic", recorded.ANTHROPIC_OVERLOADED, 529, "retry",
         "529 overloaded_error: Overloaded"),
        ("anthropic", recorded.ANTHROPIC_SPENT, 429, "final",
         "429 rate_limit_error: Spend limit reached"),
        ("openai", {"error": {"code": "insufficient_quota", "message": "no money"}}, 429, "final",
         "429 insufficient_quota: no money"),
        ("gemini", recorded.GEMINI_EXHAUSTED, 429, "rate_limited",
         "429 RESOURCE_EXHAUSTED: You exceeded your current quota."),
        ("gemini", [recorded.GEMINI_EXHAUSTED], 429, "rate_limited",
         "429 RESOURCE_EXHAUSTED: You exceeded your current quota."),
        ("openai", recorded.OPENROUTER_IN_200, 200, "retry", "200 502: Provider returned error"),
        ("bedrock", {"message": "slow  down", "__type": "ThrottlingException"}, 429,
         "rate_limited", "429 ThrottlingException: slow down"),
        ("openai", {"error": {"code": 400, "message": "too  long"}}, 200, "final",
         "200 400: too long"),
    ],
)  # fmt: skip
def test_errors_by_name(provider: str, data: Any, status: int, kind: str, error: str) -> None:
    answer = read(provider, data, status)
    assert (answer.kind, answer.error) == (kind, error)


def test_a_key_that_ran_out_is_told_from_a_wrong_one() -> None:
    """AWS names its error in a header; Gemini answers 400 to any wrong key."""

    def told(provider: str, data: Any, status: int, **headers: str) -> tuple[bool, bool]:
        answer = read(provider, data, status, **headers)
        assert answer.kind == "final"
        return answer.denied, answer.expired

    said = {"message": "The security token included in the request is expired"}
    name = "ExpiredTokenException:http://internal.amazon.com/coral/"
    assert told("bedrock", said, 403, x_amzn_errortype=name) == (True, True)
    assert told("bedrock", {}, 400, x_amzn_errortype=name) == (True, True)
    assert read("bedrock", said, 403, x_amzn_errortype=name).error == "403 ExpiredTokenException"
    clock = {"message": "Signature expired: 20261130T090000Z is now earlier than ..."}
    for wrong in (clock, {"message": "The security token included in the request is invalid."}):
        assert told("bedrock", wrong, 403) == (True, False)
    assert told("openai", recorded.OPENAI_ERROR, 401) == (True, False)
    for message, expired in (("API key not valid.", False), ("API key expired.", True)):
        details = [{"@type": "ErrorInfo", "reason": "API_KEY_INVALID"}]
        error = {"code": 400, "status": "INVALID_ARGUMENT", "message": message, "details": details}
        assert told("gemini", {"error": error}, 400) == (True, expired)
    assert told("openai", {"error": {"message": "your offer expired"}}, 400) == (False, False)


def test_money_that_ran_out_stops_everything() -> None:
    assert read("anthropic", recorded.ANTHROPIC_SPENT, 429).denied
    assert read("openai", {"error": {"code": "insufficient_quota"}}, 429).denied


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["choices", "message", "content", "text", "candidates", "parts", "usage",
                 "finish_reason", "stop_reason", "error", "code", "logprobs", "top_logprobs",
                 "token", "logprob", "output", "stopReason", "finishReason", "details",
                 "retryDelay", "reason", "message", "__type", "usageMetadata", "logprobsResult",
                 "chosenCandidates"]
            ),
            inner,
            max_size=5,
        )
    ),
    max_leaves=25,
)  # fmt: skip


@given(
    st.sampled_from(sorted(PROVIDERS)),
    st.sampled_from([200, 200, 200, 400, 429, 503, 302]),
    json_values.map(lambda v: json.dumps(v).encode()) | st.binary(max_size=40),
    st.dictionaries(
        st.sampled_from(
            ["retry-after", "retry-after-ms", "date", "x-ratelimit-reset",
             "x-ratelimit-remaining-tokens", "x-ratelimit-reset-tokens",
             "anthropic-ratelimit-tokens-remaining", "anthropic-ratelimit-tokens-reset"]
        ),
        st.text(max_size=12) | st.sampled_from(["0", "1", "6m0s", "1e999", "-3"]),
    ),
)  # fmt: skip
def test_whatever_comes_back_is_classified(
    provider: str, status: int, body: bytes, headers: dict[str, str]
) -> None:
    answer = PROVIDERS[provider].read(status, headers, body)
    if status != 200:
        assert answer.kind != "answered"
    assert answer.retry_after is None or answer.retry_after >= 0
    assert answer.p_yes is None or 0 <= answer.p_yes <= 1
    assert answer.expected_score is None or 0 <= answer.expected_score <= 100
