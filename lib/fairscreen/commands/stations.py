"""`fairscreen applicants|render|score|estimate|report CONF`: one station of an audit each."""

from __future__ import annotations

import argparse
from functools import partial

from fairscreen.commands import options

_HELP = {
    "applicants": "who applies: bronze tables to applicants",
    "render": "applicants, or resumes of a corpus, to documents: what a screener is shown",
    "score": "ask the screeners; what was answered is never asked again",
    "estimate": "scores to effects, overlap and patterns",
    "report": "report, summary and MLflow run",
}

_AGAIN = """

A call that failed after all its attempts is final: it counts as failed and does not change the
exit code. To ask again, or to read again what was answered:
  fairscreen score conf/audits/demo.yml --retry failed,unparseable
  fairscreen score conf/audits/demo.yml --set scoring.models.minilm.parser=cosine/1
Every reply is kept. The first that can be read counts, so a retry never changes a score.

What it would cost, before anything is asked (no key needed), and a hard cap in US dollars on what
all runs of the audit cost together (exit 4 when it is reached; everything is kept):
  fairscreen score conf/audits/demo.yml --quote
  fairscreen score conf/audits/demo.yml --set scoring.max_cost=25"""


def register(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    for name, text in _HELP.items():
        parser = commands.add_parser(
            name, help=text, description=text,
            epilog=f"example:\n  fairscreen {name} conf/audits/demo.yml\n"
            "Stations before it are run first where their inputs or settings changed."
            + (_AGAIN if name == "score" else ""),
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )  # fmt: skip
        options.add_config(parser)
        if name == "score":
            options.add_retry(parser)
            parser.add_argument(
                "--quote", action="store_true",
                help="say what scoring would cost, with ranges; ask nothing",
            )  # fmt: skip
        parser.set_defaults(run=partial(run, name))


def run(name: str, args: argparse.Namespace) -> int:
    from fairscreen.stations import chain

    cfg = options.load_config(args)
    again = {}
    if name == "score":
        again = {"retry": options.retry(args), "reparse": args.reparse}
        if args.quote:
            found = chain.run_audit(cfg, retry=again["retry"], quote=True)
            options.emit(found["quote"], found["text"], args.json)
            return 0
    summary = chain.run_audit(cfg, until=name, command=options.command(args), **again)
    options.emit(summary, chain.closing_text(cfg, summary), args.json)
    return 0
