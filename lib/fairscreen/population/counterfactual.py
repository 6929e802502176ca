"""The same applicant as somebody of another gender or race: mediators for counterfactual rescoring.

Of a contrast x1 against x0, each applicant gets four versions of (R, B), drawn with the same
uniforms, R before B:
    x1          (R_x1, B_{x1,R_x1})     its score estimates E[Y_x1]
    x0          (R_x0, B_{x0,R_x0})     E[Y_x0]; without a photo also E_W = E[Y_{x1,W_x0}], since
                                        X reaches the document through R and B alone
    b_x0_r_x1   (R_x1, B_{x0,R_x1})     E_B
    b_x1_r_x0   (R_x0, B_{x1,R_x0})     E_R
A set of values (white against Black and Asian) stands for its mix given Z in the design: whoever
belongs to the set stays as he is, anybody else gets a value of it by the design's density (that
of the whole job, where nobody of the set has his age and other attribute).
Source: estimators.md of the design notes (counterfactual rescoring).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from fairscreen.config_checks import drawn_order
from fairscreen.population.domain import GENDERS
from fairscreen.population.generator import VARIABLES, Drawn, Generator, Index, draw

Array = NDArray[np.float64]
Side = Literal["x1", "x0"]

#: Versions by name: whose R, whose B.
VERSIONS: dict[str, tuple[Side, Side]] = {
    "x1": ("x1", "x1"),
    "x0": ("x0", "x0"),
    "b_x0_r_x1": ("x1", "x0"),
    "b_x1_r_x0": ("x0", "x1"),
}
_FIELD = {name: "months" if name == "exp_year" else name for name in VARIABLES}


def versions(
    generator: Generator,
    job: str,
    *,
    attribute: Literal["gender", "race"],
    x1: Sequence[str],
    x0: Sequence[str],
    gender: Index,
    race: Index,
    age: Index,
    u: Mapping[str, Array],
    redlining: Sequence[str] = ("state", "first_name", "surname"),
) -> dict[str, Drawn]:
    """Mediators (n,) of every version in VERSIONS, by name.

    gender, race, age (n,): the applicants' own, as indices. u: one uniform (n,) per variable of
    generator.VARIABLES, and `attribute` for a set of several values. redlining: the variables of
    R, the others are B.
    Raises ValueError where a variable of R is drawn from one of B, or the job has nobody of a set.
    """
    drawn_order(redlining)
    own = {"gender": gender, "race": race, "age": age}
    sides: dict[Side, Sequence[str]] = {"x1": x1, "x0": x0}
    z = {
        side: own | {attribute: valued(generator, job, attribute, values, own, u)}
        for side, values in sides.items()
    }
    r = {
        side: draw(generator, job, gender=a["gender"], race=a["race"], age=a["age"], u=u)
        for side, a in z.items()
    }
    found = {}
    for name, (of_r, of_b) in VERSIONS.items():
        if of_r == of_b:
            found[name] = r[of_r]
            continue
        given = {_FIELD[v]: getattr(r[of_r], _FIELD[v]) for v in redlining}
        a = z[of_b]
        found[name] = draw(
            generator, job, gender=a["gender"], race=a["race"], age=a["age"], u=u, given=given
        )
    return found


def valued(
    generator: Generator,
    job: str,
    attribute: Literal["gender", "race"],
    values: Sequence[str],
    own: Mapping[str, Index],
    u: Mapping[str, Array],
) -> Index:
    """Index (n,) of a value of the set for everybody: the own one where it belongs to the set."""
    labels = GENDERS if attribute == "gender" else generator.domain.races
    chosen = np.array([labels.index(v) for v in values], dtype=np.int64)
    if len(chosen) == 1:
        return np.full(len(own["age"]), chosen[0])
    design = generator.jobs[job].design
    other = own["race"] if attribute == "gender" else own["gender"]
    axis = 0 if attribute == "gender" else 1
    # (n, values): the design's density of each value, given the rest of Z
    density = np.moveaxis(design, axis, -1)[other, own["age"]][:, chosen]
    inside = np.isin(own[attribute], chosen)
    whole = design.sum(axis=tuple(i for i in range(3) if i != axis))[chosen]
    if whole.sum() <= 0:
        raise ValueError(f"nobody of {', '.join(values)} is in {job}")
    density = np.where(density.sum(axis=1, keepdims=True) > 0, density, whole)
    total = density.sum(axis=1)
    below = np.cumsum(density, axis=1) <= (u[attribute] * total)[:, None]
    drawn = chosen[np.minimum(below.sum(axis=1), len(chosen) - 1)]
    return np.where(inside, own[attribute], drawn)
