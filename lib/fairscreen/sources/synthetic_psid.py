"""Make the synthetic PSID extract that ships as `conf/data/psid_synthetic.zip`.

    python -m fairscreen.sources.synthetic_psid OUT.zip

NO REAL PSID RECORD is in it or was used to make it: the PSID's licence forbids passing its data
on. The form is the Data Center's (fixed-width text, SAS set-up file, the true variable names);
the numbers are draws from the simple model below. Effects found with it are not findings.

Every draw is a hash and no step uses logarithms or compression, so the bytes are the same on
every run and machine.
"""

from __future__ import annotations

import sys
import zipfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from fairscreen.population.geography import STATES
from fairscreen.random import uniforms
from fairscreen.sources.psid import Items, load_crosswalk

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

SEED = "synthetic PSID 1"
FAMILIES = 2_900
JOB = "J999999"
DOMAIN = "SYNTHETIC - NOT PSID DATA"
MADE = (2026, 1, 1, 0, 0, 0)

#: The five occupations (2010 Census codes): share, men, race mix, Hispanic, years of education
#: from - to, and a shift of the share of adult years that are worked. Then everybody else.
_RACES = (1, 2, 3, 4, 5, 7)
_JOBS: dict[int, tuple[float, float, tuple[float, ...], float, tuple[int, int], float]] = {
    3255: (0.26, 0.12, (0.63, 0.22, 0.01, 0.08, 0.01, 0.05), 0.08, (14, 17), 0.01),
    2310: (0.24, 0.20, (0.68, 0.21, 0.01, 0.04, 0.01, 0.05), 0.09, (16, 17), 0.00),
    1020: (0.18, 0.80, (0.57, 0.10, 0.01, 0.26, 0.01, 0.05), 0.07, (14, 17), 0.02),
    800: (0.16, 0.42, (0.66, 0.17, 0.01, 0.10, 0.01, 0.05), 0.08, (14, 17), 0.02),
    6260: (0.16, 0.95, (0.58, 0.20, 0.03, 0.02, 0.01, 0.16), 0.38, (8, 13), -0.02),
}
_OTHER_JOBS = (20, 430, 2000, 2550, 3600, 4020, 4700, 4760, 5120, 5240, 5700, 7200, 9130, 9620)
_OTHER = (0.0, 0.5, (0.62, 0.26, 0.01, 0.04, 0.01, 0.06), 0.12, (9, 17), -0.02)

#: States by population in millions, rounded; the rest count as one million each.
_MILLIONS = {
    "06": 39, "48": 29, "12": 22, "36": 20, "42": 13, "17": 13, "39": 12, "13": 11, "37": 11,
    "26": 10, "34": 9, "51": 9, "53": 8, "04": 7, "25": 7, "47": 7, "18": 7, "29": 6, "24": 6,
    "55": 6, "08": 6, "27": 6, "45": 5, "01": 5, "22": 5, "21": 5, "41": 4, "40": 4, "09": 4,
    "49": 3, "19": 3, "32": 3, "05": 3, "28": 3, "20": 3, "35": 2, "31": 2, "16": 2, "54": 2,
}  # fmt: skip


class _Adults:
    """Reference persons, or spouses: one per family, arrays (FAMILIES,)."""

    def __init__(self, role: str, male: NDArray[np.bool_], born: Ints) -> None:
        self.role, self.male, self.born = role, male, born
        self.keys = [f"{role}/{f}" for f in range(FAMILIES)]
        target = self.u("target") < np.where(male, 0.36, 0.44)
        self.job = np.where(target, self._target_job(), _pick(_OTHER_JOBS, self.u("other job")))
        self.race = np.zeros(FAMILIES, dtype=np.int64)
        self.hispanic = np.zeros(FAMILIES, dtype=np.int64)
        schooling = np.zeros(FAMILIES, dtype=np.int64)
        self.shift = np.zeros(FAMILIES)
        race, hispanic, school = self.u("race"), self.u("hispanic"), self.u("school")
        for code in (*_JOBS, 0):
            _, _, mix, share, (low, high), shift = _JOBS.get(code, _OTHER)
            here = self.job == code if code else ~np.isin(self.job, list(_JOBS))
            self.race[here] = _pick(_RACES, race[here], mix)
            self.hispanic[here] = np.where(hispanic[here] < share, 1 + (race[here] * 3), 0)
            schooling[here] = low + school[here] * (high - low + 1)
            self.shift[here] = shift
        self.school = schooling

    def u(self, purpose: str) -> Floats:
        return uniforms(SEED, f"psid/{purpose}", self.keys)

    def _target_job(self) -> Ints:
        men = [share * men for share, men, *_ in _JOBS.values()]
        women = [share * (1 - men) for share, men, *_ in _JOBS.values()]
        draw, codes = self.u("job"), tuple(_JOBS)
        by_gender = [_pick(codes, draw, weights) for weights in (men, women)]
        return np.where(self.male, *by_gender)

    def age(self, wave: int) -> Ints:
        return wave - self.born

    def education(self, wave: int) -> Ints:
        return np.minimum(self.school, self.age(wave) - 6)

    def worked(self, wave: int) -> Ints:
        """Whole years worked since 18: below 0.85 of them, less for school, never above all."""
        adult = np.maximum(self.age(2019) - 18, 0).astype(float)
        share = 0.85 + self.shift - 0.07 * ~self.male - 0.02 * (self.race == 2)
        mean = share * adult - 0.5 * np.maximum(self.education(2019) - 12, 0)
        mean = np.maximum(mean, 0.1 * adult)
        spread = 0.6 + 0.09 * adult
        years = np.clip(mean, 0, adult)
        open_ = np.ones(FAMILIES, dtype=bool)
        for attempt in range(12):  # the first draw inside the bounds: a truncated normal
            draw = mean + spread * self._normal(f"worked {attempt}")
            fits = open_ & (draw >= -0.5) & (draw <= adult + 0.49)
            years[fits] = draw[fits]
            open_ &= ~fits
        years = np.floor(years + 0.5)
        if wave == 2021:
            gain = np.where(self.u("gain") < 0.75, 2, np.where(self.u("gain") < 0.9, 1, 0))
            years = years + np.where(self.age(2019) < 18, gain // 2, gain)
        bounded: Ints = np.clip(years, 0, np.maximum(self.age(wave) - 18, 0)).astype(np.int64)
        return bounded

    def full_time(self, wave: int) -> Ints:
        share = np.where(self.male, 1.0, 0.92) - 0.3 * self.u("part time") ** 2
        return np.floor(self.worked(wave) * share + 0.5).astype(np.int64)

    def _normal(self, purpose: str) -> Floats:
        """About standard normal: the sum of twelve uniforms, so that no library's log matters."""
        return sum((self.u(f"{purpose}/{i}") for i in range(12)), np.zeros(FAMILIES)) - 6.0

    def answers(self, wave: int) -> dict[str, Ints]:
        """Codes by item of the crosswalk, missing codes among them."""
        at_work = self.u(f"at work {wave}") < np.where(np.isin(self.job, list(_JOBS)), 0.93, 0.78)
        moved = (wave == 2021) & (self.u("moved") < 0.08)
        job = np.where(moved, _pick(_OTHER_JOBS, self.u("new job")), self.job)
        worked = self.worked(wave)
        tenure = np.where(moved, 1, np.floor(worked * self.u("tenure") ** 2))
        codes: dict[str, tuple[Ints | Floats, Sequence[int], float]] = {
            "age": (self.age(wave), (999,), 0.003),
            "sex": (np.where(self.male, 1, 2), (), 0.0),
            "race": (self.race, (9,), 0.007),
            "hispanic": (self.hispanic, (9,), 0.003),
            "education": (self.education(wave), (99,), 0.010),
            "occupation": (np.where(at_work, job, 0), (9999,), 0.010),
            "years_worked": (worked, (98, 99), 0.025),
            "years_full_time": (self.full_time(wave), (98, 99), 0.025),
            "tenure": (np.where(at_work, tenure, 0), (98, 99), 0.015),
        }
        out = {}
        for item, (values, missing, share) in codes.items():
            draw = self.u(f"missing {item} {wave}")
            gone = (draw < share) & (np.asarray(values) > 0)
            code = _pick(missing, draw / share) if missing else 0
            out[item] = np.where(gone, code, values).astype(np.int64)
        return out


def _pick(values: Sequence[int], draws: Floats, weights: Sequence[float] | None = None) -> Ints:
    edges = np.cumsum(weights if weights is not None else np.ones(len(values)))
    place = np.searchsorted(edges / edges[-1], draws, side="right")
    return np.asarray(values, dtype=np.int64)[np.minimum(place, len(values) - 1)]


def records() -> dict[str, list[int | None]]:
    """Columns by PSID variable name, one entry per person; null = blank."""
    family = [f"family/{f}" for f in range(FAMILIES)]

    def u(purpose: str) -> Floats:
        return uniforms(SEED, f"psid/{purpose}", family)

    couple = u("couple") < 0.6
    head_male = u("head") < np.where(couple, 0.62, 0.42)
    age = np.floor(16 + 52 * u("age") * np.sqrt(u("age"))).astype(np.int64)  # younger ones more
    gap = np.floor(9 * u("gap")).astype(np.int64) - 4
    partner_age = np.clip(age + np.where(age < 24, np.abs(gap), gap), 18, 68)
    head = _Adults("reference", head_male, 2019 - age)
    partner = _Adults("spouse", head_male ^ (u("same sex") >= 0.03), 2019 - partner_age)
    split = couple & (u("split") < 0.04)
    children = _pick((0, 1, 2), u("children"), (0.68, 0.21, 0.11))
    states = sorted(STATES)
    state = _pick([int(s) for s in states], u("state"), [_MILLIONS.get(s, 1) for s in states])
    weight = np.floor(4_000 + 40_000 * u("weight")).astype(np.int64)
    married = u("married") < 0.8
    family_side: dict[int, dict[str, Ints]] = {}
    walk = load_crosswalk()
    for year, wave in walk.waves.items():
        together = couple & ~(split & (year == 2021))
        side = {
            wave.family_interview: 1 + np.arange(FAMILIES) * (1117 if year == 2019 else 733) % 2909,
            wave.state: np.where(u(f"abroad {year}") < 0.003, 0, state),
        }
        ours, theirs = head.answers(year), partner.answers(year)
        for item in Items.model_fields:
            side[getattr(wave.reference, item)] = ours[item]
            side[getattr(wave.spouse, item)] = np.where(together, theirs[item], 0)
        family_side[year] = side

    columns: dict[str, list[int | None]] = {f[0]: [] for f in layout()}
    for f in range(FAMILIES):
        people = [(10, bool(head.male[f]))]
        if couple[f]:
            people.append((20 if married[f] else 22, bool(partner.male[f])))
        people += [(30, bool((f + k) % 2)) for k in range(children[f])]
        for number, (relation, male) in enumerate(people, start=1):
            columns["ER30000"].append(1)
            columns[walk.person.person_1968].append(1 + f)
            columns[walk.person.person_number].append(number)
            columns[walk.person.sex].append(1 if male else 2)
            for year, wave in walk.waves.items():
                there = bool(head.age(year)[f] >= 18)
                left = bool(split[f]) and year == 2021 and relation in (20, 22)
                for name, values in family_side[year].items():
                    columns[name].append(int(values[f]) if there else None)
                interview = int(family_side[year][wave.family_interview][f])
                columns[wave.interview].append(interview if there else 0)
                columns[wave.sequence].append((71 if left else number) if there else 0)
                columns[wave.relation].append(relation if there else 0)
                columns[wave.weight].append(int(weight[f]) if there and not left else 0)
    return columns


def layout() -> list[tuple[str, int, str]]:
    """Variables in the order of the record: name, width, label."""
    walk = load_crosswalk()
    fields = [
        ("ER30000", 1, "RELEASE NUMBER"),
        (walk.person.person_1968, 4, "1968 INTERVIEW NUMBER"),
        (walk.person.person_number, 3, "PERSON NUMBER 68"),
        (walk.person.sex, 1, "SEX OF INDIVIDUAL"),
    ]
    widths = {"age": 3, "occupation": 4, "sex": 1, "race": 1, "hispanic": 1}
    for year, wave in walk.waves.items():
        family = [(wave.family_interview, 5, f"{year} FAMILY INTERVIEW NUMBER")]
        family.append((wave.state, 2, "CURRENT STATE, FIPS"))
        for who, items in (("RP", wave.reference), ("SP", wave.spouse)):
            for item, name in items.model_dump().items():
                label = item.replace("_", " ").upper()
                family.append((name, widths.get(item, 2), f"{label}-{who} {year}"))
        fields += sorted(family)
        fields += [
            (wave.interview, 5, f"{year} INTERVIEW NUMBER"),
            (wave.sequence, 2, f"SEQUENCE NUMBER {year}"),
            (wave.relation, 2, f"RELATION TO REFERENCE PERSON {year}"),
            (wave.weight, 6, f"INDIVIDUAL CROSS-SECTIONAL WEIGHT {year}"),
        ]
    return fields


_README = f"""SYNTHETIC - NOT PSID DATA

Every record in {JOB}.txt was made by a script (fairscreen.sources.synthetic_psid). No record of
the Panel Study of Income Dynamics is in it, and none was used to make it. It has the form of a
packaged extract so that the reader can be run and tested; the PSID's licence forbids shipping a
real one. Do not draw conclusions about people from it.

A real extract comes from the PSID Data Center: put the variables of conf/psid_crosswalk.yml into
the cart, choose SAS statements, and set sources.psid to the zip.
"""


def setup_text(fields: Sequence[tuple[str, int, str]], observations: int) -> str:
    """The SAS set-up file for fields (name, width, label) in record order."""
    rows, places, end = [], [], 0
    for name, width, label in fields:
        places.append(f"{name:<10}{end + 1:>5} - {end + width:<5}")
        rows.append(f'      {name:<12} LABEL="{label:<46}" FORMAT=F{width}.')
        end += width
    header = {
        "JOBID": JOB[1:],
        "DATA_DOMAIN": DOMAIN,
        "USER_WHERE": "NULL",
        "FILE_TYPE": "All Individuals Data",
        "OUTPUT_DATA_TYPE": "ASCII",
        "STATEMENTS": "SAS Statements",
        "N_OF_VARIABLES": str(len(fields)),
        "N_OF_OBSERVATIONS": str(observations),
        "MAX_REC_LENGTH": str(end),
        "DATE & TIME": "January 1, 2026 @ 0:00:00",
    }
    lines = ["/* SYNTHETIC, in the form of a PSID Data Center job " + "*" * 22]
    lines += [f"   {key:<17}: {value:<34}" for key, value in header.items()]
    lines += ["*" * 71 + "/", "", f'FILENAME myfile "[path]\\{JOB}.txt" ;', "", f"DATA {JOB} ;"]
    lines += ["   ATTRIB", *rows, "   ;", f"   INFILE myfile LRECL = {end} ; ", "   INPUT "]
    lines += ["      " + "    ".join(places[i : i + 3]) for i in range(0, len(places), 3)]
    lines += [";", "run ;", ""]
    return "\r\n".join(lines)


def data_text(fields: Sequence[tuple[str, int, str]], columns: dict[str, list[int | None]]) -> str:
    """Fixed-width records: right-justified numbers, nothing between them, blank where null."""
    texts = [["" if v is None else str(v) for v in columns[name]] for name, _, _ in fields]
    widths = [width for _, width, _ in fields]
    lines = (
        "".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True))
        for row in zip(*texts, strict=True)
    )
    return "".join(f"{line}\r\n" for line in lines)


def write(out: Path) -> int:
    """Write the zip; the number of persons in it."""
    fields, columns = layout(), records()
    persons = len(columns["ER30000"])
    members = {
        "README_SYNTHETIC.md": _README,
        f"{JOB}.sas": setup_text(fields, persons),
        f"{JOB}.txt": data_text(fields, columns),
    }
    # Stored, not deflated: compressed bytes differ between versions of zlib.
    with zipfile.ZipFile(out, "w", zipfile.ZIP_STORED) as package:
        for name, text in members.items():
            info = zipfile.ZipInfo(name, date_time=MADE)
            info.create_system, info.external_attr = 3, 0o644 << 16
            package.writestr(info, text.encode("ascii"))
    return persons


def main(argv: Sequence[str] | None = None) -> int:
    """`OUT.zip` is the only argument."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    if len(arguments) != 1:
        print("usage: python -m fairscreen.sources.synthetic_psid OUT.zip", file=sys.stderr)
        return 2
    persons = write(Path(arguments[0]))
    print(f"{arguments[0]}: {persons:,} synthetic persons")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
