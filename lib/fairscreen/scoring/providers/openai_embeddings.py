"""Embeddings endpoints of OpenAI's dialect (OpenAI, vLLM, llama.cpp, Together, Databricks).

One request holds both texts of a call, resume and job description. The answer is the cosine of
their vectors, in the form of the screener `embedding`: `{"cosine": c, "windows": 1}`.
Not tried live. Form: openai-python, types/create_embedding_response.py (August 2026).
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

from fairscreen.scoring.models import ModelSpec
from fairscreen.scoring.providers.base import (
    Answer,
    HttpRequest,
    Prompt,
    Text,
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
from fairscreen.scoring.providers.openai import BASE_URL
from fairscreen.scoring.secrets import Secret


def request(spec: ModelSpec, prompt: Prompt, secret: Secret | None) -> HttpRequest:
    texts = [part.text for part in prompt.user if isinstance(part, Text)]
    body: dict[str, Any] = {"model": spec.model, "input": texts, "encoding_format": "float"}
    headers = {"authorization": f"Bearer {key(secret)}"} if secret else {}
    address = url(spec.base_url or BASE_URL, "embeddings")
    return post(address, headers, merged(body, spec.decoding.extra))


def read(status: int, headers: Mapping[str, str], body: bytes) -> Answer:
    data = decoded(status, headers, body)
    if isinstance(data, Answer):
        return data
    items = data.get("data")
    # The order of the list is not promised; each item names its input.
    vectors: list[Any] = [None, None]
    for item in items if isinstance(items, list) else []:
        index = obj(item, "index")
        if type(index) is int and index in (0, 1):
            vectors[index] = obj(item, "embedding")
    cosine = _cosine(*vectors)
    if cosine is None:
        return malformed("no two vectors of one length", status)
    tokens = count(obj(data, "usage", "prompt_tokens"))
    return Answer(
        "answered",
        text=json.dumps({"cosine": cosine, "windows": 1}),
        tokens_in=tokens,
        tokens_out=None if tokens is None else 0,
        model_version=text_or_none(data.get("model")),
    )


def _cosine(a: Any, b: Any) -> float | None:
    """12 decimals, so that rounding noise never makes it more than 1; None for no vectors."""
    if not isinstance(a, list) or not isinstance(b, list) or len(a) != len(b):
        return None
    if not all(type(x) in (int, float) and abs(x) < 1e100 for x in (*a, *b)):
        return None
    length = math.hypot(*a) * math.hypot(*b)
    return round(sum(x * y for x, y in zip(a, b, strict=True)) / length, 12) if length else None
