"""What an ACS PUMS person file must look like: columns, the form of each code, Arrow types.

Codes are text and stay as they are. A code that lost its leading zeros is an error, not
something to repair: 1 could be 01 or 0001, and a spreadsheet that ate zeros may have eaten more.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from fairscreen.population.geography import STATES

REPLICATES = tuple(f"PWGTP{r}" for r in range(1, 81))
INT32 = (-(2**31), 2**31 - 1)

# Columns and types of table acs_person (sql/ddl); a test compares the two.
SCHEMA = pa.schema(
    [
        pa.field("vintage", pa.int32()),
        pa.field("period", pa.int32()),
        pa.field("serialno", pa.string()),
        pa.field("sporder", pa.string()),
        pa.field("state", pa.string()),
        pa.field("puma", pa.string()),
        pa.field("age", pa.int32()),
        pa.field("sex", pa.string()),
        pa.field("rac1p", pa.string()),
        pa.field("hisp", pa.string()),
        pa.field("schl", pa.string()),
        pa.field("esr", pa.string()),
        pa.field("occp", pa.string()),
        pa.field("relationship", pa.string()),
        pa.field("pwgtp", pa.int32()),
        pa.field("replicate_weights", pa.list_(pa.int32())),
        pa.field("source_sha256", pa.string()),
    ]
)


@dataclass(frozen=True)
class Code:
    """A text column: `field` of the table, names in the header, form, and whether "" is legal.

    `width` is the number of digits where the code is zero-padded.
    """

    field: str
    names: tuple[str, ...]
    pattern: str
    form: str
    empty: bool = False
    width: int | None = None
    required: bool = True

    def accepts(self, value: str) -> bool:
        return (self.empty and not value) or bool(re.fullmatch(self.pattern, value))


def _digits(field: str, name: str, *, n: int, empty: bool = True) -> Code:
    words = {2: "two digits", 4: "four digits", 5: "five digits"}
    return Code(field, (name,), f"[0-9]{{{n}}}", words[n], empty, n)


def _listed(field: str, name: str, pattern: str, form: str, *, required: bool = True) -> Code:
    """Two digits that the Bureau's data dictionaries of 2018 and 2023 list, or "" (its bb)."""
    return Code(field, (name,), pattern, form, True, 2, required)


CODES = (
    Code(
        "serialno",
        ("SERIALNO",),
        "20[0-9]{2}(?:HU|GQ)[0-9]{7}|20[0-9]{11}|[0-9]{7}",
        "the survey year, HU or GQ, and seven digits",
    ),
    _digits("sporder", "SPORDER", n=2, empty=False),
    Code(
        "state",
        ("ST", "STATE"),
        "|".join(sorted({*STATES, "72"})),
        "a two-digit FIPS code of a state, DC or Puerto Rico",
        width=2,
    ),
    _digits("puma", "PUMA", n=5),
    Code("sex", ("SEX",), "[12]", "1 or 2"),
    Code("rac1p", ("RAC1P",), "[1-9]", "1 to 9", empty=True),
    _listed("hisp", "HISP", "0[1-9]|1[0-9]|2[0-4]", "01 to 24"),
    _listed("schl", "SCHL", "0[1-9]|1[0-9]|2[0-4]", "01 to 24"),
    Code("esr", ("ESR",), "[1-6]", "1 to 6", empty=True),
    _digits("occp", "OCCP", n=4),
    # One field, two columns: RELSHIPP took the place of RELP in 2019, with codes of its own.
    _listed("relationship", "RELP", "0[0-9]|1[0-7]", "00 to 17", required=False),
    _listed("relationship", "RELSHIPP", "2[0-9]|3[0-8]", "20 to 38", required=False),
)
# The 5-year file of 2018 to 2022 has these two in place of PUMA: areas of 2010 for its years to
# 2021, of 2020 for 2022. The one that does not apply holds a code of NO_PUMA. Later files have one
# column again, all in areas of 2020.
PUMA_PAIR = ("PUMA10", "PUMA20")
NO_PUMA = ("-0009", "-9")
# Files pooled over a change of the occupation codes, to the 5-year file of 2011 to 2015.
SPLIT_OCCUPATIONS = ("OCCP02", "OCCP10", "OCCP12")
KEY_FIELDS = ("serialno", "sporder", "state")
NUMBERS = {"age": "AGEP", "pwgtp": "PWGTP"}
# Least and greatest value. Only replicate weights may be negative; ages end at 99 in the files.
RANGES = {"AGEP": (0, 120), "PWGTP": (0, INT32[1])}


def serial_year(serialno: str) -> int | None:
    """The survey year that SERIALNO begins with (2017 and later), else None."""
    found = re.fullmatch(r"(20[0-9]{2})(?:(?:HU|GQ)[0-9]{7}|[0-9]{9})", serialno)
    return int(found.group(1)) if found else None


def survey_name(vintage: int, period: int) -> str:
    """How notes and errors call a survey: `2022`, or `2022 (5-year)`."""
    return str(vintage) if period == 1 else f"{vintage} ({period}-year)"


def person_keys(serialno: pa.Array, sporder: pa.Array) -> NDArray[np.int64]:
    """(SERIALNO, SPORDER) as one integer, without loss: kind, up to 13 digits, two digits."""
    digits = pc.replace_substring_regex(serialno, "HU|GQ", "").cast(pa.int64())
    kind = pc.add(
        pc.match_substring(serialno, "HU").cast(pa.int64()),
        pc.multiply(pc.match_substring(serialno, "GQ").cast(pa.int64()), 2),
    )
    packed = pc.add(pc.multiply(kind, 10**13), digits)
    keys = pc.add(pc.multiply(packed, 100), sporder.cast(pa.int64()))
    return np.asarray(keys.to_numpy(zero_copy_only=False), dtype=np.int64)


#: `person_keys` of a row of table acs_person.
KEY_SQL = """
    (CASE substr(serialno, 5, 2) WHEN 'HU' THEN 1 WHEN 'GQ' THEN 2 ELSE 0 END * 10000000000000
     + CAST(regexp_replace(serialno, 'HU|GQ', '') AS BIGINT)) * 100 + CAST(sporder AS BIGINT)
"""


def person_name(key: int) -> str:
    """The key as people write it: `SERIALNO 2018HU0000001, SPORDER 01`."""
    packed, order = divmod(int(key), 100)
    kind, digits = divmod(packed, 10**13)
    text = f"{digits:013d}"
    serial = text if kind == 0 else f"{text[2:6]}{('', 'HU', 'GQ')[kind]}{text[6:]}"
    return f"SERIALNO {serial}, SPORDER {order:02d}"
