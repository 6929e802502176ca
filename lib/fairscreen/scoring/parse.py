"""Raw replies to outcomes. Pure: no session, no I/O, no randomness.

A score outside its range is unparseable, never clipped. Raw replies are kept, so another parser
reads them again without asking again (`scoring.models.X.parser`).

    parser                      reads                                            score
    number/2                    the only number in the text                      0 to 100
    cosine/1                    the JSON of the embedding screener               0 to 100
    score_0_100/2               the only number; "85/100" is one                 0 to 100
    score_0_10/2                the only number; "8/10" is one                   0 to 10
    score_0_100_json/2          `Score` of JSON, however loosely written         0 to 100
    score_0_10_json/2           the same                                         0 to 10
    yes_no_one_word/2           yes or no and no other word                      1 = yes, 0 = no
    yes_no_first_occurrence/2   the first yes or no as a word (published)        1 = yes, 0 = no

A parser that reads any reply otherwise than before gets a new version, and the old one goes: each
`fairscreen score` reads the kept replies anew, so that the scores of an audit are of one version,
which stands beside them. Scores of an audit that is not scored again keep the version they have.
Versions 2: numbers beside which something stands that changes them (`numbers`), 8,5 in JSON, and
letters with combining marks are no scores.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

from fairscreen.scoring.parsers import json_score, numbers, yes_no
from fairscreen.scoring.parsers.values import Reason

__all__ = ["PARSERS", "Outcome", "Parser", "Reason", "Try", "parse", "settle"]

# How providers say it, in lower case: OpenAI, Anthropic, Gemini, Bedrock.
_CUT_OFF = frozenset({"length", "max_tokens", "model_length", "model_context_window_exceeded"})
# With a refusal: the model itself declined. Everything else is the name of a provider's filter.
_DECLINED = frozenset({"", "stop", "end_turn", "refusal", *_CUT_OFF})
# A reply that was cut off before one of these could be told from the whole one.
_INCOMPLETE = frozenset({Reason.MALFORMED, Reason.NO_YES_OR_NO, Reason.NO_NUMBER})


@dataclass(frozen=True)
class Parser:
    """One way to read a reply. Scores are 0 to `top`.

    reads_cut   whether a reply that was cut off by the token limit is read: where what is there
                decides the score. "The only number" is not known of half a text.
    """

    read: Callable[[str], Decimal | Reason]
    top: int
    reads_cut: bool = False


# Name and version: a parser that changes gets a new version, so a score says how it was read.
PARSERS: Mapping[str, Parser] = {
    "number/2": Parser(numbers.number, 100),
    "cosine/1": Parser(numbers.cosine, 100),
    "score_0_100/2": Parser(numbers.score(100), 100),
    "score_0_10/2": Parser(numbers.score(10), 10),
    "score_0_100_json/2": Parser(json_score.json_score(100), 100, reads_cut=True),
    "score_0_10_json/2": Parser(json_score.json_score(10), 10, reads_cut=True),
    "yes_no_one_word/2": Parser(yes_no.one_word, 1, reads_cut=True),
    "yes_no_first_occurrence/2": Parser(yes_no.first_occurrence, 1, reads_cut=True),
}


@dataclass(frozen=True)
class Outcome:
    """`score` (0 to the parser's top, four decimals) is there exactly if `outcome` is ok, else
    `reason` is."""

    outcome: Literal["ok", "refused", "unparseable", "failed"]
    reason: Reason | None = None
    score: Decimal | None = None


def parse(
    parser: str, reply: str | None, transport: str | None, finish_reason: str | None = None
) -> Outcome:
    """The outcome of one reply. `transport` None = no reply exists.

    Raises KeyError for a parser that does not exist.
    """
    form = PARSERS[parser]
    finish = (finish_reason or "").lower()
    if transport is None:
        return Outcome("failed", Reason.NO_REPLY)
    if transport == "refused":
        declined = finish in _DECLINED
        return Outcome("refused", Reason.REFUSED if declined else Reason.CONTENT_FILTER)
    if transport != "answered":
        return Outcome("failed", Reason.CALL_FAILED)
    cut = finish in _CUT_OFF
    if cut and not form.reads_cut:
        return Outcome("unparseable", Reason.TRUNCATED)
    if reply is None or not reply.strip():
        return Outcome("unparseable", Reason.TRUNCATED if cut else Reason.EMPTY)
    found = form.read(reply)
    if isinstance(found, Reason):
        return Outcome("unparseable", Reason.TRUNCATED if cut and found in _INCOMPLETE else found)
    return Outcome("ok", None, found)


@dataclass(frozen=True)
class Try:
    """One reply to a call. `retry`: how often the call had been asked again on request."""

    retry: int
    transport: str
    reply: str | None = None
    finish_reason: str | None = None


def settle(parser: str, tries: Sequence[Try]) -> tuple[Outcome, int | None]:
    """The outcome of a call, and which of its replies it was read from (None: there is none).

    `tries` in the order (retry, asked_at, wave_id). The first that is ok counts: asking again, by
    this audit or another, never changes a score. Else the newest answer (refused or unparseable);
    a failed call never hides one. Else the newest failure. Newest: the highest retry, and the first
    of those that two audits asked at the same time.
    """
    best: Outcome | None = None
    at: int | None = None
    for index, one in enumerate(tries):
        found = parse(parser, one.reply, one.transport, one.finish_reason)
        if found.outcome == "ok":
            return found, index
        if best is None or at is None:
            best, at = found, index
        elif (best.outcome == "failed") == (found.outcome == "failed"):
            if one.retry > tries[at].retry:
                best, at = found, index
        elif best.outcome == "failed":
            best, at = found, index
    return best or parse(parser, None, None), at
