"""ACS 2024 point estimates beside the Bureau's, from a Parquet copy of the person files.

    python tests/bench/acs_2024_estimates.py FOLDER OFFICIAL.csv

Its output is kept in acs_2024_estimates.txt. FOLDER holds p_NN.parquet: a third party's copy of
the 1-year person files of 2024, codes cast to integers, without RELSHIPP and replicate weights.
Each is written back in the Bureau's layout (zero-padded codes, STATE, one CSV in a zip) and read
as any download is. OFFICIAL.csv holds "PUMS estimates for user verification" of 2024. Totals of
group quarters and all standard errors cannot be computed from this copy, and count as such. The
states that are absent are taken off the published totals of the nation where they are published
too: the last rows.
"""

from __future__ import annotations

import argparse
import csv
import tempfile
import time
import zipfile
from collections import Counter
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pacsv
import pyarrow.parquet as pq

from fairscreen.sources.acs_verify import Comparison, VerifyRow, compare, verify

#: Column: digits of its code. Those of 0 are numbers, or text that the copy left alone.
COLUMNS = {
    "SERIALNO": 0, "SPORDER": 2, "PUMA": 5, "STATE": 2, "PWGTP": 0, "AGEP": 0, "SEX": 1,
    "RAC1P": 1, "HISP": 2, "SCHL": 2, "ESR": 1, "OCCP": 4,
}  # fmt: skip


def written_back(file: Path, folder: Path) -> Path:
    """The zip of one state, as csv_pXX.zip holds it."""
    table = pq.read_table(file, columns=list(COLUMNS))
    arrays = [
        pc.utf8_lpad(table[c].cast(pa.string()), width, "0") if width else table[c]
        for c, width in COLUMNS.items()
    ]
    kind = pa.repeat("P", table.num_rows)
    plain = folder / "person.csv"
    pacsv.write_csv(
        pa.table([kind, *arrays], names=["RT", *COLUMNS]), plain,
        pacsv.WriteOptions(quoting_style="none"),
    )  # fmt: skip
    target = folder / f"csv_{file.stem}.zip"
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as bundle:
        bundle.write(plain, f"psam_{file.stem.replace('_', '')}.csv")
    plain.unlink()
    return target


def by_state(found: list[Comparison]) -> list[str]:
    lines = []
    for state in sorted({c.state for c in found}):
        for figure in ("estimate", "std_error"):
            count = Counter(c.status for c in found if (c.state, c.figure) == (state, figure))
            lines.append(
                f"{state}     {figure:10} {count['equal']:5} {count['differs']:7} "
                f"{count['not_computable']:14}"
            )
    return lines


def rest_of_nation(rows: list[VerifyRow], official: Path) -> list[str]:
    """Published US less the published states that are absent here, beside our sum of the rest."""
    here = {r.state for r in rows}
    published: dict[str, dict[str, int]] = {}
    with official.open(encoding="utf-8-sig", newline="") as file:
        for line in csv.DictReader(file):
            published.setdefault(line["characteristic"], {})[line["st"]] = int(line["pums_est_24"])
    absent = sorted(set().union(*published.values()) - here - {"US"})
    lines = []
    for row in (r for r in rows if r.state == "all"):
        found = published.get(row.characteristic, {})
        if "US" in found and set(absent) <= set(found) and row.estimate is not None:
            rest = found["US"] - sum(found[a] for a in absent)
            verdict = "equal" if rest == row.estimate else "differs"
            lines.append(f"{row.characteristic:24} {row.estimate:12,} {rest:12,}  {verdict}")
    return [f"US less {', '.join(absent)}:          ours    published", *lines]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("official", type=Path)
    args = parser.parse_args()
    start = time.perf_counter()
    with tempfile.TemporaryDirectory() as work:
        zips = [written_back(f, Path(work)) for f in sorted(args.folder.glob("p_*.parquet"))]
        between = time.perf_counter()
        rows = verify(zips)
    found = compare(rows, args.official)
    print(f"ACS 2024 1-year, {len(zips)} states: written back in {between - start:.0f} s, ", end="")
    print(f"verified in {time.perf_counter() - between:.0f} s\n")
    print("state  figure     equal differs not computable")
    print("\n".join(by_state(found)))
    odd = [c for c in found if c.status == "differs"]
    print("".join(f"{c.state} {c.characteristic} {c.ours} {c.published}\n" for c in odd))
    print("\n".join(rest_of_nation(rows, args.official)))


if __name__ == "__main__":
    main()
