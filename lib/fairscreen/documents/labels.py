"""Versions of one resume that differ in a label: as a line before it, or implied by a name.

`Gender: Male;`, `Gender: Female;` and no line are JobFair's versions (section on the prompt; the
strings are exact). Controls stand in the same slot, on a hash's share of the resumes: a pair of
labels without protected meaning, and one of the labels asked a second time. What they differ in is
noise; they are read as controls, never ranked with the others.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Literal

import yaml
from pydantic import Field, ValidationError

from fairscreen import random, resources, yaml_text
from fairscreen.errors import ConfigError
from fairscreen.settings.base import Settings
from fairscreen.settings.ranking import Label, Labels

Kind = Literal["label", "none", "placebo", "repeat"]
NONE = "none"  # name of the version without a label
_CONTROLS, _REPEATED = "ranking/controls", "ranking/repeated"
_FIRST, _LAST = "ranking/first_name", "ranking/surname"


@dataclass(frozen=True)
class Version:
    """One version of a resume.

    version    its name: the label, `none`, `placebo:Blue`, `repeat:Male`
    kind       label and none are ranked; placebo and repeat are controls
    label      what stands in the line; None = no line
    line       as it is sent; empty = none
    replicate  0, 1, ... : the same text again is another call. Those of a repeat go on where those
               of its label end, so that it is asked anew
    """

    version: str
    kind: Kind
    label: str | None
    line: str
    replicate: int

    def sent(self, text: str) -> str:
        """The text of the resume as a screener is shown it."""
        return f"{self.line}\n{text}" if self.line else text


def label_line(attribute: str, label: str) -> str:
    """`Gender: Male;`"""
    return f"{attribute}: {label};"


def has_controls(resume_id: str, labels: Labels, seed: int) -> bool:
    """Whether a resume is in the share that gets placebos and a repeat."""
    return bool(random.uniforms(seed, _CONTROLS, [resume_id])[0] < labels.controls)


def versions(
    resume_id: str, labels: Labels, *, seed: int, replicates: int = 1
) -> tuple[Version, ...]:
    """Every version of one resume, each `replicates` times (published: num_run).

    A function of seed and resume alone. ConfigError where names are wanted and there are none.
    """
    lines = _lines(resume_id, labels, seed)
    found: list[Version] = []

    def add(name: str, kind: Kind, label: str | None, line: str, first: int = 0) -> None:
        found.extend(
            Version(name, kind, label, line, replicate)
            for replicate in range(first, first + replicates)
        )

    for label in labels.labels:
        add(label, "label", label, lines[label])
    if labels.none:
        add(NONE, "none", None, "")
    if has_controls(resume_id, labels, seed):
        for label, line in _placebos(resume_id, labels, seed):
            add(f"placebo:{label}", "placebo", label, line)
        again = labels.labels[_draw(seed, _REPEATED, resume_id, len(labels.labels))]
        add(f"repeat:{again}", "repeat", again, lines[again], replicates)
    return tuple(found)


def _draw(seed: int, purpose: str, key: str, bound: int) -> int:
    return int(random.integers(seed, purpose, [key], bound)[0])


def _lines(resume_id: str, labels: Labels, seed: int) -> dict[str, str]:
    if labels.placement == "line":
        return {label: label_line(labels.attribute, label) for label in labels.labels}
    return {label: _name_line(resume_id, labels, label, seed, 0) for label in labels.labels}


def _placebos(resume_id: str, labels: Labels, seed: int) -> list[tuple[str, str]]:
    """Labels and lines of the placebo pair: with names, two names of one label."""
    if labels.placement == "line":
        pair = labels.placebo
        return [(label, label_line(pair.attribute, label)) for label in pair.labels]
    same = labels.labels[_draw(seed, _REPEATED, resume_id, len(labels.labels))]
    return [(f"{same} name {n}", _name_line(resume_id, labels, same, seed, n)) for n in (1, 2)]


def _name_line(resume_id: str, labels: Labels, label: str, seed: int, offset: int) -> str:
    """`Name: Laura Weber;`: the surname is the resume's, whatever the label."""
    names = labels.names or label_names(labels.attribute).names
    firsts = names.get(label, ())
    if len(firsts) < 2:
        raise ConfigError(
            f"labels.names.{label}",
            "has no names, and placement is name",
            "Give two or more first names for every label.",
        )
    surnames = labels.surnames or label_names("Gender").surnames
    at = _draw(seed, _FIRST, f"{label}/{resume_id}", len(firsts)) + offset
    last = surnames[_draw(seed, _LAST, resume_id, len(surnames))]
    return f"Name: {firsts[at % len(firsts)]} {last};"


class LabelNames(Settings):
    """First names that imply a label, and surnames that imply none."""

    names: dict[str, tuple[Label, ...]] = Field(default_factory=dict)
    surnames: tuple[Label, ...]


@functools.lru_cache(maxsize=8)
def label_names(attribute: str) -> LabelNames:
    """Of conf/label_names.yml; no first names for an attribute that it does not have."""
    file = resources.path("conf", "label_names.yml")
    try:
        data = yaml_text.parse(file.read_text(encoding="utf-8"))
        names = data["attributes"].get(attribute, {})
        return LabelNames.model_validate({"names": names, "surnames": data["surnames"]})
    except (OSError, yaml.YAMLError, ValidationError, KeyError) as error:
        problem = f"cannot be used ({type(error).__name__})"
        raise ConfigError(str(file), problem, "Install fairscreen anew.") from None
