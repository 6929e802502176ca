"""Small real inputs of the population station, as pandas frames with the bronze columns.

ACS, SSA and Census rows come from the files that ship with the package; the PSID rows are made up
here by a stated formula, since no PSID record may be passed on.
"""

from __future__ import annotations

import zipfile
from functools import cache

import numpy as np
import pandas as pd

from fairscreen import config, random, resources
from fairscreen.population import domain, experience, naming, rows
from fairscreen.population import generator as gen

DEMO = resources.path("conf", "audits", "demo.yml")


def demo(*overrides: str) -> config.Config:
    return config.load(DEMO, overrides)


@cache
def acs(every: int = 1) -> pd.DataFrame:
    """Every k-th person of the shipped 2024 file of five occupations."""
    file = resources.path("conf", "data", "acs_2024_five_jobs.zip")
    with zipfile.ZipFile(file) as z:
        raw = pd.read_csv(z.open(z.namelist()[0]), dtype=str, keep_default_na=False)
    raw = raw.iloc[::every].replace({"": None})
    return pd.DataFrame(
        {
            "vintage": 2024,
            "serialno": raw["SERIALNO"],
            "sporder": raw["SPORDER"],
            "state": raw["STATE"],
            "age": raw["AGEP"].astype(int),
            "sex": raw["SEX"],
            "rac1p": raw["RAC1P"],
            "hisp": raw["HISP"],
            "schl": raw["SCHL"],
            "esr": raw["ESR"],
            "occp": raw["OCCP"],
            "pwgtp": raw["PWGTP"].astype(int),
        }
    ).reset_index(drop=True)


@cache
def ssa(first: int = 1980, last: int = 2006) -> pd.DataFrame:
    with zipfile.ZipFile(resources.path("conf", "data", "ssa_national_names.zip")) as z:
        years = [
            pd.read_csv(
                z.open(f"yob{year}.txt"),
                names=["name", "sex", "births"],
                keep_default_na=False,
                dtype={"name": str, "sex": str},
            ).assign(birth_year=year)
            for year in range(first, last + 1)
        ]
    rows = pd.concat(years, ignore_index=True).assign(source_sha256="test")
    return rows[["birth_year", "sex", "name", "births", "source_sha256"]]


@cache
def surnames() -> pd.DataFrame:
    with zipfile.ZipFile(resources.path("conf", "data", "census_2010_surnames.zip")) as z:
        raw = pd.read_csv(z.open("Names_2010Census.csv"), dtype=str, keep_default_na=False)
    columns = {
        "pctwhite": "pct_white", "pctblack": "pct_black", "pctapi": "pct_asian_pacific",
        "pctaian": "pct_native", "pct2prace": "pct_two_or_more", "pcthispanic": "pct_hispanic",
    }  # fmt: skip
    out = raw[["name"]].assign(bearers=raw["count"].astype(int), source_sha256="test")
    for theirs, ours in columns.items():
        out[ours] = pd.to_numeric(raw[theirs].replace({"(S)": None}))
    return out


@cache
def psid(n: int = 1500) -> pd.DataFrame:
    """Years worked = 0.85 (age - 18) - 0.5 (schooling - 12) - 1 (women) + normal noise of SD 2."""
    rng = np.random.default_rng(1)
    codes = ["3255", "2310", "1020", "0800", "6260", "9999", "4700"]
    age = rng.integers(18, 60, n)
    school = rng.choice([10, 12, 13, 14, 16, 17], n)
    female = rng.integers(0, 2, n)
    worked = 0.85 * (age - 18) - 0.5 * (school - 12) - female + rng.normal(0, 2, n)
    return pd.DataFrame(
        {
            "wave": rng.choice([2019, 2021], n),
            "person_1968": np.arange(n),
            "person_number": 1,
            "age": age,
            "gender": np.where(female == 1, "female", "male"),
            "race_code": rng.choice([1, 1, 1, 2, 4, 7], n),
            "education_years": school,
            "occp_2010": rng.choice(codes, n),
            "state": rng.choice(["06", "36", "48", "17"], n),
            "years_worked": np.clip(np.rint(worked), 0, age - 18).astype(int),
            "weight": rng.uniform(0.5, 2, n),
            "hispanic": rng.choice([True, False, None], n, p=[0.15, 0.8, 0.05]),
            "synthetic": True,
            "source_sha256": "test",
        }
    )


def cells(cfg: config.Config, every: int = 1) -> pd.DataFrame:
    """The survey counted as the generator wants it, in plain pandas."""
    settings = cfg.population
    rows = acs(every)
    of = {
        name: {code: key for key, codes in groups.items() for code in codes}
        for name, groups in (("rac1p", settings.races), ("schl", settings.education))
    }
    race = rows["rac1p"].map(of["rac1p"])
    if settings.hispanic == "own_group":
        race = race.mask(rows["hisp"] != "01", "hispanic")
    if settings.hispanic == "excluded":
        race = race.mask(rows["hisp"] != "01")
    job = {code: key for key, j in settings.jobs.items() for code in j.occp}
    out = pd.DataFrame(
        {
            "job": rows["occp"].map(job),
            "gender": rows["sex"].map({"1": "male", "2": "female"}),
            "race": race,
            "age": rows["age"],
            "state": rows["state"],
            "edu_level": rows["schl"].map(of["schl"]),
            "weight": rows["pwgtp"],
        }
    )
    employed = rows["esr"].isin(settings.esr)
    aged = rows["age"].between(settings.age_min, settings.age_max)
    keys = ["job", "gender", "race", "age", "state", "edu_level"]
    grouped = out[employed & aged].dropna().groupby(keys)["weight"]
    return grouped.agg(people="count", weight="sum").reset_index()


@cache
def generator(*overrides: str) -> tuple[config.Config, gen.Generator]:
    """A fitted generator of the demo with overrides, on every fifth surveyed person."""
    cfg = demo(*overrides)
    settings = cfg.population
    axes = domain.from_settings(settings)
    year = int(cfg.documents.as_of[:4])
    first = naming.first_names(
        ssa(), settings.first_names, years=(year - settings.age_max, year - settings.age_min)
    )
    last = naming.surnames(surnames(), settings.race_labels, threshold=settings.surname_threshold)
    counted = cells(cfg, 5)
    exp = experience.fit(psid(), settings, axes, counted)
    return cfg, gen.fit(counted, cfg, axes, exp, first, last)


def simulate(cfg: config.Config, generator: gen.Generator, job: str, n: int) -> pd.DataFrame:
    """n rows of table applicants, made as the workers make them."""
    ids = np.array([f"{job}-{i:07d}" for i in range(n)], dtype=object)
    u = random.uniforms(generator.seed, "applicant/z", ids.tolist())
    z = gen.draw_z(generator, job, np.arange(n), u)
    people = rows.People(ids, *z, ids, None)
    stamp = rows.Stamp(cfg.audit_id, "balanced", 2024)
    batch = rows.complete(generator, job, people, stamp, rows.arrow_schema("applicants"))
    return batch.to_pandas()
