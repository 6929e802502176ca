"""What screeners are given, checked: parameters by a model of the kind, documents by their form."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypeVar

from pydantic import ValidationError

from fairscreen.errors import ConfigError, InputError
from fairscreen.scoring.providers.base import Image
from fairscreen.settings.base import Settings
from fairscreen.yaml_text import is_whole

P = TypeVar("P", bound=Settings)


def checked(model: type[P], params: Mapping[str, Any], where: str) -> P:
    """`params` as `model`; ConfigError names `where.field` and what is allowed."""
    if at := _broken(params):
        problem = "holds half a character (a lone surrogate), which cannot be sent"
        raise ConfigError(f"{where}.{at}", problem, "Write the text anew.")
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


def _broken(value: Any) -> str | None:
    """Where a text is that UTF-8 cannot write, as the path to it; None = nowhere."""
    if isinstance(value, str):
        return None if is_whole(value) else ""
    items: Iterable[tuple[Any, Any]] = ()
    if isinstance(value, Mapping):
        items = value.items()
    elif isinstance(value, list | tuple):
        items = enumerate(value)
    for key, inner in items:
        if isinstance(key, str) and not is_whole(key):
            return "(the name of a field)"
        if (at := _broken(inner)) is not None:
            return f"{key}.{at}".rstrip(".")
    return None


def text_only(resume: str | Image) -> str:
    """A resume for a screener that embeds text. InputError for an image."""
    if isinstance(resume, Image):
        raise InputError(
            "documents",
            f"a resume is {resume.media_type}, and this screener reads text only",
            "Ask a chat model that reads images.",
        )
    return resume
