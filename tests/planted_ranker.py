"""A chat model that ranks by a planted formula, and what an audit of it must find.

The answer is that of `scoring/screeners/planted_ranking.py`, read off the prompt: the label line,
the words of the resume below it, and a hash of the text as the resume's quality. Its scores lie on
a lattice and its noise is independent between versions, so the expectation of everything made of
ranks is a finite sum: no simulation is needed to know the truth.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr, ndtri

from fairscreen import random
from fairscreen.documents.keys import content_key
from fairscreen.estimators.information import information
from fairscreen.estimators.ranks import ranks
from fairscreen.scoring.screeners import planted_ranking as planted
from fairscreen.scoring.screeners.planted_ranking import PlantedRankingParams

# Between the sentences of conf/prompts/score_0_10_json.yml.
_RESUME = re.compile(r"applicant's resume:\n\n(.*?)\n\nAct as a human resources", re.DOTALL)
_LABEL = re.compile(r"\A([^\n:;]+): ([^\n:;]+);\n")


@dataclass(frozen=True)
class Shown:
    """What stands in a prompt: label ("none" without one), the resume's words and its key."""

    label: str
    words: int
    key: str


def shown(prompt: str) -> Shown:
    found = _RESUME.search(prompt)
    assert found, "no prompt of the ranking design"
    text = found.group(1)
    line = _LABEL.match(text)
    return of_text(text[line.end() :] if line else text, line.group(2) if line else "none")


def of_text(text: str, label: str = "none") -> Shown:
    return Shown(label, len(text.split()), content_key(" ".join(text.split())))


def reply(p: PlantedRankingParams, prompt: str) -> str:
    """The model's answer to a prompt, JSON of Score and Overview."""
    what = shown(prompt)
    (score,) = planted.scores(
        p, resumes=[what.key], labels=[what.label], words=[float(what.words)],
        draws=[content_key(prompt)],
    )  # fmt: skip
    return planted.answer(float(score))


def replies(models: Mapping[str, PlantedRankingParams]):
    """(model, prompt) -> answer, for `ModelServer.says`."""
    return lambda model, prompt: reply(models[model], prompt)


@dataclass(frozen=True)
class Truth:
    """Expectations over the noise, given the resumes: what estimates differ from by chance alone.
    slope, at_full: of the regression of D on log words; at the full text."""

    rank_gap: float
    spread_ratio: float
    impact_ratio: float
    slope: float | None
    at_full: float | None


def truth(
    p: PlantedRankingParams, *, key: Sequence[str], words: Sequence[float], item: Sequence[str],
    labels: Sequence[str] = ("Male", "Female", "none"),
) -> Truth:  # fmt: skip
    """Of sets (N,): key of the shown text (its quality), its words, the resume; labels: favored,
    other, then what is ranked with them."""
    chances = [_chances(p, key, words, label) for label in labels]
    size = chances[0].shape[1]
    grid = np.stack(np.meshgrid(*[np.arange(size)] * len(labels), indexing="ij"), -1)
    places = ranks(grid.reshape(-1, len(labels)).astype(float))
    joint = chances[0]
    for more in chances[1:]:
        joint = (joint[:, :, None] * more[:, None, :]).reshape(len(joint), -1)
    first, second = places[:, 0], places[:, 1]
    mean, square = joint @ places, joint @ places**2
    spread = square.mean(axis=0) - mean.mean(axis=0) ** 2
    at_least = (joint @ (first <= second)).sum() / (joint @ (first >= second)).sum()
    d = mean[:, 0] - mean[:, 1]
    resumes = np.unique(item, return_inverse=True)[1]
    fit = information(d=d, words=np.asarray(words, dtype=float), item=resumes)
    known = not isinstance(fit, str)
    return Truth(
        float(d.mean()), float(spread[0] / spread[1]), float(min(1.0, at_least)),
        fit.slope.estimate if known else None, fit.at_full.estimate if known else None,
    )  # fmt: skip


def _chances(
    p: PlantedRankingParams, key: Sequence[str], words: Sequence[float], label: str
) -> np.ndarray:
    """(N, K): chance of each score of the lattice, 0 to 10."""
    quality = ndtri(random.uniforms(p.noise_seed, "planted_ranking/quality", list(key)))
    mean = np.array(
        [
            planted.mean_score(p, quality=float(q), label=label, words=float(w))
            for q, w in zip(quality, words, strict=True)
        ]
    )
    edges = (np.arange(round(planted.BEST / p.step)) + 0.5) * p.step
    below = ndtr((edges - mean[:, None]) / p.noise_sd.get(label, p.noise))
    return np.diff(np.concatenate([np.zeros((len(mean), 1)), below, np.ones((len(mean), 1))], 1))
