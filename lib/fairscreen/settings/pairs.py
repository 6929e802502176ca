"""Settings of paired callbacks: which profiles are compared, and what they show beside the name."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, StringConstraints, model_validator

from fairscreen import config_checks
from fairscreen.settings.base import Settings

Factor = Literal["race", "gender"]
PostingField = Literal["company", "title", "location", "posted", "industry", "description"]
Age = Annotated[int, Field(ge=18, le=90)]
#: A race as the lists of names have it; genders are female and male.
Value = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9_ -]{0,40}$")]


class Contrast(Settings):
    """Two arms whose names differ in `favored` and `other`, and in nothing else that names tell.

    favored, other  factor -> value: race, gender, or both. Which is called favored promises nothing
    draw            factor -> values: each pair has one of them, drawn
    each            factor -> values: each profile gives a pair for every value (four arms)
    models          who is asked; null = every model
    A factor stands in favored and other, or in draw, or in each.
    """

    favored: dict[Factor, Value]
    other: dict[Factor, Value]
    draw: dict[Factor, tuple[Value, ...]] = Field(default_factory=dict)
    each: dict[Factor, tuple[Value, ...]] = Field(default_factory=dict)
    models: tuple[str, ...] | None = None

    @model_validator(mode="after")
    def _fits(self) -> Contrast:
        if set(self.favored) != set(self.other) or not self.favored:
            raise ValueError("favored and other must tell the same factors")
        if self.favored == self.other:
            raise ValueError("favored and other are the same")
        held = [*self.favored, *self.draw, *self.each]
        config_checks.once("a factor of the contrast", held)
        if lacking := {"race", "gender"} - set(held):
            raise ValueError(
                f"{sorted(lacking)[0]} is told nowhere; put it under draw or each, with its values"
            )
        for name, values in {**self.draw, **self.each}.items():
            config_checks.not_empty(name, values)
            config_checks.once(name, values)
        if self.models is not None:
            config_checks.not_empty("models", self.models)
            config_checks.once("models", self.models)
        genders = [self.favored.get("gender"), self.other.get("gender"),
                   *self.draw.get("gender", ()), *self.each.get("gender", ())]  # fmt: skip
        if wrong := [g for g in genders if g not in (None, "female", "male")]:
            raise ValueError(f"gender {wrong[0]} is none; lists of names have female and male")
        return self

    @property
    def attribute(self) -> str:
        """What the estimates are about: race, gender, or race+gender."""
        return "+".join(self.favored)

    @property
    def arms(self) -> tuple[str, str]:
        """Favored and other, as slices of `estimates` have them: race=white."""
        one, two = (
            "; ".join(f"{factor}={value}" for factor, value in side.items())
            for side in (self.favored, self.other)
        )
        return one, two

    @property
    def labels(self) -> tuple[str, str]:
        """Favored and other, as reports call them."""
        one, two = (" ".join(side.values()) for side in (self.favored, self.other))
        return one, two


class Pairs(Settings):
    """Profiles for each posting, each in arms that differ in the name.

    per_posting  profiles (pair_id 0, 1, ...)
    names        distinct: no name twice within a posting and contrast; repeat: as published
    placebo      share of the postings that also get pairs of two names of one race and gender
    ages         whole years, drawn: from 18, at which a high school is finished
    show_gender  whether the profile names the gender (pairs by gender then differ in it too)
    posting_fields  of a posting that the prompt shows, in this order, where the posting tells them;
                    location: metro and state
    reference    a file of schools and employers of your own; null = conf/profiles.yml
    """

    per_posting: int = Field(ge=1, le=100)
    names: Literal["distinct", "repeat"]
    placebo: float = Field(ge=0, le=1, allow_inf_nan=False)
    ages: tuple[Age, Age]
    show_gender: bool
    posting_fields: tuple[PostingField, ...]
    reference: str | None = None

    @model_validator(mode="after")
    def _fits(self) -> Pairs:
        if self.ages[0] > self.ages[1]:
            raise ValueError("ages: the first is above the last")
        config_checks.not_empty("posting_fields", self.posting_fields)
        config_checks.once("posting_fields", self.posting_fields)
        return self
