"""Cosine similarity of resume and job description, by an embedding model behind an API.

The screener `embedding` with another encoder: one that reads a whole resume at once. Parameters
are those of a chat model; of the decoding only `extra` is sent (such as `dimensions`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from fairscreen.errors import ConfigError
from fairscreen.scoring.calls import Kind, Params
from fairscreen.scoring.client import Client
from fairscreen.scoring.models import ModelSpec
from fairscreen.scoring.money import Terms
from fairscreen.scoring.providers.base import Image, Prompt, Text
from fairscreen.scoring.screeners import api
from fairscreen.scoring.screeners.params import checked, text_only


@dataclass(frozen=True)
class Pair:
    """Both texts as they are, in the place of a prompt."""

    def filled(self, job_description: str, resume: str | Image) -> Prompt:
        return Prompt(None, (Text(text_only(resume)), Text(job_description)))

    def chars(self, job_description: str, resume: str | Image) -> int:
        return len(job_description) + len(text_only(resume))


def _read(params: Params, where: str) -> tuple[api.ApiParams, ModelSpec]:
    p = checked(api.ApiParams, params, where)
    model = api.spec(p, where)
    if model.provider != "openai_embeddings":
        raise ConfigError(
            f"{where}.model",
            f"{p.model} does not embed",
            "Give a model whose provider is openai_embeddings.",
        )
    return p, model


def _check(params: Params, where: str) -> None:
    _read(params, where)


def _prepare(params: Params, where: str, shards: int) -> Params:
    return api.prepared(*_read(params, where), Pair(), where, shards)


def _terms(params: Params) -> Terms:
    p, model = _read(params, "params")
    return Terms(model, Pair(), p.concurrency)


def _identity(params: Params) -> dict[str, Any]:
    p, model = _read(params, "params")
    return {**api.identity(p, model), "extra": model.decoding.extra}


def _version(params: Params) -> str:
    _, model = _read(params, "params")
    return model.weights or model.model


KIND = Kind(
    name="embedding_api",
    model=_version,
    check=_check,
    identity=_identity,
    open=lambda prepared: Client(prepared["setup"]),
    parser="cosine/1",
    version=_version,
    sends="documents",
    prepare=_prepare,
    terms=_terms,
)
