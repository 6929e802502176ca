"""Make the synthetic resumes that ship as `conf/data/resumes_synthetic.parquet`.

    python -m fairscreen.sources.synthetic_corpus OUT.parquet

NOBODY'S RESUME is in it: texts come from fairscreen's own pools (conf/jobs) for invented degrees
and years of experience, without names or addresses, so that they hold no cue of gender or race. 300
resumes, 100 of each of three industries, in JobFair's columns and a column `Synthetic`. Every
choice is a hash: the rows are the same on every run; the bytes around them may differ with the
version of pyarrow.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from fairscreen import random
from fairscreen.documents.pools import load_pools, load_schools
from fairscreen.documents.resume import Profile, render_text

INDUSTRIES = {
    "HEALTHCARE": ("registered_nurses", "nursing_assistants"),
    "FINANCE": ("accountants", "financial_managers"),
    "CONSTRUCTION": ("construction_laborers",),
}
PER_INDUSTRY = 100
SEED, AS_OF = 20240624, "2024-12"
_DEGREES = {
    "registered_nurses": ("associate", "bachelor", "bachelor", "master"),
    "nursing_assistants": ("high_school", "some_college", "associate"),
    "accountants": ("associate", "bachelor", "bachelor", "master"),
    "financial_managers": ("bachelor", "bachelor", "master"),
    "construction_laborers": ("high_school", "high_school", "some_college"),
}
_MONTHS = 20 * 12


def rows() -> list[dict[str, Any]]:
    """Occupation, Role, Resume, Synthetic of each resume."""
    schools = load_schools()
    found: list[dict[str, Any]] = []
    for industry, jobs in INDUSTRIES.items():
        for number in range(PER_INDUSTRY):
            job = jobs[number % len(jobs)]
            key = [f"{industry}/{number}"]
            degrees = _DEGREES[job]
            degree = degrees[int(random.integers(SEED, "corpus/degree", key, len(degrees))[0])]
            months = int(random.integers(SEED, "corpus/months", key, _MONTHS)[0])
            profile = Profile(key[0], job, 26 + months // 12, "55", degree, months / 12, "A", "B")
            content = load_pools(job)
            text = render_text(profile, content, schools, AS_OF, SEED)
            said = text.split("\n\n", 1)[1].strip()  # without name, place and addresses
            found.append(
                {
                    "Occupation": industry,
                    "Role": content.title,
                    "Resume": f"{content.title}\n{said}",
                    "Synthetic": True,
                }
            )
    return found


def main(argv: Sequence[str] | None = None) -> int:
    (target,) = sys.argv[1:] if argv is None else argv
    pq.write_table(pa.Table.from_pylist(rows()), Path(target), compression="zstd")
    return 0


if __name__ == "__main__":
    sys.exit(main())
