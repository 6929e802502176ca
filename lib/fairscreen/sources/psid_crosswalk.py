"""Which PSID variable holds what: `conf/psid_crosswalk.yml`, or a user's own file in its form."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from fairscreen import resources
from fairscreen.errors import ConfigError

Variable = Annotated[str, Field(pattern=r"^[A-Z]+[0-9]+[A-Z0-9_]*$")]


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Items(_Part):
    """Variables of one person's own answers in one wave."""

    age: Variable
    sex: Variable
    race: Variable
    hispanic: Variable
    education: Variable
    occupation: Variable
    years_worked: Variable
    years_full_time: Variable
    tenure: Variable


class Wave(_Part):
    """Variables of one wave; `family_interview` links the family's answers to the person.

    `years_worked_carried_forward`: the wave repeats the answer of the wave in which the person
    was asked; bring it up to date (see `psid_experience`).
    """

    interview: Variable
    family_interview: Variable
    sequence: Variable
    relation: Variable
    weight: Variable
    state: Variable
    reference: Items
    spouse: Items
    years_worked_carried_forward: bool = False

    def variables(self) -> list[str]:
        own = [v for v in self.model_dump().values() if isinstance(v, str)]
        return [*own, *self.reference.model_dump().values(), *self.spouse.model_dump().values()]


class Earlier(_Part):
    """Variables of a wave from which only the wave of asking and employment are read."""

    sequence: Variable
    relation: Variable
    employment: Variable

    def variables(self) -> list[str]:
        return [self.sequence, self.relation, self.employment]


class Person(_Part):
    """Variables that do not change over the waves; `sex` may be missing from an extract."""

    person_1968: Variable
    person_number: Variable
    sex: Variable


class YearsCodes(_Part):
    """Answers to "years worked" that are no number of years."""

    less_than_one: tuple[int, ...] = ()
    all_since_18: tuple[int, ...] = ()


class Crosswalk(_Part):
    """Which variable holds what, and which codes are no answer. See conf/psid_crosswalk.yml."""

    person: Person
    reference_codes: tuple[int, ...]
    spouse_codes: tuple[int, ...]
    sequence: tuple[int, int]
    missing: dict[str, tuple[int, ...]]
    valid: dict[str, tuple[tuple[int, int], ...]] = {}  # from, to; an item without: any
    no_job: int
    years_codes: YearsCodes = YearsCodes()
    working: tuple[int, ...] = ()
    earlier: dict[int, Earlier] = {}
    waves: Annotated[dict[int, Wave], Field(min_length=1)]

    @field_validator("valid")
    @classmethod
    def _items(cls, valid: dict[str, object]) -> dict[str, object]:
        if unknown := sorted(set(valid) - {*Items.model_fields, "state"}):
            raise ValueError(f"{', '.join(unknown)}: no such item")
        return valid


def load_crosswalk(file: Path | None = None) -> Crosswalk:
    """The shipped crosswalk, or another in the same form. ConfigError names file and field."""
    file = file or resources.path("conf", "psid_crosswalk.yml")
    remedy = "conf/psid_crosswalk.yml shows the form."
    try:
        return Crosswalk.model_validate(yaml.safe_load(file.read_text(encoding="utf-8")))
    except OSError as error:
        raise ConfigError(str(file), (error.strerror or "cannot be read").lower(), remedy) from None
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        first = str(error).splitlines()[0]
        raise ConfigError(str(file), f"is not YAML ({first})", remedy) from None
    except ValidationError as error:
        first_error = error.errors()[0]
        at = ".".join(str(part) for part in first_error["loc"]) or "(top level)"
        raise ConfigError(f"{file}, {at}", first_error["msg"], "Correct this field.") from None
