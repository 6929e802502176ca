"""A quote: ranges that hold, and nothing unknown told as a number."""

from __future__ import annotations

import json

import numpy as np
import pytest

from fairscreen.scoring.models import ModelSpec, Prices
from fairscreen.scoring.money import Terms
from fairscreen.scoring.prompts import PromptFile
from fairscreen.scoring.quote import (
    NOTHING,
    ModelQuote,
    Quote,
    Range,
    _model,
    mean,
    price,
    ratio,
)
from fairscreen.scoring.quote_text import as_json, as_text

PROMPT = PromptFile(user="Job: {job_description}\nResume: {resume}")
PRICES = {"tokens_in": 2.0, "tokens_out": 8.0}


def terms(**spec: object) -> Terms:
    model = {"provider": "openai", "model": "m-1", "decoding": {"max_tokens": 9}, **spec}
    return Terms(ModelSpec.model_validate(model), PROMPT, concurrency=8)


def test_a_mean_covers_its_population_about_as_often_as_it_says() -> None:
    rng = np.random.default_rng(7)
    population = rng.lognormal(8, 0.5, 4000)
    covered = 0
    for _ in range(400):
        found = mean(rng.choice(population, 200, replace=False), len(population))
        covered += found.low <= population.mean() <= found.high
    assert 0.91 <= covered / 400 <= 0.985


def test_a_mean_of_a_whole_population_has_no_range() -> None:
    values = np.array([1.0, 2.0, 6.0])
    assert mean(values, 3) == Range(3.0, 3.0, 3.0)
    assert mean(values).low < 3.0 < mean(values).high
    assert mean(np.array([]), 0) == NOTHING
    assert mean(np.array([4.0]), 3) == Range(4.0, 4.0, 4.0)


def test_a_ratio_is_of_the_sums_and_exact_pairs_have_no_range() -> None:
    chars = np.array([100.0, 300.0, 200.0])
    found = ratio(chars / 4, chars)
    assert (found.value, found.low, found.high) == pytest.approx((0.25, 0.25, 0.25))
    noisy = ratio(np.array([30.0, 70.0, 50.0]), chars)
    assert noisy.low < noisy.value == 0.25 < noisy.high


def test_without_replies_the_rules_of_thumb_and_their_range() -> None:
    rows = [{"prompt": "p" * 10, "resume": "r" * 76}] * 3  # 100 characters with the template's 14
    found = _model("m", 5, 3, terms(prices=PRICES, rpm=6, tpm=26), rows, [])
    assert found.tokens_in == Range(75.0, 60.0, pytest.approx(100.0))
    assert found.tokens_out == Range(15.0, 3.0, 27.0)
    assert found.cost_usd is not None
    assert found.cost_usd.low == pytest.approx((60 * 2 + 3 * 8) / 1e6)
    assert found.cost_usd.high == pytest.approx((100 * 2 + 27 * 8) / 1e6)
    # 3 calls at 6 a minute; 3 times 34 + 9 tokens at 26 a minute.
    assert found.minutes == pytest.approx(3 * 43 / 26)
    assert found.own_replies == 0
    assert _model("m", 5, 3, terms(), rows, []).minutes is None


def test_own_replies_give_the_rates() -> None:
    rows = [{"prompt": "p" * 10, "resume": "r" * 76}] * 3
    earlier = [
        {
            "prompt": "p" * 10,
            "resume": "r" * (76 + 100 * (i % 3)),
            "tokens_in": 20 + 20 * (i % 3),
            "tokens_out": 1 + i % 2,
        }
        for i in range(50)
    ]
    found = _model("m", 5, 3, terms(prices=PRICES), rows, earlier)
    assert found.own_replies == 50
    assert found.tokens_in is not None
    assert found.tokens_out is not None
    assert found.tokens_in.value == pytest.approx(3 * 100 * 0.2)
    assert found.tokens_out.low < found.tokens_out.value == 4.5 < found.tokens_out.high
    assert _model("m", 5, 3, terms(prices=PRICES), rows, earlier[:49]).own_replies == 0


def quoted(cost: Range | None, max_cost: float | None = None, spent: float = 0.0) -> Quote:
    tokens = Range(100.0, 80.0, 120.0)
    api = ModelQuote("gpt", 20, 10, tokens, tokens, cost, 2.5, 60, dearest_usd=0.5)
    local = ModelQuote("minilm", 20, 20, None, None, NOTHING, None)
    return Quote("a", (api, local), max_cost, spent)


@pytest.mark.parametrize(
    ("max_cost", "spent", "expected"),
    [(None, 0.0, None), (9.0, 0.0, "no"), (9.0, 6.6, "maybe"), (9.0, 8.5, "yes"),
     (2.4, 0.0, "maybe"), (2.5, 0.0, "no")],
)  # fmt: skip
def test_whether_the_cap_would_be_reached(
    max_cost: float | None, spent: float, expected: str | None
) -> None:
    """1 to 2 dollars, and a last call that must fit at 50 cents."""
    assert quoted(Range(1.5, 1.0, 2.0), max_cost, spent).reaches_cap == expected


def test_unknown_prices_are_told_as_unknown() -> None:
    assert price(None, NOTHING, NOTHING) is None
    assert price(Prices(tokens_in=0, tokens_out=0), NOTHING, NOTHING) == NOTHING
    found = quoted(None)
    text = as_text(found)
    assert "  dollars     not known: no prices\n" in text
    assert text.endswith("total: 30 calls, not known: no prices for gpt; the others $0.00 "
                         "($0.00 to $0.00)")  # fmt: skip
    told = json.loads(json.dumps(as_json(found), allow_nan=False))
    assert (told["cost_usd"], told["models"][0]["cost_usd"]) == (None, None)
    assert told["unpriced_models"] == ["gpt"]


def test_what_people_read() -> None:
    assert as_text(quoted(Range(1.5, 1.0, 2.0), 9.0, 6.6)) == (
        "audit a: what scoring would cost; nothing was asked\n"
        "gpt: 20 requests, 10 calls to ask (distinct, unanswered)\n"
        "  tokens in   100 (80 to 120) [rates of 60 earlier replies of this model]\n"
        "  tokens out  100 (80 to 120)\n"
        "  dollars     $1.50 ($1.00 to $2.00)\n"
        "  minutes     at least 2.5\n"
        "minilm: 20 requests, 20 calls to ask (distinct, unanswered)\n"
        "  runs on this machine, costs nothing\n"
        "total: 30 calls, $1.50 ($1.00 to $2.00)\n"
        "scoring.max_cost $9.00, spent so far at most $6.60: may be reached: the run would then "
        "stop with calls pending"
    )
