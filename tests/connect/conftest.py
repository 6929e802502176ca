"""A Spark Connect session. It shares no process with a classic one: `make test` runs this apart."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest


@pytest.fixture(scope="session")
def spark() -> Iterator[object]:
    from fairscreen.session import get_session

    os.environ["SPARK_REMOTE"] = "local[2]"  # PySpark starts the server, and connects to it
    session = get_session()
    # Tiny queries: generated code never pays back.
    session.conf.set("spark.sql.codegen.wholeStage", "false")
    session.conf.set("spark.sql.codegen.factoryMode", "NO_CODEGEN")
    yield session
    session.stop()
    os.environ.pop("SPARK_REMOTE", None)
