"""The shipped ACS file holds five occupations, so its largest twenty are these five."""

from __future__ import annotations

import population_inputs as inputs
from fairscreen.population import jobs
from fairscreen.settings.population import Select
from fairscreen.stations import selection


def test_the_five_of_the_shipped_file() -> None:
    """Counts of ages 18 to 44: data/README.md of the file's source, total 52,864."""
    cfg = inputs.demo()
    people = inputs.acs()
    mine = people[
        people["esr"].isin(cfg.population.esr)
        & people["age"].between(cfg.population.age_min, cfg.population.age_max)
    ]
    counts = [
        jobs.Counted(str(code), len(of), int(of["pwgtp"].sum()))
        for code, of in mine.groupby("occp")
    ]
    chosen = jobs.select(
        counts, Select(largest=20), selection.shipped(), seed=cfg.seed, vintage=2024
    )
    assert [(f["code"], f["people"]) for f in chosen.detail["ranked"]] == [
        ("3255", 15_645), ("2310", 13_437), ("1021", 10_016), ("6260", 7_223), ("0800", 6_543),
    ]  # fmt: skip
    concrete = jobs.concrete(chosen.jobs, 2024).jobs
    assert concrete == cfg.population.jobs  # the same jobs as the explicit map
