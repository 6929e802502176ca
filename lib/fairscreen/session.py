"""The only place that builds a SparkSession: local, spark-submit, Connect and Databricks.

Where a session already runs (Databricks, spark-submit, a notebook) it is taken as it is; only a
session of our own gets the settings below. Delta's jars were fetched by set-up into a folder
beside the environment, so that a local run needs no network.
"""

from __future__ import annotations

import logging
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from pyspark.logger import PySparkLogger
from pyspark.sql import SparkSession

from fairscreen.errors import MissingPartError

JAVA_VERSIONS = (17, 21)


def jars_folder() -> Path:
    """Where set-up keeps Delta's jars: `FAIRSCREEN_JARS`, else inside the environment."""
    given = os.environ.get("FAIRSCREEN_JARS")
    return Path(given) if given else Path(sys.prefix) / "share" / "fairscreen" / "jars"


def get_session(
    *,
    cores: int = 2,
    shuffle_partitions: int | None = None,
    memory: str = "4g",
    java_options: str = "",
    conf: Mapping[str, str] | None = None,
) -> SparkSession:
    """The running session, or a new local one with Delta (UTC, `local[cores,4]`).

    java_options, conf: more options of a new local session's JVM and of Spark.

    Raises MissingPartError where Java 17 or 21, or Delta's jars, are not there.
    """
    remote = os.environ.get("SPARK_REMOTE", "")
    if os.environ.get("DATABRICKS_RUNTIME_VERSION") or remote:
        if remote.startswith("local"):  # PySpark starts a Connect server of our own
            _set_environment()
            require_java()
        return _utc(SparkSession.builder.getOrCreate())
    active = SparkSession.getActiveSession()
    if active is not None:
        return _utc(active)
    _set_environment()
    builder = SparkSession.builder.appName("fairscreen")
    if "PYSPARK_GATEWAY_PORT" in os.environ:  # spark-submit decides on master, jars and memory
        return _utc(builder.getOrCreate())
    require_java()
    # A task that fails, or whose process dies, is tried four times: `local[n]` alone tries once.
    builder = builder.master(f"local[{cores},4]")
    quiet = Path(__file__).with_name("log4j2.properties").as_uri()
    options = {
        "spark.jars": ",".join(str(j) for j in _require_jars()),
        "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
        "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
        "spark.sql.shuffle.partitions": str(shuffle_partitions or 2 * cores),
        "spark.databricks.delta.snapshotPartitions": "2",
        "spark.driver.memory": memory,
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.execution.arrow.pyspark.enabled": "true",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.extraJavaOptions": (
            f"-Duser.timezone=UTC -Dlog4j2.configurationFile={quiet} {java_options}".rstrip()
        ),
        "spark.sql.warehouse.dir": str(Path(os.environ.get("TMPDIR", "/tmp")) / "fairscreen-spark"),
    }
    for key, value in {**options, **(conf or {})}.items():
        builder = builder.config(key, value)
    spark = builder.getOrCreate()
    # PySpark resets the level when it starts. A failed task would print hundreds of lines of Java;
    # the exception that follows says the same, and the command line keeps it in its log.
    spark.sparkContext.setLogLevel("FATAL")
    return _utc(spark)


def _set_environment() -> None:
    """What workers of a local session inherit: this Python, and one core per task."""
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        os.environ.setdefault(name, "1")


def _utc(spark: SparkSession) -> SparkSession:
    # PySpark prints every refused query with its Java stack; the exception says the same.
    PySparkLogger.getLogger("SQLQueryContextLogger").setLevel(logging.CRITICAL)
    spark.conf.set("spark.sql.session.timeZone", "UTC")
    return spark


def find_java() -> Path | None:
    """A Java of a version that Spark 4.1 runs on: JAVA_HOME, the PATH, then Debian's folders."""
    home, on_path = os.environ.get("JAVA_HOME"), shutil.which("java")
    places = [Path(home) / "bin" / "java"] if home else []
    places += [Path(on_path)] if on_path else []
    for version in JAVA_VERSIONS:
        places += sorted(Path("/usr/lib/jvm").glob(f"java-{version}-*/bin/java"))
    return next((java for java in places if _java_version(java) in JAVA_VERSIONS), None)


def _java_version(java: Path) -> int | None:
    try:
        done = subprocess.run([str(java), "-version"], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    found = re.search(r'version "(\d+)', done.stderr)
    return int(found.group(1)) if found else None


def require_java() -> Path:
    """The Java that Spark will start; sets JAVA_HOME. Raises MissingPartError."""
    java = find_java()
    if java is None:
        raise MissingPartError(
            "java",
            "neither Java 17 nor Java 21 was found",
            "Install one (Debian: apt-get install openjdk-17-jre-headless) or set JAVA_HOME.",
        )
    os.environ["JAVA_HOME"] = str(java.resolve().parent.parent)
    return java


def _require_jars() -> list[Path]:
    jars = sorted(jars_folder().glob("*.jar"))
    if not any(j.name.startswith("delta-spark") for j in jars):
        raise MissingPartError(
            str(jars_folder()), "Delta's jars are not there", "Run `make setup` once."
        )
    return jars
