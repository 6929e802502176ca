"""Paired callbacks of full size through tables: 1,921,920 scores to estimates, timed.

Run: make bench-callbacks [or python tests/bench/callbacks_scale.py --postings 6006 --out FILE]
14 planted models x 24,024 race pairs and 13 x 48,048 gender pairs (6,006 postings x 4 profiles) in
Delta tables pair_documents and scores, texts short. Gaps are planted, different by model; names
differ by half a point (SD), answers of a posting hang together. Timed: everything from tables to
the rows of `estimates` with the design's defaults (slices by company 108, industry 20, state 50,
job type 12, and what both arms share; 2,000 draws, 9,999 permutations). Beside it the bootstrap as
it is often written: the frames of the drawn postings concatenated, draw by draw.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Callable
from datetime import date
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow.parquet as pq

TESTS = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS)]

import callback_tables as planted  # noqa: E402
from callback_tables import Planted  # noqa: E402
from fairscreen.audits import callback_slices, callbacks  # noqa: E402
from fairscreen.estimators.clustered import group_sums, ratio  # noqa: E402
from fairscreen.estimators.paired_tests import bootstrap_interval  # noqa: E402
from fairscreen.session import get_session  # noqa: E402
from fairscreen.tables import Warehouse, ddl_columns  # noqa: E402

KINDS = {"company": 108, "industry": 20, "state": 50, "metro": 80, "job_type": 12}
# Percentage points, sized as those of Gao, Jiang & Yan; the last is not asked about gender.
RACE = (2.1, 0.0, -0.4, -3.0, -1.2, -0.6, 0.0, -0.8, -1.5, -0.5, 0.4, -0.3, 0.0, -2.0)
GENDER = (1.9, -0.2, -1.0, -5.8, -2.4, -0.9, 0.0, -1.6, -3.1, -0.7, 0.5, -0.4, -2.6)
MONTHS = ("2023-05", "2024-03", "2024-07", "2024-07", "2024-10", "2024-11", "2025-06", "2025-08",
          "2025-08", "2025-11", "2026-02", "2026-03", "2026-03", "2026-04")  # fmt: skip
NAME_SD = 0.005


def models() -> dict[str, Planted]:
    made = {}
    for k, race in enumerate(RACE):
        gender = GENDER[k] if k < len(GENDER) else 0.0
        made[f"m{k:02d}"] = Planted(
            base=0.25 + 0.03 * (k % 5), race=race / 100, gender=gender / 100, name_sd=NAME_SD,
            silent=(0.002, 0.002) if k % 4 == 3 else (0.0, 0.0),
        )  # fmt: skip
    return made


def processor_seconds() -> float:
    """Of this process and all below it, ended ones too."""
    stats = {}
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                text = (folder / "stat").read_text(encoding="utf-8", errors="replace")
            except OSError:
                continue
            fields = text.rsplit(")", 1)[1].split()
            stats[int(folder.name)] = (int(fields[1]), sum(int(v) for v in fields[11:15]))
    mine, grown = {os.getpid()}, True
    while grown:
        more = {pid for pid, (parent, _) in stats.items() if parent in mine} - mine
        grown, mine = bool(more), mine | more
    return sum(stats[pid][1] for pid in mine) / os.sysconf("SC_CLK_TCK")


def written(house: Warehouse, folder: Path, docs: pd.DataFrame, scores: pd.DataFrame) -> None:
    for name, rows in (("pair_documents", docs), ("scores", scores)):
        file = str(folder / f"{name}.parquet")
        pq.write_table(planted.arrow(rows, name), file, row_group_size=200_000)
        frame = house.spark.read.parquet(file)
        kinds = ddl_columns(name).items()
        house.append(
            name, frame.select(*(frame[c].cast(t).alias(c) for c, t in kinds)),
            transaction=f"bench/{name}",
        )  # fmt: skip
    house.ensure("replies")


def loop(frame: pd.DataFrame, draws: int, seed: int = 1) -> float:
    """Seconds per draw of a bootstrap that concatenates the frames of the drawn postings."""
    rng = np.random.Generator(np.random.PCG64(seed))
    groups = dict(list(frame.groupby("posting")))
    postings, gaps = np.array(list(groups)), []
    began = time.process_time()
    for _ in range(draws):
        drawn = rng.choice(postings, size=len(postings), replace=True)
        sample = pd.concat([groups[p] for p in drawn], ignore_index=True)
        gaps.append(100 * (sample["favored"].mean() - sample["other"].mean()))
    return (time.process_time() - began) / draws


def coverage(rows: pd.DataFrame, known: dict[str, Planted], say: Callable[[str], None]) -> None:
    gaps = rows[(rows.design == "paired_callback") & (rows.model != "panel")]
    gaps = gaps[gaps.estimand == "callback_gap_pp"].copy()
    gaps["truth"] = [100 * getattr(known[r.model], r.contrast) for r in gaps.itertuples()]
    gaps["holds"] = (gaps.ci_low <= gaps.truth) & (gaps.truth <= gaps.ci_high)
    gaps["kind"] = [s.split("=")[0] for s in gaps.slice]
    say(
        f"\n{'95% intervals that hold the planted gap':<42}{'headline':>16}{'by posting alone':>20}"
    )
    for kind in dict.fromkeys(gaps.kind):
        cells = []
        for method in ("cluster_posting_names", "cluster_t"):
            mine = gaps[(gaps.kind == kind) & (gaps.method == method) & gaps.ci_low.notna()]
            cells.append(f"{int(mine.holds.sum()):,} of {len(mine):,} ({mine.holds.mean():.1%})")
        say(f"  {kind:<36}{cells[0]:>20}{cells[1]:>22}")
    pooled = gaps[(gaps.slice == "all") & (gaps.method == "cluster_posting_names")]
    for row in pooled[~pooled.holds].itertuples():
        say(f"  outside: {row.model} {row.contrast}: {row.truth:+.2f}, interval "
            f"{row.ci_low:+.2f} to {row.ci_high:+.2f}")  # fmt: skip


def redrawn(
    docs: pd.DataFrame, known: dict[str, Planted], asked: dict[str, list[str]], times: int
) -> tuple[int, int]:
    """Headline intervals that hold the planted gap, and all, over fresh answers and name effects:
    one audit gives few intervals, and its models read the same pairs."""
    holds = made = 0
    for k in range(times):
        for i, (model, p) in enumerate(known.items()):
            for contrast in asked[model]:
                mine = docs[docs.contrast == contrast]
                scores, _ = planted.answers(mine, {model: p}, seed=1_000 * (k + 1) + i)
                sides = []
                for side in ("favored", "other"):
                    at = (mine.side == side).to_numpy()
                    key = ["posting", "pair_id", "within"]
                    some = mine.loc[at, [*key, "code"]].assign(y=scores.score.to_numpy()[at])
                    sides.append(some.sort_values(key))
                d = sides[0].y.to_numpy() - sides[1].y.to_numpy()
                ok = ~np.isnan(d)
                ways = [sides[0].posting, sides[0].code, sides[1].code]
                found = ratio(d[ok], np.ones(ok.sum()), [w.to_numpy()[ok] for w in ways])
                truth = getattr(p, contrast)
                holds += found.low <= truth <= found.high
                made += 1
    return holds, made


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--postings", type=int, default=6_006)
    parser.add_argument("--draws", type=int, default=3, help="of the loop, which is multiplied")
    parser.add_argument("--repeats", type=int, default=2, help="of the timed estimation")
    parser.add_argument("--redraws", type=int, default=4, help="of all answers, for coverage")
    parser.add_argument("--out", type=Path, help="also write the lines there")
    args = parser.parse_args()
    lines: list[str] = []

    def say(line: str) -> None:
        print(line, flush=True)
        lines.append(line)
        if args.out:
            args.out.write_text("\n".join(lines) + "\n", encoding="utf-8")

    def load() -> str:
        return Path("/proc/loadavg").read_text(encoding="ascii").split()[0]

    folder = Path(tempfile.mkdtemp(prefix="callbacks-"))
    known = models()
    panel = ", ".join(
        f"{m}: {{released: {month}, family: f{k % 5}}}"
        for k, (m, month) in enumerate(zip(known, MONTHS, strict=True))
    )
    gendered = ", ".join(list(known)[: len(GENDER)])
    cfg = planted.config(
        folder, list(known), f"panel={{{panel}}}", f"contrasts.gender.models=[{gendered}]"
    )
    docs = planted.pair_documents(args.postings, placebo=0.0, slices=KINDS)
    asked = {m: [c for c in cfg.contrasts if m in cfg.asked(c)] for m in known}
    scores, _ = planted.answers(docs, known, asked)
    say(f"{date.today()}, {os.cpu_count()} cores, load {load()} at the start; made by "
        "tests/bench/callbacks_scale.py")  # fmt: skip
    say(f"{len(scores):,} scores of {len(known)} models, {args.postings:,} postings, "
        f"{len(docs):,} profiles; intra-posting correlation of answers' thresholds 0.36, names "
        f"{100 * NAME_SD:g} points (SD)")  # fmt: skip
    spark = get_session(cores=2)
    house = Warehouse(spark, str(folder / "warehouse"))
    written(house, folder, docs, scores)
    del scores
    table = [house.read(name) for name in ("scores", "pair_documents", "replies")]
    lists = callbacks.codes(table[1], cfg)
    for k in range(args.repeats):
        wall, cpu = time.perf_counter(), processor_seconds()
        pairs = callbacks.pairs(*table, cfg, lists)
        pairs.write.format("noop").mode("overwrite").save()
        alone, alone_cpu = time.perf_counter() - wall, processor_seconds() - cpu
        wall, cpu, own = time.perf_counter(), processor_seconds(), time.process_time()
        result = callbacks.run(*table, cfg, config_hash="h", input_versions={})
        wall, cpu = time.perf_counter() - wall, processor_seconds() - cpu
        own = time.process_time() - own
        spark_cpu = cpu - own - result.seconds
        say(
            f"\nrun {k + 1}, load {load()}: tables to {len(result.estimates):,} rows in "
            f"{wall:.1f} s. "
            f"Processor\nseconds {cpu:.1f}: numpy in the UDFs {result.seconds:.1f}, driver (rows, "
            f"families, panel) {own:.1f}, Spark {spark_cpu:.1f}\n({spark_cpu / cpu:.0%})"
        )
        say(
            f"       the transform to pairs alone: {alone:.1f} s, {alone_cpu:.1f} processor seconds"
        )
    wall, cpu_of_rows = time.perf_counter(), processor_seconds()
    house.replace("estimates", house.rows("estimates", result.estimates), where="true")
    wall, cpu_of_rows = time.perf_counter() - wall, processor_seconds() - cpu_of_rows
    say(
        f"       rows written to the table `estimates`, not in the above: {wall:.1f} s, "
        f"{cpu_of_rows:.1f} processor seconds"
    )
    rows = pd.DataFrame(result.estimates)
    coverage(rows, known, say)
    if args.redraws:
        holds, made = redrawn(docs, known, asked, args.redraws)
        say(f"  all, {args.redraws} fresh draws of answers and name effects, same profiles: "
            f"headline {holds:,} of {made:,} ({holds / made:.1%})")  # fmt: skip

    first = pairs.where("model = 0 AND contrast = " + str(list(cfg.contrasts).index("race")))
    frame = first.toPandas().sort_values(list(callback_slices.KEY))
    frame = frame[(frame.favored < 2) & (frame.other < 2)]
    each = loop(frame[["posting", "favored", "other"]], args.draws)
    began = time.process_time()
    d = group_sums(frame.favored - frame.other, frame.posting)
    n = group_sums(np.ones(len(frame)), frame.posting)
    bootstrap_interval(d, n, draws=cfg.estimation.draws, seed=cfg.seed)
    ours = time.process_time() - began
    full = each * cfg.estimation.draws
    gaps = len(known) + len(GENDER)
    say(
        f"\nBootstrap of one gap, {cfg.estimation.draws:,} draws of {args.postings:,} postings, "
        f"processor seconds: {ours:.3f}. Frames concatenated:\n{each:.2f} a draw (over "
        f"{args.draws}), multiplied {full:,.0f}: {full / ours:,.0f} times as long."
    )
    say(
        f"The loop for the {gaps} pooled gaps: {full * gaps / 3600:.1f} hours of one core, "
        f"{full * gaps / cpu:,.0f} times the processor seconds of the\nwhole estimation above with "
        "all slices, tests and the panel."
    )
    trend = rows[(rows.model == "panel") & (rows.estimand == "gap_trend_pp_per_year")]
    trend = trend[trend.slice.eq("all") & trend.method.eq("reml_knapp_hartung")]
    for row in trend.itertuples():
        say(f"trend {row.contrast}: {row.estimate:+.2f} points a year ({row.ci_low:+.2f} to "
            f"{row.ci_high:+.2f})")  # fmt: skip
    spark.stop()


if __name__ == "__main__":
    main()
