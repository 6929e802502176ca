"""Azure OpenAI chat completions. Not tried live.

`base_url` is the resource (`https://NAME.openai.azure.com`), `model` the deployment. With
`api_version` the dated address is asked, without it the v1 one, which needs no date. A prompt that
the content filter stops comes back as 400 with code `content_filter`: a refusal. Form: Microsoft's
API version lifecycle and REST reference; openai-python, lib/azure.py.
"""

from __future__ import annotations

from urllib.parse import quote

from fairscreen.scoring.models import ModelSpec
from fairscreen.scoring.providers import openai
from fairscreen.scoring.providers.base import HttpRequest, Prompt, key, post, url
from fairscreen.scoring.secrets import Secret

read = openai.read


def request(spec: ModelSpec, prompt: Prompt, secret: Secret | None) -> HttpRequest:
    headers = {"api-key": key(secret)} if secret else {}
    base, body = spec.base_url or "", openai.body(spec, prompt)
    if not spec.api_version:
        address = url(base, "openai", "v1", "chat", "completions")
        return post(address, headers, {"model": spec.model, **body})
    deployment = quote(spec.model, safe="")
    address = url(base, "openai", "deployments", deployment, "chat", "completions")
    return post(f"{address}?api-version={quote(spec.api_version)}", headers, body)
