"""Content pools: what a resume of one job may say, and the job's description.

`conf/jobs/KEY.yml` holds one job, `conf/schools.yml` the fictional schools of all jobs. A user's
own file goes through the same checks: sizes, no line twice, and no word that names a gender or a
race, because an audit stands on these never being in the text.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Any, Literal, Self, TypeVar

import yaml
from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    StringConstraints,
    ValidationError,
    model_validator,
)

from fairscreen import resources, spelling
from fairscreen.errors import InputError

Seniority = Literal["junior", "mid", "senior"]

# Words that name a gender or a race. Everyday terms of a trade stay possible ("race condition",
# "white paper", "130 ms").
_CUES = re.compile(
    r"\b(?:he|she|him|his|her|hers|himself|herself|(?-i:Mr|Mrs|Ms)|sir|madam|m[ae]n|wom[ae]n|"
    r"males?|females?|boys?|girls?|lad(?:y|ies)|gentlem[ae]n|husband|wife|mothers?|fathers?|"
    r"maternity|paternity|fraternity|sorority|gender|"
    r"(?:whites?|blacks?)(?![ -](?:box|paper|list|space))|caucasians?|asians?|hispanics?|"
    r"latin[oax]s?|african|islanders?|native[ -](?:american|hawaiian|alaskan)s?|"
    r"race(?! condition)|racial|ethnic(?:ity)?)\b"
    r"|\b(?:fore|sales|journey|crafts|chair|work)(?:m[ae]n|wom[ae]n)\b",
    re.IGNORECASE,
)


def cue(text: str) -> str | None:
    """The first word in `text` that names a gender or a race, if there is one."""
    found = _CUES.search(text)
    return found.group(0) if found else None


def _neutral(text: str) -> str:
    if word := cue(text):
        raise ValueError(f"'{word}' names a gender or a race; word this line without it")
    return text


def _plain(text: str) -> str:
    if odd := spelling.ODD.search(text):
        raise ValueError(f"holds the character U+{ord(odd.group()):04X}; remove it")
    return text


def _unique(lines: tuple[str, ...]) -> tuple[str, ...]:
    seen: set[str] = set()
    for line in lines:
        if line.casefold() in seen:
            raise ValueError(f"holds '{line}' twice; keep it once")
        seen.add(line.casefold())
    return lines


Line = Annotated[
    str,
    StringConstraints(strip_whitespace=True, min_length=2, max_length=300, pattern=r"^[^\r\n]+$"),
    AfterValidator(_plain),
    AfterValidator(_neutral),
]


def _at_least(minimum: int) -> AfterValidator:
    def check(lines: tuple[str, ...]) -> tuple[str, ...]:
        if len(lines) < minimum:
            raise ValueError(f"has {len(lines)} lines and needs at least {minimum}")
        return _unique(lines)

    return AfterValidator(check)


Pool2 = Annotated[tuple[Line, ...], _at_least(2)]
Pool6 = Annotated[tuple[Line, ...], _at_least(6)]
Pool10 = Annotated[tuple[Line, ...], _at_least(10)]
Pool12 = Annotated[tuple[Line, ...], _at_least(12)]
Pool20 = Annotated[tuple[Line, ...], _at_least(20)]
Pool25 = Annotated[tuple[Line, ...], _at_least(25)]


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class _Levels(_Frozen):
    """Pools of several levels that share no line, so that no resume says one thing twice."""

    @model_validator(mode="after")
    def _distinct(self) -> Self:
        _unique(tuple(line for _, lines in self for line in lines))
        return self


class Roles(_Levels):
    """Job titles by seniority; `senior` lowest first: its first half goes to the third role."""

    junior: Pool2
    mid: Pool2
    senior: Pool2


class Bullets(_Levels):
    """What was done in a role, by seniority."""

    junior: Pool12
    mid: Pool12
    senior: Pool12


class EducationBullets(_Levels):
    """Facts about one education entry: at high school, college, graduate school."""

    high_school: Pool6
    college: Pool6
    graduate: Pool6


class Degrees(_Frozen):
    """How each level is titled, with `{major}` where the field of study goes."""

    some_college: Line
    associate: Line
    bachelor: Line
    master: Line
    professional: Line
    doctorate: Line


class JobContent(_Frozen):
    """Everything a resume of one job may say, and what the screener is told about the job."""

    title: Line | None = None  # of the job, where an occupation was selected by its code
    occp: tuple[Annotated[str, StringConstraints(pattern=r"^\d{4}$")], ...] = ()  # list of 2018
    # A user's posting is audited as it is, so its wording is not checked.
    description: Annotated[str, StringConstraints(strip_whitespace=True, min_length=100)]
    skills: Pool25
    majors: Pool6
    degrees: Degrees
    roles: Roles
    employers: Pool20
    bullets: Bullets
    education_bullets: EducationBullets


class Schools(_Frozen):
    """Fictional schools by degree level."""

    high_school: Pool10
    community_college: Pool10
    university: Pool10
    graduate_school: Pool10


Model = TypeVar("Model", bound=_Frozen)


def load_pools(job_key: str, path: str | Path | None = None) -> JobContent:
    """Pools of one job from `path`, else from the shipped `conf/jobs/KEY.yml`.

    Raises InputError naming file and field.
    """
    shipped = resources.path("conf", "jobs", f"{job_key}.yml")
    if path is None and not shipped.is_file():
        known = ", ".join(shipped_jobs())
        raise InputError(
            f"population.jobs.{job_key}",
            "has no content of its own",
            f"Give `content:` a YAML file with its pools, or use one of: {known}.",
        )
    return _load(JobContent, shipped if path is None else resources.resolve(str(path)))


def shipped_jobs() -> tuple[str, ...]:
    """Keys of the jobs whose content ships with fairscreen."""
    return tuple(sorted(f.stem for f in resources.path("conf", "jobs").glob("*.yml")))


def load_schools(path: str | Path | None = None) -> Schools:
    """Schools from `path`, else from the shipped `conf/schools.yml`. Raises InputError."""
    shipped = resources.path("conf", "schools.yml")
    return _load(Schools, shipped if path is None else resources.resolve(str(path)))


def _load(model: type[Model], file: Path) -> Model:
    example = "see conf/jobs/registered_nurses.yml for a complete one"
    if model is Schools:
        example = "see conf/schools.yml for a complete one"
    try:
        data: Any = yaml.safe_load(file.read_text(encoding="utf-8"))
    except OSError as error:
        problem = error.strerror or "cannot be read"
        raise InputError(str(file), problem, f"Give a YAML file of pools; {example}.") from None
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        mark = getattr(error, "problem_mark", None)
        line = f", line {mark.line + 1}" if mark else ""
        raise InputError(f"{file}{line}", "is not valid YAML", "Correct the file.") from None
    if not isinstance(data, dict):
        raise InputError(str(file), "holds no pools", f"Write them; {example}.")
    try:
        return model.model_validate(data)
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(str(part) for part in first["loc"])
        problem = first["msg"].removeprefix("Value error, ")
        more = len(error.errors()) - 1
        remedy = "Correct this field" + (f" ({more} more after it)" if more else "")
        raise InputError(f"{file}, {field}", problem, f"{remedy}; {example}.") from None
