"""Small PSID packages in the true form, built from the answers of a few people."""

from __future__ import annotations

import zipfile
from pathlib import Path

from fairscreen.sources import synthetic_psid

FIELDS = synthetic_psid.layout()

#: A man of 40 and his wife of 38 in 2019; by 2021 she has moved out.
COUPLE_2019 = {
    "ER72002": 7, "ER72004": 6, "ER34701": 7,
    "ER72017": 40, "ER72018": 1, "ER76897": 1, "ER76896": 0, "ER77599": 16, "ER72195": 1020,
    "ER76961": 18, "ER76962": 17, "ER72231": 5,
    "ER72019": 38, "ER72020": 2, "ER76752": 4, "ER76751": 2, "ER77600": 14, "ER72472": 3255,
    "ER76816": 15, "ER76817": 9, "ER72508": 2,
}  # fmt: skip
ALONE_2021 = {
    "ER78002": 9, "ER78004": 53, "ER34901": 9,
    "ER78017": 42, "ER78018": 1, "ER81144": 1, "ER81143": 0, "ER81926": 16, "ER78198": 800,
    "ER81189": 20, "ER81190": 19, "ER78236": 0,
    "ER78019": 0, "ER78020": 0, "ER81017": 0, "ER81016": 0, "ER81927": 0, "ER78512": 0,
    "ER81062": 0, "ER81063": 0, "ER78550": 0,
}  # fmt: skip


def person(number: int, *, seq: tuple[int, int], rel: tuple[int, int], **answers: int | None):
    """One record of the couple's family; `answers` change single variables."""
    own = {
        "ER30000": 1, "ER30001": 4, "ER30002": number, "ER32000": number,
        "ER34702": seq[0], "ER34703": rel[0], "ER34864": 21000,
        "ER34902": seq[1], "ER34903": rel[1], "ER35065": 19000,
    }  # fmt: skip
    return {**COUPLE_2019, **ALONE_2021, **own, **answers}


def couple(**answers: int | None) -> list[dict[str, int | None]]:
    return [
        person(1, seq=(1, 1), rel=(10, 10), **answers),
        person(2, seq=(2, 71), rel=(20, 20), **answers),
    ]


def package(
    out: Path,
    people: list[dict[str, int | None]],
    *,
    fields: list[tuple[str, int, str]] | None = None,
    sas: str | None = None,
    text: str | bytes | None = None,
    drop: str = "",
) -> Path:
    """Write a package; `sas` and `text` replace the two members, `drop` leaves one out."""
    fields = fields or FIELDS
    columns = {name: [p.get(name) for p in people] for name, _, _ in fields}
    members = {
        "J1.sas": sas or synthetic_psid.setup_text(fields, len(people)),
        "J1_formats.sas": "PROC FORMAT ;",
        "J1.txt": synthetic_psid.data_text(fields, columns) if text is None else text,
        "J1_codebook.pdf": "%PDF",
    }
    with zipfile.ZipFile(out, "w") as archive:
        for name, body in members.items():
            if not drop or not name.endswith(drop):
                archive.writestr(name, body)
    return out
