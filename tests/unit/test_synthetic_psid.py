"""The synthetic extract: made again to the byte, and of the shape that its README gives."""

from __future__ import annotations

import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from fairscreen import resources
from fairscreen.sources import psid, synthetic_psid


@pytest.fixture(scope="module")
def shipped() -> psid.Extract:
    return psid.read(resources.resolve("bundled:psid_synthetic.zip"))


@pytest.fixture(scope="module")
def people(shipped: psid.Extract) -> pd.DataFrame:
    return shipped.rows.to_pandas()


def test_the_script_makes_the_shipped_files_to_the_byte(tmp_path: Path):
    out = tmp_path / "again.zip"
    assert synthetic_psid.main([str(out)]) == 0
    # Not the zips: they may differ with the version of zlib.
    shipped = resources.resolve("bundled:psid_synthetic.zip")
    with zipfile.ZipFile(out) as again, zipfile.ZipFile(shipped) as there:
        assert again.namelist() == there.namelist()
        for name in there.namelist():
            assert again.read(name) == there.read(name), name
    assert shipped.stat().st_size < 1_500_000


def test_it_has_the_size_of_a_real_one_and_says_what_it_is(shipped: psid.Extract):
    assert shipped.synthetic
    assert shipped.records == 28_477
    with zipfile.ZipFile(resources.resolve("bundled:psid_synthetic.zip")) as package:
        assert package.read("README_SYNTHETIC.md").startswith(b"SYNTHETIC - NOT PSID DATA")
        lines = package.read("J999999.txt").splitlines()
    keys = [(int(line[1:5]), int(line[5:8])) for line in lines]
    assert keys == sorted(set(keys))
    samples = ((1, 2930), (5001, 6872), (3001, 3511), (4001, 4851))
    assert all(any(a <= home <= b for a, b in samples) for home, _ in keys)
    # There when the sample began, born into it, moved in.
    assert all(1 <= n <= 19 or 30 <= n <= 169 or 170 <= n <= 226 for _, n in keys)


def test_families_of_a_wave():
    columns = synthetic_psid.records()
    for interview, sequence, relation, count in (
        ("ER34701", "ER34702", "ER34703", 9_570),
        ("ER34901", "ER34902", "ER34903", 9_210),
    ):
        rows = list(zip(*(columns[n] for n in (interview, sequence, relation)), strict=True))
        there = [(i, s, r) for i, s, r in rows if i]
        assert len({i for i, _, _ in there}) == count
        assert sum((s, r) == (1, 10) for _, s, r in there) == count
        assert len({(i, s) for i, s, _ in there}) == len(there)  # nobody shares a place
        assert all(s == r == 0 for i, s, r in rows if not i)
        assert {r for _, _, r in there} >= {10, 20, 22, 30, 33, 40, 60, 98}


def test_the_people_with_a_main_job_are_plausible(people: pd.DataFrame):
    assert set(people["wave"]) == {2019, 2021}
    adults = (9_570 + 9_210) * 1.5
    assert 0.6 < len(people) / adults < 0.75
    assert people["age"].dropna().between(17, 86).all()
    both = people.dropna(subset=["years_worked_answered", "years_full_time"])
    assert (both["years_full_time"] <= both["years_worked_answered"]).mean() > 0.99
    for column in ("age", "race_code", "education_years", "occp_2010", "years_worked"):
        assert 0 < people[column].isna().mean() < 0.05
    five = people[people["age"].between(18, 44)].groupby(["wave", "occp_2010"]).size()
    for wave in (2019, 2021):
        for code in ("3255", "2310", "1020", "0800", "6260"):
            assert 50 <= five[wave, code] <= 180
    assert people["occp_2010"].nunique() > 400
    men = people.groupby("occp_2010")["gender"].agg(lambda g: (g == "male").mean())
    assert men["3255"] < 0.2 < men["0800"] < 0.6 < men["1020"] < men["6260"]


def test_the_oversample_shows_in_the_weights(people: pd.DataFrame):
    black = (people["race_code"] == 2).astype(float)
    assert 0.35 <= black.mean() <= 0.40
    assert 0.13 <= np.average(black, weights=people["weight"]) <= 0.15
    assert people["weight"].std() > 0.5 * people["weight"].mean()


def test_years_worked_are_carried_forward_and_brought_up_to_date(people: pd.DataFrame):
    known = people.dropna(subset=["age", "years_worked"])
    grown = known[(known["age"] >= 18) & known["years_worked_asked"].notna()]
    assert (grown["years_worked"] <= grown["age"] - 18).all()
    young, old = (known[known["age"].between(a, a + 3)] for a in (22, 36))
    # As answered: no more at 36 than at the wave of asking. Up to date: it grows with age.
    assert young["years_worked"].mean() + 8 < old["years_worked"].mean()
    assert old["years_worked_answered"].mean() < 6
    assert young["years_worked"].std() < old["years_worked"].std()


def test_usage_is_said_without_an_argument(capsys: pytest.CaptureFixture[str]):
    assert synthetic_psid.main([]) == 2
    usage = "usage: python -m fairscreen.sources.synthetic_psid OUT.zip\n"
    assert capsys.readouterr().err == usage
