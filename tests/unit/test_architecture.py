"""Rules of the tree that a reader relies on."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from fairscreen import resources

PACKAGE = Path(resources.__file__).parent
ROOT = PACKAGE.parent.parent
SOURCES = sorted(PACKAGE.rglob("*.py"))


def _imports(file: Path) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module)
    return found


@pytest.mark.parametrize(
    "file",
    [
        *sorted((PACKAGE / "estimators").glob("*.py")), *sorted(PACKAGE.glob("analyze*.py")),
        PACKAGE / "rank_input.py", PACKAGE / "published_ranking.py", PACKAGE / "callback_input.py",
        PACKAGE / "rank_rows.py", PACKAGE / "audits" / "ranking_slices.py",
        PACKAGE / "audits" / "ranking_rows.py", PACKAGE / "callback_words.py",
        *sorted((PACKAGE / "audits").glob("callback_*.py")),
    ],
    ids=lambda f: f.name,
)  # fmt: skip
def test_estimators_know_no_spark(file: Path) -> None:
    assert not {m for m in _imports(file) if m.split(".")[0] in {"pyspark", "delta", "mlflow"}}


@pytest.mark.parametrize("file", SOURCES, ids=lambda f: str(f.relative_to(PACKAGE)))
def test_edges_are_thin(file: Path) -> None:
    text = file.read_text(encoding="utf-8")
    name = str(file.relative_to(PACKAGE))
    assert len(text.splitlines()) <= 400
    if name not in {"tables.py", "setup.py", "session.py"}:
        assert "delta" not in {m.split(".")[0] for m in _imports(file)}
        assert 'format("delta")' not in text
    if name not in {"session.py", "setup.py"}:
        assert "SparkSession.builder" not in text
    # Spark Connect and Databricks have neither.
    assert not re.search(r"\b_jvm\b|\.rdd\b|parallelize\(|\.broadcast\(", text)
    if name != "random.py":
        assert not re.search(r"np\.random\.(rand|normal|choice|seed)\(|^import random$", text, re.M)


def test_the_lock_names_no_registry() -> None:
    for file in ROOT.glob("conf/lock/*.txt"):
        text = file.read_text(encoding="utf-8")
        assert "--hash=sha256:" in text
        assert not re.search(r"https?://|--index-url|--find-links|--extra-index", text)


def test_jobs_are_tables_of_contents() -> None:
    jobs = sorted((ROOT / "jobs").glob("*.py"))
    assert jobs
    for job in jobs:
        assert len(job.read_text(encoding="utf-8").splitlines()) <= 60
