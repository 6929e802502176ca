"""The labelled passages of tests/golden, and how hits are held against them."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from fairscreen.documents.leakage import find_hits

FOLDER = Path(__file__).parent / "golden"
_MARK = re.compile(r"\[\[(\w+)\|((?:[^\]]|\](?!\]))+\]?)\]\]")


@dataclass(frozen=True)
class Passage:
    """A text and its labelled spans: kind, start, end. None = look-alikes only."""

    text: str
    labels: tuple[tuple[str, int, int], ...]


@dataclass
class Score:
    """By kind: labels that were found, hits that no label overlaps, labels that were missed."""

    right: Counter[str] = field(default_factory=Counter)
    wrong: Counter[str] = field(default_factory=Counter)
    missed: Counter[str] = field(default_factory=Counter)
    examples: list[str] = field(default_factory=list)

    @property
    def precision(self) -> float:
        return self.right.total() / (self.right.total() + self.wrong.total())

    @property
    def recall(self) -> float:
        return self.right.total() / (self.right.total() + self.missed.total())


def passages(name: str) -> list[Passage]:
    """Of `leakage_dev.txt` or `leakage_heldout.txt`."""
    lines = (FOLDER / f"leakage_{name}.txt").read_text(encoding="utf-8").splitlines()
    return [_parsed(line) for line in lines if line and not line.startswith("#")]


def _parsed(line: str) -> Passage:
    text, labels, at = "", [], 0
    for mark in _MARK.finditer(line):
        text += line[at : mark.start()]
        labels.append((mark.group(1), len(text), len(text) + len(mark.group(2))))
        text += mark.group(2)
        at = mark.end()
    return Passage(text + line[at:], tuple(labels))


def score(rows: list[Passage]) -> Score:
    """A label is found where a hit of its kind overlaps it; a hit is wrong where no label does."""
    found = Score()
    for row in rows:
        hits = find_hits(row.text)
        for hit in hits:
            spans = [(s, e) for kind, s, e in row.labels if kind == hit.kind]
            if not any(s < hit.end and hit.start < e for s, e in spans):
                found.wrong[hit.kind] += 1
                found.examples.append(f"wrong  {hit.kind}: {hit.text!r} in {row.text!r}")
        for kind, start, end in row.labels:
            spans = [(h.start, h.end) for h in hits if h.kind == kind]
            if any(s < end and start < e for s, e in spans):
                found.right[kind] += 1
            else:
                found.missed[kind] += 1
                found.examples.append(f"missed {kind}: {row.text[start:end]!r} in {row.text!r}")
    return found
