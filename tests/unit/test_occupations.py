"""Occupation lists and the way between them: published facts, and what no table may break."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from fairscreen.errors import InputError
from fairscreen.population import occupations
from fairscreen.population.occupations import lists, translate

sys.path.insert(0, str(Path(__file__).parents[1] / "bench"))
import occupation_list


def test_lists_are_the_bureaus() -> None:
    sizes = {name: len(of) for name, of in lists().items()}
    # 530 and 479 codes in the dictionaries, 540 in table B2; 9920 (no occupation) is left out.
    assert sizes == {"2018": 529, "2010": 478, "census2010": 539}
    assert lists()["2018"]["3255"].title == "Registered Nurses"
    assert lists()["2018"]["0440"].group == "MGR"
    for name in ("2018", "2010"):
        held = [code for o in lists()[name].values() for code in o.holds]
        assert len(set(held)) == len(held)  # nobody is in two occupations
    in_2010 = {code for o in lists()["2010"].values() for code in o.holds}
    assert in_2010 == set(lists()["census2010"])


def test_the_crosswalk_sends_everybody_somewhere() -> None:
    in_2018 = {code for o in lists()["2018"].values() for code in o.holds}
    reached = set()
    for code, row in occupations._rows().items():
        assert code in lists()["census2010"]
        assert sum(row.values()) == pytest.approx(1, abs=2e-3)  # published with four digits
        reached |= set(row)
    assert reached == in_2018


@pytest.mark.parametrize(
    ("codes", "source", "target", "expected", "exact"),
    [
        # Technical Paper 78: 90% of 1020 became 1021, the rest 1022.
        ("1021", "2018", "2010", "1020", False),
        ("1021 1022", "2018", "2010", "1020", False),  # 1022 took people from 1107 too
        ("1020", "2010", "2018", "1021 1022", False),
        ("3255", "2018", "census2010", "3255", True),
        ("3870", "2018", "2010", "3850", True),  # two police codes, one PUMS code then and now
        ("3870", "2018", "census2010", "3850 3860", True),
        ("9645", "2018", "2010", "5620", True),  # stockers changed group and number
        ("3602", "2018", "census2010", "4610", True),
        ("3603", "2018", "census2010", "3600", False),
        ("0010", "2010", "census2010", "0010 0030", True),  # PUMS groups legislators there
        ("0030", "census2010", "2010", "0010", False),
        ("4055", "2018", "2010", "4050 4060", True),
        ("2205", "2018", "2010", "2200", False),  # 6% of them are teaching assistants now
        ("3255 0800", "2018", "2018", "0800 3255", True),
    ],
)
def test_translations(codes: str, source: str, target: str, expected: str, exact: bool) -> None:
    found = translate(codes.split(), source, target, where="x")
    assert (found.codes, found.exact) == (tuple(expected.split()), exact)
    assert source == target or all(code in found.note for code in codes.split())


def test_a_translation_says_what_else_the_codes_hold() -> None:
    assert translate(["1021"], "2018", "2010", where="x").note == (
        "1021 (Software Developers) is 1020 (Software Developers, Applications And Systems "
        "Software), which also holds 1022 (Software Quality Assurance Analysts and Testers, 10% "
        "of 1020)"
    )
    assert translate(["2545"], "2018", "2010", where="x").note == (
        "2545 (Teaching Assistants) is 2540 (Teacher Assistants), which lacks 6% of 2200 "
        "(Postsecondary Teachers)"
    )


@pytest.mark.parametrize("target", ["2010", "census2010"])
def test_exact_translations_come_back(target: str) -> None:
    for code in lists()["2018"]:
        try:
            there = translate([code], "2018", target, where="x")
        except InputError:
            continue
        if there.exact:
            assert translate(there.codes, target, "2018", where="x").codes == (code,)


@pytest.mark.parametrize(
    ("codes", "source", "message"),
    [
        ("1022", "2018", "x: 1022 (Software Quality Assurance Analysts and Testers) has no "
         "counterpart in the Census list of 2010: its people are 10% of 1020 (Software "
         "Developers, Applications And Systems Software), 2% of 1107 (Computer Occupations, All "
         "Other). Choose another occupation, or give the codes of that list."),
        ("6540", "2018", "x: 6540 (Solar Photovoltaic Installers) has no counterpart in the "
         "Census list of 2010: its people are part of 6765 (Miscellaneous Construction Workers, "
         "Including Solar Photovoltaic Installers, Septic Tank Servicers And Sewer Pipe "
         "Cleaners). Choose another occupation, or give the codes of that list."),
        ("1020", "2018", "x: '1020' is no occupation of the Census list of 2018. The nearest are "
         "1021 (Software Developers), 1022 (Software Quality Assurance Analysts and Testers), "
         "1010 (Computer Programmers). Codes are text of four digits."),
    ],
)  # fmt: skip
def test_what_has_no_counterpart(codes: str, source: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        translate(codes.split(), source, "2010", where="x")
    assert str(caught.value) == message


def test_lists_of_years() -> None:
    years = {2010: "2010", 2017: "2010", 2018: "2018", 2024: "2018"}
    assert {year: occupations.list_of(year) for year in years} == years
    with pytest.raises(InputError, match=r"^ACS 2009: uses an occupation list from before 2010"):
        occupations.list_of(2009)


def test_occupations_are_found_by_code_or_title() -> None:
    assert occupations.find("0800", "2018") == "0800"
    assert occupations.find("accountants  and AUDITORS", "2018") == "0800"
    assert occupations.find("Accountants", "2018") is None
    error = occupations.unknown("Nurses", "2018", where="x")
    assert error.remedy.startswith("The nearest are 3255 (Registered Nurses),")
    nothing = occupations.unknown("zzzzqqqq", "2018", where="x")
    assert nothing.remedy.startswith("See conf/occupations.csv.")


def test_a_dictionary_is_read() -> None:
    lines = [
        'NAME,OCCP,C,4,"Occupation recode for 2018 and later"',
        'VAL,OCCP,C,4,"bbbb","bbbb","N/A"',
        'VAL,OCCP,C,4,"0440","0440","MGR-Other  Managers"',
        "VAL,OCCP,C,4,1555,1555,Other Engineering Technologists",
        "VAL,OCCP,C,4,9920,9920,Unemployed",
        "VAL,SOCP,C,6,111021,111021,MGR-General",
    ]
    assert occupation_list.read(lines) == {
        "0440": ("MGR", "Other Managers"), "1555": ("", "Other Engineering Technologists"),
    }  # fmt: skip
