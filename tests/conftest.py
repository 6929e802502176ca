"""One lazy Spark session for a whole test process; tests that never ask for it need no Java."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

# No test is timed: on a busy machine a deadline fails at random.
settings.register_profile("fairscreen", deadline=None)
settings.load_profile("fairscreen")


@pytest.fixture(scope="session")
def spark() -> Iterator[object]:
    from fairscreen.session import get_session

    # Thousands of tiny queries: the JVM's second compiler and generated code never pay back.
    session = get_session(
        cores=2,
        shuffle_partitions=2,
        memory="2g",
        java_options="-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
        conf={
            "spark.sql.codegen.wholeStage": "false",
            "spark.sql.codegen.factoryMode": "NO_CODEGEN",
        },
    )
    yield session
    session.stop()


@pytest.fixture
def warehouse(spark, tmp_path: Path):
    """An empty warehouse of this test's own."""
    from fairscreen.tables import Warehouse

    return Warehouse(spark, str(tmp_path / "warehouse"))


@pytest.fixture(scope="session")
def small_warehouse(spark, tmp_path_factory):
    """The made-up audit of tests/small_audit.py, for tests that only read."""
    import small_audit
    from fairscreen.tables import Warehouse

    filled = Warehouse(spark, str(tmp_path_factory.mktemp("small") / "warehouse"))
    small_audit.fill(filled)
    return filled


@pytest.fixture
def no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    """Downloads from a server on loopback, whatever the environment says of proxies."""
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("no_proxy", "127.0.0.1,localhost")


@pytest.fixture
def fetching(tmp_path: Path):
    """A download into a folder of this test's own."""
    from fetch_files import Fetching

    return Fetching(tmp_path)
