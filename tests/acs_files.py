"""Person files as the tests need them: small, in the Bureau's layout, made on the spot."""

from __future__ import annotations

import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path

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
