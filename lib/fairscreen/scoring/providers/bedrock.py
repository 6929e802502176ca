"""AWS Bedrock Converse. Not tried live; the signature is botocore's own.

`key_env: AWS_BEARER_TOKEN_BEDROCK` asks with a Bedrock API key. Without `key_env` requests are
signed with AWS credentials (extra `bedrock`, which brings botocore), those of the environment or
what `aws_credentials` names: see `scoring.aws`. Converse takes no seed and returns no
log-probabilities. What it has no field for, such as hidden reasoning, goes to the model itself by
`extra: {additionalModelRequestFields: {...}}`. Form: botocore's service model of bedrock-runtime.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from fairscreen.errors import MissingPartError
from fairscreen.scoring import aws
from fairscreen.scoring.models import ModelSpec
from fairscreen.scoring.providers.base import (
    Answer,
    HttpRequest,
    Image,
    Prompt,
    content_text,
    count,
    decoded,
    malformed,
    merged,
    obj,
    post,
    text_or_none,
    url,
)
from fairscreen.scoring.secrets import Secret

_REFUSED = {"guardrail_intervened", "content_filtered"}


def request(spec: ModelSpec, prompt: Prompt, secret: Secret | None) -> HttpRequest:
    d = spec.decoding
    content: list[dict[str, Any]] = [
        {"image": {"format": p.media_type.split("/")[-1], "source": {"bytes": p.data}}}
        if isinstance(p, Image)
        else {"text": p.text}
        for p in prompt.user
    ]
    config: dict[str, Any] = {"maxTokens": d.max_tokens}
    if d.temperature is not None:
        config["temperature"] = d.temperature
    body: dict[str, Any] = {
        "messages": [{"role": "user", "content": content}],
        "inferenceConfig": config,
    }
    if prompt.system:
        body["system"] = [{"text": prompt.system}]
    base = spec.base_url or f"https://bedrock-runtime.{spec.region}.amazonaws.com"
    address = url(base, "model", quote(spec.model, safe=""), "converse")
    plain = post(address, {}, merged(body, d.extra))
    if secret is None:
        return plain
    bearer = secret.reveal()
    headers = {"authorization": f"Bearer {bearer}"} if bearer else _signed(plain, spec, secret)
    return HttpRequest(plain.url, {**plain.headers, **headers}, plain.body)


def read(status: int, headers: Mapping[str, str], body: bytes) -> Answer:
    data = decoded(status, headers, body)
    if isinstance(data, Answer):
        return data
    blocks, reason = obj(data, "output", "message", "content"), text_or_none(data.get("stopReason"))
    if not isinstance(blocks, list) or reason is None:
        return malformed("no message", status)
    if reason == "malformed_model_output":
        return malformed("malformed_model_output", status)
    return Answer(
        "refused" if reason in _REFUSED else "answered",
        text=content_text(blocks),
        finish_reason=reason,
        tokens_in=count(obj(data, "usage", "inputTokens")),
        tokens_out=count(obj(data, "usage", "outputTokens")),
        provider_id=headers.get("x-amzn-requestid"),
    )


def _signed(plain: HttpRequest, spec: ModelSpec, secret: Secret) -> dict[str, str]:
    """The headers of AWS signature version 4 for this request, now."""
    try:
        from botocore.auth import SigV4Auth
        from botocore.awsrequest import AWSRequest
        from botocore.credentials import Credentials
    except ImportError:
        raise MissingPartError(
            "botocore",
            "is not installed; signing a Bedrock request needs it",
            "Run `pip install fairscreen[bedrock]`, or give key_env: AWS_BEARER_TOKEN_BEDROCK.",
        ) from None
    request = AWSRequest("POST", plain.url, headers=dict(plain.headers), data=plain.body)
    SigV4Auth(Credentials(*map(secret.reveal, aws.NAMES)), "bedrock", spec.region).add_auth(request)
    return {name.lower(): value for name, value in request.headers.items()}
