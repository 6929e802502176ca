"""Names of other sources: the SSA's state files, and lists that a user brings."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pandas as pd
import pytest

from fairscreen.errors import InputError
from fairscreen.sources import names, ssa_states

STATE_REMEDY = (
    " Download namesbystate.zip (state-specific data) from the SSA's baby names page again."
)
ALASKA = "AK,F,1910,Mary,14\r\nAK,M,1910,John,8\r\nAK,F,1911,Mary,5\r\n"


def zipped(folder: Path, members: dict[str, str]) -> Path:
    out = folder / "namesbystate.zip"
    with zipfile.ZipFile(out, "w") as archive:
        for name, text in members.items():
            archive.writestr(name, text)
    return out


def first(path: Path) -> list[dict[str, object]]:
    return [row for part in names.read_first_names(path) for row in part.to_pylist()]


def csv(folder: Path, text: str, name: str = "mine.csv") -> Path:
    out = folder / name
    out.write_text(text, encoding="utf-8")
    return out


# --- SSA by state


def test_states_are_summed_and_what_each_hides_is_counted(tmp_path: Path) -> None:
    members = {"AK.TXT": ALASKA, "al.txt": "AL,F,1910,Mary,10\n", "StateReadMe.pdf": "x"}
    path = zipped(tmp_path, members)
    assert names.first_name_kind(path) == "ssa_by_state"
    found = [(r["birth_year"], r["sex"], r["name"], r["births"]) for r in first(path)]
    assert found == [(1910, "F", "Mary", 24), (1910, "M", "John", 8), (1911, "F", "Mary", 5)]
    assert [r["hidden_births"] for r in first(path)] == [0, 4, 4]  # no row of Alabama
    assert {r["hidden_if_absent"] for r in first(path)} == {8}
    assert {r["source_kind"] for r in first(path)} == {"ssa_by_state"}


def test_one_state_alone_needs_no_zip(tmp_path: Path) -> None:
    rows = first(csv(tmp_path, "\ufeff" + ALASKA, "AK.TXT"))
    assert [r["births"] for r in rows] == [14, 8, 5]
    assert {r["hidden_if_absent"] for r in rows} == {4}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("AK,F,1910,Mary\n", "line 1: 'AK,F,1910,Mary' is not of the form AK,F,1910,Mary,14."),
        (ALASKA + "AL,F,1910,Ann,9\n", "line 4: state is 'AL', not AK."),
        (ALASKA + "AK,F,191,Ann,9\n", "line 4: birth year '191' is not between 1880 and 2100."),
        (ALASKA + "AK,F,1870,Ann,9\n", "line 4: birth year '1870' is not between 1880 and 2100."),
        (ALASKA + "AK,X,1910,Ann,9\n", "line 4: sex is 'X', not F or M."),
        (ALASKA + "AK,F,1910,Ann,4\n", "line 4: 4 births; the SSA publishes 5 or more."),
        (ALASKA + "AK,F,1910,Mary,9\n", "line 4: AK,F,1910,Mary stands already in line 1."),
    ],
)
def test_a_bad_line_of_a_state_is_named(tmp_path: Path, text: str, message: str) -> None:
    path = zipped(tmp_path, {"AK.TXT": text})
    with pytest.raises(InputError) as caught:
        first(path)
    assert str(caught.value) == f"{path}, member AK.TXT, {message}{STATE_REMEDY}"


def test_a_state_twice_and_a_zip_of_neither_kind(tmp_path: Path) -> None:
    path = zipped(tmp_path, {"AK.TXT": ALASKA, "b/AK.TXT": ALASKA})
    with pytest.raises(InputError, match=r"holds state AK twice \(AK\.TXT and b/AK\.TXT\)"):
        ssa_states.inspect(path)
    with pytest.raises(InputError, match="holds no yobYYYY"):
        names.inspect_first_names(zipped(tmp_path, {"readme.txt": "x"}))


# --- a list of first names


def test_a_list_with_and_without_birth_years(tmp_path: Path) -> None:
    path = csv(tmp_path, "\ufeffGender;NAME;Count;note\nFemale;O’HARA;3;x\nm;Zoe\u0301;1;\n")
    assert first(path) == [
        {"birth_year": None, "sex": "F", "name": "O'HARA", "births": 3, "hidden_births": 0,
         "hidden_if_absent": 0, "source_kind": "own_list"},
        {"birth_year": None, "sex": "M", "name": "Zoé", "births": 1, "hidden_births": 0,
         "hidden_if_absent": 0, "source_kind": "own_list"},
    ]  # fmt: skip
    frame = pd.DataFrame({"name": ["Ann", "Ann"], "sex": ["F", "F"], "births": [7, 8]})
    frame.assign(birth_year=[1990, 1991]).to_parquet(tmp_path / "a.parquet")
    rows = first(tmp_path / "a.parquet")
    assert [(r["birth_year"], r["births"]) for r in rows] == [(1990, 7), (1991, 8)]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("name,count\nAnn,3\n", ": column gender or sex missing; it has name, count. Name the "
         "columns so in the file's first line."),
        ("name,gender,count\nAnn,F,3\n,F,3\n", ", line 3, name: is empty. Give a name."),
        ("name,gender,count\nA\u200bn,F,3\n", ", line 2, name: 'A\\u200bn' holds the character "
         "U+200B. Give a name."),
        ("name,gender,count\nAnn,woman,3\n", ", line 2, gender: 'woman' is not female or male (F "
         "or M). Correct the cell."),
        ("name,gender,count\nAnn,,3\n", ", line 2, gender: '' is not female or male (F or M). "
         "Correct the cell."),
        ("name,gender,count\nAnn,F,0\n", ", line 2, count: '0' is not a whole number above 0. "
         "Correct the count, or remove the row."),
        ("name,gender,count\nAnn,F,1.5\n", ", line 2, count: '1.5' is not a whole number above 0. "
         "Correct the count, or remove the row."),
        ("name,gender,count\nANN,F,1\nBo,M,2\nAnn,f,1\n", ", line 4, name: Ann, F stands already "
         "in line 2. Add the two rows up, or remove one."),
        ("name,gender,count,year\nAnn,F,1,1990\nBo,M,1,\n", ", line 3, year: '' is not a year "
         "between 1880 and 2100. Give every row its year, or leave the column out."),
        ("name,gender,count,year\nAnn,F,1,2101\n", ", line 2, year: '2101' is not a year between "
         "1880 and 2100. Give every row its year, or leave the column out."),
        ("name,gender,count\nAnn,F,2147483648\n", ", line 2, count: 2147483648 is above "
         "2,147,483,647. Correct the count."),
        ("name,gender,count,NAME\nAnn,F,3,Bo\n", ", name: is the name of two columns, 'name' and "
         "'NAME'. Rename one."),
        ('name,gender,count\n"Ann\n",F,3\n', ", line 3, name: 'Ann\\n' holds a line break. Look "
         "for a quotation mark that is missing."),
        (f"name,gender,count\nAnn,F,1\n{101 * 'a'},F,3\n", ", line 3, name: has 101 letters; a "
         "name has 100 at most. Give a name."),
        ("name,gender,count\n", ": holds no rows. Give a file with one row per name."),
    ],
)  # fmt: skip
def test_a_bad_list_of_first_names_is_named(tmp_path: Path, text: str, message: str) -> None:
    path = csv(tmp_path, text)
    with pytest.raises(InputError) as caught:
        names.inspect_first_names(path)
    assert str(caught.value) == f"{path}{message}"


# --- a list of surnames


def test_percentages_by_either_name_and_counts_by_race(tmp_path: Path) -> None:
    wide = csv(
        tmp_path,
        "Name,COUNT,pct_white,pctblack,pcthispanic\nGARCÍA,90,5,(S),92.5\nLee,10,,1,2\n"
        "ALL OTHER NAMES,900,60,10,20\n",
    )
    found = names.read_surnames(wide)
    assert (found.left_out, found.suppressed_cells, found.rarer_bearers) == (1, 2, 900)
    rows = found.rows.to_pylist()
    assert [(r["name"], r["pct_white"], r["pct_black"]) for r in rows] == [
        ("GARCÍA", 5.0, None),
        ("Lee", None, 1.0),
    ]
    assert rows[0]["pct_hispanic"] == 92.5
    assert rows[0]["pct_native"] is None
    long = csv(tmp_path, "surname,race,bearers\nGarcía,Hispanic,90\nGarcía,white,10\nLee,black,4\n")
    rows = names.read_surnames(long).rows.to_pylist()
    assert [(r["name"], r["bearers"], r["pct_hispanic"], r["pct_white"]) for r in rows] == [
        ("García", 100, 90.0, 10.0),
        ("Lee", 4, 0.0, 0.0),
    ]


WIDE = "name,count,pct_white,pct_black,pct_asian_pacific,pct_native,pct_two_or_more,pct_hispanic\n"


def test_shares_of_one_are_told_by_the_largest_cell(tmp_path: Path) -> None:
    rows = "Lee,3,0.60,0.31,0.04,0.03,0.02,0.01\nDoe,4,0.5,0.5,0,0,0,0\n"  # Lee rounds to 1.01
    found = names.read_surnames(csv(tmp_path, WIDE + rows))
    assert found.shares
    assert found.rows["pct_white"].to_pylist() == [60.0, 50.0]
    assert names._surname_notes(found) == [
        "The file gives shares of 1, not percent: they were taken times 100."
    ]
    percent = names.read_surnames(csv(tmp_path, WIDE + "Lee,3,60,31,4,3,2,1\n"))
    assert (percent.shares, percent.rows["pct_white"].to_pylist()) == (False, [60.0])
    # A row that does not tell everything may be below.
    part = names.read_surnames(csv(tmp_path, WIDE + "Lee,3,60,,(S),3,2,1\nDoe,4,50,50,0,0,0,0\n"))
    assert (part.shares, part.suppressed_cells) == (False, 2)


def test_spaces_around_a_number_do_not_matter(tmp_path: Path) -> None:
    path = csv(tmp_path, "name,gender,count,year\nAnn, F,3 , 1990\nBo,M , 4,1991 \n")
    assert [(r["births"], r["birth_year"]) for r in first(path)] == [(3, 1990), (4, 1991)]
    path = csv(tmp_path, "name,count,pct_white\nLee, 3 , 90 \n")
    assert names.read_surnames(path).rows.to_pylist()[0]["pct_white"] == 90.0


def test_a_long_list_may_have_the_sum_of_the_others(tmp_path: Path) -> None:
    path = csv(tmp_path, "name,count,race\nLee,2147483647,white\nALL OTHER NAMES,5,white\n")
    found = names.read_surnames(path)
    assert (found.left_out, found.rarer_bearers) == (1, 5)
    assert found.rows["bearers"].to_pylist() == [2147483647]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("name,count\nLee,3\n", ": has neither a column race nor percentages. Give race, or "
         "pct_white, pct_black, pct_asian_pacific, pct_native, pct_two_or_more, pct_hispanic "
         "(those that are known)."),
        ("name,count,pct_white\nLee,3,x\n", ", line 2, pct_white: 'x' is neither a percentage nor "
         "empty. Give percent, 0 to 100."),
        ("name,count,pct_white,pctblack\nLee,3,60,60\n", ", line 2, pctblack: the percentages add "
         "up to 120.00. They are of one name's bearers: 100 together, or less where one is empty."),
        ("name,count,pct_white\nLee,3,0.6\n", ": the percentages add up to 0.6 at most. Give "
         "percent, 0 to 100, not shares of 1."),
        ("name,count,pct_white\nLEE,3,60\nLee,3,60\n", ", line 3, name: Lee stands already in line "
         "2. Add the two rows up, or remove one."),
        (f"{WIDE}Lee,3,60,30,4,3,2,1\nDoe,3,60,10,4,3,2,1\n", ", line 3, pct_hispanic: the "
         "percentages add up to 80.00. They are of one name's bearers: 100 together, or less where "
         "one is empty."),
        (f"{WIDE}Lee,3,0.6,0.3,0.04,0.03,0.02,0.01\nDoe,3,0.6,0.6,0,0,0,0\n"
         "Roe,3,0.6,0.4,0,0,0,0\n", ", line 3, pct_hispanic: the percentages add up to 1.20. They "
         "are of one name's bearers: 1 together, or less where one is empty."),
        ("name,race,count,pct_white\nLee,white,3,90\n", ": has both race and pct_white. Leave race "
         "out and give one row per name with percentages, or leave the percentages out and give "
         "one row per name and race."),
        ("name,count,pct_white\nALL OTHER NAMES,3,90\n", ", line 2, name: no surname but ALL OTHER "
         "NAMES. Give a row for each surname."),
        ("name,count,race\nAll other names,3,white\n", ", line 2, name: no surname but ALL OTHER "
         "NAMES. Give a row for each surname."),
        ("name,count,race\nSmith,999999999,white\nLee,1,white\nSmith,999999999,black\n"
         "SMITH,999999999,native\n", ", line 5, count: the counts of Smith add up to "
         "2,999,999,997, above 2,147,483,647. Correct the counts."),
        ("name,race,count\nLee,asian,3\n", ", line 2, race: 'asian' is no race of the surname "
         "table. Use white, black, asian_pacific, native, two_or_more, hispanic."),
        ("name,race,count\nLee,white,3\nLEE,white,3\n", ", line 3, name: Lee, white stands already "
         "in line 2. Add the two rows up, or remove one."),
    ],
)  # fmt: skip
def test_a_bad_list_of_surnames_is_named(tmp_path: Path, text: str, message: str) -> None:
    path = csv(tmp_path, text)
    with pytest.raises(InputError) as caught:
        names.inspect_surnames(path)
    assert str(caught.value) == f"{path}{message}"


def test_the_census_2000_file_has_the_same_columns(tmp_path: Path) -> None:
    header = "name,rank,count,prop100k,cum_prop100k,pctwhite,pctblack,pctapi,pctaian,pct2prace,"
    text = header + "pcthispanic\nSMITH,1,2376206,880.85,880.85,73.35,22.22,0.4,0.85,1.63,1.56\n"
    path = zipped(tmp_path, {"app_c.csv": text, "app_c.xls": "x"})
    rows = names.read_surnames(path).rows.to_pylist()
    assert (rows[0]["name"], rows[0]["bearers"], rows[0]["pct_white"]) == ("SMITH", 2376206, 73.35)
