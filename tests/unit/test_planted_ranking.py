"""The simulated screener of the ranking design, alone and behind the prompt; its known truth."""

from __future__ import annotations

import json

import numpy as np
import pytest

import planted_ranker as ranker
from fairscreen.errors import ConfigError
from fairscreen.estimators.ranking import RankingOptions, ranking
from fairscreen.estimators.ranks import RankSets
from fairscreen.scoring import prompts
from fairscreen.scoring.calls import Call
from fairscreen.scoring.parse import parse
from fairscreen.scoring.screeners import KINDS
from fairscreen.scoring.screeners.planted_ranking import PlantedRankingParams

LABELS = ("Male", "Female", "none")
PARAMS = {
    "bias": {"Female": 0.5}, "slope": {"Male": -0.4}, "noise": 0.8, "noise_sd": {"Female": 1.2},
}  # fmt: skip


def _calls(replicates: int = 1) -> list[Call]:
    return [
        Call(f"{i}/{label}/{n}", payload=json.dumps({
            "information": 40, "label": label, "replicate": n, "resume_id": f"r{i}", "words": 90,
        }))
        for i in range(50) for label in LABELS for n in range(replicates)
    ]  # fmt: skip


def test_it_answers_what_the_parser_reads() -> None:
    kind = KINDS["planted_ranking"]
    found = dict(kind.open(PARAMS).ask(_calls()))
    scores = {key: parse(kind.parser, r.reply, r.transport) for key, r in found.items()}
    assert {s.outcome for s in scores.values()} == {"ok"}
    assert {float(s.score) % 1 for s in scores.values()} == {0.0}
    by_label = {
        label: np.mean([float(s.score) for k, s in scores.items() if f"/{label}/" in k])
        for label in LABELS
    }
    assert by_label["Female"] > by_label["none"]  # + 0.5
    assert by_label["Male"] > by_label["none"]  # - 0.4 log(90 / 200)


def test_a_second_answer_differs_and_the_first_is_repeated() -> None:
    kind = KINDS["planted_ranking"]
    twice = dict(kind.open({"step": 0.0001}).ask(_calls(2)))
    again = dict(kind.open({"step": 0.0001}).ask(_calls(2)[::-1]))
    assert {k: r.reply for k, r in twice.items()} == {k: r.reply for k, r in again.items()}
    assert all(twice[k].reply != twice[k[:-1] + "1"].reply for k in twice if k.endswith("0"))


def test_bad_parameters_are_named() -> None:
    with pytest.raises(ConfigError, match=r"params\.bias\.Male: Input should be less than"):
        KINDS["planted_ranking"].check({"bias": {"Male": 50}}, "params")


def test_the_ranker_reads_what_the_prompt_shows() -> None:
    file = prompts.load("score_0_10_json", "prompt")
    text = "Led a ward. Note: kept; calm\nTrained nurses"
    for line, label in (("Gender: Male;\n", "Male"), ("", "none"), ("Folder: Blue;\n", "Blue")):
        prompt = "".join(part.text for part in file.filled("Nurse", line + text).user)
        assert ranker.shown(prompt) == ranker.of_text(text, label)
    assert ranker.of_text(text).words == 8


def test_estimates_meet_the_enumerated_truth() -> None:
    """Means over many draws of the noise equal the finite sums, rank by rank."""
    p = PlantedRankingParams(**PARAMS)
    keys, words = [f"t{i}" for i in range(40)], list(np.geomspace(20, 400, 40))
    item = [f"r{i // 4}" for i in range(40)]
    known = ranker.truth(p, key=keys, words=words, item=item)
    found = []
    for draw in range(400):
        y = np.stack(
            [
                ranker.planted.scores(
                    p, resumes=keys, labels=[label] * 40, words=words,
                    draws=[f"{draw}/{label}/{k}" for k in keys],
                )
                for label in LABELS
            ],
            axis=1,
        )  # fmt: skip
        data = RankSets(y, np.unique(item, return_inverse=True)[1], np.array(words))
        rows = {
            (r.estimand, r.method): r.estimate
            for r in ranking(data, RankingOptions(published=False, swaps=99)).rows
        }
        found.append([rows["rank_gap", "sign_flip_exact"],
                      rows["information_slope", "fixed_effects_cluster"],
                      rows["gap_at_full_text", "fixed_effects_cluster"]])  # fmt: skip
    mean = np.mean(found, axis=0)
    error = np.std(found, axis=0, ddof=1) / 20
    assert np.abs(mean - [known.rank_gap, known.slope, known.at_full]).max() < 4 * error.max()
    assert (np.abs(mean - [known.rank_gap, known.slope, known.at_full]) < 4 * error).all()
    assert known.rank_gap > 0.1
    assert known.spread_ratio < 1  # Female's noise is larger
    assert known.impact_ratio < 1
