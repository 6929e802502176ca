"""Anthropic messages. Not tried live.

Takes no seed and returns no log-probabilities. Hidden reasoning is off unless asked for;
`reasoning: off` says so to the models that think by default, `minimal` asks for the lowest effort.
Opus 4.7 and later refuse a temperature and thinking that is switched off: `temperature: null`,
`reasoning: minimal`. Form: anthropic-sdk-python, types (August 2026); 529 and the spend limit: the
API's page on errors.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fairscreen.scoring.models import ModelSpec
from fairscreen.scoring.providers.base import (
    Answer,
    HttpRequest,
    Image,
    Prompt,
    content_text,
    count,
    decoded,
    key,
    malformed,
    merged,
    obj,
    post,
    text_or_none,
    total,
    url,
)
from fairscreen.scoring.secrets import Secret

BASE_URL = "https://api.anthropic.com"
VERSION = "2023-06-01"


def request(spec: ModelSpec, prompt: Prompt, secret: Secret | None) -> HttpRequest:
    d = spec.decoding
    content = [
        {
            "type": "image",
            "source": {"type": "base64", "media_type": p.media_type, "data": p.data},
        }
        if isinstance(p, Image)
        else {"type": "text", "text": p.text}
        for p in prompt.user
    ]
    body: dict[str, Any] = {
        "model": spec.model,
        "max_tokens": d.max_tokens,
        "messages": [{"role": "user", "content": content}],
    }
    if prompt.system:
        body["system"] = prompt.system
    if d.temperature is not None:
        body["temperature"] = d.temperature
    if d.reasoning == "off":
        body["thinking"] = {"type": "disabled"}
    elif d.reasoning == "minimal":
        body["output_config"] = {"effort": "low"}
    headers = {"anthropic-version": VERSION} | ({"x-api-key": key(secret)} if secret else {})
    return post(url(spec.base_url or BASE_URL, "v1", "messages"), headers, merged(body, d.extra))


def read(status: int, headers: Mapping[str, str], body: bytes) -> Answer:
    data = decoded(status, headers, body)
    if isinstance(data, Answer):
        return data
    blocks = data.get("content")
    reason = text_or_none(data.get("stop_reason"))
    if not isinstance(blocks, list) or (not blocks and reason is None):
        return malformed("no content", status)
    # Cached tokens are counted beside input_tokens.
    parts = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
    return Answer(
        "refused" if reason == "refusal" else "answered",
        text=content_text(blocks),
        finish_reason=reason,
        tokens_in=total(*(obj(data, "usage", p) for p in parts)),
        tokens_out=count(obj(data, "usage", "output_tokens")),
        model_version=text_or_none(data.get("model")),
        provider_id=text_or_none(data.get("id")),
    )
