"""The names that profiles of paired callbacks may bear, by the group that they tell."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Surnames:
    """Surnames of one race, sorted, and how often each is taken: whole numbers, in proportion."""

    names: tuple[str, ...]
    weights: tuple[int, ...]


@dataclass(frozen=True)
class NamePools:
    """first: (race, gender) -> sorted first names, each as likely as the others; surnames: by race;
    surname_of: name, a first name of a group keeps one surname; pair, drawn for each profile."""

    first: Mapping[tuple[str, str], tuple[str, ...]]
    surnames: Mapping[str, Surnames]
    surname_of: Literal["name", "pair"]
