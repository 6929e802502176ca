"""How fast a shard may ask, how often it asks again, and when it gives up.

**Shares.** `rpm` and `tpm` hold for the whole job. A wave has a fixed number of shards, and each
gets limit / shards: shards know nothing of each other, so nothing has to be shared between
processes, and the sum cannot be more than the limit. Fewer task slots than shards leave a part of
the limit unused; choose `scoring.shards` near the number of slots. In the driver
(`scoring.where: driver`) shards run one after the other and each may use the whole limit.
Limits hold per audit: two audits that share a key are not coordinated.

**Pace.** Not more than the share in *any* minute, and evenly: 60 / share seconds between requests.
A bucket that fills up would allow a burst of twice the share around a minute's end, and providers
count in windows of a second. Tokens are charged before sending, at their worst: characters / 3
(English has about 4 to a token, other scripts fewer) plus `max_tokens`. That is a pace and no
bound: where money is capped, bytes are counted (`money`). A request above a whole
minute's share is charged the share, since waiting would not make it smaller. An image is charged
`image_tokens` of its model, 5,000 unless conf/models.yml says otherwise: providers scale pages down
first and end at 1,105 (GPT-4o, letter format), 1,600 (Claude before 4.7) or 4,784 (since), while
GPT-4o mini counts 33 times the tiles of GPT-4o and servers of one's own may not scale at all.

**Concurrency** starts at the shard's share of `concurrency`, is halved by 429, 503, 529 and
timeouts, and grows by one for each round of answers (additive increase, multiplicative decrease:
the one rule under which shards that do not talk settle at equal parts). All requests that were
under way when it was halved report the same overload, so only those sent later may halve it again.

**Waiting.** Attempt n is followed by 0.5 to 1 times min(60, 2^(n-1)) seconds; the factor is a hash
of call and attempt, so that calls that failed together do not come back together. What the
provider asks for (Retry-After, its own resets) is a minimum, and when it says 429 the whole shard
waits, since the limit is the account's and not the call's. A 429 that asks for more than
`max_seconds` ends the wave: nobody wants a job that sleeps for a day, and the call is not to blame.

**Budget.** A call is given up after `max_attempts` attempts or when its next attempt would start
more than `max_seconds` after its first. An attempt that a 429 turned away counts towards time
only: it cost nothing, and says nothing about the call.

**Breaker.** The first three calls of a shard go out alone, as canaries. If all three fail, nothing
else is asked: a wrong key stops after three calls, not after a million. Later on it trips after
three calls in a row that were denied (key, credit, permission, address: every call would be) or
after `breaker` calls in a row that failed for any reason. Calls of such a row are not kept as
failed: they say something about the service and nothing about themselves, so the next run asks
them. A 403 without a word about access may be a filter's, about one text: it is no canary's death,
counts in the row of `breaker` only, and is that call's own failure once the model answers others.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

from fairscreen import random
from fairscreen.scoring.providers.base import Answer

MINUTE = 60.0
CANARIES = 3
_BASE_SECONDS = 1.0
_CAP_SECONDS = 60.0
_CHARS_PER_TOKEN = 3


def worst_tokens(chars: int, max_tokens: int, image_tokens: int = 0) -> int:
    """Tokens that a request of `chars` characters may need, answer and images included."""
    return -(-chars // _CHARS_PER_TOKEN) + image_tokens + max_tokens


class Pace:
    """Grants of weights that sum to at most `limit` in any 60 seconds, evenly spaced."""

    def __init__(self, limit: float) -> None:
        self.limit = limit
        self._granted: deque[tuple[float, float]] = deque()
        self._sum = 0.0
        self._next = float("-inf")

    def earliest(self, now: float, weight: float) -> float:
        """The time, `now` or later, at which this weight may be granted. `grant` must follow."""
        at = max(now, self._next)
        while self._granted and self._sum + min(weight, self.limit) > self.limit:
            granted, old = self._granted.popleft()
            # Sums of floats drift: an empty queue is exactly 0.
            self._sum = self._sum - old if self._granted else 0.0
            at = max(at, granted + MINUTE)
        return at

    def grant(self, at: float, weight: float) -> None:
        weight = min(weight, self.limit)
        self._granted.append((at, weight))
        self._sum += weight
        self._next = at + weight * MINUTE / self.limit


def reserve(paces: Sequence[tuple[Pace, float]], now: float) -> float:
    """The time, `now` or later, at which all paces grant their weights; granted at that time."""
    at = max([now, *(pace.earliest(now, weight) for pace, weight in paces)])
    for pace, weight in paces:
        pace.grant(at, weight)
    return at


class Concurrency:
    """How many requests may be under way: additive increase, multiplicative decrease."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._allowed = float(limit)
        self._decreased_at = float("-inf")

    @property
    def allowed(self) -> int:
        return int(self._allowed)

    def answered(self) -> None:
        self._allowed = min(self._limit, self._allowed + 1 / self._allowed)

    def overloaded(self, sent: float, now: float) -> None:
        """A request sent at `sent` was turned away, or timed out, at `now`."""
        if sent >= self._decreased_at:
            self._allowed = max(1.0, self._allowed / 2)
            self._decreased_at = now


def backoff(call_key: str, attempt: int) -> float:
    """Seconds after attempt 1, 2, ... of a call: exponential, capped, jittered by a hash."""
    longest = min(_CAP_SECONDS, _BASE_SECONDS * 2.0 ** min(attempt - 1, 20))
    u = float(random.uniforms(0, "retry", [f"{call_key}/{attempt}"])[0])
    return longest * (0.5 + u / 2)


@dataclass(frozen=True)
class Budget:
    """How long one call is tried: attempts, and seconds from its first attempt to its last."""

    max_attempts: int
    max_seconds: float

    def wait(
        self, answer: Answer, call_key: str, *, attempt: int, counted: int, seconds: float
    ) -> float | None:
        """Seconds until the next attempt, or None where this answer is the last word.

        `attempt`: attempts made; `counted`: those that were not turned away by a 429;
        `seconds`: since the first.
        """
        if answer.kind not in {"retry", "rate_limited"} or counted >= self.max_attempts:
            return None
        pause = max(backoff(call_key, attempt), answer.retry_after or 0.0)
        return pause if seconds + pause <= self.max_seconds else None


class Breaker:
    """Says when it makes no sense to go on. `row`: results in a row that were no answer."""

    def __init__(self, limit: int) -> None:
        self._limit = max(limit, CANARIES)
        self._proven = False
        self._row: list[bool] = []  # denied or not
        self._doubtful = 0  # of them

    @property
    def proven(self) -> bool:
        """The model has answered (or refused) at least once in this shard."""
        return self._proven

    @property
    def row(self) -> int:
        return len(self._row)

    @property
    def canaries(self) -> int:
        """How many calls may be out before the model has answered one."""
        return max(1, CANARIES - (len(self._row) - self._doubtful))

    def answered(self) -> None:
        self._proven = True
        self._row, self._doubtful = [], 0

    def failed(self, denied: bool, doubtful: bool = False) -> None:
        self._row = [*self._row[-self._limit :], denied]
        self._doubtful += doubtful

    def tripped(self, exhausted: bool = False) -> bool:
        """`exhausted`: there are no further calls, so fewer than three canaries will do."""
        if not self._proven and self._row:
            dead = len(self._row) - self._doubtful
            return (
                dead >= CANARIES or len(self._row) >= self._limit or (exhausted and all(self._row))
            )
        return len(self._row) >= self._limit or (
            len(self._row) >= CANARIES and all(self._row[-CANARIES:])
        )
