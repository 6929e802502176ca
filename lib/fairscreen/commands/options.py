"""Options that commands share, and how a result reaches people and machines."""

from __future__ import annotations

import argparse
import json
import os
import shlex
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from fairscreen import config
from fairscreen.errors import InputError
from fairscreen.settings.audit import AuditConfig

#: Outcomes that may be asked again. Never ok: a score does not depend on how often one asks.
RETRIED = ("failed", "refused", "unparseable")


def add_config(parser: argparse.ArgumentParser) -> None:
    """The audit's file (positional or --config), overrides, warehouse and output folder."""
    parser.add_argument("conf", nargs="?", metavar="CONF", help="YAML file of the audit")
    parser.add_argument("--config", metavar="FILE", help="the same, as an option")
    parser.add_argument(
        "--set", dest="overrides", action="append", default=[], metavar="KEY.PATH=VALUE",
        help="change one setting; repeatable: --set population.n_per_job=100",
    )  # fmt: skip
    add_warehouse(parser)
    parser.add_argument("--out", metavar="DIR", help="folder of summary and report")
    add_json(parser)


def add_warehouse(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--warehouse", metavar="DIR|CATALOG.SCHEMA", help="where the tables are (var/warehouse)"
    )


def existing_warehouse(args: argparse.Namespace) -> str:
    """The warehouse to read from; InputError where it is a folder that is not there."""
    root = args.warehouse or "var/warehouse"
    if "/" in root and "://" not in root and not Path(root).expanduser().is_dir():
        raise InputError(
            f"warehouse {root}",
            "is not there (a relative path starts in the current folder)",
            "Run `fairscreen audit` first, or give the right folder with --warehouse.",
        )
    return str(root)


def add_json(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", metavar="FILE", help="write the result as JSON; - = stdout")


def add_retry(parser: argparse.ArgumentParser) -> None:
    """--retry and --reparse, of the commands that score."""
    parser.add_argument(
        "--retry", metavar="OUTCOME[,OUTCOME]",
        help=f"ask calls with these outcomes once more: {', '.join(RETRIED)}",
    )  # fmt: skip
    parser.add_argument(
        "--reparse", action="store_true", help="read all raw replies again though nothing changed"
    )


def retry(args: argparse.Namespace) -> tuple[str, ...]:
    """The outcomes that --retry names, each once; InputError for one that cannot be retried."""
    named = [] if args.retry is None else [name.strip() for name in args.retry.split(",")]
    for name in named:
        if name not in RETRIED:
            raise InputError(
                f"--retry {args.retry}",
                f"{name!r} is no outcome that can be asked again",
                f"Outcomes are: {', '.join(RETRIED)}.",
            )
    return tuple(dict.fromkeys(named))


def load_config(args: argparse.Namespace) -> AuditConfig:
    """The config that the options describe."""
    check_json(args.json)
    if args.conf and args.config:
        raise InputError("command line", "CONF and --config are both given", "Give one of them.")
    file = args.conf or args.config
    if not file:
        raise InputError(
            "command line", "no audit file was given", "Give one, such as conf/audits/demo.yml."
        )
    overrides = list(args.overrides)
    for name in ("warehouse", "out"):
        if getattr(args, name):
            overrides.append(f"{name}={json.dumps(getattr(args, name))}")
    return config.load(file, overrides)


def check_json(target: str | None) -> None:
    """InputError where --json names a file that cannot be written: before the work, not after."""
    if target is None or target == "-":
        return
    folder = Path(target).expanduser().resolve().parent
    if not folder.is_dir() or not os.access(folder, os.W_OK) or Path(target).is_dir():
        raise InputError(
            f"--json {target}",
            "is no file in a folder that can be written to",
            "Give a file in a folder that is there.",
        )


def command(args: argparse.Namespace) -> str:
    """What to type to run this audit again, whatever station was asked for."""
    parts = ["fairscreen", "audit", str(args.conf or args.config)]
    for item in args.overrides:
        parts += ["--set", shlex.quote(item)]
    for name in ("warehouse", "out"):
        if getattr(args, name):
            parts += [f"--{name}", shlex.quote(getattr(args, name))]
    return " ".join(parts)


def emit(result: Mapping[str, Any], text: str, target: str | None) -> None:
    """Print `text` for people; with --json write `result` for machines (`-`: JSON only)."""
    if target is None:
        print(text)
        return
    payload = json.dumps(result, indent=2, default=str, allow_nan=False)
    if target == "-":
        print(payload)
        return
    try:
        Path(target).write_text(payload + "\n", encoding="utf-8")
    except OSError as error:
        raise InputError(
            f"--json {target}", error.strerror or "cannot be written", "Give a file in a folder."
        ) from None
    print(text)
    print(f"JSON: {target}", file=sys.stderr)
