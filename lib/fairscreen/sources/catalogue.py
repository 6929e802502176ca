"""Addresses of the published files and what they must be: `conf/sources.yml`, checked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from functools import cache
from typing import Annotated, Literal

import yaml
from pydantic import Field, ValidationError

from fairscreen import resources
from fairscreen.errors import ConfigError, InputError
from fairscreen.population.geography import STATES
from fairscreen.settings.base import Settings
from fairscreen.sources.transfer import Expected

NATION = "us"
#: Person files exist for the nation (without Puerto Rico), 50 states, DC and Puerto Rico.
AREAS = (NATION, *sorted(state.usps.lower() for state in STATES.values()), "pr")


class Release(Settings):
    """ACS person files of one period (1 or 5 years) that lie under one kind of address."""

    period: Literal[1, 5]
    first: int  # last survey year in the earliest file
    last: int | None = None  # ... in the latest; null = still published
    path: str
    not_released: dict[int, str] = Field(default_factory=dict)  # year: why


class Acs(Settings):
    base: str
    file: str
    releases: tuple[Release, ...]


class Single(Settings):
    """A source that is one file."""

    base: str
    path: str
    file: str


class Record(Settings):
    """What a file must be, and how that is known."""

    sha256: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
    size: Annotated[int, Field(gt=0)]
    day: date
    how: str


class Catalogue(Settings):
    acs: Acs
    names: Single
    surnames: Single
    recorded: dict[str, Record]


@dataclass(frozen=True)
class Item:
    """One file to fetch: its address, its name here, and what it must be where that is known."""

    url: str
    file: str
    expected: Expected | None


@cache
def load() -> Catalogue:
    """The shipped catalogue. Raises ConfigError where it was edited into something unusable."""
    file = resources.path("conf", "sources.yml")
    try:
        return Catalogue.model_validate(yaml.safe_load(file.read_text(encoding="utf-8")))
    except (yaml.YAMLError, ValidationError) as error:
        raise ConfigError(str(file), f"cannot be used: {error}", "Restore the file.") from None


def acs(
    year: int, period: int = 1, states: Sequence[str] = (), *, base: str | None = None
) -> list[Item]:
    """Person files of one year: of `states` (two letters, any case), or the national file.

    Raises InputError for an unknown state and for a year of which there is no such file.
    """
    catalogue = load().acs
    areas = list(dict.fromkeys(state.lower() for state in states)) or [NATION]
    for area in areas:
        if area not in AREAS:
            raise InputError(
                f"--state {area}",
                "is no state",
                f"Give two letters, one of {', '.join(AREAS)} ({NATION} = the nation).",
            )
    path = _release(year, period).path
    return [
        _item(base or catalogue.base, path, catalogue.file, year=year, period=period, state=area)
        for area in areas
    ]


def single(kind: Literal["names", "surnames"], *, base: str | None = None) -> Item:
    """The SSA's first names, or the Census Bureau's surnames of 2010."""
    source: Single = getattr(load(), kind)
    return _item(base or source.base, source.path, source.file)


def _release(year: int, period: int) -> Release:
    releases = [r for r in load().acs.releases if r.period == period]
    for release in releases:
        if reason := release.not_released.get(year):
            raise InputError(
                f"--year {year}", reason, "Take another year, or the 5-year file (--period 5)."
            )
        if release.first <= year <= (release.last or year):
            return release
    first = min(release.first for release in releases)
    raise InputError(
        f"--year {year}",
        f"there is no {period}-year person file of that year",
        f"The {period}-year files begin with {first}.",
    )


def _item(base: str, path: str, file: str, **fields: object) -> Item:
    name = file.format(**fields)
    record = load().recorded.get(name)
    expected = None
    if record is not None:
        origin = f"recorded on {record.day}, {record.how}"
        expected = Expected(record.sha256, origin, record.size)
    return Item(f"{base.rstrip('/')}/{path.format(**fields)}", name, expected)
