"""`fairscreen analyze callbacks`: paired or unpaired callbacks on a file of your own."""

from __future__ import annotations

import argparse

from fairscreen.commands import options
from fairscreen.commands.result_table import table
from fairscreen.errors import InputError
from fairscreen.progress import say

_ABOUT = """\
Is one group called back more often? In a paired audit two applications to one posting differ in
the name alone; in an unpaired one names are drawn for each application. One row per application.
"""
_EPILOG = """\
examples:
  # callbacks.csv has: posting,pair_id,race,gender,name,industry,callback
  fairscreen analyze callbacks --input callbacks.csv --pair posting pair_id --arm race \\
      --favored white --other black --outcome callback --cluster posting --name name \\
      --slice industry gender

  # Bertrand & Mullainathan's own data
  fairscreen analyze callbacks --input resumes.csv --unpaired --arm race --favored white \\
      --other black --outcome received_callback --cluster job_ad_id --name firstname

callback_gap_pp is favored minus other in percentage points. `cluster_posting_names` is the
headline: postings and names are both samples. `sign_flip_posting` is exact, for these names.
McNemar, Wald and Newcombe are what is published; they take the pairs of a posting for independent.
The outcome is 1 or 0, yes or no; an empty cell is no valid answer: counted by group, its pair left
out of the gap, and bounded. The same pair and arm twice is an error. Each --slice column is
reported by value, alone and in combination. n counts pairs (applications where unpaired).
"""


def register(designs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = designs.add_parser(
        "callbacks", help="callbacks of pairs that differ in the name, or of applications",
        description=_ABOUT, epilog=_EPILOG, formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    add = parser.add_argument
    add("--input", required=True, metavar="FILE",
        help="one row per application: .csv .tsv .parquet .dta .xlsx")  # fmt: skip
    add(
        "--pair",
        nargs="+",
        default=[],
        metavar="COL",
        help="columns that both rows of a pair share",
    )
    add("--unpaired", action="store_true", help="independent applications, instead of --pair")
    add("--arm", required=True, metavar="COL", help="column of the group")
    add("--favored", required=True, metavar="V", help="its value that a positive gap favors")
    add("--other", required=True, metavar="V", help="its value to compare with")
    add("--outcome", required=True, metavar="COL", help="1 or 0, yes or no, empty = no answer")
    add("--cluster", metavar="COL", help="posting: its rows are not independent")
    add("--name", metavar="COL", help="the applicant's name: names are a sample too")
    add("--name-group", metavar="COL",
        help="labels are permuted within it (gender); default: names that are paired")  # fmt: skip
    add("--slice", nargs="+", default=None, metavar="COL", help="report by these columns")
    add("--p-yes", metavar="COL", help="probability of a callback: adds the gap on it")
    add("--firm", metavar="COL", help="adds the variance of gaps between firms")
    add("--placebo", metavar="COL", help="1 where both names are of one race and gender, else 0")
    add("--margin", type=float, metavar="POINTS",
        help="gaps inside it are negligible: adds equivalence tests")  # fmt: skip
    add("--level", type=float, default=0.95, metavar="P", help="level of the intervals (0.95)")
    add("--draws", type=int, default=2_000, metavar="N", help="draws of the bootstrap (2,000)")
    add("--permutations", type=int, default=9_999, metavar="N",
        help="labellings of the names (9,999)")  # fmt: skip
    add("--seed", default="20260501", metavar="N", help="seed of the draws")
    options.add_json(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Rows of a file; 0 when done. InputError = exit code 2."""
    options.check_json(args.json)
    if bool(args.pair) == args.unpaired:
        raise InputError(
            "--pair, --unpaired", "give one of them", "See `fairscreen analyze callbacks --help`."
        )
    from fairscreen.analyze_callbacks import analyze_callbacks
    from fairscreen.input_files import read_table

    say(f"reading {args.input}")
    frame = read_table(args.input, row="application")
    say(f"{len(frame):,} rows; comparing")
    result = analyze_callbacks(
        frame, arm=args.arm, favored=args.favored, other=args.other, outcome=args.outcome,
        pair=args.pair, cluster=args.cluster, name=args.name, name_group=args.name_group,
        slices=args.slice or (), p_yes=args.p_yes, firm=args.firm, placebo=args.placebo,
        level=args.level, margin=args.margin, draws=args.draws, permutations=args.permutations,
        seed=args.seed, where=args.input,
    )  # fmt: skip
    favors = f"A positive gap favors {args.favored}; a ratio is {args.other} over {args.favored}."
    options.emit(result, table(result, favors), args.json)
    return 0
