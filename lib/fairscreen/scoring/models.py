"""The models that can be asked by name: conf/models.yml, checked.

What stands in `Decoding` moves answers and is part of every call key. Addresses, key names and
limits are transport: another of them asks nothing again.
"""

from __future__ import annotations

import difflib
import ipaddress
from collections.abc import Mapping
from datetime import date
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

import yaml
from pydantic import Field, JsonValue, ValidationError, field_validator, model_validator

from fairscreen import resources
from fairscreen.errors import ConfigError
from fairscreen.scoring.secrets import in_path, masked
from fairscreen.settings.base import Positive, Settings

ProviderName = Literal[
    "openai", "azure_openai", "anthropic", "gemini", "bedrock", "openai_embeddings"
]
Price = Annotated[float, Field(ge=0, le=10_000, allow_inf_nan=False)]
# Of every dialect: what is asked, of whom, in how many answers, and how they arrive.
_RESERVED = {
    "model", "models", "modelId", "messages", "contents", "input", "prompt", "system",
    "systemInstruction", "system_instruction", "stream", "n",
}  # fmt: skip
_PASSED_ON = {"additionalModelRequestFields", "inferenceConfig", "generationConfig", "extra_body"}
_LONG = 20  # characters of what may be a key in a place for names
_ID = r"^[A-Za-z0-9][\w.-]{0,62}$"


class Decoding(Settings):
    """How an answer is drawn. A provider that has no field for one of them leaves it out.

    temperature       null = not sent (models that refuse it)
    seed              null = not sent
    max_tokens        of the answer, hidden reasoning included
    max_tokens_field  OpenAI's dialect has two names; newer models take only the second
    reasoning         off or minimal: as little hidden reasoning as the provider allows;
                      null: nothing is said
    logprobs          alternatives per token to ask for, 0 = none
    extra             laid over the request's body as it is; null takes a field away. Not what is
                      asked of whom: see `_RESERVED`
    """

    temperature: Annotated[float, Field(ge=0, le=2, allow_inf_nan=False)] | None = 0.0
    seed: int | None = Field(None, ge=-(2**63), lt=2**63)
    max_tokens: int = Field(16, ge=1, le=100_000)
    max_tokens_field: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    reasoning: Literal["off", "minimal"] | None = None
    logprobs: int = Field(0, ge=0, le=20)
    extra: dict[str, JsonValue] = Field(default_factory=dict)

    @model_validator(mode="before")
    @classmethod
    def _off(cls, data: Any) -> Any:
        # YAML 1.1 reads a bare `off` as false.
        if isinstance(data, Mapping) and data.get("reasoning") is False:
            return {**data, "reasoning": "off"}
        return data

    @field_validator("extra")
    @classmethod
    def _asks_nothing_else(cls, extra: dict[str, JsonValue]) -> dict[str, JsonValue]:
        if name := _reserved(extra):
            raise ValueError(
                f"sets {name}, which is the prompt's, the model's or the client's to say: what is "
                "asked would not be what the audit says"
            )
        return extra


def _reserved(extra: Mapping[str, Any]) -> str | None:
    """The first field that no `extra` may set, also inside what goes to the model as it is."""
    for name, value in extra.items():
        if name in _RESERVED:
            return name
        if name in _PASSED_ON and isinstance(value, Mapping) and (found := _reserved(value)):
            return f"{name}.{found}"
    return None


def _is_address(url: str) -> bool:
    """Whether a host can be looked up under it and a port connected to."""
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port
        if ":" in host:
            ipaddress.IPv6Address(host.split("%")[0])
        else:
            host.encode("idna")
    except ValueError:  # UnicodeError is one
        return False
    return bool(host) and host.isprintable() and port != 0


class Prices(Settings):
    """US dollars per million tokens, and the day on which the source last looked them up."""

    tokens_in: Price
    tokens_out: Price
    checked: date | None = None


class ModelSpec(Settings):
    """One model as it is asked. `size_b`: billions of parameters, null where not published."""

    provider: ProviderName
    model: str = Field(min_length=1, max_length=300)
    base_url: str | None = Field(None, pattern=r"^https?://[^\s?#]+$")
    api_version: str | None = Field(None, pattern=r"^[\w.-]+$")  # Azure's dated address
    region: str | None = Field(None, pattern=r"^[a-z0-9-]+$")  # Bedrock
    weights: str | None = None  # what a server of one's own serves: name and revision, or SHA-256
    family: str | None = None
    size_b: Positive | None = None
    released: str | None = Field(None, pattern=r"^20\d{2}-(0[1-9]|1[0-2])$")
    generation: str | None = None
    images: bool = False  # whether it reads them
    image_tokens: int = Field(5000, ge=1)  # that one image may need, see limits.py
    prices: Prices | None = None
    decoding: Decoding = Field(default_factory=lambda: Decoding.model_validate({}))
    key_env: str | None = Field(None, pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")
    rpm: Positive | None = None  # requests per minute, null = no limit kept
    tpm: Positive | None = None  # tokens per minute

    @field_validator("base_url")
    @classmethod
    def _reachable(cls, url: str | None) -> str | None:
        if url is not None and not _is_address(url):
            raise ValueError(f"{url} is no address; it is written like http://127.0.0.1:8080/v1")
        return url

    @model_validator(mode="after")
    def _complete(self) -> ModelSpec:
        if self.key_env and len(self.key_env) >= _LONG and masked(self.key_env) != self.key_env:
            raise ValueError("key_env looks like a key; it takes the NAME of a variable")
        if self.base_url and "@" in self.base_url.split("/")[2]:
            raise ValueError(
                "base_url holds a user or password; keys belong in key_env or key_file"
            )
        if self.base_url and in_path(self.base_url):
            raise ValueError("base_url holds what looks like a key; it belongs in key_env")
        if self.provider == "azure_openai" and not self.base_url:
            raise ValueError("azure_openai needs base_url, the address of the resource")
        if self.provider == "bedrock" and not (self.base_url or self.region):
            raise ValueError("bedrock needs region")
        return self

    def cost_usd(self, tokens_in: int | None, tokens_out: int | None) -> float | None:
        """What a call cost; None where a price or a count is not known."""
        if self.prices is None or tokens_in is None or tokens_out is None:
            return None
        dollars = self.prices.tokens_in * tokens_in + self.prices.tokens_out * tokens_out
        return round(dollars / 1e6, 12)


class Registry(Settings):
    """conf/models.yml. `panels`: the published panels, each a list of ids of `models`."""

    models: dict[Annotated[str, Field(pattern=_ID)], ModelSpec]
    panels: dict[str, tuple[str, ...]]

    @model_validator(mode="after")
    def _panels_exist(self) -> Registry:
        for name, ids in self.panels.items():
            for model in ids:
                if model not in self.models:
                    raise ValueError(f"panel {name}: {model} is no model of this file")
        return self


def read(file: Path) -> Registry:
    """A registry; ConfigError names the file and the field."""
    try:
        return Registry.model_validate(yaml.safe_load(file.read_text(encoding="utf-8")))
    except (OSError, yaml.YAMLError, UnicodeDecodeError):
        raise ConfigError(str(file), "cannot be read", "Restore the file.") from None
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        problem = first["msg"].removeprefix("Value error, ")
        raise ConfigError(f"{file}, {where}", problem, "Correct this field.") from None


@lru_cache(maxsize=1)
def shipped() -> Registry:
    return read(resources.path("conf", "models.yml"))


def known(name: str, where: str) -> ModelSpec:
    """The model of that id; ConfigError, with the nearest ids, where there is none."""
    models = shipped().models
    if name not in models:
        near = difflib.get_close_matches(name, models, n=3, cutoff=0.4) or sorted(models)
        raise ConfigError(
            where,
            f"{name!r} is no model of conf/models.yml",
            f"Near it are: {', '.join(near)}. Or describe one: provider, model, base_url.",
        )
    return models[name]
