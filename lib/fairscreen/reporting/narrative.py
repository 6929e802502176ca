"""Findings as plain sentences. Each says the number, its interval, whom it favors and its limits.

"The interval covers zero" is never told as "no effect": for that the whole interval must lie
within the margin that the audit chose beforehand (Config.estimation.equivalence_margin).
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

from fairscreen.config import Config
from fairscreen.estimators.rescoring import BY_CONSTRUCTION
from fairscreen.estimators.selection import small_group
from fairscreen.reporting.plots import signed, words

Row = Mapping[str, Any]

# What an estimand is to somebody who never heard of path-specific effects. No photo is shown, so
# NDE is what is left beside the grouped mediators, not direct discrimination (pitfall 6).
MEANING = {
    "TE": "the whole difference that {attribute} makes to the score, by every path",
    "NDE": "what is left once the groups of qualifications, names and region are held fixed",
    "NIE": "the part through qualifications, names and region together",
    "BIE": "the part through qualifications ({business})",
    "RIE": "the part through names and region ({redlining}), and through qualifications that "
    "differ because of them",
}
TITLE = {
    "TE": "Total effect (TE)",
    "NDE": "Not through the grouped mediators (NDE)",
    "NIE": "Through all mediators (NIE)",
    "BIE": "Through qualifications (BIE)",
    "RIE": "Through names and region (RIE)",
    "raw_gap": "Raw gap of mean scores",
}

# What must stand beside a number wherever it is told (pitfalls 5 and 6).
BESIDE = {
    "NDE": "This is no measure of direct discrimination: no resume shows gender or race.",
    "RIE": "It includes what names and region then do through qualifications.",
}


def number(value: Any) -> float | None:
    """A table's number, or None; frames hold nulls as NaN."""
    if value is None:
        return None
    found = float(value)
    return found if math.isfinite(found) else None


def title_of(row: Row) -> str:
    """The title of a row's estimand; a direct effect (photo shown) keeps the table's own."""
    estimand, own = str(row["estimand"]), str(row["title"])
    if "ungrouped" in own:
        return f"{own} ({estimand})"
    if estimand == "NDE" and "grouped" not in own:
        return f"{own} (NDE)"
    return TITLE.get(estimand, own)


def base_slice(text: str) -> str:
    """The slice that a row of one group belongs to: job=KEY; gender=male is job=KEY's."""
    first = text.partition(";")[0]
    return first if first.startswith("job=") else "all"


def group_of(text: str) -> str:
    """The group of a row of one group, `male` for job=KEY; gender=male; else empty."""
    last = text.rpartition(";")[2].strip()
    name, found, value = last.partition("=")
    return value.replace("_", " ").replace("+", " or ") if found and name != "job" else ""


def method_label(method: str) -> str:
    """A method's name for people."""
    known = {
        "tost": "equivalence test",
        "eif_ungrouped": "ungrouped mediators",
        "eif_population": "population effect",
        "replicate_weights": "population effect, error by replicate weights",
        "ungrouped_minus_rescoring": "ungrouped mediators minus rescoring",
    }
    return known.get(method) or words(method)


def favored(cfg: Config, row: Row) -> str:
    """Whom this row's estimate favors, given its sign; empty where it is missing or zero."""
    estimate, positive = number(row["estimate"]), row.get("favors_when_positive")
    if not estimate or not isinstance(positive, str):
        return ""
    if estimate > 0:
        return positive
    contrast = cfg.estimation.contrasts.get(str(row["contrast"]))
    if contrast is None:
        return f"the group other than {positive}"
    return contrast.x0_label if positive == contrast.x1_label else contrast.x1_label


def slice_label(cfg: Config, text: str) -> str:
    """`job=KEY` as the job's title, `all` as pooled; anything else as it is."""
    if text == "all":
        return "All jobs, pooled"
    first, _, rest = text.partition(";")
    name, _, value = first.partition("=")
    if name != "job":
        return text
    title = cfg.population.jobs[value].title if value in cfg.population.jobs else value
    return f"{title};{rest}" if rest else title


def interval(row: Row) -> str:
    low, high = number(row["ci_low"]), number(row["ci_high"])
    if low is None or high is None:
        return "no interval"
    return f"{signed(low)} to {signed(high)}"


def reading(cfg: Config, row: Row) -> str:
    """What the interval allows to say, in one sentence."""
    low, high = number(row["ci_low"]), number(row["ci_high"])
    if low is None or high is None:
        return "Without an interval it says little."
    margin = cfg.estimation.equivalence_margin
    within = -margin < low and high < margin
    small = f" It lies within \u00b1{margin:g} points, which this audit calls negligible."
    if low > 0 or high < 0:
        return "The interval excludes zero." + (small if within else "")
    if within:
        return "The interval covers zero." + small
    return (
        "The interval covers zero: an effect is not shown, and effects of either sign up to "
        "its ends are not ruled out."
    )


def effect_sentence(cfg: Config, row: Row) -> str:
    """One effect: its title, number, interval, whom it favors, and how to read it."""
    title = title_of(row)
    if number(row["estimate"]) is None:
        return f"{title}: not computable ({plain_reason(row['reason'])})."
    if row["reason"] == BY_CONSTRUCTION:
        return (
            f"{title}: 0 by construction, so it is not tested: gender and race reach a resume "
            "through names, region and qualifications alone."
        )
    percent = f"{100 * cfg.estimation.level:g}%"
    whom = favored(cfg, row)
    text = f"{title}: {signed(float(row['estimate']))} points"
    if whom:
        text += f", in favor of {whom}" if _excludes_zero(row) else f", its sign favoring {whom}"
    text += f" ({percent} interval {interval(row)}). {reading(cfg, row)}"
    if row["status"] == "flagged":
        text += f" Flagged: {words(row['reason'])}."
    photo = row["estimand"] == "NDE" and "grouped" not in title
    beside = "" if photo else BESIDE.get(str(row["estimand"]), "")
    return f"{text} {beside}".rstrip()


_EFFECTIVE = re.compile(r"effective n ([\d.]+) < ([\d.]+)")
_UNIT = re.compile(r"one unit holds ([\d.]+%) > ([\d.]+%) of the weight")


def plain_reason(reason: Any) -> str:
    """An overlap reason for somebody who does not know weight sets; the tables keep the exact one.

    Of several broken rules it tells the worst one of the first kind found.
    """
    text = str(reason)
    if not text.startswith("overlap:"):
        return str(words(reason))
    if found := _EFFECTIVE.findall(text):
        least, needed = min(found, key=lambda pair: float(pair[0]))
        return (
            f"too few comparable applicants: the number rests on the equivalent of {least} of "
            f"them, {needed} are asked for"
        )
    if found := _UNIT.findall(text):
        most, allowed = max(found, key=lambda pair: float(pair[0].rstrip("%")))
        return (
            f"too few comparable applicants: one of them alone would carry {most} of the weight, "
            f"{allowed} is the most allowed"
        )
    return "too few comparable applicants in the two groups"


def jobs_sentence(cfg: Config, rows: Sequence[Row]) -> str:
    """Where, among the slices by job, the interval of one estimand excludes zero."""
    clear = [r for r in rows if _excludes_zero(r)]
    missing = [r for r in rows if number(r["estimate"]) is None]
    if not rows:
        return ""
    computed = len(rows) - len(missing)
    text = f"By job, its interval excludes zero in {len(clear)} of {computed} computable"
    if clear:
        named = [
            f"{slice_label(cfg, r['slice'])} {signed(float(r['estimate']))}, favoring "
            f"{favored(cfg, r)}"
            for r in clear
        ]
        text += f" ({'; '.join(named)})"
    if missing:
        names = ", ".join(slice_label(cfg, r["slice"]) for r in missing)
        text += f"; not computable for {names}"
    return text + "."


def _excludes_zero(row: Row) -> bool:
    low, high = number(row["ci_low"]), number(row["ci_high"])
    return low is not None and high is not None and (low > 0 or high < 0)


def holm_sentence(cfg: Config, rows: Sequence[Row]) -> str:
    """How many of the tested effects stay significant after Holm, within their family."""
    alpha = 1 - cfg.estimation.level
    tested = [r for r in rows if number(r.get("p_holm")) is not None]
    if not tested:
        return "No effect could be tested, so there is nothing to correct for many tests."
    kept = [r for r in tested if float(r["p_holm"]) < alpha]
    text = (
        f"Many effects are tested at once, so some would look real by chance: {len(kept)} of "
        f"{len(tested)} tested effects stay significant at {alpha:.2g} after Holm's correction"
    )
    if kept:
        named = [f"{r['estimand']} in {slice_label(cfg, r['slice'])}" for r in kept]
        shown = "; ".join(named[:8])
        text += f" ({shown}{'; and others' if len(named) > 8 else ''})"
    return text + "."


def ratio_sentence(cfg: Config, rows: Sequence[Row]) -> str:
    """The four-fifths rule over one contrast; rows: estimand selection_rate_ratio, any method.

    By job where there are jobs: pooled rates mix differences between jobs with those within.
    A slice with too few people in a group is counted, not told: its ratio is mostly chance.
    """
    impact = [r for r in rows if r["method"] == "four_fifths"] or list(rows)
    impact = [r for r in impact if "job=" in str(r["slice"])] or impact
    small = [r for r in impact if small_group(r.get("reason"))]
    few = ""
    if small:
        where = f"{len(small)} slice{'' if len(small) == 1 else 's'}"
        few = f" Not told for {where} with too few people in a group."
    impact = [r for r in impact if not small_group(r.get("reason"))]
    known = [(r, float(r["estimate"])) for r in impact if number(r["estimate"]) is not None]
    if not known:
        return f"Share scored above the median: no impact ratio can be told.{few}" if few else ""
    below = [(r, v) for r, v in known if not four_fifths(v)]
    worst, value = min(known, key=lambda pair: lower_over_higher(pair[1]))
    text = (
        "Share scored above the median: the lowest impact ratio is "
        f"{lower_over_higher(value):.2f} ({slice_label(cfg, worst['slice'])}"
        f"{_less_often(cfg, rows, worst)}); "
    )
    if below:
        names = ", ".join(slice_label(cfg, r["slice"]) for r, _ in below)
        return text + f"below four fifths in {len(below)} of {len(known)}: {names}.{few}"
    return text + f"none of {len(known)} is below four fifths.{few}"


def _less_often(cfg: Config, rows: Sequence[Row], worst: Row) -> str:
    """Which group is above the median less often; the log ratio is x0 over x1."""
    contrast = cfg.estimation.contrasts.get(str(worst["contrast"]))
    for row in rows:
        value = number(row["estimate"])
        if row["method"] == "log_ratio" and row["slice"] == worst["slice"] and contrast and value:
            return f", {contrast.x0_label if value < 1 else contrast.x1_label} less often"
    return ""


def lower_over_higher(ratio: float) -> float:
    """The ratio with the lower rate above the line, whichever group that is."""
    return min(ratio, 1 / ratio) if ratio > 0 else 0.0


def four_fifths(ratio: float) -> bool:
    """True where the lower selection rate is at least four fifths of the higher one."""
    return lower_over_higher(ratio) >= 0.8


def survey_name(sources: Sequence[Row]) -> str:
    """The survey behind an audit with its years, from rows of source_file."""
    years = sorted(
        {(int(r["vintage"]), int(r.get("period") or 1)) for r in sources
         if r["kind"] == "acs" and number(r.get("vintage")) is not None}
    )  # fmt: skip
    named = " and ".join(f"{vintage} ({period}-year file)" for vintage, period in years)
    return f"the American Community Survey {named}".rstrip()


def population_sentence(cfg: Config, applicants: int, jobs: int, survey: str) -> str:
    """Who applied, by the mode of the population; `survey`: its name and years."""
    people = cfg.population
    size = f"{applicants:,} applicants for {jobs} job{'s' if jobs != 1 else ''}"
    ages = f"aged {people.age_min} to {people.age_max}, of employment status (ESR) "
    ages += " or ".join(people.esr)
    if people.mode == "surveyed":
        return f"{size}, {ages}: every surveyed person of {survey} once."
    if people.mode == "draws":
        return f"{size}, {ages}, drawn from {survey} by its weights."
    sentence = f"{size}, {ages}, generated from distributions fitted to {survey}. "
    if not people.balance:
        return sentence.rstrip()
    rest = [name for name in ("gender", "race", "age") if name not in people.balance]
    return (
        f"{sentence}The design holds {' and '.join(people.balance)} in equal numbers and gives "
        f"each group the job's own mix of {' and '.join(rest)}, so group sizes here are not those "
        "of the workforce, and an applicant may have a combination that nobody surveyed has; "
        "weights state effects for the workforce's mix."
    )


def limits(cfg: Config, *, synthetic: Sequence[str], simulated: Sequence[str]) -> list[str]:
    """What this audit does not show. The order is that of importance to a reader."""
    found = []
    if synthetic:
        found.append(
            f"Made-up input: {', '.join(synthetic)} is synthetic (made by a script, no real "
            "records). Years of experience, and what depends on them, are illustrations."
        )
    if simulated:
        found.append(
            f"Simulated screener: {', '.join(simulated)} is a formula with planted effects, kept "
            "to check the method. Its numbers say nothing about a real screener."
        )
    found += [
        "Effects describe what this screener does with resumes of applicants standardised to "
        "Census profiles. They do not say how gender or race causes education or a career.",
        "The resumes are generated and show no photo, and gender and race are not written in "
        "them. What is not through the grouped mediators (NDE) is therefore no measure of direct "
        "discrimination: it is what coarse groups of names, education and experience miss, and "
        "noise.",
    ]
    if cfg.estimation.rescores:
        found.append(
            "Rescoring asks about the same applicant as somebody else: it changes the place, "
            "education, experience and names that the generator lets gender or race change, and "
            "nothing else that a real resume may tell."
        )
    found += [
        "The part through names and region (RIE) includes what then passes through qualifications.",
        "Experience is years of any work since the age of 18. The resumes show all of it as work "
        "in the occupation, as the published rule has it: a first job may come before the degree, "
        "and a short career may have ended years before the application.",
        "An interval that covers zero does not show that there is no effect.",
        "Not computable means that too few comparable applicants exist in the two groups to "
        "support a number. It is not zero.",
        "The intervals hold the sampling of applicants. Errors of the survey behind them, and of "
        "the experience and name tables, come on top.",
        "No legal conclusion follows from this report alone.",
    ]
    return found
