"""The command line in a process of its own, whose Spark writes an event log.

Reads one command a line (JSON: {"argv": its words, "defect": true where chat models are to break
in the worker}) from standard input, and writes each exit code to the file handle that is named.
What it prints is what the commands print.

    python tests/event_log_runs.py FOLDER HANDLE
"""

from __future__ import annotations

import json
import os
import sys
from dataclasses import replace
from pathlib import Path

from fairscreen.cli import main
from fairscreen.scoring.calls import Params, Screener
from fairscreen.scoring.screeners import KINDS, chat
from fairscreen.session import get_session


def defective(prepared: Params) -> Screener:
    """A fault of ours, of the worst kind: it prints what it was given."""
    raise RuntimeError(f"a defect of the screener with {prepared['setup'].secret}")


def run(folder: Path, handle: int) -> None:
    for name in ("events", "local"):
        (folder / name).mkdir()
    get_session(
        cores=2,
        shuffle_partitions=2,
        memory="1g",
        java_options=f"-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Djava.io.tmpdir={folder}/local",
        conf={
            "spark.sql.codegen.wholeStage": "false",
            "spark.sql.codegen.factoryMode": "NO_CODEGEN",
            "spark.eventLog.enabled": "true",
            "spark.eventLog.dir": (folder / "events").as_uri(),
            "spark.eventLog.compress": "false",
            # Whole plans, not the first fields of each.
            "spark.sql.debug.maxToStringFields": "10000",
            "spark.sql.maxPlanStringLength": "100000000",
            "spark.local.dir": str(folder / "local"),
        },
    )
    for line in sys.stdin:
        command = json.loads(line)
        opened = defective if command["defect"] else chat.KIND.open
        KINDS["chat"] = replace(chat.KIND, open=opened)  # type: ignore[index]
        code = main(command["argv"])
        os.write(handle, f"{code}\n".encode())


if __name__ == "__main__":
    run(Path(sys.argv[1]), int(sys.argv[2]))
