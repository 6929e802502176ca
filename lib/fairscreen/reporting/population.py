"""What the report shows of the population: who applies, who was left out, how it fits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import yaml

from fairscreen import resources
from fairscreen.config import Config
from fairscreen.population import domain
from fairscreen.population.geography import STATES
from fairscreen.reporting import population_plots as plots
from fairscreen.reporting.pages import records
from fairscreen.reporting.plots import words

#: Margins that the panels show.
PANELS = ("gender", "race", "edu_level")
WORST = 10
ROUNDING = 1e-12  # a share that differs by less is the same number summed in another order
QUANTILES = (0.1, 0.5, 0.9)


@dataclass(frozen=True)
class Published:
    """A published population, from conf/published; jobs: ACS codes, title, people."""

    source: str
    survey: str
    total: int
    jobs: tuple[tuple[tuple[str, ...], str, int], ...]
    notes: tuple[str, ...]


def published() -> Published:
    """The population of the paper whose settings are the preset `published`."""
    file = resources.path("conf", "published", "popresume_population.yml")
    data = yaml.safe_load(file.read_text(encoding="utf-8"))
    jobs = tuple((tuple(j["occp"]), j["title"], int(j["people"])) for j in data["jobs"])
    notes = tuple(" ".join(n.split()) for n in data["notes"])
    return Published(data["source"], data["survey"], int(data["total"]), jobs, notes)


def section(
    cfg: Config, *, fit: pd.DataFrame, margins: pd.DataFrame, experience: pd.DataFrame,
    exclusions: pd.DataFrame,
) -> dict[str, Any]:  # fmt: skip
    """Everything that population.html.j2 shows.

    fit, exclusions: rows of the tables; margins: of the view population_margins; experience: job,
    age, exp_year, weight (applicants summed by those three).
    """
    # Rows of a table come in any order; ties are broken by this one.
    fit = fit.sort_values(["job", "margin", "value"], ignore_index=True) if len(fit) else fit
    margins = margins.sort_values(["job", "margin"]) if len(margins) else margins
    return {
        "panels": _share_panels(cfg, fit),
        "with_errors": bool(len(fit)) and bool(fit["survey_std_error"].notna().any()),
        "no_errors": _no_errors(fit),
        "experience": _experience_panels(cfg, experience),
        "left_out": _left_out(cfg, exclusions),
        "sentence": _fit_sentence(cfg, fit),
        "worst": _worst(cfg, fit),
        "margins": _margins(cfg, margins),
        "published": _published(cfg, exclusions) if cfg.preset == "published" else None,
    }


def cell_label(value: str) -> str:
    """`state=36; edu_level=master` as New York, master."""
    parts = [part.partition("=")[::2] for part in value.split("; ")]
    return ", ".join(
        STATES[v].name if name == "state" and v in STATES else str(words(v)) for name, v in parts
    )


def margin_label(margin: str) -> str:
    """`age_band x edu_level` as age band by education."""
    names = {"edu_level": "education", "age": "age in years", "age_band": "age band"}
    return " by ".join(names.get(m, m) for m in margin.split(" x "))


def weighted_quantiles(values: Sequence[float], weights: Sequence[float]) -> list[float]:
    """QUANTILES of values under weights: the least value that reaches the share."""
    order = np.argsort(values, kind="stable")
    sums = np.cumsum(np.asarray(weights, dtype=np.float64)[order])
    at = np.searchsorted(sums, np.array(QUANTILES) * sums[-1] * (1 - 1e-12))
    return [float(v) for v in np.asarray(values, dtype=np.float64)[order][at]]


def _title(cfg: Config, job: str) -> str:
    return cfg.population.jobs[job].title if job in cfg.population.jobs else job


def _jobs(cfg: Config, frame: pd.DataFrame) -> list[str]:
    """Jobs of a frame, in the order of the config."""
    there = set(frame["job"]) if len(frame) else set()
    return [j for j in cfg.population.jobs if j in there] + sorted(there - {*cfg.population.jobs})


def _share_panels(cfg: Config, fit: pd.DataFrame) -> list[dict[str, Any]]:
    order = {
        "gender": ("female", "male"),
        "race": domain.from_settings(cfg.population).races,
        "edu_level": tuple(cfg.population.education),
    }
    found = []
    for job in _jobs(cfg, fit):
        mine, rows = fit[fit["job"] == job], []
        for margin in PANELS:
            cells = {r["value"]: r for r in records(mine[mine["margin"] == margin])}
            total = sum(r["applicants"] for r in cells.values())
            there = [cells[v] for v in (f"{margin}={o}" for o in order[margin]) if v in cells]
            rows += [
                plots.ShareRow(
                    label=cell_label(r["value"]), survey=r["survey_share"],
                    error=r["survey_std_error"], generator=r["generator_share"],
                    applicants=r["applicants"] / total if total else None, opens=at == 0,
                )
                for at, r in enumerate(there)
            ]  # fmt: skip
        title = _title(cfg, job)
        found.append({"title": title, "svg": plots.shares(title, rows)})
    return found


def _experience_panels(cfg: Config, experience: pd.DataFrame) -> list[dict[str, Any]]:
    if not len(experience):
        return []
    most = float(max(experience["exp_year"].max(), 1.0))
    found = []
    for job in _jobs(cfg, experience):
        mine = experience[(experience["job"] == job) & (experience["weight"] > 0)]
        rows = []
        for age in sorted(set(mine["age"])):
            at = mine[mine["age"] == age]
            years = weighted_quantiles(at["exp_year"].tolist(), at["weight"].tolist())
            rows.append(plots.AgeRow(int(age), *years))
        if rows:
            title = _title(cfg, job)
            found.append({"title": title, "svg": plots.experience(title, rows, most)})
    return found


def _no_errors(fit: pd.DataFrame) -> list[str]:
    """Why whole jobs have no survey error: reasons that are not of a single cell."""
    if not len(fit):
        return []
    without = fit.groupby("job")["survey_std_error"].transform("count") == 0
    return sorted(set(fit.loc[without & (fit["survey_people"] > 0), "reason"].dropna()))


_WHY = {
    "not_employed": "not employed when surveyed",
    "age": "outside ages {population.age_min} to {population.age_max}",
    "race": "of a race that this audit does not take ({races} are taken)",
    "hispanic": "Hispanic, whom this audit leaves out",
    "below_high_school": "of an education that this audit does not take (below high school)",
    "state_outside": "outside the 50 states and DC",
}


def _left_out(cfg: Config, exclusions: pd.DataFrame) -> dict[str, Any]:
    """Shares by job and reason, and one sentence over all jobs."""
    if not len(exclusions):
        return {"reasons": [], "rows": [], "sentence": ""}
    given = records(exclusions)
    total: dict[str, int] = {}
    for r in given:
        total[r["reason"]] = total.get(r["reason"], 0) + int(r["people"])
    known = ["included", *_WHY]
    reasons = sorted(total, key=lambda r: (known.index(r) if r in known else 99, r))
    rows = []
    for job in _jobs(cfg, exclusions):
        mine = {r["reason"]: (int(r["people"]), int(r["weighted"])) for r in given
                if r["job"] == job}  # fmt: skip
        people, standing = (sum(pair[k] for pair in mine.values()) for k in (0, 1))
        counts = [mine.get(r, (0, 0)) for r in reasons]
        cells = [(n, weighted / standing if standing else None, weighted) for n, weighted in counts]
        rows.append({"job": _title(cfg, job), "people": people, "cells": cells})
    everybody, inside = sum(total.values()), total.get("included", 0)
    stands = sum(int(r["weighted"]) for r in given if r["reason"] == "included")
    standing = sum(int(r["weighted"]) for r in given)
    why = [f"{total[r]:,} {reason_words(cfg, r)}" for r in reasons if r != "included"]
    sentence = (
        f"Of {everybody:,} people of these occupations in the survey's files {inside:,} are in "
        f"({_percent(inside, everybody)}); they stand for {stands:,} of {standing:,} people by the "
        f"survey's weights ({_percent(stands, standing)})."
    )
    if why:
        sentence += f" Left out, by the first reason that applies: {'; '.join(why)}."
    return {"reasons": reasons, "rows": rows, "sentence": sentence}


def _percent(part: int, whole: int) -> str:
    return f"{100 * part / whole:.0f}%" if whole else "no weight"


def reason_words(cfg: Config, reason: str) -> str:
    """Why somebody was left out, as words of a sentence."""
    races = ", ".join(str(words(r)) for r in domain.from_settings(cfg.population).races)
    text = _WHY.get(reason, str(words(reason)))
    return text.format(population=cfg.population, races=races)


def _fit_sentence(cfg: Config, fit: pd.DataFrame) -> str:
    if not len(fit):
        return ""
    row = max(records(fit), key=lambda r: abs(r["difference"]))
    text = (
        f"Of {len(fit):,} shares compared, the generator is farthest from the survey in "
        f"{cell_label(row['value'])} ({_title(cfg, row['job'])}): "
        f"{100 * row['generator_share']:.1f}% against {100 * row['survey_share']:.1f}%."
    )
    known = fit[fit["z"].notna()]
    if len(known):
        near = (known["z"].abs() <= 2).mean()
        text += (
            f" {100 * near:.1f}% of the {len(known):,} shares with a survey error lie within two "
            "standard errors."
        )
    return text


def _worst(cfg: Config, fit: pd.DataFrame) -> list[dict[str, Any]]:
    if not len(fit):
        return []
    rows = sorted(records(fit), key=lambda r: -abs(r["difference"]))  # ties stay in order
    return [
        {
            "job": _title(cfg, r["job"]), "cell": cell_label(r["value"]),
            "people": r["survey_people"], "survey": r["survey_share"],
            "generator": r["generator_share"], "applicants": r["applicants_share"],
            "difference": 100 * r["difference"],
            "error": None if r["z"] is None else 100 * r["survey_std_error"],
            "z": r["z"], "reason": r["reason"],
        }
        for r in rows[:WORST]
    ]  # fmt: skip


def _margins(cfg: Config, margins: pd.DataFrame) -> list[dict[str, Any]]:
    """The view over all jobs: one row per margin, the worst job named."""
    found, given = [], records(margins)
    for margin in dict.fromkeys(r["margin"] for r in given):
        mine = [r for r in given if r["margin"] == margin]
        worst = max(mine, key=lambda r: r["largest_difference"])
        cells = sum(r["cells"] for r in mine)
        tested = sum(r["cells_with_error"] for r in mine)
        near = sum((r["share_within_two_errors"] or 0) * r["cells_with_error"] for r in mine)
        found.append({
            "margin": margin_label(margin), "cells": cells,
            "exact": worst["largest_difference"] < ROUNDING,
            "largest": 100 * worst["largest_difference"], "job": _title(cfg, worst["job"]),
            "cell": cell_label(worst["largest_at"]),
            "mean": 100 * sum(r["mean_difference"] * r["cells"] for r in mine) / cells,
            "near": near / tested if tested else None,
        })  # fmt: skip
    return sorted(found, key=lambda r: (-r["largest"], r["margin"]))


def _published(cfg: Config, exclusions: pd.DataFrame) -> dict[str, Any]:
    """The paper's sizes beside this audit's, by job; jobs that only one of them has are told."""
    paper = published()
    ours = _included(exclusions)
    codes = {job: frozenset(settings.occp) for job, settings in cfg.population.jobs.items()}
    rows: list[dict[str, Any]] = []
    for occp, title, people in paper.jobs:
        job = next((j for j, own in codes.items() if own == frozenset(occp)), None)
        own = ours.get(job) if job else None
        rows.append(
            {"title": title, "paper": people, "ours": own, "ratio": own / people if own else None}
        )
    both = [(r["paper"], r["ours"]) for r in rows if r["ours"]]
    total = {"paper": sum(n for n, _ in both), "ours": sum(n for _, n in both)}
    return {
        "paper": paper, "rows": rows, "total": total if both else None,
        "others": [
            _title(cfg, job) for job, own in codes.items()
            if not any(own == frozenset(occp) for occp, _, _ in paper.jobs)
        ],
    }  # fmt: skip


def _included(exclusions: pd.DataFrame) -> Mapping[str, int]:
    if not len(exclusions):
        return {}
    inside = exclusions[exclusions["reason"] == "included"]
    return {str(j): int(n) for j, n in zip(inside["job"], inside["people"], strict=True)}
