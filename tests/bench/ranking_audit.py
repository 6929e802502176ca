"""A ranking audit of JobFair's full size, end to end: 36,000 calls over HTTP, JSON replies parsed.

Run: python tests/bench/ranking_audit.py [--per-industry 100] [--models 10] [--out FILE]
300 synthetic resumes x labels Male, Female, none x 4 information levels x 10 planted models behind
tests/model_server.py, a process of its own on this machine. What the models do is known by
enumeration (tests/planted_ranker.py), so that every estimate stands beside its truth.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import ndtri

TESTS = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS)]

import planted_ranker as ranker  # noqa: E402
from fairscreen import random, resources  # noqa: E402
from fairscreen.audits import ranking, ranking_slices  # noqa: E402
from fairscreen.config import load  # noqa: E402
from fairscreen.estimators.information import information  # noqa: E402
from fairscreen.estimators.ranks import ranks  # noqa: E402
from fairscreen.scoring.screeners.planted_ranking import PlantedRankingParams  # noqa: E402
from fairscreen.session import get_session  # noqa: E402
from fairscreen.stations import chain  # noqa: E402
from fairscreen.tables import Warehouse  # noqa: E402

LEVEL = ("sign_flip_exact", "sign_flip_monte_carlo")


def models(count: int) -> dict[str, dict[str, Any]]:
    """Parameters by name: from no bias to 0.6 points, some with a slope, some with unlike noise."""
    made = {}
    for k in range(count):
        made[f"m{k}"] = {
            "base": 6.5, "noise": 0.9, "bias": {"Female": round(0.07 * k, 2)},
            "slope": {"Male": (0.0, -0.3, 0.3)[k % 3]},
            "noise_sd": {"Male": 1.2} if k % 4 == 3 else {}, "noise_seed": k,
        }  # fmt: skip
    return made


def settings(args: argparse.Namespace, url: str, rankers: dict[str, Any]) -> list[str]:
    asked = {
        name: {"kind": "chat", "params": {
            "provider": "openai", "model": name, "base_url": f"{url}/v1", "weights": f"ranker {k}",
            "concurrency": 64,
        }}
        for k, name in enumerate(rankers)
    }  # fmt: skip
    return [
        "audit_id=full", f"corpus.per_industry={args.per_industry}", "labels.controls=0",
        f"scoring.models={json.dumps(asked)}", "scoring.shards=4", "scoring.segment_size=500",
        f"warehouse={args.folder}/warehouse", f"out={args.folder}/out",
    ]  # fmt: skip


def truths(documents: pd.DataFrame, rankers: dict[str, Any]) -> pd.DataFrame:
    """What is known of every model and slice."""
    sets = documents[documents.kind == "none"].sort_values(["resume_id", "information"])
    shown = [ranker.of_text(text) for text in sets.text]
    sets = sets.assign(key=[s.key for s in shown], counted=[s.words for s in shown])
    assert (sets.counted == sets.words).all()
    parts = {"all": sets}
    parts |= {f"industry={i}": p for i, p in sets.groupby("industry")}
    parts |= {f"information={i}": p for i, p in sets.groupby("information")}
    both = sets.groupby(["industry", "information"])
    parts |= {f"industry={i}; information={n}": p for (i, n), p in both}
    rows = []
    for model, params in rankers.items():
        p = PlantedRankingParams(**params)
        for name, part in parts.items():
            known = ranker.truth(
                p, key=part.key.tolist(), words=part.words.tolist(), item=part.resume_id.tolist()
            )
            rows.append({"model": model, "slice": name, "rank_gap": known.rank_gap,
                         "spread_ratio": known.spread_ratio, "impact_ratio": known.impact_ratio,
                         "information_slope": known.slope})  # fmt: skip
    return pd.DataFrame(rows)


def beside(estimates: pd.DataFrame, known: pd.DataFrame) -> pd.DataFrame:
    """Own methods' estimates with truth, and whether the interval holds it."""
    own = {"rank_gap": LEVEL, "spread_ratio": ("paired_swap",),
           "impact_ratio": ("ranks_at_least_tied",),
           "information_slope": ("fixed_effects_cluster",)}  # fmt: skip
    rows = estimates[estimates.design == "ranking"]
    rows = rows[[r.method in own.get(r.estimand, ()) for r in rows.itertuples()]]
    long = known.melt(["model", "slice"], var_name="estimand", value_name="truth").dropna()
    both = rows.merge(long, on=["model", "slice", "estimand"])
    low, high = both.ci_low.fillna(-np.inf), both.ci_high.fillna(np.inf)
    # An interval of a capped ratio ends at 1.
    both["holds"] = (low <= both.truth) & ((both.truth <= high) | (high == 1))
    return both


def redrawn(documents: pd.DataFrame, params: dict[str, Any], draws: int = 300) -> float:
    """Share of slope intervals (nominal 95%) that hold the truth, over fresh noise of one model.

    One audit gives few slopes, all of the same answers; this says whether what they miss is chance.
    """
    sets = documents[documents.kind == "none"].sort_values(["resume_id", "information"])
    p, words = PlantedRankingParams(**params), sets.words.to_numpy(dtype=float)
    key = [ranker.of_text(text).key for text in sets.text]
    known = ranker.truth(p, key=key, words=words.tolist(), item=sets.resume_id.tolist())
    resumes, labels = np.unique(sets.resume_id, return_inverse=True)[1], ("Male", "Female", "none")
    quality = ndtri(random.uniforms(p.noise_seed, "planted_ranking/quality", key))
    mean = np.array(
        [
            [ranker.planted.mean_score(p, quality=q, label=label, words=w) for label in labels]
            for q, w in zip(quality.tolist(), words.tolist(), strict=True)
        ]
    )
    spread = np.array([p.noise_sd.get(label, p.noise) for label in labels])
    generator, held = np.random.Generator(np.random.PCG64(5)), 0
    for _ in range(draws):
        placed = ranks(ranker.planted.rounded(p, mean + spread * generator.normal(size=mean.shape)))
        fit = information(d=placed[:, 0] - placed[:, 1], words=words, item=resumes)
        held += fit.slope.low <= known.slope <= fit.slope.high
    return held / draws


def analysis(warehouse: Warehouse, cfg: Any) -> tuple[int, int, float, float]:
    """Rank sets, slices; seconds of the Spark analysis, and processor seconds of its numpy part."""
    scores, docs = warehouse.read("scores"), warehouse.read("rank_documents")
    began = time.perf_counter()
    ranking.run(scores, docs, cfg, config_hash="bench", input_versions={})
    wall = time.perf_counter() - began
    sets = ranking.rank_sets(scores, docs, cfg)
    rows = ranking.placed(sets, cues=False).toPandas()
    asked, cpu = ranking_slices.Asked.of(cfg), time.process_time()
    groups = list(rows.groupby(["model", "slice", "kind"]))
    for (_, name, kind), part in groups:
        part = part.sort_values(["resume_id", "information"], ignore_index=True)
        ranking_slices.analyse(part, asked, name=name, kind=kind)
    count = len(rows[["model", "resume_id", "information"]].drop_duplicates())
    return count, len(groups), wall, time.process_time() - cpu


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--per-industry", type=int, default=100)
    parser.add_argument("--models", type=int, default=10)
    parser.add_argument("--folder", help="kept; a temporary one otherwise")
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        args.folder = args.folder or folder
        print("\n".join(run(args)))


def run(args: argparse.Namespace) -> list[str]:
    rankers = models(args.models)
    command = [sys.executable, str(TESTS / "model_server.py"), "--rankers", json.dumps(rankers)]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    before = os.getloadavg()[0]
    try:
        assert server.stdout is not None
        url = server.stdout.readline().strip()
        file = resources.path("conf", "audits", "ranking.yml")
        cfg = load(file, settings(args, url, rankers))
        began = time.perf_counter()
        summary = chain.run_audit(cfg)
        whole = time.perf_counter() - began
    finally:
        server.terminate()
        server.wait()
    warehouse = Warehouse(get_session(), cfg.warehouse)
    mine = f"audit_id = '{cfg.audit_id}'"
    documents = warehouse.read("rank_documents").where(mine).toPandas()
    estimates = warehouse.read("estimates").where(mine).toPandas()
    found = beside(estimates, truths(documents, rankers))
    text = table(args, summary, whole, before, found, len(estimates), analysis(warehouse, cfg))
    text += fresh(documents, rankers)
    if args.out:
        args.out.write_text("\n".join(text) + "\n", encoding="utf-8")
    return text


def fresh(documents: pd.DataFrame, rankers: dict[str, Any]) -> list[str]:
    shares = [f"{name} {redrawn(documents, rankers[name]):.3f}" for name in list(rankers)[::4]]
    return [
        "",
        "Slopes are few and of the same answers. Over 300 fresh draws of the noise, intervals of",
        f"the pooled slope hold the truth in these shares: {', '.join(shares)}.",
    ]


def table(
    args: argparse.Namespace, summary: dict[str, Any], whole: float, before: float,
    found: pd.DataFrame, rows: int, analysed: tuple[int, int, float, float],
) -> list[str]:  # fmt: skip
    outcomes = {kind: sum(m.get(kind, 0) for m in summary["outcomes"].values())
                for kind in ("ok", "refused", "unparseable", "failed")}  # fmt: skip
    sets, slices, wall, cpu = analysed
    text = [
        f"{date.today()}, {os.cpu_count()} cores, load {before:.1f} before and "
        f"{os.getloadavg()[0]:.1f} after: other runs beside it.",
        "Made by tests/bench/ranking_audit.py; the planted models answer on the same cores.",
        "",
        f"{summary['resumes']['resumes']} resumes, {args.models} models, "
        f"{summary['asked']:,} calls asked over HTTP; "
        + ", ".join(f"{n:,} {kind}" for kind, n in outcomes.items() if n)
        + f"; {sets:,} rank sets, {rows:,} estimates.",
        "",
        "stage           seconds",
        *(f"{name:<14}{seconds:>9.1f}" for name, seconds in summary["stage_seconds"].items()),
        f"{'whole':<14}{whole:>9.1f}",
        "",
        f"Analysis of {sets:,} rank sets in {slices} slices, scores to rows: {wall:.1f} seconds",
        f"through Spark on this load; processor seconds of the estimators alone {cpu:.1f}.",
        "",
        "Gap in ranks, all pooled (above 0 favors Female)      impact ratio of Male   slope of the "
        "gap",
        "model   planted  found  interval          p   planted  found     planted  found  interval",
    ]
    pooled = found[found.slice == "all"].set_index(["model", "estimand"])
    for model in sorted(summary["outcomes"], key=lambda m: int(m[1:])):
        gap, ratio = pooled.loc[(model, "rank_gap")], pooled.loc[(model, "impact_ratio")]
        slope = pooled.loc[(model, "information_slope")]
        text.append(
            f"{model:<7}{gap.truth:>8.3f}{gap.estimate:>8.3f}  {gap.ci_low:>6.3f} to "
            f"{gap.ci_high:>5.3f}{gap.p_value:>9.2g}{ratio.truth:>8.3f}{ratio.estimate:>8.3f}"
            f"{slope.truth:>12.3f}{slope.estimate:>8.3f}  {slope.ci_low:>6.3f} to "
            f"{slope.ci_high:>6.3f}"
        )
    text += ["", "Intervals (nominal 95%) that hold the planted value, over all models and slices:"]
    for estimand, part in found.groupby("estimand"):
        text.append(f"{estimand:<20}{int(part.holds.sum()):>5} of {len(part):<5}"
                    f"{100 * part.holds.mean():>7.1f}%")  # fmt: skip
    text += [
        "Truth is given the resumes and their levels; intervals allow for other resumes too: they",
        "may hold it more often than they say.",
    ]
    return text


if __name__ == "__main__":
    main()
