"""Applicants to resumes.

Runs equally under python, spark-submit and a Databricks spark_python_task. The arguments are those
of `fairscreen render`; Databricks reads any exit as a
failure, so the code is passed on only where it is not 0.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from fairscreen import cli


def main(argv: Sequence[str] | None = None) -> int:
    """Exit code of `fairscreen render` with these arguments."""
    return cli.main(["render", *(sys.argv[1:] if argv is None else argv)])


if __name__ == "__main__" and (code := main()):
    sys.exit(code)
