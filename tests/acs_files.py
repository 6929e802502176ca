"""Person files as the tests need them: small, in the Bureau's layout, made on the spot."""

from __future__ import annotations

import csv
import io
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from fairscreen import resources

REPLICATES = [f"PWGTP{r}" for r in range(1, 81)]

PERSON = {
    "RT": "P",
    "SERIALNO": "2018HU0000001",
    "SPORDER": "01",
    "PUMA": "00100",
    "ST": "56",
    "PWGTP": "48",
    "AGEP": "33",
    "SEX": "1",
    "RAC1P": "1",
    "HISP": "01",
    "SCHL": "16",
    "ESR": "1",
    "OCCP": "0010",
    "RELP": "00",
    **{name: str(r - 2) for r, name in enumerate(REPLICATES)},  # negative and zero are legal
}


def person(**changes: str | None) -> dict[str, str]:
    """One row; `COLUMN=None` leaves the column out."""
    return {k: v for k, v in {**PERSON, **changes}.items() if v is not None}


def newer(**changes: str | None) -> dict[str, str]:
    """The same in the layout of 2023 and later, without replicate weights."""
    none = dict.fromkeys(REPLICATES)
    serial = "2024HU0000001"
    return person(**{"ST": None, "STATE": "01", "RELP": None, "RELSHIPP": "20", **none,
                     "SERIALNO": serial, **changes})  # fmt: skip


def text(rows: Sequence[Mapping[str, str]], *, end: str = "\n", mark: str = ",") -> str:
    lines = [mark.join(rows[0]), *(mark.join(r.values()) for r in rows)]
    return end.join(lines) + end


def write(path: Path, members: Mapping[str, str | bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as bundle:
        for name, content in members.items():
            bundle.writestr(name, content)
    return path


def zipped(path: Path, *rows: Mapping[str, str], name: str = "psam_p56.csv") -> Path:
    return write(path, {name: text(rows)})


FIVE_YEARS = range(2018, 2023)


def five_year_members(every: int = 10) -> dict[str, str]:
    """A national 5-year file in the layout of 2018 to 2022: psam_pusa.csv to psam_pusd.csv.

    Every k-th person of the shipped Vermont and Wyoming files of 2018, spread over five survey
    years: PUMA10 and PUMA20 in place of PUMA, RELSHIPP in place of RELP. Member d is so small that
    it holds one year only.
    """
    vermont, wyoming = (_shipped(state)[::every] for state in ("vt", "wy"))
    half = len(vermont) // 2
    parts = {"a": vermont[:half], "b": vermont[half:], "c": wyoming[:-3], "d": wyoming[-3:]}
    rows = {
        letter: [_of_five(r, i if letter != "d" else 2) for i, r in enumerate(part)]
        for letter, part in parts.items()
    }
    return {f"psam_pus{letter}.csv": text(part) for letter, part in rows.items()}


def _shipped(state: str) -> list[dict[str, str]]:
    file = resources.resolve(f"bundled:acs_2018_csv_p{state}.zip")
    with zipfile.ZipFile(file) as bundle:
        member = next(n for n in bundle.namelist() if n.endswith(".csv"))
        return list(csv.DictReader(io.StringIO(bundle.read(member).decode())))


def _of_five(row: dict[str, str], number: int) -> dict[str, str]:
    year = FIVE_YEARS[number % 5]
    place = {"PUMA10": row["PUMA"], "PUMA20": "-0009"}
    if year == FIVE_YEARS[-1]:
        place = {"PUMA10": "-0009", "PUMA20": row["PUMA"]}
    quarters = {"16": "37", "17": "38"}
    kept = ("AGEP", "SCHL", "SEX", "ESR", "HISP", "OCCP", "RAC1P", *REPLICATES)
    return {
        "RT": "P",
        "SERIALNO": f"{year}{row['SERIALNO'][4:]}",
        "DIVISION": row["DIVISION"],
        "SPORDER": row["SPORDER"],
        **place,
        "REGION": row["REGION"],
        "ST": row["ST"],
        "PWGTP": row["PWGTP"],
        "RELSHIPP": quarters.get(row["RELP"], f"{20 + int(row['RELP']):02d}"),
        **{name: row[name] for name in kept},
    }
