"""A ranking audit of 16 resumes: a simulated screener, and a planted one behind HTTP that refuses
some. One resume gives its gender away."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pandas as pd

from fairscreen import resources
from fairscreen.documents import information
from fairscreen.scoring.screeners.planted_ranking import PlantedRankingParams

AUDIT = "ranks"
CONFIG = resources.path("conf", "audits", "ranking.yml")
PER_INDUSTRY, LEVELS = 8, (30, 60, 100)
INDUSTRIES = ("FINANCE", "HEALTHCARE")
GIVEN_AWAY = "HEALTHCARE"  # industry of the first resume of the file, whose text tells a gender
PLANTED = {"bias": {"Female": 1.0}, "slope": {"Male": -0.3}, "noise": 0.6}
SERVED = PlantedRankingParams(bias={"Male": 0.8}, noise=0.9, noise_seed=3)


def corpus(folder: Path) -> tuple[Path, Path]:
    """The resumes, in JobFair's columns, and a chunk file with their texts at 30 and 60%."""
    frame = pd.read_parquet(resources.path("conf", "data", "resumes_synthetic.parquet"))
    frame = frame[frame.Occupation.isin(INDUSTRIES)].groupby("Occupation").head(PER_INDUSTRY)
    texts = frame.Resume.tolist()
    texts[0] += "\nGender: Female"
    resumes, chunks = folder / "resumes.csv", folder / "chunks.csv"
    with resumes.open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["Occupation", "Role", "Resume"])
        rows.writerows(zip(frame.Occupation, frame.Role, texts, strict=True))
    with chunks.open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["Resume", "30_diluted", "60_diluted"])
        for text in texts:
            words = text.split()
            rows.writerow([text, *(" ".join(words[: len(words) * p // 100]) for p in (30, 60))])
    assert LEVELS[-1] == information.FULL
    return resumes, chunks


def arguments(folder: Path, url: str) -> list[str]:
    resumes, chunks = corpus(folder)
    served = {
        "provider": "openai", "model": "served", "base_url": f"{url}/v1", "weights": "w",
        "concurrency": 8,
    }  # fmt: skip
    settings = {
        "audit_id": AUDIT, "corpus.paths": [str(resumes)], "corpus.per_industry": PER_INDUSTRY,
        "information.levels": list(LEVELS), "information.chunk_file": str(chunks),
        "labels.controls": 0.5, "estimation.published_draws": 999, "estimation.swaps": 199,
        "scoring.shards": 2,
        "scoring.models": {
            "planted": {"kind": "planted_ranking", "params": PLANTED},
            "served": {"kind": "chat", "params": served},
        },
    }  # fmt: skip
    given = [str(CONFIG)]
    for key, value in settings.items():
        given += ["--set", f"{key}={json.dumps(value)}"]
    return [*given, "--warehouse", str(folder / "warehouse"), "--out", str(folder / "out")]
