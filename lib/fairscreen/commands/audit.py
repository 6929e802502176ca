"""`fairscreen audit CONF`: the whole chain for one audit."""

from __future__ import annotations

import argparse

from fairscreen.commands import options

_EPILOG = """\
examples:
  fairscreen audit conf/audits/demo.yml                    applicants from U.S. statistics
  fairscreen audit conf/audits/ranking.yml                 labelled versions of resumes, ranked
  fairscreen audit conf/audits/callbacks.yml               pairs of profiles that differ in the name
  fairscreen audit conf/audits/demo.yml --set estimation.learner=xgboost
  fairscreen audit my.yml --set 'sources.acs=["csv_pri.zip"]' --warehouse wh --out report
Run again, it asks no request twice, unless told to (--retry failed). It ends by naming the report
and summary.json.
"""


def register(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = commands.add_parser(
        "audit", help="one complete audit", epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    options.add_config(parser)
    options.add_retry(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    from fairscreen.stations import chain

    cfg, retry = options.load_config(args), options.retry(args)
    summary = chain.run_audit(cfg, command=options.command(args), retry=retry, reparse=args.reparse)
    options.emit(summary, chain.closing_text(cfg, summary), args.json)
    return 0
