"""Person files in the Bureau's layouts are read; every kind of bad file says where and what."""

from __future__ import annotations

import hashlib
import json
import re
import zipfile
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from acs_files import PERSON, REPLICATES, newer, person, text, write, zipped
from fairscreen.errors import InputError, from_worker
from fairscreen.sources.acs_layout import SCHEMA, person_keys, person_name
from fairscreen.sources.acs_pums import _read_members
from fairscreen.sources.acs_reader import batches, inspect, scan
from fairscreen.sources.acs_survey import survey_files
from fairscreen.tables import ddl_statements

OFFICIAL = "Give the person zip as the Census Bureau ships it (such as csv_pwy.zip)."
AGAIN = "Download the file again."
SHEET = (
    "A spreadsheet has rewritten this file. Give the zip as the Census Bureau ships it, "
    "never opened and saved."
)


def read(path: Path, **options: int) -> list[dict[str, object]]:
    return [
        row
        for member in inspect(path)
        for batch in batches(member, **options)
        for row in batch.to_pylist()
    ]


def test_columns_are_those_of_the_table() -> None:
    types = {pa.int32(): "INT", pa.string(): "STRING", pa.list_(pa.int32()): "ARRAY<INT>"}
    ours = [(f.name, types[f.type]) for f in SCHEMA]
    assert re.findall(r"^  (\w+) ([\w<>]+)", ddl_statements("acs_person")[0], re.M) == ours


def test_layout_to_2018(tmp_path: Path) -> None:
    rows = [person(), person(SPORDER="02", SCHL="", ESR="", OCCP="", AGEP="2", RELP="02")]
    content = text(rows)
    path = write(tmp_path / "csv_pwy.zip", {"psam_p56.csv": content, "README.pdf": b"%PDF"})
    (member,) = inspect(path)
    assert (member.state_column, member.relationship_column, member.vintage) == ("ST", "RELP", 2018)
    assert member.has_replicate_weights
    assert member.columns == tuple(PERSON)
    assert member.size == len(content)
    sha = hashlib.sha256(content.encode()).hexdigest()
    first, second = read(path)
    assert first == {
        "vintage": 2018, "period": 1, "serialno": "2018HU0000001", "sporder": "01", "state": "56",
        "puma": "00100", "age": 33, "sex": "1", "rac1p": "1", "hisp": "01", "schl": "16",
        "esr": "1", "occp": "0010", "relationship": "00", "pwgtp": 48,
        "replicate_weights": list(range(-2, 78)), "source_sha256": sha,
    }  # fmt: skip
    assert second["schl"] is None
    assert second["esr"] is None
    assert second["occp"] is None


def test_layout_of_2023_without_weights_in_two_members(tmp_path: Path) -> None:
    a, b = newer(), newer(STATE="02", SERIALNO="2024GQ0000009")
    members = {"psam_pusa.csv": text([a]), "psam_pusb.csv": text([b])}
    path = write(tmp_path / "csv_pus.zip", members)
    first, second = inspect(path)
    assert (first.member, second.member) == ("psam_pusa.csv", "psam_pusb.csv")
    assert (first.state_column, first.relationship_column) == ("STATE", "RELSHIPP")
    assert not first.has_replicate_weights
    rows = read(path)
    assert [r["state"] for r in rows] == ["01", "02"]
    assert [r["relationship"] for r in rows] == ["20", "20"]
    assert [r["replicate_weights"] for r in rows] == [None, None]
    assert {r["vintage"] for r in rows} == {2024}


def test_no_relationship_column(tmp_path: Path) -> None:
    (row,) = read(zipped(tmp_path / "a.zip", person(RELP=None)))
    assert row["relationship"] is None


@pytest.mark.parametrize(
    "content",
    [
        text([person()], end="\r\n"),
        "\ufeff" + text([person()]),
        text([person()]).rstrip("\n"),
        text([person()]) + "\n",
        text([{k.lower(): v for k, v in person().items()}]),
        text([{f'"{k}"': f'"{v}"' for k, v in person().items()}]),
    ],
    ids=["CRLF", "BOM", "no last newline", "blank line", "lower-case header", "quoted"],
)
def test_harmless_variants(tmp_path: Path, content: str) -> None:
    plain = read(zipped(tmp_path / "plain.zip", person()))
    rows = read(write(tmp_path / "a.zip", {"psam_p56.csv": content}))
    same = set(SCHEMA.names) - {"source_sha256"}
    assert [{k: r[k] for k in same} for r in rows] == [{k: r[k] for k in same} for r in plain]


def test_padded_numbers_of_old_files(tmp_path: Path) -> None:
    (row,) = read(zipped(tmp_path / "a.zip", person(PWGTP="00048", AGEP="05", PWGTP1="-0012")))
    assert (row["pwgtp"], row["age"], row["replicate_weights"][0]) == (48, 5, -12)


def test_the_ends_of_the_ranges_are_legal(tmp_path: Path) -> None:
    (row,) = read(zipped(tmp_path / "a.zip", person(PWGTP="0", AGEP="120", ST="72")))
    assert (row["pwgtp"], row["age"], row["state"]) == (0, 120, "72")


def test_vintage_given(tmp_path: Path) -> None:
    old = zipped(tmp_path / "old.zip", person(SERIALNO="0000012"))
    assert inspect(old, vintage=2014)[0].vintage == 2014
    (member,) = inspect(old, vintage=2014)
    assert [r["vintage"] for b in batches(member) for r in b.to_pylist()] == [2014]


def test_a_bad_code_deep_in_the_file_is_left_to_the_full_parse(tmp_path: Path) -> None:
    """Below the lines that the cheap pass looks at in full."""
    rows = [person(SERIALNO=f"2018HU{i:07d}") for i in range(1500)]
    path = zipped(tmp_path / "a.zip", *rows, person(SERIALNO="2018HU0001500", HISP="77"))
    (file,), _ = survey_files([path])
    with pytest.raises(InputError, match=r"line 1502, column HISP: '77' is not 01 to 24\."):
        list(batches(file.member, sha256=file.scan.sha256))


@pytest.mark.parametrize("year", [2018, 2023])
def test_codes_are_those_of_the_relationship_column(tmp_path: Path, year: int) -> None:
    """Every code of the column is read; none of the other column's."""
    old, new = [f"{c:02d}" for c in range(18)], [str(c) for c in range(20, 39)]
    mine, others = (old, new) if year == 2018 else (new, old)
    make = person if year == 2018 else newer
    name = "RELP" if year == 2018 else "RELSHIPP"
    serial = [f"{year}HU{i:07d}" for i in range(len(mine))]
    rows = [make(SERIALNO=s, **{name: c}) for s, c in zip(serial, mine, strict=True)]
    assert [r["relationship"] for r in read(zipped(tmp_path / "a.zip", *rows))] == mine
    with pytest.raises(InputError, match=f"column {name}: '{others[0]}' is not {mine[0]} to"):
        read(zipped(tmp_path / "b.zip", make(**{name: others[0]})))


person_rows = st.lists(
    st.builds(
        lambda serial, order, **codes: person(
            SERIALNO=f"2018HU{serial:07d}", SPORDER=f"{order:02d}", **codes
        ),
        st.integers(0, 9_999_999), st.integers(1, 20),
        AGEP=st.integers(0, 99).map(str),
        SEX=st.sampled_from("12"), RAC1P=st.sampled_from("123456789"),
        HISP=st.integers(1, 24).map("{:02d}".format),
        SCHL=st.one_of(st.just(""), st.integers(1, 24).map("{:02d}".format)),
        ESR=st.sampled_from(["", "1", "6"]),
        OCCP=st.one_of(st.just(""), st.integers(0, 9999).map("{:04d}".format)),
        PUMA=st.integers(0, 99999).map("{:05d}".format),
        PWGTP=st.integers(1, 5000).map(str), PWGTP80=st.integers(-500, 5000).map(str),
    ),
    min_size=1, max_size=30, unique_by=lambda r: (r["SERIALNO"], r["SPORDER"]),
)  # fmt: skip


@settings(max_examples=40, deadline=None)
@given(rows=person_rows, block=st.integers(2000, 20_000), crlf=st.booleans())
def test_round_trip(
    tmp_path_factory: pytest.TempPathFactory, rows: list[dict[str, str]], block: int, crlf: bool
) -> None:
    """Whatever the Bureau may write comes back, in order, however small the blocks are."""
    content = text(rows, end="\r\n" if crlf else "\n")
    path = write(tmp_path_factory.mktemp("p") / "a.zip", {"psam_p56.csv": content})
    back = read(path, batch_bytes=block)
    columns = {"SERIALNO": "serialno", "SPORDER": "sporder", "ST": "state", "PUMA": "puma",
               "SEX": "sex", "RAC1P": "rac1p", "HISP": "hisp", "SCHL": "schl", "ESR": "esr",
               "OCCP": "occp", "RELP": "relationship"}  # fmt: skip
    for name, field in columns.items():
        assert [r[field] or "" for r in back] == [r[name] for r in rows]
    assert [str(r["age"]) for r in back] == [r["AGEP"] for r in rows]
    assert [str(r["pwgtp"]) for r in back] == [r["PWGTP"] for r in rows]
    weights = [[str(w) for w in r["replicate_weights"]] for r in back]
    assert weights == [[r[c] for c in REPLICATES] for r in rows]
    seen = scan(inspect(path)[0])
    assert (seen.rows, seen.states) == (len(rows), frozenset({"56"}))
    assert len(set(seen.keys.tolist())) == len(rows)


def test_keys_can_be_read_back() -> None:
    serial = pa.array(["2018HU0000563", "2018GQ9999999", "2017000000016"])
    keys = person_keys(serial, pa.array(["01", "20", "03"]))
    assert [person_name(k) for k in keys] == [
        "SERIALNO 2018HU0000563, SPORDER 01",
        "SERIALNO 2018GQ9999999, SPORDER 20",
        "SERIALNO 2017000000016, SPORDER 03",
    ]


def csv_with(content: str | bytes, name: str = "psam_p56.csv") -> Callable[[Path], Path]:
    return lambda folder: write(folder / "a.zip", {name: content})


def people(*changes: dict[str, str | None], **every: str | None) -> Callable[[Path], Path]:
    rows = [person(**{**every, **c}) for c in changes or ({},)]
    return csv_with(text(rows))


def _cut(folder: Path) -> Path:
    path = zipped(folder / "a.zip", person())
    path.write_bytes(path.read_bytes()[:-40])
    return path


def _damaged(folder: Path) -> Path:
    """One byte of the stored content flipped: the checksum no longer fits."""
    path = folder / "a.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as bundle:
        bundle.writestr("psam_p56.csv", text([person(AGEP="77")]))
    raw = path.read_bytes()
    path.write_bytes(raw.replace(b",77,", b",78,", 1))
    return path


def _damaged_far(folder: Path) -> Path:
    """The same in a compressed file too long for one look: Arrow is reading when it shows."""
    rows = [person(SERIALNO=f"2018HU{i:07d}", AGEP=str(i % 90)) for i in range(3000)]
    raw = bytearray(zipped(folder / "a.zip", *rows).read_bytes())
    raw[len(raw) * 3 // 4] ^= 0xFF
    (folder / "a.zip").write_bytes(bytes(raw))
    return folder / "a.zip"


def _encrypted(folder: Path) -> Path:
    """The flag that says `encrypted`, set in both headers; zipfile then asks for a password."""
    path = zipped(folder / "a.zip", person())
    raw = bytearray(path.read_bytes())
    for signature, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        raw[raw.index(signature) + offset] |= 1
    path.write_bytes(bytes(raw))
    return path


def _plain(folder: Path) -> Path:
    path = folder / "a.zip"
    path.write_text(text([person()]), encoding="utf-8")
    return path


ROW = text([person()]).splitlines()[1]
HEADER = text([person()]).splitlines()[0]
LATIN = text([person(), person(SPORDER="02")]).encode().replace(b",02,", b",\xe92,")
FAR = text([person(NAPCSP="ok"), person(SPORDER="02", NAPCSP="caf#")]).encode()

STATE = "a two-digit FIPS code of a state, DC or Puerto Rico"
BROAD = "x" * 200_000
CR = "holds a carriage return (CR) inside the line; lines must end in LF or CRLF, not in CR alone"

BAD: dict[str, tuple[Callable[[Path], Path], str]] = {
    "no such file": (lambda d: d / "a.zip", "FILE: does not exist. Check the path; give the "
                     "Bureau's zip."),
    "a folder": (lambda d: d, "FOLDER: is a folder. Give the zip files in it."),
    "a bare CSV": (_plain, f"FILE: is not a zip. {OFFICIAL}"),
    "truncated": (_cut, f"FILE: is not a zip, or is cut off at its end. {AGAIN}"),
    "damaged": (_damaged, "FILE, member psam_p56.csv: is damaged: its bytes fail the zip's own "
                f"check. {AGAIN}"),
    "damaged far on": (_damaged_far, "FILE, member psam_p56.csv: is damaged: its bytes fail the "
                       f"zip's own check. {AGAIN}"),
    "encrypted": (_encrypted, f"FILE, psam_p56.csv: is encrypted. {OFFICIAL}"),
    "no CSV": (csv_with(b"%PDF", "README.pdf"), f"FILE: holds no CSV file. {OFFICIAL}"),
    "empty": (csv_with(""), f"FILE, psam_p56.csv: is empty. {OFFICIAL}"),
    "blank lines only": (csv_with("\n \n\n"), f"FILE, psam_p56.csv: is empty. {OFFICIAL}"),
    "blank lines first": (csv_with("\n \n" + text([person()])), "FILE, psam_p56.csv, line 1: is "
                          "blank; the header must stand there, and the first text is in line 3. "
                          f"{OFFICIAL}"),
    "CR alone": (csv_with(text([person()], end="\r")), f"FILE, psam_p56.csv, line 1: {CR}. "
                 f"{OFFICIAL}"),
    "CR alone, long": (csv_with(text([person()] * 4000, end="\r")), "FILE, psam_p56.csv, line 1: "
                       f"{CR}. {OFFICIAL}"),
    "CR alone below the header": (csv_with(f"{HEADER}\n{ROW}\r{ROW}\r"), "FILE, psam_p56.csv, "
                                  f"line 2: {CR}. {OFFICIAL}"),
    "CR in a bad line": (csv_with(f"{HEADER}\n{ROW}\n{ROW[:-1]}\r,1\n"), "FILE, psam_p56.csv, "
                         f"line 3: {CR}. {OFFICIAL}"),
    "200 kB in a field": (people(NAPCSP=BROAD), "FILE, psam_p56.csv, line 2: cannot be split into "
                          f"fields: field larger than field limit (131072). {OFFICIAL}"),
    "200 kB in a bad line": (csv_with(f'{HEADER}\n{ROW}\n"{BROAD}"\n'), "FILE, psam_p56.csv, line "
                             "3: cannot be split into fields: field larger than field limit "
                             f"(131072). {OFFICIAL}"),
    "header only": (csv_with(HEADER + "\n\n"), "FILE, psam_p56.csv: holds a header and no people. "
                    "Give a complete person file."),
    "missing column": (people(SCHL=None), "FILE, psam_p56.csv: column SCHL is missing. "
                       f"{OFFICIAL}"),
    "missing state": (people(ST=None), "FILE, psam_p56.csv: column ST or STATE is missing. "
                      f"{OFFICIAL}"),
    "two states": (people(STATE="56"), "FILE, psam_p56.csv: columns ST and STATE are both there; "
                   f"only one can be the state. {OFFICIAL}"),
    "housing by name": (csv_with("RT,SERIALNO,WGTP\nH,2018HU0000001,3\n", "psam_h56.csv"),
                        "FILE, psam_h56.csv: this is a housing file; people are in the person "
                        f"file. {OFFICIAL}"),
    "housing by content": (csv_with("RT,SERIALNO,WGTP\nH,2018HU0000001,3\n"),
                           "FILE, psam_p56.csv: this is a housing file; people are in the person "
                           f"file. {OFFICIAL}"),
    "duplicate column": (csv_with(f"{HEADER},SEX\n{ROW},1\n"), "FILE, psam_p56.csv, line 1, column "
                         f"SEX: the header names this column twice. {OFFICIAL}"),
    "some weights": (people(PWGTP41=None), "FILE, psam_p56.csv: has 79 of the 80 replicate "
                     "weights; PWGTP41 is missing. Give all 80 or none of them."),
    "semicolons": (csv_with(text([person()], mark=";")), "FILE, psam_p56.csv, line 1: the header "
                   f"is separated by semicolons, not by commas. {OFFICIAL}"),
    "tabs": (csv_with(text([person()], mark="\t")), "FILE, psam_p56.csv, line 1: the header is "
             f"separated by tabs, not by commas. {OFFICIAL}"),
    "UTF-16": (csv_with(text([person()]).encode("utf-16")), "FILE, psam_p56.csv, line 1: byte 1 is "
               f"not UTF-8. {OFFICIAL}"),
    "Latin-1 in a code": (csv_with(LATIN), "FILE, psam_p56.csv, line 3: byte 17 is not UTF-8. "
                          f"{OFFICIAL}"),
    "Latin-1 elsewhere": (csv_with(FAR.replace(b"#", b"\xe9")), "FILE, psam_p56.csv, line 3: byte "
                          f"{FAR.splitlines()[2].index(b'#') + 1} is not UTF-8. {OFFICIAL}"),
    "text in a number": (people({}, {"SPORDER": "02", "AGEP": "old"}), "FILE, psam_p56.csv, line "
                         f"3, column AGEP: 'old' is not a whole number. {OFFICIAL}"),
    "decimal weight": (people(PWGTP7="1.5"), "FILE, psam_p56.csv, line 2, column PWGTP7: '1.5' is "
                       f"not a whole number. {OFFICIAL}"),
    "empty weight": (people(PWGTP7=""), "FILE, psam_p56.csv, line 2, column PWGTP7: is empty; it "
                     f"must be a whole number. {OFFICIAL}"),
    "huge weight": (people(PWGTP="3000000000"), "FILE, psam_p56.csv, line 2, column PWGTP: "
                    f"3000000000 is too large for a weight or an age. {OFFICIAL}"),
    "negative age": (people(AGEP="-1"), "FILE, psam_p56.csv, line 2, column AGEP: -1 is below 0. "
                     f"{OFFICIAL}"),
    "age above 120": (people({}, {"SPORDER": "02", "AGEP": "121"}), "FILE, psam_p56.csv, line 3, "
                      f"column AGEP: 121 is above 120. {OFFICIAL}"),
    "negative weight": (people(PWGTP="-4"), "FILE, psam_p56.csv, line 2, column PWGTP: -4 is below "
                        f"0; only replicate weights may be. {OFFICIAL}"),
    "no such state": (people({}, {"SPORDER": "02", "ST": "57"}), "FILE, psam_p56.csv, line 3, "
                      f"column ST: '57' is not {STATE}. {OFFICIAL}"),
    "no state": (people(ST=""), f"FILE, psam_p56.csv, line 2, column ST: is empty; it must be "
                 f"{STATE}. {OFFICIAL}"),
    "short line": (csv_with(f"{HEADER}\n{ROW}\n{ROW.rsplit(',', 1)[0]}\n"), "FILE, psam_p56.csv, "
                   "line 3: has 93 fields, the header has 94. Repair or remove the line, or "
                   "download the file again."),
    "long line": (csv_with(f"{HEADER}\n{ROW},1\n"), "FILE, psam_p56.csv, line 2: has 95 fields, "
                  "the header has 94. Repair or remove the line, or download the file again."),
    "lost zeros, state": (people(ST="1"), "FILE, psam_p56.csv, line 2, column ST: '1' lost its "
                          f"leading zeros ({STATE}). {SHEET}"),
    "lost zeros, person": (people(SPORDER="1"), "FILE, psam_p56.csv, line 2, column SPORDER: '1' "
                           f"lost its leading zeros (two digits). {SHEET}"),
    "lost zeros, job": (people({}, {"OCCP": "10", "SPORDER": "02"}), "FILE, psam_p56.csv, line 3, "
                        f"column OCCP: '10' lost its leading zeros (four digits). {SHEET}"),
    "sex": (people(SEX="M"), "FILE, psam_p56.csv, line 2, column SEX: 'M' is not 1 or 2. "
            f"{OFFICIAL}"),
    "no sex": (people(SEX=""), "FILE, psam_p56.csv, line 2, column SEX: is empty; it must be 1 or "
               f"2. {OFFICIAL}"),
    "no vintage": (people(SERIALNO="0000012"), "FILE, psam_p56.csv, line 2, column SERIALNO: "
                   "'0000012' does not begin with the survey year. Give the year of the file with "
                   "--vintage."),
    "pooled years": (people({}, {"SERIALNO": "2019HU0000001"}), "FILE, psam_p56.csv, line 3, "
                     "column SERIALNO: is of 2019, but the vintage is 2018. Give a 1-year file, or "
                     "a pooled file with all its years."),
    "no survey year": (people({}, {"SERIALNO": "1018HU0000001"}), "FILE, psam_p56.csv, line 3, "
                       "column SERIALNO: '1018HU0000001' is not the survey year, HU or GQ, and "
                       f"seven digits. {OFFICIAL}"),
    "no such origin": (people({}, {"SPORDER": "02", "HISP": "77"}), "FILE, psam_p56.csv, line 3, "
                       f"column HISP: '77' is not 01 to 24. {OFFICIAL}"),
    "origin 00": (people(HISP="00"), "FILE, psam_p56.csv, line 2, column HISP: '00' is not 01 to "
                  f"24. {OFFICIAL}"),
    "no such schooling": (people(SCHL="25"), "FILE, psam_p56.csv, line 2, column SCHL: '25' is not "
                          f"01 to 24. {OFFICIAL}"),
    "no such relationship": (people(RELP="18"), "FILE, psam_p56.csv, line 2, column RELP: '18' is "
                             f"not 00 to 17. {OFFICIAL}"),
    "lost zeros, origin": (people(HISP="1"), "FILE, psam_p56.csv, line 2, column HISP: '1' lost "
                           f"its leading zeros (01 to 24). {SHEET}"),
    "a person twice": (people({}, {}), "FILE, psam_p56.csv: holds SERIALNO 2018HU0000001, SPORDER "
                       "01 twice (1 people in all). Download the file again; every person stands "
                       "in it once."),
}  # fmt: skip


def read_all(path: Path) -> None:
    """What an ingest does, without writing."""
    for file in survey_files([path])[0]:
        list(batches(file.member, sha256=file.scan.sha256))


@pytest.mark.parametrize(("make", "message"), BAD.values(), ids=BAD.keys())
def test_bad_input_says_where_and_what(
    tmp_path: Path, make: Callable[[Path], Path], message: str
) -> None:
    path = make(tmp_path)
    with pytest.raises(InputError) as caught:
        read_all(path)
    told = str(caught.value).replace(str(tmp_path / "a.zip"), "FILE")
    assert told.replace(str(tmp_path), "FOLDER") == message


def test_a_worker_tells_the_driver_the_same(tmp_path: Path) -> None:
    """A file that changes after the driver read it: the error survives the trip as text."""
    path = zipped(tmp_path / "a.zip", person())
    (file,), _ = survey_files([path])
    zipped(path, person(AGEP="old"))
    task = {"sha256": [file.scan.sha256], "member": [json.dumps(asdict(file.member))]}
    with pytest.raises(RuntimeError) as caught:
        list(_read_members([pa.RecordBatch.from_pydict(task)]))
    assert str(from_worker(caught.value)) == (
        f"{path}, psam_p56.csv, line 2, column AGEP: 'old' is not a whole number. {OFFICIAL}"
    )
