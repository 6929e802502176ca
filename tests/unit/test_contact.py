"""E-mail and phone: valid for every name, telling nothing that the name does not."""

from __future__ import annotations

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from fairscreen import random
from fairscreen.documents import contact

EMAIL = re.compile(
    r"[a-z0-9]+(?:-[a-z0-9]+)*(?:\.[a-z0-9]+(?:-[a-z0-9]+)*)?@example\.(com|net|org)"
)
START = random.prefix(1, "documents/x/email/0/0")


@given(st.text(max_size=200), st.text(max_size=200))
@example("", "\N{MATHEMATICAL BOLD FRAKTUR CAPITAL A}")  # has no lower case, but is made of A
def test_every_name_gives_a_valid_address(first: str, last: str) -> None:
    address = contact.email(first, last, b"a", START)
    assert EMAIL.fullmatch(address)
    assert address.isascii()
    assert len(address.split("@")[0]) <= 64


@pytest.mark.parametrize(
    ("first", "last", "expected"),
    [
        ("Maria", "O'Neil", "maria.oneil"),
        ("Maria", "O’Neil", "maria.oneil"),
        ("Mary Ann", "De La Cruz", "maryann.delacruz"),
        ("Jean-Luc", "Smith - Jones", "jean-luc.smith-jones"),
        ("José", "Muñoz", "jose.munoz"),
        ("Søren", "Łukasz", "soren.lukasz"),
        ("Jürgen", "Groß", "jurgen.gross"),
        ("Þóra", "Ægisdóttir", "thora.aegisdottir"),
        ("İpek", "Yıldız", "ipek.yildiz"),
        ("Thị", "Nguyễn", "thi.nguyen"),
        ("St. John", "Jr.", "stjohn.jr"),
        ("李", "Wang", "wang"),
        ("Zoë", "D'Ångström", "zoe.dangstrom"),
        ("Đặng", "Ŧəŋ", "dang.ten"),
        ("Kapiʻolani", "Kaʻahumanu", "kapiolani.kaahumanu"),
        ("Ǆ", "ﬁsher", "dz.fisher"),
        ("李", "王", ""),
        ("'", "-", ""),
    ],
)
def test_known_names(first: str, last: str, expected: str) -> None:
    assert contact.local_part(first, last) == expected


def test_names_without_a_letter_to_write_are_told_apart_by_applicant() -> None:
    addresses = {contact.email("李", "王", str(i).encode(), START) for i in range(200)}
    assert len(addresses) > 195
    assert all(re.fullmatch(r"applicant[0-9]{6}@example\.(com|net|org)", a) for a in addresses)
    assert contact.email("李", "王", b"7", START) in addresses


def test_phones_are_fictional_and_of_no_place() -> None:
    phones = {contact.phone(str(i).encode(), START) for i in range(5_000)}
    for number in phones:
        # A middle digit 9 in the area code is not assigned; 555-0100 to 0199 is for fiction.
        assert re.fullmatch(r"\([2-9]9[0-9]\) 555-01[0-9]{2}", number)
    assert len(phones) > 3_000
    assert {n[1] for n in phones} == set("23456789")


def test_one_integer_is_the_vector_of_one() -> None:
    start = random.prefix(5, "p")
    keys = ["a", "b", "é"]
    assert [random.integer(start, k.encode(), 97) for k in keys] == random.integers(
        5, "p", keys, 97
    ).tolist()
