"""Which names the two arms of each pair bear. Pure: hashes of (seed, posting, pair), no state.

A name of one race and gender is drawn by posting and pair_id alone, so the white woman of a race
pair and of a gender pair are one person, shown once and asked once. Names are uniform over their
pool. `distinct` walks the pool in an order of the posting's own, so that no first name comes twice
within a posting and contrast.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, product
from typing import Literal, TypeVar

from fairscreen import random
from fairscreen.documents import callback_names
from fairscreen.documents.callback_names import Group
from fairscreen.documents.name_pools import NamePools
from fairscreen.errors import ConfigError
from fairscreen.settings.callback_audit import PLACEBO
from fairscreen.settings.pairs import Contrast, Factor, Pairs

T = TypeVar("T")
Side = Literal["favored", "other"]
#: `within` of a pair whose arms share no factor.
NOTHING = "none"


@dataclass(frozen=True)
class Arm:
    race: str
    gender: str
    first_name: str
    surname: str

    @property
    def name(self) -> str:
        return f"{self.first_name} {self.surname}"


@dataclass(frozen=True)
class Pair:
    """within: factors that both arms share, canonical (`gender=female; race=white`)."""

    pair_id: int
    contrast: str
    kind: Literal["real", "placebo"]
    within: str
    favored: Arm
    other: Arm

    @property
    def arms(self) -> Iterator[tuple[Side, Arm]]:
        yield "favored", self.favored
        yield "other", self.other


@dataclass(frozen=True)
class Names:
    """Pools, with the surnames' weights summed up once: race -> running sums."""

    pools: NamePools
    sums: Mapping[str, Sequence[int]]

    @classmethod
    def of(cls, pools: NamePools) -> Names:
        return cls(
            pools, {race: list(accumulate(of.weights)) for race, of in pools.surnames.items()}
        )


def posting_pairs(
    posting_id: str, contrasts: Mapping[str, Contrast], names: Names, pairs: Pairs, seed: int
) -> Iterator[Pair]:
    """Every pair of one posting: of each contrast, then placebos if the posting has some.

    Pools must have passed `check_pools`.
    """
    draws = _Draws(posting_id, names, pairs.names == "distinct", seed, {})
    for name, contrast in contrasts.items():
        used: set[str] = set()
        for pair_id in range(pairs.per_posting):
            drawn = {f: draws.of(f"draw/{f}", pair_id, v) for f, v in contrast.draw.items()}
            for held in _held(contrast, drawn):
                favored = draws.arm(_group({**held, **contrast.favored}), pair_id, used)
                other = draws.arm(_group({**held, **contrast.other}), pair_id, used, favored)
                yield Pair(pair_id, name, "real", _within(held), favored, other)
    if float(random.uniforms(seed, "pairs/placebo", [posting_id])[0]) < pairs.placebo:
        groups, used = callback_names.groups(contrasts.values()), set()
        for pair_id in range(pairs.per_posting):
            race, gender = draws.of("placebo/group", pair_id, groups)
            # Either name may be the first: which one is called favored is a draw.
            one, two = draws.two((race, gender), pair_id, used)
            within = _within({"race": race, "gender": gender})
            yield Pair(pair_id, PLACEBO, "placebo", within, one, two)


def check_pools(pools: NamePools, contrasts: Mapping[str, Contrast], pairs: Pairs) -> None:
    """Whether the names suffice; pools have two first names for every group at least.

    Raises ConfigError where no name may come twice within a posting and there are too few.
    """
    if pairs.names != "distinct":
        return
    for name, contrast in contrasts.items():
        mine = callback_names.groups([contrast])
        for group in mine:
            own = set(pools.first[group])
            # Groups that share names (first names of the SSA tell no race) share what there is.
            sharing = sum(not own.isdisjoint(pools.first[g]) for g in mine)
            _require(name, group, len(own), pairs.per_posting * sharing)
    for group in callback_names.groups(contrasts.values()) if pairs.placebo else ():
        _require(PLACEBO, group, len(pools.first[group]), 2 * pairs.per_posting)


def _require(contrast: str, group: Group, have: int, need: int) -> None:
    if have < need:
        raise ConfigError(
            "pairs.names",
            f"distinct needs {need} first names of {' '.join(group)} for each posting (contrast "
            f"{contrast}), and there are {have}",
            "Give more names, lower pairs.per_posting, or write repeat.",
        )


def _held(contrast: Contrast, drawn: Mapping[Factor, str]) -> list[dict[Factor, str]]:
    """What the two arms of each pair of one profile share."""
    return [
        {**drawn, **dict(zip(contrast.each, values, strict=True))}
        for values in product(*contrast.each.values())
    ]


def _group(factors: Mapping[Factor, str]) -> Group:
    return factors["race"], factors["gender"]


def _within(held: Mapping[Factor, str]) -> str:
    return "; ".join(f"{k}={v}" for k, v in sorted(held.items())) or NOTHING


@dataclass(frozen=True)
class _Draws:
    """Draws of one posting."""

    posting_id: str
    names: Names
    distinct: bool
    seed: int
    orders: dict[tuple[str, str], list[str]]  # of pools, as far as they were needed

    def number(self, purpose: str, key: str, bound: int) -> int:
        return random.integer(random.prefix(self.seed, f"pairs/{purpose}"), key.encode(), bound)

    def of(self, purpose: str, pair_id: int, values: Sequence[T]) -> T:
        return values[self.number(purpose, f"{self.posting_id}/{pair_id}", len(values))]

    def arm(
        self, group: Group, pair_id: int, used: set[str], beside: Arm | None = None
    ) -> Arm:  # fmt: skip
        """The person of a group, another one than `beside`; its first name goes to `used`."""
        for first in self.walk("name", group, pair_id, pair_id):
            arm = self.person(group, first, pair_id)
            if (self.distinct and first in used) or (beside and arm.name == beside.name):
                continue
            used.add(first)
            return arm
        raise AssertionError("check_pools lets no pool through that is too small")

    def two(self, group: Group, pair_id: int, used: set[str]) -> tuple[Arm, Arm]:
        """Two people of one group with different first names."""
        found: list[Arm] = []
        for first in self.walk("placebo/name", group, pair_id, 2 * pair_id):
            if self.distinct and first in used:
                continue
            used.add(first)
            found.append(self.person(group, first, pair_id))
            if len(found) == 2:
                return found[0], found[1]
        raise AssertionError("check_pools lets no pool through that is too small")

    def walk(self, purpose: str, group: Group, pair_id: int, at: int) -> Iterator[str]:
        """The pool of a group in a random order, once. distinct: in the posting's own order from
        place `at` on, else in one of the pair's own."""
        pool, (race, gender) = self.names.pools.first[group], group
        key = self.posting_id if self.distinct else f"{self.posting_id}/{pair_id}"
        draw = f"{purpose}/{race}/{gender}"
        if not self.distinct:
            # Nearly always the first one will do: the order of the others is made on demand.
            first = pool[self.number(draw, key, len(pool))]
            yield first
            pool, at = tuple(name for name in pool if name != first), 0
        order = self.orders.get((draw, key))
        if order is None:
            order = sorted(pool, key=lambda n: (self.number(draw, f"{key}/{n}", 2**63), n))
            self.orders[draw, key] = order
        for i in range(len(order)):
            yield order[(at + i) % len(order)]

    def person(self, group: Group, first: str, pair_id: int) -> Arm:
        race, gender = group
        key, sums = f"{first}/{race}/{gender}", self.names.sums[race]
        if self.names.pools.surname_of == "pair":
            key = f"{self.posting_id}/{pair_id}/{key}"
        place = bisect_right(sums, self.number("surname", key, sums[-1]))
        return Arm(race, gender, first, self.names.pools.surnames[race].names[place])
