"""Settings of an audit of the design `paired_callback` (Gao, Jiang & Yan 2026)."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from fairscreen import config_checks
from fairscreen.settings.audit import AuditConfig
from fairscreen.settings.base import Level, Positive, Settings
from fairscreen.settings.callback_names import CallbackNames
from fairscreen.settings.pairs import Contrast, Pairs
from fairscreen.settings.postings import Postings

#: How a chat model is asked, and how it is read, unless its entry says otherwise.
PROMPT, PARSER = "callback_yes_no", "yes_no_one_word/2"
#: Name of the pairs of two names of one race and gender.
PLACEBO = "placebo"
Slice = Literal["company", "industry", "state", "region", "metro", "job_type", "within"]


class CallbackEstimation(Settings):
    """What is estimated, and how (estimators/callbacks.py, CallbackOptions).

    slices        columns to report by; within: the value of each factor that both arms share, so
                  gender within race and race within gender
    draws         of the bootstrap by posting; permutations: of labels over names
    margin        percentage points; a gap below it is negligible
    min_postings  a slice with fewer is told as not computable
    """

    slices: tuple[Slice, ...]
    level: Level
    draws: int = Field(ge=99, le=1_000_000)
    permutations: int = Field(ge=99, le=1_000_000)
    margin: Positive
    min_postings: int = Field(ge=2, le=1_000_000)

    @model_validator(mode="after")
    def _once(self) -> CallbackEstimation:
        config_checks.once("slices", self.slices)
        return self


class PanelEntry(Settings):
    """Release month and family of a model, where conf/models.yml does not tell them."""

    released: Annotated[str, Field(pattern=r"^20\d{2}-(0[1-9]|1[0-2])$")] | None = None
    family: str | None = None


class CallbackConfig(AuditConfig):
    """One audit of paired callbacks. panel: by key of scoring.models."""

    design: Literal["paired_callback"]
    postings: Postings
    names: CallbackNames
    pairs: Pairs
    contrasts: dict[Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9_-]{0,40}$")], Contrast] = Field(
        min_length=1
    )
    estimation: CallbackEstimation
    panel: dict[str, PanelEntry] = Field(default_factory=dict)

    @model_validator(mode="before")
    @classmethod
    def _asked_as_published(cls, data: Any) -> Any:
        """Chat models get the design's prompt, and its parser with it, where they name neither."""
        return config_checks.asked_as(data, PROMPT, PARSER)

    @model_validator(mode="after")
    def _consistent(self) -> CallbackConfig:
        models = list(self.scoring.models)
        if PLACEBO in self.contrasts:
            raise ValueError(f"contrasts: {PLACEBO} is the name of the control; take another")
        for name, contrast in self.contrasts.items():
            for model in contrast.models or ():
                if model not in models:
                    raise ValueError(f"contrasts.{name}.models: {model} is none of scoring.models")
        for model in self.panel:
            if model not in models:
                raise ValueError(f"panel: {model} is none of scoring.models")
        for name, screener in self.scoring.models.items():
            if screener.also_parsers:
                raise ValueError(
                    f"scoring.models.{name}.also_parsers: parsers are compared by gender and race "
                    "of applicants, which this design does not have; take them away"
                )
        return self

    def asked(self, contrast: str) -> tuple[str, ...]:
        """Models that are asked about a contrast, in the order of scoring.models. The placebo is
        asked of every model."""
        wanted = None if contrast == PLACEBO else self.contrasts[contrast].models
        return tuple(m for m in self.scoring.models if wanted is None or m in wanted)
