"""The only place that builds a SparkSession: local, spark-submit, Connect and Databricks.

Where a session already runs (Databricks, spark-submit, a notebook) it is taken as it is; only a
session of our own gets the settings below. Delta's jars were fetched by set-up into a folder
beside the environment, so that a local run needs no network.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from pyspark.sql import SparkSession

from fairscreen.errors import MissingPartError

JAVA_VERSIONS = (17, 21)


def jars_folder() -> Path:
    """Where set-up keeps Delta's jars: `FAIRSCREEN_JARS`, else inside the environment."""
    given = os.environ.get("FAIRSCREEN_JARS")
    return Path(given) if given else Path(sys.prefix) / "share" / "fairscreen" / "jars"


def get_session(
    *, cores: int = 2, shuffle_partitions: int | None = None, memory: str = "4g"
) -> SparkSession:
    """The running session, or a new local one with Delta (UTC, `local[cores]`).

    Raises MissingPartError where Java 17 or 21, or Delta's jars, are not there.
    """
    if os.environ.get("DATABRICKS_RUNTIME_VERSION") or os.environ.get("SPARK_REMOTE"):
        return _utc(SparkSession.builder.getOrCreate())
    active = SparkSession.getActiveSession()
    if active is not None:
        return _utc(active)
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = SparkSession.builder.appName("fairscreen")
    if "SPARK_ENV_LOADED" in os.environ:  # spark-submit decides on master, jars and memory
        return _utc(builder.getOrCreate())
    _require_java()
    builder = builder.master(f"local[{cores}]")
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
        "spark.driver.extraJavaOptions": "-Duser.timezone=UTC",
        "spark.sql.warehouse.dir": str(Path(os.environ.get("TMPDIR", "/tmp")) / "fairscreen-spark"),
    }
    for key, value in options.items():
        builder = builder.config(key, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    return _utc(spark)


def _utc(spark: SparkSession) -> SparkSession:
    spark.conf.set("spark.sql.session.timeZone", "UTC")
    return spark


def _require_java() -> None:
    home = os.environ.get("JAVA_HOME")
    java = str(Path(home) / "bin" / "java") if home else shutil.which("java")
    remedy = "Install Java 17 (Debian: apt-get install openjdk-17-jre-headless), or set JAVA_HOME."
    if not java or not Path(java).exists():
        raise MissingPartError("java", "no Java was found", remedy)
    try:
        text = subprocess.run([java, "-version"], capture_output=True, text=True, check=True).stderr
    except (OSError, subprocess.CalledProcessError):
        raise MissingPartError(java, "this Java does not start", remedy) from None
    found = re.search(r'version "(\d+)', text)
    if not found or int(found.group(1)) not in JAVA_VERSIONS:
        version = found.group(1) if found else "unknown"
        raise MissingPartError(java, f"is Java {version}; Spark 4.1 needs 17 or 21", remedy)


def _require_jars() -> list[Path]:
    jars = sorted(jars_folder().glob("*.jar"))
    if not any(j.name.startswith("delta-spark") for j in jars):
        raise MissingPartError(
            str(jars_folder()), "Delta's jars are not there", "Run `make setup` once."
        )
    return jars
