"""SSA first names and Census surnames: read exactly, and every bad input named in full."""

from __future__ import annotations

import csv
import io
import string
import zipfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fairscreen import resources
from fairscreen.errors import InputError
from fairscreen.sources import census_surnames, ssa_names

SSA_REMEDY = " Download names.zip (national data) from the SSA's baby names page again."
CENSUS_REMEDY = " Download names.zip of the 2010 surnames from the Census Bureau again."
HEADER = (
    "name,rank,count,prop100k,cum_prop100k,pctwhite,pctblack,pctapi,pctaian,pct2prace,pcthispanic"
)


def zipped(folder: Path, members: dict[str, str | bytes]) -> Path:
    out = folder / "names.zip"
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in members.items():
            archive.writestr(name, text)
    return out


def ssa(path: Path) -> list[dict[str, object]]:
    return [row for year in ssa_names.read(path) for row in year.to_pylist()]


def surnames(*lines: str, header: str = HEADER) -> census_surnames.Surnames:
    data = io.BytesIO("\n".join([header, *lines, ""]).encode())
    return census_surnames.parse(data, "names.csv")


# --- SSA


def test_years_in_order_with_either_line_end_and_nothing_else_from_the_zip(tmp_path: Path):
    path = zipped(
        tmp_path,
        {
            "yob2023.txt": "Olivia,F,15270\r\nLiam,M,20802\r\n",
            "NationalReadMe.pdf": b"%PDF-1.6\n\xff",
            "names/yob1880.txt": "Mary,F,7065\nNan,F,5",
            "__MACOSX/._yob1880.txt": b"\0\5\x16\7",
        },
    )
    assert ssa(path) == [
        {"birth_year": 1880, "sex": "F", "name": "Mary", "births": 7065},
        {"birth_year": 1880, "sex": "F", "name": "Nan", "births": 5},
        {"birth_year": 2023, "sex": "F", "name": "Olivia", "births": 15270},
        {"birth_year": 2023, "sex": "M", "name": "Liam", "births": 20802},
    ]


_names = st.text(string.ascii_letters, min_size=1, max_size=15)


@settings(deadline=None)
@given(st.dictionaries(st.tuples(_names, st.sampled_from("FM")), st.integers(5, 10**8), min_size=1))
def test_any_names_come_back_as_they_were_written(births: dict[tuple[str, str], int]):
    lines = "".join(f"{name},{sex},{n}\n" for (name, sex), n in births.items())
    rows = ssa_names.parse(lines.encode(), 1990, "yob1990.txt").to_pylist()
    assert {(r["name"], r["sex"]): r["births"] for r in rows} == births
    assert {r["birth_year"] for r in rows} == {1990}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("Mary,F,70\nAnna,F\n", "line 2: 'Anna,F' is not of the form Name,F,7065."),
        ("Mary,F,70,1\n", "line 1: 'Mary,F,70,1' is not of the form Name,F,7065."),
        ("Mary,F,70\n\nAnna;F;9\n", "line 3: 'Anna;F;9' is not of the form Name,F,7065."),
        (",F,70\n", "line 1: ',F,70' is not of the form Name,F,7065."),
        ("Mary,F,70\nAnna,X,9\n", "line 2: sex is 'X', not F or M."),
        ("Mary,F,70\nAnna,,9\n", "line 2: sex is '', not F or M."),
        ("Mary,F,many\n", "line 1: 'many' is not a number of births."),
        ("Mary,F,7.5\n", "line 1: '7.5' is not a number of births."),
        ("Mary,F,\n", "line 1: '' is not a number of births."),
        ("Mary,F,-9\n", "line 1: '-9' is not a number of births."),
        ("Mary,F,99999999999\n", "line 1: '99999999999' is not a number of births."),
        ("Mary,F,70\nAnna,F,4\n", "line 2: 4 births; the SSA publishes 5 or more."),
        ("Ann,F,7\nAnn,M,6\nAnn,F,5\n", "line 3: Ann,F stands already in line 1."),
        (b"Mary,F,70\nJos\xe9,M,9\n", "line 2: is not UTF-8 text."),
        ("Mary,F,70\nAn\0na,F,9\n", "line 2: name 'An\\x00na' holds the character U+0000."),
        ("Mary,F,70\r\n\tAnna,F,9\r\n", "line 2: name '\\tAnna' holds the character U+0009."),
        ("Mary,F,70\rAn\x85na,F,9\r", "line 2: name 'An\\x85na' holds the character U+0085."),
        ("Mary,F,70\n\ufeffAnna,F,9\n", "line 2: name '\\ufeffAnna' holds the character U+FEFF."),
        ("Mary,F,\t70\n", "line 1: '\\t70' is not a number of births."),
    ],
)
def test_a_bad_line_is_named(tmp_path: Path, text: str | bytes, message: str):
    path = zipped(tmp_path, {"yob1880.txt": "Mary,F,7065\n", "yob1990.txt": text})
    with pytest.raises(InputError) as caught:
        ssa(path)
    assert str(caught.value) == f"{path}, member yob1990.txt, {message}{SSA_REMEDY}"


@pytest.mark.parametrize(
    ("members", "problem"),
    [
        ({"readme.txt": "x"}, "holds no yobYYYY.txt."),
        ({"yob1990.txt": "A,F,5\n", "b/yob1990.txt": "A,F,5\n"},
         "holds birth year 1990 twice (yob1990.txt and b/yob1990.txt)."),
    ],
)  # fmt: skip
def test_a_zip_without_usable_years(tmp_path: Path, members: dict[str, str], problem: str):
    path = zipped(tmp_path, members)
    with pytest.raises(InputError) as caught:
        ssa(path)
    assert str(caught.value) == f"{path}: {problem}{SSA_REMEDY}"


@pytest.mark.parametrize("year", ["1879", "2101", "0000"])
def test_an_impossible_year_is_named(tmp_path: Path, year: str):
    path = zipped(tmp_path, {"yob1990.txt": "A,F,5\n", f"yob{year}.txt": "A,F,5\n"})
    with pytest.raises(InputError) as caught:
        ssa(path)
    assert str(caught.value) == (
        f"{path}, member yob{year}.txt: birth year {int(year)} is not between 1880 and 2100."
        f"{SSA_REMEDY}"
    )


def test_a_byte_order_mark_and_any_line_end_are_harmless(tmp_path: Path):
    text = "\ufeffMary,F,70\rAnna,F,9\r"
    rows = ssa(zipped(tmp_path, {"yob1990.txt": text}))
    assert [(r["name"], r["births"]) for r in rows] == [("Mary", 70), ("Anna", 9)]


@pytest.mark.parametrize("text", ["", "\n\r\n", "\ufeff", "\ufeff\n"])
def test_an_empty_year_is_named(tmp_path: Path, text: str):
    path = zipped(tmp_path, {"yob1990.txt": text})
    with pytest.raises(InputError) as caught:
        ssa(path)
    assert str(caught.value) == f"{path}, member yob1990.txt: holds no names.{SSA_REMEDY}"


def test_not_a_zip_cut_off_damaged_or_not_there(tmp_path: Path):
    whole = zipped(tmp_path, {"yob1990.txt": "".join(f"N{i},F,{i + 5}\n" for i in range(9000))})
    data = bytearray(whole.read_bytes())
    cut, flipped, text = tmp_path / "cut.zip", tmp_path / "flipped.zip", tmp_path / "text.zip"
    cut.write_bytes(data[: len(data) // 2])
    data[len(data) // 2] ^= 0xFF
    flipped.write_bytes(data)
    text.write_text("Mary,F,7065\n")
    at_end = "is not a zip, or is cut off at its end."
    broken = "is damaged: its bytes fail the zip's own check."
    for path, where, problem in (
        (cut, cut, at_end),
        (text, text, at_end),
        (flipped, f"{flipped}, member yob1990.txt", broken),
        (tmp_path / "none.zip", tmp_path / "none.zip", "no such file or directory."),
        (tmp_path, tmp_path, "is a directory."),
    ):
        with pytest.raises(InputError) as caught:
            ssa(path)
        assert str(caught.value) == f"{where}: {problem}{SSA_REMEDY}"


# --- surnames


def test_suppressed_is_null_and_null_true_and_nan_are_names():
    found = surnames(
        "NULL,1,500,1,1,(S),2.5,(S),0,1,96",
        "TRUE,2,400,1,2,70,20,1,(S),5,4",
        "NAN,3,300,1,3,5,0,95,0,0,(S)",
        "ALL OTHER NAMES,0,29312001,9936.97,9936.97,66.65,8.53,7.97,0.86,2.32,13.67",
    )
    assert (found.left_out, found.rarer_bearers) == (1, 29312001)
    assert found.suppressed_cells == 4
    columns = found.rows.to_pydict()
    assert columns == {
        "name": ["NULL", "TRUE", "NAN"],
        "bearers": [500, 400, 300],
        "pct_white": [None, 70.0, 5.0],
        "pct_black": [2.5, 20.0, 0.0],
        "pct_asian_pacific": [None, 1.0, 95.0],
        "pct_native": [0.0, None, 0.0],
        "pct_two_or_more": [1.0, 5.0, 0.0],
        "pct_hispanic": [96.0, 4.0, None],
    }


def test_columns_are_found_by_name_whatever_their_order_case_or_byte_order_mark():
    found = surnames(
        "30,LEE,10,20,30,5,5,600", header="\ufeffPCTWHITE,Name,pctblack,pctapi,pctaian,pct2prace,"
        "pcthispanic,count",
    )  # fmt: skip
    row = found.rows.to_pylist()[0]
    assert (row["name"], row["bearers"], row["pct_white"], row["pct_native"]) == (
        "LEE",
        600,
        30,
        30,
    )


@settings(deadline=None)
@given(
    st.dictionaries(
        st.text(string.ascii_uppercase + "'-ÉŁß", min_size=1, max_size=12),
        st.lists(st.none() | st.integers(0, 10_000).map(lambda n: n / 100), min_size=6, max_size=6),
        min_size=1,
        max_size=30,
    )
)
def test_any_surnames_come_back_as_they_were_written(people: dict[str, list[float | None]]):
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    for name, cells in people.items():
        writer.writerow([name, 1, 100, 0, 0, *("(S)" if c is None else c for c in cells)])
    rows = surnames(*out.getvalue().splitlines()).rows.to_pylist()
    shares = {r["name"]: [r[c] for c in census_surnames.PERCENTAGES] for r in rows}
    assert shares == people


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (["LEE,1,many,1,1,1,1,1,1,1,1"],
         "line 2, column count: 'many' is not a whole number."),
        (["LEE,1,9,1,1,1,1,1,1,1,1", "POE,1,9,1,1,1,x,1,1,1,1"],
         "line 3, column pctblack: 'x' is neither a percentage nor (S)."),
        (["LEE,1,9,1,1,,1,1,1,1,1"],
         "line 2, column pctwhite: '' is neither a percentage nor (S)."),
        (["LEE,1,9,1,1,NaN,1,1,1,1,1"],
         "line 2, column pctwhite: 'NaN' is neither a percentage nor (S)."),
        (["LEE,1,9,1,1,1,1,1,1,1,101"],
         "line 2, column pcthispanic: 101 is more than 100 percent."),
        (["LEE,1,9,1,1,1,1,1,1,1"], "line 2: 10 fields where the header has 11."),
        (["LEE,1,9,1,1,1,1,1,1,1,1", "LEE,2,8,1,1,1,1,1,1,1,1"],
         "line 3: surname LEE stands there twice."),
        ([",1,9,1,1,1,1,1,1,1,1"], "line 2: a row without a surname."),
        (["LEE,1,9,1,1,1,1,1,1,1,1\rPOE,1,9,1,1,1,1,1,1,1,1"],
         "line 2: holds a carriage return (CR) inside the line; lines must end in LF or CRLF, not "
         "in CR alone."),
        (["LEE,1,9,1,1,1,1,1,1,1,1", "P" * 200_000 + ",1,9,1,1,1,1,1,1,1,1"],
         "line 3: cannot be split into fields: field larger than field limit (131072)."),
    ],
)  # fmt: skip
def test_a_bad_surname_row_is_named(lines: list[str], message: str):
    with pytest.raises(InputError) as caught:
        surnames(*lines)
    assert str(caught.value) == f"names.csv, {message}{CENSUS_REMEDY}"


@pytest.mark.parametrize(
    ("header", "message"),
    [
        ("name,count,pctwhite,pctapi,pctaian,pct2prace,pcthispanic",
         "names.csv, line 1: column pctblack missing."),
        ("surname;n", "names.csv, line 1: columns name, count, pctwhite, pctblack, pctapi, "
         "pctaian, pct2prace, pcthispanic missing."),
        (HEADER, "names.csv: a header and no surnames."),
    ],
)  # fmt: skip
def test_a_bad_surname_header_is_named(header: str, message: str):
    with pytest.raises(InputError) as caught:
        surnames(header=header)
    assert str(caught.value) == f"{message}{CENSUS_REMEDY}"


def test_bytes_that_are_not_utf8_name_their_line(tmp_path: Path):
    row = b"LEE,1,9,1,1,1,1,1,1,1,1\n"
    bad = HEADER.encode() + b"\n" + row + b"MU\xd1OZ" + row[3:]
    path = zipped(tmp_path, {"Names_2010Census.csv": bad})
    with pytest.raises(InputError) as caught:
        census_surnames.read(path)
    where = f"{path}, member Names_2010Census.csv, line 3"
    assert str(caught.value) == f"{where}: is not UTF-8 text.{CENSUS_REMEDY}"


@pytest.mark.parametrize(
    ("members", "problem"),
    [
        ({"a.txt": "x"}, "holds no CSV file; one is expected."),
        ({"a.csv": "x", "b.csv": "x"}, "holds 2 CSV files (a.csv, b.csv); one is expected."),
    ],
)
def test_the_zip_must_hold_one_csv(tmp_path: Path, members: dict[str, str], problem: str):
    path = zipped(tmp_path, members)
    with pytest.raises(InputError) as caught:
        census_surnames.read(path)
    assert str(caught.value) == f"{path}: {problem}{CENSUS_REMEDY}"


def test_the_shipped_surnames_are_all_there():
    found = census_surnames.read(resources.resolve("bundled:census_2010_surnames.zip"))
    assert found.rows.num_rows == 162_253
    assert found.left_out == 1
    rows = {r["name"]: r for r in found.rows.to_pylist() if r["name"] in ("SMITH", "NULL", "NAN")}
    assert (rows["SMITH"]["bearers"], rows["SMITH"]["pct_white"]) == (2_442_977, 70.9)
    assert len(rows) == 3
