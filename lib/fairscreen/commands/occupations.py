"""`fairscreen occupations`: what the warehouse's survey has, to choose an audit's jobs from."""

from __future__ import annotations

import argparse

from fairscreen.commands import options
from fairscreen.errors import InputError

_EPILOG = """\
examples:
  fairscreen occupations                              the 20 largest, of the only ACS year
  fairscreen occupations --vintage 2018 --top 50 --by weight
  fairscreen audit conf/audits/demo.yml --set 'population.select={largest: 20, draw: 5}'
  fairscreen audit conf/audits/demo.yml --set 'population.select={occupations: [Cashiers, "4020"]}'
Counted are the employed (ESR 1, 2) of the ages given. `content`: the job whose resumes ship; `-`:
none ships, so `population.select.content` must name a file of pools.
"""


def register(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    text = "occupations of an ingested ACS year, largest first"
    parser = commands.add_parser(
        "occupations", help=text, description=text, epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    parser.add_argument("--vintage", type=int, metavar="YEAR", help="ACS year; needed if several")
    parser.add_argument(
        "--period", type=int, choices=(1, 3, 5), help="years the ACS file pools; needed if several"
    )
    parser.add_argument("--top", type=int, default=20, metavar="N", help="so many (20); 0 = all")
    parser.add_argument(
        "--by", choices=("people", "weight"), default="people", help="size (people)"
    )
    parser.add_argument("--age-min", type=int, default=18, metavar="AGE", help="youngest (18)")
    parser.add_argument("--age-max", type=int, default=44, metavar="AGE", help="oldest (44)")
    options.add_warehouse(parser)
    options.add_json(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    options.check_json(args.json)
    if args.top < 0:
        raise InputError("--top", f"{args.top} is below 0", "Give a whole number; 0 lists all.")
    root = options.existing_warehouse(args)
    from fairscreen.population import jobs, joint, occupations
    from fairscreen.session import get_session
    from fairscreen.stations import selection
    from fairscreen.tables import Warehouse

    warehouse = Warehouse(get_session(), root)
    ledger = warehouse.read("source_file").where("kind = 'acs'").select("vintage", "period")
    there = {(r["vintage"], r["period"] or 1) for r in ledger.distinct().collect()}
    try:
        survey = joint.choose_survey(there, args.vintage, args.period)
    except InputError as error:
        where = error.where.replace("population.", "--")
        raise InputError(where, error.problem, error.remedy) from None
    found = selection.counts(
        warehouse.read("acs_person"), survey, esr=("1", "2"), ages=(args.age_min, args.age_max)
    )
    vintage = survey[0]
    which, pools = occupations.list_of(vintage), selection.shipped()
    ranked = jobs.ranked(found, args.by)[: args.top or None]
    rows = []
    for one in ranked:
        pool = jobs.content_of((one.code,), pools, which)
        rows.append(jobs.fact(one, which) | {"content": pool.key if pool else None})
    result = {"vintage": vintage, "period": survey[1], "list": which, "occupations": rows}
    options.emit(result, _text(result), args.json)
    return 0


def _text(result: dict[str, object]) -> str:
    rows = result["occupations"]
    assert isinstance(rows, list)
    lines = [f"ACS {result['vintage']}, occupation codes of {result['list']}"]
    lines.append(f"{'code':<6}{'people':>9}{'weighted':>12}  {'content':<34}title")
    for row in rows:
        lines.append(
            f"{row['code']:<6}{row['people']:>9,}{row['weighted']:>12,}  "
            f"{row['content'] or '-':<34}{row['title']}"
        )
    return "\n".join(lines)
