"""What a call can cost at most, and a purse that is never overdrawn.

**The cap.** Before every attempt its worst price is reserved; where it does not fit under the cap,
it is not sent. After the answer the reservation becomes the cost of the tokens that the provider
reports. So what is billed cannot pass the cap, whatever fails, as long as three things hold:
- A process that is killed forgets its reservations, and answers that were not durable. Each kill
  can add at most what was under way in that process: its slots (see `client`) at their price, and
  what calls lost to attempts without an answer and had no last word yet.
- The worst price is one. A reply that costs more than its bound raises the bound of all later ones.
- Prices are as configured. Cached or long prompts with prices of their own are not known here.

**Worst price.** Output: `max_tokens`. Input: the UTF-8 bytes of what is sent. Characters / 3, which
paces requests (see `limits`), is what English needs at worst, not a bound: Thai, or a line of
symbols, can have more tokens than characters. Bytes are one for every tokenizer in use: the
vocabularies of byte-level BPE and of SentencePiece with byte fallback have no token of less than
one byte. What the provider wraps around the texts (roles, its own system line) is allowed for with
256 tokens. A picture counts 50,000: the dearest published is that of gpt-4o-mini, 2,833 + 5,667 for
each of at most eight tiles.

**What is billed.** An attempt without an answer costs nothing where the provider did no work: a
connection that was refused, a redirect, 401 to 404, 405, 413, 422, 429 and most 5xx. It counts as
spent, at its worst, where work may have been done and only the answer is missing: a timeout, a
connection cut, a 2xx that cannot be read, 408, 499, 504 and 524, and 400 (Azure bills prompts that
its filter turned away).

**What counts.** Every reply of the audit's own waves (`replies.cost_max_usd`), and the table
`unclaimed_costs`: attempts that may be billed, of calls that a stop, a broken service or an empty
purse left without a reply, and replies that the journal could not take (a full disk). The latter
are noted while a cap is set. What another audit paid for counts there.

Money is counted in whole picodollars (1e-12 US dollars): sums of floats drift.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import ROUND_CEILING, Decimal
from typing import TYPE_CHECKING, Any

from fairscreen.scoring.calls import canonical

if TYPE_CHECKING:
    from fairscreen.scoring.models import ModelSpec
    from fairscreen.scoring.providers.base import Prompt
    from fairscreen.scoring.wire import Template

_PICO = Decimal(10) ** 12
_MOST = 2**63 - 1  # what a table holds: a server may report any number of tokens
_WRAPPING_TOKENS = 256
IMAGE_TOKENS = 50_000
_CALLS_PER_SHARE = 8  # a share that holds fewer calls strands too much of itself
# Fields by which `decoding.extra` could ask for more output than max_tokens says.
_UNBOUNDED = {
    "max_tokens", "max_completion_tokens", "max_output_tokens", "maxOutputTokens", "maxTokens", "n",
    "best_of", "candidateCount",
}  # fmt: skip


def pico(dollars: float) -> int:
    """US dollars as picodollars, rounded up."""
    return int((Decimal(repr(dollars)) * _PICO).to_integral_value(ROUND_CEILING))


def dollars(picodollars: int) -> float:
    return float(Decimal(picodollars) / _PICO)


@dataclass(frozen=True)
class Terms:
    """What calls of a model need and cost; `template`: what is sent besides the two texts."""

    spec: ModelSpec
    template: Template
    concurrency: int


@dataclass(frozen=True)
class Tariff:
    """Picodollars per token, and what bounds a call's tokens besides its texts."""

    tokens_in: int
    tokens_out: int
    max_tokens: int
    extra_bytes: int = 0

    @classmethod
    def of(cls, spec: ModelSpec) -> Tariff | None:
        """None where the model's prices are not known."""
        if spec.prices is None:
            return None
        extra = spec.decoding.extra
        return cls(
            # Dollars per million tokens: six of the twelve digits are taken.
            tokens_in=-(-pico(spec.prices.tokens_in) // 10**6),
            tokens_out=-(-pico(spec.prices.tokens_out) // 10**6),
            max_tokens=spec.decoding.max_tokens,
            extra_bytes=len(canonical(extra).encode()) if extra else 0,
        )

    def worst(self, prompt: Prompt, more_bytes: int = 0) -> int:
        """Picodollars that an attempt costs at most; `more_bytes`: of texts that come on top."""
        tokens = worst_tokens_in(prompt) + more_bytes + self.extra_bytes
        return self.tokens_in * tokens + self.tokens_out * self.max_tokens

    def cost(self, tokens_in: int | None, tokens_out: int | None) -> int | None:
        """Picodollars of what was reported; None where a count is missing."""
        if tokens_in is None or tokens_out is None:
            return None
        return self.tokens_in * tokens_in + self.tokens_out * tokens_out


def worst_tokens_in(prompt: Prompt) -> int:
    """An upper bound of the input tokens of a call: see the module's text."""
    total = _WRAPPING_TOKENS + len((prompt.system or "").encode())
    for part in prompt.user:
        text = getattr(part, "text", None)
        total += IMAGE_TOKENS if text is None else len(text.encode())
    return total


def unbounded(extra: Mapping[str, Any]) -> str | None:
    """The field of `decoding.extra`, at any depth, that would lift the bound of the output."""
    for name, value in extra.items():
        if name in _UNBOUNDED:
            return name
        if isinstance(value, Mapping) and (found := unbounded(value)):
            return found
    return None


class Purse:
    """What one shard may spend. Picodollars.

    spent      settled: paid, or possibly paid
    reserved   of attempts under way
    unclaimed  the part of `spent` that belongs to calls which ended without a reply
    exhausted  a call did not fit though nothing was reserved: no further one is started
    """

    def __init__(self, limit: int, spent: int = 0) -> None:
        self.limit, self.spent = limit, spent
        self.reserved = self.unclaimed = 0
        self.exhausted = False

    def reserve(self, amount: int) -> bool:
        """Whether the amount fits now; if so it is reserved."""
        if self.spent + self.reserved + amount > self.limit:
            return False
        self.reserved += amount
        return True

    def settle(self, reserved: int, spent: int) -> None:
        """A reservation is over; `spent` of it is, or may be, gone."""
        self.reserved -= reserved
        self.spent = min(self.spent + spent, _MOST)


def shards_for(left: int, worst: int, *, slots: int, shards: int) -> int:
    """Over how many shards what is left is split: every share must hold some calls.

    Shards do not lend to each other. A share that ends strands up to one call's worst price, so
    it should hold at least eight of them; and where what is left does not keep all `slots` of the
    job busy, one purse does more with it than several.
    """
    if left < slots * worst:
        return 1
    if worst == 0:
        return shards
    return max(1, min(shards, left // (_CALLS_PER_SHARE * worst)))


def scaled(amount: int, factor: float) -> int:
    return amount if factor == 1 else math.ceil(amount * factor)
