"""Google Gemini generateContent. Not tried live.

The key goes into a header, never into the address. A prompt that is blocked has no candidate, and
a candidate may end with a safety reason: both are refusals. Hidden reasoning: a budget of 0 turns
it off (2.5 Flash; 2.5 Pro has a minimum of 128), the level `minimal` is the least that 3 Flash
takes. Pro takes `low`: `extra: {generationConfig: {thinkingConfig: {thinkingLevel: LOW}}}`. Only
some models return log-probabilities; the others refuse to be asked for them. A wrong key is a 400.
Form: python-genai, types.py (August 2026); `retryDelay` inside a 429: waiting.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from fairscreen.scoring.models import ModelSpec
from fairscreen.scoring.providers import probabilities
from fairscreen.scoring.providers.base import (
    Answer,
    HttpRequest,
    Image,
    Prompt,
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

BASE_URL = "https://generativelanguage.googleapis.com/v1beta"
_REFUSED = {
    "SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "IMAGE_SAFETY",
    "IMAGE_PROHIBITED_CONTENT",
}  # fmt: skip


def request(spec: ModelSpec, prompt: Prompt, secret: Secret | None) -> HttpRequest:
    d = spec.decoding
    parts: list[dict[str, Any]] = [
        {"inlineData": {"mimeType": p.media_type, "data": p.data}}
        if isinstance(p, Image)
        else {"text": p.text}
        for p in prompt.user
    ]
    config: dict[str, Any] = {"maxOutputTokens": d.max_tokens, "candidateCount": 1}
    if d.temperature is not None:
        config["temperature"] = d.temperature
    if d.seed is not None:
        config["seed"] = d.seed
    if d.reasoning == "off":
        config["thinkingConfig"] = {"thinkingBudget": 0}
    elif d.reasoning == "minimal":
        config["thinkingConfig"] = {"thinkingLevel": "MINIMAL"}
    if d.logprobs:
        config |= {"responseLogprobs": True, "logprobs": d.logprobs}
    body: dict[str, Any] = {
        "contents": [{"role": "user", "parts": parts}],
        "generationConfig": config,
    }
    if prompt.system:
        body["systemInstruction"] = {"parts": [{"text": prompt.system}]}
    headers = {"x-goog-api-key": key(secret)} if secret else {}
    address = url(spec.base_url or BASE_URL, "models", quote(spec.model, safe="-_.")) + (
        ":generateContent"
    )
    return post(address, headers, merged(body, d.extra))


def read(status: int, headers: Mapping[str, str], body: bytes) -> Answer:
    data = decoded(status, headers, body)
    if isinstance(data, Answer):
        return data
    usage = data.get("usageMetadata")
    # Thoughts are billed as output and counted apart from the candidates.
    out = total(obj(usage, "candidatesTokenCount"), obj(usage, "thoughtsTokenCount"))
    shared: dict[str, Any] = {
        "tokens_in": count(obj(usage, "promptTokenCount")),
        "tokens_out": out,
        "model_version": text_or_none(data.get("modelVersion")),
        "provider_id": text_or_none(data.get("responseId")),
    }
    blocked = text_or_none(obj(data, "promptFeedback", "blockReason"))
    if blocked:
        return Answer("refused", finish_reason=f"prompt {blocked}", **shared)
    candidate = obj(data, "candidates", 0)
    reason = text_or_none(obj(candidate, "finishReason"))
    if candidate is None or (reason is None and obj(candidate, "content") is None):
        return malformed("no candidates", status)
    parts = obj(candidate, "content", "parts")
    # One text in pieces: Google's own client puts them together without a space.
    texts = [
        t
        for p in (parts if isinstance(parts, list) else [])
        if isinstance(t := obj(p, "text"), str) and not obj(p, "thought")
    ]
    found = _positions(obj(candidate, "logprobsResult"))
    return Answer(
        "refused" if reason in _REFUSED else "answered",
        text="".join(texts),
        finish_reason=reason,
        p_yes=probabilities.p_yes(found),
        expected_score=probabilities.expected_score(found),
        **shared,
    )


def _positions(result: Any) -> list[probabilities.Position]:
    """The written token of each position with the alternatives, which stand in a second list."""
    chosen, tops = obj(result, "chosenCandidates"), obj(result, "topCandidates")
    if not isinstance(chosen, list) or not isinstance(tops, list):
        return []
    items = [
        {**c, "top": obj(t, "candidates")}
        for c, t in zip(chosen, tops, strict=False)
        if isinstance(c, dict)
    ]
    return probabilities.positions(items, "token", "top", "logProbability")
