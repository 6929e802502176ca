"""PSID packaged extract: reference persons and spouses of each wave, with their work history.

A Data Center job's zip holds fixed-width text and the set-up file that describes it. Variables
are named anew in every wave; `conf/psid_crosswalk.yml` says which is which. The PSID's licence
forbids passing its data on: fairscreen ships a synthetic extract in the same form.
Source: Panel Study of Income Dynamics, public use data, University of Michigan.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated
from zipfile import ZipFile

import numpy as np
import pyarrow as pa
import yaml
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from fairscreen import resources
from fairscreen.errors import ConfigError, InputError
from fairscreen.sources import archive, editions, sas_setup
from fairscreen.sources.result import IngestResult
from fairscreen.sources.sas_setup import REMEDY, Setup
from fairscreen.tables import Warehouse

Array = NDArray[np.float64]
Variable = Annotated[str, Field(pattern=r"^[A-Z]+[0-9]+[A-Z0-9]*$")]


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Items(_Part):
    """Variables of one person's own answers in one wave."""

    age: Variable
    sex: Variable
    race: Variable
    hispanic: Variable
    education: Variable
    occupation: Variable
    years_worked: Variable
    years_full_time: Variable
    tenure: Variable


class Wave(_Part):
    """Variables of one wave; `family_interview` links the family's answers to the person."""

    interview: Variable
    family_interview: Variable
    sequence: Variable
    relation: Variable
    weight: Variable
    state: Variable
    reference: Items
    spouse: Items

    def variables(self) -> list[str]:
        own = [v for k, v in self.model_dump().items() if isinstance(v, str)]
        return [*own, *self.reference.model_dump().values(), *self.spouse.model_dump().values()]


class Person(_Part):
    """Variables that do not change over the waves; `sex` may be missing from an extract."""

    person_1968: Variable
    person_number: Variable
    sex: Variable


class Crosswalk(_Part):
    """Which variable holds what, and which codes are no answer. See conf/psid_crosswalk.yml."""

    person: Person
    reference_codes: tuple[int, ...]
    spouse_codes: tuple[int, ...]
    sequence: tuple[int, int]
    missing: dict[str, tuple[int, ...]]
    no_job: int
    waves: dict[int, Wave]


def load_crosswalk(file: Path | None = None) -> Crosswalk:
    """The shipped crosswalk, or another in the same form. ConfigError names file and field."""
    file = file or resources.path("conf", "psid_crosswalk.yml")
    try:
        return Crosswalk.model_validate(yaml.safe_load(file.read_text(encoding="utf-8")))
    except ValidationError as error:
        first = error.errors()[0]
        at = ".".join(str(part) for part in first["loc"]) or "(top level)"
        raise ConfigError(f"{file}, {at}", first["msg"], "Correct this field.") from None


SCHEMA = pa.schema(
    [
        pa.field("wave", pa.int32(), nullable=False),
        pa.field("person_1968", pa.int32(), nullable=False),
        pa.field("person_number", pa.int32(), nullable=False),
        pa.field("role", pa.string(), nullable=False),
        pa.field("age", pa.int32()),
        pa.field("gender", pa.string()),
        pa.field("race_code", pa.int32()),
        pa.field("hispanic", pa.bool_()),
        pa.field("education_years", pa.int32()),
        pa.field("occp_2010", pa.string()),
        pa.field("state", pa.string()),
        pa.field("years_worked", pa.int32()),
        pa.field("years_full_time", pa.int32()),
        pa.field("tenure_years", pa.float64()),
        pa.field("weight", pa.float64()),
    ]
)
_DDL = (
    "wave INT, person_1968 INT, person_number INT, role STRING, age INT, gender STRING, "
    "race_code INT, hispanic BOOLEAN, education_years INT, occp_2010 STRING, state STRING, "
    "years_worked INT, years_full_time INT, tenure_years DOUBLE, weight DOUBLE"
)


@dataclass(frozen=True)
class Extract:
    """`rows` (`SCHEMA`): a person once per wave with a main job. `left_out`: reason -> count."""

    rows: pa.Table
    records: int
    synthetic: bool
    left_out: Counter[str] = field(default_factory=Counter)


def read(path: Path, crosswalk: Crosswalk | None = None) -> Extract:
    """Reference persons and spouses or partners with a main job, of every wave.

    Raises InputError naming file, member, line and columns: not a zip, damaged, no set-up file
    or no text, a variable missing (with its wave), a short record, text in a number, counts that
    disagree with the set-up file, a person twice, family answers of another interview.
    """
    crosswalk = crosswalk or load_crosswalk()
    with archive.opened(path, REMEDY) as package:
        setup, text, names = _described(package, path, crosswalk)
        where = f"{path}, member {text}"
        with archive.streamed(package, path, text, REMEDY) as stream:
            parts = list(sas_setup.read_columns(stream, setup, names, where))
    data = {name: np.concatenate([part[name] for part in parts]) for name in names}
    return extract(data, crosswalk, setup.synthetic, where)


def inspect(path: Path) -> None:
    """Whether the package has its parts and all variables; InputError as `read`. Reads no data."""
    with archive.opened(path, REMEDY) as package:
        _described(package, path, load_crosswalk())


def _described(package: ZipFile, path: Path, crosswalk: Crosswalk) -> tuple[Setup, str, list[str]]:
    """The set-up file as read, the member with the data, the variables that are wanted."""
    sas, text = _members(package, path)
    with archive.streamed(package, path, sas, REMEDY) as stream:
        # Labels are plain ASCII or Windows text; names and columns are ASCII.
        setup = sas_setup.parse(stream.read().decode("latin-1"), f"{path}, member {sas}")
    return setup, text, _needed(setup, crosswalk)


def _members(package: ZipFile, path: Path) -> tuple[str, str]:
    """The set-up file and the data it belongs to: the same name, `.sas` and `.txt`."""
    stems: dict[str, dict[str, str]] = {".sas": {}, ".txt": {}}
    for member in archive.members(package):
        stem, dot, suffix = archive.basename(member).rpartition(".")
        kind = dot + suffix.lower()
        if kind in stems and not stem.lower().endswith("_formats"):
            stems[kind][stem.lower()] = member
    if not stems[".sas"]:
        remedy = "In the Data Center, choose SAS statements for the set-up files."
        raise InputError(str(path), "holds no SAS set-up file (.sas)", remedy)
    if not stems[".txt"]:
        raise InputError(str(path), "holds no data (.txt)", REMEDY)
    both = sorted(set(stems[".sas"]) & set(stems[".txt"]))
    if len(both) != 1:
        problem = f"holds {len(both)} pairs of NAME.sas and NAME.txt; one is expected"
        raise InputError(str(path), problem, REMEDY)
    return stems[".sas"][both[0]], stems[".txt"][both[0]]


def _needed(setup: Setup, crosswalk: Crosswalk) -> list[str]:
    by_wave: dict[int | None, list[str]] = {
        None: [crosswalk.person.person_1968, crosswalk.person.person_number],
        **{year: wave.variables() for year, wave in crosswalk.waves.items()},
    }
    for year, names in by_wave.items():
        for name in names:
            if name not in setup.fields:
                of = f" of wave {year}" if year else ""
                remedy = f"Add {name} to the Data Center's cart and download again."
                raise InputError(setup.where, f"variable {name}{of} is missing", remedy)
    optional = [crosswalk.person.sex] if crosswalk.person.sex in setup.fields else []
    return [*dict.fromkeys(n for names in by_wave.values() for n in names), *optional]


def extract(data: dict[str, Array], crosswalk: Crosswalk, synthetic: bool, where: str) -> Extract:
    """Rows of `SCHEMA` from columns by variable name, each (records,), NaN = blank."""
    person = crosswalk.person
    keys = np.column_stack([data[person.person_1968], data[person.person_number]])
    if np.isnan(keys).any():
        line = int(np.flatnonzero(np.isnan(keys).any(axis=1))[0]) + 1
        raise InputError(f"{where}, line {line}", "the person has no key", REMEDY)
    _, first, times = np.unique(keys, axis=0, return_index=True, return_counts=True)
    if (times > 1).any():
        one = keys[first[times > 1][0]].astype(int)
        raise InputError(where, f"person {one[0]}, {one[1]} stands there twice", REMEDY)
    _check_whole(data, crosswalk, where)
    left_out: Counter[str] = Counter()
    tables = [
        _wave(data, keys, year, crosswalk, left_out, where) for year in sorted(crosswalk.waves)
    ]
    return Extract(pa.concat_tables(tables), len(keys), synthetic, left_out)


def _check_whole(data: dict[str, Array], crosswalk: Crosswalk, where: str) -> None:
    """Codes and years are whole; a fraction says that a column is not where it should be."""
    fractions = {wave.weight for wave in crosswalk.waves.values()}
    for name, values in data.items():
        wrong = (values != np.floor(values)) & ~np.isnan(values)
        if name not in fractions and wrong.any():
            line = int(np.flatnonzero(wrong)[0])
            problem = f"{name} is {values[line]:g}, not a whole number"
            raise InputError(f"{where}, line {line + 1}", problem, REMEDY)


def _wave(
    data: dict[str, Array],
    keys: Array,
    year: int,
    crosswalk: Crosswalk,
    left_out: Counter[str],
    where: str,
) -> pa.Table:
    wave = crosswalk.waves[year]
    relation, sequence = data[wave.relation], data[wave.sequence]
    reference = np.isin(relation, crosswalk.reference_codes)
    spouse = np.isin(relation, crosswalk.spouse_codes)
    low, high = crosswalk.sequence
    present = (sequence >= low) & (sequence <= high)
    adults = (reference | spouse) & present
    left_out["not in the family unit"] += int(((reference | spouse) & ~present).sum())
    left_out["another relation, or not in the wave"] += int((~(reference | spouse)).sum())
    apart = adults & (data[wave.interview] != data[wave.family_interview])
    if apart.any():
        at = f"{where}, line {int(np.flatnonzero(apart)[0]) + 1}"
        problem = f"{wave.interview} and {wave.family_interview} of wave {year} differ"
        raise InputError(at, f"{problem}: the family's answers belong to another family", REMEDY)
    job = np.where(reference, data[wave.reference.occupation], data[wave.spouse.occupation])
    employed = adults & ~np.isnan(job) & (job != crosswalk.no_job)
    left_out["no main job"] += int((adults & ~employed).sum())
    pick = np.flatnonzero(employed)
    own = {
        item: _answers(
            np.where(
                reference, data[getattr(wave.reference, item)], data[getattr(wave.spouse, item)]
            ),
            crosswalk.missing.get(item, ()),
        )[pick]
        for item in Items.model_fields
    }
    if crosswalk.person.sex in data:
        lasting = _answers(data[crosswalk.person.sex], crosswalk.missing.get("sex", ()))[pick]
        own["sex"] = np.where(np.isnan(own["sex"]), lasting, own["sex"])
    state = _answers(data[wave.state], crosswalk.missing.get("state", ()))[pick]
    columns = [
        pa.array(np.full(len(pick), year, dtype=np.int32)),
        _whole(keys[pick, 0]),
        _whole(keys[pick, 1]),
        pa.array(np.where(reference[pick], "reference", "spouse").tolist(), pa.string()),
        _whole(own["age"]),
        pa.array([{1.0: "male", 2.0: "female"}.get(s) for s in own["sex"].tolist()], pa.string()),
        _whole(own["race"]),
        pa.array([None if np.isnan(h) else h != 0 for h in own["hispanic"].tolist()], pa.bool_()),
        _whole(own["education"]),
        _codes(own["occupation"], 4),
        _codes(state, 2),
        _whole(own["years_worked"]),
        _whole(own["years_full_time"]),
        pa.array(own["tenure"], pa.float64(), from_pandas=True),
        pa.array(data[wave.weight][pick], pa.float64(), from_pandas=True),
    ]
    return pa.table(columns, schema=SCHEMA)


def _answers(values: Array, missing: tuple[int, ...]) -> Array:
    return np.where(np.isin(values, missing), np.nan, values)


def _whole(values: Array) -> pa.Array:
    return pa.array(values, pa.float64(), from_pandas=True).cast(pa.int32())


def _codes(values: Array, width: int) -> pa.Array:
    texts = [None if np.isnan(v) else f"{int(v):0{width}d}" for v in values.tolist()]
    return pa.array(texts, pa.string())


def ingest_psid(warehouse: Warehouse, path: Path | str) -> IngestResult:
    """Make table `psid_person` hold this extract, in one transaction.

    One extract at a time, so that synthetic and real people never mix. Raises InputError as
    `read` does, before anything is written.
    """
    from pyspark.sql import functions as sf

    file = resources.resolve(str(path))

    def load() -> editions.Loaded:
        found = read(file)
        rows = editions.frame(warehouse, [editions.packed(found.rows)], _DDL)
        rows = rows.withColumn("synthetic", sf.lit(found.synthetic))
        notes = []
        if found.synthetic:
            notes.append(f"{file.name} is SYNTHETIC: made by a script, no real PSID record.")
        waves = len(found.rows["wave"].unique())
        reasons = "; ".join(f"{why}: {n:,}" for why, n in found.left_out.items() if n)
        notes.append(
            f"{found.rows.num_rows:,} answers of reference persons and spouses with a main job, "
            f"from {found.records:,} persons in {waves} waves. Left out: {reasons or 'nobody'}."
        )
        return editions.Loaded(rows, found.rows.num_rows, notes, found.synthetic)

    sha256 = archive.file_sha256(file, REMEDY)
    return editions.ingest(
        warehouse, table="psid_person", kind="psid", file=file.name, sha256=sha256, load=load
    )
