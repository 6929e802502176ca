"""The tables of path_study.py, from its log."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import ndtri

from fairscreen.estimators.results import EFFECTS
from path_designs import DESIGNS, A

# Coverage that is asked for, in percent: given passing, where at least ENOUGH of the samples pass.
BARS = {2000: (93.0, 100.0), 6000: (93.5, 97.5), 17000: (93.5, 97.5)}
STACK_BAR = 92.0
RULER = "-" * 100
ENOUGH = 0.95
HEAD = (
    f"{'design':<18}{'n':>6} {'eff.':<5}{'truth':>9}{'bias':>9}{'rmse':>9}{'mean se':>9}"
    f"{'sd/se':>7}"
    f"{'cover':>7}{'passing':>8}{'+-':>5}{'pass':>7}{'refused':>8}{'flagged':>8}"
)


def summarised(truth: A, estimate: A, error: A, ok: A, flagged: A) -> dict[str, Any]:
    """Numbers of a block by effect; estimate, error, ok, flagged (S, 5)."""
    inside = np.abs(estimate - truth) <= ndtri(0.975) * error
    rows: dict[str, Any] = {}
    for j, effect in enumerate(EFFECTS):
        through = ok[:, j] == 1
        off = estimate[:, j] - truth[j]
        rows[effect] = {
            "truth": float(truth[j]),
            "bias": float(off.mean()),
            "rmse": float(np.sqrt((off**2).mean())),
            "se": float(error[:, j].mean()),
            "sd": float(off.std()),
            "cover": float(inside[:, j].mean()),
            "passing": float(inside[through, j].mean()) if through.any() else None,
            "rmse_passing": float(np.sqrt((off[through] ** 2).mean())) if through.any() else None,
            "pass": float(through.mean()),
            "flagged": float((flagged[:, j] * through).mean()),
            "samples": len(off),
        }
    return rows


def mark(n: int, row: dict[str, Any], part: str) -> str:
    """ "!" where a bar is missed; "o" where coverage given passing is outside it, but fewer
    samples pass than the bar asks for."""
    low, high = (STACK_BAR, 100.0) if part == "stack" else BARS.get(n, (0.0, 100.0))
    if row["passing"] is None or low <= round(100 * row["passing"], 6) <= high:
        return ""
    return "!" if row["pass"] >= ENOUGH else "o"


def lines(block: dict[str, Any]) -> list[str]:
    """The rows of one block."""
    found, n = [], block["n"]
    for effect, r in block["rows"].items():
        count = max(r["pass"] * r["samples"], 1.0)
        p = r["passing"]
        given = f"{'none':>8}{'':>5}"
        if p is not None:
            given = f"{p:8.1%}{100 * np.sqrt(max(p * (1 - p), 1e-4) / count):5.1f}"
        ratio = r["sd"] / r["se"] if r["se"] > 0 else float("nan")
        found.append(
            f"{block['design']:<18}{n:>6} {effect:<5}{r['truth']:>9.4f}{r['bias']:>9.4f}"
            f"{r['rmse']:>9.4f}{r['se']:>9.4f}{ratio:>7.2f}{r['cover']:>7.1%}{given}"
            f"{r['pass']:>7.1%}{1 - r['pass']:>8.1%}{r['flagged']:>8.1%} "
            f"{mark(n, r, block['part'])}".rstrip()
        )
    if raw := block.get("raw"):
        told = zip(EFFECTS, raw, block["rows"].values(), strict=True)
        bias = ", ".join(f"{e} {t:.4f} ({r['truth'] - t:+.4f})" for e, t, r in told)
        found.append(f"  given the values themselves (grouping bias): {bias}")
    return found


def gathered(blocks: list[dict[str, Any]], part: str) -> list[dict[str, Any]]:
    """Blocks of a part that logs samples."""
    by: dict[tuple[str, int], list[dict[str, Any]]] = defaultdict(list)
    for b in blocks:
        if b["part"] == part:
            by[b["design"], b["n"]].append(b)
    found = []
    for (design, n), group in by.items():
        estimate, error, ok = (np.array([b[k] for b in group]) for k in ("estimate", "error", "ok"))
        rows = summarised(DESIGNS[design]().truth(), estimate, error, ok, 0 * ok)
        seconds = sum(b["seconds"] for b in group)
        found.append({"part": part, "design": design, "n": n, "rows": rows, "seconds": seconds})
    return found


def worst(blocks: list[dict[str, Any]]) -> list[str]:
    """Per n, least, median and greatest coverage given passing, where enough samples pass."""
    found = []
    for n in sorted({b["n"] for b in blocks}):
        rows = [
            (r["passing"], b["design"], e)
            for b in blocks if b["n"] == n
            for e, r in b["rows"].items() if r["passing"] is not None and r["pass"] >= ENOUGH
        ]  # fmt: skip
        if rows:
            low, high, middle = min(rows), max(rows), np.median([r[0] for r in rows])
            found.append(
                f"n = {n:>5}: {len(rows)} effects; least {low[0]:.1%} ({low[1]}, {low[2]}), "
                f"median {middle:.1%}, greatest {high[0]:.1%} ({high[1]}, {high[2]})"
            )
    return found


def sampling_lines(blocks: list[dict[str, Any]]) -> list[str]:
    """RMSE side by side."""
    titles = "".join(f"{e:>8}" for e in EFFECTS)
    head = f"{'requests':>8}  {'sampling':<33}{'applicants':>10}{titles}  least cover  pass (RIE)"
    found = [head]
    for b in sorted(blocks, key=lambda b: b["n"]):
        shown = "".join(f"{r['rmse']:>8.3f}" for r in b["rows"].values())
        cover = min(r["cover"] for r in b["rows"].values() if r["se"] > 0)
        found.append(
            f"{b['n']:>8}  {b['design']:<33}{b['people']:>10.0f}{shown}{cover:>13.1%}"
            f"{b['rows']['RIE']['pass']:>12.1%}"
        )
    return found


def cause_lines(blocks: list[dict[str, Any]]) -> list[str]:
    """(sd of the estimates) / (mean error) and coverage, by what was fitted and what was true."""
    titles = "".join(f"{e:>16}" for e in EFFECTS[1:])
    found = [f"{'design':<18}{'n':>6}  {'nuisances':<26}{titles}   (sd/se, coverage)"]
    for b in blocks:
        rows = [r for e, r in b["rows"].items() if e != "TE"]
        shown = "".join(f"{r['sd'] / r['se']:>9.2f}{r['cover']:>7.1%}" for r in rows)
        found.append(f"{b['design']:<18}{b['n']:>6}  {b['nuisances']:<26}{shown}")
    return found


def table(blocks: list[dict[str, Any]]) -> str:
    """All tables of path_study.txt."""
    order = {name: k for k, name in enumerate(DESIGNS)}
    parts: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for b in blocks:
        parts[b["part"]].append(b)
    saturated = parts["coverage"] + gathered(blocks, "linear")
    saturated.sort(key=lambda b: (b["n"], order[b["design"]]))
    times, loads = [b["when"] for b in blocks], [b["load"] for b in blocks]
    minutes = sum(b["seconds"] for b in blocks) / 60
    out = [
        f"Made {min(times)} to {max(times)}, one process on two shared cores at a load of "
        f"{min(loads):.1f} to {max(loads):.1f}, {minutes:.0f} minutes.",
        "",
        "Saturated learner: least, median and greatest coverage of an effect, given passing, where",
        "95% of the samples pass",
        *worst(saturated),
        "",
        HEAD,
        *(line for b in saturated for line in lines(b)),
        "",
        "Default stack (main effects, saturated, XGBoost grid tuned in every sample)",
        HEAD,
        *(line for b in gathered(blocks, "stack") for line in lines(b)),
        "",
        "Causes: the same samples with true propensities, or true regressions, in place of fitted",
        *cause_lines(parts["causes"]),
        "",
        "RMSE of three samplings at equal numbers of requests",
        *sampling_lines(parts["samplings"]),
    ]
    return "\n".join(out) + "\n"


def below(file: Path, text: str) -> None:
    """Write a table below the RULER of a file; what stands above it is written by hand."""
    old = file.read_text() if file.exists() else ""
    head = old.split(RULER)[0] if RULER in old else ""
    file.write_text(f"{head}{RULER}\n{text}")
