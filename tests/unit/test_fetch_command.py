"""`fairscreen fetch`: what is asked for, what comes next, what cannot be had."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

from fairscreen import cli
from fairscreen.sources import catalogue, partial
from fetch_files import DATA, NAMES, SHA, ranges, write_until, zipped
from http_server import serving

pytestmark = pytest.mark.usefixtures("no_proxy")


def _run(argv: list[str], capsys: pytest.CaptureFixture[str]) -> tuple[int, str, str]:
    code = cli.main(["fetch", *argv])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def test_the_command_names_what_comes_next(tmp_path: Path, capsys) -> None:
    with serving(DATA) as server:
        argv = ["acs", "--year", "2016", "--state", "WY", "--state", "vt", "--state", "wy"]
        code, out, _ = _run(
            [*argv, "--from", server.url, "--out", str(tmp_path), "--json", "-"], capsys
        )
        server.data = NAMES
        _, text, _ = _run(["names", "--from", f"{server.url}/n/", "--out", str(tmp_path)], capsys)
    assert code == 0
    assert [asked[0] for asked in server.asked] == [
        "/2016/1-Year/csv_pwy.zip", "/2016/1-Year/csv_pvt.zip", "/n/names.zip",
    ]  # fmt: skip
    result = json.loads(out)
    files = [str(tmp_path / f"acs_2016_1yr_csv_p{state}.zip") for state in ("wy", "vt")]
    assert [file["file"] for file in result["files"]] == files
    assert [file["sha256"] for file in result["files"]] == [SHA, SHA]
    assert result["next"] == [
        f"fairscreen verify-acs {files[0]} {files[1]} --vintage 2016",
        f"fairscreen ingest acs {files[0]} {files[1]} --vintage 2016",
    ]
    names = tmp_path / "ssa_national_names.zip"
    assert text.splitlines() == [
        f"{names}: {len(NAMES):,} bytes, SHA-256 {hashlib.sha256(NAMES).hexdigest()}; no SHA-256 "
        "is known to compare with, the zip's own checks hold",
        f"next: fairscreen ingest ssa {names}",
    ]


_ACS = ["acs", "--state", "wy", "--year"]
_OF_2018 = zipped(b"serialno,SPORDER\n2018HU0000001,01\n")


@pytest.mark.parametrize(("argv", "data", "words"), [
    ([*_ACS, "2019"], _OF_2018, "psam_p56.csv: holds people of 2018, not of 2019 as asked for"),
    ([*_ACS, "2023", "--period", "5"], _OF_2018, "holds people of 2018, not of 2019 to 2023"),
    ([*_ACS, "2015"], zipped(name="ss16pwy.csv"), "holds people of 2016, not of 2015 as asked for"),
    ([*_ACS, "2019"], NAMES, "holds no person file (psam_p*.csv); its first file is 'yob1880.txt'"),
    ([*_ACS, "2019"], zipped(name="psam_h56.csv"), "holds no person file"),
    ([*_ACS, "2019"], zipped(b"a,b\n"), "psam_p56.csv, line 1: column SERIALNO is missing"),
    (["names"], DATA, "is a zip, but holds no first names (yobYYYY.txt)"),
])  # fmt: skip
def test_a_sound_zip_of_something_else_gets_no_name(argv, data, words, tmp_path, capsys) -> None:
    with serving(data) as server:
        code, _, err = _run([*argv, "--from", server.url, "--out", str(tmp_path)], capsys)
    assert code == 2
    line = err.strip().splitlines()[-1]
    assert words in line
    assert line.startswith(f"error: {server.url}/")
    assert line.endswith("Check the address; with --from, that of the folder.")
    assert [f.suffix for f in tmp_path.iterdir() if f.suffix != ".lock"] == [".rejected"]


@pytest.mark.parametrize(("argv", "data"), [
    ([*_ACS, "2018"], _OF_2018),
    ([*_ACS, "2022", "--period", "5"], _OF_2018),
    ([*_ACS, "2016"], zipped(name="ss16pwy.csv")),
    (["names"], NAMES),
    (["surnames"], zipped(name="Names_2010Census.csv")),
])  # fmt: skip
def test_what_was_asked_for_gets_its_name(argv, data, tmp_path, capsys) -> None:
    argv = [*argv, "--out", str(tmp_path), "--sha256", hashlib.sha256(data).hexdigest()]
    with serving(data) as server:
        code, _, err = _run([*argv, "--from", server.url], capsys)
    assert code == 0, err
    assert len(list(tmp_path.glob("*.zip"))) == 1


def test_ctrl_c_keeps_the_part(tmp_path: Path, monkeypatch, capsys) -> None:
    monkeypatch.setattr(partial.os, "write", write_until(50_000, KeyboardInterrupt()))
    with serving(NAMES) as server:
        argv = ["names", "--from", server.url, "--out", str(tmp_path)]
        assert _run(argv, capsys)[0] == 4
        assert (tmp_path / "ssa_national_names.zip.part").stat().st_size == 50_000
        monkeypatch.undo()
        assert _run(argv, capsys)[0] == 0
    assert ranges(server) == [None, "bytes=50000-"]


@pytest.mark.parametrize(("argv", "words"), [
    (["acs", "--year", "2020"], "--year 2020: the Bureau released no standard 1-year file"),
    (["acs", "--year", "2004"], "--year 2004: there is no 1-year person file"),
    (["acs", "--year", "2008", "--period", "5"], "The 5-year files begin with 2009."),
    (["acs", "--year", "2018", "--state", "xx"], "--state xx: is no state"),
    (["acs", "--year", "2018", "--sha256", SHA, "--state", "wy", "--state", "vt"], "one digest"),
    (["names", "--sha256", "abc"], "--sha256: is not 64 hex digits"),
    (["names", "--from", "ftp://example.org"], "ftp://example.org: is no address that begins"),
    (["names", "--from", "https://u:pw@example.org:99999"], "address: cannot be read"),
    (["names", "--from", "https://u:pw@example..org"], "address: cannot be read"),
    (["names", "--from", "https://u:pw@example.org/?a"], "https://example.org/: holds ?, #"),
    (["names", "--out", "/dev/null/x"], "--out /dev/null/x: not a directory"),
    (["psid"], "choose SAS, Stata or SPSS statements"),
    (["psid"], "forbids passing them on. Register at https://psidonline.isr.umich.edu"),
    (["nsfg"], "invalid choice: 'nsfg'"),
])  # fmt: skip
def test_what_cannot_be_fetched_is_one_line(argv, words, capsys) -> None:
    code, out, err = _run(argv, capsys)
    assert (code, out) == (2, "")
    (line,) = err.strip().splitlines()
    assert words in line
    assert "pw" not in line


@pytest.mark.parametrize(("year", "period", "states", "address"), [
    (2006, 1, ["wy"], "pums/2006/csv_pwy.zip"),
    (2007, 1, [], "pums/2007/1-Year/csv_pus.zip"),
    (2020, 5, ["PR"], "pums/2020/5-Year/csv_ppr.zip"),
    (2024, 1, ["dc"], "pums/2024/1-Year/csv_pdc.zip"),
])  # fmt: skip
def test_addresses_of_person_files(year, period, states, address) -> None:
    (item,) = catalogue.acs(year, period, states)
    assert item.url == f"https://www2.census.gov/programs-surveys/acs/data/{address}"


def test_recorded_digests_are_of_files_in_the_catalogue() -> None:
    names = {i.file for i in catalogue.acs(2018, 1, catalogue.AREAS)}
    names.add(catalogue.single("surnames").file)
    assert set(catalogue.load().recorded) <= names
    assert catalogue.single("names").expected is None  # the SSA replaces it every year


def test_the_shipped_person_files_are_as_recorded() -> None:
    from fairscreen import resources

    for item in catalogue.acs(2018, 1, ["wy", "vt"]):
        shipped = resources.path("conf", "data", item.file.replace("_1yr", ""))
        assert item.expected
        assert hashlib.sha256(shipped.read_bytes()).hexdigest() == item.expected.sha256
        assert shipped.stat().st_size == item.expected.size
