"""A paired-callback audit of 12 postings: a simulated screener, and a planted one behind HTTP that
refuses some. Three more postings are left out, one of those that stay has no Census region."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import small_sources
from fairscreen import resources
from fairscreen.scoring.screeners.planted_callbacks import PlantedCallbacksParams

AUDIT = "calls"
CONFIG = resources.path("conf", "audits", "callbacks.yml")
POSTINGS, PAIRS = 12, 2
PLACEBO = 0.4
PLANTED = {"rate": 40, "bias": {"white": 15, "male": 10}, "name_sd": 1.0, "silent": {"black": 0.1}}
SERVED = PlantedCallbacksParams(rate=45, bias={"black": 20, "female": 10}, noise_seed=3)
_HEADER = ("company", "title", "metro", "state", "posted", "description", "industry")
_PLACES = (("Boston", "MA"), ("Chicago", "IL"), ("Atlanta", "GA"), ("Denver", "CO"))
_TITLES = ("Data Analyst", "Sales Associate", "Office Assistant", "Project Coordinator")
_INDUSTRIES = ("Financial Services", "Hospital & Health Care", "")


def postings(folder: Path) -> Path:
    """16 rows: 12 that are taken, one without a metro, two not entry-level, one that is twice."""
    file = folder / "postings.csv"
    rows = [
        (f"Company {i % 4}", _TITLES[i % 4], *_PLACES[i // 4 % 4], f"2026-03-{i + 1:02}",
         f"Work no. {i}.\nWith others." if i % 2 else "", _INDUSTRIES[i % 3])
        for i in range(POSTINGS)
    ]  # fmt: skip
    rows[-1] = (*rows[-1][:2], "San Juan", "PR", *rows[-1][4:])
    left_out = [
        (*rows[0][:2], "", *rows[0][3:]), ("Company 9", "Welder", *rows[1][2:]),
        ("Company 9", "Chief of Staff", *rows[2][2:]), rows[0],
    ]  # fmt: skip
    with file.open("w", newline="") as out:
        csv.writer(out).writerows([_HEADER, *rows, *left_out])
    return file


def groups() -> dict[str, tuple[str, str]]:
    """First name -> race, gender, of the bundled lists."""
    with resources.resolve("bundled:correspondence_first_names.csv").open() as file:
        rows = list(csv.DictReader(file))
    name = "first_name" if "first_name" in rows[0] else "name"
    return {r[name]: (r["race"].lower(), r["gender"].lower()) for r in rows}


def settings(folder: Path, url: str) -> dict[str, object]:
    served = {
        "provider": "openai", "model": "served", "base_url": f"{url}/v1", "weights": "w",
        "concurrency": 8,
    }  # fmt: skip
    return {
        "audit_id": AUDIT, "postings.paths": [str(postings(folder))],
        "postings.entry_level": ["analyst", "associate", "assistant", "coordinator"],
        "names.ssa": str(small_sources.ssa(folder)),
        "names.census": str(small_sources.surnames(folder)), "names.birth_years": [1978, 2004],
        "pairs.per_posting": PAIRS, "pairs.placebo": PLACEBO,
        "estimation.draws": 99, "estimation.permutations": 199, "estimation.min_postings": 3,
        "scoring.shards": 2,
        "scoring.models": {
            "planted": {"kind": "planted_callbacks", "params": PLANTED},
            "served": {"kind": "chat", "params": served},
        },
        "panel": {
            "planted": {"released": "2024-05", "family": "Planted"},
            "served": {"released": "2026-03", "family": "Planted"},
        },
    }  # fmt: skip


def arguments(folder: Path, url: str) -> list[str]:
    given = [str(CONFIG)]
    for key, value in settings(folder, url).items():
        given += ["--set", f"{key}={json.dumps(value)}"]
    return [*given, "--warehouse", str(folder / "warehouse"), "--out", str(folder / "out")]
