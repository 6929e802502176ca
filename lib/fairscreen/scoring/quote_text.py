"""A quote for people and for machines."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from fairscreen.scoring.quote import OWN_REPLIES, ModelQuote, Quote, Range

UNKNOWN = "not known: no prices"
_CAP = {
    "yes": "would be reached: raise it, or expect the run to stop with calls pending",
    "maybe": "may be reached: the run would then stop with calls pending",
    "no": "would not be reached",
}


def as_json(found: Quote) -> dict[str, Any]:
    """Ranges as {value, low, high}; null = not known."""
    return {
        "audit_id": found.audit_id,
        "models": [asdict(m) for m in found.models],
        "calls": sum(m.calls for m in found.models),
        "cost_usd": None if found.unpriced else asdict(found.cost_usd),
        "unpriced_models": found.unpriced,
        "spent_usd": found.spent_usd,
        "max_cost": found.max_cost,
        "reaches_max_cost": found.reaches_cap,
    }


def as_text(found: Quote) -> str:
    lines = [f"audit {found.audit_id}: what scoring would cost; nothing was asked"]
    for model in found.models:
        lines += _model(model)
    total = _money(found.cost_usd)
    if found.unpriced:
        total = f"{UNKNOWN} for {', '.join(found.unpriced)}; the others {total}"
    lines += [f"total: {sum(m.calls for m in found.models):,} calls, {total}"]
    if found.max_cost is not None and found.reaches_cap:
        spent = f"spent so far at most {_dollars(found.spent_usd)}"
        lines.append(f"scoring.max_cost {_dollars(found.max_cost)}, {spent}: "
                     f"{_CAP[found.reaches_cap]}")  # fmt: skip
    return "\n".join(lines)


def _model(m: ModelQuote) -> list[str]:
    lines = [f"{m.model}: {m.requests:,} requests, {m.calls:,} calls to ask (distinct, unanswered)"]
    if m.tokens_in is None or m.tokens_out is None:
        return [*lines, "  runs on this machine, costs nothing"]
    basis = f"rates of {m.own_replies:,} earlier replies of this model"
    if not m.own_replies:
        basis = f"4 characters a token, 5 to 3; fewer than {OWN_REPLIES} replies to learn from"
    minutes = "not known: no rpm or tpm set" if m.minutes is None else f"at least {m.minutes:,.1f}"
    return [
        *lines,
        f"  tokens in   {_count(m.tokens_in)} [{basis}]",
        f"  tokens out  {_count(m.tokens_out)}",
        f"  dollars     {UNKNOWN if m.cost_usd is None else _money(m.cost_usd)}",
        f"  minutes     {minutes}",
    ]


def _count(r: Range) -> str:
    return f"{r.value:,.0f} ({r.low:,.0f} to {r.high:,.0f})"


def _money(r: Range) -> str:
    return f"{_dollars(r.value)} ({_dollars(r.low)} to {_dollars(r.high)})"


def _dollars(amount: float) -> str:
    return f"${amount:,.2f}" if amount >= 1 or amount == 0 else f"${amount:,.4g}"
