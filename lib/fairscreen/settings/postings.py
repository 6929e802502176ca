"""Settings of job postings: which are read, which of them an audit takes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Annotated, Literal

from pydantic import Field, field_validator, model_validator

from fairscreen import config_checks
from fairscreen.settings.base import Settings

#: What a posting may tell; `columns` maps these to what a file calls them.
FIELDS = (
    "company", "title", "metro", "state", "posted", "description", "industry", "job_type",
)  # fmt: skip
Field_ = Literal[
    "company", "title", "metro", "state", "posted", "description", "industry", "job_type"
]
#: Without these a posting is incomplete, as published.
REQUIRED = ("company", "title", "metro", "state", "posted")


class PostingSample(Settings):
    """So many postings, in stated shares.

    n       postings; null = all that are left
    by      company or industry: strata; null = every posting has the same chance
    target  share of each stratum (any positive numbers, in proportion); null = as in the postings
    """

    n: Annotated[int, Field(ge=2, le=10_000_000)] | None = None
    by: Literal["company", "industry"] | None = None
    target: dict[str, Annotated[float, Field(gt=0, allow_inf_nan=False)]] | None = None

    @model_validator(mode="after")
    def _fits(self) -> PostingSample:
        if self.target is not None:
            config_checks.not_empty("target", self.target)
            if self.by is None or self.n is None:
                raise ValueError("target needs by (company or industry) and n")
        if self.by is not None and self.n is None:
            raise ValueError("by needs n: how many postings there are to be")
        return self


class Postings(Settings):
    """Whose jobs: `fairscreen ingest postings` says what a source can be.

    columns      our field -> what the files call it, where that is another name
    entry_level  a posting is taken if its title holds one of these words; empty = every posting
    require      fields without which a posting is incomplete, left out and counted
    """

    paths: tuple[str, ...]
    columns: dict[Field_, str] = Field(default_factory=dict)
    entry_level: tuple[str, ...]
    require: tuple[Field_, ...]
    sample: PostingSample

    @field_validator("entry_level")
    @classmethod
    def _words(cls, words: tuple[str, ...]) -> tuple[str, ...]:
        for word in words:
            if not re.fullmatch(r"\S(.*\S)?", word):
                raise ValueError(f"{word!r} is no word; write it without blanks around it")
        config_checks.once("entry_level", [word.casefold() for word in words])
        return words

    @model_validator(mode="after")
    def _some(self) -> Postings:
        config_checks.not_empty("paths", self.paths)
        config_checks.once("require", self.require)
        return self


def word_pattern(words: Sequence[str]) -> str:
    """Regular expression, for Python and for Java alike: group 1 is one of the words, whole.

    Longer words first, so that of two that begin at one place the longer is found.
    """
    texts = sorted(words, key=lambda word: (-len(word), word))
    either = "|".join(r"\s+".join(re.escape(part) for part in word.split()) for word in texts)
    return rf"(?<!\w)({either})(?:es|s)?(?!\w)"
