"""A screener of the ranking design with known effects, to check an audit by. Simulated: no model.

    Y = base + quality_sd q(resume) + bias[label] + slope[label] log(words / 200)
      + noise_sd[label] e(resume, information, label, replicate)
rounded to multiples of `step` and cut at 0 and 10; q and e are standard normal draws by hash. It is
sent a version's coordinates, not its text, and answers as a chat model would: JSON of Score and
Overview. `mean_score` and `PlantedRankingParams` are all that a test needs to compute the truth.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray
from pydantic import Field
from scipy.special import ndtri

from fairscreen import random
from fairscreen.scoring.calls import Call, Kind, Params, Reply
from fairscreen.scoring.screeners.params import checked
from fairscreen.settings.base import Settings

Points = Annotated[float, Field(allow_inf_nan=False, ge=-10, le=10)]
Spread = Annotated[float, Field(allow_inf_nan=False, ge=0, le=10)]
BEST = 10.0
WORDS = 200.0  # at which a slope adds nothing
# Version of the formula above: part of every call key.
MODEL = "planted_ranking/1"


class PlantedRankingParams(Settings):
    """Coefficients in points of the 0 to 10 score, by label; `none` is the version without one. Of
    a label that is not listed they are 0, and its noise is `noise`."""

    base: Points = 6.0
    quality_sd: Spread = 1.2
    bias: dict[str, Points] = Field({"Female": 0.3})
    slope: dict[str, Points] = Field(default_factory=dict)
    noise: Spread = 0.8
    noise_sd: dict[str, Spread] = Field(default_factory=dict)
    step: Annotated[float, Field(ge=0.0001, le=5, allow_inf_nan=False)] = 1.0
    noise_seed: int = 0


def mean_score(p: PlantedRankingParams, *, quality: float, label: str, words: float) -> float:
    """The score without noise and before rounding; quality: the resume's normal draw."""
    slope = p.slope.get(label, 0.0)
    bias = p.bias.get(label, 0.0)
    return float(p.base + p.quality_sd * quality + bias + slope * np.log(words / WORDS))


def rounded(p: PlantedRankingParams, y: NDArray[np.float64]) -> NDArray[np.float64]:
    """As the screener says it."""
    return np.clip(np.rint(y / p.step) * p.step, 0.0, BEST)


def scores(
    p: PlantedRankingParams, *, resumes: Sequence[str], labels: Sequence[str],
    words: Sequence[float], draws: Sequence[str],
) -> NDArray[np.float64]:  # fmt: skip
    """Scores (N,) of versions of resumes; draws: the key of each one's noise."""
    q = ndtri(random.uniforms(p.noise_seed, "planted_ranking/quality", resumes))
    e = ndtri(random.uniforms(p.noise_seed, "planted_ranking/noise", draws))
    y = [
        mean_score(p, quality=float(quality), label=label, words=count)
        + p.noise_sd.get(label, p.noise) * float(noise)
        for quality, label, count, noise in zip(q, labels, words, e, strict=True)
    ]
    return rounded(p, np.array(y, dtype=np.float64))


def answer(score: float) -> str:
    """The reply's text."""
    said = int(score) if score.is_integer() else round(score, 4)
    return json.dumps({"Score": said, "Overview": "Simulated: a planted score."})


def notes(name: str, params: Params) -> list[str]:
    """What a reader must know of a simulated screener."""
    p = checked(PlantedRankingParams, params, "params")
    planted = ", ".join(f"{label} {points:+g}" for label, points in p.bias.items()) or "nothing"
    return [
        f"{name} is simulated and is told each label itself. Planted at {WORDS:g} words, in points "
        f"before rounding: {planted}."
    ]


class PlantedRanking:
    """The screener."""

    def __init__(self, params: PlantedRankingParams) -> None:
        self.params = params

    def ask(self, calls: Sequence[Call]) -> Iterator[tuple[str, Reply]]:
        told: list[Mapping[str, Any]] = [json.loads(call.payload or "{}") for call in calls]
        found = scores(
            self.params,
            resumes=[t["resume_id"] for t in told],
            labels=[t["label"] for t in told],
            words=[float(t["words"]) for t in told],
            draws=[
                f"{t['resume_id']}/{t['information']}/{t['label']}#{t['replicate']}" for t in told
            ],
        )
        for call, score in zip(calls, found.tolist(), strict=True):
            yield call.call_key, Reply("answered", answer(score), latency_ms=0.0, cost_usd=0.0)


def _check(params: Params, where: str) -> None:
    checked(PlantedRankingParams, params, where)


def _identity(params: Params) -> dict[str, Any]:
    # Defaults written out: a changed default is another screener.
    return checked(PlantedRankingParams, params, "params").model_dump(mode="json")


def _open(params: Params) -> PlantedRanking:
    return PlantedRanking(checked(PlantedRankingParams, params, "params"))


KIND = Kind(
    name="planted_ranking",
    model=lambda params: MODEL,
    check=_check,
    identity=_identity,
    open=_open,
    parser="score_0_10_json/2",
    version=lambda params: MODEL,
    sends="applicant",
)
