"""Settings of an audit: frozen, nothing unknown allowed, checked before any work starts.

Layers, the later one wins: `conf/base.yml`, the audit's `preset` (`conf/presets/NAME.yml`), the
audit's own file, `--set key.path=value` of the command line.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Hashable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from fairscreen import config_checks, resources
from fairscreen.errors import ConfigError

Attribute = Literal["gender", "race"]
Share = Annotated[float, Field(gt=0, lt=1, allow_inf_nan=False)]
Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]


class Settings(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class Sources(Settings):
    """Upstream files. `bundled:NAME` is a file that ships with fairscreen."""

    acs: tuple[str, ...]
    ssa: str
    surnames: str
    psid: str


class Job(Settings):
    """One occupation: Census codes (text, zero-padded) in ACS and in PSID (2010 codes)."""

    title: str
    occp: tuple[str, ...]
    psid_occp: tuple[str, ...]
    content: str | None = None  # pools and job description; null = conf/jobs/KEY.yml


class FirstNames(Settings):
    """Groups of first names: a share above the threshold, else `neutral` (PopResume C.4)."""

    gender_threshold: Share
    cohort_threshold: Share
    cohorts: dict[str, tuple[int, int]]  # label: first and last birth year, inclusive

    @model_validator(mode="after")
    def _cohorts(self) -> FirstNames:
        config_checks.cohorts(self.cohorts)
        return self


class Experience(Settings):
    """P2: years of experience from PSID; XGBoost mean, sigma by group, truncated normal."""

    waves: tuple[int, ...]
    match_survey: bool  # reweight PSID to the covariates of the ACS people (density ratio)
    age_bands: tuple[int, ...]  # lower bounds of the age bands of sigma
    sigma_prior_n: Positive  # weight of the coarser stratum's variance, in people
    rounds: int = Field(ge=1)
    max_depth: int = Field(ge=1)
    learning_rate: Positive
    min_sigma: Positive


class Population(Settings):
    """Who applies: P1 to P4 of PopResume, section 4.1."""

    mode: Literal["balanced", "draws", "surveyed"]
    n_per_job: int = Field(ge=1)  # balanced and draws; `surveyed` takes every surveyed person
    balance: tuple[Attribute, ...]
    vintage: int | None  # ACS year; null = the only one in the warehouse
    age_min: int = Field(ge=16, le=99)
    age_max: int = Field(ge=16, le=99)
    esr: tuple[str, ...]
    jobs: dict[str, Job]
    races: dict[str, tuple[str, ...]]  # race: RAC1P codes
    education: dict[str, tuple[str, ...]]  # level, lowest first: SCHL codes
    education_groups: dict[str, tuple[str, ...]]  # group, lowest first: levels
    first_names: FirstNames
    surname_threshold: Share
    prior_n: Positive  # generator: weight of the coarser stratum, in surveyed people
    experience: Experience

    @model_validator(mode="after")
    def _consistent(self) -> Population:
        if self.age_min > self.age_max:
            raise ValueError("age_min is above age_max; swap them")
        for name in ("jobs", "races", "education", "education_groups", "esr"):
            config_checks.not_empty(name, getattr(self, name))
        config_checks.once("balance", self.balance)
        config_checks.codes("esr", self.esr, "123456")
        for race, codes in self.races.items():
            config_checks.not_empty(f"races.{race}", codes)
            config_checks.codes(f"races.{race}", codes, "123456789")
        for key, job in self.jobs.items():
            config_checks.not_empty(f"jobs.{key}.occp", job.occp)
        levels = [level for group in self.education_groups.values() for level in group]
        if sorted(levels) != sorted(self.education):
            raise ValueError(
                "education_groups must name every level of education exactly once; "
                f"levels are {', '.join(self.education)}"
            )
        for name, mapped in (("races", self.races), ("education", self.education)):
            flat = [c for cs in mapped.values() for c in cs]
            twice = sorted({c for c in flat if flat.count(c) > 1})
            if twice:
                raise ValueError(f"{name} maps code {twice[0]} twice; keep it once")
        return self


class Documents(Settings):
    """What is rendered. `as_of` (YYYY-MM) is the month in which everybody applies."""

    formats: tuple[Literal["text"], ...]
    as_of: str = Field(pattern=r"^(19|20)\d{2}-(0[1-9]|1[0-2])$")

    @model_validator(mode="after")
    def _formats(self) -> Documents:
        config_checks.not_empty("formats", self.formats)
        config_checks.once("formats", self.formats)
        return self


class Screener(Settings):
    """One model to audit. `params` belong to the kind and are checked by it."""

    kind: Literal["embedding", "planted"]
    params: dict[str, float | int | str | bool | dict[str, float]] = {}


class Scoring(Settings):
    models: dict[Annotated[str, Field(pattern=r"^[A-Za-z0-9][\w.-]{0,62}$")], Screener] = Field(
        min_length=1
    )
    shards: int = Field(ge=1, le=10_000)
    wave_size: int = Field(ge=1)
    segment_size: int = Field(ge=1)  # replies per journal file
    where: Literal["executors", "driver"]
    journal: str | None = None  # folder of driver and executors; null = inside the warehouse


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


class Roles(Settings):
    """Which applicant columns are mediators. Z is the rest of (gender, race, age)."""

    redlining: tuple[str, ...]
    business: tuple[str, ...]
    bins: dict[str, tuple[float, ...]]  # column: inner cut points, `value < cut` goes below

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


class Estimation(Settings):
    contrasts: dict[Annotated[str, Field(pattern=r"^[A-Za-z0-9][\w.-]{0,62}$")], Contrast] = Field(
        min_length=1
    )
    roles: Roles
    learner: Literal["saturated", "xgboost"]
    propensity: Literal["fitted", "known"]
    folds: int = Field(ge=2, le=50)
    repeats: int = Field(ge=1, le=100)
    level: Share
    bootstrap_draws: int = Field(ge=0)
    equivalence_margin: Positive  # points of score; below it an effect is negligible
    overlap: Overlap


class Config(Settings):
    """One audit. `audit_id` is a slug and never a hash: see design.md, Identity."""

    audit_id: str = Field(pattern=r"^[a-z0-9][a-z0-9_-]{0,62}$")
    title: str
    design: Literal["path_specific"]
    seed: int
    preset: str | None = None
    warehouse: str
    out: str
    mlflow_uri: str | None = None  # null = SQLite inside the warehouse
    sources: Sources
    population: Population
    documents: Documents
    scoring: Scoring
    estimation: Estimation

    @model_validator(mode="after")
    def _contrasts_exist(self) -> Config:
        known = {"gender": ("female", "male"), "race": tuple(self.population.races)}
        for name, c in self.estimation.contrasts.items():
            config_checks.contrast_values(name, c.attribute, (*c.x1, *c.x0), known)
        return self

    def hash(self, *sections: str) -> str:
        """First 16 hex digits of SHA-256 over the canonical JSON of the named sections.

        Without names: everything but where the results are kept, which changes no number.
        """
        places = {"warehouse", "out", "mlflow_uri"}
        data = self.model_dump(mode="json", include=set(sections) or None, exclude=places)
        return hashlib.sha256(json.dumps(data, sort_keys=True).encode()).hexdigest()[:16]


def load(file: str | Path, overrides: Sequence[str] = ()) -> Config:
    """The config of an audit file with its layers; ConfigError names file and field."""
    own = _read(Path(file))
    for item in overrides:
        own = _merge(own, _override(item))
    merged = _read(resources.path("conf", "base.yml"))
    if preset := own.get("preset"):
        merged = _merge(merged, _read(_preset(file, preset)))
    merged = _merge(merged, own)
    try:
        return Config.model_validate(merged)
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(str(part) for part in first["loc"]) or "(top level)"
        problem = first["msg"].removeprefix("Value error, ")
        given = "" if isinstance(first["input"], Mapping) else f"{first['input']!r}: "
        more = len(error.errors()) - 1
        remedy = "Correct this field" + (f" ({more} more after it)." if more else ".")
        if first["type"] == "string_pattern_mismatch":
            problem = _FORMS.get(str(first["loc"][-1]), "has a character that a name cannot have")
        if first["type"] == "extra_forbidden":
            given, problem = "", "is no setting"
            remedy = f"Settings here are: {', '.join(_siblings(first['loc']))}."
        raise ConfigError(f"{file}, {field}", f"{given}{problem}", remedy) from None


_FORMS = {
    "audit_id": "is no slug: lower-case letters, digits, - and _, at most 63",
    "as_of": "is no month of the years 1900 to 2099, written YYYY-MM",
}


def _siblings(place: Sequence[int | str]) -> list[str]:
    """Names of the settings beside an unknown one."""
    kind: Any = Config
    for part in place[:-1]:
        fields = getattr(kind, "model_fields", None)
        if fields and part in fields:
            kind = fields[str(part)].annotation
        else:  # an entry of a map: its values' type
            kind = next((a for a in get_args(kind) if hasattr(a, "model_fields")), kind)
    if not hasattr(kind, "model_fields"):
        kind = next((a for a in get_args(kind) if hasattr(a, "model_fields")), Config)
    return list(kind.model_fields)


def _preset(file: str | Path, name: object) -> Path:
    known = {f.stem: f for f in sorted(resources.path("conf", "presets").glob("*.yml"))}
    if name not in known:
        raise ConfigError(
            f"{file}, preset", f"{name!r} is no preset", f"Presets are: {', '.join(known)}."
        )
    return known[str(name)]


class _Loader(yaml.SafeLoader):
    """YAML in which a key that stands twice is an error, not silently the last one."""

    def construct_mapping(self, node: Any, deep: bool = False) -> dict[Any, Any]:
        seen: set[Any] = set()
        for key_node, _ in node.value:
            key = self.construct_object(key_node, deep=True)
            if isinstance(key, Hashable) and key in seen:
                raise yaml.MarkedYAMLError(
                    problem=f"key {key!r} stands twice", problem_mark=key_node.start_mark
                )
            if isinstance(key, Hashable):
                seen.add(key)
        return super().construct_mapping(node, deep)


def _parse(text: str) -> Any:
    """YAML as Python values; YAMLError for anything that is none (impossible dates included)."""
    try:
        return yaml.load(text, _Loader)
    except (ValueError, RecursionError) as error:
        raise yaml.YAMLError(str(error)) from None


def _read(file: Path) -> dict[str, Any]:
    try:
        data = _parse(file.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise ConfigError(
            str(file), error.strerror or "cannot be read", "Give the path of an audit's YAML file."
        ) from None
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        mark = getattr(error, "problem_mark", None)
        line = f", line {mark.line + 1}" if mark else ""
        problem = str(getattr(error, "problem", None) or "")
        problem = problem if "stands twice" in problem else "is not valid YAML"
        raise ConfigError(f"{file}{line}", problem, "Correct the file.") from None
    if not isinstance(data, dict):
        raise ConfigError(str(file), "holds no settings", "Start from conf/audits/demo.yml.")
    return data


# Settings that are maps of the user's own choosing: a later layer replaces them whole, so that
# an audit with two jobs does not inherit five.
_WHOLE = {
    "population.jobs", "population.races", "population.education", "population.education_groups",
    "population.first_names.cohorts", "scoring.models", "estimation.contrasts",
    "estimation.roles.bins",
}  # fmt: skip


def _merge(low: Mapping[str, Any], high: Mapping[str, Any], at: str = "") -> dict[str, Any]:
    merged = dict(low)
    for key, value in high.items():
        path = f"{at}.{key}".lstrip(".")
        old = merged.get(key)
        if isinstance(old, Mapping) and isinstance(value, Mapping) and path not in _WHOLE:
            merged[key] = _merge(old, value, path)
        else:
            merged[key] = value
    return merged


def _override(item: str) -> dict[str, Any]:
    path, sep, text = item.partition("=")
    if not sep or not path:
        raise ConfigError(f"--set {item}", "is not key.path=value", "Write --set seed=7.")
    try:
        value = _parse(text)
    except yaml.YAMLError:
        value = text
    for key in reversed(path.strip().split(".")):
        value = {key: value}
    return dict(value)
