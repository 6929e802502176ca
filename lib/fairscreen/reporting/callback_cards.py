"""What the report of paired callbacks shows of one model and contrast."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fairscreen.estimators.callbacks import GAP, HEADLINE, RATE
from fairscreen.reporting.callback_names_plot import Name, rates
from fairscreen.reporting.callback_panel import FLIP, line
from fairscreen.reporting.formats import p as p_text
from fairscreen.reporting.formats import share
from fairscreen.reporting.narrative import interval, number
from fairscreen.reporting.pages import Found
from fairscreen.reporting.plots import signed, words
from fairscreen.settings.callback_audit import CallbackConfig
from fairscreen.settings.pairs import Contrast

Row = Mapping[str, Any]
CONTROL = "control=placebo"
LARGEST, MOST = 8, 30  # slices of a kind that are shown: the largest, and all in all
_SILENCE = (
    ("missing_gap_pp", "Silence, favored minus other"),
    ("callback_gap_silence_is_no_pp", "Gap where silence counts as no"),
    ("gap_lower_bound_pp", "Least gap that the silent answers allow"),
    ("gap_upper_bound_pp", "Largest gap that the silent answers allow"),
)


def card(
    cfg: CallbackConfig, name: str, contrast: str, rows: Found, controls: Found, placebo: Found
) -> dict[str, Any]:
    """rows: of the model and contrast. controls: its rows beside the placebo; placebo: the gap of
    the placebo pairs themselves."""
    own = cfg.contrasts[contrast]
    pooled = line(rows, own)
    kinds = [k for k in cfg.estimation.slices if k != "within"]
    within = [w for w in rows.slices(GAP) if w != "all" and _key(w) not in kinds]
    return {
        "name": name, "contrast": contrast, "anchor": f"{name}-{contrast}",
        "favored": own.labels[0], "other": own.labels[1], "line": pooled,
        "sentences": _sentences(cfg, own, pooled, rows, controls),
        "within": [line(rows, own, where) for where in within],
        "slices": [part for k in kinds if (part := _kind(rows, k, 1 - cfg.estimation.level))],
        "controls": _controls(controls, placebo),
        "silence": _silence(rows),
        "names": _names(rows, own),
        "firms": rows.get("all", "firm_variance_pp2", "moments"),
    }  # fmt: skip


def _key(where: str) -> str:
    return where.partition("=")[0]


def _kind(rows: Found, kind: str, alpha: float) -> dict[str, Any] | None:
    """Slices of one column: the largest, and those whose test stays significant after Holm."""
    every = [w for w in rows.slices(GAP) if _key(w) == kind]
    if not every:
        return None
    found: list[dict[str, Any]] = []
    for where in every:
        gap, flip = rows.get(where, GAP, HEADLINE), rows.get(where, GAP, *FLIP)
        found.append({"value": where.partition("=")[2], "gap": gap, "flip": flip})
    able = [r for r in found if r["gap"] and r["gap"]["estimate"] is not None]
    able.sort(key=lambda r: (-r["gap"]["n"], r["value"]))
    sure = [r for r in able if _holm(r) < alpha]
    few = {r["value"] for r in (*able[:LARGEST], *sorted(sure, key=_holm)[: MOST - LARGEST])}
    return {
        "kind": kind.replace("_", " "), "rows": [r for r in able if r["value"] in few],
        "all": len(every), "able": len(able), "sure": len(sure),
        "reason": next((r["gap"]["reason"] for r in found if r["gap"]
                        and r["gap"]["estimate"] is None), None),
    }  # fmt: skip


def _holm(row: Mapping[str, Any]) -> float:
    p = number(row["flip"]["p_holm"]) if row["flip"] else None
    return 1.0 if p is None else p


def _controls(controls: Found, placebo: Found) -> dict[str, Any] | None:
    real, without = (
        controls.get(f"{CONTROL}; pairs={kind}", "discordant_share", "counts")
        for kind in ("real", "placebo")
    )
    minus = controls.get(CONTROL, "discordant_share_gap_pp", "cluster_t")
    if minus is None:
        return None
    return {
        "real": real, "placebo": without, "minus": minus,
        "gap": placebo.get(CONTROL, GAP, HEADLINE, "cluster_t"),
        "flip": placebo.get(CONTROL, GAP, *FLIP),
    }  # fmt: skip


def _silence(rows: Found) -> list[tuple[str, Row]]:
    shown = []
    for estimand, title in _SILENCE:
        for method in rows.methods("all", estimand):
            row = rows.get("all", estimand, method)
            if row is not None:
                shown.append((title, row))
    return shown


def _names(rows: Found, contrast: Contrast) -> dict[str, Any] | None:
    """Shrunken rates of every name of both arms, and how far they spread."""
    shown, spreads = [], []
    for side, arm in enumerate(contrast.arms):
        prefix = f"{arm}; name="
        for where in rows.slices(RATE):
            row = rows.get(where, RATE, "empirical_bayes") if where.startswith(prefix) else None
            rate = number(row["estimate"]) if row else None
            if row is not None and rate is not None:
                plain = rows.get(where, RATE, "by_name")
                shown.append(
                    Name(where.removeprefix(prefix), side, rate, number(row["std_error"]),
                         number(plain["estimate"]) if plain else None, int(row["n"]))
                )  # fmt: skip
        if spread := rows.get(arm, "name_sd_pp", "moments"):
            spreads.append((contrast.labels[side], spread))
    if not shown:
        return None
    return {"figure": rates(shown, contrast.labels), "count": len(shown), "spreads": spreads}


def _sentences(
    cfg: CallbackConfig, contrast: Contrast, pooled: Mapping[str, Any], rows: Found, controls: Found
) -> list[str]:
    said = [
        _gap(cfg, contrast, pooled), _ratio(contrast, pooled), _by_names(pooled),
        _placebo(controls), _firms(rows),
    ]  # fmt: skip
    return [s for s in said if s]


def _gap(cfg: CallbackConfig, contrast: Contrast, pooled: Mapping[str, Any]) -> str:
    row, flip = pooled["gap"], pooled["flip"]
    if row is None or row["estimate"] is None:
        return f"Gap: not computable, {words(row['reason'] if row else None)}."
    rates = [share(r["estimate"]) for r in (pooled["favored"], pooled["other"]) if r]
    text = f"Gap: {signed(row['estimate'])} percentage points"
    if len(rates) == 2:
        text += f", {rates[0]} of {contrast.labels[0]} against {rates[1]} of {contrast.labels[1]}"
    if number(row["ci_low"]) is None:
        text += f" (no interval: {words(row['reason'])})"
    else:
        text += f". Interval for postings and names like these: {interval(row)}"
    if (inner := pooled["posting"]) and number(inner["ci_low"]) is not None:
        text += f"; for these names: {interval(inner)}"
    if flip is not None and flip["p_value"] is not None:
        text += (
            f". Sign flip of postings: p {p_text(flip['p_value'])}, after Holm "
            f"{p_text(flip['p_holm'])}"
        )
        if flip["p_value"] >= 1 - cfg.estimation.level:
            text += "; a gap that is not shown is not shown to be absent"
    same = pooled["negligible"]
    if same and same["p_value"] is not None and same["p_value"] < 1 - cfg.estimation.level:
        text += f". It is shown to be within \u00b1{cfg.estimation.margin:g} points"
    return f"{text}."


def _ratio(contrast: Contrast, pooled: Mapping[str, Any]) -> str:
    row = pooled["ratio"]
    if row is None or row["estimate"] is None:
        return f"Callback ratio: not computable, {words(row['reason'])}." if row else ""
    ratio = float(row["estimate"])
    low, high = number(row["ci_low"]), number(row["ci_high"])
    known = "" if low is None or high is None else f" ({low:.2f} to {high:.2f})"
    verdict = "not below four fifths"
    if ratio < 0.8 or ratio > 1.25:
        few, many = contrast.labels[:: -1 if ratio < 0.8 else 1]
        verdict = f"the rate of {few} is below four fifths of that of {many}, a warning"
    return (
        f"Callback ratio, {contrast.labels[1]} over {contrast.labels[0]}: {ratio:.2f}{known}; "
        f"{verdict}."
    )


def _by_names(pooled: Mapping[str, Any]) -> str:
    least, most, names = pooled["least"], pooled["most"], pooled["names"]
    said = []
    if least and most and least["estimate"] is not None and most["estimate"] is not None:
        said.append(
            f"leaving one name out moves the gap between {signed(least['estimate'])} "
            f"({least['reason']}) and {signed(most['estimate'])} ({most['reason']})"
        )
    if names and names["p_value"] is not None:
        said.append(f"labels dealt anew over the names give p {p_text(names['p_value'])}")
    elif names:
        said.append(f"labels dealt anew over them: not computable, {words(names['reason'])}")
    return f"Names: {'; '.join(said)}." if said else ""


def _placebo(controls: Found) -> str:
    found = _controls(controls, Found((), ""))
    if found is None:
        return ""
    if found["minus"]["estimate"] is None or not found["real"] or not found["placebo"]:
        return f"Placebo: not computable, {words(found['minus']['reason'])}."
    minus = found["minus"]
    return (
        f"Placebo: two names of one race and gender get different answers in "
        f"{share(found['placebo']['estimate'])} of pairs, those of the contrast in "
        f"{share(found['real']['estimate'])}; the difference is {signed(minus['estimate'])} "
        f"points ({interval(minus)}, p {p_text(minus['p_value'])})."
    )


def _firms(rows: Found) -> str:
    row = rows.get("all", "firm_variance_pp2", "moments")
    if row is None:
        return ""
    if row["estimate"] is None:
        return f"Variance between firms: not computable, {words(row['reason'])}."
    value = float(row["estimate"])
    deviation = (
        f", a standard deviation of {value**0.5:.2f} points"
        if value > 0
        else "; below 0, which chance alone explains"
    )
    return (
        f"Variance of the gap between {row['n']:,} firms: {signed(value)} squared points "
        f"({interval(row)}){deviation}."
    )
