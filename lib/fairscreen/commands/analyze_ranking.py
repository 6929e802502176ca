"""`fairscreen analyze ranking`: ranking after scoring on a file of your own, or JobFair's."""

from __future__ import annotations

import argparse

from fairscreen.commands import options
from fairscreen.commands.result_table import table
from fairscreen.errors import InputError
from fairscreen.progress import say

_ABOUT = """\
Is one version of a resume ranked better than another? Every resume is scored in several versions
(a label that says Male, one that says Female, none), and the versions are ranked within the
resume: 1 = best, ties averaged. One row per answer; repeated answers are averaged before ranking.
"""
_EPILOG = """\
examples:
  # answers.csv has: resume,industry,gender,words,score
  fairscreen analyze ranking --input answers.csv --item resume --version gender \\
      --favored Male --other Female --neutral none --score score \\
      --words words --slice industry

  # gender by race: versions are combinations, ranked together
  fairscreen analyze ranking --input answers.csv --item resume --version gender \\
      --favored Male --other Female --cross race --score score

  # JobFair's result file: checked (means, ranks, words, each mismatch listed) and analyzed
  fairscreen analyze ranking --published final_data.csv --json result.json
  # the sets in that layout, computed anew (of --input too)
  fairscreen analyze ranking --published final_data.csv --export again.parquet

rank_gap is favored minus other in ranks, so a positive one favors the other version; score_gap is
in points, and a positive one favors the favored version. Several sets of a resume (information
levels, models) are flipped together. A set that lacks the score of a version is counted and
enters nothing. --neutral '' means that the cell is empty. Each --slice column is reported by
value, alone and in combination; `all` is pooled. n counts rank sets.
"""


def register(designs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = designs.add_parser(
        "ranking", help="ranks of the versions of each resume",
        description=_ABOUT, epilog=_EPILOG, formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    add = parser.add_argument
    add("--input", metavar="FILE", help="one row per answer: .csv .tsv .parquet .dta .xlsx")
    add("--published", metavar="FILE", help="JobFair's result layout, instead of --input")
    add("--item", nargs="+", default=[], metavar="COL", help="columns that name a resume")
    add("--version", metavar="COL", help="column of the labels")
    add("--favored", metavar="V", help="label that a positive score gap favors")
    add("--other", metavar="V", help="label to compare with")
    add("--neutral", metavar="V", help="version without a label, ranked with both; '' = empty")
    add("--score", metavar="COL", help="score, higher is better")
    add("--words", metavar="COL", help="words of the text that was sent: adds the regression")
    add("--slice", nargs="+", default=None, metavar="COL", help="report by these columns")
    add("--cross", metavar="COL", help="second attribute of the versions (gender by race)")
    add("--margin", type=float, metavar="RANKS",
        help="gaps inside it are negligible: adds equivalence tests")  # fmt: skip
    add("--level", type=float, default=0.95, metavar="P", help="level of the intervals (0.95)")
    add("--draws", type=int, default=100_000, metavar="N",
        help="draws of the published tests (100,000); with more than 64 different scores at most "
        "25,000,000 / sets of them, and the row says how many")  # fmt: skip
    add("--swaps", type=int, default=19_999, metavar="N", help="swaps of the spread test (19,999)")
    add("--pitman-morgan", action="store_true",
        help="adds the normal-theory test of spread, which ranks break")  # fmt: skip
    add("--seed", default="20240624", metavar="N", help="seed of the draws")
    add("--export", metavar="FILE",
        help="write the sets in JobFair's layout, recomputed (.csv .parquet)")  # fmt: skip
    options.add_json(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Rows of a file; 0 when done. InputError = exit code 2."""
    options.check_json(args.json)
    if (args.input is None) == (args.published is None):
        raise InputError(
            "--input, --published", "give one of them", "See `fairscreen analyze ranking --help`."
        )
    if args.published is not None:
        return _published(args)
    for name in ("item", "version", "favored", "other", "score"):
        if not getattr(args, name):
            raise InputError(f"--{name}", "is missing", "See `fairscreen analyze ranking --help`.")
    from fairscreen import published_ranking
    from fairscreen.analyze_ranking import analyze_ranking
    from fairscreen.input_files import read_table

    published_ranking.check_target(args.export)
    say(f"reading {args.input}")
    frame = read_table(args.input)
    say(f"{len(frame):,} rows; ranking")
    result = analyze_ranking(
        frame, item=args.item, version=args.version, favored=args.favored, other=args.other,
        neutral=args.neutral, score=args.score, words=args.words, slices=args.slice or (),
        cross=args.cross, margin=args.margin, level=args.level, draws=args.draws,
        swaps=args.swaps, pitman_morgan=args.pitman_morgan, seed=args.seed, where=args.input,
    )  # fmt: skip
    if args.export is not None:
        layout = published_ranking.from_answers(
            frame, item=args.item, version=args.version, favored=args.favored, other=args.other,
            neutral=args.neutral, score=args.score, words=args.words, slices=args.slice or (),
            where=args.input,
        )  # fmt: skip
        published_ranking.write(layout, args.export)
    options.emit(result, table(result, _favors(args.favored, args.other)), args.json)
    return 0


def _published(args: argparse.Namespace) -> int:
    from fairscreen import published_ranking

    given = [
        n for n in ("item", "version", "neutral", "score", "words", "cross") if getattr(args, n)
    ]
    if given:
        raise InputError(f"--{given[0]}", "is told by the layout of --published", "Leave it out.")
    published_ranking.check_target(args.export)
    say(f"reading {args.published}")
    sets = published_ranking.read(args.published)
    say(f"{len(sets.frame):,} rank sets; ranking")
    favored, other = args.favored or "Male", args.other or "Female"
    result = published_ranking.analyze(
        sets, favored=favored, other=other,
        slices=args.slice, margin=args.margin, level=args.level, draws=args.draws,
        swaps=args.swaps, pitman_morgan=args.pitman_morgan, seed=args.seed,
    )  # fmt: skip
    if args.export is not None:
        published_ranking.write(sets.recomputed(), args.export)
    text = [table(result, _favors(favored, other))]
    text += published_ranking.lines(result["mismatches"])
    options.emit(result, "\n".join(text), args.json)
    return 0


def _favors(favored: str, other: str) -> str:
    return (
        f"A positive gap in ranks favors {other} (1 = best), a positive gap in scores {favored}; "
        f"an impact ratio below 1 is to the disadvantage of {favored}."
    )
