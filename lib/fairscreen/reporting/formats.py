"""Numbers as the report shows them; nothing for null."""

from __future__ import annotations

from typing import Any

from fairscreen.reporting.narrative import number


def fixed(value: Any, digits: int = 2) -> str:
    found = number(value)
    return "" if found is None else f"{found:,.{digits}f}".replace("-", "\u2212")


def whole(value: Any) -> str:
    return "" if value is None else f"{int(value):,}"


def exact(value: Any) -> str:
    found = number(value)
    return "" if found is None else repr(found)


def share(value: Any) -> str:
    found = number(value)
    return "" if found is None else f"{100 * found:.1f}%"


def p(value: Any) -> str:
    found = number(value)
    if found is None:
        return ""
    return "<0.001" if found < 0.001 else f"{found:.3f}"
