"""Adapters of model APIs, by the name that `provider` gives in conf/models.yml."""

from __future__ import annotations

from collections.abc import Mapping

from fairscreen.scoring.providers import (
    anthropic,
    azure_openai,
    bedrock,
    gemini,
    openai,
    openai_embeddings,
)
from fairscreen.scoring.providers.base import Provider

PROVIDERS: Mapping[str, Provider] = {
    "openai": openai,
    "azure_openai": azure_openai,
    "anthropic": anthropic,
    "gemini": gemini,
    "bedrock": bedrock,
    "openai_embeddings": openai_embeddings,
}
