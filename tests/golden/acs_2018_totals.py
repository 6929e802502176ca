"""Totals and errors of ACS 2018 person files, by an implementation that shares nothing with ours.

    python tests/golden/acs_2018_totals.py FOLDER            compare `verify-acs` with the table
    python tests/golden/acs_2018_totals.py FOLDER --write    make the table anew

FOLDER holds csv_pXX.zip as the Census Bureau ships them. The table beside this script,
acs_2018_totals.csv, was made by `recompute` (pandas on the raw CSV, the Bureau's formula for
successive differences: SE = sqrt(4/80 sum (X_r - X)^2)) from the files of Wyoming, Vermont, Rhode
Island, North Dakota, Delaware and Maine. Its characteristics are those of the Bureau's "PUMS
estimates for user verification"; the figures that are published elsewhere are in test_acs_2018.py.
"""

from __future__ import annotations

import argparse
import csv
import sys
import zipfile
from pathlib import Path

import pandas as pd

from fairscreen.sources.acs_verify import verify

TABLE = Path(__file__).with_suffix(".csv")
WEIGHTS = ["PWGTP", *(f"PWGTP{r}" for r in range(1, 81))]
AGES = (
    (0, 4), (5, 9), (10, 14), (15, 19), (20, 24), (25, 34), (35, 44), (45, 54), (55, 59), (60, 64),
    (65, 74), (75, 84),
)  # fmt: skip

Key = tuple[str, str]  # state, characteristic


def recompute(path: Path) -> dict[Key, tuple[int, float]]:
    """Estimate and standard error of every characteristic, from the CSV in the zip."""
    with zipfile.ZipFile(path) as bundle:
        member = next(n for n in bundle.namelist() if n.endswith(".csv"))
        columns = ["ST", "AGEP", "SEX", "RELP", *WEIGHTS]
        people = pd.read_csv(bundle.open(member), usecols=columns, dtype={"ST": str})
    age, quarters = people["AGEP"], people["RELP"]
    masks = {
        "Total population": age >= 0,
        "Housing unit population (RELP=0-15)": quarters <= 15,
        "GQ population (RELP=16-17)": quarters >= 16,
        "GQ institutional population (RELP=16)": quarters == 16,
        "GQ noninstitutional population (RELP=17)": quarters == 17,
        "Total males (SEX=1)": people["SEX"] == 1,
        "Total females (SEX=2)": people["SEX"] == 2,
        **{f"Age {low}-{high}": age.between(low, high) for low, high in AGES},
        "Age 85 and over": age >= 85,
    }
    found = {}
    for label, mask in masks.items():
        total, *replicates = (int(x) for x in people.loc[mask, WEIGHTS].sum())
        error = (4 / 80 * sum((r - total) ** 2 for r in replicates)) ** 0.5
        found[people["ST"].iloc[0], label] = (total, error)
    return found


def kept() -> dict[Key, tuple[int, float]]:
    with TABLE.open(encoding="utf-8", newline="") as file:
        return {
            (row["state"], row["characteristic"]): (int(row["estimate"]), float(row["std_error"]))
            for row in csv.DictReader(file)
        }


def differences(paths: list[Path]) -> tuple[int, list[str]]:
    """Figures compared, and a line for each that `verify-acs` gives otherwise."""
    table, lines, compared = kept(), [], 0
    for row in verify(paths):
        if row.state == "all" or (row.state, row.characteristic) not in table:
            continue
        estimate, error = table[row.state, row.characteristic]
        compared += 2
        if row.estimate != estimate or row.std_error is None or abs(row.std_error - error) > 5e-7:
            ours = f"{row.estimate} (SE {row.std_error})"
            lines.append(f"{row.state} {row.characteristic}: {ours}, table {estimate} (SE {error})")
    return compared, lines


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, help="csv_pXX.zip of 2018")
    parser.add_argument("--write", action="store_true", help="make the table anew")
    args = parser.parse_args()
    paths = sorted(args.folder.glob("*csv_p*.zip"))
    if not paths:
        parser.error(f"no csv_p*.zip in {args.folder}")
    if args.write:
        found = {key: figure for path in paths for key, figure in recompute(path).items()}
        with TABLE.open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(["state", "characteristic", "estimate", "std_error"])
            for (state, label), (total, error) in sorted(found.items(), key=lambda x: x[0][0]):
                writer.writerow([state, label, total, f"{error:.6f}"])
    compared, lines = differences(paths)
    print("\n".join([*lines, f"{len(paths)} files: {compared} figures, {len(lines)} differ"]))
    return 1 if lines or not compared else 0


if __name__ == "__main__":
    sys.exit(main())
