"""The `Score` of a reply like {"Score": 8, "Overview": "..."}, however loosely it is written.

Models fence their JSON, talk around it, use single quotes or none, leave commas and braces out or
are cut off. So the text is not parsed as JSON: its tokens are read once, from brace to brace, and
every value of a key `Score` (any case) is taken. Valid JSON gives what a JSON parser gives, except
that a `Score` deeper inside counts too. Nothing is guessed: values that differ, a value that is no
number (8,5 and 1,000 are none in JSON), and a value that the end of the text may have cut are
unparseable.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from decimal import Decimal

from fairscreen.scoring.parsers.values import Reason, decimal, in_range, scale

# A quote inside a string that nobody escaped does not end it: only one before , : } ] does.
_STRING = r"{q}(?:[^{q}\\]|\\.|{q}(?!\s*(?:[,:}}\]]|\Z)))*+(?:{q}|\\?\Z)"
_TOKEN = re.compile(
    rf"""(?P<open>\{{+) | (?P<close>\}}+) | (?P<end>[\[\],]+) | (?P<colon>:) | (?P<space>\s+)
    | (?P<string>{_STRING.format(q='"')} | {_STRING.format(q="'")})
    | (?P<bare>[^\s{{}}\[\]:,"'][^\s{{}}\[\]:,]*+)""",
    re.VERBOSE | re.DOTALL,
)
# Typographic quotes, emphasis, and the backslashes of JSON inside a JSON string.
_AROUND = " \t\r\n\"'\\*“”‘’"
_NUMBER = r"[-+]?(?:[0-9]++(?:\.[0-9]*+)?|\.[0-9]++)(?:[eE][-+]?[0-9]{1,3})?"


def json_score(top: int) -> Callable[[str], Decimal | Reason]:
    """Reads the score, 0 to `top`: a number or a text of one, "8/10" included."""
    pattern = re.compile(rf"({_NUMBER})(?:{scale(top)})?", re.IGNORECASE)

    def read(reply: str) -> Decimal | Reason:
        scores = set()
        for value in _values(reply):
            if value is None:
                return Reason.TRUNCATED
            found = pattern.fullmatch(value.strip(_AROUND))
            if not found:
                return Reason.MALFORMED
            exact = decimal(found.group(1))
            score = Reason.OUT_OF_RANGE if exact is None else in_range(exact, top)
            if isinstance(score, Reason):
                return score
            scores.add(score)
        if len(scores) > 1:
            return Reason.SEVERAL_NUMBERS
        return scores.pop() if scores else Reason.MALFORMED

    return read


def _values(text: str) -> Iterator[str | None]:
    """The text of each value of a key `Score` inside braces; None = the text ends within it."""
    at = depth = 0
    last = ""  # what may turn out to be a key
    value: list[str] | None = None  # words of the value that is being read
    comma = False  # after it: it may go on, as in 8,5
    while depth or (at := text.find("{", at)) >= 0:
        token = _TOKEN.match(text, at)
        if token is None:  # the end of the text
            break
        at, kind, found = token.end(), token.lastgroup, token.group()
        if kind == "space":
            continue
        if value and _goes_on(kind, found, comma):
            value += [",", found] if comma else [found]
            comma = False
            continue
        if kind == "string" and value == []:
            # An open string reaches the end of the text: was it the whole value?
            yield found if len(found) > 1 and found[-1] == found[0] else None
            value, last = None, ""
            continue
        if kind == "end" and found[0] == "," and value and not comma:
            comma = True
            continue
        if kind == "bare" and value == []:
            value.append(found)
            continue
        if value is not None:
            yield " ".join(value)
            value, comma = None, False
        if kind in ("string", "bare"):
            last = found
        elif kind == "colon":
            value = [] if last.strip(_AROUND).lower() == "score" else None
            last = ""
        else:
            last = ""
            if kind == "open":
                depth += len(found)
            elif kind == "close":
                depth = max(0, depth - len(found))
    if value is not None:
        yield " ".join(value) if value and _is_over(text, value, comma) else None


def _goes_on(kind: str | None, found: str, comma: bool) -> bool:
    """Whether a token belongs to the value before it. After a comma only a number does: 8,5."""
    if comma:
        return kind == "bare" and found.lstrip("+-.")[:1].isnumeric()
    return kind in ("bare", "colon", "open") or found[0] == "["


def _is_over(text: str, value: list[str], comma: bool) -> bool:
    """Whether a value at the end of the text cannot go on: an integer may, after a comma too."""
    return text[-1].isspace() or (comma and "." in value[-1])
