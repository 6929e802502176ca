"""Seconds to read and analyze JobFair's full size, 12,000 rank sets, beside the published loop.

Run: python tests/bench/ranking_speed.py [--out tests/bench/ranking_speed.txt]
300 resumes x 4 shares of their text x 10 planted models in the published layout, one CSV. Analysis:
44 slices (all, 10 models, 3 industries, 30 of both) with every row of `analyze ranking
--published`. The published loop shuffles two pooled lists 100,000 times for each test; it is timed
over fewer shuffles and multiplied: level and spread of ranks for the 30 slices that the paper
tests, and the same for all 44.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from datetime import date
from pathlib import Path

import numpy as np
import pandas as pd

from fairscreen import published_ranking
from fairscreen.estimators.pooled_permutation import pooled_permutation
from fairscreen.published_ranking import COLUMNS, VERSIONS

SHUFFLES = 100_000
INDUSTRIES = ("CONSTRUCTION", "FINANCE", "HEALTHCARE")


def layout(seed: int = 1) -> pd.DataFrame:
    """12,000 rows: other's scores lean up by 0 to 0.5, model by model."""
    rng = np.random.default_rng(seed)
    quality, length = rng.normal(6.5, 1.2, 300), rng.integers(300, 900, 300)
    rows = []
    for m in range(10):
        for i in range(300):
            text = f"resume {i} " + "word " * int(length[i])
            for share in (0.1, 0.4, 0.6, 1.0):
                words = int(length[i] * share)
                lean = np.array([0, 0.05 * m, 0])
                scores = np.clip(np.rint(quality[i] + lean + rng.normal(0, 0.9, 3)), 0, 10)
                row = {
                    "Industry": INDUSTRIES[i % 3], "Role": "CLERK", "Original_Resume": text,
                    "Preprocessed_Resume": " ".join(text.split()[:words]), "proportion": share,
                    "model": f"model {m}", "Resume_len": words,
                }  # fmt: skip
                for version, score in zip(VERSIONS, scores, strict=True):
                    row[f"{version}_Scores"] = f"[{int(score)}]"
                    row[f"{version}_Avg_Score"] = float(score)
                rows.append(row)
    frame = pd.DataFrame(rows)
    placed = frame[[f"{v}_Avg_Score" for v in VERSIONS]].rank(axis=1, ascending=False)
    for version in VERSIONS:
        frame[f"{version}_Rank"] = placed[f"{version}_Avg_Score"]
    return frame[list(COLUMNS)]


def published_loop(x: np.ndarray, y: np.ndarray, shuffles: int) -> float:
    """Processor seconds of `shuffles` shuffles for both published statistics, a loop for each."""
    rng = np.random.default_rng(3)
    began = time.process_time()
    for statistic in (
        lambda a, b: np.mean(a) - np.mean(b),
        lambda a, b: np.var(a, ddof=1) / np.var(b, ddof=1),
    ):
        pooled, drawn = np.concatenate([x, y]), []
        for _ in range(shuffles):
            rng.shuffle(pooled)
            drawn.append(statistic(pooled[: len(x)], pooled[len(x) :]))
        np.mean(np.abs(drawn) >= abs(statistic(x, y)))
    return time.process_time() - began


def drawn(frame: pd.DataFrame) -> list[tuple[float, float | None]]:
    """The same 60 tests as draws of counts: p of level and spread for 30 slices."""
    found = []
    for _, mine in frame.groupby(["model", "Industry"]):
        ranked = [mine[f"{v}_Rank"].to_numpy(float) for v in VERSIONS[:2]]
        got = pooled_permutation(x=ranked[0], y=ranked[1], draws=SHUFFLES)
        found.append((got.p_level, got.p_spread))
    return found


def timed(work) -> tuple[object, float, float]:
    wall, cpu = time.perf_counter(), time.process_time()
    found = work()
    return found, time.perf_counter() - wall, time.process_time() - cpu


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--shuffles", type=int, default=2_000, help="of the published loop")
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "final_data.csv"
        layout().to_csv(file, index=False)
        sets, read_wall, read_cpu = timed(lambda: published_ranking.read(file))
    before = os.getloadavg()[0]
    result, wall, cpu = timed(lambda: published_ranking.analyze(sets))
    frame, loop = sets.frame, 0.0
    for industry in INDUSTRIES:
        mine = frame[(frame["model"] == "model 3") & (frame["Industry"] == industry)]
        ranked = [mine[f"{v}_Rank"].to_numpy(float) for v in VERSIONS[:2]]
        loop += published_loop(*ranked, args.shuffles)
    same, _, drawn_cpu = timed(lambda: drawn(frame))
    paper = 10 * loop * SHUFFLES / args.shuffles  # 30 slices of 400 sets
    few = max(100, args.shuffles // 10)
    everybody = [frame[f"{v}_Rank"].to_numpy(float) for v in VERSIONS[:2]]
    one = published_loop(*everybody, few) / 2 * SHUFFLES / few
    head = f"{len(frame):,} rank sets, {len(result['rows']):,} rows"
    tests = 2 * len(same)
    text = [
        f"{date.today()}, {os.cpu_count()} cores, load {before:.1f}, other runs beside it:",
        "processor time tells more than seconds. Made by tests/bench/ranking_speed.py.",
        "",
        f"{head:<44}seconds  processor seconds",
        f"{'read and check the file':<44}{read_wall:>7.1f}{read_cpu:>19.1f}",
        f"{'analyze, 44 slices':<44}{wall:>7.1f}{cpu:>19.1f}",
        f"{f'of it the {tests} published tests of 30 slices':<51}{drawn_cpu:>19.1f}",
        f"{f'those {tests} tests by the published loop':<51}{paper:>19,.0f}",
        f"{'one test of all sets by the published loop':<51}{one:>19,.0f}",
        "",
        f"The loop was timed over {args.shuffles:,} shuffles of three slices and multiplied.",
        f"Its tests take {paper / drawn_cpu:,.0f} times as long as the same tests here, and",
        f"{paper / cpu:,.0f} times as long as the whole analysis.",
    ]
    print("\n".join(text))
    if args.out:
        args.out.write_text("\n".join(text) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
