"""One spelling of a name in the tables, and how it is printed."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairscreen.spelling import clean, fault, printed


@pytest.mark.parametrize(
    ("given_name", "cleaned"),
    [
        ("O’BRIEN", "O'BRIEN"),
        ("O‘Brien", "O'Brien"),
        ("OʼBrien", "O'Brien"),
        ("Jose\u0301", "José"),
        ("GARCI\u0301A", "GARCÍA"),
        ("  De   La\u00a0Cruz ", "De La Cruz"),
        ("Kapi\u02bbolani", "Kapi\u02bbolani"),  # the okina is a letter
        ("M\u0331", "M\u0331"),  # a mark that has no composed form
        ("Łukasz", "Łukasz"),
        ("王", "王"),
    ],
)
def test_clean(given_name: str, cleaned: str) -> None:
    assert clean(given_name) == cleaned


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("SMITH", "Smith"),
        ("smith", "Smith"),
        ("MCDONALD", "McDonald"),
        ("MCA", "Mca"),
        ("MACDONALD", "Macdonald"),
        ("O'BRIEN", "O'Brien"),
        ("O'MCKAY", "O'McKay"),
        ("D'ANGELO", "D'Angelo"),
        ("DELL'ORTO", "Dell'Orto"),
        ("PRUD'HOMME", "Prud'homme"),
        ("'T HOOFT", "'t Hooft"),
        ("GARCÍA", "García"),
        ("NUÑEZ", "Nuñez"),
        ("SMITH-JONES", "Smith-Jones"),
        ("DE LA CRUZ", "De la Cruz"),
        ("MARTINEZ DE HARO", "Martinez de Haro"),
        ("VAN DER BERG", "Van der Berg"),
        ("AL-MASRI", "Al-Masri"),
        ("YİĞİT", "Yiğit"),
        ("STRAUẞ", "Strauß"),
        ("OBRIEN", "Obrien"),  # as the Census file has it: nothing is guessed
        ("McDonald", "McDonald"),
        ("deShawn", "deShawn"),
        ("de la Cruz", "de la Cruz"),
        ("A.J.", "A.J."),
        ("a.j.", "A.J."),
        ("ST.JOHN", "St.John"),
        ("王", "王"),
        ("NULL", "Null"),
    ],
)
def test_printed(name: str, shown: str) -> None:
    assert printed(name) == shown


_text = st.text(max_size=20) | st.text("AaBbcM'-. ’ÉéİßŁŉ\u0301", max_size=12)


@given(_text)
def test_both_are_stable_and_lose_no_letter(name: str) -> None:
    once = clean(name)
    assert clean(once) == once == unicodedata.normalize("NFC", once)
    assert printed(printed(once)) == printed(once)
    letters = [c for c in printed(once).casefold() if c.isalpha()]
    assert len(letters) >= sum(c.isalpha() for c in once)


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("Ann\u200b", "'Ann\\u200b' holds the character U+200B"),
        ("Ann\t", "'Ann\\t' holds the character U+0009"),
        ("12", "'12' holds no letter"),
        ("'-", '"\'-" holds no letter'),
        ("O'Brien", None),
        ("नेहा", None),
    ],
)
def test_faults(name: str, problem: str | None) -> None:
    assert fault(name) == problem
