"""Settings of what is shown and who is asked: `documents`, `scoring`."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, JsonValue, field_validator, model_validator

from fairscreen import config_checks
from fairscreen.scoring.parse import PARSERS
from fairscreen.settings.base import Positive, Settings


class Documents(Settings):
    """What is rendered. `as_of` (YYYY-MM) is the month in which everybody applies."""

    formats: tuple[Literal["text"], ...]
    as_of: str = Field(pattern=r"^(19|20)\d{2}-(0[1-9]|1[0-2])$")

    @model_validator(mode="after")
    def _formats(self) -> Documents:
        config_checks.not_empty("formats", self.formats)
        config_checks.once("formats", self.formats)
        return self


class Screener(Settings):
    """One model to audit. `params` belong to the kind and are checked by it.

    parser        how replies are read (scoring/parse.py); null = the kind's own. Another one reads
                  what was answered again and asks nothing.
    also_parsers  read the same replies; how often they differ, for whom and what that does to the
                  raw gap of each contrast goes to `parser_agreement` and the report's notes
    """

    kind: Literal[
        "embedding", "planted", "planted_ranking", "planted_callbacks", "chat", "embedding_api"
    ]
    params: dict[str, JsonValue] = Field(default_factory=dict)
    parser: str | None = None
    also_parsers: tuple[str, ...] = ()

    @model_validator(mode="after")
    def _parsers_exist(self) -> Screener:
        given = [*([self.parser] if self.parser else []), *self.also_parsers]
        config_checks.parsers(given, PARSERS)
        config_checks.once("parser and also_parsers together", given)
        return self


class Scoring(Settings):
    """Whom to ask, and how.

    wave_size     calls of one wave, at most: what one commit brings into the tables
    wave_minutes  a wave ends this long after its first answer, is committed, and what is left is
                  split anew over all shards: so that no shard waits for a slower one
    max_cost      US dollars that all runs of this audit may cost together (`scoring.money` says
                  what that holds for); null = no limit
    """

    models: dict[Annotated[str, Field(pattern=r"^[A-Za-z0-9][\w.-]{0,62}$")], Screener] = Field(
        min_length=1
    )
    shards: int = Field(ge=1, le=10_000)
    wave_size: int = Field(ge=1, le=2**31 - 1)  # Spark's limit() takes no more
    wave_minutes: Positive
    max_cost: Annotated[float, Field(ge=0, allow_inf_nan=False)] | None = None
    segment_size: int = Field(ge=1, le=100_000)  # replies per journal file
    where: Literal["executors", "driver"]
    journal: str | None = None  # folder of driver and executors; null = inside the warehouse

    @field_validator("journal")
    @classmethod
    def _place(cls, name: str | None) -> str | None:
        return None if name is None else config_checks.place(name)
