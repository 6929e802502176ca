"""Add SYNTHETIC company, metro, state and date to real texts of job postings.

    python -m fairscreen.sources.synthetic_postings IN.csv OUT.parquet [--n N] [--missing M]
        [--entry-level]

IN.csv: text_id (or job_id), title, description, and where they are told requirements and industry:
`conf/data/postings.parquet` is made of 328 genuine advertisements of the Employment Scam Aegean
Dataset, which has no employer, place or day. Titles, texts and industries stay as they came;
requirements follow the description. NO SUCH COMPANY EXISTS; the metros do, each in its state. What
is made up stands in column `synthetic`, and whoever reads the file says so.

--n            postings to draw; each text once, and beyond that once more round by round (6,007 is
               the published number). A repeated text is a posting of its own, of another day and
               mostly another company and place; `text_id` says which text it has. Null = each once
--missing      so many of them lack one of the four columns (with 6,007 and 1, 6,006 are complete)
--entry-level  only texts whose title holds a word of postings.entry_level (conf/designs)

108 companies, as in Kline, Rose & Walters (2022), nine in each of twelve sectors, the largest nine
times the smallest; a text that tells its industry has a company of that sector. Metros are drawn
roughly by population, dates from the days of 2024. Every choice is a hash of the text's id and
round: the rows are the same on every run; the bytes around them may differ with the version of
pyarrow.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from datetime import date, timedelta
from functools import lru_cache
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import yaml

from fairscreen import random, resources
from fairscreen.errors import FairscreenError, InputError
from fairscreen.input_files import labels, read_table
from fairscreen.settings.postings import word_pattern

SEED = 20240624
MADE_UP = ("company", "metro", "posted", "state")
COLUMNS = (
    "text_id", "title", "description", "industry", "company", "metro", "state", "posted",
    "synthetic",
)  # fmt: skip
Row = dict[str, str | None]

# Sector -> what its companies call themselves, and the words that begin an industry of it.
SECTORS: dict[str, tuple[tuple[str, str, str], str]] = {
    "finance": (("Bank", "Financial", "Insurance"), "financ|bank|insur|venture"),
    "software": (("Software", "Systems", "Data"), "computer|information|internet"),
    "media": (
        ("Media", "Press", "Studios"),
        "market|media|online|public|publish|event|sport|design",
    ),
    "health": (("Health", "Clinics", "Medical"), r"hospital\b|health|medical|mental|pharma"),
    "education": (("Learning", "Academies", "Tutoring"), "educ|e-learning|primary|philan"),
    "utilities": (("Telecom", "Energy", "Utilities"), "telecom|oil|utilit|environ"),
    "retail": (("Stores", "Outfitters", "Markets"), "retail|apparel|luxury|cosmet|consumer goods"),
    "food": (("Foods", "Hotels", "Kitchens"), "food|farm|hospitality|leisure"),
    "transport": (("Motors", "Freight", "Air"), "auto|logist|aviation"),
    "building": (("Building Supply", "Facilities", "Homes"), "build|facilit|real estate"),
    "services": (("Consulting", "Staffing", "Services"), "manage|human|staff|legal|consumer serv"),
    "manufacturing": (("Industries", "Instruments", "Electronics"), "consumer elec|industr|mach"),
}
_BEGINNINGS = (
    "Zorov", "Quelim", "Vrinal", "Thrass", "Ombrel", "Ystov", "Krevan", "Dravosh", "Plimmer",
    "Skovand", "Wendrov", "Jaskel",
)  # fmt: skip
_ENDINGS = ("ane", "mer", "dex", "ostrum", "epwick", "unmoor", "ivard", "athorn", "ellune")

# Metro, state and its people in hundreds of thousands, roughly.
_METROS = (
    "New York|NY|195,Los Angeles|CA|128,Chicago|IL|93,Dallas|TX|81,Houston|TX|75,"
    "Atlanta|GA|63,Washington|DC|63,Philadelphia|PA|62,Miami|FL|62,Phoenix|AZ|51,"
    "Boston|MA|49,Riverside|CA|47,San Francisco|CA|46,Detroit|MI|43,Seattle|WA|40,"
    "Minneapolis|MN|37,Tampa|FL|33,San Diego|CA|33,Denver|CO|30,Baltimore|MD|28,"
    "Orlando|FL|28,Charlotte|NC|28,St. Louis|MO|28,San Antonio|TX|27,Portland|OR|25,"
    "Austin|TX|25,Pittsburgh|PA|24,Sacramento|CA|24,Las Vegas|NV|23,Cincinnati|OH|23,"
    "Kansas City|MO|22,Columbus|OH|22,Cleveland|OH|22,Indianapolis|IN|21,Nashville|TN|21,"
    "San Jose|CA|19,Virginia Beach|VA|18,Jacksonville|FL|17,Providence|RI|17,"
    "Milwaukee|WI|16,Raleigh|NC|15,Oklahoma City|OK|15,Louisville|KY|14,Richmond|VA|13,"
    "Memphis|TN|13,Salt Lake City|UT|13,Birmingham|AL|12,Hartford|CT|12,Buffalo|NY|12,"
    "New Orleans|LA|10,Honolulu|HI|10,Omaha|NE|10,Albuquerque|NM|9,Boise|ID|8,"
    "Columbia|SC|8,Little Rock|AR|8,Wichita|KS|7,Des Moines|IA|7,Jackson|MS|6,"
    "Portland|ME|6,Manchester|NH|4,Anchorage|AK|4,Fargo|ND|3,Sioux Falls|SD|3,"
    "Charleston|WV|3,Burlington|VT|2,Billings|MT|2,Dover|DE|2,Cheyenne|WY|1"
)
METROS = tuple(
    (name, state, int(people))
    for name, state, people in (entry.split("|") for entry in _METROS.split(","))
)
_FIRST, _DAYS = date(2024, 1, 1), 366
_STEP = 137  # days from round to round; no divisor of 366, so a text has another day in each


@lru_cache(maxsize=1)
def companies() -> dict[str, tuple[str, ...]]:
    """Nine invented names of each sector, the largest first."""
    found = {}
    for at, (sector, (kinds, _)) in enumerate(SECTORS.items()):
        # Each beginning meets each ending in one sector only: no two first words are the same.
        found[sector] = tuple(
            f"{_BEGINNINGS[(at + i) % 12]}{ending} {kinds[i % len(kinds)]}"
            for i, ending in enumerate(_ENDINGS)
        )
    return found


def rows(texts: Sequence[Mapping[str, str | None]], n: int | None = None, missing: int = 0) -> (
    list[Row]
):  # fmt: skip
    """Postings (COLUMNS) of texts (text_id, title, description, industry).

    Raises InputError where n is more than a text can be repeated in a year, or missing above n.
    """
    n = len(texts) if n is None else n
    most = len(texts) * _DAYS
    if not 0 < n <= most:
        raise InputError("--n", f"{n:,} is not between 1 and {most:,}", "Give a number that is.")
    if not 0 <= missing <= n:
        raise InputError(
            "--missing", f"{missing:,} is not between 0 and {n:,}", "Give a number that is."
        )
    found = [(key, _row(text, key, round_)) for text, key, round_ in _drawn(texts, n)]
    without = {found[i][0] for i in _smallest("missing", [key for key, _ in found], missing)}
    for key, row in found:
        if key in without:
            row[MADE_UP[_pick("gone", key, len(MADE_UP))]] = None
            row["synthetic"] = ",".join(name for name in MADE_UP if row[name] is not None)
    return [row for _, row in found]


def texts_of(path: Path, *, entry_level: bool = False) -> list[Row]:
    """The texts of a table: text_id, title, description, industry. Raises InputError."""
    frame = read_table(path, row="text")
    cells = {str(name): labels(frame[name]) for name in frame.columns}
    number = "text_id" if "text_id" in cells else "job_id"
    for name in (number, "title", "description"):
        if name not in cells:
            raise InputError(
                str(path), f"has no column {name}; it has {', '.join(cells)}", "Name it so."
            )
    found: list[Row] = []
    for i in range(len(frame)):
        parts = [cells[c][i] for c in ("description", "requirements") if c in cells]
        found.append(
            {
                "text_id": cells[number][i],
                "title": cells["title"][i],
                "description": "\n\n".join(part for part in parts if part) or None,
                "industry": cells["industry"][i] if "industry" in cells else None,
            }
        )
    ids = [row["text_id"] for row in found]
    if None in ids or len(set(ids)) < len(ids):
        raise InputError(f"{path}, {number}", "is empty or there twice", "Number the texts.")
    word = re.compile(word_pattern(_words()), re.IGNORECASE)
    return [row for row in found if not entry_level or word.search(row["title"] or "")]


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m fairscreen.sources.synthetic_postings")
    parser.add_argument("source", type=Path, metavar="IN.csv")
    parser.add_argument("target", type=Path, metavar="OUT.parquet")
    parser.add_argument("--n", type=int, help="postings to draw; default: each text once")
    parser.add_argument("--missing", type=int, default=0, help="of them, without one column")
    parser.add_argument("--entry-level", action="store_true", help="entry-level titles only")
    args = parser.parse_args(argv)
    try:
        found = rows(texts_of(args.source, entry_level=args.entry_level), args.n, args.missing)
    except FairscreenError as error:
        print(f"error: {error}", file=sys.stderr)
        return error.exit_code
    schema = pa.schema([(name, pa.string()) for name in COLUMNS])
    table = pa.Table.from_pylist(found, schema=schema)
    pq.write_table(table, args.target, compression="zstd", compression_level=19)
    some = len({row["text_id"] for row in found})
    print(
        f"{args.target}: {len(found):,} postings of {some:,} texts, {', '.join(MADE_UP)} SYNTHETIC"
    )
    return 0


def _words() -> list[str]:
    design = resources.path("conf", "designs", "paired_callback.yml").read_text(encoding="utf-8")
    words: list[str] = yaml.safe_load(design)["postings"]["entry_level"]
    return words


def _drawn(
    texts: Sequence[Mapping[str, str | None]], n: int
) -> Iterator[tuple[Mapping[str, str | None], str, int]]:
    """Text, key and round of each posting: all texts in each round, of the last one those with the
    smallest hashes; in the order of the texts."""
    rounds, rest = divmod(n, len(texts))
    for round_ in range(rounds + bool(rest)):
        keys = [f"{text['text_id']}/{round_}" for text in texts]
        taken = range(len(texts)) if round_ < rounds else sorted(_smallest("round", keys, rest))
        yield from ((texts[i], keys[i], round_) for i in taken)


def _row(text: Mapping[str, str | None], key: str, round_: int) -> Row:
    metro, state = _metro(key)
    start = _pick("day", str(text["text_id"]), _DAYS)
    return {
        **{name: text[name] for name in ("text_id", "title", "description", "industry")},
        "company": _company(text["industry"], key),
        "metro": metro,
        "state": state,
        "posted": (_FIRST + timedelta(days=(start + round_ * _STEP) % _DAYS)).isoformat(),
        "synthetic": ",".join(MADE_UP),
    }


def _company(industry: str | None, key: str) -> str:
    sector = _sector(industry or "") or tuple(SECTORS)[_pick("sector", key, len(SECTORS))]
    names = companies()[sector]
    return names[_weighted("company", key, range(len(names), 0, -1))]


@lru_cache(maxsize=1024)
def _sector(industry: str) -> str | None:
    """The first sector of which a word begins the industry; None = it tells none of them."""
    found = (
        sector
        for sector, (_, words) in SECTORS.items()
        if re.match(words, industry.strip(), re.IGNORECASE)
    )
    return next(found, None)


def _metro(key: str) -> tuple[str, str]:
    name, state, _ = METROS[_weighted("metro", key, [people for *_, people in METROS])]
    return name, state


def _pick(purpose: str, key: str, bound: int) -> int:
    return int(random.integers(SEED, f"postings/{purpose}", [key], bound)[0])


def _weighted(purpose: str, key: str, weights: Sequence[int]) -> int:
    """An index, in proportion to whole weights."""
    ends = np.cumsum(np.array(weights))
    return int(np.searchsorted(ends, _pick(purpose, key, int(ends[-1])), side="right"))


def _smallest(purpose: str, keys: Sequence[str], n: int) -> list[int]:
    """Indices of the n smallest hashes."""
    order = np.argsort(random.hashes(SEED, f"postings/{purpose}", keys), kind="stable")
    return [int(i) for i in order[:n]]


if __name__ == "__main__":
    sys.exit(main())
