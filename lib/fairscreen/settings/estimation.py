"""Settings of what is estimated, and how: `estimation`."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, field_validator, model_validator

from fairscreen import config_checks
from fairscreen.settings.base import Attribute, Level, Positive, Settings, Share


class Contrast(Settings):
    """Two sets of values of one attribute; a positive effect favors `x1`."""

    attribute: Attribute
    x1: tuple[str, ...]
    x0: tuple[str, ...]
    x1_label: str
    x0_label: str

    @model_validator(mode="after")
    def _disjoint(self) -> Contrast:
        both = sorted(set(self.x1) & set(self.x0))
        if both or not self.x1 or not self.x0:
            raise ValueError("x1 and x0 must be non-empty and share no value")
        return self


class Rounded(Settings):
    """A number kept as such: rounded to multiples of `step`, and cut into bins beside that."""

    step: Positive
    bins: tuple[float, ...]  # inner cut points, `value < cut` goes below


class Ungrouped(Settings):
    """Mediators as features of the raw values, estimated beside the grouped ones. Both roles
    empty: not estimated."""

    redlining: tuple[str, ...]
    business: tuple[str, ...]
    numbers: dict[str, Rounded]  # by column; age may be one, though it is a confounder

    @model_validator(mode="after")
    def _exist(self) -> Ungrouped:
        bins = {column: number.bins for column, number in self.numbers.items()}
        config_checks.ungrouped(self.redlining, self.business, bins)
        return self


class Roles(Settings):
    """Which applicant columns are mediators. Z is the rest of (gender, race, age)."""

    redlining: tuple[str, ...]
    business: tuple[str, ...]
    bins: dict[str, tuple[float, ...]]  # column: inner cut points, `value < cut` goes below
    ungrouped: Ungrouped

    @model_validator(mode="after")
    def _exist(self) -> Roles:
        config_checks.roles(self.redlining, self.business, self.bins)
        return self


class Overlap(Settings):
    """When an effect is not computable, and when it is flagged (estimators.md, pitfall 2)."""

    clip: Annotated[float, Field(gt=0, lt=0.5)]
    min_effective_n: Positive
    max_unit_share: Share
    max_clipped_share: Share
    sensitivity_clips: tuple[Annotated[float, Field(gt=0, lt=0.5)], ...]

    @field_validator("clip", mode="before")
    @classmethod
    def _clip_range(cls, value: Any) -> Any:
        if isinstance(value, int | float) and not 0 < value < 0.5:
            raise ValueError(
                "leaves no propensity between its bounds. Give a value in (0, 0.5); "
                "the default is 0.001"
            )
        return value


Approach = Literal["observational", "rescoring", "both"]
Primary = Literal["eif", "rescoring"]


class Estimation(Settings):
    """What is estimated, and how.

    approach       observational: from the applicants as they are. rescoring: every applicant is
                   also asked about as somebody of another gender or race (four or five versions of
                   each contrast, see `population/counterfactual.py`), which needs applicants that
                   the generator drew. Rescoring leads where it is chosen.
    placebo_share  of the applicants whose document is asked about twice, and with another name of
                   the same kind, where rescoring is chosen
    weights        sample: effects among the applicants as they are (balanced: of their job's
                   population by P(Z)). population: beside them those of the people that they stand
                   for, with the error of the survey's design (audits/population_effects.py)
    learner        how nuisances are fitted (estimators/path_specific.py, PathOptions)
    compare        whose effects are subtracted from each other (audits/comparisons.py): pairs
                   [a, b] of models (scoring.models) or of document formats, for a minus b; all =
                   every pair of models in one format and every pair of formats of one model, in
                   the order listed
    """

    approach: Approach
    placebo_share: float = Field(ge=0, le=1, allow_inf_nan=False)
    contrasts: dict[Annotated[str, Field(pattern=r"^[A-Za-z0-9][\w.-]{0,62}$")], Contrast] = Field(
        min_length=1
    )
    roles: Roles
    weights: Literal["sample", "population"]
    learner: Literal["stack", "saturated", "glm", "xgboost"]
    propensity: Literal["fitted", "known"]
    missing: Literal["answered", "weighted"]  # where some have no answer: estimators/response.py
    max_training_cells: int = Field(ge=1000)  # nuisances: on about so many (Z, R, B) at most
    folds: int = Field(ge=2, le=50)
    repeats: int = Field(ge=1, le=100)
    level: Level
    bootstrap_draws: int = Field(ge=0)
    equivalence_margin: Positive  # points of score; below it an effect is negligible
    compare: Literal["all"] | tuple[tuple[str, str], ...]
    overlap: Overlap

    @field_validator("compare", mode="before")
    @classmethod
    def _pairs(cls, value: Any) -> Any:
        config_checks.pairs(value)
        return value

    @model_validator(mode="after")
    def _answerable(self) -> Estimation:
        if self.rescores:
            config_checks.rescoring_roles(self.roles.redlining, self.roles.business)
        if self.weights == "population" and not self.observes:
            raise ValueError(
                "weights: population weighs the observational estimate, and approach rescoring "
                "makes none; set approach: both, or weights: sample"
            )
        return self

    @property
    def observes(self) -> bool:
        return self.approach != "rescoring"

    @property
    def rescores(self) -> bool:
        return self.approach != "observational"

    @property
    def primary(self) -> Primary:
        """The method whose rows are tested in families and lead the report."""
        return "rescoring" if self.rescores else "eif"
