"""Make the synthetic PSID extract that ships as `conf/data/psid_synthetic.zip`.

    python -m fairscreen.sources.synthetic_psid OUT.zip

NO REAL PSID RECORD is in it or was used to make it: the PSID's licence forbids passing its data
on. The form is the Data Center's (fixed-width text, SAS set-up file, the true variable names) and
so is the size; the numbers are draws from the model in `synthetic_people`. Effects found with it
are not findings.

Every draw is a hash and no step uses logarithms, so the files inside are the same bytes on every
run and machine; the zip around them may differ with the version of zlib.
"""

from __future__ import annotations

import sys
import zipfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from fairscreen.sources import synthetic_people as model
from fairscreen.sources.psid_crosswalk import Crosswalk, Items, load_crosswalk
from fairscreen.sources.synthetic_people import FAMILIES, FIRST, LAST, Adults, Families, Flags, Ints

JOB = "J999999"
DOMAIN = "SYNTHETIC - NOT PSID DATA"
MADE = (2026, 1, 1, 0, 0, 0)
WAVES = (FIRST, LAST)
_BLANK = -1


def records() -> dict[str, list[int | None]]:
    """Columns by PSID variable name, one entry per person, sorted by key; null = blank."""
    walk = load_crosswalk()
    homes, head, partner, states = _draw_families()
    people = _People(homes, head, partner)
    columns = {"ER30000": np.ones(people.size, dtype=np.int64)}
    columns[walk.person.person_1968] = homes.person_1968[people.family]
    columns[walk.person.person_number] = people.numbers()
    columns[walk.person.sex] = np.where(people.male, 1, 2)
    for year in sorted(walk.earlier):
        early = walk.earlier[year]
        sequence, relation, employment = people.earlier(year)
        columns |= {
            early.sequence: sequence,
            early.relation: relation,
            early.employment: employment,
        }
    for year in WAVES:
        columns |= _wave(walk, year, people, states)
    order = np.lexsort((columns[walk.person.person_number], columns[walk.person.person_1968]))
    return {
        name: [None if v == _BLANK else v for v in values[order].tolist()]
        for name, values in columns.items()
    }


def _draw_families() -> tuple[Families, Adults, Adults, Ints]:
    keys = model.family_keys()

    def u(purpose: str) -> model.Floats:
        return model.draw(purpose, keys)

    split_off = np.arange(FAMILIES) >= model.BOTH + model.GONE
    age = np.floor(17 + 66 * u("age") ** 1.5).astype(np.int64)  # younger ones more
    age = np.where(split_off, 18 + np.floor(10 * u("age")).astype(np.int64), age)
    homes = model.families(age)
    head_male = u("head") < np.where(homes.couple, 0.66, 0.42)
    gap = np.floor(9 * u("gap")).astype(np.int64) - 4
    partner_age = np.clip(age + np.where(age < 24, np.abs(gap), gap), 18, 84)
    head = Adults("reference", head_male, FIRST - age, split_off, homes)
    new = split_off | _new_partner(homes)
    same_sex = u("same sex") < 0.03
    partner = Adults("spouse", head_male == same_sex, FIRST - partner_age, new, homes)
    return homes, head, partner, model.states(keys)


def _new_partner(homes: Families) -> Flags:
    """Moved in between the waves."""
    lasting = homes.there(FIRST) & homes.there(LAST)
    return homes.couple & lasting & (model.draw("change", homes.keys) < 0.03)


def _lost_partner(homes: Families) -> Flags:
    """Moved out between the waves."""
    lasting = homes.there(FIRST) & homes.there(LAST)
    return homes.couple & lasting & (model.draw("change", homes.keys) > 0.97)


class _People:
    """One entry per record, arrays (size,): reference persons, partners, everybody else."""

    def __init__(self, homes: Families, head: Adults, partner: Adults) -> None:
        self.homes, self.adults = homes, {10: head, 20: partner}
        couples = np.flatnonzero(homes.couple)
        others = self._others(model.RECORDS - FAMILIES - len(couples))
        self.family = np.concatenate([np.arange(FAMILIES), couples, others])
        self.size = len(self.family)
        self.role = np.repeat([10, 20, 30], [FAMILIES, len(couples), len(others)])
        self.keys = [f"person/{p}" for p in range(self.size)]
        u = model.draw("age of others", self.keys)
        young = np.floor(LAST - 26 * u).astype(np.int64)
        adult = (head.born[self.family], partner.born[self.family])
        self.born = np.select([self.role == 10, self.role == 20], adult, young)
        sexes = (head.male[self.family], partner.male[self.family])
        self.male = np.select(
            [self.role == 10, self.role == 20], sexes, model.draw("sex", self.keys) < 0.51
        )
        follows = model.draw("follows", homes.keys) < 0.55
        of_head = np.where(homes.couple, follows, True) | (homes.parent >= 0)
        self.sample_member = np.select(
            [self.role == 10, self.role == 20],
            [of_head[self.family], ~of_head[self.family]],
            True,
        )
        unmarried = model.draw("unmarried", homes.keys)[self.family] < 0.2
        other = model.pick(
            (30, 33, 40, 60, 98), model.draw("kind", self.keys), (0.85, 0.05, 0.04, 0.05, 0.01)
        )
        self.relation = np.select(
            [self.role == 10, self.role == 20], [10, np.where(unmarried, 22, 20)], other
        )

    def _others(self, wanted: int) -> Ints:
        """Families of everybody else, `wanted` entries."""
        keys = self.homes.keys
        weights = (0.42, 0.17, 0.21, 0.13, 0.07)
        count = model.pick(range(5), model.draw("others", keys), weights)
        order = np.argsort(model.draw("one more", keys), kind="stable")
        step = 1 if count.sum() < wanted else -1
        order = order[(count[order] > 0) | (step == 1)]
        count[order[: abs(wanted - int(count.sum()))]] += step
        return np.repeat(np.arange(FAMILIES), count)

    def numbers(self) -> Ints:
        """Person numbers: from 1 who was there when the sample began, from 30 who was born into
        it, from 170 who moved in."""
        began = np.array([1968, 1968, 1997, 2017])[self.homes.sample[self.family]]
        first = np.where(self.born <= began, 1, 30)
        first = np.where(self.sample_member, first, 170)
        home = self.homes.person_1968[self.family]
        return first + _rank(home * 1000 + first)

    def place(self, year: int) -> tuple[Ints, Ints, Ints]:
        """Family (-1 = none), sequence number and relation in one of the two waves."""
        homes, role = self.homes, self.role
        family = np.where(homes.there(year)[self.family], self.family, -1)
        relation = self.relation.copy()
        if year == FIRST:
            leaving = (role == 10) & (homes.parent[self.family] >= 0)
            family = np.where(leaving, homes.parent[self.family], family)
            relation = np.where(leaving, 30, relation)
            family = np.where((role == 20) & _new_partner(homes)[self.family], -1, family)
        family = np.where(self.born > year - (year == FIRST), -1, family)
        out = self._moved_out(year) & (family >= 0)
        # Own reference person first, partner second, then the rest.
        rank = np.argsort(np.argsort(relation, kind="stable"), kind="stable")
        here = np.flatnonzero((family >= 0) & ~out)
        here = here[np.argsort(rank[here], kind="stable")]
        sequence = np.zeros(self.size, dtype=np.int64)
        sequence[here] = 1 + _rank(family[here])
        sequence[out] = 71 + _rank(family[out])
        return family, sequence, np.where(family >= 0, relation, 0)

    def _moved_out(self, year: int) -> Flags:
        if year == FIRST:
            return np.zeros(self.size, dtype=bool)
        lost = (self.role == 20) & _lost_partner(self.homes)[self.family]
        adult_child = (self.role == 30) & (self.born < year - 18)
        leaves = model.draw("moves out", self.keys) < 0.1
        return np.asarray(lost | (adult_child & leaves))

    def earlier(self, year: int) -> tuple[Ints, Ints, Ints]:
        """Sequence number, relation and employment status in an earlier wave."""
        asked = np.full(self.size, LAST + 1)
        work = model.draw(f"work {year}", self.keys) < 0.35
        for role, adults in self.adults.items():
            mine = self.role == role
            asked[mine] = adults.asked[self.family[mine]]
            work[mine] = adults.at_work(year)[self.family[mine]]
        is_adult = asked <= year
        there = is_adult | (self.sample_member & (self.born <= year))
        there &= ~is_adult | (model.draw(f"interview {year}", self.keys) > 0.03)
        relation = np.where(there, np.where(is_adult, self.relation, 30), 0)
        sequence = np.where(there, np.where(is_adult, self.role // 10, 3), 0)
        age = year - self.born
        idle = model.pick(
            (3, 5, 6, 7), model.draw(f"idle {year}", self.keys), (0.25, 0.1, 0.45, 0.2)
        )
        idle = np.where(age > 62, 4, idle)
        employment = np.where(work, np.where(model.draw("laid off", self.keys) < 0.01, 2, 1), idle)
        return sequence, relation, np.where(there & (age >= 16), employment, 0)


def _rank(groups: Ints) -> Ints:
    """How many earlier entries have the same group, (n,)."""
    order = np.argsort(groups, kind="stable")
    same = groups[order]
    starts = np.flatnonzero(np.r_[True, same[1:] != same[:-1]])
    counts = np.diff(np.r_[starts, len(same)])
    out = np.empty(len(groups), dtype=np.int64)
    out[order] = np.arange(len(same)) - np.repeat(starts, counts)
    return out


def _wave(walk: Crosswalk, year: int, people: _People, states: Ints) -> dict[str, Ints]:
    wave, homes = walk.waves[year], people.homes
    there = homes.there(year)
    size = int(there.sum())
    number = np.zeros(FAMILIES, dtype=np.int64)
    number[there] = 1 + np.arange(size) * (1117 if year == FIRST else 733) % size
    family, sequence, relation = people.place(year)
    together = homes.couple & there
    together &= ~(_new_partner(homes) if year == FIRST else _lost_partner(homes))
    side = {wave.family_interview: number, wave.state: states}
    ours, theirs = (people.adults[role].answers(year) for role in (10, 20))
    for item in Items.model_fields:
        side[getattr(wave.reference, item)] = ours[item]
        side[getattr(wave.spouse, item)] = np.where(together, theirs[item], 0)
    known = family >= 0
    columns = {name: np.where(known, values[family], _BLANK) for name, values in side.items()}
    low, high = (np.array([s.weight[end] for s in model.SAMPLES])[homes.sample] for end in (0, 1))
    factor = 1.0 if year == FIRST else 1.04
    weight = factor * (low + (high - low) * model.draw("weight", homes.keys))
    counted = (sequence >= 1) & (sequence <= 20)
    columns[wave.interview] = np.where(known, number[family], 0)
    columns[wave.sequence] = sequence
    columns[wave.relation] = relation
    columns[wave.weight] = np.where(counted, np.floor(weight)[family], 0).astype(np.int64)
    return columns


def layout() -> list[tuple[str, int, str]]:
    """Variables in the order of the record: name, width, label."""
    walk = load_crosswalk()
    fields = [
        ("ER30000", 1, "RELEASE NUMBER"),
        (walk.person.person_1968, 4, "1968 INTERVIEW NUMBER"),
        (walk.person.person_number, 3, "PERSON NUMBER                         68"),
        (walk.person.sex, 1, "SEX OF INDIVIDUAL"),
    ]
    for year in sorted(walk.earlier):
        early = walk.earlier[year]
        fields += [
            (early.sequence, 2, f"SEQUENCE NUMBER                       {year % 100:02d}"),
            (early.relation, 2, f"RELATION TO REFERENCE PERSON          {year % 100:02d}"),
            (early.employment, 1, f"EMPLOYMENT STATUS                     {year % 100:02d}"),
        ]
    widths = {"age": 3, "occupation": 4, "sex": 1, "race": 1, "hispanic": 1}
    for year in WAVES:
        wave = walk.waves[year]
        family = [(wave.family_interview, 5, f"{year} FAMILY INTERVIEW (ID) NUMBER")]
        family.append((wave.state, 2, "CURRENT STATE, FIPS"))
        for who, items in (("RP", wave.reference), ("SP", wave.spouse)):
            for item, name in items.model_dump().items():
                label = item.replace("_", " ").upper()
                family.append((name, widths.get(item, 2), f"{label}-{who} {year}"))
        fields += sorted(family)
        fields += [
            (wave.interview, 5, f"{year} INTERVIEW NUMBER"),
            (wave.sequence, 2, f"SEQUENCE NUMBER                       {year % 100:02d}"),
            (wave.relation, 2, f"RELATION TO REFERENCE PERSON          {year % 100:02d}"),
            (wave.weight, 6, f"CORE/IMM INDIVIDUAL CROSS-SECTION WT  {year % 100:02d}"),
        ]
    return fields


_README = f"""SYNTHETIC - NOT PSID DATA

Every record in {JOB}.txt was made by a script (fairscreen.sources.synthetic_psid). No record of
the Panel Study of Income Dynamics is in it, and none was used to make it. It has the form and the
size of a packaged extract so that the reader can be run and tested; the PSID's licence forbids
shipping a real one. Do not draw conclusions about people from it.

A real extract comes from the PSID Data Center: put the variables of conf/psid_crosswalk.yml into
the cart, choose SAS, Stata or SPSS statements, and set sources.psid to the zip.
"""


def setup_text(fields: Sequence[tuple[str, int, str]], observations: int) -> str:
    """The SAS set-up file for fields (name, width, label) in record order."""
    rows, places, end = [], [], 0
    for name, width, label in fields:
        places.append(f"{name:<16}{end + 1:>6} - {end + width:<6}")
        rows.append(f'      {name:<15} LABEL="{label:<40}" FORMAT=F{width}.  ')
        end += width
    header = {
        "JOBID": JOB[1:],
        "DATA_DOMAIN": DOMAIN,
        "USER_WHERE": "NULL",
        "FILE_TYPE": "All Individuals Data",
        "OUTPUT_DATA_TYPE": "ASCII",
        "STATEMENTS": "SAS Statements",
        "CODEBOOK_TYPE": "NULL",
        "N_OF_VARIABLES": str(len(fields)),
        "N_OF_OBSERVATIONS": str(observations),
        "MAX_REC_LENGTH": str(end),
        "DATE & TIME": "January 1, 2026 @ 0:00:00",
    }
    lines = ["/* SYNTHETIC, in the form of a PSID Data Center job " + "*" * 22]
    lines += [f"   {key:<17}: {value:<34}" for key, value in header.items()]
    lines += ["*" * 71 + "/", "", f'FILENAME myfile "[path]\\{JOB}.txt" ;', "", f"DATA {JOB} ;"]
    lines += ["   ATTRIB", *rows, "   ;", f"   INFILE myfile LRECL = {end} ; ", "   INPUT "]
    lines += ["      " + "     ".join(places[i : i + 3]) for i in range(0, len(places), 3)]
    lines += ["   ;", "run ;", ""]
    return "\r\n".join(lines)


def data_text(fields: Sequence[tuple[str, int, str]], columns: dict[str, list[int | None]]) -> str:
    """Fixed-width records: right-justified numbers, nothing between them, blank where null."""
    texts = []
    for name, width, _ in fields:
        cells = {v: ("" if v is None else str(v)).rjust(width) for v in set(columns[name])}
        texts.append([cells[v] for v in columns[name]])
    return "".join("".join(row) + "\r\n" for row in zip(*texts, strict=True))


def members() -> dict[str, bytes]:
    """The files of the package by name."""
    fields, columns = layout(), records()
    texts = {
        "README_SYNTHETIC.md": _README,
        f"{JOB}.sas": setup_text(fields, len(columns["ER30000"])),
        f"{JOB}.txt": data_text(fields, columns),
    }
    return {name: text.encode("ascii") for name, text in texts.items()}


def write(out: Path) -> int:
    """Write the zip; the number of persons in it."""
    files = members()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as package:
        for name, content in files.items():
            info = zipfile.ZipInfo(name, date_time=MADE)
            info.compress_type = zipfile.ZIP_DEFLATED
            info.create_system, info.external_attr = 3, 0o644 << 16
            package.writestr(info, content)
    return files[f"{JOB}.txt"].count(b"\n")


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
