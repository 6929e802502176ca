"""`fairscreen fetch acs|names|surnames`: the published files, resumed and checked."""

from __future__ import annotations

import argparse
import re
import shlex
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from fairscreen.commands import options
from fairscreen.errors import InputError

if TYPE_CHECKING:
    from fairscreen.sources.catalogue import Item
    from fairscreen.sources.download import Fetched

_OUT = "var/sources"
_EPILOG = """\
examples:
  fairscreen fetch acs --year 2023 --state wy --state vt   Census person files of two states
  fairscreen fetch acs --year 2023 --period 5              the national five-year file
  fairscreen fetch names                                   SSA baby names
  fairscreen fetch surnames --from https://mirror.example.org/names
Stopped or dropped, the same command goes on where it was. A file gets its name when it is whole and
checked; its SHA-256 is written beside it. Proxies are taken from the environment (https_proxy).
Both publishers refuse programs from some networks: fetch with a browser, or from a mirror, then.
"""


def register(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = commands.add_parser(
        "fetch", help="download the published files: resumed, checked", epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    kinds = parser.add_subparsers(dest="kind", metavar="KIND", required=True)
    acs = kinds.add_parser("acs", help="Census person files (ACS PUMS) of one year")
    acs.add_argument("--year", type=int, required=True, help="survey year; last one of five")
    acs.add_argument("--period", type=int, choices=[1, 5], default=1, help="years pooled (1)")
    acs.add_argument(
        "--state", dest="states", action="append", default=[], metavar="XX",
        help="two letters; repeatable; without it the national file",
    )  # fmt: skip
    names = kinds.add_parser("names", help="first names of the Social Security Administration")
    surnames = kinds.add_parser("surnames", help="Census surnames of 2010")
    for kind in (acs, names, surnames):
        kind.add_argument("--out", metavar="FOLDER", default=_OUT, help=f"where to ({_OUT})")
        kind.add_argument("--sha256", metavar="HEX", help="what the file's SHA-256 must be")
        kind.add_argument(
            "--from", dest="base", metavar="URL", help="another server: the folder on it"
        )
        options.add_json(kind)
        kind.set_defaults(run=run)
    kinds.add_parser("psid", help="cannot be fetched: says what to do").set_defaults(run=psid)


def psid(args: argparse.Namespace) -> int:
    raise InputError(
        "fetch psid",
        "the PSID gives its files only to registered users and forbids passing them on",
        "Register at https://psidonline.isr.umich.edu, put the variables of "
        "conf/psid_crosswalk.yml into the Data Center's cart, choose SAS, Stata or SPSS "
        "statements, and run `fairscreen ingest psid J123456.zip` on what you get.",
    )


def run(args: argparse.Namespace) -> int:
    options.check_json(args.json)
    from fairscreen.sources import contents, download

    items = _items(args)
    folder = Path(args.out).expanduser()

    def check(path: Path) -> None:
        if args.kind == "acs":
            contents.acs(path, args.year, args.period)
        else:
            contents.single(path, args.kind)

    done = [download.fetch(i.url, folder / i.file, i.expected, check=check) for i in items]
    following = _next(args, [str(f.file) for f in done])
    payload = {
        "kind": args.kind,
        "files": [{**asdict(f), "file": str(f.file)} for f in done],
        "next": following,
    }
    lines = [_line(f) for f in done] + [f"next: {command}" for command in following]
    options.emit(payload, "\n".join(lines), args.json)
    return 0


def _items(args: argparse.Namespace) -> list[Item]:
    """What to fetch, all of it checked before the first byte is asked for."""
    from dataclasses import replace

    from fairscreen.sources import catalogue, http_get
    from fairscreen.sources.transfer import Expected

    if args.base is not None:
        http_get.check(args.base)
    if args.kind == "acs":
        items = catalogue.acs(args.year, args.period, args.states, base=args.base)
    else:
        items = [catalogue.single(args.kind, base=args.base)]
    if args.sha256 is None:
        return items
    sha256 = args.sha256.lower()
    if not re.fullmatch(r"[0-9a-f]{64}", sha256):
        raise InputError("--sha256", "is not 64 hex digits", "Give what `sha256sum FILE` prints.")
    if len(items) > 1:
        raise InputError(
            "--sha256", f"one digest for {len(items)} files", "Fetch one state at a time."
        )
    return [replace(items[0], expected=Expected(sha256, "given with --sha256"))]


def _line(fetched: Fetched) -> str:
    line = f"{fetched.file}: {fetched.size:,} bytes, SHA-256 {fetched.sha256}"
    if fetched.already_here:
        return f"{line}; already there ({fetched.checked}). Delete it to fetch it anew."
    if fetched.checked is None:
        return f"{line}; no SHA-256 is known to compare with, the zip's own checks hold"
    return f"{line}; as {fetched.checked}"


def _next(args: argparse.Namespace, files: Sequence[str]) -> list[str]:
    """What to type next."""
    quoted = " ".join(shlex.quote(file) for file in files)
    if args.kind != "acs":
        kind = {"names": "ssa", "surnames": "surnames"}[args.kind]
        return [f"fairscreen ingest {kind} {quoted}"]
    # SERIALNO tells the year from 2017 on, and in pooled files a year of the five.
    vintage = f" --vintage {args.year}" if args.period == 5 or args.year < 2017 else ""
    return [
        f"fairscreen verify-acs {quoted}{vintage}",
        f"fairscreen ingest acs {quoted}{vintage}",
    ]
