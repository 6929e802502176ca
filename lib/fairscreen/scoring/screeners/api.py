"""What all screeners behind an API share: address, key, limits, and how a shard gets its part."""

from __future__ import annotations

import math
from typing import Any

from pydantic import Field, JsonValue, ValidationError

from fairscreen.errors import ConfigError
from fairscreen.scoring import aws, models, secrets
from fairscreen.scoring.calls import Params
from fairscreen.scoring.models import Decoding, ModelSpec, Prices, ProviderName
from fairscreen.scoring.wire import Setup, Template, Transport
from fairscreen.settings.base import Positive, Settings


class ApiParams(Settings):
    """Null = as conf/models.yml says.

    model          id of conf/models.yml, or with `provider` the API's own name of the model
    decoding       laid over the model's
    key_env        environment variable that holds the key; or key_file, or key_scope (scope/name)
    aws_credentials   Bedrock without a key: environment, profile:NAME or chain (`scoring.aws`)
    concurrency    requests under way at once, of the whole job; where it is below scoring.shards,
                   the model is asked by as many shards
    rpm, tpm       requests and tokens per minute, of the whole job
    timeout        seconds of one attempt
    max_attempts, max_seconds   how long one call is tried
    breaker        failed calls in a row after which the wave stops
    trust_env      use the proxy that the environment names
    """

    model: str = Field(min_length=1, max_length=300)
    provider: ProviderName | None = None
    base_url: str | None = None
    api_version: str | None = None
    region: str | None = None
    weights: str | None = None
    images: bool | None = None
    image_tokens: int | None = Field(None, ge=1)
    decoding: dict[str, JsonValue] = Field(default_factory=dict)
    prices: Prices | None = None
    key_env: str | None = None
    key_file: str | None = None
    key_scope: str | None = Field(None, pattern=r"^[^/\s]+/[^/\s]+$")
    aws_credentials: str = Field("environment", pattern=aws.PATTERN)
    concurrency: int = Field(32, ge=1, le=10_000)
    rpm: Positive | None = None
    tpm: Positive | None = None
    timeout: float = Field(120.0, gt=0, le=3600, allow_inf_nan=False)
    max_attempts: int = Field(6, ge=1, le=100)
    max_seconds: float = Field(900.0, ge=0, le=86_400, allow_inf_nan=False)
    breaker: int = Field(25, ge=3, le=10_000)
    trust_env: bool = False


_OF_THE_MODEL = (
    "base_url", "api_version", "region", "weights", "images", "image_tokens", "prices", "key_env",
    "rpm", "tpm",
)  # fmt: skip


def spec(p: ApiParams, where: str) -> ModelSpec:
    """The model as this audit asks it: the entry of conf/models.yml with the parameters over it.

    Raises ConfigError naming the parameter.
    """
    own = {n: v for n in _OF_THE_MODEL if (v := getattr(p, n)) is not None}
    if p.provider is None:
        base = models.known(p.model, f"{where}.model").model_dump()
    else:
        base = {"provider": p.provider, "model": p.model}
    decoding = {**base.get("decoding", {}), **p.decoding}
    try:
        return ModelSpec.model_validate({**base, **own, "decoding": decoding})
    except ValidationError as error:
        first = error.errors()[0]
        at = ".".join(str(part) for part in (where, *first["loc"]))
        fields = Decoding if "decoding" in first["loc"] else ModelSpec
        raise ConfigError(
            at,
            first["msg"].removeprefix("Value error, "),
            f"Fields are: {', '.join(fields.model_fields)}.",
        ) from None


def prepared(p: ApiParams, model: ModelSpec, prompt: Template, where: str, shards: int) -> Params:
    """One shard's share of the limits, the prompt and the key, for the workers.

    Raises InputError where there is no key, ConfigError where a share would be less than one.
    """
    transport = Transport(
        concurrency=max(1, p.concurrency // shards),
        rpm=_share(model.rpm, shards, f"{where}.rpm", "requests"),
        tpm=_share(model.tpm, shards, f"{where}.tpm", "tokens"),
        timeout=p.timeout,
        max_attempts=p.max_attempts,
        max_seconds=p.max_seconds,
        breaker=p.breaker,
        trust_env=p.trust_env,
    )
    secret = secrets.resolve(
        where,
        key_env=model.key_env,
        key_file=p.key_file,
        key_scope=p.key_scope,
        aws=p.aws_credentials if model.provider == "bedrock" else None,
    )
    source = p.key_scope or p.key_file or model.key_env or _aws_source(p.aws_credentials)
    name = where.removeprefix("scoring.models.").removesuffix(".params")
    return {"setup": Setup(f"model {name}", model, prompt, secret, source, transport)}


def _aws_source(setting: str) -> str:
    return "the environment" if setting == "environment" else f"aws_credentials: {setting}"


def identity(p: ApiParams, model: ModelSpec) -> dict[str, Any]:
    """What answers depend on besides what is sent: never a key, a limit or a hosted address."""
    served: dict[str, Any] = {}
    if model.weights:
        served = {"weights": model.weights}
    elif p.base_url:
        served = {"base_url": p.base_url.rstrip("/")}
    return {"provider": model.provider, "model": model.model, **served}


def _share(limit: float | None, shards: int, where: str, what: str) -> float | None:
    """A whole number, so that the shards' minutes never sum to more than the limit."""
    if limit is None:
        return None
    share = math.floor(limit / shards)
    if share < 1:
        raise ConfigError(
            where,
            f"{limit:g} {what} a minute for {shards} shards is less than one each",
            "Lower scoring.shards, or set scoring.where to driver.",
        )
    return float(share)
