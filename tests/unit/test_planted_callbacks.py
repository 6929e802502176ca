"""The simulated screener of paired callbacks: its rates and gaps are what is planted."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy.stats import binom

from fairscreen import random
from fairscreen.errors import ConfigError
from fairscreen.scoring.calls import Call
from fairscreen.scoring.parse import parse
from fairscreen.scoring.screeners import KINDS
from fairscreen.scoring.screeners import planted_callbacks as planted
from fairscreen.scoring.screeners.planted_callbacks import People, PlantedCallbacksParams

KIND = KINDS["planted_callbacks"]
PARAMS = {"rate": 20.0, "bias": {"white": 4.0, "male": -3.0}, "posting": 0.4, "pair": 0.3}
ARMS = [(r, g) for r in ("white", "black") for g in ("male", "female")]


def arms(n: int, postings: int, race: str, gender: str, first: str = "A") -> People:
    """n people of one group, spread over so many postings."""
    return People(
        [f"p{i % postings}" for i in range(n)], [i // postings for i in range(n)], [race] * n,
        [gender] * n, [first] * n, ["B"] * n,
    )  # fmt: skip


def test_every_rate_is_its_chance() -> None:
    """Each person of a posting of its own: draws are independent, so counts are binomial."""
    p, n = PlantedCallbacksParams(**PARAMS), 40_000
    for race, gender in ARMS:
        chance = (20 + 4 * (race == "white") - 3 * (gender == "male")) / 100
        assert planted.chance(p, race=race, gender=gender, first_name="A") == pytest.approx(chance)
        yes, p_yes = planted.answers(p, arms(n, n, race, gender))
        low, high = binom.ppf([0.0005, 0.9995], n, chance)
        assert low <= yes.sum() <= high
        # P(yes) given posting and pair means the chance, and is what the answer follows.
        assert abs(p_yes.mean() - chance) < 4 * p_yes.std() / n**0.5
        for at in (0.1, 0.3, 0.6, 0.8):
            near = np.abs(p_yes - at) < 0.05
            m = int(near.sum())
            expected = p_yes[near].mean()
            low, high = binom.ppf([0.0005, 0.9995], m, expected)
            assert m > 500
            assert low <= yes[near].sum() <= high


def test_gaps_are_the_planted_ones_and_pairs_are_decided_alike() -> None:
    p, n = PlantedCallbacksParams(**PARAMS), 60_000
    white, _ = planted.answers(p, arms(n, n // 4, "white", "male"))
    black, _ = planted.answers(p, arms(n, n // 4, "black", "male"))
    d = white.astype(float) - black
    by_posting = d.reshape(4, -1).mean(axis=0)
    error = by_posting.std(ddof=1) / len(by_posting) ** 0.5
    truth = planted.gap(p, {"race": "white"}, {"race": "black"})
    assert truth == 4.0
    assert abs(100 * by_posting.mean() - truth) < 4 * 100 * error
    assert (
        planted.gap(p, {"race": "white", "gender": "female"}, {"race": "black", "gender": "male"})
        == 7.0
    )
    # The two of a pair agree more than two profiles of a posting, these more than strangers.
    pair, posting = (
        np.corrcoef(white, black)[0, 1],
        np.corrcoef(white, np.roll(black, n // 4))[0, 1],
    )
    stranger = np.corrcoef(white, np.roll(black, 1))[0, 1]
    assert pair > posting + 0.1 > stranger + 0.2
    assert abs(stranger) < 4 / n**0.5


def test_name_effects_have_the_planted_spread() -> None:
    p = PlantedCallbacksParams(rate=50, bias={}, name_sd=2.0)
    names = [f"n{i}" for i in range(4000)]
    chances = [planted.chance(p, race="white", gender="male", first_name=n) for n in names]
    percent = 100 * np.array(chances)
    assert abs(percent.mean() - 50) < 4 * 2 / 4000**0.5
    assert abs(percent.std() / 2 - 1) < 4 / (2 * 4000) ** 0.5
    # A name's effect is its own, whoever bears it.
    assert planted.chance(p, race="black", gender="female", first_name="n7") == chances[7]


def test_it_answers_what_the_parsers_read() -> None:
    people = [
        {"posting_id": f"p{i // 8}", "pair_id": i // 4 % 2, "race": race, "gender": gender,
         "first_name": "A", "surname": "B"}
        for i, (race, gender) in enumerate(ARMS * 500)
    ]  # fmt: skip
    calls = [Call(f"k{i}", payload=json.dumps(person)) for i, person in enumerate(people)]
    params = {**PARAMS, "silent": {"black": 0.1, "male": 0.05}}
    found = dict(KIND.open(params).ask(calls))
    assert dict(KIND.open(params).ask(calls[::-1])) == found
    p = PlantedCallbacksParams(**params)
    told = People(*([q[f] for q in people] for f in (
        "posting_id", "pair_id", "race", "gender", "first_name", "surname")))  # fmt: skip
    yes, p_yes = planted.answers(p, told)
    none = planted.silent(p, told)
    for i, call in enumerate(calls):
        reply = found[call.call_key]
        for parser in ("yes_no_one_word/2", "yes_no_first_occurrence/2"):
            outcome = parse(parser, reply.reply, reply.transport)
            assert outcome.outcome == ("unparseable" if none[i] else "ok")
            assert none[i] or float(outcome.score) == yes[i]
        assert reply.p_yes == (None if none[i] else pytest.approx(p_yes[i]))
    for (race, gender), share in zip(ARMS, (0.05, 0.0, 0.15, 0.1), strict=True):
        mine = [none[i] for i, q in enumerate(people) if (q["race"], q["gender"]) == (race, gender)]
        low, high = binom.ppf([0.0005, 0.9995], len(mine), share)
        assert low <= sum(mine) <= high
    quiet = dict(KIND.open({**params, "probabilities": False}).ask(calls))
    assert {r.p_yes for r in quiet.values()} == {None}
    assert {k: r.reply for k, r in quiet.items()} == {k: r.reply for k, r in found.items()}


def test_another_seed_is_another_screener_and_draws_are_by_hash() -> None:
    people = arms(2000, 500, "white", "male")
    one, other = (
        planted.answers(PlantedCallbacksParams(noise_seed=seed), people)[0] for seed in (0, 1)
    )
    assert abs(np.corrcoef(one, other)[0, 1]) < 4 / 500**0.5
    # As written: the latent score of one person by hand.
    from scipy.special import ndtri

    p = PlantedCallbacksParams()
    draws = {
        "posting": "p0", "pair": "p0/0", "own": "p0/0/white/male/A/B",
    }  # fmt: skip
    a, b, e = (
        float(ndtri(random.uniforms(0, f"planted_callbacks/{what}", [key]))[0])
        for what, key in draws.items()
    )
    z = 0.3**0.5 * a + 0.3**0.5 * b + 0.4**0.5 * e
    assert one[0] == (z < ndtri((p.rate + 3 + 1.5) / 100))


@pytest.mark.parametrize(("params", "message"), [
    ({"rate": 0}, r"params\.rate: Input should be greater than 0"),
    ({"posting": 0.6, "pair": 0.4}, r"params: posting and pair are shares of one variance"),
    ({"bias": {"white": 200}}, r"params\.bias\.white: Input should be less than or equal to 100"),
    ({"silent": {"black": 2}}, r"params\.silent\.black: "),
    ({"tilt": 1}, r"params\.tilt: is not a parameter of this kind"),
])  # fmt: skip
def test_bad_parameters_are_named(params: dict, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        KIND.check(params, "params")


def test_the_note_tells_what_is_planted() -> None:
    (note,) = planted.notes("sim", {**PARAMS, "name_sd": 0.5})
    assert note == (
        "sim is simulated and is told race and gender of each name itself. Planted, in percentage "
        "points on a rate of 20%: white +4, male -3. Names differ by 0.5 points (SD) besides."
    )
