"""The `fairscreen` command. Results go to standard output, progress and notices to standard error.

Exit codes: 0 done; 1 a fault of ours, the message names the log; 2 bad input or configuration, one
line on standard error; 3 a gate's threshold was crossed; 4 stopped on purpose, everything kept.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
import tempfile
import traceback
from collections.abc import Sequence

from fairscreen import __version__
from fairscreen.errors import FairscreenError, InputError, StoppedError, from_worker

_EPILOG = """\
examples:
  fairscreen audit conf/audits/demo.yml            one complete audit
  fairscreen score conf/audits/demo.yml --quote    what asking the models would cost
  fairscreen fetch acs --year 2023 --state wy      a Census file, resumed and checked
  fairscreen verify-acs csv_pwy.zip                check a Census file against published totals
  fairscreen analyze paths --help                  the estimators on a file of your own
  fairscreen plan --audit demo --effect 0.5        how many applicants an effect needs
  fairscreen sql sql/questions/NAME.sql            ask the warehouse
"""


class _Parser(argparse.ArgumentParser):
    """Usage errors look like every other bad input: one line, exit code 2."""

    def error(self, message: str) -> None:  # type: ignore[override]
        raise InputError("command line", message, f"See `{self.prog} --help`.")


def parser() -> argparse.ArgumentParser:
    # Here, not above: whoever interrupts while they load gets one line, as from `main` at any time.
    from fairscreen.commands import (
        analyze,
        audit,
        fetch,
        ingest,
        occupations,
        plan,
        sql,
        stations,
        verify_acs,
    )

    top = _Parser(
        prog="fairscreen",
        description="Audits of AI resume screeners: real population, real scores, valid effects.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    top.add_argument("--version", action="version", version=f"fairscreen {__version__}")
    commands = top.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for module in (audit, fetch, ingest, verify_acs, occupations, plan, stations, analyze, sql):
        module.register(commands)
    return top


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code. Jobs call this; nothing here exits."""
    args = None
    try:
        args = parser().parse_args(argv)
        return int(args.run(args))
    except SystemExit as done:  # --help, --version
        return int(done.code or 0)
    except KeyboardInterrupt:
        kept = "what was asked is kept; the same command goes on."
        if args is None:
            kept = "nothing was begun."
        elif args.command == "analyze":
            kept = "nothing was written."
        print(f"stopped: {kept}", file=sys.stderr)
        return 4
    except FairscreenError as error:
        return _report(error)
    except Exception as error:
        known = from_worker(error) or _of_the_machine(error)
        if known is not None:
            return _report(known)
        first = (str(error).strip().splitlines() or [type(error).__name__])[0][:200]
        print(f"error: a fault of fairscreen: {first}. {_kept(error)}", file=sys.stderr)
        return 1


def _of_the_machine(error: BaseException) -> FairscreenError | None:
    """An interrupt, a full disk, a missing right or a rival, anywhere in its causes."""
    text = "".join(traceback.format_exception(error))
    if re.search(r"cancelled as part of cancellation of all jobs|SparkContext was shut down", text):
        return StoppedError("interrupted; what was done is kept. The same command goes on.")
    if re.search(r"Py4JNetworkError|py4j[\s\S]*Connection(?:Reset|Refused)Error", text):
        return FairscreenError(
            "Java stopped in the middle (killed, or out of memory?). What was written is kept: run "
            "the same command again; where it happens twice, give it more memory or fewer cores."
        )
    if "No space left on device" in text:
        return InputError(
            "disk", "no space is left", "Free some and run the same command again: it goes on."
        )
    if re.search(r"DELTA_CONCURRENT|DELTA_METADATA_CHANGED|DELTA_PROTOCOL_CHANGED", text):
        return InputError(
            "warehouse",
            "another run wrote to the same table at the same moment",
            "Run the same command again: it goes on.",
        )
    if found := re.search(
        r"(?:Permission denied|AccessDeniedException)[:\s]*['\"]?(/[^\s'\"]*)?", text
    ):
        return InputError(
            found.group(1) or "a file",
            "permission denied",
            "Give this user the right, or another place.",
        )
    return None


def _kept(error: BaseException) -> str:
    """Where the whole of an unexpected error was written; a log of its own for every process."""
    try:
        handle, name = tempfile.mkstemp(prefix="fairscreen-", suffix=".log")
        with os.fdopen(handle, "w", encoding="utf-8") as log:
            log.write("".join(traceback.format_exception(error)))
    except OSError:
        return "No log could be written."
    return f"The log is {name}."


def _report(error: FairscreenError) -> int:
    label = "stopped" if error.exit_code == 4 else "error"
    print(f"{label}: {' '.join(str(error).split())}", file=sys.stderr)
    return error.exit_code


def entry() -> None:
    """Console script. Exits only where the code is not 0 (spark-submit and Databricks ask that)."""
    code = main()
    if code:
        sys.exit(code)


if __name__ == "__main__":
    entry()
