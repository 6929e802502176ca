"""scoring.max_cost over an audit's waves: what is spent, what is left, and how it is shared."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pyspark.sql import DataFrame
from pyspark.sql import functions as sf

from fairscreen.scoring import plan
from fairscreen.scoring.ask import Counters
from fairscreen.scoring.money import IMAGE_TOKENS, Tariff, Terms, dollars, pico
from fairscreen.tables import Warehouse


@dataclass(frozen=True)
class Share:
    """Over how many shards a wave is split, and picodollars for each (None = no limit)."""

    shards: int
    money: int | None = None


class Cap:
    """The cap of one audit."""

    def __init__(self, warehouse: Warehouse, audit_id: str, max_cost: float) -> None:
        self.warehouse, self.audit_id, self.max_cost = warehouse, audit_id, max_cost

    def spent(self) -> int:
        """Picodollars that this audit's waves can have cost, in all its runs.

        Replies of unknown cost (from a time when the model had no prices) count nothing.
        """
        at_most = sf.sum(sf.coalesce("cost_max_usd", "cost_usd"))
        mine = sf.col("wave_id").startswith(plan.wave_prefix(self.audit_id))
        replies = self.warehouse.read("replies").where(mine).agg(at_most).collect()[0][0]
        unclaimed = self.warehouse.read("unclaimed_costs").where(mine)
        more = unclaimed.agg(sf.sum("cost_max_usd")).collect()[0][0]
        return pico(replies or 0.0) + pico(more or 0.0)

    def left(self) -> int:
        return pico(self.max_cost) - self.spent()

    def keep_unclaimed(self, wave_id: str, model: str, counters: Sequence[Counters]) -> None:
        """Note what calls without a reply can have cost."""
        amount = sum(c.unclaimed_pico for c in counters)
        if not amount:
            return
        row = {
            "wave_id": wave_id, "audit_id": self.audit_id, "model": model,
            "cost_max_usd": dollars(amount),
        }  # fmt: skip
        rows = self.warehouse.rows("unclaimed_costs", [row])
        self.warehouse.append("unclaimed_costs", rows, transaction=f"unclaimed/{wave_id}")


def worst_prices(calls: DataFrame, contents: DataFrame, terms: Terms) -> tuple[int, int]:
    """Picodollars that one attempt costs at most: of the cheapest call, of the dearest."""
    tariff = Tariff.of(terms.spec)
    if tariff is None:
        raise ValueError("max_cost needs prices")
    sizes = plan.with_texts(calls, contents).select(
        (
            sf.when(sf.col("image").isNotNull(), IMAGE_TOKENS).otherwise(sf.octet_length("resume"))
            + sf.octet_length("prompt")
        ).alias("bytes")
    )
    row = sizes.agg(sf.min("bytes"), sf.max("bytes")).collect()[0]
    empty = terms.template.filled("", "")
    return tariff.worst(empty, row[0] or 0), tariff.worst(empty, row[1] or 0)
