"""Settings of the names that tell a group in paired callbacks."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from fairscreen import config_checks
from fairscreen.settings.base import Positive, Settings, Share


class CallbackNames(Settings):
    """Where names come from, and what is asked of them.

    source        list: from `first` and `surnames`; population: first names from the SSA's births
                  by gender, surnames from the Census Bureau's shares by race, both at `typicality`
    first         lists of first names: name, race, gender (source, mother_education, cohort)
    sources       of those lists (their column `source`); null = all
    surnames      lists of surnames: name, race; empty = by the Census Bureau's shares of each race
    surname_of    name: a first name keeps one surname in the whole audit, so that a full name is
                  one name and the interval that clusters by names covers both; pair: drawn anew
                  for each profile, as published
    typicality    of names from the SSA and the Census: least share of the bearers that are of the
                  name's group; names of lists are taken as they are
    per_group     of those names at most so many of each group, the most frequent; null = all
    birth_years   whose births tell the gender of a first name
    weak_below    a name is flagged where fewer of its bearers (share) are of its list's group
    drop_weak     whether flagged names are left out
    balance       first names are taken in matched sets, one of each race, so that this column of
                  the lists is distributed alike in all races
    caliper       of balance: how far matched names may differ, in standard deviations of a race
    ssa, census   what lists are checked against, and names of source population come from
    """

    source: Literal["list", "population"]
    first: tuple[str, ...]
    sources: tuple[str, ...] | None = None
    surnames: tuple[str, ...]
    surname_of: Literal["name", "pair"]
    typicality: Annotated[float, Field(gt=0.5, lt=1)]  # so that no name is typical of two groups
    per_group: Annotated[int, Field(ge=2, le=1_000_000)] | None
    birth_years: tuple[int, int]
    weak_below: Share
    drop_weak: bool
    balance: Literal["mother_education", "cohort"] | None = None
    caliper: Positive
    ssa: str
    census: str

    @model_validator(mode="after")
    def _fits(self) -> CallbackNames:
        if self.source == "list":
            config_checks.not_empty("first", self.first)
        elif self.balance is not None:
            raise ValueError(
                "balance: the SSA does not tell the class of names; set source: list, or "
                "balance: null"
            )
        if self.sources is not None:
            config_checks.not_empty("sources", self.sources)
            config_checks.once("sources", self.sources)
        if self.birth_years[0] > self.birth_years[1]:
            raise ValueError("birth_years: the first year is after the last; swap them")
        return self
