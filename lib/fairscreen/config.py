"""Settings of an audit: frozen, nothing unknown allowed, checked before any work starts.

`design` decides which sections there are. Layers, the later one wins: `conf/base.yml` and the
design's `conf/designs/DESIGN.yml`, the audit's `preset` (`conf/presets/DESIGN/NAME.yml`), the
audit's own file, `--set key.path=value` of the command line. A file replaces a map of the user's
own choosing (jobs, models, contrasts ...) whole; `--set` changes in it what it names and nothing
else. The sections are in `settings/`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, get_args

import yaml
from pydantic import ValidationError, model_validator

from fairscreen import config_checks, resources, yaml_text
from fairscreen.errors import ConfigError
from fairscreen.settings.audit import AuditConfig
from fairscreen.settings.callback_audit import CallbackConfig
from fairscreen.settings.estimation import Estimation
from fairscreen.settings.population import Population, Sources
from fairscreen.settings.rank_audit import RankingConfig
from fairscreen.settings.scoring import Documents


class Config(AuditConfig):
    """One audit of path-specific effects."""

    design: Literal["path_specific"]
    sources: Sources
    population: Population
    documents: Documents
    estimation: Estimation

    @model_validator(mode="after")
    def _cohorts_fit(self) -> Config:
        config_checks.cohorts_reach(self.population.first_names.cohorts, self.birth_years)
        return self

    @property
    def birth_years(self) -> tuple[int, int]:
        """First and last birth year that an applicant can have."""
        as_of = int(self.documents.as_of[:4])
        return as_of - self.population.age_max, as_of - self.population.age_min

    @model_validator(mode="after")
    def _contrasts_exist(self) -> Config:
        known = {"gender": ("female", "male"), "race": self.population.race_labels}
        for name, c in self.estimation.contrasts.items():
            config_checks.contrast_values(name, c.attribute, (*c.x1, *c.x0), known)
        return self

    @model_validator(mode="after")
    def _drawn(self) -> Config:
        if self.estimation.rescores:
            config_checks.rescoring_mode(self.population.mode)
        return self

    @model_validator(mode="after")
    def _compared_exist(self) -> Config:
        if self.estimation.compare != "all":
            config_checks.pairs_exist(
                self.estimation.compare, list(self.scoring.models), self.documents.formats
            )
        return self


#: The settings of each design.
DESIGNS: Mapping[str, type[AuditConfig]] = {
    "path_specific": Config,
    "ranking": RankingConfig,
    "paired_callback": CallbackConfig,
}


def load(file: str | Path, overrides: Sequence[str] = ()) -> AuditConfig:
    """The config of an audit file with its layers; ConfigError names file and field."""
    own = _renamed(_read(Path(file)), str(file))
    changes = [(_key(item), _renamed(_override(item), f"--set {item}")) for item in overrides]
    merged = _read(resources.path("conf", "base.yml"))
    layers = [merged, own, *(change for _, change in changes)]
    design = _last(layers, "design")
    if not isinstance(design, str) or design not in DESIGNS:
        raise ConfigError(
            f"{file}, design", f"{design!r} is no design", f"Designs are: {', '.join(DESIGNS)}."
        )
    merged = _merge(merged, _read(resources.path("conf", "designs", f"{design}.yml")))
    if preset := _last(layers, "preset"):
        merged = _merge(merged, _read(_preset(file, design, preset)))
    merged = _merge(merged, own)
    for key, change in changes:
        merged = _merge(merged, change, opened=key)
    try:
        return DESIGNS[design].model_validate(merged)
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
            remedy = f"Settings here are: {', '.join(_siblings(DESIGNS[design], first['loc']))}."
        raise ConfigError(f"{file}, {field}", f"{given}{problem}", remedy) from None


def _last(layers: Sequence[Mapping[str, Any]], key: str) -> Any:
    """What the last layer that has the key says; None where none has."""
    return next((layer[key] for layer in reversed(layers) if key in layer), None)


def _renamed(layer: dict[str, Any], where: str) -> dict[str, Any]:
    """A layer with today's names of settings that were called otherwise."""
    sources = layer.get("sources")
    if not isinstance(sources, dict) or "ssa" not in sources:
        return layer
    if "first_names" in sources:
        problem = "is the older name of sources.first_names, and both are given"
        raise ConfigError(f"{where}, sources.ssa", problem, "Remove it.")
    rest = {key: value for key, value in sources.items() if key != "ssa"}
    return {**layer, "sources": {**rest, "first_names": sources["ssa"]}}


_FORMS = {
    "audit_id": "is no slug: lower-case letters, digits, - and _, at most 63",
    "as_of": "is no month of the years 1900 to 2099, written YYYY-MM",
}


def _siblings(settings: type[AuditConfig], place: Sequence[int | str]) -> list[str]:
    """Names of the settings beside an unknown one."""
    kind: Any = settings
    for part in place[:-1]:
        fields = getattr(kind, "model_fields", None)
        if fields and part in fields:
            kind = fields[str(part)].annotation
        else:  # an entry of a map: its values' type
            kind = next((a for a in get_args(kind) if hasattr(a, "model_fields")), kind)
    if not hasattr(kind, "model_fields"):
        kind = next((a for a in get_args(kind) if hasattr(a, "model_fields")), settings)
    return list(kind.model_fields)


def _preset(file: str | Path, design: str, name: object) -> Path:
    known = {f.stem: f for f in sorted(resources.path("conf", "presets", design).glob("*.yml"))}
    if not isinstance(name, str) or name not in known:
        raise ConfigError(
            f"{file}, preset", f"{name!r} is no preset", f"Presets are: {', '.join(known)}."
        )
    return known[name]


def _read(file: Path) -> dict[str, Any]:
    try:
        data = yaml_text.parse(file.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise ConfigError(
            str(file), error.strerror or "cannot be read", "Give the path of an audit's YAML file."
        ) from None
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        mark = getattr(error, "problem_mark", None)
        line = f", line {mark.line + 1}" if mark else ""
        raise ConfigError(f"{file}{line}", yaml_text.problem(error), "Correct the file.") from None
    if not isinstance(data, dict):
        raise ConfigError(str(file), "holds no settings", "Start from conf/audits/demo.yml.")
    return data


# Settings that are maps of the user's own choosing: a file replaces them whole, so that an audit
# with two jobs does not inherit five.
_WHOLE = {
    "population.jobs", "population.races", "population.education", "population.education_groups",
    "population.first_names.cohorts", "scoring.models", "estimation.contrasts",
    "estimation.roles.bins", "estimation.roles.ungrouped.numbers", "contrasts", "panel",
    "postings.columns", "postings.sample.target",
}  # fmt: skip


# Two ways to say the same thing: one in a higher layer takes the other of a lower layer away.
_INSTEAD = {"population.jobs": "select", "population.select": "jobs"}


def _whole(path: str, opened: str) -> bool:
    """Whether a map at `path` replaces the one below it. Not where --set (key `opened`) names
    something inside it."""
    within = any(path == whole or path.startswith(f"{whole}.") for whole in _WHOLE)
    return within and not opened.startswith(f"{path}.")


def _merge(
    low: Mapping[str, Any], high: Mapping[str, Any], at: str = "", opened: str = ""
) -> dict[str, Any]:
    merged = dict(low)
    for key, value in high.items():
        path = f"{at}.{key}".lstrip(".")
        if value is not None and (other := _INSTEAD.get(path)) and other not in high:
            merged.pop(other, None)
        old = merged.get(key)
        if value is None and at in _WHOLE:  # an entry of a map of the user's own: taken away
            merged.pop(key, None)
        elif isinstance(old, Mapping) and isinstance(value, Mapping) and not _whole(path, opened):
            merged[key] = _merge(old, value, path, opened)
        else:
            merged[key] = value
    return merged


def _key(item: str) -> str:
    """The key of `--set key.path=value`."""
    return item.partition("=")[0].strip()


def _override(item: str) -> dict[str, Any]:
    path, sep, text = item.partition("=")
    if not sep or not path:
        raise ConfigError(f"--set {item}", "is not key.path=value", "Write --set seed=7.")
    try:
        value = yaml_text.parse(text)
    except yaml_text.Refused as error:
        raise ConfigError(f"--set {item}", yaml_text.problem(error), "Correct it.") from None
    except yaml.YAMLError:
        value = text
    if value is None and text.strip().lower() not in {"null", "~"}:
        # Such as --set scoring.max_cost=$BUDGET without a BUDGET.
        raise ConfigError(f"--set {item}", "has no value", f"Write --set {path}=null for none.")
    for key in reversed(path.strip().split(".")):
        value = {key: value}
    return dict(value)
