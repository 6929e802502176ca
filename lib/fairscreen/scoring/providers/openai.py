"""OpenAI chat completions, and everything that speaks them.

With another `base_url` the same dialect asks vLLM, llama.cpp, Together, OpenRouter, xAI and
Databricks model serving (`https://HOST/serving-endpoints`). Hosted ones are not tried live yet:
the recorded forms of `tests/unit` and the test server are what it was tried on.
`reasoning: off` is an effort of `none` (GPT-5.1 and later), `minimal` is GPT-5's least; the o
models take neither (`extra: {reasoning_effort: low}`), and no temperature.
Form of requests and responses: openai-python, types/chat (August 2026); OpenRouter's errors inside
a 200: its page on errors and debugging.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fairscreen.scoring.models import ModelSpec
from fairscreen.scoring.providers import probabilities
from fairscreen.scoring.providers.base import (
    Answer,
    HttpRequest,
    Image,
    Prompt,
    Text,
    content_text,
    count,
    decoded,
    key,
    malformed,
    merged,
    obj,
    post,
    text_or_none,
    url,
)
from fairscreen.scoring.secrets import Secret

BASE_URL = "https://api.openai.com/v1"
_FILTERED = {"content_filter"}


def request(spec: ModelSpec, prompt: Prompt, secret: Secret | None) -> HttpRequest:
    headers = {"authorization": f"Bearer {key(secret)}"} if secret else {}
    return post(
        url(spec.base_url or BASE_URL, "chat", "completions"),
        headers,
        {"model": spec.model, **body(spec, prompt)},
    )


def body(spec: ModelSpec, prompt: Prompt) -> dict[str, Any]:
    """The request's body without the model's name (Azure has it in the address)."""
    d = spec.decoding
    messages: list[dict[str, Any]] = []
    if prompt.system:
        messages.append({"role": "system", "content": prompt.system})
    messages.append({"role": "user", "content": _content(prompt)})
    out: dict[str, Any] = {"messages": messages}
    if d.temperature is not None:
        out["temperature"] = d.temperature
    if d.seed is not None:
        out["seed"] = d.seed
    out[d.max_tokens_field] = d.max_tokens
    if d.reasoning in {"off", "minimal"}:
        out["reasoning_effort"] = "none" if d.reasoning == "off" else "minimal"
    if d.logprobs:
        out |= {"logprobs": True, "top_logprobs": d.logprobs}
    return merged(out, d.extra)


def read(status: int, headers: Mapping[str, str], body: bytes) -> Answer:
    data = decoded(status, headers, body)
    if isinstance(data, Answer):
        return data
    choice = obj(data, "choices", 0)
    message = obj(choice, "message")
    if not isinstance(message, dict):
        error = obj(choice, "error", "code")
        code = f" ({error})" if isinstance(error, (str, int)) else ""
        return malformed(f"no choices{code}", status)
    reason = text_or_none(obj(choice, "finish_reason"))
    refusal = text_or_none(message.get("refusal"))
    text = content_text(message.get("content"))
    found = probabilities.positions(
        obj(choice, "logprobs", "content"), "token", "top_logprobs", "logprob"
    )
    if reason == "error":
        return malformed("the model stopped with an error", status)
    if text is None and not refusal:
        return malformed("the content is no text", status)
    return Answer(
        "refused" if refusal or reason in _FILTERED else "answered",
        text=refusal or text,
        finish_reason=reason,
        tokens_in=count(obj(data, "usage", "prompt_tokens")),
        tokens_out=count(obj(data, "usage", "completion_tokens")),
        model_version=_version(data),
        provider_id=text_or_none(data.get("id")),
        p_yes=probabilities.p_yes(found),
        expected_score=probabilities.expected_score(found),
    )


def _content(prompt: Prompt) -> str | list[dict[str, Any]]:
    """One text as a plain string, which every server of this dialect takes; else parts."""
    if len(prompt.user) == 1 and isinstance(prompt.user[0], Text):
        return prompt.user[0].text
    return [
        {"type": "image_url", "image_url": {"url": f"data:{p.media_type};base64,{p.data}"}}
        if isinstance(p, Image)
        else {"type": "text", "text": p.text}
        for p in prompt.user
    ]


def _version(data: Mapping[str, Any]) -> str | None:
    """The model as reported, with the fingerprint of the backend where there is one."""
    names = [text_or_none(data.get("model")), text_or_none(data.get("system_fingerprint"))]
    return "/".join(n for n in names if n) or None
