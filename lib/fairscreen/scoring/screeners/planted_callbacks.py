"""A screener of paired callbacks with known gaps, to check an audit by. Simulated: no model.

P(yes) of a profile, in percent, over postings and profiles:

    chance = rate + bias[race] + bias[gender] + name_sd n(first name)

It says yes where a latent score is below the normal quantile of that chance:

    z = sqrt(posting) a + sqrt(pair) b + sqrt(1 - posting - pair) e

a is drawn by posting, b by profile (pair_id) of a posting, e by person, n by first name: standard
normal draws by hash. So profiles of a posting, and more so the two of a pair, are decided alike,
and every rate is its chance exactly: the planted gap in points is the truth. It is sent a pair's
coordinates, not its text. `chance`, `gap`, `answers`, `silent` and `PlantedCallbacksParams` are
all that a test needs.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator
from scipy.special import ndtr, ndtri

from fairscreen import random
from fairscreen.scoring.calls import Call, Kind, Params, Reply
from fairscreen.scoring.screeners.params import checked
from fairscreen.settings.base import Settings

Points = Annotated[float, Field(ge=-100, le=100, allow_inf_nan=False)]
Part = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
# Version of the formula above: part of every call key.
MODEL = "planted_callbacks/1"
#: What it says instead of an answer: no parser reads it.
SILENCE = "That depends."
_LEAST, _MOST = 0.001, 0.999  # a chance that name effects push out of these is cut


class PlantedCallbacksParams(Settings):
    """rate, bias, name_sd in percentage points; bias, silent: by race or gender, else 0.

    posting, pair   shares of the latent variance; together below 1
    silent          share of the profiles that get no yes or no
    probabilities   whether replies come with P(yes) given posting and profile, as those of a model
                    with log-probabilities do: its mean over them is the chance too
    """

    rate: Annotated[float, Field(gt=0, lt=100, allow_inf_nan=False)] = 30.0
    bias: dict[str, Points] = Field({"white": 3.0, "male": 1.5})
    name_sd: Annotated[float, Field(ge=0, le=20, allow_inf_nan=False)] = 0.0
    posting: Part = 0.3
    pair: Part = 0.3
    silent: dict[str, Part] = Field(default_factory=dict)
    probabilities: bool = True
    noise_seed: int = 0

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if self.posting + self.pair >= 1:
            raise ValueError("posting and pair are shares of one variance; lower one of them")
        return self


@dataclass(frozen=True)
class People:
    """Profiles (N,) that are asked about: what the payload of a call tells."""

    posting: Sequence[str]
    pair: Sequence[int]
    race: Sequence[str]
    gender: Sequence[str]
    first_name: Sequence[str]
    surname: Sequence[str]


def chance(p: PlantedCallbacksParams, *, race: str, gender: str, first_name: str) -> float:
    """P(yes) of a name over all postings and profiles, 0 to 1."""
    effect = 0.0
    if p.name_sd:
        draw = random.uniforms(p.noise_seed, "planted_callbacks/name", [first_name])
        effect = p.name_sd * float(ndtri(draw)[0])
    percent = p.rate + p.bias.get(race, 0.0) + p.bias.get(gender, 0.0) + effect
    return float(np.clip(percent / 100, _LEAST, _MOST))


def gap(p: PlantedCallbacksParams, favored: Mapping[str, str], other: Mapping[str, str]) -> float:
    """The planted gap of a contrast in percentage points, favored minus other; factor -> value.

    Name effects have mean 0; those of the names of one audit add their own difference to it.
    """
    one, two = (sum(p.bias.get(v, 0.0) for v in side.values()) for side in (favored, other))
    return one - two


def answers(
    p: PlantedCallbacksParams, people: People
) -> tuple[NDArray[np.bool_], NDArray[np.float64]]:
    """yes (N,) and P(yes) given posting and pair (N,)."""
    groups = list(zip(people.race, people.gender, people.first_name, strict=True))
    known = {g: chance(p, race=g[0], gender=g[1], first_name=g[2]) for g in set(groups)}
    line = ndtri(np.array([known[g] for g in groups]))

    def normal(what: str, keys: Sequence[str]) -> NDArray[np.float64]:
        drawn = ndtri(random.uniforms(p.noise_seed, f"planted_callbacks/{what}", keys))
        return np.asarray(drawn, dtype=np.float64)

    pairs = [f"{posting}/{pair}" for posting, pair in zip(people.posting, people.pair, strict=True)]
    shared = np.sqrt(p.posting) * normal("posting", people.posting)
    shared = shared + np.sqrt(p.pair) * normal("pair", pairs)
    own = np.sqrt(1 - p.posting - p.pair)
    yes = shared + own * normal("own", _persons(people, pairs)) < line
    return yes, np.asarray(ndtr((line - shared) / own), dtype=np.float64)


def silent(p: PlantedCallbacksParams, people: People) -> NDArray[np.bool_]:
    """Who gets no answer (N,): by draw, whatever the answer would have been."""
    pairs = [f"{posting}/{pair}" for posting, pair in zip(people.posting, people.pair, strict=True)]
    share = [
        p.silent.get(race, 0.0) + p.silent.get(gender, 0.0)
        for race, gender in zip(people.race, people.gender, strict=True)
    ]
    drawn = random.uniforms(p.noise_seed, "planted_callbacks/silent", _persons(people, pairs))
    return np.asarray(drawn < np.array(share), dtype=np.bool_)


def _persons(people: People, pairs: Sequence[str]) -> list[str]:
    fields = (pairs, people.race, people.gender, people.first_name, people.surname)
    return ["/".join(parts) for parts in zip(*fields, strict=True)]


def notes(name: str, params: Params) -> list[str]:
    """What a reader must know of a simulated screener."""
    p = checked(PlantedCallbacksParams, params, "params")
    planted = ", ".join(f"{label} {points:+g}" for label, points in p.bias.items()) or "nothing"
    text = (
        f"{name} is simulated and is told race and gender of each name itself. Planted, in "
        f"percentage points on a rate of {p.rate:g}%: {planted}."
    )
    return [text + (f" Names differ by {p.name_sd:g} points (SD) besides." if p.name_sd else "")]


class PlantedCallbacks:
    """The screener."""

    def __init__(self, params: PlantedCallbacksParams) -> None:
        self.params = params

    def ask(self, calls: Sequence[Call]) -> Iterator[tuple[str, Reply]]:
        told: list[Mapping[str, Any]] = [json.loads(call.payload or "{}") for call in calls]
        people = People(
            *([t[field] for t in told] for field in (
                "posting_id", "pair_id", "race", "gender", "first_name", "surname",
            ))
        )  # fmt: skip
        yes, p_yes = answers(self.params, people)
        none = silent(self.params, people)
        for i, call in enumerate(calls):
            said = SILENCE if none[i] else "yes" if yes[i] else "no"
            known = self.params.probabilities and not none[i]
            yield call.call_key, Reply(
                "answered", said, latency_ms=0.0, cost_usd=0.0,
                p_yes=float(p_yes[i]) if known else None,
            )  # fmt: skip


def _check(params: Params, where: str) -> None:
    checked(PlantedCallbacksParams, params, where)


def _identity(params: Params) -> dict[str, Any]:
    # Defaults written out: a changed default is another screener.
    return checked(PlantedCallbacksParams, params, "params").model_dump(mode="json")


def _open(params: Params) -> PlantedCallbacks:
    return PlantedCallbacks(checked(PlantedCallbacksParams, params, "params"))


KIND = Kind(
    name="planted_callbacks",
    model=lambda params: MODEL,
    check=_check,
    identity=_identity,
    open=_open,
    parser="yes_no_one_word/2",
    version=lambda params: MODEL,
    sends="applicant",
)
