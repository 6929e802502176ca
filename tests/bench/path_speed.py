"""Processor time of 120 cases of the path-specific effects at the published sizes.

Run: python tests/bench/path_speed.py [--jobs 5] [--cases 12] [--runs 0 1 2] [--draws 25] [--out F]
5 jobs x 3 formats x 2 attributes x 4 models (PopResume: 60,884 surveyed people). People are drawn
by numpy in the shape of the demo's applicants (shares of men by job as surveyed, names, cohorts,
surnames, regions, degrees, years in the groups of conf/designs) and scored by the screener of
conf/audits/planted.yml, moved a little from model to model and format to format. Timed is what
pass 1 and pass 2 of an audit call: `fit_classifiers` once per job and attribute, `path_effects`
with them per case: tuning, effects, errors, 500 multiplier draws, diagnostics. Seconds are those
of the processor, this process and its children, one thread. The last line is the published
bootstrap of one case: where --draws is below 500, so many refits are timed, and 500 extrapolated.
The table of the last run is kept in path_speed.txt.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from fairscreen.estimators.data import PathData, assign_folds
from fairscreen.estimators.path_specific import (
    LearnerName,
    PathOptions,
    fit_classifiers,
    path_effects,
)
from fairscreen.estimators.published import published_bootstrap

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
# People and share of men of each job (published_designs: sizes of the paper's five jobs).
JOBS = {
    "registered_nurses": (17_632, 0.14), "school_teachers": (16_188, 0.22),
    "software_developers": (13_370, 0.79), "accountants": (7_784, 0.41),
    "construction_laborers": (5_910, 0.95),
}  # fmt: skip
MODELS, FORMATS = 4, 3
DRAWS = 500
# The published settings (one split into five folds), the same with three, the default.
RUNS: tuple[tuple[LearnerName, int], ...] = (("xgboost", 1), ("xgboost", 3), ("stack", 3))


@dataclass(frozen=True)
class People:
    """Codes of the applicants of one job; `male`, `race` (0 white), the rest in groups."""

    male: Ints
    race: Ints
    age: Ints
    name: Ints
    cohort: Ints
    surname: Ints
    region: Ints
    edu: Ints
    years: Ints

    def data(self, attribute: str, y: Floats, fold: Ints, *, cells: bool = True) -> PathData:
        """One case: x = men or white applicants, the other attribute among the confounders."""
        other = self.race if attribute == "gender" else self.male
        return PathData.from_rows(
            x=self.male if attribute == "gender" else (self.race == 0).astype(np.int64),
            z=np.stack([other, self.age], 1),
            r=np.stack([self.name, self.cohort, self.surname, self.region], 1),
            b=np.stack([self.edu, self.years], 1), y=y, fold=fold, cells=cells,
        )  # fmt: skip

    def score(self, model: int, form: int, rng: np.random.Generator) -> Floats:
        """The planted screener; a photo (format 2) shows gender and race."""
        move = 1 + 0.15 * (model - 1.5)
        return np.round(
            45 + (form == 2) * move * (2.0 * self.male + 1.5 * (self.race == 0))
            + 4.0 * move * self.edu + 2.5 * self.years + 1.0 * (self.name == 1)
            - move * (self.name == 0) + 0.5 * (self.cohort == 0) - 0.5 * (self.cohort == 2)
            + (self.surname == 0) - (self.surname == 1) + 0.5 * (self.region == 0)
            - 0.5 * (self.region == 2) + 0.2 * form * self.edu * (self.years > 2)
            + rng.normal(0, 3, len(self.male)), 4,
        )  # fmt: skip


def choose(rng: np.random.Generator, table: Floats, row: Ints) -> Ints:
    """One value per person from the row of the table that is theirs."""
    bounds = np.cumsum(table / table.sum(axis=1, keepdims=True), axis=1)[:, :-1]
    return (rng.random(len(row))[:, None] > bounds[row]).sum(axis=1)


def people(n: int, men: float, rng: np.random.Generator) -> People:
    """n people of a job in which a share `men` are men."""
    male = (rng.random(n) < men).astype(np.int64)
    race = rng.choice(3, n, p=[0.75, 0.15, 0.10])
    age = rng.choice(5, n, p=[0.2, 0.22, 0.22, 0.2, 0.16])
    name = choose(rng, np.array([[0.90, 0.03, 0.07], [0.04, 0.88, 0.08]]), male)
    cohort = choose(rng, np.array(
        [[8, 1, 0.2, 3], [6, 3, 0.3, 3], [2, 6, 1, 4], [0.5, 5, 4, 4], [0.2, 2, 7, 4]]
    ), age)  # fmt: skip
    surname = choose(rng, np.array([[8, 0.3, 0.2, 1.5], [5, 3, 0.1, 2], [0.7, 0.1, 8, 1]]), race)
    region = choose(rng, np.array(
        [[18, 22, 36, 24], [15, 15, 58, 12], [22, 10, 22, 46]]
    ), race)  # fmt: skip
    edu = choose(rng, np.array([[1, 7, 2], [1.5, 6, 2.5]]), male)
    years = choose(rng, np.array(
        [[6, 3, 1, 0.1, 0.1], [3, 4, 2, 1, 0.1], [2, 3, 4, 2, 1], [1, 2, 4, 4, 2], [1, 1, 3, 4, 4]]
    ), age)  # fmt: skip
    return People(male, race, age, name, cohort, surname, region, edu, years)


def cases(jobs: int, some: int, repeats: int) -> Iterator[tuple[str, str, list[PathData]]]:
    """Job, attribute and the cases of all models and formats, or some of them."""
    for k, (job, (n, men)) in enumerate(list(JOBS.items())[:jobs]):
        rng = np.random.default_rng([2026, k])
        everybody = people(n, men, rng)
        fold = assign_folds(20260322, [f"{job}/{i}" for i in range(n)], 5, repeats)
        scores = [everybody.score(m, f, rng) for m in range(MODELS) for f in range(FORMATS)]
        for attribute in ("gender", "race"):
            yield job, attribute, [everybody.data(attribute, y, fold) for y in scores[:some]]


def run(learner: LearnerName, repeats: int, jobs: int, some: int) -> str:
    """One line: seconds of all cases, by their parts."""
    options = PathOptions(learner=learner, bootstrap_draws=DRAWS, max_training_cells=50_000)
    first = second = 0.0
    count = people_ = ok = 0
    for _, _, made in cases(jobs, some, repeats):
        start = time.process_time()
        shared = fit_classifiers(made[0], options)
        first += time.process_time() - start
        for data in made:
            start = time.process_time()
            result = path_effects(data, options, shared)
            second += time.process_time() - start
            count, people_ = count + 1, people_ + int(data.n.sum())
            ok += sum(effect.status != "not_computable" for effect in result.effects.values())
    return (
        f"{learner:<11}{repeats:>8}{count:>7}{people_:>10,}{first:>13.1f}{second:>10.1f}"
        f"{first + second:>9.1f}{(first + second) / count:>10.2f}{ok:>12}"
    )


def published(draws: int) -> tuple[list[str], float]:
    """The published bootstrap of one case (nurses, gender), and its seconds for 500 draws."""
    rng = np.random.default_rng([2026, 0])
    n, men = JOBS["registered_nurses"]
    everybody = people(n, men, rng)
    fold = assign_folds(20260322, [f"registered_nurses/{i}" for i in range(n)], 5, 1)
    data = everybody.data("gender", everybody.score(0, 0, rng), fold, cells=False)
    options = PathOptions(learner="xgboost", bootstrap_draws=0)
    published_bootstrap(data, options, draws=2)  # what a first call alone takes is left out
    start = time.process_time()
    published_bootstrap(data, options, draws=2)
    fixed = time.process_time() - start
    start = time.process_time()
    published_bootstrap(data, options, draws=draws)
    refit = (time.process_time() - start - fixed) / (draws - 2)
    whole = fixed + (DRAWS - 2) * refit
    told = "measured" if draws >= DRAWS else f"EXTRAPOLATED from {draws} refits"
    return [
        f"published bootstrap of one case ({n:,} rows): {refit:.2f} s a refit, "
        f"{fixed - 2 * refit:.1f} s for tuning and the overlap; "
        f"{DRAWS} refits: {whole:,.0f} s, {told}"
    ], whole


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=len(JOBS), help="how many of the five jobs")
    parser.add_argument("--cases", type=int, default=12, help="how many of a job and attribute's")
    parser.add_argument("--runs", nargs="+", type=int, default=[0, 1, 2], help="lines of the table")
    parser.add_argument("--draws", type=int, default=25, help="refits of the published bootstrap")
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    load = " ".join(f"{part:.1f}" for part in os.getloadavg())
    lines = [
        f"{date.today()}, {os.uname().machine}, {os.cpu_count()} cores, load at the start {load}; "
        "one thread.",
        "Processor seconds. Made by tests/bench/path_speed.py.",
        "",
        f"{'learner':<11}{'repeats':>8}{'cases':>7}{'people':>10}{'classifiers':>13}"
        f"{'per case':>10}{'in all':>9}{'a case':>10}{'computable':>12}",
    ]
    print("\n".join(lines), flush=True)
    one = 0.0
    for learner, repeats in (RUNS[k] for k in given.runs):
        lines.append(run(learner, repeats, given.jobs, given.cases))
        print(lines[-1], flush=True)
        one = one or float(lines[-1].split()[-2])
    more, whole = published(given.draws)
    lines += ["", *more, f"ratio to one case of the first line ({one:.2f} s): {whole / one:,.0f}"]
    print("\n".join(lines[-3:]), flush=True)
    lines.append(f"load at the end {' '.join(f'{part:.1f}' for part in os.getloadavg())}")
    if given.out:
        given.out.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
