"""Small PSID packages in the true form, built from the answers of a few people."""

from __future__ import annotations

import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path

from fairscreen.sources import synthetic_psid

FIELDS = synthetic_psid.layout()
Layout = Sequence[tuple[str, int, str]]

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


def _items(fields: Layout, wide: str = "") -> list[str]:
    """NAME first - last, three in a line; `wide` goes before names of more than four columns."""
    items, end = [], 0
    for name, width, _ in fields:
        word = wide if width > 4 else " " * len(wide)
        items.append(f"{word} {name:<16}{end + 1:>5} - {end + width:<5}")
        end += width
    return ["     " + "".join(items[i : i + 3]) for i in range(0, len(items), 3)]


def _header(fields: Layout, records: int, statements: str, domain: str) -> list[str]:
    width = sum(w for _, w, _ in fields)
    return [
        "*  PSID DATA CENTER *****************************************************",
        "   JOBID            : 1                                 ",
        f"   DATA_DOMAIN      : {domain:<34}",
        "   USER_WHERE       : ER30001 < 9 AND (ER32000 = 1 OR E",
        f"   STATEMENTS       : {statements}",
        f"   N_OF_VARIABLES   : {len(fields)}",
        f"   N_OF_OBSERVATIONS: {records}",
        f"   MAX_REC_LENGTH   : {width}",
        "   DATE & TIME      : May 20, 2023 @ 13:44:35",
        "*************************************************************************",
    ]


def stata(fields: Layout, records: int, domain: str = synthetic_psid.DOMAIN) -> str:
    """A set-up file as the Data Center writes it for Stata."""
    lines = ["#delimit ;", *_header(fields, records, "do", domain), ";", "", "infix"]
    lines += [*_items(fields, "long"), r"using [path]\J1.txt, clear ", ";"]
    lines += [f'label variable {name:<15} "{label:<40}" ;' for name, _, label in fields]
    return "\r\n".join([*lines, ""])


def spss(fields: Layout, records: int, domain: str = synthetic_psid.DOMAIN) -> str:
    """A set-up file as the Data Center writes it for SPSS."""
    width = sum(w for _, w, _ in fields)
    lines = [*_header(fields, records, "sps", domain), ".", "", "FILE HANDLE J1 /"]
    lines += [f'   NAME = "[path]\\J1.txt" LRECL = {width} .', "", "DATA LIST FILE = J1 FIXED /"]
    lines += [*_items(fields), "   .", "   EXECUTE .", "FORMATS", "      WEIGHT1  (F3.1)", ".", ""]
    lines += ["VARIABLE LABELS", *(f'      {n:<13} "{label:<40}"' for n, _, label in fields), "."]
    return "\r\n".join([*lines, ""])


#: How each language's set-up file is written, by the end of its name.
WRITERS: dict[str, Callable[[Layout, int], str]] = {
    ".sas": synthetic_psid.setup_text,
    ".do": stata,
    ".sps": spss,
}


def package(
    out: Path,
    people: list[dict[str, int | None]],
    *,
    fields: Layout | None = None,
    setups: Sequence[str] = (".sas",),
    text: str | bytes | None = None,
    drop: str = "",
    change: Callable[[str, str], str] = lambda name, body: body,
) -> Path:
    """Write a package. `setups`: its set-up files; `text` replaces the data; `drop` leaves members
    out by the end of their names; `change(name, body)` may rewrite a set-up file."""
    fields = fields or FIELDS
    columns = {name: [p.get(name) for p in people] for name, _, _ in fields}
    members: dict[str, str | bytes] = {}
    for suffix in setups:
        name = f"J1{suffix}"
        members[name] = change(name, WRITERS[suffix](fields, len(people)))
        members[f"J1_formats{suffix}"] = "PROC FORMAT ;"
    members["J1.txt"] = synthetic_psid.data_text(fields, columns) if text is None else text
    members["J1_codebook.pdf"] = "%PDF"
    with zipfile.ZipFile(out, "w") as archive:
        for name, body in members.items():
            if not drop or not name.endswith(drop):
                archive.writestr(name, body)
    return out
