"""`fairscreen verify-acs PATH...`: weighted totals of Census person files with their errors."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from fairscreen.commands import options

_EPILOG = """\
examples:
  fairscreen verify-acs csv_pwy.zip
  fairscreen verify-acs csv_pwy.zip --official pums_estimates_18.csv
Compare with the Census Bureau's "PUMS estimates for user verification" of the same year.
Standard errors are by successive differences over the 80 replicate weights.
"""


def register(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = commands.add_parser(
        "verify-acs", help="weighted totals of ACS files, to check against the Bureau's",
        epilog=_EPILOG, formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    parser.add_argument("paths", nargs="+", metavar="PATH", help="person zips, or bundled:NAME")
    parser.add_argument("--vintage", type=int, help="(last) survey year, where SERIALNO lacks it")
    parser.add_argument("--official", metavar="CSV", help="the Bureau's verification file")
    options.add_json(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    options.check_json(args.json)
    from fairscreen import resources
    from fairscreen.sources import acs_survey, acs_verify

    paths = [resources.resolve(path) for path in args.paths]
    survey = acs_survey.survey_files(paths, vintage=args.vintage)
    rows = acs_verify.verify(paths, survey=survey)
    notes = [acs_survey.twice_note(file) for file in survey[1]]
    result: dict[str, Any] = {"rows": [asdict(row) for row in rows], "notes": notes}
    text = _table(
        ("vintage", "period", "state", "characteristic", "estimate", "std_error", "moe90",
         "reason"),
        [(r.vintage, r.period, r.state, r.characteristic, r.estimate, r.std_error, r.moe90,
          r.reason) for r in rows],
    )  # fmt: skip
    if args.official:
        found = acs_verify.compare(rows, args.official)
        result["comparison"] = [asdict(c) for c in found]
        off = [c for c in found if c.status != "equal"]
        count = Counter(c.status for c in found)
        text += (
            f"\n\nOf {len(found)} published figures {count['equal']} equal ours, "
            f"{count['differs']} differ, {count['not_computable']} cannot be computed from these "
            "files."
        )
        if off:
            text += "\n" + _table(
                ("state", "characteristic", "figure", "ours", "published", "status"),
                [(c.state, c.characteristic, c.figure, c.ours, c.published, c.status) for c in off],
            )
    text += "".join(f"\nnote: {note}" for note in notes)
    options.emit(result, text, args.json)
    return 0


def _table(header: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """Aligned columns: numbers to the right, text to the left, nothing where there is no value."""
    cells = [[_cell(value) for value in row] for row in rows]
    widths = [max(len(c) for c in column) for column in zip(header, *cells, strict=True)]
    right = [
        all(isinstance(v, int | float | None) for v in column) for column in zip(*rows, strict=True)
    ]
    lines = []
    for row in [list(header), *cells]:
        parts = [
            c.rjust(w) if r else c.ljust(w) for c, w, r in zip(row, widths, right, strict=True)
        ]
        lines.append("  ".join(parts).rstrip())
    return "\n".join(lines)


def _cell(value: object) -> str:
    if value is None:
        return ""
    return f"{value:,.1f}" if isinstance(value, float) else str(value)
