"""Set-up files in three languages, and the fixed-width text that they describe."""

from __future__ import annotations

import io

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fairscreen.errors import InputError
from fairscreen.sources import (
    fixed_width,
    setup_files,
    setup_sas,
    setup_spss,
    setup_stata,
    synthetic_psid,
)
from fairscreen.sources.setup_files import Field, Setup
from psid_files import WRITERS

REMEDY = setup_files.REMEDY
LANGUAGES = {
    ".sas": setup_sas.take_apart,
    ".do": setup_stata.take_apart,
    ".sps": setup_spss.take_apart,
}


def parse(text: str, where: str = "J1.sas") -> Setup:
    return setup_files.parse(text, where, LANGUAGES[where[where.rindex(".") :]])


SETUP = r"""/* PSID DATA CENTER *****************************************************
   JOBID            : 1
   DATA_DOMAIN      : IND
   USER_WHERE       : ER30001 = 4 AND (ER30002 = 6 OR ER
   N_OF_VARIABLES   : 3
   N_OF_OBSERVATIONS: 2
   MAX_REC_LENGTH   : 9
   DATE & TIME      : May 20, 2023 @ 13:44:35
************************************************************************/

FILENAME myfile "[path]\J1.txt" ;

DATA J1 ;
   ATTRIB
      ER30001         LABEL="1968 INTERVIEW NUMBER"                    FORMAT=F4.
      ER30002  FORMAT=F3.   LABEL="PERSON NUMBER; 1968                68"
      V1              LABEL="WEIGHT"                                   FORMAT=F3.1
   ;
   INFILE myfile LRECL = 9 ;
   INPUT
      ER30001              1 - 4           ER30002              5-6
      V1 7 - 9
;
run ;
"""


STATA = r"""#delimit ;
*  PSID DATA CENTER *****************************************************
   JOBID            : 1                                 
   DATA_DOMAIN      : IND                               
   STATEMENTS       : do                                
   N_OF_VARIABLES   : 3                                 
   N_OF_OBSERVATIONS: 2                                 
   MAX_REC_LENGTH   : 9                                 
   DATE & TIME      : May 31, 2021 @ 21:30:17
*************************************************************************
;

infix
      ER30001              1 - 4      long ER30002              5 - 6     
 double V1                  7 - 9   
using [path]\J1.txt, clear 
;
label variable ER30001         "1968 INTERVIEW NUMBER"                    ;
label variable ER30002         "PERSON NUMBER; 1968                68"    ;
label variable V1              "WEIGHT"                                   ;
"""  # noqa: W291

SPSS = r"""*  PSID DATA CENTER *****************************************************
   JOBID            : 1                                 
   DATA_DOMAIN      : IND                               
   STATEMENTS       : sps                               
   N_OF_VARIABLES   : 3                                 
   N_OF_OBSERVATIONS: 2                                 
   MAX_REC_LENGTH   : 9                                 
   DATE & TIME      : May 21, 2019 @ 16:14:43
*************************************************************************
.

FILE HANDLE J1 /
   NAME = "[path]\J1.txt" LRECL = 9 .

DATA LIST FILE = J1 FIXED /
      ER30001              1 - 4           ER30002              5 - 6 (F2)
      V1                   7 - 9   
   .
   EXECUTE .
FORMATS 
      V1            (F3.1)
.

VARIABLE LABELS
      ER30001       "1968 INTERVIEW NUMBER"                   
      ER30002       "PERSON NUMBER; 1968                68"
      V1            "WEIGHT"                                  
.

MISSING VALUES
      ER30002 (98 99)
.
VALUE LABELS
      V1  1 "ONE." 2 'TWO'
.
"""  # noqa: W291

# A file that the PSID packages itself, not the Data Center.
PACKAGED = r"""
**************************************************************************
   Label           : 1968-2019 Individual Data File
   Rows            : 2
   Columns         : 3
   ASCII File Date : May 16, 2019
*************************************************************************.

FILE HANDLE PSID / NAME = '[PATH]\J1.TXT' LRECL = 9 .
DATA LIST FILE = PSID FIXED /
      ER30001         1 - 4         ER30002         5 - 6         V1              7 - 9    
   .
   EXECUTE .
   VARIABLE LABELS 
      ER30001      "1968 INTERVIEW NUMBER"
      ER30002      "PERSON NUMBER; 1968                68"
      V1           "WEIGHT"
   .
"""  # noqa: W291
TEXTS = {"J1.sas": SETUP, "J1.do": STATA, "J1.sps": SPSS}


def columns(data: bytes, setup: Setup, **kwargs: int) -> dict[str, list[float]]:
    parts = list(
        fixed_width.read_columns(io.BytesIO(data), setup, list(setup.fields), "J1.txt", **kwargs)
    )
    return {n: np.concatenate([p[n] for p in parts]).tolist() for n in setup.fields}


# --- set-up files


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("where", [*TEXTS, "packaged.sps"])
def test_a_setup_file_gives_labels_columns_and_counts(where: str, end: str):
    text = TEXTS.get(where, PACKAGED)
    setup = parse(text.replace("\n", end), where)
    assert setup.fields == {
        "ER30001": Field("ER30001", 1, 4, "1968 INTERVIEW NUMBER"),
        "ER30002": Field("ER30002", 5, 6, "PERSON NUMBER; 1968 68"),
        "V1": Field("V1", 7, 9, "WEIGHT"),
    }
    assert (setup.record_length, setup.observations, setup.synthetic) == (9, 2, False)
    assert setup.domain == ("IND" if where in TEXTS else "")


def test_the_other_form_of_infile_and_a_synthetic_domain():
    text = SETUP.replace("myfile LRECL", r"'[path]\J1.txt' LRECL")
    text = text.replace(": IND", ": SYNTHETIC - NOT PSID DATA")
    setup = parse(text)
    assert (setup.record_length, setup.synthetic) == (9, True)


def test_without_a_header_the_last_column_ends_the_record():
    bare = "infix A 1 - 4 B 5 long C 6-9 using x.txt, clear"
    setup = parse(bare, "J1.do")
    assert (setup.record_length, setup.observations, setup.header) == (9, None, {})
    assert setup.fields["B"] == Field("B", 5, 5)


@pytest.mark.parametrize(
    ("where", "old", "new", "problem"),
    [
        ("J1.sas", "   INPUT\n", "   OUTPUT\n", ": has no INPUT statement"),
        ("J1.do", "infix", "infile", ": has no infix ... using statement"),
        ("J1.do", "using", "from", ": has no infix ... using statement"),
        ("J1.sps", "FIXED", "FREE", ": has no DATA LIST ... FIXED / command"),
        ("J1.sas", "5-6", "5-6 $",
         ", line 21: INPUT has '$ V1 7 - 9' where NAME first - last is due"),
        ("J1.do", "double V1", "double V1 V2",
         ", line 15: infix has 'double V1 V2 7 - 9' where NAME first - last is due"),
        ("J1.sps", "(F2)", "(F2.1)",
         ", line 16: DATA LIST has '(F2.1) V1 7 - 9' where NAME first - last is due"),
        ("J1.sps", "(F2)", "(A)",
         ", line 16: DATA LIST has '(A) V1 7 - 9' where NAME first - last is due"),
        ("J1.sas", "ER30002              5-6", "ER30001 5-6", ", line 21: INPUT has ER30001 twice"),
        ("J1.do", "5 - 6", "6 - 5", ", line 14: ER30002 has columns 6 - 5"),
        ("J1.sas", "1 - 4", "0 - 4", ", line 21: ER30001 has columns 0 - 4"),
        ("J1.do", "5 - 6", "4 - 6",
         ", line 14: ER30001 (columns 1 - 4) and ER30002 (columns 4 - 6) overlap"),
        ("J1.sas", "LRECL = 9", "LRECL = 8", ", line 22: V1 ends in column 9, but LRECL is 8"),
        ("J1.sps", "LRECL = 9", "LRECL = 8", ", line 17: V1 ends in column 9, but LRECL is 8"),
        ("J1.do", "LENGTH   : 9", "LENGTH   : 8",
         ", line 15: V1 ends in column 9, but MAX_REC_LENGTH is 8"),
        ("J1.sps", "LENGTH   : 9", "LENGTH   : 10",
         ", line 7: MAX_REC_LENGTH is 10, but LRECL is 9"),
        ("J1.sas", "VARIABLES   : 3", "VARIABLES   : 4",
         ", line 5: N_OF_VARIABLES is 4, but there are 3 variables in INPUT"),
        ("J1.do", "VARIABLES   : 3", "VARIABLES   : 2",
         ", line 6: N_OF_VARIABLES is 2, but there are 3 variables in infix"),
        ("J1.sps", "OBSERVATIONS: 2", "OBSERVATIONS: two",
         ", line 6: N_OF_OBSERVATIONS is 'two', not a count"),
    ],
)  # fmt: skip
def test_a_bad_setup_file_is_explained(where: str, old: str, new: str, problem: str):
    text = TEXTS[where]
    assert old in text
    with pytest.raises(InputError) as caught:
        parse(text.replace(old, new, 1), where)
    assert str(caught.value) == f"{where}{problem}. {REMEDY}"


LAYOUTS = st.lists(
    st.tuples(
        st.from_regex(r"(ER|V)[1-9][0-9]{0,4}[A-Z]?[0-9]?", fullmatch=True),
        st.integers(1, 12),
        st.text("ABCYZ 0189.;:/*#'()-", max_size=40).map(
            # A comment sign inside a label is one in SAS and Stata, too.
            lambda s: " ".join(s.replace("/*", "").replace("*/", "").split())
        ),
    ),
    min_size=1, max_size=12, unique_by=lambda f: f[0],
)  # fmt: skip


@pytest.mark.parametrize("suffix", WRITERS)
@settings(deadline=None)
@given(fields=LAYOUTS, records=st.integers(0, 10**9))
def test_any_layout_comes_back_from_any_language(suffix: str, fields, records: int):
    setup = parse(WRITERS[suffix](fields, records), f"J1{suffix}")
    ends = np.cumsum([width for _, width, _ in fields]).tolist()
    assert list(setup.fields.values()) == [
        Field(name, end - width + 1, end, label)
        for (name, width, label), end in zip(fields, ends, strict=True)
    ]
    assert (setup.record_length, setup.observations, setup.synthetic) == (ends[-1], records, True)


@settings(deadline=None)
@given(fields=LAYOUTS, junk=st.text("ABE10-9./;\"' \n*", max_size=30), data=st.data())
def test_a_damaged_setup_file_is_read_or_refused_never_a_crash(fields, junk: str, data):
    suffix = data.draw(st.sampled_from(sorted(WRITERS)))
    text = WRITERS[suffix](fields, 3)
    at = data.draw(st.integers(0, len(text)))
    cut = data.draw(st.integers(0, 40))
    try:
        setup = parse(text[:at] + junk + text[at + cut :], f"J1{suffix}")
    except InputError:
        return
    assert all(1 <= f.start <= f.end <= setup.record_length for f in setup.fields.values())


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("5 - 6 ", "5 - 5 ", "ER30002 has columns 5 - 5, but has columns 5 - 6 in J1.sas"),
        ("OBSERVATIONS: 2", "OBSERVATIONS: 1234",
         "there are 1,234 records, but 2 by J1.sas"),
        ("LENGTH   : 9", "LENGTH   : 10", "records have 10 columns, but 9 by J1.sas"),
    ],
)  # fmt: skip
def test_setup_files_that_disagree(old: str, new: str, problem: str):
    setup_files.check_agreement([parse(text, where) for where, text in TEXTS.items()])
    other = parse(STATA.replace(old, new, 1), "J1.do")
    with pytest.raises(InputError) as caught:
        setup_files.check_agreement([parse(SETUP), other])
    assert str(caught.value) == f"J1.do: {problem}. {REMEDY}"


def test_a_variable_of_one_setup_file_only():
    less = STATA.replace("N_OF_VARIABLES   : 3", "N_OF_VARIABLES   : 2", 1)
    less = less.replace(" double V1                  7 - 9   \n", "")
    with pytest.raises(InputError) as caught:
        setup_files.check_agreement([parse(SETUP), parse(less, "J1.do")])
    assert str(caught.value) == (f"J1.do: V1 is missing, but has columns 7 - 9 in J1.sas. {REMEDY}")


# --- fixed-width text


def test_touching_columns_blanks_decimals_and_a_last_line_without_its_end():
    got = columns(b"1234561.5\r\n   7 8   ", parse(SETUP))
    assert got["ER30001"] == [1234, 7]
    assert got["ER30002"] == [56, 8]
    assert got["V1"][0] == 1.5
    assert np.isnan(got["V1"][1])


@settings(deadline=None)
@given(data=st.data())
def test_any_numbers_come_back_as_they_were_written(data: st.DataObject):
    widths = data.draw(st.lists(st.integers(1, 7), min_size=1, max_size=6))
    cell = [st.none() | st.integers(-(10 ** (w - 1)) + 1, 10**w - 1) for w in widths]
    rows = data.draw(st.lists(st.tuples(*cell), min_size=1, max_size=20))
    chunk = data.draw(st.integers(1, 7))
    fields = [(f"V{i}", width, f"LABEL {i}") for i, width in enumerate(widths)]
    written = {f"V{i}": [row[i] for row in rows] for i in range(len(widths))}
    setup = parse(synthetic_psid.setup_text(fields, len(rows)))
    read = columns(synthetic_psid.data_text(fields, written).encode(), setup, chunk=chunk)
    got = {n: [None if np.isnan(v) else int(v) for v in vs] for n, vs in read.items()}
    assert got == written


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"123456789\n1234567 \n",
         "J1.txt, line 2: a short record: 8 characters, but MAX_REC_LENGTH in J1.sas is 9."),
        (b"123456789\n123456\r\n",
         "J1.txt, line 2: a short record: 6 characters, but MAX_REC_LENGTH in J1.sas is 9 (an "
         "editor may have removed the blanks at its end)."),
        (b"123456789\n12345",
         "J1.txt, line 2: a short record: 5 characters, but MAX_REC_LENGTH in J1.sas is 9 (the "
         "text may be cut off here)."),
        (b"123456789\n1234567890\n",
         "J1.txt, line 2: a long record: 10 characters, but MAX_REC_LENGTH in J1.sas is 9."),
        (b"\xef\xbb\xbf123456789\n",
         "J1.txt, line 1: a long record: 12 characters, but MAX_REC_LENGTH in J1.sas is 9 (an "
         "editor put a byte order mark before it)."),
        (b"123456789\n\n123456789\n", "J1.txt, line 2: an empty line."),
        (b"123456789\r123456789\r",
         "J1.txt, line 1: holds a carriage return (CR) inside the line; lines must end in LF or "
         "CRLF, not in CR alone."),
        (b"123456789\n",
         "J1.txt: 1 records, but N_OF_OBSERVATIONS in J1.sas is 2."),
        (b"123456789\n" * 3,
         "J1.txt: 3 records, but N_OF_OBSERVATIONS in J1.sas is 2."),
        (b"", "J1.txt: 0 records, but N_OF_OBSERVATIONS in J1.sas is 2."),
        (b"123456789\n12 456789\n",
         "J1.txt, line 2, columns 1 - 4 (ER30001): '12 4' is not a number."),
        (b"123456789\n12345x789\n",
         "J1.txt, line 2, columns 5 - 6 (ER30002): '5x' is not a number."),
        (b"123456789\n1234 \x00789\n",
         "J1.txt, line 2, columns 5 - 6 (ER30002): ' ?' is not a number."),
        (b"123456NaN\n123456789\n",
         "J1.txt, line 1, columns 7 - 9 (V1): 'NaN' is not a number."),
        (b"1234567\xe99\n123456789\n",
         "J1.txt, line 1, columns 7 - 9 (V1): '7\\xe99' is not a number."),
    ],
)  # fmt: skip
@pytest.mark.parametrize("chunk", [1, 100])
def test_bad_text_is_named_by_line_and_columns(text: bytes, message: str, chunk: int):
    setup = parse(SETUP)
    with pytest.raises(InputError) as caught:
        columns(text, setup, chunk=chunk)
    assert str(caught.value) == f"{message} {REMEDY}"
