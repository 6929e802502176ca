"""What the probabilities of the answer's tokens say beyond its text.

P(yes) tells how near a yes was to a no; the expected score is finer than the number that was
written. Both read the most likely alternatives that the provider returned, normalised over those
that are an answer at all. They are null where they would be a guess: no alternatives, neither
yes nor no among them, or a number that the tokenizer splits into several tokens.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

# One position of the answer: the token that was written, then (token, log-probability) of the
# alternatives, itself among them.
Position = tuple[str, Sequence[tuple[str, float]]]
# A split number would be read by its first digits; at most three digits are one token.
_HIGHEST = 100
_LEAST = -1e6  # servers write -9999 for "never"


def p_yes(positions: Sequence[Position]) -> float | None:
    """P(yes) / (P(yes) + P(no)) at the first position that says anything."""
    first = next((p for p in positions if p[0].strip()), None)
    if first is None:
        return None
    yes = no = 0.0
    for token, logprob in first[1]:
        word = token.strip().strip(".,!\"'*").lower()
        yes += math.exp(logprob) if word == "yes" else 0.0
        no += math.exp(logprob) if word == "no" else 0.0
    return yes / (yes + no) if yes + no > 0 else None


def expected_score(positions: Sequence[Position]) -> float | None:
    """Mean of the whole numbers 0 to 100 that could have stood where the number stands.

    Only where the answer has one number and that number is one token.
    """
    at = [i for i, (token, _) in enumerate(positions) if any(c.isdigit() for c in token)]
    if len(at) != 1 or _whole(positions[at[0]][0]) is None:
        return None
    # "7" "." "5": the digits alone are not the score.
    after = positions[at[0] + 1][0] if at[0] + 1 < len(positions) else ""
    if after.startswith((".", ",", "/")) and after.strip() != ".":
        return None
    total = mass = 0.0
    for token, logprob in positions[at[0]][1]:
        value = _whole(token)
        if value is not None:
            total += value * math.exp(logprob)
            mass += math.exp(logprob)
    return total / mass if mass > 0 else None


def positions(items: Any, token: str, alternatives: str, logprob: str) -> list[Position]:
    """A provider's list of positions in our form; whatever is malformed in it is left out."""
    found: list[Position] = []
    for item in items if isinstance(items, list) else []:
        if not isinstance(item, dict) or not isinstance(item.get(token), str):
            continue
        options: dict[str, float] = {}
        others = item.get(alternatives)
        for other in [*(others if isinstance(others, list) else []), item]:
            value = other.get(logprob) if isinstance(other, dict) else None
            name = other.get(token) if isinstance(other, dict) else None
            if not isinstance(value, (int, float)) or isinstance(value, bool):
                continue
            if isinstance(name, str) and _LEAST <= value <= 1e-6:
                options.setdefault(name, min(0.0, float(value)))
        found.append((item[token], sorted(options.items())))
    return found


def _whole(token: str) -> int | None:
    text = token.strip()
    if not (text.isascii() and text.isdigit() and len(text) <= 3):
        return None
    return int(text) if int(text) <= _HIGHEST else None
