"""`fairscreen ingest KIND PATH...`: upstream files to bronze tables."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

from fairscreen.commands import options
from fairscreen.errors import InputError

_EPILOG = """\
examples:
  fairscreen ingest acs csv_pwy.zip csv_pvt.zip    Census person files, as downloaded
                                                   (1-year or 5-year, of states or csv_pus.zip)
  fairscreen ingest names names.zip                SSA first names, of the nation or of states
  fairscreen ingest names mine.csv                 a list: name, gender, count (birth_year)
  fairscreen ingest surnames names.zip             Census surnames, 2010 or 2000
  fairscreen ingest surnames mine.csv              a list: name, count, pct_white ... or race
  fairscreen ingest psid J123456.zip               a PSID packaged extract, any set-up file
  fairscreen ingest psid J1.zip J2.zip             two extracts of one study, joined by person
  fairscreen ingest corpus resumes.csv             Occupation, Role, Resume (Cleaned_Resume)
  fairscreen ingest corpus FOLDER                  INDUSTRY/ROLE/NAME.txt or .pdf
  fairscreen ingest postings jobs.jsonl            company, title, metro, state, posted ...
  fairscreen ingest postings jobs.csv --column company=Employer   columns of other names
The same file again is a no-op. A bad file is refused with its line, and nothing is written.
"""

_OF_ONE_KIND = {
    "crosswalk": "psid", "vintage": "acs", "industry": "corpus", "role": "corpus",
    "role_from": "corpus", "column": "postings",
}  # fmt: skip


def register(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = commands.add_parser(
        "ingest", help="upstream files to bronze", epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    parser.add_argument(
        "kind", choices=["acs", "psid", "names", "ssa", "surnames", "corpus", "postings"]
    )
    parser.add_argument("paths", nargs="+", metavar="PATH", help="files, or bundled:NAME")
    parser.add_argument(
        "--vintage", type=int, help="acs: (last) survey year, where SERIALNO lacks it"
    )
    parser.add_argument(
        "--crosswalk", metavar="YAML", help="psid: variables by wave (conf/psid_crosswalk.yml)"
    )
    parser.add_argument("--industry", metavar="TEXT", help="corpus: of resumes that tell none")
    parser.add_argument("--role", metavar="TEXT", help="corpus: of resumes that tell none")
    parser.add_argument(
        "--role-from", choices=["first-line", "capitals"],
        help="corpus: the role is the first line, or the words in capitals that a text begins with",
    )  # fmt: skip
    parser.add_argument(
        "--column", action="append", metavar="FIELD=NAME",
        help="postings: what the file calls company, title, metro, state, posted, description, "
        "industry or job_type; may be repeated",
    )  # fmt: skip
    options.add_warehouse(parser)
    options.add_json(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    options.check_json(args.json)
    for option, kind in _OF_ONE_KIND.items():
        if getattr(args, option) is not None and args.kind != kind:
            name = f"--{option.replace('_', '-')}"
            raise InputError(name, f"does not apply to {args.kind}", "Leave it out.")
    from fairscreen.session import get_session
    from fairscreen.sources.corpus_files import Given
    from fairscreen.stations import ingest
    from fairscreen.tables import Warehouse, require_folder

    # Before Spark starts: the place, then the files.
    root = args.warehouse or "var/warehouse"
    require_folder(root)
    kind = "ssa" if args.kind == "names" else args.kind  # as the ledger calls first names
    given = Given(args.industry, args.role, args.role_from)
    told: dict[str, Any] = {
        "vintage": args.vintage, "crosswalk": args.crosswalk, "given": given,
        "columns": columns(args.column or ()),
    }  # fmt: skip
    survey = ingest.check(kind, args.paths, **told)
    warehouse = Warehouse(get_session(), root)
    result = ingest.ingest(warehouse, kind, args.paths, survey=survey, **told)
    lines = [f"{args.kind}: {result.rows:,} rows from {len(result.files)} file(s)"]
    lines += [f"already there, nothing done: {name}" for name in result.skipped]
    lines += [f"note: {note}" for note in result.notes]
    payload = {
        "kind": result.kind, "rows": result.rows, "files": result.files,
        "skipped": result.skipped, "notes": result.notes,
    }  # fmt: skip
    options.emit(payload, "\n".join(lines), args.json)
    return 0


def columns(said: Sequence[str]) -> dict[str, str]:
    """Our field -> the file's column, of FIELD=NAME. InputError for what is none."""
    from fairscreen.settings.postings import FIELDS

    found: dict[str, str] = {}
    for text in said:
        field, _, name = (part.strip() for part in text.partition("="))
        if field not in FIELDS or not name:
            raise InputError(
                "--column", f"{text!r} is not FIELD=NAME",
                f"Fields are {', '.join(FIELDS)}; NAME is a column of the file.",
            )  # fmt: skip
        if field in found:
            raise InputError("--column", f"tells {field} twice", "Give it once.")
        found[field] = name
    return found
