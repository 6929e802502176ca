"""`fairscreen applicants|render|score|estimate|report CONF`: one station of an audit each."""

from __future__ import annotations

import argparse
from functools import partial

from fairscreen.commands import options

_HELP = {
    "applicants": "who applies: bronze tables to applicants",
    "render": "applicants to resumes",
    "score": "ask the screeners; what was answered is never asked again",
    "estimate": "scores to effects, overlap and patterns",
    "report": "report, summary and MLflow run",
}


def register(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    for name, text in _HELP.items():
        parser = commands.add_parser(
            name, help=text, description=text,
            epilog=f"example:\n  fairscreen {name} conf/audits/demo.yml\n"
            "Stations before it are run first where their inputs or settings changed.",
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )  # fmt: skip
        options.add_config(parser)
        parser.set_defaults(run=partial(run, name))


def run(name: str, args: argparse.Namespace) -> int:
    from fairscreen.stations import chain

    cfg = options.load_config(args)
    summary = chain.run_audit(cfg, until=name, command=options.command(args))
    options.emit(summary, chain.closing_text(cfg, summary), args.json)
    return 0
