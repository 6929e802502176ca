"""`fairscreen analyze DESIGN --input FILE ...`: the estimators on a file of your own."""

from __future__ import annotations

import argparse

from fairscreen.commands import analyze_callbacks, analyze_leakage, analyze_ranking, options
from fairscreen.commands.result_table import table
from fairscreen.progress import say

_EPILOG = """\
examples:
  fairscreen analyze paths --input scores.csv \\
      --x gender --x1 male --x0 female --z race age --r surname_group region \\
      --b education years --y score
  fairscreen analyze ranking --input answers.csv --item resume --version gender \\
      --favored Male --other Female --neutral none --score score --slice industry
  fairscreen analyze callbacks --input callbacks.csv --pair posting pair_id --arm race \\
      --favored white --other black --outcome callback --cluster posting --name name
  The same for machines:  ... --json result.json    (--json - prints JSON only)
Each design has its own help: fairscreen analyze paths --help
"""
_PATHS = """\
How a protected attribute reaches a score: directly, through qualifications (business mediators),
through names and region (redlining mediators). One row per applicant and score.
"""
_PATHS_EPILOG = """\
examples:
  # scores.csv has: gender,race,age,surname_group,region,education,years,score
  fairscreen analyze paths --input scores.csv --x gender --x1 male --x0 female \\
      --z race age --r surname_group region --b education years --y score

  # several resumes per person, survey weights, smoother nuisances
  fairscreen analyze paths --input scores.parquet --x race --x1 white --x0 black \\
      --z gender age --r first_name --b degree --y score \\
      --cluster person --weight pwgtp --learner xgboost

  # errors of the survey's design too, from the columns PWGTP1 to PWGTP80 of an ACS file
  fairscreen analyze paths --input acs_scores.csv --x SEX --x1 1 --x0 2 --z AGEP RAC1P \\
      --r first_name --b SCHL --y score --weight PWGTP --replicate-weights PWGTP

Effects: TE total = NDE (not through the mediators) + BIE (qualifications) + RIE (names, region);
NIE = BIE + RIE. A positive value favors x1. An effect whose overlap is too weak is not computable,
and the row says why. Without --r there is no RIE, without --b no BIE. Values of --x1 and --x0 are
compared as text, exactly; only where the file keeps types (parquet, Stata, Excel) 1 equals 1.0,
and true equals True. Numbers with more than 20 distinct values enter as they are: as smooth curves
beside bins cut at quantiles (--bins), or split by trees. Every other column is a category, with
200 values at most. Rows left out are counted by reason.
"""


def register(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = commands.add_parser(
        "analyze", help="the estimators on a file of your own; no Spark, no warehouse",
        epilog=_EPILOG, formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    designs = parser.add_subparsers(dest="design", metavar="DESIGN", required=True)
    _register_paths(designs)
    analyze_ranking.register(designs)
    analyze_callbacks.register(designs)
    analyze_leakage.register(designs)


def _register_paths(designs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    paths = designs.add_parser(
        "paths", help="path-specific effects of an attribute on a score",
        description=_PATHS, epilog=_PATHS_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    add = paths.add_argument
    add("--input", required=True, metavar="FILE", help=".csv .tsv .parquet .dta .xlsx")
    add("--x", required=True, metavar="COL", help="protected attribute")
    add("--x1", required=True, metavar="V", help="its value that a positive effect favors")
    add("--x0", required=True, metavar="V", help="its value to compare with")
    add("--z", nargs="+", default=[], metavar="COL", help="confounders")
    add("--r", nargs="+", default=[], metavar="COL", help="redlining mediators: names, region")
    add("--b", nargs="+", default=[], metavar="COL", help="business mediators: qualifications")
    add("--y", required=True, metavar="COL", help="score")
    add("--weight", metavar="COL", help="weight of a row, above 0")
    add("--replicate-weights", nargs="+", default=[], metavar="COL",
        help="replicates of the weight: what their names begin with (before 1, 2, ...), or every "
        "column; adds the errors of the survey's design")  # fmt: skip
    add("--replicate-scale", type=float, metavar="F",
        help="factor of the sum of squared differences; default 4 / R, successive differences (the "
        "ACS); balanced repeated replication: 1 / R; jackknife: (R - 1) / R")  # fmt: skip
    add("--cluster", metavar="COL", help="rows of one value are not independent (person)")
    add("--learner", choices=["stack", "saturated", "glm", "xgboost"], default="stack",
        help="glm: main effects and curves; saturated: cells shrunk to them; xgboost: boosted "
        "trees; stack (default): the mix of these that predicts best")  # fmt: skip
    add("--repeats", type=int, default=3, metavar="K", help="repeats of cross-fitting (3)")
    add("--folds", type=int, default=5, metavar="L", help="folds of cross-fitting (5)")
    add(
        "--bins",
        type=int,
        default=5,
        metavar="N",
        help="bins of numbers with many values; trees use none (5)",
    )
    add("--draws", type=int, default=500, metavar="N", help="draws of the bootstrap (500)")
    add("--level", type=float, default=0.95, metavar="P", help="level of the intervals (0.95)")
    add("--margin", type=float, metavar="POINTS",
        help="effects inside it are negligible: adds equivalence tests")  # fmt: skip
    add("--confounder", nargs=2, type=float, metavar=("CF_Y", "CF_D"),
        help="bounds under a confounder that was left out, sampling error included: the share that "
        "it explains of the score's variance given x and z (TE) or given all columns (the other "
        "effects, whose bounds take in no common cause of x and a mediator), and the share that "
        "it adds to the variance of the weights")  # fmt: skip
    add("--seed", type=int, default=20260322, metavar="N", help="seed of folds and draws")
    options.add_json(paths)
    paths.set_defaults(run=run_paths)


def run_paths(args: argparse.Namespace) -> int:
    """Path-specific effects of a file; 0 when done. InputError = exit code 2."""
    from fairscreen import analyze

    options.check_json(args.json)
    say(f"reading {args.input}")
    frame = analyze.read_table(args.input)
    say(f"{len(frame):,} rows; fitting ({args.learner}, {args.repeats} repeats)")
    result = analyze.analyze_paths(
        frame, x=args.x, x1=args.x1, x0=args.x0, z=args.z, r=args.r, b=args.b, y=args.y,
        weight=args.weight, replicates=args.replicate_weights,
        replicate_scale=args.replicate_scale, cluster=args.cluster, learner=args.learner,
        repeats=args.repeats,
        folds=args.folds, seed=args.seed, bins=args.bins, level=args.level,
        bootstrap_draws=args.draws, margin=args.margin, where=args.input,
        confounder=tuple(args.confounder) if args.confounder else None,
    )  # fmt: skip
    options.emit(result, table(result), args.json)
    return 0
