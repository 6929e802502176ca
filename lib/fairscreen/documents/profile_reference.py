"""What profiles of paired callbacks are made of: conf/profiles.yml, checked.

Schools and employers stand under one region each, so that a profile never mixes regions. A user's
own file goes through the same checks: nothing in it names a gender or a race.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from functools import lru_cache
from typing import Annotated, Literal, Self

import yaml
from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    StringConstraints,
    ValidationError,
    model_validator,
)

from fairscreen import resources, yaml_text
from fairscreen.documents.pools import Line
from fairscreen.errors import InputError

Region = Literal["northeast", "midwest", "south", "west"]
REGIONS: tuple[Region, ...] = ("northeast", "midwest", "south", "west")
SchoolLevel = Literal["high_school", "college", "university"]
#: Industry of a posting that tells none, or one that no keyword finds.
GENERAL = "general"
#: Age in years at which a level of school is finished: nobody younger has its degree.
FINISHED: dict[SchoolLevel, int] = {"high_school": 18, "college": 20, "university": 22}
#: Employers of one profile, at most, and titles of one level: so many must be there to draw from.
EMPLOYERS = 3


def _pool(least: int) -> AfterValidator:
    def check(lines: tuple[str, ...]) -> tuple[str, ...]:
        if len(lines) < least:
            raise ValueError(f"has {len(lines)} lines and needs at least {least}")
        if twice := _twice(lines):
            raise ValueError(f"holds '{twice}' twice; keep it once")
        return lines

    return AfterValidator(check)


def _twice(lines: Iterable[str]) -> str | None:
    return next((line for line, n in Counter(lines).items() if n > 1), None)


#: In lower case, as industries are compared.
Keyword = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][^A-Z\r\n]{1,59}$")]
Names = Annotated[tuple[Line, ...], _pool(EMPLOYERS)]
SchoolNames = Annotated[tuple[Line, ...], _pool(2)]


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Titles(_Frozen):
    """Job titles by seniority."""

    junior: Names
    mid: Names
    senior: Names


class Schooling(_Frozen):
    """What may have been finished last; majors: none = the degree has no field."""

    degree: Line
    school: SchoolLevel
    majors: tuple[Line, ...] = ()


class Industry(_Frozen):
    """keywords: how words of a posting's industry begin."""

    keywords: tuple[Keyword, ...]
    titles: Titles
    education: tuple[Schooling, ...] = Field(min_length=1)


class Schools(_Frozen):
    high_school: SchoolNames
    college: SchoolNames
    university: SchoolNames


class RegionNames(_Frozen):
    """Fictional schools, and employers by industry."""

    schools: Schools
    employers: dict[str, Names]


class ProfileReference(_Frozen):
    """The file as it is."""

    industries: dict[str, Industry]
    regions: dict[Region, RegionNames]

    @model_validator(mode="after")
    def _complete(self) -> Self:
        if GENERAL not in self.industries:
            raise ValueError(f"industries: {GENERAL} is missing; postings of no known one are it")
        if lacking := [r for r in REGIONS if r not in self.regions]:
            raise ValueError(f"regions: {lacking[0]} is missing; there are {', '.join(REGIONS)}")
        for region, names in self.regions.items():
            if unlike := sorted(set(names.employers) ^ set(self.industries)):
                raise ValueError(
                    f"regions.{region}.employers: {unlike[0]} stands either here or in industries; "
                    "it must stand in both"
                )
        everywhere: list[str] = []
        for names in self.regions.values():
            employers = (name for pool in names.employers.values() for name in pool)
            everywhere += sorted({*_schools(names), *employers})
        if twice := _twice(everywhere):
            raise ValueError(f"regions: {twice} stands in two regions; keep it in one")
        return self

    def group(self, industry: str | None) -> str:
        """The group of a posting's industry text: the first of the file of which a keyword begins a
        word of it, in whatever case; else `general`."""
        text = (industry or "").casefold()
        for name, of in self.industries.items():
            if any(re.search(rf"\b{re.escape(word)}", text) for word in of.keywords):
                return name
        return GENERAL


def _schools(names: RegionNames) -> tuple[str, ...]:
    return (*names.schools.high_school, *names.schools.college, *names.schools.university)


def load_reference(path: str | None = None) -> ProfileReference:
    """The table of a user's file, else the shipped one. Raises InputError naming file and field."""
    return _load(path)


@lru_cache(maxsize=8)
def _load(path: str | None) -> ProfileReference:
    file = resources.path("conf", "profiles.yml") if path is None else resources.resolve(path)
    example = "See conf/profiles.yml for a complete one."
    try:
        data = yaml_text.parse(file.read_text(encoding="utf-8-sig"))
    except OSError as error:
        problem = (error.strerror or "cannot be read").lower()
        raise InputError(str(file), problem, f"Give a YAML file. {example}") from None
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        mark = getattr(error, "problem_mark", None)
        line = f", line {mark.line + 1}" if mark else ""
        raise InputError(f"{file}{line}", yaml_text.problem(error), "Correct the file.") from None
    if not isinstance(data, dict):
        raise InputError(str(file), "holds no table of schools and employers", example)
    try:
        return ProfileReference.model_validate(data)
    except ValidationError as error:
        first = error.errors()[0]
        at = ", ".join([str(file), *(".".join(map(str, first["loc"])),)]).rstrip(", ")
        problem = first["msg"].removeprefix("Value error, ")
        raise InputError(at, problem, f"Correct this field. {example}") from None
