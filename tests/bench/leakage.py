"""Precision and recall of the leakage rules on the labelled passages, by kind.

    python tests/bench/leakage.py [--out FILE] [--examples dev|heldout]

A label is found where a hit of its kind overlaps it. `heldout` was written before the rules and by
the same hand as `dev`, so both are easier than resumes of the world: see the note in leakage.txt.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

import leakage_labels
from fairscreen.documents.leakage import KINDS

_ROW = "{:<18}{:>7}{:>7}{:>7}{:>7}{:>11}{:>8}"


def table(name: str, *, examples: bool) -> str:
    rows = leakage_labels.passages(name)
    found = leakage_labels.score(rows)
    alike = sum(not row.labels for row in rows)
    labels = found.right.total() + found.missed.total()
    lines = [
        f"{name}: {len(rows)} passages, {labels} labels, {alike} passages of look-alikes only",
        _ROW.format("kind", "labels", "found", "missed", "wrong", "precision", "recall"),
    ]
    for kind in (*KINDS, "all"):
        right, wrong, missed = (
            c.total() if kind == "all" else c[kind]
            for c in (found.right, found.wrong, found.missed)
        )
        shares = [f"{right / of:.3f}" if of else "none" for of in (right + wrong, right + missed)]
        lines.append(_ROW.format(kind, right + missed, right, missed, wrong, *shares))
    return "\n".join(lines + (found.examples if examples else []))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", help="append to this file, too")
    parser.add_argument("--examples", choices=["dev", "heldout"], help="list what went wrong there")
    args = parser.parse_args()
    text = "\n\n".join(table(n, examples=args.examples == n) for n in ("dev", "heldout"))
    print(text)
    if args.out:
        with Path(args.out).open("a", encoding="utf-8") as out:
            out.write(f"\n{text}\n")


if __name__ == "__main__":
    main()
