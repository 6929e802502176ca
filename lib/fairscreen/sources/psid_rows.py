"""PSID columns by variable name -> one row per person and wave with a main job."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from fairscreen.errors import InputError
from fairscreen.sources import psid_experience as experience
from fairscreen.sources.psid_checks import check_values
from fairscreen.sources.psid_crosswalk import Crosswalk, Items
from fairscreen.sources.psid_experience import Asked, Status
from fairscreen.sources.setup_files import REMEDY

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]

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
        pa.field("years_worked_asked", pa.int32()),
        pa.field("years_worked_answered", pa.int32()),
        pa.field("tenure_years", pa.float64()),
        pa.field("weight", pa.float64()),
    ]
)
DDL = (
    "wave INT, person_1968 INT, person_number INT, role STRING, age INT, gender STRING, "
    "race_code INT, hispanic BOOLEAN, education_years INT, occp_2010 STRING, state STRING, "
    "years_worked INT, years_full_time INT, years_worked_asked INT, years_worked_answered INT, "
    "tenure_years DOUBLE, weight DOUBLE"
)


@dataclass(frozen=True)
class Extract:
    """`rows` (`SCHEMA`): a person once per wave with a main job. `left_out`: reason -> count."""

    rows: pa.Table
    records: int
    synthetic: bool
    left_out: Counter[str] = field(default_factory=Counter)
    skipped: tuple[int, ...] = ()


def extract(
    data: dict[str, Array], crosswalk: Crosswalk, synthetic: bool, where: str, *, lines: bool = True
) -> Extract:
    """Rows of `SCHEMA` from columns by variable name, each (records,), NaN = blank.

    Every variable of `crosswalk` is there, but for the person's sex. Raises InputError naming
    `where` and the line, or the person where `lines` is false (the columns of several files): no
    key, a person twice, family answers of another interview, a fraction, an answer outside the
    crosswalk's `valid`.
    """
    person = crosswalk.person
    keys = np.column_stack([data[person.person_1968], data[person.person_number]])
    if np.isnan(keys).any():
        line = int(np.flatnonzero(np.isnan(keys).any(axis=1))[0]) + 1
        raise InputError(f"{where}, line {line}", "the person has no key", REMEDY)
    _, first, times = np.unique(keys, axis=0, return_index=True, return_counts=True)
    if (times > 1).any():
        one = keys[first[times > 1][0]].astype(int)
        raise InputError(where, f"person {one[0]}, {one[1]} stands there twice", REMEDY)

    def at(row: int) -> str:
        own = f"person {keys[row, 0]:g}, {keys[row, 1]:g}"
        return f"{where}, line {row + 1}" if lines else f"{where}, {own}"

    _check_whole(data, crosswalk, at)
    left_out: Counter[str] = Counter()
    asked = experience.trace(_statuses(data, crosswalk))
    tables = [
        _wave(data, keys, year, asked[year], crosswalk, left_out, at)
        for year in sorted(crosswalk.waves)
    ]
    return Extract(pa.concat_tables(tables), len(keys), synthetic, left_out)


def _check_whole(data: dict[str, Array], crosswalk: Crosswalk, at: Callable[[int], str]) -> None:
    """Codes and years are whole; a fraction says that a column is not where it should be."""
    fractions = {wave.weight for wave in crosswalk.waves.values()}
    for name, values in data.items():
        wrong = (values != np.floor(values)) & ~np.isnan(values)
        if name not in fractions and wrong.any():
            line = int(np.flatnonzero(wrong)[0])
            problem = f"{name} is {values[line]:g}, not a whole number"
            raise InputError(at(line), problem, REMEDY)


@dataclass(frozen=True)
class _Place:
    """Where people stand in one wave, arrays (records,)."""

    present: Flags  # in the family unit
    reference: Flags
    spouse: Flags
    absent: Flags  # known not to belong to any family

    @property
    def adults(self) -> Flags:
        return (self.reference | self.spouse) & self.present


def _place(relation: Array, sequence: Array, crosswalk: Crosswalk) -> _Place:
    low, high = crosswalk.sequence
    return _Place(
        present=(sequence >= low) & (sequence <= high),
        reference=np.isin(relation, crosswalk.reference_codes),
        spouse=np.isin(relation, crosswalk.spouse_codes),
        absent=(relation == 0) & (sequence == 0),
    )


def _statuses(data: dict[str, Array], crosswalk: Crosswalk) -> dict[int, Status]:
    """Every wave as `psid_experience` wants it. A wave of `waves` goes before one of `earlier`."""
    out = {}
    for year, early in crosswalk.earlier.items():
        place = _place(data[early.relation], data[early.sequence], crosswalk)
        known = _answers(data[early.employment], crosswalk.missing.get("employment", ()))
        working = np.where(np.isnan(known), np.nan, np.isin(known, crosswalk.working))
        other = place.present & ~place.adults
        out[year] = Status(place.adults, other, place.absent, working)
    for year, wave in crosswalk.waves.items():
        place = _place(data[wave.relation], data[wave.sequence], crosswalk)
        pick = {
            item: np.where(
                place.reference,
                data[getattr(wave.reference, item)],
                data[getattr(wave.spouse, item)],
            )
            for item in ("occupation", "years_worked")
        }
        job = np.where(place.adults, pick["occupation"], np.nan)
        working = np.where(np.isnan(job), np.nan, job != crosswalk.no_job)
        other = place.present & ~place.adults
        out[year] = Status(place.adults, other, place.absent, working, pick["years_worked"])
    return out


def _wave(
    data: dict[str, Array],
    keys: Array,
    year: int,
    asked: Asked,
    crosswalk: Crosswalk,
    left_out: Counter[str],
    at: Callable[[int], str],
) -> pa.Table:
    wave = crosswalk.waves[year]
    place = _place(data[wave.relation], data[wave.sequence], crosswalk)
    reference, either = place.reference, place.reference | place.spouse
    left_out["not in the family unit"] += int((either & ~place.present).sum())
    left_out["another relation, or not in the wave"] += int((~either).sum())
    apart = place.adults & (data[wave.interview] != data[wave.family_interview])
    if apart.any():
        problem = f"{wave.interview} and {wave.family_interview} of wave {year} differ"
        problem += ": the family's answers belong to another family"
        raise InputError(at(int(np.flatnonzero(apart)[0])), problem, REMEDY)
    job = np.where(reference, data[wave.reference.occupation], data[wave.spouse.occupation])
    employed = place.adults & ~np.isnan(job) & (job != crosswalk.no_job)
    left_out["no main job"] += int((place.adults & ~employed).sum())
    pick = np.flatnonzero(employed)
    _check_values(data, year, employed, reference, crosswalk, at)
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
    here = Asked(asked.wave[pick], asked.since[pick])
    answered, full_time = (
        experience.years(own[item], own["age"], here, year, crosswalk)
        for item in ("years_worked", "years_full_time")
    )
    worked = answered
    if wave.years_worked_carried_forward:
        worked = experience.up_to_date(answered, own["age"], here)
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
        _whole(worked),
        _whole(full_time),
        _whole(here.wave),
        _whole(answered),
        pa.array(own["tenure"], pa.float64(), from_pandas=True),
        pa.array(data[wave.weight][pick], pa.float64(), from_pandas=True),
    ]
    return pa.table(columns, schema=SCHEMA)


def _check_values(
    data: dict[str, Array],
    year: int,
    employed: Flags,
    reference: Flags,
    crosswalk: Crosswalk,
    at: Callable[[int], str],
) -> None:
    """The answers that rows are made of: each person's own, of people with a main job."""
    wave = crosswalk.waves[year]
    for own, of_role in ((wave.reference, reference), (wave.spouse, ~reference)):
        for item in Items.model_fields:
            name = getattr(own, item)
            values = np.where(employed & of_role, data[name], np.nan)
            check_values(values, item, name, f" of wave {year}", crosswalk, at)
    for item, name, of in (
        ("state", wave.state, f" of wave {year}"),
        ("sex", crosswalk.person.sex, ""),
    ):
        if name in data:
            values = np.where(employed, data[name], np.nan)
            check_values(values, item, name, of, crosswalk, at)


def _answers(values: Array, missing: tuple[int, ...]) -> Array:
    return np.where(np.isin(values, missing), np.nan, values)


def _whole(values: Array) -> pa.Array:
    return pa.array(values, pa.float64(), from_pandas=True).cast(pa.int32())


def _codes(values: Array, width: int) -> pa.Array:
    texts = [None if np.isnan(v) else f"{int(v):0{width}d}" for v in values.tolist()]
    return pa.array(texts, pa.string())
