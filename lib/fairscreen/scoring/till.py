"""The money side of a shard that is being asked: what each call holds, owes and has lost.

Without a purse nothing is reserved, but what calls cost at most is told all the same, so that a
cap that is set later knows what was spent before.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass

from fairscreen.scoring.calls import Call, Reply
from fairscreen.scoring.money import Purse, Tariff, dollars, pico, scaled
from fairscreen.scoring.providers.base import Answer, Prompt
from fairscreen.scoring.wire import Setup


@dataclass
class _Tab:
    """Of one call, picodollars: reserved for its attempt; spent on attempts without an answer."""

    reserved: int = 0
    lost: int = 0


class Till:
    """Every call: `starts`, then per attempt `lost` and `again` where it failed, then `settle`,
    and `leave` in any case."""

    def __init__(self, setup: Setup, purse: Purse | None) -> None:
        self._template, self._tariff, self._purse = setup.prompt, Tariff.of(setup.spec), purse
        if purse and self._tariff is None:
            raise ValueError("a purse needs prices")
        self._tabs: dict[str, _Tab] = {}
        self._dearer = 1.0  # reported cost / worst price, where a reply ever passed its bound
        self._settled = asyncio.Event()

    @property
    def exhausted(self) -> bool:
        return self._purse is not None and self._purse.exhausted

    def starts(self, call: Call) -> bool:
        """Reserve the call's first attempt; False where it does not fit (yet: `exhausted`)."""
        if self._purse is None:
            return True
        worst = self._worst(call)
        if not self._purse.reserve(worst):
            self._purse.exhausted = self._purse.reserved == 0
            return False
        self._tabs[call.call_key] = _Tab(worst)
        return True

    def failed(self, call: Call, answer: Answer) -> None:
        """An attempt brought no answer. Where it may be billed, what it held is gone."""
        if self._tariff is None or answer.unbilled:
            return
        tab = self._tabs.setdefault(call.call_key, _Tab())
        worst = tab.reserved or self._worst(call)
        tab.lost += worst
        self._settle(tab.reserved, worst)
        tab.reserved = 0

    async def again(self, call: Call) -> bool:
        """Before another attempt: wait until it fits; False where it never will."""
        tab = self._tabs.get(call.call_key)
        if self._purse is None or (tab and tab.reserved):
            return True
        worst = self._worst(call)
        while not self._purse.reserve(worst):
            if self._purse.reserved == 0:
                self._purse.exhausted = True
                return False
            await self._settled.wait()
        self._tabs.setdefault(call.call_key, _Tab()).reserved = worst
        return True

    def settle(self, call: Call, answer: Answer) -> float | None:
        """The call has its last word: US dollars that it cost at most; None = prices not known."""
        if self._tariff is None:
            return None
        tab = self._tabs.pop(call.call_key, None) or _Tab()
        cost = 0  # of an attempt that failed: it is among the lost
        if answer.kind in {"answered", "refused"} and not answer.unbilled:
            reported = self._tariff.cost(answer.tokens_in, answer.tokens_out)
            cost = self._worst(call) if reported is None else reported
            if tab.reserved and cost > tab.reserved:
                self._dearer = max(self._dearer, cost / self._tariff.worst(self._prompt(call)))
        self._settle(tab.reserved, cost)
        return dollars(tab.lost + cost)

    def leave(self, call_key: str) -> None:
        """The call ends. Without a last word, what it lost belongs to no reply."""
        tab = self._tabs.pop(call_key, None)
        if tab is not None:
            self._settle(tab.reserved, 0)
            self._unclaimed(tab.lost)

    def drop(self, replies: Iterable[tuple[str, Reply]]) -> None:
        """Replies that are not kept after all."""
        self._unclaimed(sum(pico(reply.cost_max_usd or 0.0) for _, reply in replies))

    def _worst(self, call: Call) -> int:
        assert self._tariff is not None
        return scaled(self._tariff.worst(self._prompt(call)), self._dearer)

    def _prompt(self, call: Call) -> Prompt:
        return self._template.filled(call.prompt or "", call.resume or "")

    def _unclaimed(self, amount: int) -> None:
        if self._purse is not None:
            self._purse.unclaimed += amount

    def _settle(self, reserved: int, spent: int) -> None:
        if self._purse is None:
            return
        self._purse.settle(reserved, spent)
        # A pulse: all who wait look again.
        self._settled.set()
        self._settled.clear()
