"""A chat model behind an API: hosted, or a server of one's own.

`model` names an entry of conf/models.yml, whose fields the parameters may overlay; with `provider`
it is the name that the API itself knows, and nothing else is needed but an address.

What its answers depend on (`identity`): provider, model, decoding, the prompt's text. The address
of a hosted model is transport. A `base_url` of the audit's own is part of the identity, because
there the name says little: what answers is whatever that server has loaded. Give `weights` (name
and revision, or a SHA-256) and these stand in its place, so that the server may move. Keys,
limits, timeouts and concurrency are never part of it.
"""

from __future__ import annotations

from typing import Any

from fairscreen.errors import ConfigError
from fairscreen.scoring import prompts
from fairscreen.scoring.calls import Kind, Params
from fairscreen.scoring.client import Client
from fairscreen.scoring.models import ModelSpec
from fairscreen.scoring.money import Terms
from fairscreen.scoring.screeners import api
from fairscreen.scoring.screeners.params import checked


class ChatParams(api.ApiParams):
    """`prompt`: name of a file of conf/prompts, or path of a .yml file."""

    prompt: str = "score_0_100"


def _read(params: Params, where: str) -> tuple[ChatParams, ModelSpec, prompts.PromptFile]:
    p = checked(ChatParams, params, where)
    model = api.spec(p, where)
    if model.provider == "openai_embeddings":
        raise ConfigError(
            f"{where}.model", f"{p.model} embeds and does not chat", "Write kind: embedding_api."
        )
    return p, model, prompts.load(p.prompt, f"{where}.prompt")


def _check(params: Params, where: str) -> None:
    # Not the key: who asks nothing, because everything is answered, needs none.
    _read(params, where)


def _check_images(params: Params, where: str, document: str) -> None:
    p, model, prompt = _read(params, f"{where}.params")
    if not model.images:
        raise ConfigError(
            f"{where}.params.images",
            f"{p.model} reads no images, and {document}",
            "Take the image format out of documents.formats, or another model; a model of your "
            "own that reads images says `images: true`.",
        )
    if not prompt.takes_images:
        raise ConfigError(
            f"{where}.params.prompt",
            f"{p.prompt}: {{resume}} stands in its system text, where no image can, and {document}",
            "Move {resume} to `user`.",
        )


def _prepare(params: Params, where: str, shards: int) -> Params:
    return api.prepared(*_read(params, where), where, shards)


def _terms(params: Params) -> Terms:
    p, model, prompt = _read(params, "params")
    return Terms(model, prompt, p.concurrency)


def _identity(params: Params) -> dict[str, Any]:
    p, model, prompt = _read(params, "params")
    decoding = model.decoding.model_dump(mode="json", exclude={"max_tokens_field"})
    return {**api.identity(p, model), "decoding": decoding, "prompt_sha256": prompt.sha256()}


def _name(params: Params) -> str:
    _, model, _ = _read(params, "params")
    return f"{model.provider}:{model.model}"


def _version(params: Params) -> str:
    _, model, _ = _read(params, "params")
    return model.weights or model.model


KIND = Kind(
    name="chat",
    model=_name,
    check=_check,
    identity=_identity,
    open=lambda prepared: Client(prepared["setup"]),
    parser="score_0_100/2",
    version=_version,
    sends="documents",
    prepare=_prepare,
    terms=_terms,
    check_images=_check_images,
)
