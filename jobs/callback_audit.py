"""One complete paired-callback audit, from postings and names to its report.

Runs equally under python, spark-submit and a Databricks spark_python_task. The arguments are those
of `fairscreen audit`, whose file says `design: paired_callback`; Databricks reads any exit as a
failure, so the code is passed on only where it is not 0.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from fairscreen import cli


def main(argv: Sequence[str] | None = None) -> int:
    """Exit code of `fairscreen audit` with these arguments, of a paired-callback audit."""
    given = sys.argv[1:] if argv is None else list(argv)
    return cli.main(["audit", *given, "--set", "design=paired_callback"])


if __name__ == "__main__" and (code := main()):
    sys.exit(code)
