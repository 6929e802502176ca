"""Small sums over replies, so that progress can be told without reading the replies.

A segment's last line holds the tally of its replies; tallies add. A kind of error is a short word:
the HTTP status (`429`), `timeout`, `reset`, ... (see `providers.base.Answer`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

OTHER = "other"  # a failure whose screener names no kind
Counts = Mapping[str, int]


@dataclass(frozen=True)
class Tally:
    """Sums over `count` replies.

    outcomes    answered, refused, failed -> replies
    failures    kind of error -> replies that failed for good with it
    retried     kind of error -> attempts that were followed by another attempt
    cost_usd    US dollars, replies of unknown cost left out; tokens_in, tokens_out alike
    """

    count: int = 0
    outcomes: Counts = field(default_factory=dict)
    failures: Counts = field(default_factory=dict)
    retried: Counts = field(default_factory=dict)
    cost_usd: float = 0.0
    tokens_in: int = 0
    tokens_out: int = 0

    def __add__(self, other: Tally) -> Tally:
        return Tally(
            self.count + other.count,
            added(self.outcomes, other.outcomes),
            added(self.failures, other.failures),
            added(self.retried, other.retried),
            self.cost_usd + other.cost_usd,
            self.tokens_in + other.tokens_in,
            self.tokens_out + other.tokens_out,
        )

    def but(self, count: int, cost_usd: float) -> Tally:
        """The same with another count and cost."""
        return replace(self, count=count, cost_usd=cost_usd)

    @property
    def errors(self) -> Counts:
        """Kind of error -> attempts that ended so, retried or not."""
        return added(self.failures, self.retried)


def added(*counts: Counts) -> Counts:
    total: Counter[str] = Counter()
    for each in counts:
        total.update(each)
    return dict(total)


def largest(a: Counts, b: Counts) -> Counts:
    """The larger count of each kind: of two that count the same, the one that is ahead."""
    return dict(Counter(a) | Counter(b))


def tally(records: Iterable[Mapping[str, Any]]) -> Tally:
    """The tally of records as the journal holds them."""
    count, cost, tokens_in, tokens_out = 0, 0.0, 0, 0
    outcomes: Counter[str] = Counter()
    failures: Counter[str] = Counter()
    retried: Counter[str] = Counter()
    for r in records:
        count += 1
        cost += r.get("cost_usd") or 0.0
        tokens_in += r.get("tokens_in") or 0
        tokens_out += r.get("tokens_out") or 0
        transport = r.get("transport") or OTHER
        outcomes[transport] += 1
        if transport == "failed":
            failures[r.get("error_kind") or OTHER] += 1
        if before := r.get("retried"):
            retried.update(before)
    return Tally(count, dict(outcomes), dict(failures), dict(retried), cost, tokens_in, tokens_out)


def to_footer(sums: Tally) -> dict[str, Any]:
    """As JSON holds it, `count` included; what is empty is left out."""
    return {name: value for name, value in vars(sums).items() if value or name == "count"}


def from_footer(footer: Mapping[str, Any]) -> Tally:
    """The tally in a segment's last line; an older one holds the count alone.

    Raises KeyError, TypeError or ValueError where the line is none.
    """
    return Tally(
        int(footer["count"]),
        counts(footer.get("outcomes")),
        counts(footer.get("failures")),
        counts(footer.get("retried")),
        float(footer.get("cost_usd", 0.0)),
        int(footer.get("tokens_in", 0)),
        int(footer.get("tokens_out", 0)),
    )


def counts(value: Any) -> Counts:
    """A JSON object of whole numbers; none for null. Raises TypeError or ValueError for others."""
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise TypeError("no object")
    return {str(kind): int(n) for kind, n in value.items()}
