"""The words of the leakage rules (conf/leakage.yml), checked and made into patterns."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import yaml
from pydantic import ValidationError

from fairscreen import resources, yaml_text
from fairscreen.errors import ConfigError
from fairscreen.settings.base import Settings

Attribute = Literal[
    "gender", "race", "age", "marital_status", "national_origin", "religion", "appearance"
]
Words = tuple[str, ...]


@dataclass(frozen=True, order=True)
class Hit:
    """One cue: text[start:end] is `text`. `attribute` is what it gives away, `kind` how."""

    start: int
    end: int
    kind: str
    attribute: str
    text: str


class Field(Settings):
    """A label with a value. `kind` null = the field's own name; values: a closed list, or one of
    the shapes in `SHAPES`."""

    kind: str | None = None
    attribute: Attribute
    labels: Words
    values: Words | Literal["people", "place", "date", "years", "body", "count"]


class Cues(Settings):
    """The file as it is; every field is explained there."""

    fields: dict[str, Field]
    peoples: Words
    citizens: Words
    titles: Words
    not_after_title: Words
    organisation_words: Words
    third_parties: Words
    traits: Words
    race_words: Words
    self_nouns: dict[str, str]
    gendered_jobs: dict[str, str]
    self_jobs: Words
    not_after_noun: Words
    groups: dict[Literal["gender", "race"], Words]
    organisation_nouns: Words
    named_groups: dict[Literal["gender", "race"], Words]
    schools: dict[Literal["gender", "race"], Words]
    sports: Words
    own_membership: Words
    others_membership: Words
    degree_words: Words
    leave: Words
    verbs: Words
    nouns_too: Words

    def __hash__(self) -> int:  # one object per file and process; patterns are cached by it
        return id(self)


@functools.lru_cache(maxsize=8)
def load_cues(path: str | None = None) -> Cues:
    """The shipped cues, or a user's file in their place. ConfigError names file and field."""
    file = resources.path("conf", "leakage.yml") if path is None else resources.resolve(path)
    try:
        return Cues.model_validate(yaml_text.parse(file.read_text(encoding="utf-8-sig")))
    except OSError as error:
        problem = error.strerror or "cannot be read"
        raise ConfigError(str(file), problem, "Start from conf/leakage.yml.") from None
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise ConfigError(str(file), yaml_text.problem(error), "Correct the file.") from None
    except ValidationError as error:
        first = error.errors()[0]
        at = ".".join(str(part) for part in first["loc"])
        raise ConfigError(f"{file}, {at}", first["msg"], "See conf/leakage.yml.") from None


@functools.lru_cache(maxsize=8)
def first_names(path: Path | None = None) -> frozenset[str]:
    """First names in small letters that tell a line with a name (conf/leakage_names.txt)."""
    file = path or resources.path("conf", "leakage_names.txt")
    lines = file.read_text(encoding="utf-8").splitlines()
    return frozenset(name for line in lines if not line.startswith("#") for name in line.split())


def any_of(words: Iterable[str]) -> str:
    """A pattern for any of the words, the longest first; white space in them is any white space."""
    ordered = sorted(set(words), key=lambda w: (-len(w), w))
    return "(?:" + "|".join(r"\s+".join(map(re.escape, w.split())) for w in ordered) + ")"


# Beginnings of the months' names in English, Spanish, Portuguese, German, French, Italian, Dutch,
# Indonesian, Russian, Turkish and Polish.
_MONTH = (
    r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|ene|abr|ago|dic|mai|mär|maer|okt|dez|fév|fev"
    r"|avr|jui|aoû|aou|déc|gen|mag|giu|lug|set|ott|out|mei|maa|agu|peb|des|янв|фев|мар|апр|мая|май|июн"
    r"|июл|авг|сен|окт|ноя|дек|oca|şub|nis|haz|tem|ağu|eyl|eki|kas|ara|sty|lut|kwi|maj|cze|lip|sie|wrz"
    r"|paź|lis|gru)[^\W\d_]{0,9}\.?"
)
_YEAR = r"(?:19|20)\d\d"
_DAY = r"\d{1,2}(?:st|nd|rd|th|\.)?"
DATE = (
    r"(?:\d{4}\s?年\s?\d{1,2}\s?月(?:\s?\d{1,2}\s?日)?"
    rf"|{_YEAR}[-/.]\d{{1,2}}[-/.]\d{{1,2}}"
    rf"|\d{{1,2}}\s?[-/.]\s?\d{{1,2}}\s?[-/.]\s?(?:{_YEAR}|\d\d)(?!\d)"
    rf"|{_DAY}(?:\s+(?:of|de))?[\s-]+{_MONTH}(?:,|\s+(?:de|del))?[\s-]+{_YEAR}"
    rf"|{_MONTH}\s+\d{{1,2}}(?:st|nd|rd|th)?,?\s+{_YEAR}"
    rf"|{_MONTH}\s+{_YEAR}|{_YEAR})(?!\d)"
)
_CAPITAL = (
    r"[A-ZÀ-Þ\u0400-\u042f][\w'’-]+|[\u0600-\u06ff\u0900-\u097f\u3040-\u9fff\uac00-\ud7af]{2,}"
)
# Of a person: 140 to 219 cm, 1.40 to 2.19 m, 4 to 6 feet; 40 to 149 kg, 80 to 299 pounds.
BODY = (
    r"(?:(?:1[4-9]\d|2[01]\d)\s*cms?|(?:1[.,][4-9]|2[.,][01])\d?\s*m(?:eters)?"
    r"|[4-6]\s*(?:feet|ft\.?|['’′])(?:\s*\d{1,2}\s*(?:inches|in\.?|\"|”|″|'')?)?"
    r"|(?:[4-9]\d|1[0-4]\d)\s*kgs?|(?:[89]\d|[12]\d\d)\s*(?:lbs?\.?|pounds))(?!\w)"
)
SHAPES = {
    "place": rf"(?:{_CAPITAL})(?:\s*,\s*(?:{_CAPITAL}))?",
    # "Jakarta, 24 Desember 1989": a field of place and date names the place first.
    "date": rf"(?:(?:{_CAPITAL})\s*[,/]\s*)?{DATE}",
    "years": r"(?:1[5-9]|[2-8]\d)(?!\d|\s*(?:-|–|to|and|or|/|%)\s*\d|\s*%)"
    r"(?:\s+(?:years?|yrs?)(?:\s+old)?)?",
    "body": rf"(?:{BODY}(?:\s*/\s*{BODY})?|fair(?!\w)|(?:A|B|AB|O)\s?[+-](?:ve)?)",
    "count": r"(?:\d{1,2}|none|one|two|three|four|five)(?!\w)(?!\s*(?:to|-|–)\s*\d)",
}


@dataclass(frozen=True)
class FieldPattern:
    kind: str
    attribute: str
    pattern: re.Pattern[str]


# "Date and place of birth" is one label; a filing or military status is another thing.
_NOT_OF = r"(?<!\band\s)(?<!\bfiling\s)(?<!\bmilitary\s)(?<!\btax\s)(?<!\bproject\s)"
# Other values behind a value: "Male/Female", "male or female" are the choices of a form.
_CHOICE = r"\s*(?:[/|]|,?\s(?:or|and|o|y|und|oder|atau|et|ou)\b)\s*"


@functools.lru_cache(maxsize=8)
def field_patterns(cues: Cues) -> tuple[FieldPattern, ...]:
    """One pattern per field: label, other labels beside it, separator, value."""
    found = []
    every = any_of(label for field in cues.fields.values() for label in field.labels)
    for name, field in cues.fields.items():
        label = any_of(field.labels)
        # A label in another language beside it: "Jenis Kelamin / Gender".
        labels = rf"(?<![\w-]){_NOT_OF}{label}(?!\w)(?:\s*/\s*{every}(?!\w)){{0,3}}\s*/?"
        separator = r"(?:\s*[:：=]\s*|\s+[-–—]\s*|\t\s*)"
        if isinstance(field.values, tuple):
            one = any_of(v for v in field.values if len(v) > 1 or not v.isascii())
            letters = [v.upper() for v in field.values if len(v) == 1 and v.isascii()]
            value = f"(?:{one}|(?-i:{'|'.join(letters)}))" if letters else one
            value += rf"(?![\w'’])(?!{_CHOICE}{value}(?!\w))"
        elif field.values == "people":
            value = f"(?:{any_of(cues.peoples)}|(?-i:{_CAPITAL}))(?!\\w)"
            value += r"(?!\s*(?:/|,|\bor\b|\band\b)\s*(?:gender|race|age|sex|ethnicity|religion)\b)"
        else:
            shape = SHAPES[field.values]
            value = f"(?-i:{shape})" if field.values == "place" else shape
        pattern = re.compile(f"{labels}{separator}(?:{value})", re.IGNORECASE)
        found.append(FieldPattern(field.kind or name, field.attribute, pattern))
    return tuple(found)
