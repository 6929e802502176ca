"""Settings of the names that tell a group in paired callbacks."""

from __future__ import annotations

from typing import Literal

from pydantic import model_validator

from fairscreen import config_checks
from fairscreen.settings.base import Settings, Share


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
    typicality    of source population: least share of a name's bearers that are of its group
    birth_years   whose births tell the gender of a first name
    weak_below    a name is flagged where fewer of its bearers (share) are of its list's group
    drop_weak     whether flagged names are left out
    balance       names are taken so that this is distributed alike in all races: the lists' column
    ssa, census   what lists are checked against, and names of source population come from
    """

    source: Literal["list", "population"]
    first: tuple[str, ...]
    sources: tuple[str, ...] | None = None
    surnames: tuple[str, ...]
    surname_of: Literal["name", "pair"]
    typicality: Share
    birth_years: tuple[int, int]
    weak_below: Share
    drop_weak: bool
    balance: Literal["mother_education", "cohort"] | None = None
    ssa: str
    census: str

    @model_validator(mode="after")
    def _fits(self) -> CallbackNames:
        if self.source == "list":
            config_checks.not_empty("first", self.first)
        if self.sources is not None:
            config_checks.not_empty("sources", self.sources)
            config_checks.once("sources", self.sources)
        if self.birth_years[0] > self.birth_years[1]:
            raise ValueError("birth_years: the first year is after the last")
        return self
