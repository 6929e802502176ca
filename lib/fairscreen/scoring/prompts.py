"""Prompt files: what a chat model is told, as data. Shipped ones are in conf/prompts.

The text is part of every call key: another word is another call.
"""

from __future__ import annotations

import hashlib
import re

import yaml
from pydantic import ValidationError, model_validator

from fairscreen import resources, yaml_text
from fairscreen.errors import ConfigError, InputError
from fairscreen.scoring.calls import canonical
from fairscreen.scoring.providers.base import Image, Prompt, Text
from fairscreen.settings.base import Settings

_PLACE = re.compile(r"\{(job_description|resume)\}")


class PromptFile(Settings):
    """`system` and `user`; {job_description} and {resume} stand where the texts go."""

    system: str | None = None
    user: str

    @model_validator(mode="after")
    def _places(self) -> PromptFile:
        found = _PLACE.findall(f"{self.system or ''}\n{self.user}")
        for name in ("job_description", "resume"):
            if found.count(name) != 1:
                raise ValueError(
                    f"{{{name}}} must stand exactly once, it stands {found.count(name)} times"
                )
        if not self.user.strip():
            raise ValueError("user is empty, and a model answers what a user says; move it there")
        return self

    def filled(self, job_description: str, resume: str | Image) -> Prompt:
        """In one pass: braces inside a resume are text. An image stands where {resume} stands,
        between the text before it and the text after it. InputError: see `takes_images`."""
        texts = {"job_description": job_description.strip()}
        if isinstance(resume, str):
            texts["resume"] = resume.strip()
        elif not self.takes_images:
            raise InputError("prompt", "{resume} stands in its system text", "Move it to `user`.")

        def fill(template: str) -> str:
            return _PLACE.sub(lambda m: texts[m.group(1)], template).strip()

        system = fill(self.system) if self.system else None
        if isinstance(resume, str):
            return Prompt(system, (Text(fill(self.user)),))
        before, after = (fill(text) for text in self.user.split("{resume}"))
        parts = (Text(before) if before else None, resume, Text(after) if after else None)
        return Prompt(system, tuple(part for part in parts if part))

    @property
    def takes_images(self) -> bool:
        """No provider takes an image in the system text."""
        return "{resume}" in self.user

    def chars(self, job_description: str, resume: str | Image) -> int:
        """Characters that are sent, about; an image has none."""
        shown = len(resume) if isinstance(resume, str) else 0
        return len(self.system or "") + len(self.user) + len(job_description) + shown

    def sha256(self) -> str:
        return hashlib.sha256(canonical(self.model_dump(mode="json")).encode()).hexdigest()


def load(name: str, where: str) -> PromptFile:
    """A shipped prompt by its name, or a file of the user's (.yml, .yaml).

    Raises ConfigError naming `where`, the file and what is wrong with it.
    """
    own = name.endswith((".yml", ".yaml"))
    try:
        given = resources.user_path(name)
        file = given if own else resources.path("conf", "prompts", f"{name}.yml")
        data = yaml_text.parse(file.read_text(encoding="utf-8-sig"))
        return PromptFile.model_validate(data)
    except OSError:
        known = ", ".join(sorted(f.stem for f in resources.path("conf", "prompts").glob("*.yml")))
        raise ConfigError(
            where,
            f"there is no prompt {name!r}",
            f"Shipped ones are: {known}. Or give a .yml file.",
        ) from None
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        problem = yaml_text.problem(error)
        raise ConfigError(where, f"{file} {problem}", "Correct the file.") from None
    except ValidationError as error:
        first = error.errors()[0]
        problem = first["msg"].removeprefix("Value error, ")
        at = ".".join(str(part) for part in first["loc"])
        raise ConfigError(
            where,
            f"{file}{', ' + at if at else ''}: {problem}",
            "A prompt file has `user`, and `system` if you like.",
        ) from None
    except ValueError as error:
        raise ConfigError(where, str(error), "Give another path.") from None
