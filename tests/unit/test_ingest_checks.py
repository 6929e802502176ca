"""`fairscreen ingest` on a bad file: refused before Spark starts, whatever the kind."""

from __future__ import annotations

from pathlib import Path

import pytest

from acs_files import person, write, zipped
from fairscreen import cli, config, resources, session
from fairscreen.stations import ingest
from psid_files import FIELDS, couple, package


def acs(folder: Path) -> Path:
    return zipped(folder / "a.zip", person(), person(SPORDER="02", AGEP="121"))


def ssa(folder: Path) -> Path:
    return write(folder / "a.zip", {"yob1700.txt": "Ann,F,5\n"})


def names(folder: Path) -> Path:
    out = folder / "a.csv"
    out.write_text("name,gender,count\nAnn,F,many\n")
    return out


def surnames(folder: Path) -> Path:
    return write(folder / "a.zip", {"Names.csv": "name,count\n"})


def psid(folder: Path) -> Path:
    fields = [f for f in FIELDS if f[0] != "ER72472"]
    return package(folder / "a.zip", couple(), fields=fields)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (acs, ", psam_p56.csv, line 3, column AGEP: 121 is above 120. Give the person zip as the "
         "Census Bureau ships it (such as csv_pwy.zip)."),
        (ssa, ", member yob1700.txt: birth year 1700 is not between 1880 and 2100. Download "
         "names.zip (national data) from the SSA's baby names page again."),
        (names, ", line 2, count: 'many' is not a whole number above 0. Correct the count, or "
         "remove the row."),
        (surnames, ", member Names.csv, line 1: columns pctwhite, pctblack, pctapi, pctaian, "
         "pct2prace, pcthispanic missing. Download names.zip of the 2010 surnames from the Census "
         "Bureau again."),
        (psid, ", member J1.sas: variable ER72472 of wave 2019 is missing. Add ER72472 to the Data "
         "Center's cart and download again."),
    ],
)  # fmt: skip
def test_a_bad_file_never_reaches_spark(tmp_path, monkeypatch, capsys, make, message) -> None:
    def never(*args: object, **options: object) -> None:
        raise AssertionError("Spark was started")

    monkeypatch.setattr(session, "get_session", never)
    path = make(tmp_path)
    argv = ["ingest", make.__name__, str(path), "--warehouse", str(tmp_path / "w")]
    assert cli.main(argv) == 2
    assert capsys.readouterr().err == f"error: {path}{message}\n"
    assert not (tmp_path / "w").exists()


def test_a_crosswalk_of_the_users_own_is_checked_first(tmp_path, monkeypatch, capsys) -> None:
    monkeypatch.setattr(session, "get_session", lambda: pytest.fail("Spark was started"))
    path = package(tmp_path / "a.zip", couple())
    argv = ["ingest", "psid", str(path), "--warehouse", str(tmp_path / "w"), "--crosswalk"]
    assert cli.main([*argv, str(tmp_path / "none.yml")]) == 2
    assert capsys.readouterr().err == (
        f"error: {tmp_path / 'none.yml'}: no such file or directory. conf/psid_crosswalk.yml "
        "shows the form.\n"
    )
    text = resources.path("conf", "psid_crosswalk.yml").read_text(encoding="utf-8")
    file = tmp_path / "walk.yml"
    file.write_text(text.replace("ER78198", "ER1"), encoding="utf-8")
    assert cli.main([*argv, str(file)]) == 2
    assert capsys.readouterr().err == (
        f"error: {path}, member J1.sas: variable ER1 of wave 2021 is missing. Add ER1 to the Data "
        "Center's cart and download again.\n"
    )
    assert cli.main(["ingest", "ssa", "x.zip", "--crosswalk", str(file)]) == 2
    assert capsys.readouterr().err == ("error: --crosswalk: does not apply to ssa. Leave it out.\n")


@pytest.mark.parametrize("kind", ["names", "ssa", "surnames", "psid"])
def test_a_vintage_is_of_acs_files_only(monkeypatch, capsys, kind: str) -> None:
    monkeypatch.setattr(session, "get_session", lambda: pytest.fail("Spark was started"))
    assert cli.main(["ingest", kind, "x.csv", "--vintage", "2018"]) == 2
    message = f"error: --vintage: does not apply to {kind}. Leave it out.\n"
    assert capsys.readouterr().err == message


def test_the_warehouse_is_looked_at_first(tmp_path, capsys) -> None:
    file = tmp_path / "file"
    file.touch()
    argv = ["ingest", "acs", str(tmp_path / "none.zip"), "--warehouse", str(file)]
    assert cli.main(argv) == 2
    assert capsys.readouterr().err == (
        f"error: warehouse {file}: {file} is a file, not a folder. Give --warehouse a folder that "
        "you can write to.\n"
    )


@pytest.mark.parametrize(
    ("kind", "file"),
    [
        ("ssa", "ssa_national_names.zip"),
        ("surnames", "census_2010_surnames.zip"),
        ("psid", "psid_synthetic.zip"),
        ("postings", "postings.parquet"),
    ],
)
def test_the_shipped_files_pass(kind: str, file: str) -> None:
    assert ingest.check(kind, [f"bundled:{file}"]) is None


def test_an_audit_names_one_psid_package_or_several() -> None:
    sources = config.load(resources.path("conf", "audits", "demo.yml")).sources
    assert ingest.wanted(sources)["psid"] == ("bundled:psid_synthetic.zip",)
    two = sources.model_copy(update={"psid": ("J1.zip", "J2.zip")})
    assert ingest.wanted(two)["psid"] == ("J1.zip", "J2.zip")


def test_what_the_check_read_is_kept_for_the_ingest(tmp_path: Path) -> None:
    path = zipped(tmp_path / "a.zip", person(SERIALNO="0000012"))
    survey = ingest.check("acs", [str(path), str(path)], vintage=2014)
    assert survey is not None
    assert [[f.member.vintage for f in files] for files in survey] == [[2014], [2014]]
