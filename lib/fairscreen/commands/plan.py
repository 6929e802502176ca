"""`fairscreen plan`: the smallest effect a design can show, and what a wanted one would take."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from fairscreen.audits import plan_rows
from fairscreen.audits.plan_rows import Basis
from fairscreen.commands import options
from fairscreen.commands.sql import as_table
from fairscreen.errors import InputError
from fairscreen.estimators.planning import Aim

_EPILOG = """\
examples:
  fairscreen plan --audit demo                         what that audit could show
  fairscreen plan --audit demo --effect 0.5 --margin 1 --slice all --estimand NDE RIE
  fairscreen plan --sd 12 --n 2000 --tests 15          numbers of your own; no warehouse
  fairscreen plan --std-error 0.6 --n 400 --effect 1   another study's error, another size
  fairscreen plan --design rescoring --sd 4 --effect 0.25 --power 0.9

sd is the spread over applicants of what one of them says about an effect, in points of score: the
standard error times the root of n. With --audit it comes from the rows eif and rescoring of the
table estimates. detectable: the true effect that a two-sided test at --alpha, divided by the tests
of its family (Bonferroni; Holm never has less power), shows with chance --power. margin: within it
a true effect of 0 is shown negligible by two one-sided tests (2.93 standard errors at 5% and 80%).
calls: of one model, applicants x versions; rescoring asks 4 versions, 5 with a photo.
"""
_KEYS = ("model", "document_format", "contrast", "slice", "estimand", "method")
_FILTERS = ("model", "contrast", "slice", "estimand", "method")
_SHOWN = {
    "n": "n", "std_error": "std_error", "sd": "sd", "tests": "tests", "detectable": "detectable",
    "power_effect": "power", "n_effect": "n_for_effect", "smallest_margin": "margin",
    "n_margin": "n_for_margin", "n_overlap": "n_for_overlap", "calls": "calls",
    "calls_effect": "calls_for_effect",
}  # fmt: skip


def register(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = commands.add_parser(
        "plan", help="detectable effects and sample sizes", epilog=_EPILOG,
        description="The smallest effect a design can show, and the applicants a wanted one needs.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    parser.add_argument("--audit", metavar="ID", help="an earlier audit in the warehouse")
    for key in _FILTERS:
        parser.add_argument(
            f"--{key}", nargs="+", default=[], metavar=key.upper(), help=f"only this {key} of it"
        )
    parser.add_argument("--sd", type=float, metavar="POINTS", help="spread per applicant")
    parser.add_argument("--std-error", type=float, metavar="POINTS", help="of an effect, at --n")
    parser.add_argument("--n", type=int, metavar="N", help="applicants; with --audit: of the next")
    parser.add_argument(
        "--design", choices=("observational", "rescoring"), help="with --sd, --std-error"
    )
    parser.add_argument("--photo", action="store_true", help="documents show a photo")
    parser.add_argument("--effect", type=float, metavar="POINTS", help="the effect wanted")
    parser.add_argument("--margin", type=float, metavar="POINTS", help="what is negligible")
    parser.add_argument("--alpha", type=float, default=0.05, help="level of the family (0.05)")
    parser.add_argument("--power", type=float, default=0.8, help="chance to show it (0.8)")
    parser.add_argument("--tests", type=int, metavar="K", help="tests of the family (1; audit's)")
    parser.add_argument("--replicates", type=int, default=1, metavar="K", help="answers each (1)")
    options.add_warehouse(parser)
    options.add_json(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    options.check_json(args.json)
    _check(args)
    if args.audit:
        found = _chosen(plan_rows.bases(_estimates(args)), args)
    else:
        found = [
            plan_rows.basis_of_numbers(
                sd=args.sd, std_error=args.std_error, n=args.n, tests=args.tests or 1,
                design=args.design or "observational", photo=args.photo,
            )
        ]  # fmt: skip
    rows = [
        plan_rows.plan_row(
            basis, alpha=args.alpha, power=args.power, effect=args.effect, margin=args.margin,
            replicates=args.replicates,
        )
        for basis in found
    ]  # fmt: skip
    asked = ("alpha", "power", "effect", "margin", "audit")
    result = {**{k: getattr(args, k) for k in asked}, "rows": rows}
    options.emit(result, _text(args, rows), args.json)
    return 0


def _check(args: argparse.Namespace) -> None:
    """Refuse what contradicts itself before Spark starts."""
    numbers = {"--sd": args.sd, "--std-error": args.std_error, "--design": args.design,
               "--photo": args.photo or None}  # fmt: skip
    given = [name for name, value in numbers.items() if value is not None]
    if args.audit and given:
        raise InputError(
            "command line", f"--audit and {given[0]} are both given", "Give one of them."
        )
    if not args.audit and args.sd is None and args.std_error is None:
        raise InputError(
            "command line", "neither an audit nor numbers are given",
            "Give --audit ID, or --sd, or --std-error with --n.",
        )  # fmt: skip
    for name, least in (("n", 2), ("tests", 1), ("replicates", 1)):
        value = getattr(args, name)
        if value is not None and value < least:
            raise InputError(f"--{name}", f"{value} is below {least}", "Give a larger number.")
    if args.effect is not None and not args.effect:
        raise InputError("--effect", "0 cannot be shown", "Give --margin to plan for 0.")
    if args.margin is not None and not args.margin > 0:
        raise InputError("--margin", f"{args.margin:g} is not above 0", "Give a number above 0.")
    Aim(args.alpha, args.power)  # its own words for a level or power that is none
    if not args.audit:
        if (args.n, args.effect, args.margin) == (None, None, None):
            raise InputError(
                "command line", "nothing to plan for", "Give --n, --effect or --margin."
            )
        if any(getattr(args, key) for key in _FILTERS):
            raise InputError("command line", "filters need --audit", "Give --audit ID.")


def _estimates(args: argparse.Namespace) -> list[dict[str, Any]]:
    root = options.existing_warehouse(args)
    from pyspark.sql import functions as sf

    from fairscreen.session import get_session
    from fairscreen.tables import Warehouse

    warehouse = Warehouse(get_session(), root)
    if not warehouse.exists("estimates"):
        raise InputError(
            f"warehouse {warehouse.root}", "has no table of estimates",
            "Run `fairscreen audit` first, or give the right folder with --warehouse.",
        )  # fmt: skip
    table = warehouse.read("estimates")
    mine = table.where(sf.col("audit_id") == args.audit).orderBy(*_KEYS).collect()
    if not mine:
        known = [r[0] for r in table.select("audit_id").distinct().orderBy("audit_id").collect()]
        raise InputError(
            f"--audit {args.audit}", f"has no estimates in {warehouse.root}",
            f"Audits there: {', '.join(known) or 'none'}.",
        )  # fmt: skip
    return [row.asDict() for row in mine]


def _chosen(found: Sequence[Basis], args: argparse.Namespace) -> list[Basis]:
    """The bases that the filters keep, at the applicants and the tests asked about.

    Tests were counted before: a filter chooses among the plans, it makes no family smaller.
    """
    for key in _FILTERS:
        known = {basis.label[key] for basis in found}
        for value in getattr(args, key):
            if value not in known:
                raise InputError(
                    f"--{key} {value}", f"is no {key} that audit {args.audit} can plan from",
                    f"There are: {', '.join(sorted(known))}.",
                )  # fmt: skip
    kept = [
        basis
        for basis in found
        if all(basis.label[key] in (getattr(args, key) or [basis.label[key]]) for key in _FILTERS)
    ]
    if not kept:
        raise InputError(
            "command line", "no effect of the audit is left to plan for", "Drop a filter."
        )
    return [
        replace(
            basis,
            n=basis.n if args.n is None or basis.sd is None else args.n,
            tests=args.tests or basis.tests,
        )
        for basis in kept
    ]


def _text(args: argparse.Namespace, rows: list[dict[str, Any]]) -> str:
    keys = [k for k in _KEYS if k in rows[0] and (len({r[k] for r in rows}) > 1 or k in
                                                  ("slice", "estimand"))]  # fmt: skip
    shown = [k for k in _SHOWN if any(r[k] is not None for r in rows)]
    columns = [*keys, *(_SHOWN[k] for k in shown)]
    table = [{**{k: r[k] for k in keys}, **{_SHOWN[k]: r[k] for k in shown}} for r in rows]
    lines = [
        f"Two-sided tests at {args.alpha:g} over the tests of a family, power {args.power:g}; "
        "points of score."
    ]
    if args.effect is not None:
        lines.append(f"Wanted effect: {args.effect:g}.")
    if args.margin is not None:
        lines.append(f"Negligible: within {args.margin:g}, shown at a true effect of 0.")
    if any(r["n_overlap"] is not None for r in rows):
        lines.append(
            "n_for_overlap: about so many applicants, of the same mix, before the effect is "
            "computable at all."
        )
    return "\n".join([*lines, "", as_table(columns, table)])
