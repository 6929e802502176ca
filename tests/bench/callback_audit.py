"""A paired-callback audit of every complete posting there is, end to end over HTTP.

Run: python tests/bench/callback_audit.py [--postings FILE] [--models 2] [--out FILE]
All 328 bundled postings (real texts; company, metro, state and date are synthetic) x 4 profiles x
both contrasts (two arms by race, four by gender within race) and placebos, asked of planted chat
models behind tests/model_server.py, a process of its own on this machine. A model decides by the
formula of tests/planted_caller.py, read off the prompt, so the planted gaps are the truth. One
profile in a hundred gets no yes or no, one call in two hundred is refused.
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

import pandas as pd

TESTS = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS)]

import small_callbacks as small  # noqa: E402
from fairscreen import resources  # noqa: E402
from fairscreen.config import load  # noqa: E402
from fairscreen.scoring.screeners import planted_callbacks as planted  # noqa: E402
from fairscreen.session import get_session  # noqa: E402
from fairscreen.settings.callback_audit import CallbackConfig  # noqa: E402
from fairscreen.stations import chain  # noqa: E402
from fairscreen.tables import Warehouse  # noqa: E402

HEADLINE = "cluster_posting_names"
_BIAS = ({"white": 6, "male": 4}, {"black": 5, "female": 8}, {}, {"black": 2})
_DATES = ("2023-05", "2024-07", "2025-03", "2026-03")


def callers(count: int) -> dict[str, dict[str, Any]]:
    """Parameters by model: gaps that turn around from release to release, names of SD 1 point,
    one profile in a hundred without an answer."""
    return {
        f"m{k}": {
            "rate": 35, "bias": _BIAS[k % len(_BIAS)], "name_sd": 1.0, "posting": 0.2,
            "pair": 0.4, "silent": {"female": 0.01, "male": 0.01}, "noise_seed": k,
        }
        for k in range(count)
    }  # fmt: skip


def settings(args: argparse.Namespace, url: str, models: dict[str, Any]) -> list[str]:
    asked = {
        name: {"kind": "chat", "params": {
            "provider": "openai", "model": name, "base_url": f"{url}/v1", "weights": name,
            "concurrency": 64,
        }}
        for name in models
    }  # fmt: skip
    panel = {
        name: {"released": _DATES[k % len(_DATES)], "family": "Planted"}
        for k, name in enumerate(models)
    }
    own = [] if args.postings is None else [f"postings.paths={json.dumps([str(args.postings)])}"]
    return [
        "audit_id=whole", "postings.entry_level=[]", *own, f"panel={json.dumps(panel)}",
        f"scoring.models={json.dumps(asked)}", "scoring.shards=4", "scoring.segment_size=500",
        f"warehouse={args.folder}/warehouse", f"out={args.folder}/out",
    ]  # fmt: skip


def truth(cfg: CallbackConfig, models: dict[str, Any], documents: pd.DataFrame) -> pd.DataFrame:
    """By model and contrast: the planted gap, and that of the names that the profiles bear."""
    rows = []
    real = documents[documents.kind == "real"]
    for model, given in models.items():
        p = planted.PlantedCallbacksParams(**given)
        for key, contrast in cfg.contrasts.items():
            arms = real[real.contrast == key]
            people = arms[["side", "race", "gender", "first_name"]].drop_duplicates()
            chance = [
                planted.chance(p, race=a.race, gender=a.gender, first_name=a.first_name)
                for a in people.itertuples()
            ]
            told = arms.merge(people.assign(chance=chance), on=list(people.columns))
            mean = told.groupby("side").chance.mean()
            rows.append({
                "model": model, "contrast": key,
                "planted": planted.gap(p, contrast.favored, contrast.other),
                "these_names": 100 * (mean["favored"] - mean["other"]),
            })  # fmt: skip
    return pd.DataFrame(rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--postings", type=Path, help="another file than the bundled one")
    parser.add_argument("--models", type=int, default=2)
    parser.add_argument("--folder", help="kept; a temporary one otherwise")
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        args.folder = args.folder or folder
        text = run(args)
        print("\n".join(text))
        if args.out:
            args.out.write_text("\n".join(text) + "\n", encoding="utf-8")


def run(args: argparse.Namespace) -> list[str]:
    models = callers(args.models)
    told = {"models": models, "groups": small.groups()}
    command = [
        sys.executable, str(TESTS / "model_server.py"), "--callers", json.dumps(told),
        "--faults", json.dumps({"refusal": 0.005, "500": 0.01, "429": 0.01}),
    ]  # fmt: skip
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    before = os.getloadavg()[0]
    try:
        assert server.stdout is not None
        url = server.stdout.readline().strip()
        file = resources.path("conf", "audits", "callbacks.yml")
        cfg = load(file, settings(args, url, models))
        assert isinstance(cfg, CallbackConfig)
        began = time.perf_counter()
        summary = chain.run_audit(cfg)
        whole = time.perf_counter() - began
    finally:
        server.terminate()
        server.wait()
    warehouse = Warehouse(get_session(), cfg.warehouse)
    mine = f"audit_id = '{cfg.audit_id}'"
    documents = warehouse.read("pair_documents").where(mine).drop("text").toPandas()
    estimates = warehouse.read("estimates").where(mine).toPandas()
    return table(args, cfg, summary, whole, before, documents, estimates, models)


def table(
    args: argparse.Namespace, cfg: CallbackConfig, summary: dict[str, Any], whole: float,
    before: float, documents: pd.DataFrame, estimates: pd.DataFrame, models: dict[str, Any],
) -> list[str]:  # fmt: skip
    outcomes = {kind: sum(m.get(kind, 0) for m in summary["outcomes"].values())
                for kind in ("ok", "refused", "unparseable", "failed")}  # fmt: skip
    pairs = documents[documents.side == "favored"].groupby("contrast").size().to_dict()
    text = [
        f"{date.today()}, {os.cpu_count()} cores, load {before:.1f} before and "
        f"{os.getloadavg()[0]:.1f} after; tests/bench/callback_audit.py",
        "The planted models answer over HTTP from the same cores; 2% of the calls fail once.",
        "",
        f"{documents.posting_id.nunique()} postings x {cfg.pairs.per_posting} profiles, pairs: "
        + ", ".join(f"{name} {n:,}" for name, n in pairs.items()),
        f"{args.models} models, {len(documents):,} profiles shown, {summary['asked']:,} calls "
        "(what reads alike is one call); requests: "
        + ", ".join(f"{n:,} {kind}" for kind, n in outcomes.items() if n)
        + f"; {len(estimates):,} estimates.",
        "",
        "stage           seconds",
        *(f"{name:<14}{seconds:>9.1f}" for name, seconds in summary["stage_seconds"].items()),
        f"{'whole':<14}{whole:>9.1f}",
        "",
        "Callback gap in percentage points. Planted: by race or gender alone; these names: with",
        "the effects of the names that were drawn (SD 1 point), what postings alone leave open.",
        "",
        "model  contrast  planted  these names   found  by posting and names  by posting     n",
    ]
    held = {"names": 0, "posting": 0}
    known = truth(cfg, models, documents)
    rows = estimates[(estimates.design == "paired_callback") & (estimates.slice == "all")]
    rows = rows[rows.estimand == "callback_gap_pp"].set_index(["model", "contrast", "method"])
    for t in known.itertuples():
        best, plain = (rows.loc[(t.model, t.contrast, m)] for m in (HEADLINE, "cluster_t"))
        held["names"] += best.ci_low <= t.planted <= best.ci_high
        held["posting"] += plain.ci_low <= t.these_names <= plain.ci_high
        text.append(
            f"{t.model:<7}{t.contrast:<10}{t.planted:>7.2f}{t.these_names:>13.2f}"
            f"{best.estimate:>8.2f}{best.ci_low:>10.2f} to {best.ci_high:>6.2f}"
            f"{plain.ci_low:>10.2f} to {plain.ci_high:>5.2f}{best.n:>6}"
        )
    text += [
        "",
        f"Intervals that hold their truth: by posting and names, the planted gap {held['names']} "
        f"of {len(known)}; by posting, that of these names {held['posting']} of {len(known)}.",
    ]
    return text


if __name__ == "__main__":
    main()
