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


# Employed (ESR 1, 2), aged 18 to 44, in ACS 2024 1-year files of 48 states and DC (no CA, TX):
# records by OCCP, counted in the files behind acs_2024_five_jobs.zip.
TOP_2024 = {
    "0440": 16_499, "3255": 15_645, "2310": 13_437, "4720": 12_129, "5240": 11_910, "4760": 11_860,
    "4700": 11_308, "9130": 11_175, "9620": 10_651, "1021": 10_016, "4110": 9_744, "4020": 8_428,
    "9645": 7_959, "2545": 7_856, "4220": 7_498, "6260": 7_223, "0800": 6_543, "5740": 6_226,
    "8990": 5_933, "3603": 5_837, "5400": 5_669, "0120": 5_622, "2320": 5_327, "0020": 5_286,
}  # fmt: skip


def test_five_of_the_twenty_largest_of_2024() -> None:
    counts = [jobs.Counted(code, n, n) for code, n in TOP_2024.items()]
    wanted = Select(largest=20, draw=5)
    seed = inputs.demo().seed
    chosen = jobs.select(counts, wanted, selection.shipped(), seed=seed, vintage=2024)
    assert [f["code"] for f in chosen.detail["ranked"]] == list(TOP_2024)[:20]
    # The draw of the default seed: changes only if hashing does.
    assert {key: job.occp for key, job in chosen.jobs.items()} == {
        "retail_supervisors": ("4700",), "cooks": ("4020",), "stockers": ("9645",),
        "teaching_assistants": ("2545",), "production_workers": ("8990",),
    }  # fmt: skip
    # Every one of the twenty has people in PSID by the crosswalk.
    everyone = jobs.select(counts, Select(largest=20), selection.shipped(), seed=1, vintage=2024)
    concrete = jobs.concrete(everyone.jobs, 2024).jobs
    assert all(job.psid_occp for job in concrete.values())
