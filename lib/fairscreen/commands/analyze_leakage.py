"""`fairscreen analyze leakage`: cues of gender, race and age in the texts of a file."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import Any

from fairscreen.commands import options
from fairscreen.progress import say

_ABOUT = """\
Demographic cues left in texts: a gender field, a title, a pronoun for the applicant, a membership,
a birth date ... One row per hit, with its place in the text. Needs no Spark and no model.
"""
_EPILOG = """\
examples:
  fairscreen analyze leakage --input resumes.csv --text Cleaned_Resume
  fairscreen analyze leakage --input resumes.parquet --text text --kind pronoun title --json -
  fairscreen analyze leakage --input cvs.csv --text cv --cues mine.yml     (see conf/leakage.yml)

row 0 is the first row of data; start and end count characters of its cell. What looks alike is no
hit: "his or her", somebody else's team, Ms Office, a form's "Gender: Male/Female".
"""


def register(designs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    leakage = designs.add_parser(
        "leakage", help="demographic cues in the texts of a file",
        description=_ABOUT, epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    add = leakage.add_argument
    add("--input", required=True, metavar="FILE", help=".csv .tsv .parquet .dta .xlsx")
    add("--text", required=True, metavar="COL", help="column of the texts")
    add("--kind", nargs="+", default=[], metavar="KIND", help="these kinds only")
    add("--cues", metavar="YAML", help="word lists in place of conf/leakage.yml")
    options.add_json(leakage)
    leakage.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Hits of a file; 0 when done. InputError = exit code 2."""
    from fairscreen.analyze_leakage import analyze_leakage
    from fairscreen.documents.leakage_cues import load_cues
    from fairscreen.input_files import read_table

    options.check_json(args.json)
    cues = load_cues(args.cues)
    say(f"reading {args.input}")
    frame = read_table(args.input, row="text")
    result = analyze_leakage(frame, text=args.text, where=args.input, kinds=args.kind, cues=cues)
    options.emit(result, as_text(result), args.json)
    return 0


def as_text(result: Mapping[str, Any]) -> str:
    """Rows, what was left out, notes."""
    lines = ["row\tkind\tattribute\tstart\tend\ttext"]
    lines += [
        "\t".join(str(r[c]) for c in ("row", "kind", "attribute", "start", "end"))
        + "\t"
        + " ".join(r["text"].split())
        for r in result["rows"]
    ]
    lines += [f"left out, {reason}: {count:,}" for reason, count in result["excluded"].items()]
    lines += [f"note: {note}" for note in result["notes"]]
    return "\n".join(lines)
