"""The published population's sizes, and those of the shipped file, counted without the package.

Paper: PopResume, table 3 (17,632 nurses and so on; 60,884). Shipped: ACS 2024 1-year, employed
people of 48 states and DC in five occupations; 52,864 aged 18 to 44 (README of the data folder).
Kept beside: tests/bench/published_population.txt.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pandas as pd
import pyarrow.compute as pc
import pytest

from fairscreen import resources
from fairscreen.config import load
from fairscreen.reporting.population import published
from fairscreen.sources.acs_reader import batches, inspect

FILE = resources.resolve("bundled:acs_2024_five_jobs.zip")
NURSES, TEACHERS, DEVELOPERS, ACCOUNTANTS, LABORERS = "3255", "2310", "1021", "0800", "6260"
AGED = {NURSES: 15645, TEACHERS: 13437, DEVELOPERS: 10016, ACCOUNTANTS: 6543, LABORERS: 7223}
TAKEN = {NURSES: 13821, TEACHERS: 12002, DEVELOPERS: 8902, ACCOUNTANTS: 5764, LABORERS: 3850}
PAPER = {NURSES: 17632, TEACHERS: 16188, DEVELOPERS: 13370, ACCOUNTANTS: 7784, LABORERS: 5910}


@pytest.fixture(scope="module")
def people() -> pd.DataFrame:
    raw = pd.read_csv(FILE, dtype=str, keep_default_na=False)
    return raw[raw["ESR"].isin(["1", "2"]) & raw["AGEP"].astype(int).between(18, 44)]


def test_shipped_people_by_job(people: pd.DataFrame) -> None:
    assert len(people) == 52_864
    assert people["OCCP"].value_counts().to_dict() == AGED


def test_shipped_people_of_the_published_races_and_education(people: pd.DataFrame) -> None:
    schooled = people["SCHL"].astype(int) >= 16
    raced = people["RAC1P"].isin(["1", "2", "6", "7"])
    assert people[schooled & raced]["OCCP"].value_counts().to_dict() == TAKEN
    assert sum(TAKEN.values()) == 44_339
    # What explains few laborers: education and race take 47% of them, and 17% of everybody else.
    laborers = people["OCCP"] == LABORERS
    assert (schooled & raced)[laborers].mean() == pytest.approx(0.533, abs=5e-4)
    assert (schooled & raced)[~laborers].mean() == pytest.approx(0.887, abs=5e-4)


def test_the_package_reads_and_maps_the_same_people() -> None:
    """Through the reader and the published preset's own maps: another way to the same counts."""
    population = load(resources.path("conf", "audits", "published.yml")).population
    races = [code for codes in population.races.values() for code in codes]
    levels = [code for codes in population.education.values() for code in codes]
    job = {code: key for key, settings in population.jobs.items() for code in settings.occp}
    aged, taken = Counter[str](), Counter[str]()
    for member in inspect(FILE):
        for batch in batches(member):
            inside = pc.is_in(batch["esr"], value_set=pc.cast(list(population.esr), "string"))
            rows = batch.filter(inside).to_pandas()
            rows = rows[rows["age"].between(population.age_min, population.age_max)]
            aged.update(rows["occp"].map(job))
            taken.update(
                rows[rows["rac1p"].isin(races) & rows["schl"].isin(levels)]["occp"].map(job)
            )
    assert aged == {job[code]: n for code, n in AGED.items()}
    assert taken == {job[code]: n for code, n in TAKEN.items()}


def test_the_paper_s_sizes() -> None:
    paper = published()
    assert {occp[0]: people for occp, _, people in paper.jobs} == PAPER
    assert paper.total == 60_884


def test_the_kept_table_holds_these_counts() -> None:
    text = Path(__file__).parent.with_name("bench").joinpath("published_population.txt").read_text()
    first = text[: text.index("Everybody with an occupation")]
    for row, counts in (("paper", PAPER), ("age only", AGED), ("age, education, race", TAKEN)):
        line = next(x for x in first.splitlines() if x.startswith(f"{row}  "))
        shown = [int(n.replace(",", "")) for n in line.removeprefix(row).split()]
        assert shown == [*counts.values(), sum(counts.values())]
