"""How the generator fits the survey: one- and two-way margins of both, beside the survey's error.

The survey's share is PWGTP-weighted; the generator's is summed exactly over its tables, in the
job's population (not in the balanced design). The generator is fitted to these same people, so a
difference is what shrinking and independence assumptions cost, and z tells it in units of the
survey's own error: it is no test statistic. For the same reason there is no chi-square.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from fairscreen.population.domain import GENDERS, Domain
from fairscreen.population.generator import JobModel, codes_of, fold
from fairscreen.population.survey import REPLICATES, successive_difference_error

Array = NDArray[np.float64]
Index = NDArray[np.int64]

#: Variables whose one- and two-way margins are compared; ages in years only one-way.
VARIABLES = ("gender", "race", "age_band", "state", "edu_level")
MARGINS = (("age",), *((v,) for v in VARIABLES), *combinations(VARIABLES, 2))
#: What an applicant or a surveyed person is counted by.
KEYS = ("gender", "race", "age", "state", "edu_level")

NOBODY = "nobody surveyed in this cell"
NO_SPREAD = "the standard error is 0"
COLUMNS = (
    "job", "margin", "value", "survey_people", "survey_share", "survey_std_error",
    "generator_share", "applicants", "applicants_share", "difference", "z", "status", "reason",
)  # fmt: skip


@dataclass(frozen=True)
class SurveyedJob:
    """One job's surveyed people by cell.

    cells: KEYS, people, weight (sum of PWGTP), one row per cell (n).
    replicates: (n, 80) sums of the replicate weights; None where `no_error` tells why.
    """

    cells: pd.DataFrame
    replicates: NDArray[np.int64] | None
    no_error: str | None = None


def margin_rows(
    job: str, model: JobModel, domain: Domain, survey: SurveyedJob, applicants: pd.DataFrame
) -> pd.DataFrame:
    """Rows of table population_fit of one job (COLUMNS), cells that nothing reaches left out.

    applicants: KEYS, applicants (count), weight (sum of design_weight), one row per cell.
    Raises ValueError where the replicates do not fit the cells.
    """
    labels = labels_of(domain)
    joint = generator_joint(model, domain)
    replicates, no_error = survey.replicates, survey.no_error
    if replicates is not None:
        if replicates.shape != (len(survey.cells), REPLICATES):
            raise ValueError(f"{len(survey.cells)} cells with replicates {replicates.shape}")
        if (replicates.sum(axis=0) <= 0).any():
            replicates, no_error = None, "a replicate weight of this job sums to 0 or less"
    theirs, ours = _codes(survey.cells, domain), _codes(applicants, domain)
    people = survey.cells["people"].to_numpy(dtype=np.float64)
    weight = survey.cells["weight"].to_numpy(dtype=np.float64)
    count = applicants["applicants"].to_numpy(dtype=np.float64)
    design = applicants["weight"].to_numpy(dtype=np.float64)
    frames = []
    for margin in MARGINS:
        shape = tuple(len(labels[v]) for v in margin)
        size = int(np.prod(shape))
        at = np.ravel_multi_index(tuple(theirs[v] for v in margin), shape)
        own = np.ravel_multi_index(tuple(ours[v] for v in margin), shape)
        n = np.bincount(at, people, size)
        share = np.bincount(at, weight, size) / weight.sum()
        error = np.full(size, np.nan)
        if replicates is not None:
            cells = csr_matrix((np.ones(len(at), np.int64), (at, np.arange(len(at)))))
            cells.resize(size, len(at))
            error = successive_difference_error(
                share, (cells @ replicates) / replicates.sum(axis=0)
            )
        generated = _generator_margin(model, joint, margin).ravel()
        drawn = np.bincount(own, design, size)
        frames.append(
            pd.DataFrame({
                "margin": " x ".join(margin),
                "value": _values(margin, labels),
                "survey_people": n.astype(np.int64),
                "survey_share": share,
                "survey_std_error": np.where(n > 0, error, np.nan),
                "generator_share": generated,
                "applicants": np.bincount(own, count, size).astype(np.int64),
                "applicants_share": drawn / design.sum() if design.sum() > 0 else np.nan,
            })
        )  # fmt: skip
    rows = pd.concat(frames, ignore_index=True)
    reached = (rows["survey_people"] > 0) | (rows["generator_share"] > 0) | (rows["applicants"] > 0)
    return _judged(rows[reached].reset_index(drop=True), no_error).assign(job=job)[list(COLUMNS)]


def generator_joint(model: JobModel, domain: Domain) -> Array:
    """P(gender, race, age band, state, education) of one job's population: (G, R, K, S, E)."""
    bands = fold(model.population, 2, domain.band_of_age, domain.n_bands)
    education = model.education[:, :, :, domain.region_of_state]
    return np.asarray(np.einsum("grk,grks,grkse->grkse", bands, model.state, education))


def labels_of(domain: Domain) -> dict[str, tuple[str, ...]]:
    """Values of every variable of a margin, in the order of the axes; bands as 18-24."""
    ages = np.arange(domain.age_min, domain.age_max + 1)
    bands = [ages[domain.band_of_age == k] for k in range(domain.n_bands)]
    return {
        "gender": GENDERS,
        "race": domain.races,
        "age": tuple(str(a) for a in ages),
        "age_band": tuple(f"{b[0]}-{b[-1]}" for b in bands),
        "state": domain.states,
        "edu_level": domain.levels,
    }


def _codes(frame: pd.DataFrame, domain: Domain) -> dict[str, Index]:
    age = frame["age"].to_numpy(dtype=np.int64) - domain.age_min
    return {
        "gender": codes_of(frame["gender"], GENDERS),
        "race": codes_of(frame["race"], domain.races),
        "age": age,
        "age_band": domain.band_of_age[age],
        "state": codes_of(frame["state"], domain.states),
        "edu_level": codes_of(frame["edu_level"], domain.levels),
    }


def _generator_margin(model: JobModel, joint: Array, margin: tuple[str, ...]) -> Array:
    if margin == ("age",):
        return np.asarray(model.population.sum(axis=(0, 1)))
    away = tuple(axis for axis, name in enumerate(VARIABLES) if name not in margin)
    return np.asarray(joint.sum(axis=away))


def _values(margin: tuple[str, ...], labels: Mapping[str, tuple[str, ...]]) -> list[str]:
    texts = [""]
    for name in margin:
        texts = [f"{t}; {name}={v}" if t else f"{name}={v}" for t in texts for v in labels[name]]
    return texts


def _judged(rows: pd.DataFrame, no_error: str | None) -> pd.DataFrame:
    """Difference and z, each null with a reason where it has no number."""
    difference = rows["generator_share"] - rows["survey_share"]
    error = rows["survey_std_error"]
    computable = error > 0
    # Shares sum to 1 in floating point: an error that is 0 may come out as 1e-17.
    computable &= error > 1e-14
    reason = pd.Series(no_error, index=rows.index, dtype=object)
    if no_error is None:
        reason = reason.mask(rows["survey_people"] == 0, NOBODY)
        reason = reason.mask(~computable & (rows["survey_people"] > 0), NO_SPREAD)
    return rows.assign(
        difference=difference,
        z=difference.where(computable) / error.where(computable),
        status=np.where(computable, "ok", "not_computable"),
        reason=reason,
    )
