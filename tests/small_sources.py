"""Small upstream files, cut from the shipped ones: real rows, in the publishers' own layout."""

from __future__ import annotations

import zipfile
from pathlib import Path

from fairscreen import resources

STATES = {"09", "13", "25", "32", "36", "53"}


def acs(folder: Path) -> Path:
    """People of the five jobs in six states."""
    target = folder / "csv_psix.zip"
    with zipfile.ZipFile(resources.resolve("bundled:acs_2024_five_jobs.zip")) as source:
        header, *lines = source.read(source.namelist()[0]).decode().splitlines()
    state = header.split(",").index("STATE")
    kept = [line for line in lines if line.split(",")[state] in STATES]
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as out:
        out.writestr("psam_psix.csv", "\n".join([header, *kept]) + "\n")
    return target


def ssa(folder: Path) -> Path:
    """Common names of the birth years that applicants can have."""
    target = folder / "names.zip"
    with (
        zipfile.ZipFile(resources.resolve("bundled:ssa_national_names.zip")) as source,
        zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as out,
    ):
        for year in range(1978, 2009):
            lines = source.read(f"yob{year}.txt").decode().splitlines()
            kept = [line for line in lines if int(line.rsplit(",", 1)[1]) >= 400]
            out.writestr(f"yob{year}.txt", "\n".join(kept) + "\n")
    return target


def surnames(folder: Path) -> Path:
    """The 4,000 most frequent surnames, and the row that is no name."""
    target = folder / "surnames.zip"
    with zipfile.ZipFile(resources.resolve("bundled:census_2010_surnames.zip")) as source:
        member = next(n for n in source.namelist() if n.endswith(".csv"))
        header, *lines = source.read(member).decode().splitlines()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as out:
        out.writestr(member, "\n".join([header, *lines[:4000], lines[-1]]) + "\n")
    return target
