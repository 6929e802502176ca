"""Set-up beyond Python packages: Java where it is missing, Delta's jars through Spark's own Ivy.

`python -m fairscreen.setup` is called by `make setup`. Afterwards nothing needs the network.
Maven must not fetch the jars first: its poms without jars confuse Ivy.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from fairscreen.errors import FairscreenError, MissingPartError
from fairscreen.session import find_java, jars_folder, require_java

# What a session needs of the 33 jars that Ivy resolves (12 MB of 173 MB).
_NEEDED = ("delta-spark", "delta-storage", "delta-kernel", "unitycatalog-client")


def fetch_jars() -> Path:
    """The folder of Delta's jars; fetched unless they are there already."""
    folder = jars_folder()
    if any(folder.glob("delta-spark*.jar")):
        return folder
    require_java()
    with tempfile.TemporaryDirectory() as ivy:
        # In a process of its own: Ivy's 200 lines of resolution would bury what matters.
        code = f"from fairscreen.setup import _resolve; _resolve({ivy!r})"
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
        if done.returncode:
            last = (done.stderr.strip().splitlines() or ["no message"])[-1]
            raise MissingPartError(
                "Delta's jars",
                "could not be fetched from Maven Central",
                f"Check the network and run `make setup` again ({last[:200]}).",
            )
        jars = [j for j in Path(ivy, "jars").glob("*.jar") if any(n in j.name for n in _NEEDED)]
        staging = folder.with_name(folder.name + ".part")
        shutil.rmtree(staging, ignore_errors=True)
        staging.mkdir(parents=True)
        for jar in jars:
            # Ivy prefixes the organisation; the artifact's own name is enough.
            shutil.copy(jar, staging / jar.name.split("_", 1)[-1])
        staging.rename(folder)
    return folder


def _resolve(ivy: str) -> None:
    """Start and stop a session that makes Ivy fetch Delta's jars into the folder `ivy`."""
    from delta import configure_spark_with_delta_pip
    from pyspark.sql import SparkSession

    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = SparkSession.builder.master("local[1]").config("spark.jars.ivy", ivy)
    builder = builder.config("spark.ui.enabled", "false")
    configure_spark_with_delta_pip(builder).getOrCreate().stop()


def install_java() -> None:
    """Install Java 17 with apt where it is missing and this user may; else do nothing."""
    if find_java() or not shutil.which("apt-get"):
        return
    sudo: list[str] = []
    if os.geteuid() != 0:
        if not shutil.which("sudo") or subprocess.run(["sudo", "-n", "true"]).returncode != 0:
            return
        sudo = ["sudo", "-n"]
    print("setup: installing openjdk-17-jre-headless", file=sys.stderr)
    for command in (["update", "-qq"], ["install", "-y", "-qq", "openjdk-17-jre-headless"]):
        subprocess.run([*sudo, "apt-get", *command], stdout=subprocess.DEVNULL)


def main() -> int:
    try:
        install_java()
        require_java()
        print(f"Delta's jars are in {fetch_jars()}", file=sys.stderr)
    except FairscreenError as error:
        print(f"error: {error}", file=sys.stderr)
        return error.exit_code
    return 0


if __name__ == "__main__":
    sys.exit(main())
