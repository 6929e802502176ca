"""Settings of an audit of the design `ranking`; versions and information are in `ranking`."""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from fairscreen import config_checks
from fairscreen.documents.leakage import KINDS
from fairscreen.documents.neutralise import Policy
from fairscreen.settings.audit import AuditConfig
from fairscreen.settings.base import Level, Positive, Settings
from fairscreen.settings.ranking import Information, Labels

#: How a chat model is asked, and how it is read, unless its entry says otherwise.
PROMPT, PARSER = "score_0_10_json", "score_0_10_json/2"


class Corpus(Settings):
    """Whose resumes: `fairscreen ingest corpus` says what a source can be.

    industry, role, role_from  what a source does not tell itself, as the options of that command
    industries                 those taken; null = all there are
    per_industry               so many resumes of each; null = all
    choose                     middle: the middle ones by length, as published; sample: a hash's
    """

    paths: tuple[str, ...]
    industry: str | None = None
    role: str | None = None
    role_from: Literal["first-line", "capitals"] | None = None
    industries: tuple[str, ...] | None
    per_industry: Annotated[int, Field(ge=2, le=1_000_000)] | None
    choose: Literal["middle", "sample"]

    @model_validator(mode="after")
    def _some(self) -> Corpus:
        config_checks.not_empty("paths", self.paths)
        if self.industries is not None:
            config_checks.not_empty("industries", self.industries)
            config_checks.once("industries", self.industries)
        return self


class Leakage(Settings):
    """What happens to cues that a resume's own text gives (documents/neutralise.py).

    policy  keep, flag: texts as they are. exclude: resumes with a cue are left out and counted.
            neutralise: cues are reworded. But for exclude, effects are told with and without the
            resumes that came with a cue
    kinds   of cues that count (documents/leakage.py); null = all
    cues    a file of cue lists of your own; null = conf/leakage.yml
    """

    policy: Policy
    kinds: tuple[str, ...] | None
    cues: str | None = None

    @model_validator(mode="after")
    def _known(self) -> Leakage:
        for kind in self.kinds or ():
            if kind not in KINDS:
                raise ValueError(f"kinds: {kind} is none; kinds are {', '.join(KINDS)}")
        if self.kinds is not None:
            config_checks.not_empty("kinds", self.kinds)
            config_checks.once("kinds", self.kinds)
        return self


class RankingEstimation(Settings):
    """What is estimated, and how (estimators/ranking.py, RankingOptions).

    pairs               [favored, other]: whose ranks are compared; null = the first label with each
                        of the others. Which one is called favored promises nothing
    equivalence_margin  ranks; a gap below it is negligible
    published_draws     of the published pooled permutation; 0 = without it
    swaps               draws of the paired swap test of spread
    """

    pairs: tuple[tuple[str, str], ...] | None
    level: Level
    equivalence_margin: Positive
    published_draws: int = Field(ge=0, le=10_000_000)
    swaps: int = Field(ge=99, le=10_000_000)

    @model_validator(mode="after")
    def _enough(self) -> RankingEstimation:
        if self.pairs is not None:
            config_checks.not_empty("pairs", self.pairs)
            config_checks.pairs(self.pairs)
        if 0 < self.published_draws < 99:
            raise ValueError(f"published_draws: {self.published_draws} is too few; give 99, or 0")
        return self


class RankingConfig(AuditConfig):
    """One audit of ranking after scoring (JobFair). runs: how often each version is asked."""

    design: Literal["ranking"]
    corpus: Corpus
    labels: Labels
    runs: int = Field(ge=1, le=100)
    information: Information
    leakage: Leakage
    estimation: RankingEstimation

    @model_validator(mode="before")
    @classmethod
    def _asked_as_published(cls, data: Any) -> Any:
        """Chat models get the design's prompt, and its parser with it, where they name neither."""
        return config_checks.asked_as(data, PROMPT, PARSER)

    @model_validator(mode="after")
    def _consistent(self) -> RankingConfig:
        for name, model in self.scoring.models.items():
            if model.also_parsers:
                raise ValueError(
                    f"scoring.models.{name}.also_parsers: parsers are compared by gender and race "
                    "of applicants, which this design does not have; take them away"
                )
        for label in (label for pair in self.estimation.pairs or () for label in pair):
            if label not in self.labels.labels:
                raise ValueError(
                    f"estimation.pairs: {label} is no label; labels are "
                    f"{', '.join(self.labels.labels)}"
                )
        return self

    @property
    def attribute(self) -> str:
        """Of the labels, as tables have it."""
        return slug(self.labels.attribute)

    @property
    def pairs(self) -> dict[str, tuple[str, str]]:
        """(favored, other) by the name of the contrast."""
        first, *rest = self.labels.labels
        given = self.estimation.pairs or tuple((first, label) for label in rest)
        return {f"{slug(one)}_vs_{slug(two)}": (one, two) for one, two in given}


def slug(text: str) -> str:
    """A label as names of contrasts have it."""
    return re.sub(r"\W+", "_", text.strip().lower()).strip("_")
