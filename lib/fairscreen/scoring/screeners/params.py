"""What screeners are given, checked: parameters by a model of the kind, documents by their form."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from pydantic import ValidationError

from fairscreen.errors import ConfigError, InputError
from fairscreen.scoring.providers.base import Image
from fairscreen.settings.base import Settings

P = TypeVar("P", bound=Settings)


def checked(model: type[P], params: Mapping[str, Any], where: str) -> P:
    """`params` as `model`; ConfigError names `where.field` and what is allowed."""
    try:
        return model.model_validate(dict(params))
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(str(part) for part in (where, *first["loc"]) if part != "[key]")
        problem = first["msg"].removeprefix("Value error, ")
        if first["type"] == "extra_forbidden":
            problem = "is not a parameter of this kind"
        names = ", ".join(model.model_fields) or "none"
        raise ConfigError(field, problem, f"Parameters are: {names}.") from None


def text_only(resume: str | Image) -> str:
    """A resume for a screener that embeds text. InputError for an image."""
    if isinstance(resume, Image):
        raise InputError(
            "documents",
            f"a resume is {resume.media_type}, and this screener reads text only",
            "Ask a chat model that reads images.",
        )
    return resume
