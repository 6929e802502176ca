"""A screener with known effects, to check an audit by. Simulated: no model is asked.

    Y = base + direct_gender [male] + direct_race [white]              direct
      + edu_step rank(edu_group) + exp_step min(exp_year, exp_cap)     business
      + first_name_gender + first_name_cohort + surname_race + region  redlining, points by label
      + N(0, noise_sd), keyed by the applicant

It is sent the applicant's structural features, not the resume. With the defaults every score is
inside 0 to 100 unless the noise is beyond five standard deviations; one outside is unparseable.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, Literal

from pydantic import Field
from scipy.special import ndtri

from fairscreen import random
from fairscreen.scoring.calls import Call, Kind, Params, Reply
from fairscreen.scoring.screeners.params import checked
from fairscreen.settings.base import Settings

Points = Annotated[float, Field(allow_inf_nan=False, ge=-1000, le=1000)]
NameGender = Literal["male", "female", "neutral"]
Region = Literal["northeast", "midwest", "south", "west"]
# Version of the formula above: part of every call key.
MODEL = "planted/1"


class PlantedParams(Settings):
    """Coefficients in points of score. Labels that are not listed get 0."""

    base: Points = 45.0
    direct_gender: Points = 2.0
    direct_race: Points = 1.5
    edu_step: Points = 4.0  # per step of education group, the lowest is 0
    exp_step: Points = 0.8  # per year of experience
    exp_cap: float = Field(20.0, ge=0, le=60, allow_inf_nan=False)  # years
    first_name_gender: dict[NameGender, Points] = Field({"male": 1.0, "female": -1.0})
    first_name_cohort: dict[str, Points] = Field({"young": 0.5, "old": -0.5})
    surname_race: dict[str, Points] = Field({"white": 1.0, "black": -1.0})
    region: dict[Region, Points] = Field({"northeast": 0.5, "south": -0.5})
    noise_sd: float = Field(3.0, ge=0, le=1000, allow_inf_nan=False)
    noise_seed: int = 0


def truth(params: Params) -> dict[str, float]:
    """The direct effects that are planted, in points: gender (men against women), race (white
    against everybody else). They hold for every applicant, so for every job too."""
    p = checked(PlantedParams, params, "params")
    return {"gender": p.direct_gender, "race": p.direct_race}


def notes(name: str, params: Params) -> list[str]:
    """What a reader must know of a simulated screener: its planted truth, beside the estimates."""
    planted = truth(params)
    return [
        f"{name} is simulated and is given gender and race themselves: its NDE estimates a planted "
        f"direct effect of {planted['gender']:+g} points for men and {planted['race']:+g} points "
        "for white applicants, the same in every job."
    ]


def mean_score(p: PlantedParams, applicant: Mapping[str, Any]) -> float:
    """The score without noise, of an applicant's features as sent (see `requests`)."""
    score: float = (
        p.base
        + p.direct_gender * (applicant["gender"] == "male")
        + p.direct_race * (applicant["race"] == "white")
        + p.edu_step * int(applicant["edu_rank"])
        + p.exp_step * min(int(applicant["exp_months"]) / 12, p.exp_cap)
        + p.first_name_gender.get(applicant["first_name_gender"], 0.0)
        + p.first_name_cohort.get(applicant["first_name_cohort"], 0.0)
        + p.surname_race.get(applicant["surname_race"], 0.0)
        + p.region.get(applicant["region"], 0.0)
    )
    return score


class Planted:
    """The screener: replies with the number, four decimals, as text."""

    def __init__(self, params: PlantedParams) -> None:
        self.params = params

    def ask(self, calls: Sequence[Call]) -> Iterator[tuple[str, Reply]]:
        p = self.params
        applicants = [json.loads(call.payload or "{}") for call in calls]
        ids = [a["applicant_id"] for a in applicants]
        noise = p.noise_sd * ndtri(random.uniforms(p.noise_seed, "planted_noise", ids))
        for call, applicant, e in zip(calls, applicants, noise, strict=True):
            score = mean_score(p, applicant) + float(e)
            yield call.call_key, Reply("answered", f"{score:.4f}", latency_ms=0.0, cost_usd=0.0)


def _check(params: Params, where: str) -> None:
    checked(PlantedParams, params, where)


def _identity(params: Params) -> dict[str, Any]:
    # Defaults written out: a changed default is another screener.
    return checked(PlantedParams, params, "params").model_dump(mode="json")


def _open(params: Params) -> Planted:
    return Planted(checked(PlantedParams, params, "params"))


KIND = Kind(
    name="planted",
    model=lambda params: MODEL,
    check=_check,
    identity=_identity,
    open=_open,
    parser="number/2",
    version=lambda params: MODEL,
    sends="applicant",
)
