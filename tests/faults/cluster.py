"""A standalone Spark: a master and two workers of one core each, on loopback addresses."""

from __future__ import annotations

import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pyspark
from harness import command_of, descendants, environment, kill, until

from fairscreen.session import jars_folder, require_java

HOSTS = ("127.0.0.2", "127.0.0.3")
# At its most eager: a task that lasts a little longer than half of the others is copied.
EAGER = {
    "spark.speculation": "true",
    "spark.speculation.interval": "100ms",
    "spark.speculation.multiplier": "1.1",
    "spark.speculation.quantile": "0.5",
}
_SPARK = Path(pyspark.__file__).parent


@dataclass(frozen=True)
class Cluster:
    url: str
    log: Path
    started: tuple[subprocess.Popen, ...]

    def submit(self, **conf: str) -> list[str]:
        """A command that runs a Python file on it, with Delta, as a user would write it."""
        jars = ",".join(str(jar) for jar in sorted(jars_folder().glob("*.jar")))
        settings = {
            "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
            "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
            "spark.sql.shuffle.partitions": "2",
            "spark.databricks.delta.snapshotPartitions": "2",
            "spark.executor.memory": "1g",
            "spark.driver.host": "127.0.0.1",
            "spark.driver.bindAddress": "127.0.0.1",
            "spark.ui.enabled": "false",
            "spark.sql.codegen.wholeStage": "false",
            "spark.sql.codegen.factoryMode": "NO_CODEGEN",
            "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
            "spark.executor.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
            **conf,
        }
        given = [part for name, value in settings.items() for part in ("--conf", f"{name}={value}")]
        submit = str(_SPARK / "bin/spark-submit")
        return [submit, "--master", self.url, "--driver-memory", "1g", "--jars", jars, *given]

    def executor(self, host: str) -> int:
        """Process number of the executor's JVM on a host."""

        def found() -> list[int]:
            below = [pid for p in self.started for pid in descendants(p.pid)]
            lines = {pid: command_of(pid) for pid in below}
            return [p for p, line in lines.items() if "CoarseGrained" in line and host in line]

        return until(found, f"an executor on {host}")[0]


@contextmanager
def standalone(folder: Path) -> Iterator[Cluster]:
    require_java()
    port = _free_port()
    url, log = f"spark://127.0.0.1:{port}", folder / "cluster.log"
    master = ["Master", "--host", "127.0.0.1", "--port", str(port), "--webui-port", "0"]
    workers = [
        ["Worker", "--host", host, "--cores", "1", "--memory", "1g", "--webui-port", "0",
         "--work-dir", str(folder / f"work-{host}"), url]
        for host in HOSTS
    ]  # fmt: skip
    started: list[subprocess.Popen] = []
    try:
        with open(log, "ab") as out:
            for role, *options in (master, *workers):
                main = f"org.apache.spark.deploy.{role.lower()}.{role}"
                command = [str(_SPARK / "bin/spark-class"), main, *options]
                more = {"SPARK_DAEMON_MEMORY": "256m"}
                started.append(
                    subprocess.Popen(command, stdout=out, stderr=out, env=environment() | more)
                )
        registered = f"Successfully registered with master {url}"
        until(
            lambda: log.read_text().count(registered) == len(HOSTS),
            "the workers to register",
            lambda: all(p.poll() is None for p in started),
        )
        yield Cluster(url, log, tuple(started))
    finally:
        for process in started:
            for pid in [process.pid, *descendants(process.pid)]:
                kill(pid)
            process.wait()


def _free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])
