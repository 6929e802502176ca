"""Settings of ranking after scoring: the versions of each resume, and how much of it is shown."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, JsonValue, StringConstraints, model_validator

from fairscreen.settings.base import Settings

#: What stands in a label line: no separator of its own, no line break.
Label = Annotated[
    str,
    StringConstraints(strip_whitespace=True, min_length=1, max_length=60, pattern=r"^[^;:\r\n]+$"),
]
Level = Annotated[int, Field(ge=1, le=100)]


class Placebo(Settings):
    """A pair of labels without protected meaning, in the same slot."""

    attribute: Label = "Folder"
    labels: tuple[Label, Label] = ("Blue", "Green")


class Labels(Settings):
    """Versions of a resume that differ in one label.

    attribute, labels   of the line `Gender: Male;`; more than two labels are possible
    none                a version without a label, for quality and as the neutral rank
    placement   line: the label line. name: implied by a line `Name: First Last;`, drawn per resume
                from `names` (null = conf/label_names.yml, which has those of Gender)
    controls    share of the resumes that get the two placebo versions and a repeat of one label
    """

    attribute: Label = "Gender"
    labels: tuple[Label, ...] = ("Male", "Female")
    none: bool = True
    placement: Literal["line", "name"] = "line"
    names: dict[Label, tuple[Label, ...]] | None = None
    surnames: tuple[Label, ...] | None = None
    placebo: Placebo = Placebo()
    controls: float = Field(0.1, ge=0, le=1, allow_inf_nan=False)

    @model_validator(mode="after")
    def _labels(self) -> Labels:
        if len(self.labels) < 2:
            raise ValueError("labels: give two at least")
        for name, given in (("labels", self.labels), ("placebo.labels", self.placebo.labels)):
            twice = {label for label in given if given.count(label) > 1}
            if twice:
                raise ValueError(f"{name}: {sorted(twice)[0]} stands twice")
        if self.names is not None:
            lacking = [label for label in self.labels if len(self.names.get(label, ())) < 2]
            if lacking:
                raise ValueError(f"names: {lacking[0]} needs two names at least (one is a placebo)")
        return self


class Information(Settings):
    """How much of each resume is shown, in percent of its semantic chunks; 100 = the whole text.

    breakpoint   percentile of the distances between neighbouring sentences; above it a chunk ends
    buffer       sentences on either side that are embedded with each sentence
    rearranged   the chunks that are drawn stand in random order, as published; false: in their own
    embedder     embedding (local) or embedding_api, with params as of a model in `scoring.models`
    chunk_file   a ready table joined on Resume with a column {percent}_diluted per level below
                 100; nothing is embedded then
    """

    levels: tuple[Level, ...] = (10, 40, 60, 100)
    breakpoint: float = Field(30.0, gt=0, lt=100, allow_inf_nan=False)
    buffer: int = Field(1, ge=0, le=10)
    rearranged: bool = True
    embedder: Literal["embedding", "embedding_api"] = "embedding"
    embedder_params: dict[str, JsonValue] = Field(default_factory=dict)
    chunk_file: str | None = None

    @model_validator(mode="after")
    def _levels(self) -> Information:
        if not self.levels or len(set(self.levels)) < len(self.levels):
            raise ValueError("levels: give each once, and one at least")
        return self
