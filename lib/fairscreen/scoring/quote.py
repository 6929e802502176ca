"""What asking would cost, before anything is asked: calls, tokens, dollars and minutes.

Tokens come from a hash sample of the pending calls: the prompt as it is filled, in characters,
times tokens per character. That rate is this model's own where it answered at least 50 calls of the
same identity (of any audit); else one token for four characters, with a range of five to three.
Every number has a range: a 95% interval for what the sample leaves open, widened by the range of
the rate. Attempts that fail, and are billed all the same, are not in it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pyspark.sql import DataFrame
from pyspark.sql import functions as sf

from fairscreen import random
from fairscreen.scoring import plan
from fairscreen.scoring.calls import Kind
from fairscreen.scoring.cap import Cap
from fairscreen.scoring.designs import requests_of
from fairscreen.scoring.limits import worst_tokens
from fairscreen.scoring.models import Prices
from fairscreen.scoring.money import Tariff, Terms, dollars
from fairscreen.scoring.providers.base import Image, Prompt
from fairscreen.scoring.requests import call_key_column
from fairscreen.scoring.score import asked_again
from fairscreen.scoring.screeners import KINDS
from fairscreen.settings.audit import AuditConfig
from fairscreen.tables import Warehouse

SAMPLE = 1_000
OWN_REPLIES = 50
_Z = 1.96
_CHARS_PER_TOKEN = (4.0, 5.0, 3.0)

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Range:
    """An estimate and the range that it is in; both ends are meant to be believed."""

    value: float
    low: float
    high: float

    def __add__(self, other: Range) -> Range:
        return Range(self.value + other.value, self.low + other.low, self.high + other.high)

    def times(self, rate: Range) -> Range:
        return Range(self.value * rate.value, self.low * rate.low, self.high * rate.high)

    def scaled(self, factor: float) -> Range:
        return self.times(Range(factor, factor, factor))


NOTHING = Range(0.0, 0.0, 0.0)


def mean(values: Array, population: float = math.inf) -> Range:
    """The mean over `population` items, of which `values` (n,) are a random sample.

    No spread where all of them are in the sample; a sample of one says nothing about the spread.
    """
    n = len(values)
    if n == 0:
        return NOTHING
    found = float(values.mean())
    if n >= population or n < 2:
        return Range(found, found, found)
    left_out = math.sqrt(1 - n / population)
    margin = _Z * float(values.std(ddof=1)) / math.sqrt(n) * left_out
    return Range(found, max(0.0, found - margin), found + margin)


def ratio(numerator: Array, denominator: Array) -> Range:
    """Sum over sum of pairs (n,), n at least 2, with its 95% interval (linearised)."""
    rate = float(numerator.sum() / denominator.sum())
    residuals = numerator - rate * denominator
    error = float(residuals.std(ddof=1)) / math.sqrt(len(residuals)) / float(denominator.mean())
    return Range(rate, max(0.0, rate - _Z * error), rate + _Z * error)


def price(prices: Prices | None, tokens_in: Range, tokens_out: Range) -> Range | None:
    """US dollars; None where the prices are not known."""
    if prices is None:
        return None
    paid = tokens_in.scaled(prices.tokens_in / 1e6)
    return paid + tokens_out.scaled(prices.tokens_out / 1e6)


@dataclass(frozen=True)
class ModelQuote:
    """One model. `requests`: documents to score; `calls`: distinct ones that have no reply yet.

    tokens, cost_usd  None = not known (a model of this machine: tokens None, cost 0)
    minutes           at the configured rpm and tpm; None = no limit is set
    own_replies       earlier replies that the rates come from; 0 = rules of thumb
    dearest_usd       what one call costs at most, as `max_cost` reserves it
    """

    model: str
    requests: int
    calls: int
    tokens_in: Range | None
    tokens_out: Range | None
    cost_usd: Range | None
    minutes: float | None
    own_replies: int = 0
    dearest_usd: float = 0.0


@dataclass(frozen=True)
class Quote:
    """All models of an audit. spent_usd: what its earlier waves can have cost."""

    audit_id: str
    models: tuple[ModelQuote, ...]
    max_cost: float | None
    spent_usd: float

    @property
    def cost_usd(self) -> Range:
        """Of the models whose prices are known."""
        return sum((m.cost_usd for m in self.models if m.cost_usd), NOTHING)

    @property
    def unpriced(self) -> list[str]:
        return [m.model for m in self.models if m.cost_usd is None]

    @property
    def reaches_cap(self) -> str | None:
        """Whether max_cost would stop the run: yes, maybe, no; None = there is no cap."""
        if self.max_cost is None:
            return None
        left, cost = self.max_cost - self.spent_usd, self.cost_usd
        if cost.low > left:
            return "yes"
        # The last call must fit at its worst price.
        last = max((m.dearest_usd for m in self.models if m.calls), default=0.0)
        return "no" if cost.high + last <= left else "maybe"


def quote(
    warehouse: Warehouse,
    cfg: AuditConfig,
    *,
    prompt_keys: Mapping[str, str] | None = None,
    kinds: Mapping[str, Kind] = KINDS,
    retry: Sequence[str] = (),
) -> Quote:
    """What scoring this audit would ask and cost. Asks nothing and needs no key.

    `retry`: outcomes whose calls would be asked once more. The documents must be rendered.
    """
    asked_for = requests_of(warehouse, cfg, prompt_keys, kinds)
    again = asked_again(warehouse, cfg, asked_for, retry, kinds)
    pending = plan.pending(asked_for, warehouse.read("replies"), again)
    requests, calls = _counts(asked_for), _counts(pending)
    found = []
    for name, screener in cfg.scoring.models.items():
        counts = (name, requests.get(name, 0), calls.get(name, 0))
        terms = kinds[screener.kind].terms(screener.params)
        if terms is None:
            found.append(ModelQuote(*counts, None, None, NOTHING, None))
            continue
        mine = pending.where(sf.col("model") == name)
        earlier = _earlier(warehouse, cfg, kinds[screener.kind], name)
        found.append(_model(*counts, terms, _sample(warehouse, cfg, mine), earlier))
    most = cfg.scoring.max_cost
    spent = dollars(Cap(warehouse, cfg.audit_id, most or 0.0).spent())
    return Quote(cfg.audit_id, tuple(found), most, spent)


def _model(
    name: str, requests: int, calls: int, terms: Terms, sample: Sequence[Mapping[str, Any]],
    earlier: Sequence[Mapping[str, Any]],
) -> ModelQuote:  # fmt: skip
    """The estimate from rows of pending calls and of earlier replies (resume, prompt, tokens)."""
    spec = terms.spec
    chars = _chars(terms, sample)
    own = len(earlier) if len(earlier) >= OWN_REPLIES else 0
    if own:
        rate = ratio(np.array([float(r["tokens_in"]) for r in earlier]), _chars(terms, earlier))
        tokens_out = mean(np.array([float(r["tokens_out"] or 0) for r in earlier])).scaled(calls)
    else:
        rate = Range(*(1 / c for c in _CHARS_PER_TOKEN))
        longest = spec.decoding.max_tokens
        tokens_out = Range((1 + longest) / 2, 1.0, float(longest)).scaled(calls)
    tokens_in = mean(chars, calls).scaled(calls).times(rate)
    tariff = Tariff.of(spec)
    prompts = [terms.template.filled(r["prompt"], r["resume"]) for r in sample]
    dearest = max((tariff.worst(p) for p in prompts), default=0) if tariff else 0
    return ModelQuote(
        name, requests, calls, tokens_in, tokens_out, price(spec.prices, tokens_in, tokens_out),
        _minutes(terms, calls, chars), own, dollars(dearest),
    )  # fmt: skip


def _chars(terms: Terms, rows: Sequence[Mapping[str, Any]]) -> Array:
    """Characters of each prompt as it is filled; an image has three for each of its tokens."""
    prompts = (terms.template.filled(r["prompt"], r["resume"]) for r in rows)
    return np.array([float(_length(p, terms.spec.image_tokens)) for p in prompts])


def _length(prompt: Prompt, image_tokens: int) -> int:
    parts = (3 * image_tokens if isinstance(p, Image) else len(p.text) for p in prompt.user)
    return len(prompt.system or "") + sum(parts)


def _minutes(terms: Terms, calls: int, chars: Array) -> float | None:
    """By the slower of both limits; tokens are charged at their worst (see `limits`)."""
    spec, found = terms.spec, []
    if spec.rpm:
        found.append(calls / spec.rpm)
    if spec.tpm and len(chars):
        charged = [worst_tokens(int(n), spec.decoding.max_tokens) for n in chars]
        found.append(calls * sum(charged) / len(charged) / spec.tpm)
    return max(found, default=None)


def _counts(rows: DataFrame) -> dict[str, int]:
    return {r["model"]: int(r["count"]) for r in rows.groupBy("model").count().collect()}


def _sample(warehouse: Warehouse, cfg: AuditConfig, calls: DataFrame) -> list[Mapping[str, Any]]:
    """Texts (and whatever else there is) of up to 1,000 calls, by hash."""
    order = random.hash_column(cfg.seed, "quote", sf.col("call_key"))
    some = calls.orderBy(order).limit(SAMPLE)
    texts = plan.with_texts(some, warehouse.read("contents"))
    # Whether there is an image is enough: its bytes stay where they are.
    texts = texts.withColumn("image", sf.col("image").isNotNull())
    rows = texts.where("prompt IS NOT NULL AND (resume IS NOT NULL OR image)").collect()
    return [
        r.asDict() | ({"resume": Image(r["media_type"], "")} if r["image"] else {}) for r in rows
    ]


def _earlier(
    warehouse: Warehouse, cfg: AuditConfig, kind: Kind, model: str
) -> list[Mapping[str, Any]]:
    """Answers to calls of this identity, whichever audit planned them, with tokens as reported."""
    waves = warehouse.read("waves").withColumn(
        "mine", call_key_column(kind, cfg.scoring.models[model])
    )
    waves = waves.where("mine = call_key").select(
        "wave_id", "call_key", "content_key", "prompt_key"
    )
    replies = warehouse.read("replies").where("transport = 'answered' AND tokens_in IS NOT NULL")
    replies = replies.select("wave_id", "call_key", "tokens_in", "tokens_out")
    return _sample(warehouse, cfg, replies.join(waves, ["wave_id", "call_key"]))
