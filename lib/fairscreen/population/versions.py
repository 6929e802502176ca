"""Every applicant as somebody of another gender or race, and the placebos, as a DataFrame.

Made in workers from the generator and the applicant's own uniforms (counterfactual.py), so that
the version of what an applicant is anyway has his own mediators, and so his own document.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyspark.sql import DataFrame

from fairscreen import random
from fairscreen.config import Config
from fairscreen.config_checks import drawn_by
from fairscreen.errors import InputError
from fairscreen.estimators.rescoring import PLACEBO_NAME, PLACEBO_REPEAT
from fairscreen.population import counterfactual, rows
from fairscreen.population import generator as gen
from fairscreen.population.domain import GENDERS
from fairscreen.population.generator import Array, Drawn, Generator, Index
from fairscreen.settings.estimation import Contrast

#: Version: whose X a screener is told or shown, and which of `counterfactual.VERSIONS` has its R
#: and B. The last one, x1 itself with all mediators of x0, differs from x0 in what is told alone.
SHOWN = {
    "x1": ("x1", "x1"),
    "x0": ("x0", "x0"),
    "b_x0_r_x1": ("x1", "b_x0_r_x1"),
    "b_x1_r_x0": ("x1", "b_x1_r_x0"),
    "x1_w_x0": ("x1", "x0"),
}
_Z = Mapping[str, Index]


def versions(applicants: DataFrame, generator: Generator, cfg: Config) -> DataFrame:
    """Rows of table `versions` of these applicants, who must be drawn by this generator.

    Raises InputError where a job has nobody of a set of values whose mix is asked for.
    """
    _require_people(generator, cfg)
    contrasts, audit_id = cfg.estimation.contrasts, cfg.audit_id
    redlining = drawn_by(cfg.estimation.roles.redlining)
    share, schema = cfg.estimation.placebo_share, rows.arrow_schema("versions")
    races = generator.domain.races

    def make(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for job, mine in batch.to_pandas().groupby("job", sort=True):
                ids = mine["applicant_id"].to_numpy(dtype=object)
                same: dict[str, str | None] = {"audit_id": audit_id, "job": str(job)}
                own = {
                    "gender": gen.codes_of(mine["gender"], GENDERS),
                    "race": gen.codes_of(mine["race"], races),
                    "age": mine["age"].to_numpy(dtype=np.int64) - generator.domain.age_min,
                }

                u = gen.uniforms(generator.seed, ids.tolist())
                for name, contrast in contrasts.items():
                    found = of_contrast(generator, str(job), name, contrast, ids, own, u, redlining)
                    for version, (z, drawn) in found.items():
                        which = {**same, "contrast": name, "version": version}
                        yield _batch(generator, schema, which, ids, z, drawn)
                some = random.uniforms(generator.seed, "placebo", ids.tolist()) < share
                if not some.any():
                    continue
                z = {key: value[some] for key, value in own.items()}
                u = {key: value[some] for key, value in u.items()}
                for version, drawn in placebos(generator, str(job), ids[some], z, u).items():
                    which = {**same, "contrast": None, "version": version}
                    yield _batch(generator, schema, which, ids[some], z, drawn)

    people = applicants.select("applicant_id", "job", "gender", "race", "age")
    return people.mapInArrow(make, rows.spark_schema("versions"))


def _require_people(generator: Generator, cfg: Config) -> None:
    nobody = np.zeros(0, dtype=np.int64)
    own = dict.fromkeys(("gender", "race", "age"), nobody)
    for name, contrast in cfg.estimation.contrasts.items():
        attribute = contrast.attribute
        for values, job in itertools.product((contrast.x1, contrast.x0), generator.jobs):
            try:
                counterfactual.valued(
                    generator, job, attribute, values, own, {attribute: np.zeros(0)}
                )
            except ValueError as error:
                raise InputError(
                    f"estimation.contrasts.{name}",
                    f"{error}, so their mix there is not known",
                    "Leave the job out, or contrast one value of them.",
                ) from None


def of_contrast(
    generator: Generator, job: str, name: str, contrast: Contrast, ids: NDArray[np.object_],
    own: _Z, u: Mapping[str, Array], redlining: tuple[str, ...],
) -> dict[str, tuple[_Z, Drawn]]:  # fmt: skip
    """What is told (gender, race, age) and drawn of every version in SHOWN, by name.

    own: the applicants' indices. u: their uniforms, as they were drawn with.
    """
    attribute = contrast.attribute
    sides = {"x1": contrast.x1, "x0": contrast.x0}
    chooser = random.uniforms(generator.seed, f"applicant/{attribute}/{name}", ids.tolist())
    u = {**u, attribute: chooser}
    told = {
        side: {**own, attribute: counterfactual.valued(generator, job, attribute, v, own, u)}
        for side, v in sides.items()
    }
    drawn = counterfactual.versions(
        generator, job, attribute=attribute, x1=contrast.x1, x0=contrast.x0,
        gender=own["gender"], race=own["race"], age=own["age"], u=u, redlining=redlining,
    )  # fmt: skip
    return {version: (told[side], drawn[of]) for version, (side, of) in SHOWN.items()}


def placebos(
    generator: Generator, job: str, ids: NDArray[np.object_], own: _Z, u: Mapping[str, Array]
) -> dict[str, Drawn]:
    """The same applicant again, and under another name of his gender, race and birth year."""
    fresh = {
        v: random.uniforms(generator.seed, f"placebo/{v}", ids.tolist())
        for v in ("first_name", "surname")
    }
    return {
        version: gen.draw(
            generator, job, gender=own["gender"], race=own["race"], age=own["age"], u=uniforms
        )
        for version, uniforms in ((PLACEBO_REPEAT, u), (PLACEBO_NAME, {**u, **fresh}))
    }


def _batch(
    generator: Generator, schema: pa.Schema, which: Mapping[str, str | None],
    ids: NDArray[np.object_], z: _Z, drawn: Drawn,
) -> pa.RecordBatch:  # fmt: skip
    """Rows of one version; `which`: the columns that are the same in all of them."""
    columns = {
        **{name: rows.constant(value, len(ids)) for name, value in which.items()},
        "applicant_id": ids,
        "gender": rows.labels(GENDERS, z["gender"]),
        "race": rows.labels(generator.domain.races, z["race"]),
        "age": z["age"] + generator.domain.age_min,
        **rows.mediators(generator, drawn),
    }
    return rows.batch(columns, schema)
