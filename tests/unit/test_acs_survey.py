"""The person files of one call together: pooled years, contents and people given twice."""

from __future__ import annotations

import io
from pathlib import Path

import pandas as pd
import pytest

from acs_files import FIVE_YEARS, REPLICATES, five_year_members, person, text, write, zipped
from fairscreen.errors import InputError
from fairscreen.sources.acs_reader import batches
from fairscreen.sources.acs_survey import Survey, survey_files
from fairscreen.sources.acs_verify import verify

OFFICIAL = "Give the person zip as the Census Bureau ships it (such as csv_pwy.zip)."


def surveys(found: Survey) -> list[tuple[int, int]]:
    return [f.member.survey for f in found[0]]


def years(*found: int, letters: str = "HU") -> list[dict[str, str]]:
    return [person(SERIALNO=f"{year}{letters}{i:07d}") for i, year in enumerate(found)]


@pytest.fixture(scope="module")
def national(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("national")
    return write(folder / "csv_pus.zip", {**five_year_members(), "README.pdf": "%PDF"})


@pytest.fixture(scope="module")
def people(national: Path) -> pd.DataFrame:
    """The same people straight from the CSV text, nothing of ours in between."""
    parts = [pd.read_csv(io.StringIO(t), dtype=str) for t in five_year_members().values()]
    return pd.concat(parts, ignore_index=True)


def test_a_national_five_year_file(national: Path, people: pd.DataFrame) -> None:
    files, _ = survey_files([national])
    assert [f.member.member for f in files] == [f"psam_pus{x}.csv" for x in "abcd"]
    # Member d holds 2020 only; the zip tells that it is of five years.
    assert files[3].scan.years == {2020}
    assert {f.member.survey for f in files} == {(2022, 5)}
    assert sum(f.scan.rows for f in files) == len(people)
    got = pd.concat(
        b.to_pandas() for f in files for b in batches(f.member, sha256=f.scan.sha256)
    ).reset_index(drop=True)
    assert set(got["vintage"]) == {2022}
    assert set(got["period"]) == {5}
    last = people["SERIALNO"].str.startswith(str(FIVE_YEARS[-1]))
    assert got["puma"].tolist() == people["PUMA20"].where(last, people["PUMA10"]).tolist()
    assert got["serialno"].tolist() == people["SERIALNO"].tolist()
    assert got["relationship"].tolist() == people["RELSHIPP"].tolist()
    weights = people[REPLICATES].astype(int).to_numpy().tolist()
    assert [list(w) for w in got["replicate_weights"]] == weights


def test_its_totals_and_errors(national: Path, people: pd.DataFrame) -> None:
    """Every row of `verify` once more, in pandas, from the text of the CSV."""
    numbers = people[["PWGTP", *REPLICATES]].astype(int)
    age, sex, quarters = people["AGEP"].astype(int), people["SEX"], people["RELSHIPP"].astype(int)
    masks = {
        "Total population": age >= 0,
        "Housing unit population (RELSHIPP=20-36)": quarters <= 36,
        "GQ population (RELSHIPP=37-38)": quarters >= 37,
        "GQ institutional population (RELSHIPP=37)": quarters == 37,
        "GQ noninstitutional population (RELSHIPP=38)": quarters == 38,
        "Total males (SEX=1)": sex == "1",
        "Total females (SEX=2)": sex == "2",
        "Age 85 and over": age >= 85,
    }
    for row in (ages := [*range(0, 25, 5), 25, 35, 45, 55, 60, 65, 75, 85])[:-1]:
        end = ages[ages.index(row) + 1]
        masks[f"Age {row}-{end - 1}"] = (age >= row) & (age < end)
    rows = verify([national])
    assert [(r.state, r.vintage, r.period) for r in rows[::20]] == [
        ("all", 2022, 5), ("50", 2022, 5), ("56", 2022, 5),
    ]  # fmt: skip
    assert {r.characteristic for r in rows} == set(masks)
    for row in rows:
        here = masks[row.characteristic]
        if row.state != "all":
            here = here & (people["ST"] == row.state)
        sums = numbers[here].sum()
        error = (4 / 80 * ((sums[REPLICATES] - sums["PWGTP"]) ** 2).sum()) ** 0.5
        assert row.estimate == sums["PWGTP"]
        assert row.std_error == pytest.approx(error)


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        (years(2019, 2018, 2022, 2020, 2021), (2022, 5)),
        ([*years(*range(2018, 2022)), person(SERIALNO="2017000000016")], (2021, 5)),
        ([person(SERIALNO=f"{y}000000016", ST="01") for y in range(2012, 2017)], (2016, 5)),
        ([person(SERIALNO=f"{y}000000016", ST="01") for y in (2005, 2006, 2007)], (2007, 3)),
        (years(2018), (2018, 1)),
    ],
    ids=["mixed", "2017 beside later", "before 2017", "three years", "one"],
)
def test_pooled_years_are_found(
    tmp_path: Path, rows: list[dict[str, str]], expected: tuple[int, int]
) -> None:
    found = survey_files([zipped(tmp_path / "a.zip", *rows)])
    assert surveys(found) == [expected]
    (file,) = found[0]
    (batch,) = batches(file.member, sha256=file.scan.sha256)
    assert set(batch.column("vintage").to_pylist()) == {expected[0]}


def test_years_that_are_no_file_of_the_bureau(tmp_path: Path) -> None:
    for found in ((2018, 2020), (2014, 2015, 2016), (2015, 2018, 2022)):
        rows = years(*found)
        path = zipped(tmp_path / "a.zip", *rows)
        with pytest.raises(InputError) as caught:
            survey_files([path])
        assert str(caught.value) == (
            f"{path}, psam_p56.csv, line 3, column SERIALNO: is of {found[1]}, but the vintage is "
            f"{found[0]}. Give a 1-year file, or a pooled file with all its years."
        )


def test_a_year_given_by_hand(tmp_path: Path) -> None:
    pooled = zipped(tmp_path / "a.zip", *years(*range(2018, 2023)))
    assert surveys(survey_files([pooled], vintage=2022)) == [(2022, 5)]
    one = zipped(tmp_path / "c.zip", *years(2018, 2018))
    assert surveys(survey_files([one], vintage=2018)) == [(2018, 1)]
    old = zipped(tmp_path / "b.zip", person(SERIALNO="0000012"))
    assert surveys(survey_files([old], vintage=2014)) == [(2014, 1)]
    for path, vintage, is_of, last in (
        (pooled, 2023, "2018 to 2022", 2022), (pooled, 2020, "2018 to 2022", 2022),
        (one, 2022, "2018", 2018), (one, 2017, "2018", 2018),
    ):  # fmt: skip
        with pytest.raises(InputError) as caught:
            survey_files([path], vintage=vintage)
        assert str(caught.value) == (
            f"{path}, psam_p56.csv: is of {is_of} by its SERIALNO, but the vintage given is "
            f"{vintage}. Leave --vintage out: it is {last}."
        )
    with pytest.raises(InputError, match=r"line 2, column SERIALNO: is of 2018, but the vintage"):
        survey_files([zipped(tmp_path / "d.zip", *years(2018, 2020))], vintage=2023)


def test_a_pool_lacks_no_year(tmp_path: Path) -> None:
    """Whatever the state, the Bureau's file of five years holds people of each."""
    for found, vintage, has, lacks in (
        ((2014, 2018), None, "2014 and 2018", "2015, 2016 and 2017"),
        ((2018, 2019, 2021, 2022), None, "2018, 2019, 2021 and 2022", "2020"),
        ((2018, 2020), 2022, "2018 and 2020", "2019, 2021 and 2022"),
    ):
        path = zipped(tmp_path / "a.zip", *years(*found))
        with pytest.raises(InputError) as caught:
            survey_files([path], vintage=vintage)
        assert str(caught.value) == (
            f"{path}: pools people of {has}, but holds nobody of {lacks}. Give the 5-year file as "
            "the Census Bureau ships it, or files of one year each."
        )
    members = {f"psam_pus{y}.csv": text(years(y, y + 1)) for y in (2018, 2020)}
    members["psam_pusd.csv"] = text(years(2022))
    found = survey_files([write(tmp_path / "b.zip", members)])  # together they have all
    assert set(surveys(found)) == {(2022, 5)}


def test_the_fault_of_a_pooled_file_is_named_and_not_its_years(tmp_path: Path) -> None:
    rows = [*years(*range(2018, 2023)), person(SERIALNO="2020HU0000009", AGEP="old")]
    path = zipped(tmp_path / "a.zip", *rows)
    for vintage in (None, 2022):
        with pytest.raises(InputError, match=r"line 7, column AGEP: 'old' is not a whole number"):
            survey_files([path], vintage=vintage)


def test_two_one_year_members_in_a_zip_stay_apart(tmp_path: Path) -> None:
    members = {"psam_p56.csv": text(years(2018)), "psam_p50.csv": text(years(2019))}
    assert surveys(survey_files([write(tmp_path / "a.zip", members)])) == [(2019, 1), (2018, 1)]


@pytest.mark.parametrize(("old", "new"), [("-0009", "-0009"), ("00100", "00200"), ("00100", "")])
def test_exactly_one_puma_applies(tmp_path: Path, old: str, new: str) -> None:
    rows = [person(PUMA=None, PUMA10="00100", PUMA20="-9"),
            person(PUMA=None, PUMA10=old, PUMA20=new, SPORDER="02")]  # fmt: skip
    path = zipped(tmp_path / "a.zip", *rows)
    with pytest.raises(InputError) as caught:
        survey_files([path])
    assert str(caught.value) == (
        f"{path}, psam_p56.csv, line 3, column PUMA10: holds '{old}' and PUMA20 '{new}'; exactly "
        f"one of the two must be -0009. {OFFICIAL}"
    )


def test_occupations_in_several_classifications_are_refused(tmp_path: Path) -> None:
    path = zipped(tmp_path / "a.zip", person(OCCP=None, OCCP10="N.A.", OCCP12="3255"))
    with pytest.raises(InputError) as caught:
        survey_files([path])
    assert str(caught.value) == (
        f"{path}, psam_p56.csv: gives occupations in columns OCCP10 and OCCP12, in codes of "
        "different years, not in one column OCCP. Give a 1-year file, or the 5-year file of 2012 "
        "to 2016 or a later one."
    )


def test_a_person_is_in_the_one_year_and_in_the_five_year_file(tmp_path: Path) -> None:
    one = zipped(tmp_path / "one.zip", *years(2022, 2022))
    rest = range(2018, 2022)
    five = zipped(tmp_path / "five.zip", *reversed(years(2022, 2022, *rest)))
    assert surveys(survey_files([one, five])) == [(2022, 1), (2022, 5)]
    other = zipped(tmp_path / "other.zip", *years(2022, *rest))
    with pytest.raises(InputError) as caught:
        survey_files([one, five, other])
    assert str(caught.value) == (
        f"{other}, psam_p56.csv: 1 of its people {five}, psam_p56.csv holds already, for vintage "
        "2022 (5-year) (first: SERIALNO 2022HU0000000, SPORDER 01). Nothing was written. Give the "
        "national file or the files of states, not both."
    )


def test_nothing_given() -> None:
    with pytest.raises(InputError) as caught:
        survey_files([])
    assert str(caught.value) == ("acs: no file was given. Give the path of at least one PUMS zip.")


def test_same_content_twice_counts_once(tmp_path: Path) -> None:
    a, b = zipped(tmp_path / "a.zip", person()), zipped(tmp_path / "b.zip", person())
    files, twice = survey_files([a, b, a])
    assert [f.member.label for f in files] == ["a.zip/psam_p56.csv"]
    assert [f.member.label for f in twice] == ["b.zip/psam_p56.csv", "a.zip/psam_p56.csv"]


def test_same_person_in_two_files_is_refused(tmp_path: Path) -> None:
    state = zipped(tmp_path / "state.zip", person())
    nation = zipped(tmp_path / "nation.zip", person(SPORDER="02"), person())
    with pytest.raises(InputError) as caught:
        survey_files([nation, state])
    assert str(caught.value) == (
        f"{state}, psam_p56.csv: 1 of its people {nation}, psam_p56.csv holds already, for vintage "
        "2018 (first: SERIALNO 2018HU0000001, SPORDER 01). Nothing was written. Give the national "
        "file or the files of states, not both."
    )


def test_other_vintage_or_state_is_no_overlap(tmp_path: Path) -> None:
    a = zipped(tmp_path / "a.zip", person())
    b = zipped(tmp_path / "b.zip", person(SERIALNO="2019HU0000001"))
    c = zipped(tmp_path / "c.zip", person(ST="50", SERIALNO="2018HU0000002"))
    assert len(survey_files([a, b, c])[0]) == 3
