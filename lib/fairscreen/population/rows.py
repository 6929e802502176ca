"""Rows of table `applicants` as Arrow batches: made in workers, from indices."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from fairscreen import tables
from fairscreen.population import generator as gen
from fairscreen.population import grouping, naming
from fairscreen.population.domain import GENDERS, REGIONS
from fairscreen.population.generator import Drawn, Generator, Index

_ARROW = {
    "STRING": pa.string(),
    "INT": pa.int32(),
    "BIGINT": pa.int64(),
    "DOUBLE": pa.float64(),
    "BOOLEAN": pa.bool_(),
    "DECIMAL(18,6)": pa.decimal128(18, 6),
}


def arrow_schema(table: str) -> pa.Schema:
    """Arrow schema of a table of `sql/ddl`; workers must yield exactly these types."""
    return pa.schema([(n, _ARROW[t]) for n, t in tables.ddl_columns(table).items()])


def spark_schema(table: str) -> str:
    """The same as text for mapInArrow."""
    return ", ".join(f"{name} {kind}" for name, kind in tables.ddl_columns(table).items())


@dataclass(frozen=True)
class People:
    """Attributes of n applicants of one job, as indices along the axes of Domain."""

    applicant_id: NDArray[np.object_]
    gender: Index
    race: Index
    age: Index
    person_key: NDArray[np.object_]
    survey_weight: NDArray[np.int64] | None  # null where generated


@dataclass(frozen=True)
class Stamp:
    """What all rows of an audit share."""

    audit_id: str
    mode: str
    vintage: int


def complete(
    generator: Generator,
    job: str,
    people: People,
    stamp: Stamp,
    schema: pa.Schema,
    given: dict[str, Index] | None = None,
) -> pa.RecordBatch:
    """Draw what is missing (P2 to P4 and, where not `given`, state and education); write rows."""
    u = gen.uniforms(generator.seed, people.applicant_id.tolist(), skip=tuple(given or ()))
    drawn = gen.draw(
        generator, job, gender=people.gender, race=people.race, age=people.age, u=u, given=given
    )
    columns = _columns(generator, job, people, drawn, stamp)
    return batch(columns, schema)


def batch(columns: Mapping[str, Any], schema: pa.Schema) -> pa.RecordBatch:
    """The columns that the schema names, in its order and types."""
    arrays = [
        value.cast(field.type)
        if isinstance(value := columns[field.name], pa.Array)
        else pa.array(value, type=field.type)
        for field in schema
    ]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


def mediators(generator: Generator, drawn: Drawn) -> dict[str, Any]:
    """Columns (n,) of `applicants` that are drawn after gender, race and age."""
    domain, names, surnames = generator.domain, generator.first_names, generator.surnames
    shares = surnames.shares[drawn.surname]
    return {
        "state": labels(domain.states, drawn.state),
        "region": labels(REGIONS, domain.region_of_state[drawn.state]),
        "edu_level": labels(domain.levels, drawn.edu_level),
        "edu_group": labels(domain.groups, domain.group_of_level[drawn.edu_level]),
        "exp_year": drawn.months / 12,
        "first_name": names.names[drawn.first_name],
        "surname": surnames.names[drawn.surname],
        "first_name_gender": labels(
            grouping.GENDER_GROUPS, names.gender_group[drawn.first_name].astype(np.int64)
        ),
        "first_name_cohort": labels(
            names.cohort_labels, names.cohort_group[drawn.first_name].astype(np.int64)
        ),
        "surname_race": labels(surnames.groups, surnames.group[drawn.surname].astype(np.int64)),
        "first_name_p_female": names.p_female[drawn.first_name],
        "first_name_mean_year": _nullable(names.mean_year[drawn.first_name]),
        **{
            f"surname_p_{race}": _nullable(column)
            for race, column in zip(naming.FEATURES, shares.T, strict=True)
        },
    }


def _columns(
    generator: Generator, job: str, people: People, drawn: Drawn, stamp: Stamp
) -> dict[str, Any]:
    domain, n = generator.domain, len(people.gender)
    age = people.age + domain.age_min
    cell = (people.gender, people.race, people.age)
    design, z_gender, z_race = (
        (w[cell] for w in gen.weights(generator.jobs[job]))
        if stamp.mode == "balanced"
        else (np.ones(n), np.ones(n), np.ones(n))
    )
    return {
        **mediators(generator, drawn),
        "audit_id": constant(stamp.audit_id, n),
        "applicant_id": people.applicant_id,
        "job": constant(job, n),
        "gender": labels(GENDERS, people.gender),
        "race": labels(domain.races, people.race),
        "age": age,
        "birth_year": generator.as_of_year - age,
        "person_key": people.person_key,
        "survey_weight": (
            pa.nulls(n, pa.int32()) if people.survey_weight is None else people.survey_weight
        ),
        "design_weight": pa.array(design).cast(pa.decimal128(18, 6)),
        "z_weight_gender": pa.array(z_gender).cast(pa.decimal128(18, 6)),
        "z_weight_race": pa.array(z_race).cast(pa.decimal128(18, 6)),
        "mode": constant(stamp.mode, n),
        "acs_vintage": np.full(n, stamp.vintage, dtype=np.int32),
    }


def constant(value: str | None, n: int) -> pa.Array:
    """(n,) of one text, or of nulls."""
    if value is None:
        return pa.nulls(n, pa.string())
    return pa.repeat(pa.scalar(value), n)


def labels(values: tuple[str, ...], index: Index) -> pa.Array:
    """(n,) text: the values at these places."""
    codes = pa.array(index.astype(np.int32))
    return pa.DictionaryArray.from_arrays(codes, pa.array(values)).cast(pa.string())


def _nullable(values: NDArray[np.float64]) -> pa.Array:
    return pa.array(values, mask=np.isnan(values))
