"""No key, and no resume, where it does not belong: every byte that an audit leaves is searched.

One audit of three models (a key in the environment, a key in a file, AWS credentials) asked of a
server that quotes keys and prompts in its errors. First a wave that is turned away, then one that
breaks with an exception and a log, then the whole audit with its report and MLflow run, all with
Spark's event log on. The journal is read while it exists.
"""

from __future__ import annotations

import base64
import gzip
import io
import json
import os
import shutil
import sqlite3
import subprocess
import sys
import uuid
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from urllib.parse import quote

import pyarrow.parquet as pq
import pytest

from model_server import ModelServer, serving

RUNS = Path(__file__).resolve().parents[1] / "event_log_runs.py"
ENV_NAME = f"AUDIT_KEY_{uuid.uuid4().hex[:8].upper()}"
# Nothing about them looks like a key: only who knows them can mask them.
KEYS = {
    "environment": f"q{uuid.uuid4().hex}w",
    "file": f"z{uuid.uuid4().hex}x",
    "AWS_ACCESS_KEY_ID": uuid.uuid4().hex[:20],
    "AWS_SECRET_ACCESS_KEY": f"{uuid.uuid4().hex[:20]}/{uuid.uuid4().hex[:10]}+v",
    "AWS_SESSION_TOKEN": f"{uuid.uuid4().hex}//{uuid.uuid4().hex}==",
}


@dataclass
class Left:
    """What the three runs left: their folder, exit codes, and the journal as it was on the way."""

    folder: Path
    codes: list[int] = field(default_factory=list)
    journal: dict[str, bytes] = field(default_factory=dict)

    def text(self, name: str) -> str:
        return (self.folder / name).read_text(encoding="utf-8")

    @cached_property
    def parts(self) -> dict[str, list[bytes]]:
        """Every file and every look at the journal, with all that can be read in it."""
        files = {
            str(f.relative_to(self.folder)): f.read_bytes()
            for f in self.folder.rglob("*")
            if f.is_file() and f.name != "key"
        }
        return {name: list(readable(data)) for name, data in {**files, **self.journal}.items()}

    def look(self) -> None:
        """Read the journal, as it is now."""
        for file in (self.folder / "warehouse" / "_journal").rglob("*"):
            if file.is_file():
                self.journal[f"journal {file.name} at {len(self.journal)}"] = file.read_bytes()


def _arguments(folder: Path, arguments: list[str], server: ModelServer) -> list[str]:
    """Those of the shared small audit, with three models that must be asked by key."""
    (folder / "key").write_text(f"{KEYS['file']}\n")
    known = {"model": "m-1", "max_attempts": 2, "breaker": 50, "weights": "w"}
    models = {
        "a_env": {"provider": "openai", "base_url": f"{server.url}/v1", "key_env": ENV_NAME},
        "b_file": {"provider": "anthropic", "base_url": server.url, "key_file": f"{folder}/key"},
        "c_aws": {"provider": "bedrock", "base_url": server.url, "region": "us-east-1"},
    }
    settings = {
        "scoring.models": {
            k: {"kind": "chat", "params": known | v, "also_parsers": ["number/2"]}
            for k, v in models.items()
        },
        "scoring.segment_size": 10, "estimation.bootstrap_draws": 50,
    }  # fmt: skip
    given = list(arguments)
    for key, value in settings.items():
        given += ["--set", f"{key}={json.dumps(value)}"]
    given += ["--warehouse", str(folder / "warehouse"), "--out", str(folder / "out")]
    return [*given, "--json", str(folder / "result.json")]


@pytest.fixture(scope="module")
def left(
    tmp_path_factory: pytest.TempPathFactory, place: Path, arguments: list[str], first: object
) -> Left:
    folder = tmp_path_factory.mktemp("secrets")
    (folder / "tmp").mkdir()
    # Applicants and resumes are there already; an MLflow store knows its folder and stays behind.
    shutil.copytree(
        place / "warehouse", folder / "warehouse", ignore=shutil.ignore_patterns("_mlflow")
    )
    found = Left(folder)
    environ = os.environ | {ENV_NAME: KEYS["environment"], "TMPDIR": str(folder / "tmp")}
    environ |= {name: key for name, key in KEYS.items() if name.startswith("AWS")}
    read_end, write_end = os.pipe()
    # Each server repeats all that it can know: its own account's keys, as sent and as they are.
    echo = "{key} {account} was sent with {prompt}"
    aws = " ".join(key for name, key in KEYS.items() if name.startswith("AWS"))
    known = {"openai": KEYS["environment"], "anthropic": KEYS["file"], "bedrock": aws}
    with (
        serving(echo=echo, account=known, heal_after=99) as server,
        open(folder / "stdout", "w") as out,
        open(folder / "stderr", "w") as err,
        subprocess.Popen(
            [sys.executable, str(RUNS), str(folder), str(write_end)],
            stdin=subprocess.PIPE, stdout=out, stderr=err, text=True, env=environ,
            pass_fds=[write_end],
        ) as process,
        open(read_end) as codes,
    ):  # fmt: skip
        os.close(write_end)
        assert process.stdin is not None
        given = _arguments(folder, arguments, server)

        def run(command: str, defect: bool = False) -> None:
            line = {"argv": [command, *given], "defect": defect}
            print(json.dumps(line), file=process.stdin, flush=True)
            found.codes.append(int(codes.readline() or -1))

        server.on_attempt = lambda key, attempt: found.look()
        server.faults = {"400": 1.0}
        run("score")
        run("score", defect=True)
        server.faults = {"500": 0.2, "422": 0.2}
        run("audit")
        process.stdin.close()
        process.wait()
    return found


def forms(text: str) -> set[bytes]:
    """A text as it may stand in a file: plain, escaped, and in the usual encodings."""
    plain = text.encode()
    shifted = [base64.b64encode(b" " * n + plain) for n in range(3)]
    # Without the characters that depend on what stands before and after; a few prove nothing.
    inner = {code[4 if n else 0 : -4] for n, code in enumerate(shifted)}
    return {code for code in inner if len(code) >= 8} | {
        plain, json.dumps(text)[1:-1].encode(), plain.replace(b"/", b"\\/"), quote(text).encode(),
        quote(text, safe="").encode(), plain.hex().encode(), text.encode("utf-16-le"),
    }  # fmt: skip


def readable(data: bytes) -> Iterator[bytes]:
    """The bytes, and what they say to who can read them: compressed, parquet, a database."""
    yield data
    if data[:4] == b"PAR1":
        yield str(pq.read_table(io.BytesIO(data)).to_pylist()).encode()
    elif data[:2] == b"\x1f\x8b":
        yield gzip.decompress(data)
    elif data[:4] == b"PK\x03\x04":
        with zipfile.ZipFile(io.BytesIO(data)) as members:
            for name in members.namelist():
                yield from readable(members.read(name))
    elif data[:15] == b"SQLite format 3":
        with sqlite3.connect(":memory:") as database:
            database.deserialize(data)
            yield "\n".join(database.iterdump()).encode()


def holding(left: Left, texts: list[str]) -> set[str]:
    """Every file (by path) that holds one of the texts in some form."""
    wanted = [form for text in texts for form in forms(text)]
    return {
        name
        for name, parts in left.parts.items()
        if any(form in part for part in parts for form in wanted)
    }


def test_the_runs_went_wrong_as_planned(left: Left) -> None:
    """What is searched below is there: errors with a message, a log, a journal, an event log."""
    assert left.codes == [2, 1, 0], left.text("stderr")
    errors = left.text("stderr")
    assert "m-1 turned 3 calls in a row away: 400 invalid_request_error" in errors
    (log,) = (left.folder / "tmp").glob("fairscreen-*.log")
    assert log.name in errors
    assert "RuntimeError: a defect of the screener with Secret(***)" in log.read_text()
    result = json.loads(left.text("result.json"))
    assert set(result["outcomes"]) == set(result["mlflow_run_ids"]) == {"a_env", "b_file", "c_aws"}
    assert all(counts["failed"] > 0 for counts in result["outcomes"].values())
    assert any(b"422 unprocessable" in data for data in left.journal.values())
    assert {name.split("/")[0] for name in holding(left, ["MapInArrow"])} >= {"events"}
    assert result["kept_stages"] == ["applicants", "render"]
    alike = "c_aws (text): score_0_100/2 and number/2 read 0 of 80 replies differently."
    assert alike in result["notes"]
    assert {name.split("/")[0] for name in holding(left, ["a_env"])} >= {
        "warehouse", "out", "result.json", "stderr",
    }  # fmt: skip


def test_a_key_stands_nowhere(left: Left) -> None:
    for name, key in KEYS.items():
        assert holding(left, [key]) == set(), name
        # Half of one, from the end of a message that was cut short.
        assert holding(left, [key[:12], key[-12:]]) == set(), name


def test_the_closure_that_carries_the_key_is_not_in_the_event_log(left: Left) -> None:
    """It holds the name of the key's variable as it is, which plans and events must not show."""
    assert not [n for n in holding(left, [ENV_NAME]) if n.startswith(("events", "local", "tmp"))]


def test_a_resume_stands_in_its_table_and_in_the_report_only(left: Left) -> None:
    """The report shows one request per model as it was sent, and is kept with the MLflow run."""
    tables = left.folder / "warehouse"
    shown = {
        row["content_key"] for file in (tables / "documents").rglob("*.parquet")
        for row in pq.read_table(file).to_pylist() if row["audit_id"] == "small"
    }  # fmt: skip
    resumes = [
        row["text"] for file in (tables / "contents").rglob("*.parquet")
        for row in pq.read_table(file).to_pylist() if row["content_key"] in shown
    ]  # fmt: skip
    assert len(resumes) == 80
    # The name on top and the first lines: what follows stands in the pools of conf/ too.
    names = [text.split("\n")[0] for text in resumes[::8]]
    places = holding(left, [*names, *(text[:120] for text in resumes[::8])])
    allowed = {
        name for name in places
        if name.startswith("warehouse/contents/") or name.endswith("report.html")
    }  # fmt: skip
    assert len(allowed) >= 3
    assert places == allowed
